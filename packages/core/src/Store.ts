/**
 * The cache of one resource: raw objects by name, as the watch tells them, with the answers of our own writes laid over until the watch has passed
 * them (D29). Reading copies nothing.
 *
 * Guarantees:
 * - One `Change` for each real change: an answer that was folded in is told at once, and its echo by the watch is not told again (B15).
 * - An object that did not change keeps its reference, through relists too.
 * - An overlay is not undone by an older event; a deletion of the same object, or a newer object of the same name, always wins (B13).
 * - An overlay lasts at most until the watch has passed its version: a wrong one heals by itself.
 * - When listeners run, the store holds the whole event or the whole list already; each listener gets the changes in order.
 *
 * Assumptions: a watch delivers in the order of versions, as the API server does; objects given are not changed afterwards.
 *
 * Caveats:
 * - Of managedFields only the entries of our own manager are kept, without their time; equal ones are shared (D28).
 * - With a label selector, an answer that does not match it is shown until the watch has passed its version.
 * - Versions that are no decimals have no order: answers are then not folded in, and `hasSeen` knows only the very version that the watch told.
 */
import type * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { Cache, type Change, type Feed } from "./internal/cache.ts"
import type { Index } from "./internal/objectTable.ts"
import type * as KubeObject from "./KubeObject.ts"
import type * as LabelSelector from "./LabelSelector.ts"

export type { Change, Feed } from "./internal/cache.ts"
export type { Index } from "./internal/objectTable.ts"

/** By the uid of each owner; every store has it. */
export const byOwner: Index = {
  name: "byOwner",
  of: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)
}

export interface Options {
  readonly resource: KubeObject.Resource
  /** Whose managedFields entries are kept (C10). */
  readonly fieldManager: string
  /** The namespaces that are watched, each by a reflector of its own. Default: one for all. */
  readonly namespaces?: ReadonlyArray<string>
  /** Besides `byOwner`. */
  readonly indexes?: ReadonlyArray<Index>
}

export interface Store {
  readonly resource: KubeObject.Resource
  /** Whether every feed has had a whole list. */
  readonly synced: boolean
  readonly awaitSynced: Effect.Effect<void>
  readonly get: (ref: KubeObject.ObjectRef) => KubeObject.KubeObject | undefined
  /** In no order. A new array of the cached objects. */
  readonly list: (options?: {
    readonly namespace?: string | undefined
    readonly selector?: LabelSelector.LabelSelector | undefined
  }) => ReadonlyArray<KubeObject.KubeObject>
  /** Throws if the index was not given to `make`. */
  readonly lookup: (index: Index, value: string) => ReadonlyArray<KubeObject.KubeObject>
  /**
   * Lays the answer of a write of ours over what the watch has told. Does nothing if the watch has passed it. The answer must be the whole object
   * (not a Scale, not of a dry run).
   */
  readonly fold: (answer: KubeObject.KubeObject) => void
  /** A write of ours has ended that object: a deletion answered with success, or its last finalizer removed (F62). */
  readonly foldDeleted: (ref: KubeObject.ObjectRef, uid: string) => void
  /**
   * Whether the watch has told at least that version of the object, its deletion, or another one of its name. True for what no feed covers: nobody
   * will ever tell it.
   */
  readonly hasSeen: (ref: KubeObject.ObjectRef, uid: string, resourceVersion: string) => boolean
  /** Calls back once when `hasSeen` turns true, at once if it is. Returns what cancels it; uncancelled, it may wait for ever. */
  readonly whenSeen: (
    ref: KubeObject.ObjectRef,
    uid: string,
    resourceVersion: string,
    callback: () => void
  ) => () => void
  /** Called synchronously for each change from now on. Returns what ends it. A listener that throws stops no other; the throw then ends the feed's caller. */
  readonly onChange: (listener: (change: Change) => void) => () => void
  /** The feed of one of the namespaces given to `make`; throws for another. */
  readonly feed: (namespace: string | undefined) => Feed
  /** How much is held, for metrics: `overlays` are answers that the watch has not yet passed, `waiting` callbacks of `whenSeen`. */
  readonly sizes: () => {
    readonly objects: number
    readonly overlays: number
    readonly waiting: number
    readonly indexed: number
  }
}

export const make = ({ fieldManager, indexes = [], namespaces, resource }: Options): Store => {
  const synced = Latch.makeUnsafe(false)
  const cache = new Cache({
    resource,
    fieldManager,
    namespaces: namespaces ?? [undefined],
    indexes: [byOwner, ...indexes],
    onSynced: () => void synced.openUnsafe()
  })
  return {
    resource,
    get synced() {
      return Latch.isOpen(synced)
    },
    awaitSynced: synced.await,
    get: (ref) => cache.get(ref),
    list: (options) => cache.list(options),
    lookup: (index, value) => cache.lookup(index, value),
    fold: (answer) => cache.fold(answer),
    foldDeleted: (ref, uid) => cache.foldDeleted(ref, uid),
    hasSeen: (ref, uid, resourceVersion) => cache.hasSeen(ref, uid, resourceVersion),
    whenSeen: (ref, uid, resourceVersion, callback) => cache.whenSeen(ref, uid, resourceVersion, callback),
    onChange: (listener) => cache.onChange(listener),
    feed: (namespace) => cache.feed(namespace),
    sizes: () => cache.sizes()
  }
}
