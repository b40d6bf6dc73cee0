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
 * - Versions that are no decimals have no order: answers are then not folded in, and `hasSeen` knows only the very version that the watch told.
 */
import type * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { type Index, ObjectTable } from "./internal/objectTable.ts"
import * as OwnFields from "./internal/ownFields.ts"
import * as ResourceVersion from "./internal/resourceVersion.ts"
import * as KubeObject from "./KubeObject.ts"
import * as LabelSelector from "./LabelSelector.ts"

export type { Index } from "./internal/objectTable.ts"

/** By the uid of each owner; every store has it. */
export const byOwner: Index = {
  name: "byOwner",
  of: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)
}

/** One object before and after; undefined where it is absent. At least one is present, and they are never the same. */
export interface Change {
  readonly ref: KubeObject.ObjectRef
  readonly previous: KubeObject.KubeObject | undefined
  readonly next: KubeObject.KubeObject | undefined
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

/** Where one reflector puts what it hears. A whole list is held back until its end: only then are the absent ones known to be gone (B3, B17). */
export interface Feed {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined
  /** Up to here everything was heard; undefined before the first whole list. */
  readonly position: string | undefined
  /** A list begins; what was held of one that did not end is dropped. */
  readonly begin: () => void
  /** One object of the list. */
  readonly hold: (type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject.KubeObject) => void
  /** The list is whole: it replaces what was there. `reset` also where its version is older: the server's history began anew. */
  readonly commit: (resourceVersion: string, options: { readonly reset: boolean }) => void
  /** One event after the list. */
  readonly event: (type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject.KubeObject) => void
  /** Nothing happened up to here. */
  readonly bookmark: (resourceVersion: string) => void
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

export const make = (options: Options): Store => new Cache(options)

/** An answer of ours that the watch has not passed. */
interface Overlay {
  readonly ref: KubeObject.ObjectRef
  readonly feed: CacheFeed
  readonly uid: string
  readonly version: string
  /** What is shown; undefined if our write ended the object, or if the watch then told that it left: nothing older is shown after it. */
  readonly object: KubeObject.KubeObject | undefined
  /** Whether our write ended the object: the watch is yet to tell its deletion, at a version that is not known before (F61). */
  readonly ended: boolean
  /** What the watch has told meanwhile. */
  beneath: KubeObject.KubeObject | undefined
}

interface Waiter {
  readonly ref: KubeObject.ObjectRef
  readonly uid: string
  readonly resourceVersion: string
  readonly callback: () => void
}

const older = (a: string, b: string): boolean => (ResourceVersion.compare(a, b) ?? 0) < 0
const newer = (a: string, b: string): boolean => (ResourceVersion.compare(a, b) ?? 0) > 0
const sameVersion = (a: KubeObject.KubeObject, b: KubeObject.KubeObject): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion

class Cache implements Store {
  readonly resource: KubeObject.Resource
  readonly trim: (object: KubeObject.KubeObject) => KubeObject.KubeObject
  /** What readers see: the overlay of an object if it has one, else what the watch told. */
  readonly table: ObjectTable
  /** Few: one for each of our writes whose echo is on its way. In the order of folding, but for `sweepOne`. */
  readonly overlays = new Map<string, Overlay>()
  private readonly feeds: ReadonlyMap<string | undefined, CacheFeed>
  private readonly waiters = new Map<string, Set<Waiter>>()
  private readonly listeners = new Set<(change: Change) => void>()
  private readonly syncedLatch = Latch.makeUnsafe(false)
  /** Told to nobody yet. */
  private changes: Array<Change> = []
  /** Of waiters that were released: called when the listeners know what they waited for. */
  private callbacks: Array<() => void> = []
  private telling = false
  /** What listeners, indexes and callbacks threw. */
  private defects: Array<unknown> = []

  constructor({ fieldManager, indexes = [], namespaces, resource }: Options) {
    this.resource = resource
    this.trim = OwnFields.make(fieldManager)
    this.table = new ObjectTable([byOwner, ...indexes], (defect) => this.defects.push(defect))
    this.feeds = new Map((namespaces ?? [undefined]).map((namespace) => [namespace, new CacheFeed(this, namespace)]))
  }

  get synced(): boolean {
    return Latch.isOpen(this.syncedLatch)
  }

  get awaitSynced(): Effect.Effect<void> {
    return this.syncedLatch.await
  }

  get(ref: KubeObject.ObjectRef): KubeObject.KubeObject | undefined {
    return this.table.get(ref)
  }

  list({
    selector,
    namespace
  }: {
    readonly namespace?: string | undefined
    readonly selector?: LabelSelector.LabelSelector | undefined
  } = {}): ReadonlyArray<KubeObject.KubeObject> {
    const all = this.table.values(namespace)
    if (selector === undefined) return [...all]
    const found: Array<KubeObject.KubeObject> = []
    for (const object of all) if (LabelSelector.matches(selector, object.metadata.labels)) found.push(object)
    return found
  }

  lookup(index: Index, value: string): ReadonlyArray<KubeObject.KubeObject> {
    const found = this.table.lookup(index, value)
    if (found === undefined)
      throw new Error(`index ${index.name} of ${this.resource.plural} was not declared: give it to Store.make`)
    return found
  }

  fold(answer: KubeObject.KubeObject): void {
    const ref = KubeObject.ref(answer)
    const { resourceVersion: version, uid } = answer.metadata
    const feed = this.feedOf(ref)
    if (feed?.position === undefined || !newer(version, feed.position)) return
    const key = keyOf(ref)
    const overlay = this.overlays.get(key)
    // An answer that came late: a newer one is laid over, or the object has ended.
    if (overlay !== undefined && (!newer(version, overlay.version) || (overlay.ended && overlay.uid === uid))) return
    const shown = this.table.get(ref)
    const object = this.trim(answer)
    this.overlays.set(key, {
      ref,
      feed,
      uid,
      version,
      object,
      ended: false,
      beneath: overlay === undefined ? shown : overlay.beneath
    })
    this.show(ref, object)
    this.tell()
  }

  foldDeleted(ref: KubeObject.ObjectRef, uid: string): void {
    const feed = this.feedOf(ref)
    const shown = this.table.get(ref)
    if (feed?.position === undefined || shown?.metadata.uid !== uid) return
    const key = keyOf(ref)
    const overlay = this.overlays.get(key)
    this.overlays.set(key, {
      ref,
      feed,
      uid,
      version: shown.metadata.resourceVersion,
      object: undefined,
      ended: true,
      beneath: overlay === undefined ? shown : overlay.beneath
    })
    this.show(ref, undefined)
    this.tell()
  }

  hasSeen(ref: KubeObject.ObjectRef, uid: string, resourceVersion: string): boolean {
    const feed = this.feedOf(ref)
    if (feed === undefined) return true
    if (feed.position === undefined) return false
    const order = ResourceVersion.compare(resourceVersion, feed.position)
    if (order !== undefined) return order <= 0
    const told = this.told(ref)
    return told !== undefined && (told.metadata.uid !== uid || told.metadata.resourceVersion === resourceVersion)
  }

  whenSeen(ref: KubeObject.ObjectRef, uid: string, resourceVersion: string, callback: () => void): () => void {
    if (this.hasSeen(ref, uid, resourceVersion)) {
      callback()
      return () => {}
    }
    const key = keyOf(ref)
    const waiter: Waiter = { ref, uid, resourceVersion, callback }
    const waiters = this.waiters.get(key)
    if (waiters === undefined) this.waiters.set(key, new Set([waiter]))
    else waiters.add(waiter)
    return () => this.dismiss(key, waiter)
  }

  onChange(listener: (change: Change) => void): () => void {
    // A function of its own, so that one listener given twice is called twice.
    const own = (change: Change): void => listener(change)
    this.listeners.add(own)
    return () => {
      this.listeners.delete(own)
    }
  }

  feed(namespace: string | undefined): Feed {
    const feed = this.feeds.get(namespace)
    if (feed === undefined)
      throw new Error(
        `${namespace === undefined ? "all namespaces" : `namespace ${namespace}`} of ${this.resource.plural} is not in this store: give it to Store.make`
      )
    return feed
  }

  sizes() {
    let waiting = 0
    for (const waiters of this.waiters.values()) waiting += waiters.size
    return { objects: this.table.size, overlays: this.overlays.size, waiting, indexed: this.table.indexed }
  }

  /** What the watch told of an object, beneath any overlay. */
  told(ref: KubeObject.ObjectRef): KubeObject.KubeObject | undefined {
    const overlay = this.overlays.size === 0 ? undefined : this.overlays.get(keyOf(ref))
    return overlay === undefined ? this.table.get(ref) : overlay.beneath
  }

  show(ref: KubeObject.ObjectRef, next: KubeObject.KubeObject | undefined): void {
    const previous = this.table.get(ref)
    if (previous === next) return
    this.table.set(ref, previous, next)
    this.changes.push({ ref, previous, next })
  }

  /**
   * Ends one overlay that the watch has passed without an event of the object: it left the selector, or never matched it. Each event looks at one, in
   * turn, so that many of them do not make events slow.
   */
  sweepOne(): void {
    for (const [key, overlay] of this.overlays) {
      this.overlays.delete(key)
      if (isPassed(overlay)) this.show(overlay.ref, overlay.beneath)
      else this.overlays.set(key, overlay)
      return
    }
  }

  sweep(): void {
    for (let count = this.overlays.size; count > 0; count--) this.sweepOne()
  }

  /** Lets those go who wait for one object, or for any. `ended` is a uid whose deletion was told. */
  release(key: string | undefined, ended?: string): void {
    if (this.waiters.size === 0) return
    const some = key === undefined ? [...this.waiters] : [[key, this.waiters.get(key) ?? new Set<Waiter>()] as const]
    for (const [key, waiters] of some) {
      for (const waiter of waiters) {
        if (waiter.uid !== ended && !this.hasSeen(waiter.ref, waiter.uid, waiter.resourceVersion)) continue
        this.dismiss(key, waiter)
        this.callbacks.push(waiter.callback)
      }
    }
  }

  /** Tells the listeners all changes, in order even if one of them makes another change; then calls back; then throws what was thrown. */
  tell(): void {
    if (this.telling) return
    this.telling = true
    while (this.changes.length > 0 || this.callbacks.length > 0) {
      const { callbacks, changes } = this
      this.changes = []
      this.callbacks = []
      for (const change of changes) for (const listener of this.listeners) this.guard(() => listener(change))
      for (const callback of callbacks) this.guard(callback)
    }
    this.telling = false
    const [defect] = this.defects
    this.defects = []
    if (defect !== undefined) throw defect
  }

  committed(): void {
    for (const feed of this.feeds.values()) if (feed.position === undefined) return
    this.syncedLatch.openUnsafe()
  }

  private guard(run: () => void): void {
    try {
      run()
    } catch (defect) {
      this.defects.push(defect)
    }
  }

  private feedOf(ref: KubeObject.ObjectRef): CacheFeed | undefined {
    return this.feeds.get(undefined) ?? this.feeds.get(ref.namespace)
  }

  private dismiss(key: string, waiter: Waiter): void {
    const waiters = this.waiters.get(key)
    if (waiters?.delete(waiter) === true && waiters.size === 0) this.waiters.delete(key)
  }
}

const keyOf = (ref: KubeObject.ObjectRef): string => `${ref.namespace ?? ""}/${ref.name}`

const isPassed = ({ beneath, ended, feed, uid, version }: Overlay): boolean =>
  feed.position !== undefined && !newer(version, feed.position) && !(ended && beneath?.metadata.uid === uid)

class CacheFeed implements Feed {
  readonly namespace: string | undefined
  position: string | undefined
  private readonly cache: Cache
  private held: Map<string, KubeObject.KubeObject> | undefined

  constructor(cache: Cache, namespace: string | undefined) {
    this.cache = cache
    this.namespace = namespace
  }

  begin(): void {
    this.held = new Map()
  }

  hold(type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject.KubeObject): void {
    const ref = KubeObject.ref(object)
    const held = (this.held ??= new Map())
    if (type === "DELETED") held.delete(keyOf(ref))
    else held.set(keyOf(ref), this.taken(this.cache.told(ref), object))
  }

  commit(resourceVersion: string, { reset }: { readonly reset: boolean }): void {
    const { cache } = this
    const held = this.held ?? new Map<string, KubeObject.KubeObject>()
    this.held = undefined
    this.position = reset ? resourceVersion : ResourceVersion.later(this.position, resourceVersion)
    for (const [key, overlay] of cache.overlays) {
      if (overlay.feed !== this) continue
      const told = held.get(key)
      overlay.beneath = told
      const outlives = overlay.object !== undefined && !reset && !isPassed(overlay)
      const isEcho = overlay.object !== undefined && told !== undefined && sameVersion(overlay.object, told)
      if (outlives || isEcho) held.set(key, overlay.object!)
      if (!outlives) cache.overlays.delete(key)
    }
    const gone: Array<KubeObject.ObjectRef> = []
    for (const object of cache.table.values(this.namespace)) {
      const ref = KubeObject.ref(object)
      if (!held.has(keyOf(ref))) gone.push(ref)
    }
    for (const ref of gone) cache.show(ref, undefined)
    for (const object of held.values()) cache.show(KubeObject.ref(object), object)
    cache.committed()
    cache.release(undefined)
    cache.tell()
  }

  event(type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject.KubeObject): void {
    const { cache } = this
    const ref = KubeObject.ref(object)
    const { resourceVersion, uid } = object.metadata
    const overlay = cache.overlays.size === 0 ? undefined : cache.overlays.get(keyOf(ref))
    const told = overlay === undefined ? cache.table.get(ref) : overlay.beneath
    if (told === undefined || !isPast(type, object, told)) {
      const next = type === "DELETED" ? undefined : this.taken(told, object)
      if (overlay === undefined) cache.show(ref, next)
      else if (outlives(overlay, type, object)) {
        const isGone = type === "DELETED" && overlay.uid === uid
        cache.overlays.set(keyOf(ref), { ...overlay, ...(isGone && { object: undefined }), beneath: next })
        if (isGone) cache.show(ref, undefined)
      } else {
        cache.overlays.delete(keyOf(ref))
        const isEcho = next !== undefined && overlay.object !== undefined && sameVersion(overlay.object, next)
        if (!isEcho) cache.show(ref, next)
      }
    }
    this.position = ResourceVersion.later(this.position, resourceVersion)
    if (cache.overlays.size > 0) cache.sweepOne()
    cache.release(keyOf(ref), type === "DELETED" ? uid : undefined)
    cache.tell()
  }

  bookmark(resourceVersion: string): void {
    this.position = ResourceVersion.later(this.position, resourceVersion)
    this.cache.sweep()
    this.cache.release(undefined)
    this.cache.tell()
  }

  /** As the cache keeps it: the very one that it has if that is the same version. */
  private taken(told: KubeObject.KubeObject | undefined, object: KubeObject.KubeObject): KubeObject.KubeObject {
    return told !== undefined && sameVersion(told, object) ? told : this.cache.trim(object)
  }
}

/** Whether an event tells what is known to be over (B14). The deletion of the very object never is (B13). */
const isPast = (type: string, object: KubeObject.KubeObject, told: KubeObject.KubeObject): boolean =>
  older(object.metadata.resourceVersion, told.metadata.resourceVersion) &&
  !(type === "DELETED" && object.metadata.uid === told.metadata.uid)

/** Whether an overlay stays above an event. A deletion older than what our write answered is only that the object left the selector then (F63). */
const outlives = (overlay: Overlay, type: string, object: KubeObject.KubeObject): boolean =>
  (overlay.ended && type !== "DELETED" && object.metadata.uid === overlay.uid) ||
  older(object.metadata.resourceVersion, overlay.version)
