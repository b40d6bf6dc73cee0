/**
 * What a cache keeps of managedFields (D28): the entries of our own manager, one a subresource, without their time. A field set that many objects
 * share is held once.
 */
import type { KubeObject, ManagedFieldsEntry } from "../KubeObject.ts"

type Entries = ReadonlyArray<ManagedFieldsEntry>

/** Distinct field sets held for sharing. Objects with keys of their own (a ConfigMap's data) have no equals, so the table is emptied when full. */
const sharedMax = 1_000

/** Gives objects as the cache keeps them. The object given is not touched: it may be the state of a server in this process. */
export const make = (manager: string): ((object: KubeObject) => KubeObject) => {
  const shared = new Map<string, Entries>()
  const share = (entries: Entries): Entries => {
    const timeless = entries.map(({ time: _, ...entry }) => entry)
    const text = JSON.stringify(timeless)
    const known = shared.get(text)
    if (known !== undefined) return known
    if (shared.size >= sharedMax) shared.clear()
    shared.set(text, timeless)
    return timeless
  }
  return (object) => {
    const { managedFields, ...metadata } = object.metadata
    if (managedFields === undefined) return object
    const own = managedFields.filter((entry) => entry.manager === manager)
    return { ...object, metadata: own.length === 0 ? metadata : { ...metadata, managedFields: share(own) } }
  }
}
