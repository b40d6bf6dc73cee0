/**
 * What a resource's watch cache remembers: the changes since some version, each with the object before it. A watch goes on from here, and a list as
 * of an older version is made by taking changes back.
 *
 * It forgets as the real cache does (F56): the oldest change goes when the cache is full, but a full cache grows while its oldest change is younger
 * than 75 s, and shrinks while a quarter of it is enough for that time.
 */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as SortedMap from "./sortedMap.ts"

export interface Change {
  /** Where it is stored: `widgets.facts.example.com`, `configmaps`. */
  readonly resource: string
  readonly key: string
  readonly rv: number
  /** When, in milliseconds since 1970. */
  readonly at: number
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  /** As it is now; of a deletion: as last stored, with the version of the deletion (F61, F62). */
  readonly object: KubeObject
  readonly previous: KubeObject | undefined
}

export interface History {
  /** A watch may begin at this version or later. */
  readonly since: number
  /** Full chunks of changes, oldest first, and the last one that still grows. */
  readonly chunks: ReadonlyArray<ReadonlyArray<Change>>
  /** Changes at the beginning of the first chunk that are forgotten already. */
  readonly skip: number
  readonly length: number
  readonly capacity: number
}

const chunkSize = 64
const capacityLeast = 100
const capacityMost = 102_400
const freshMillis = 75_000

export const make = (since: number): History => ({ since, chunks: [], skip: 0, length: 0, capacity: capacityLeast })

const at = (history: History, index: number): Change => {
  const place = index + history.skip
  return history.chunks[Math.floor(place / chunkSize)]![place % chunkSize]!
}

export const append = (history: History, change: Change): History => {
  const full = history.length === history.capacity
  const age = (index: number): number => change.at - at(history, index).at
  const capacity = !full
    ? history.capacity
    : age(0) < freshMillis
      ? Math.min(history.capacity * 2, capacityMost)
      : age(history.length - Math.floor(history.capacity / 4)) > freshMillis
        ? Math.max(history.capacity >>> 1, capacityLeast)
        : history.capacity
  const last = history.chunks.at(-1)
  const chunks =
    last === undefined || last.length === chunkSize
      ? [...history.chunks, [change]]
      : history.chunks.with(-1, [...last, change])
  return forget({ ...history, chunks, capacity, length: history.length + 1 }, history.length + 1 - capacity)
}

/** Without the oldest `count` changes. */
const forget = (history: History, count: number): History => {
  if (count <= 0) return history
  const skip = history.skip + count
  const whole = Math.floor(skip / chunkSize)
  return {
    ...history,
    since: at(history, count - 1).rv,
    chunks: whole === 0 ? history.chunks : history.chunks.slice(whole),
    skip: skip % chunkSize,
    length: history.length - count
  }
}

/** Without all changes up to the version, as after a compaction: a list or watch from before fails with 410 (F45, F55). */
export const compact = (history: History, rv: number): History => {
  const count = indexAfter(history, rv)
  return { ...forget(history, count), since: Math.max(history.since, rv) }
}

/** The index of the first change after the version. */
const indexAfter = (history: History, rv: number): number => {
  let low = 0
  let high = history.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(history, middle).rv <= rv) low = middle + 1
    else high = middle
  }
  return low
}

/** The changes after the version, oldest first. */
export const after = (history: History, rv: number): Array<Change> => {
  const found: Array<Change> = []
  for (let i = indexAfter(history, rv); i < history.length; i++) found.push(at(history, i))
  return found
}

/** The objects as they were at the version, which must not be before `since`. */
export const rewind = (
  history: History,
  objects: SortedMap.SortedMap<KubeObject>,
  rv: number
): SortedMap.SortedMap<KubeObject> => {
  let then = objects
  for (let i = history.length - 1; i >= 0; i--) {
    const change = at(history, i)
    if (change.rv <= rv) break
    then =
      change.previous === undefined
        ? SortedMap.remove(then, change.key)
        : SortedMap.set(then, change.key, change.previous)
  }
  return then
}
