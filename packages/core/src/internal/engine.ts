/**
 * What one controller of one Manager knows of its keys, and which changes wake which of them: judged against what the key's last pass read or wrote,
 * never against the event before (D27). No effects; `passRunner` runs the passes.
 *
 * Guarantees: a change that comes while the key runs is judged when its pass has settled, since the echo of our own write may come before its answer.
 */
import type * as Controller from "../Controller.ts"
import type * as Kind from "../Kind.ts"
import type { KubeObject, ObjectRef } from "../KubeObject.ts"
import type { Subscription } from "../Pass.ts"
import * as Predicate from "../Predicate.ts"
import type { Change, Store } from "../Store.ts"
import type { Origin, WorkQueue } from "../WorkQueues.ts"
import { revealsForeign, wakesOwner } from "./childChange.ts"
import type { Write } from "./childWriter.ts"
import { keyOf, refOf } from "./key.ts"
import type { Memory } from "./settle.ts"
import { Subscriptions } from "./subscriptions.ts"

const addressOf = (kindId: string, ref: ObjectRef): string => `${kindId} ${keyOf(ref)}`

/** A write of ours that the watch has not told yet. */
export interface Unseen {
  readonly store: Store
  readonly ref: ObjectRef
  readonly uid: string
  readonly resourceVersion: string
}

interface Address {
  readonly kindId: string
  readonly ref: ObjectRef
}

/** Of a key that does not run. */
interface Known {
  /** The object as its last pass read it. */
  readonly seen: KubeObject
  /** Its children as the last pass wrote or read them; undefined where it deleted one. */
  readonly children: ReadonlyMap<string, KubeObject | undefined>
  /** When something else than a timer last woke it, in milliseconds since 1970. */
  readonly wokenAt: number
}

/** Of a key that runs. */
interface Running {
  readonly children: Map<string, KubeObject | undefined>
  readonly unseen: Array<Unseen>
  readonly recheck: Map<string, Address>
  recheckSelf: boolean
  /** Whether an answer of ours showed a change that was not ours. */
  foreign: boolean
}

const noChildren: ReadonlyMap<string, KubeObject | undefined> = new Map()

export interface Options {
  readonly controller: Controller.Any
  readonly queue: WorkQueue<Memory>
  readonly storeOf: (kindId: string) => Store
  readonly fieldManager: string
}

export class Engine {
  readonly controller: Controller.Any
  readonly queue: WorkQueue<Memory>
  readonly store: Store
  /** Whether the caches have synced: until then objects are news of the first list. */
  started = false
  /** Whether the Manager stops: interruptions are its own then. */
  stopping = false
  private readonly storeOf: (kindId: string) => Store
  private readonly fieldManager: string
  private readonly ownedIds: ReadonlySet<string>
  private readonly predicate: Predicate.Predicate
  private readonly ownFinalizers: ReadonlyArray<string>
  private readonly subscriptions = new Subscriptions()
  private readonly known = new Map<string, Known>()
  private readonly running = new Map<string, Running>()
  /** By key, the uid of an object of which the store has told that it is being deleted, or that somebody took our finalizers off. */
  private readonly leaving = new Map<string, string>()
  /** Of each key, what ends its wait for its own writes. */
  private readonly barriers = new Map<string, { readonly unseen: ReadonlyArray<Unseen>; readonly cancel: () => void }>()

  constructor({ controller, fieldManager, queue, storeOf }: Options) {
    this.controller = controller
    this.queue = queue
    this.storeOf = storeOf
    this.fieldManager = fieldManager
    this.store = storeOf(controller.for.id)
    this.ownedIds = new Set([...controller.owns, ...controller.writes].map(({ id }) => id))
    this.predicate = controller.predicate ?? Predicate.standard
    this.ownFinalizers = controller.reconciler.finalizers.map(({ name }) => name)
  }

  /** The kinds of which the engine must hear every change. */
  get kinds(): ReadonlyArray<Kind.Any> {
    const { controller } = this
    return [controller.for, ...controller.owns, ...controller.writes, ...controller.watches]
  }

  /** Listens to the stores; the returned function ends it. */
  listen(): () => void {
    const ids = new Set(this.kinds.map(({ id }) => id))
    const ends = [...ids].map((id) => this.storeOf(id).onChange((change) => this.onChange(id, change)))
    return () => ends.forEach((end) => end())
  }

  private onChange(kindId: string, change: Change): void {
    const { next, previous, ref } = change
    const isOwnKind = kindId === this.controller.for.id
    if (isOwnKind) this.onOwn(change)
    const candidates = new Set(this.subscriptions.readersOf(kindId, change))
    const isOwned = this.ownedIds.has(kindId)
    const owners = isOwned ? this.ownersOf(previous, next) : noKeys
    for (const owner of owners) candidates.add(owner)
    for (const key of candidates) {
      // The key's own object is judged by its predicate alone, also where its list has it.
      if (isOwnKind && key === keyOf(ref)) continue
      const running = this.running.get(key)
      const address = addressOf(kindId, ref)
      if (running !== undefined && isOwned) {
        running.recheck.set(address, { kindId, ref })
        continue
      }
      // An owner that has not run yet stands in the queue already.
      if (running === undefined && owners.has(key) && !this.known.has(key)) continue
      if (running !== undefined || this.isNews(key, address, next))
        this.wake(key, isOwned ? "owned" : "mapped", kindId, ref)
    }
  }

  /** Whether the object is one of those that the controller is for: a cache that it shares may hold more. */
  covers({ namespace }: ObjectRef): boolean {
    const { for: kind, namespaces } = this.controller
    return namespaces === undefined || kind.scope === "Cluster" || namespaces.includes(namespace ?? "")
  }

  private onOwn({ next, previous, ref }: Change): void {
    if (!this.covers(ref)) return
    const key = keyOf(ref)
    const running = this.running.get(key)
    if (next !== undefined && this.isLeaving(previous, next)) this.leaving.set(key, next.metadata.uid)
    if (running !== undefined) {
      running.recheckSelf = true
      return
    }
    if (this.concerns(this.known.get(key)?.seen, next))
      this.wake(key, this.started ? "changed" : "initial", this.controller.for.id, ref)
  }

  /** Whether a change of the object from one state to the other is worth a pass. */
  concerns(seen: KubeObject | undefined, next: KubeObject | undefined): boolean {
    return Predicate.wakes(this.predicate, { seen, next, ownFinalizers: this.ownFinalizers })
  }

  private isLeaving(previous: KubeObject | undefined, next: KubeObject): boolean {
    if (this.ownFinalizers.length === 0) return false
    const isStripped = previous?.metadata.uid === next.metadata.uid && this.isHeld(previous) && !this.isHeld(next)
    return isStripped || next.metadata.deletionTimestamp !== undefined
  }

  private isHeld({ metadata: { finalizers = [] } }: KubeObject): boolean {
    return this.ownFinalizers.some((name) => finalizers.includes(name))
  }

  /**
   * The object of the last pass, if it has gone since though it bore a finalizer of ours and nobody was seen to delete it or to take that off. A server that is
   * deleting an object without finalizers goes on, though one is added and answered for meanwhile, so its clean-up is still to be done.
   */
  lost(key: string, now: KubeObject | undefined): KubeObject | undefined {
    const seen = this.known.get(key)?.seen
    if (seen === undefined || seen.metadata.uid === now?.metadata.uid || !this.isHeld(seen)) return undefined
    const isLeaving = seen.metadata.deletionTimestamp !== undefined || this.leaving.get(key) === seen.metadata.uid
    return isLeaving ? undefined : seen
  }

  private isNews(key: string, address: string, next: KubeObject | undefined): boolean {
    const children = this.known.get(key)?.children
    return children?.has(address) === true ? wakesOwner(children.get(address), next) : true
  }

  private ownersOf(...states: ReadonlyArray<KubeObject | undefined>): ReadonlySet<string> {
    const { group, kind, scope } = this.controller.for
    const keys = new Set<string>()
    for (const object of states) {
      for (const owner of object?.metadata.ownerReferences ?? []) {
        const slash = owner.apiVersion.indexOf("/")
        if (owner.kind !== kind || (slash === -1 ? "" : owner.apiVersion.slice(0, slash)) !== group) continue
        // A cluster-scoped owner has no namespace, whatever that of its child (B68).
        keys.add(keyOf({ namespace: scope === "Cluster" ? undefined : object?.metadata.namespace, name: owner.name }))
      }
    }
    return keys
  }

  wake(key: string, origin: Origin, kindId: string, ref: ObjectRef): void {
    this.queue.addUnsafe(key, {
      origin,
      trigger: `${kindId.slice(kindId.indexOf("/") + 1)} ${keyOf(ref).replace(/^\//, "")}`
    })
  }

  /** A pass of the key begins. */
  begin(key: string): void {
    this.running.set(key, { children: new Map(), unseen: [], recheck: new Map(), recheckSelf: false, foreign: false })
    this.subscriptions.begin(key)
  }

  subscribe(key: string, subscription: Subscription): void {
    this.subscriptions.read(key, subscription)
  }

  /** A write of a child was answered in the running pass of its owner. */
  wrote(owner: KubeObject, { answer, previous, ref }: Write, kindId: string): void {
    const running = this.running.get(keyOf(owner.metadata as ObjectRef))
    if (running === undefined) return
    const store = this.storeOf(kindId)
    running.children.set(addressOf(kindId, ref), sharedWith(store, answer))
    if (answer === undefined) return
    this.await(running, store, answer)
    running.foreign ||= revealsForeign({ previous, answer, fieldManager: this.fieldManager })
  }

  /** The child as the last pass of the owner left it there. */
  childBefore(owner: KubeObject, ref: ObjectRef, kindId: string): KubeObject | undefined {
    return this.known.get(keyOf(owner.metadata as ObjectRef))?.children.get(addressOf(kindId, ref))
  }

  /** A child was read in the running pass of its owner, and nothing had to be written. */
  readChild(owner: KubeObject, ref: ObjectRef, child: KubeObject, kindId: string): void {
    this.running.get(keyOf(owner.metadata as ObjectRef))?.children.set(addressOf(kindId, ref), child)
  }

  /** The object itself was written in its running pass. */
  wroteSelf(key: string, answer: KubeObject): void {
    const running = this.running.get(key)
    if (running !== undefined) this.await(running, this.store, answer)
  }

  private await({ unseen }: Running, store: Store, { metadata }: KubeObject): void {
    const ref = { namespace: metadata.namespace, name: metadata.name }
    unseen.push({ store, ref, uid: metadata.uid, resourceVersion: metadata.resourceVersion })
  }

  /**
   * The pass has settled; `seen` is the object as it read it, undefined if it is gone. Wakes the key again for what happened meanwhile and is news. The writes
   * of the pass that the watch has not told yet, if any: the queue must be told to park the key.
   */
  finish(
    key: string,
    end: {
      readonly seen: KubeObject | undefined
      /** Whether it came to its end, and so read and wrote all that it ever does. */
      readonly complete: boolean
      /** Whether it ended by itself: what it read is then what its end depends on. */
      readonly settled: boolean
      readonly wokenAt: number
    }
  ): ReadonlyArray<Unseen> {
    const running = this.running.get(key)
    this.running.delete(key)
    if (running === undefined) return []
    if (end.seen === undefined) {
      this.forget(key)
      if (this.store.get(refOf(key)) !== undefined) this.wake(key, "changed", this.controller.for.id, refOf(key))
      return []
    }
    if (end.settled) this.subscriptions.finish(key)
    const before = this.known.get(key)
    const children =
      end.complete || before === undefined ? running.children : new Map([...before.children, ...running.children])
    this.known.set(key, {
      seen: end.seen,
      children: children.size === 0 ? noChildren : children,
      wokenAt: Math.max(end.wokenAt, before?.wokenAt ?? 0)
    })
    for (const [address, { kindId, ref }] of running.recheck)
      if (this.isNews(key, address, this.storeOf(kindId).get(ref))) this.wake(key, "owned", kindId, ref)
    const ref = refOf(key)
    if (running.recheckSelf && this.concerns(end.seen, this.store.get(ref)))
      this.wake(key, "changed", this.controller.for.id, ref)
    if (running.foreign)
      this.queue.addUnsafe(key, { origin: "owned", trigger: "a change found in the answer of a write" })
    return running.unseen.filter(({ resourceVersion, store, ref, uid }) => !store.hasSeen(ref, uid, resourceVersion))
  }

  /** Unparks the key when the watch has told all of its writes. */
  hold(key: string, unseen: ReadonlyArray<Unseen>): void {
    let left = unseen.length
    const cancels = unseen.map(({ ref, resourceVersion, store, uid }) =>
      store.whenSeen(ref, uid, resourceVersion, () => {
        if (--left > 0) return
        this.barriers.delete(key)
        this.queue.unparkUnsafe(key)
      })
    )
    if (left > 0) this.barriers.set(key, { unseen, cancel: () => cancels.forEach((cancel) => cancel()) })
  }

  /** Ends the wait of a key, and gives what it waited for in vain. */
  release(key: string): ReadonlyArray<Unseen> {
    const barrier = this.barriers.get(key)
    if (barrier === undefined) return []
    this.barriers.delete(key)
    barrier.cancel()
    return barrier.unseen.filter(({ ref, resourceVersion, store, uid }) => !store.hasSeen(ref, uid, resourceVersion))
  }

  wokenAt(key: string): number {
    return this.known.get(key)?.wokenAt ?? 0
  }

  /** The object is gone: nothing is kept of its key (B37). */
  private forget(key: string): void {
    this.known.delete(key)
    this.leaving.delete(key)
    this.subscriptions.forget(key)
    this.release(key)
  }

  /** What is held, for tests of leaks. */
  sizes() {
    return {
      known: this.known.size,
      leaving: this.leaving.size,
      running: this.running.size,
      barriers: this.barriers.size,
      ...this.subscriptions.sizes()
    }
  }
}

const noKeys: ReadonlySet<string> = new Set()

/** The cached object if it is the very answer, so that no second copy is kept. */
const sharedWith = (store: Store, answer: KubeObject | undefined): KubeObject | undefined => {
  if (answer === undefined) return undefined
  const shown = store.get({ namespace: answer.metadata.namespace, name: answer.metadata.name })
  return shown?.metadata.resourceVersion === answer.metadata.resourceVersion ? shown : answer
}
