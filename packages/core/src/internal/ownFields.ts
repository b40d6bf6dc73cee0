/**
 * What a cache keeps of managedFields (D28): the entries of our own manager, one a subresource, without their time. A field set that many objects
 * share is held once.
 */
import type { KubeObject, ManagedFieldsEntry } from "../KubeObject.ts"
import { type Json, sameRecord } from "./sameJson.ts"

type Entries = ReadonlyArray<ManagedFieldsEntry>

/** Distinct field sets held for sharing. Objects with keys of their own (the uid of an owner) have no equals, so the table is emptied when full. */
const sharedMax = 1_000
/** After so many in a row that had no equal, only each 16th is looked up: their texts would be made for nothing. */
const lonelyMax = 64

/** Gives objects as the cache keeps them. The object given is not touched: it may be the state of a server in this process. */
export const make = (manager: string): ((object: KubeObject) => KubeObject) => {
  const shared = new Map<string, Entries>()
  /** Most objects of a kind have the same; comparing is cheaper than making a text. */
  let recent: Entries = []
  let lonely = 0
  const share = (entries: Entries): Entries => {
    if (isSame(entries, recent)) {
      lonely = 0
      return recent
    }
    const timeless = entries.map(({ time: _, ...entry }) => entry)
    if (lonely++ >= lonelyMax && lonely % 16 !== 0) return timeless
    const text = JSON.stringify(timeless)
    const known = shared.get(text)
    if (known === undefined) {
      if (shared.size >= sharedMax) shared.clear()
      shared.set(text, timeless)
    } else lonely = 0
    recent = known ?? timeless
    return recent
  }
  return (object) => {
    const { managedFields } = object.metadata
    if (managedFields === undefined) return object
    const own = managedFields.filter((entry) => entry.manager === manager)
    if (own.length > 0) return { ...object, metadata: { ...object.metadata, managedFields: share(own) } }
    const { managedFields: _, ...metadata } = object.metadata
    return { ...object, metadata }
  }
}

const timeOnly: ReadonlySet<string> = new Set(["time"])

const isSame = (a: Entries, b: Entries): boolean =>
  a.length === b.length &&
  a.every((entry, i) => sameRecord(entry as unknown as Json, b[i] as unknown as Json, timeOnly))
