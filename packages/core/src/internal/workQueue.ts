/**
 * The queue of one controller, as a machine without effects; times are milliseconds of one clock that never runs back.
 *
 * Guarantees: a key is never run twice at once; any number of wakes during a pass give exactly one more (K35, B39); at most one pending timer a key,
 * the earliest wins, and a pass that comes earlier replaces the wish by its own answer (D6, B29, B30); nothing that was accepted is lost before
 * `close`. A key that nobody waits for and that remembers nothing takes no space (B36, B37).
 * Order: changes and what was asked for stand in one lane, initial and resynced keys in another. While both wait they take turns, so neither starves
 * (B38); within a lane the first come is served first, and a key that comes back stands at the end.
 */
import { Lane } from "./lane.ts"
import { Timers } from "./timers.ts"

/**
 * What woke a key. `initial` and `resync` go behind changes; `owned` and `mapped` keep `minInterval` from a key that backs off (D27); `requeue` is a
 * timer of the queue's own.
 */
export type Origin = "initial" | "resync" | "changed" | "owned" | "mapped" | "enqueue" | "requeue"

export interface Wake {
  /** Default `enqueue`. */
  readonly origin?: Origin
  /** Passes that changed nothing on the way from the first cause to this wake (D14). Default 0. */
  readonly hops?: number
  /** Milliseconds from now. 0 and what is no number: at once; infinite: never. Default 0. */
  readonly after?: number
  /** For diagnostics: `ConfigMap team/editor`. */
  readonly trigger?: string
}

/** What became of a wake: `ring` is an accepted one that is delayed because it went round too often (D14). */
export type Added = "accepted" | "ring" | "refused"

/** A key that a worker now holds, until `done`. */
export interface Taken<M> {
  readonly key: string
  /** The fewest of all wakes since the last pass. */
  readonly hops: number
  readonly origins: ReadonlyArray<Origin>
  /** The first of those given, at most `triggersMax`. */
  readonly triggers: ReadonlyArray<string>
  /** How many wakes this pass answers. */
  readonly wakes: number
  /** Since when the key has been ready to run. */
  readonly since: number
  /** What the last pass left. */
  readonly memory: M | undefined
  /** Whether a failure of this pass counts as an attempt: not if something else woke the key before its retry was due (D6, B33). */
  readonly due: boolean
  /** Milliseconds from now to the retry that was pending, if it was not due. */
  readonly retryIn: number | undefined
  /** Whether it waited for its own write in vain: read the object from the server (D29). */
  readonly overdue: boolean
}

export interface Done<M> {
  /** Run again after this many milliseconds, as in `Wake.after`. Absent: only when woken. */
  readonly after?: number | undefined
  /** Whether the pass failed, and `after` is its retry. Default false. */
  readonly backingOff?: boolean
  /** What the next pass is told; absent: nothing, and nothing is kept. */
  readonly memory?: M | undefined
  /** Whether the next pass waits for `unpark`, at most `parkMax`, because this one wrote the object (D29). Default false. */
  readonly park?: boolean
}

export interface Snapshot {
  /** Ready to run. */
  readonly ready: number
  /** Of these, initial and resynced ones. */
  readonly background: number
  readonly processing: ReadonlyArray<string>
  /** Waiting for their own write to be seen. */
  readonly parked: number
  /** Waiting for a timer. */
  readonly delayed: number
  /** Keys whose last pass failed. */
  readonly backingOff: number
  /** Keys of which anything is remembered. */
  readonly remembered: number
  /** Wakes that were delayed because they went round (D14). */
  readonly rings: number
  /** How long the longest-waiting ready key has waited, in milliseconds. */
  readonly oldest: number
  /** Which keys come next by a timer, and in how many milliseconds: the first 16. */
  readonly next: ReadonlyArray<{ readonly key: string; readonly inMillis: number }>
  readonly closed: boolean
}

/** Triggers kept of one key at most. */
export const triggersMax = 8
/** Between the end of a failed pass and a pass that an owned or mapped object asks for (D27). */
export const minInterval = 100
/** How long a key waits at most for its own write to be seen (D29). */
export const parkMax = 5_000
/** A wake that has gone round more often is delayed: 1 s, doubling, 5 min at most (D14). */
export const hopsMax = 4

const ringDelay = (hops: number): number => Math.min(300_000, 1_000 * 2 ** Math.min(hops - hopsMax - 1, 20))

const origins: ReadonlyArray<Origin> = ["initial", "resync", "changed", "owned", "mapped", "enqueue", "requeue"]
const bitOf = Object.fromEntries(origins.map((origin, i) => [origin, 1 << i])) as Readonly<Record<Origin, number>>
const backgroundBits = bitOf.initial | bitOf.resync
const patientBits = bitOf.owned | bitOf.mapped
const noTriggers: ReadonlyArray<string> = []

/** The wakes of one key that wait for one pass. */
interface Pending {
  readonly key: string
  hops: number
  origins: number
  triggers: ReadonlyArray<string>
  wakes: number
  since: number
  /** Where it stands ready; a lane's entry counts only if this says the same. */
  lane: "none" | "changes" | "background"
}

interface Kept<M> {
  readonly memory: M | undefined
  readonly backingOff: boolean
  /** When the retry is due. */
  readonly retryAt: number | undefined
  /** When the last pass ended. */
  readonly endedAt: number
}

export class WorkQueue<M> {
  /** Keys that must run, whether ready, in processing, parked or held back. */
  private readonly dirty = new Map<string, Pending>()
  /** Wakes that are to come at a time: more than the timer alone says. */
  private readonly later = new Map<string, Pending>()
  private readonly processing = new Map<string, number>()
  private readonly kept = new Map<string, Kept<M>>()
  /** Until when, in order: the wait is the same for all. */
  private readonly parked = new Map<string, number>()
  private readonly overdue = new Set<string>()
  private readonly timers = new Timers()
  private readonly changes = new Lane<Pending>()
  private readonly background = new Lane<Pending>()
  /** Entries of `background` that count: the others moved to `changes`. */
  private backgroundSize = 0
  private backingOff = 0
  private rings = 0
  private turn: "changes" | "background" = "changes"
  private closed = false

  /** Never blocks and never fails; `refused` only after `close` (B41). */
  add(key: string, wake: Wake, now: number): Added {
    if (this.closed) return "refused"
    const hops = wake.hops ?? 0
    const ring = hops > hopsMax
    if (ring) this.rings++
    const asked = wake.after ?? 0
    const after = ring ? Math.max(ringDelay(hops), asked || 0) : asked
    const bit = bitOf[wake.origin ?? "enqueue"]
    if (after > 0) {
      if (after === Infinity) return "accepted"
      this.timers.add(key, now + after)
      merge(this.later, key, hops, bit, wake.trigger, now)
      return ring ? "ring" : "accepted"
    }
    this.place(merge(this.dirty, key, hops, bit, wake.trigger, now), now)
    return "accepted"
  }

  /** The next key to run, or undefined if none is ready. */
  take(now: number): Taken<M> | undefined {
    this.tick(now)
    if (this.closed) return undefined
    const pending = this.next()
    if (pending === undefined) return undefined
    const { key } = pending
    pending.lane = "none"
    this.dirty.delete(key)
    this.timers.delete(key)
    const later = this.later.get(key)
    if (later !== undefined) this.later.delete(key)
    this.processing.set(key, now)
    const kept = this.kept.get(key)
    const retryAt = kept?.retryAt
    const due = kept === undefined || !kept.backingOff || (retryAt !== undefined && retryAt <= now)
    return {
      key,
      hops: later === undefined ? pending.hops : Math.min(pending.hops, later.hops),
      origins: originsOf(pending.origins | (later?.origins ?? 0)),
      triggers: later === undefined ? pending.triggers : [...pending.triggers, ...later.triggers].slice(0, triggersMax),
      wakes: pending.wakes + (later?.wakes ?? 0),
      since: pending.since,
      memory: kept?.memory,
      due,
      retryIn: due || retryAt === undefined ? undefined : retryAt - now,
      overdue: this.overdue.delete(key)
    }
  }

  /** Ends the pass of a key that was taken. */
  done(key: string, decision: Done<M>, now: number): void {
    if (!this.processing.delete(key)) throw new Error(`the key ${key} is not in processing: done was called twice`)
    this.keep(key, decision, now)
    if (this.closed) return
    if (decision.park === true) this.parked.set(key, Math.ceil(now + parkMax))
    const after = decision.after
    if (after !== undefined) {
      if (after > 0) this.timers.add(key, now + after)
      else merge(this.dirty, key, 0, bitOf.requeue, undefined, now)
    }
    const pending = this.dirty.get(key)
    if (pending !== undefined) this.place(pending, now)
  }

  /** The key's own write has been seen. */
  unpark(key: string, now: number): void {
    if (this.parked.delete(key)) this.replace(key, now)
  }

  /** Moves what is due to where it can be taken. */
  tick(now: number): void {
    for (const [key, until] of this.parked) {
      if (until > now) break
      this.parked.delete(key)
      this.overdue.add(key)
      this.replace(key, now)
    }
    for (let key = this.timers.shift(now); key !== undefined; key = this.timers.shift(now)) {
      const later = this.later.get(key)
      this.later.delete(key)
      const present = this.dirty.get(key)
      if (present !== undefined && later === undefined) this.place(present, now)
      else if (later === undefined) this.place(merge(this.dirty, key, 0, bitOf.requeue, undefined, now), now)
      else this.place(absorb(this.dirty, later, now), now)
    }
  }

  /** When `tick` has something to do next. */
  nextDue(): number | undefined {
    const timer = this.timers.earliest()
    const [park] = this.parked.values()
    return timer === undefined || (park !== undefined && park < timer) ? park : timer
  }

  /** Whether `take` gives a key, if `tick` has been called. */
  get isReady(): boolean {
    return this.changes.size + this.backgroundSize > 0
  }

  get isIdle(): boolean {
    return this.processing.size === 0
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** The key that `take` gives next, if `tick` has been called. */
  peek(): string | undefined {
    const isBackground = this.isBackgroundNext()
    for (const pending of isBackground ? this.background.values() : this.changes.values())
      if (!isBackground || pending.lane === "background") return pending.key
    return undefined
  }

  /** Keys that are ready, changes first, in the order in which their lanes serve them. */
  ready(): ReadonlyArray<string> {
    const background = [...this.background.values()].filter((pending) => pending.lane === "background")
    return [...this.changes.values(), ...background].map(({ key }) => key)
  }

  /** Moves a ready key to the front of its lane and gives its lane the turn; false if it is not ready. For tests that choose the order. */
  prefer(key: string): boolean {
    const pending = this.dirty.get(key)
    if (pending === undefined || pending.lane === "none") return false
    const lane = pending.lane === "changes" ? this.changes : this.background
    lane.retain((other) => other !== pending)
    lane.unshift(pending)
    this.turn = pending.lane
    return true
  }

  /** When the key comes next by itself. */
  dueOf(key: string): number | undefined {
    return this.timers.get(key)
  }

  /** What the last pass of the key left. */
  memoryOf(key: string): M | undefined {
    return this.kept.get(key)?.memory
  }

  /** No key is given any more and no wake is taken; keys in processing are still to be `done`. */
  close(): void {
    this.closed = true
    this.timers.clear()
    for (const map of [this.dirty, this.later, this.parked, this.overdue]) map.clear()
    this.changes.retain(() => false)
    this.background.retain(() => false)
    this.backgroundSize = 0
  }

  snapshot(now: number): Snapshot {
    let oldest = 0
    for (const pending of this.dirty.values())
      if (pending.lane !== "none") oldest = Math.max(oldest, now - pending.since)
    return {
      ready: this.changes.size + this.backgroundSize,
      background: this.backgroundSize,
      processing: [...this.processing.keys()],
      parked: this.parked.size,
      delayed: this.timers.size,
      backingOff: this.backingOff,
      remembered: this.kept.size,
      rings: this.rings,
      oldest,
      next: this.timers.upcoming(16).map(({ at, key }) => ({ key, inMillis: Math.max(0, at - now) })),
      closed: this.closed
    }
  }

  private keep(key: string, { after, backingOff = false, memory }: Done<M>, now: number): void {
    const before = this.kept.get(key)
    if (before?.backingOff === true) this.backingOff--
    if (backingOff) this.backingOff++
    if (memory === undefined && !backingOff) {
      if (before !== undefined) this.kept.delete(key)
      return
    }
    const retryAt = backingOff && after !== undefined && after !== Infinity ? now + Math.max(0, after || 0) : undefined
    this.kept.set(key, { memory, backingOff, retryAt, endedAt: now })
  }

  private replace(key: string, now: number): void {
    const pending = this.dirty.get(key)
    if (pending !== undefined) this.place(pending, now)
  }

  /** Puts a dirty key where it belongs: into a lane, or nowhere while it runs or is parked, or behind a timer while it must keep its distance. */
  private place(pending: Pending, now: number): void {
    const { key } = pending
    if (this.processing.has(key) || this.parked.has(key)) return
    if ((pending.origins & ~patientBits) === 0) {
      const kept = this.kept.get(key)
      if (kept?.backingOff === true && now < kept.endedAt + minInterval)
        return this.timers.add(key, kept.endedAt + minInterval)
    }
    if ((pending.origins & ~backgroundBits) === 0) {
      if (pending.lane !== "none") return
      pending.lane = "background"
      pending.since = now
      this.background.push(pending)
      this.backgroundSize++
      return
    }
    if (pending.lane === "changes") return
    if (pending.lane === "background") this.leaveBackground()
    else pending.since = now
    pending.lane = "changes"
    this.changes.push(pending)
  }

  private leaveBackground(): void {
    this.backgroundSize--
    if (this.background.size > 2 * this.backgroundSize + 64)
      this.background.retain((pending) => pending.lane === "background")
  }

  private isBackgroundNext(): boolean {
    return this.backgroundSize > 0 && (this.changes.size === 0 || this.turn === "background")
  }

  private next(): Pending | undefined {
    if (!this.isBackgroundNext()) {
      if (this.changes.size > 0) this.turn = "background"
      return this.changes.shift()
    }
    this.turn = "changes"
    this.backgroundSize--
    let pending = this.background.shift()
    while (pending !== undefined && pending.lane !== "background") pending = this.background.shift()
    return pending
  }
}

/** By their bits: there are few sets, and one is asked for with every key that is taken. */
const originSets: Array<ReadonlyArray<Origin> | undefined> = []
const originsOf = (bits: number): ReadonlyArray<Origin> =>
  (originSets[bits] ??= origins.filter((origin) => (bits & bitOf[origin]) !== 0))

const merge = (
  into: Map<string, Pending>,
  key: string,
  hops: number,
  bits: number,
  trigger: string | undefined,
  now: number
): Pending => {
  const present = into.get(key)
  if (present === undefined) {
    const triggers = trigger === undefined ? noTriggers : [trigger]
    const pending: Pending = { key, hops, origins: bits, triggers, wakes: 1, since: now, lane: "none" }
    into.set(key, pending)
    return pending
  }
  if (hops < present.hops) present.hops = hops
  present.origins |= bits
  present.wakes++
  if (trigger !== undefined && present.triggers.length < triggersMax) present.triggers = [...present.triggers, trigger]
  return present
}

/** Moves what was to come later to what must run. */
const absorb = (dirty: Map<string, Pending>, later: Pending, now: number): Pending => {
  const pending = merge(dirty, later.key, later.hops, later.origins, undefined, now)
  pending.wakes += later.wakes - 1
  if (later.triggers.length > 0) pending.triggers = [...pending.triggers, ...later.triggers].slice(0, triggersMax)
  return pending
}
