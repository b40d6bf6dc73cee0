/**
 * The machine under a `Store`: what the watch told, and above it the answers of our own writes that the watch has not passed. No effects; guarantees and
 * assumptions are told in `Store`.
 */
import * as KubeObject from "../KubeObject.ts"
import * as LabelSelector from "../LabelSelector.ts"
import { keyOf } from "./key.ts"
import { type Index, ObjectTable } from "./objectTable.ts"
import * as OwnFields from "./ownFields.ts"
import * as ResourceVersion from "./resourceVersion.ts"

/** One object before and after; undefined where it is absent. At least one is present, and they are never the same. */
export interface Change {
  readonly ref: KubeObject.ObjectRef
  readonly previous: KubeObject.KubeObject | undefined
  readonly next: KubeObject.KubeObject | undefined
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

export class Cache {
  readonly resource: KubeObject.Resource
  readonly trim: (object: KubeObject.KubeObject) => KubeObject.KubeObject
  /** What readers see: the overlay of an object if it has one, else what the watch told. */
  readonly table: ObjectTable
  /** Few: one for each of our writes whose echo is on its way. */
  readonly overlays = new Map<string, Overlay>()
  private cursor = this.overlays.values()
  private readonly feeds: ReadonlyMap<string | undefined, CacheFeed>
  private readonly waiters = new Map<string, Set<Waiter>>()
  private readonly listeners = new Set<(change: Change) => void>()
  private readonly onSynced: () => void
  /** Told to nobody yet. */
  private changes: Array<Change> = []
  /** Of waiters that were released: called when the listeners know what they waited for. */
  private callbacks: Array<() => void> = []
  private telling = false
  /** What listeners, indexes and callbacks threw. */
  private defects: Array<unknown> = []

  constructor(options: {
    readonly resource: KubeObject.Resource
    readonly fieldManager: string
    /** Undefined stands for all. */
    readonly namespaces: ReadonlyArray<string | undefined>
    readonly indexes: ReadonlyArray<Index>
    /** Called with each whole list from the moment on when every feed has had one. */
    readonly onSynced: () => void
  }) {
    this.resource = options.resource
    this.trim = OwnFields.make(options.fieldManager)
    this.table = new ObjectTable(options.indexes, (defect) => this.defects.push(defect))
    this.feeds = new Map(options.namespaces.map((namespace) => [namespace, new CacheFeed(this, namespace)]))
    this.onSynced = options.onSynced
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
    if (this.overlays.size === 0) return
    const next = this.cursor.next()
    if (next.done === true) this.cursor = this.overlays.values()
    else this.endIfPassed(next.value)
  }

  sweep(): void {
    for (const overlay of this.overlays.values()) this.endIfPassed(overlay)
  }

  private endIfPassed(overlay: Overlay): void {
    // The cursor may hold one that a newer answer has replaced.
    const key = keyOf(overlay.ref)
    if (!isPassed(overlay) || this.overlays.get(key) !== overlay) return
    this.overlays.delete(key)
    this.show(overlay.ref, overlay.beneath)
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
    this.onSynced()
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
    cache.sweepOne()
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
