/** The gate and the series of events, played against a server that is a function, in a time that is a number. */
import { assert } from "@effect/vitest"
import { ApiError, fromAnswer } from "../src/ApiError.ts"
import { fitted, placeOf } from "../src/internal/eventBody.ts"
import { type Delivery, EventGate, type Outcome } from "../src/internal/eventGate.ts"
import type { Line } from "../src/internal/eventLines.ts"
import { EventSeries, type Saying, type Series } from "../src/internal/eventSeries.ts"
import { standard } from "../src/PostingPolicy.ts"
import { object } from "./settled.ts"

const operation = { verb: "create", resource: "events" } as const

export const answer = (code: number, retryAfterSeconds = 0, body: unknown = {}): Outcome => ({
  _tag: "Failed",
  error: fromAnswer(operation, { code, body, retryAfterSeconds })
})

/** As an account meets that may create Events and nothing else. */
export const changeRefused: Outcome = {
  _tag: "Failed",
  error: fromAnswer({ ...operation, verb: "patch" }, { code: 403, body: {} })
}

export const unreachable: Outcome = {
  _tag: "Failed",
  error: new ApiError({ ...operation, reason: { _tag: "Unreachable", message: "reset" } })
}

/** What a server does with a series: what it answers, and after how many milliseconds (1 by default). */
export type Server = (
  series: Series,
  now: number
) => Outcome | "posted" | { readonly after: number; readonly with: Outcome | "posted" }

export interface Some {
  readonly uid?: string
  readonly type?: string
  readonly namespace?: string
  /** In no namespace. */
  readonly isClusterScoped?: boolean
  readonly message?: string
}

const sayingOf = (some: Some, at: number): Saying => {
  const { isClusterScoped = false, message = "m", namespace = "ns1", type = "Warning", uid = "u" } = some
  const about = isClusterScoped
    ? { apiVersion: "example.com/v1", kind: "Zone", metadata: { name: uid, uid } }
    : object({ uid, name: uid, namespace })
  const words = fitted({ type, reason: "R", action: "", message })
  return { about, place: placeOf(about, "describable", "operators"), words, at, budgets: standard.budgets }
}

/** Warnings that wait, and drops for want of room. */
interface Room {
  readonly warnings: ReadonlySet<Series>
  readonly dropped: number
}

interface Flight {
  readonly delivery: Delivery
  readonly at: number
  readonly outcome: Outcome
}

export class Play {
  now = 0
  server: Server = () => "posted"
  readonly series: EventSeries
  readonly gate: EventGate
  /** Each request: when, and about which object. */
  readonly asked: Array<readonly [number, string]> = []
  readonly posted: Array<string> = []
  readonly lines: Array<Line & { readonly at: number }> = []
  private readonly concurrency: number
  private flights: Array<Flight> = []
  private alarmAt = 0

  constructor(options: { readonly capacity?: number; readonly concurrency?: number } = {}) {
    const { capacity = 1_000, concurrency = 8 } = options
    this.concurrency = concurrency
    this.series = new EventSeries(capacity)
    this.gate = new EventGate({ series: this.series, concurrency, ownNamespace: "operators" })
  }

  get warnings(): ReadonlyArray<string> {
    return this.lines.filter(({ level }) => level === "Warn").map(({ text }) => text)
  }

  /** When requests were made. */
  get times(): ReadonlyArray<number> {
    return this.asked.map(([at]) => at)
  }

  say(some: Some = {}): void {
    const before = this.room
    this.gate.say(sayingOf(some, this.now), this.now)
    this.check(before)
    this.wake()
  }

  hurry(): void {
    this.gate.hurry()
    this.turn()
  }

  end(): void {
    this.gate.end()
    this.flights = []
    this.turn()
  }

  /** Lets time pass; what is due at its end is done. */
  elapse(millis: number): void {
    const end = this.now + millis
    for (let steps = 0; ; steps++) {
      assert.isBelow(steps, 20_000, "it spins")
      const at = Math.min(...this.flights.map((flight) => flight.at), this.alarmAt)
      if (at > end) break
      this.now = Math.max(this.now, at)
      if (this.alarmAt <= this.now) this.turn()
      this.land()
    }
    this.now = end
  }

  /** As the dispatcher does: it looks when it is called, or when its alarm rings. */
  private turn(): void {
    this.send()
    this.alarmAt = this.gate.dueAt(this.now)
  }

  private wake(): void {
    if (this.gate.isSoonerThan(this.alarmAt, this.now)) this.turn()
  }

  private get lanes() {
    return this.series as unknown as Readonly<Record<"minor" | "major" | "flying", ReadonlySet<Series>>>
  }

  private get room(): Room {
    return { warnings: new Set(this.lanes.major), dropped: this.series.totals.dropped.overflow }
  }

  private send(): void {
    const before = this.room
    for (let next = this.gate.next(this.now); next !== undefined; next = this.gate.next(this.now)) {
      const { series } = next
      assert.isTrue(this.flights.every(({ delivery }) => delivery.series.id !== series.id))
      this.asked.push([this.now, series.about.metadata.name])
      const given = this.server(series, this.now)
      const { after, with: what } = given !== "posted" && "after" in given ? given : { after: 1, with: given }
      const posted = { name: "e", count: series.count }
      const outcome: Outcome = what === "posted" ? { _tag: "Posted", posted } : what
      this.flights.push({ delivery: next, at: this.now + after, outcome })
    }
    this.check(before)
  }

  private land(): void {
    const landing = this.flights.filter(({ at }) => at <= this.now)
    this.flights = this.flights.filter(({ at }) => at > this.now)
    for (const { delivery, outcome } of landing) {
      const before = this.room
      if (outcome._tag === "Posted") this.posted.push(delivery.series.about.metadata.name)
      this.gate.answered(delivery, outcome, this.now)
      this.check(before)
    }
    this.wake()
  }

  /** What holds after every step (D17). */
  private check(before: Room): void {
    const { series } = this
    const { flying, major, minor } = this.lanes
    this.lines.push(...this.gate.takeLines().map((line) => ({ ...line, at: this.now })))
    assert.isAtMost(series.waiting, series.capacity, "more wait than may")
    assert.isAtMost(series.inFlight, this.concurrency, "more fly than may")
    const untold = [...minor, ...major, ...flying].reduce((sum, one) => sum + one.untold, 0)
    assert.strictEqual(series.totals.posted + series.dropped + untold, series.totals.said, "a saying is lost")
    if (series.totals.dropped.overflow === before.dropped || minor.size === 0) return
    const lost = [...before.warnings].filter((one) => !major.has(one) && !flying.has(one))
    assert.deepStrictEqual(lost, [], "a Warning was dropped while a Normal waited")
  }
}
