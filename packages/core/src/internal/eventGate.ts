/**
 * Which Event is posted next, and what becomes of one that the server does not take (D17, D20, P18-P23). A machine without effects; `now` is milliseconds of
 * a clock that never goes back.
 *
 * | The server | The Event | Told |
 * | --- | --- | --- |
 * | is away, silent, answers 5xx, 429, 401 or nonsense | waits again, with all others, until one passes | once an outage, if it lasts |
 * | does so to this Event alone, while others pass | is tried four times, then dropped (`failed`) | once a minute at most |
 * | refuses a namespace: 403, terminating | is dropped (`refused`), and so are its neighbours for a minute | a namespace once, few at a time |
 * | refuses changes only: 403 to a patch | is posted once, its repeats are dropped (`refused`), as are others in the namespace for a minute | a namespace once, few at a time |
 * | refuses `default` for one in cluster scope | goes to the operator's own namespace, and all such | once |
 * | does not know the namespace: 404 | is dropped (`gone`) | at Debug |
 * | does not take this Event: 400, 413, 422 | is dropped (`invalid`) | once a minute at most |
 * | meets a bug of ours or of the client | is dropped (`defect`) | once a minute at most |
 *
 * Guarantees: at most `concurrency` in flight; a pause ends by itself; at most as many lines as `Lines` allows, however many Events fail.
 */
import type { ApiError } from "../ApiError.ts"
import { placeOf } from "./eventBody.ts"
import { type Line, Lines } from "./eventLines.ts"
import { type Attempt, type Blame, failuresTold, Outage, strikesMax } from "./eventOutage.ts"
import type { EventSeries, Saying, Series } from "./eventSeries.ts"

export interface Config {
  readonly series: EventSeries
  /** Requests at once at most. */
  readonly concurrency: number
  readonly ownNamespace: string
}

/** One series on its way to the server. */
export interface Delivery {
  readonly series: Series
  readonly attempt: Attempt
}

/** What became of it. */
export type Outcome =
  | { readonly _tag: "Posted"; readonly posted: { readonly name: string; readonly count: number } }
  | { readonly _tag: "Failed"; readonly error: ApiError }
  | { readonly _tag: "Died"; readonly defect: unknown }

/** How long a namespace that refused is left alone. */
const refusalMillis = 60_000
/** Namespaces of which a refusal is remembered. */
const refusalsMax = 1_000
/** How long Events may be dropped for want of room before that is told, unless nothing waits any more: an outage tells it itself. */
const overflowMillis = 15_000

/** Until when a namespace is left alone, and which have been told of. */
class Refusals {
  private readonly until = new Map<string, number>()

  isRefusing(namespace: string, now: number): boolean {
    return (this.until.get(namespace) ?? 0) > now
  }

  /** Whether it is news. */
  refuse(namespace: string, now: number): boolean {
    const isNews = !this.until.delete(namespace)
    this.until.set(namespace, now + refusalMillis)
    const [oldest] = this.until.keys()
    if (this.until.size > refusalsMax) this.until.delete(oldest!)
    return isNews
  }

  accept(namespace: string): void {
    this.until.delete(namespace)
  }
}

/** Under what the refusal of changes is remembered: no namespace has a space. */
const changesIn = (namespace: string): string => `changes in ${namespace}`

type Verdict = Blame | "refused" | "gone" | "invalid"

const verdictOf = ({ reason }: ApiError): Verdict => {
  switch (reason._tag) {
    case "Unauthorized":
      return "server"
    case "Unreachable":
    case "Malformed":
    case "ServerError":
    case "ServerTimeout":
    case "TooManyRequests":
      return "either"
    case "Conflict":
      return "event"
    case "Forbidden":
    case "NamespaceTerminating":
      return "refused"
    case "NotFound":
      return "gone"
    default:
      return "invalid"
  }
}

const askedBy = ({ reason }: ApiError): number =>
  // Not a number would be a pause without an end.
  ("retryAfterMillis" in reason && reason.retryAfterMillis) || 0

export class EventGate {
  private readonly config: Config
  private readonly outage = new Outage()
  private readonly refusals = new Refusals()
  private readonly lines = new Lines()
  private defaultRefused = false
  /** Since when Events are dropped for want of room, and whether that is told; undefined: all that waited has been posted since. */
  private overflow: { readonly since: number; isTold: boolean } | undefined
  /** Drops for want of room of which no line has told the number. */
  private crowded = 0
  private crowdedSeen = 0
  /** What the server last answered to an Event that then waited on. */
  private lastFailure = ""

  constructor(config: Config) {
    this.config = config
  }

  /** Whether `default` has refused Events about what is in cluster scope, so that they go to the operator's own namespace (D20). */
  get isDefaultRefused(): boolean {
    return this.defaultRefused
  }

  /** Whether nothing waits and nothing flies. */
  get isIdle(): boolean {
    return this.config.series.waiting + this.config.series.inFlight === 0
  }

  say(saying: Saying, now: number): void {
    const { series } = this.config
    try {
      series.say(saying)
    } catch (defect) {
      series.totals.dropped.defect++
      this.die(defect, now)
    }
    this.watchOverflow(now)
  }

  /** Whether one who looks again at `alarmAt` should look now: something might be sent or told at once, or sooner than then. */
  isSoonerThan(alarmAt: number, now: number): boolean {
    return !this.lines.isEmpty || (this.hasRoom && this.outage.mayAsk(now)) || this.dueAt(now) < alarmAt
  }

  /** When something may be sent, if nothing is said or answered before; `Infinity`: not before. */
  dueAt(now: number): number {
    if (!this.hasRoom) return Infinity
    const { dueAt, isClosed } = this.outage
    return isClosed || now < dueAt ? dueAt : this.config.series.earliest((one) => this.outage.restsUntil(one))
  }

  /** The next to send, if one may be sent now. */
  next(now: number): Delivery | undefined {
    const { series } = this.config
    while (this.hasRoom && this.outage.mayAsk(now)) {
      const next = this.outage.isClosed
        ? // One that has not failed yet, if there is one: what fails may be the Event's own fault.
          series.takeLeast(({ trouble }) => trouble?.tries ?? 0)
        : series.take((one) => this.outage.restsUntil(one) <= now)
      if (next === undefined) return undefined
      const { namespace } = next.place
      if (this.refusals.isRefusing(namespace, now)) series.giveUp(next, "refused")
      else if (next.isThere && this.refusals.isRefusing(changesIn(namespace), now)) series.leave(next, "refused")
      else if (this.defaultRefused && this.hasOtherPlace(next)) this.moveHome(next)
      else return { series: next, attempt: this.outage.begin(now) }
    }
    return undefined
  }

  answered(delivery: Delivery, outcome: Outcome, now: number): void {
    try {
      if (outcome._tag === "Posted") this.pass(delivery, outcome.posted, now)
      else if (outcome._tag === "Failed") this.fail(delivery, outcome.error, now)
      else this.abandon(delivery, outcome.defect, now)
    } catch (defect) {
      // Such as an error of a client of one's own, of which something cannot be read.
      this.abandon(delivery, defect, now)
    }
    this.watchOverflow(now)
  }

  /** Something threw that is nobody's answer. */
  die(defect: unknown, now: number, series?: Series): void {
    const facts = series === undefined ? { defect } : { defect, series }
    this.lines.warn("defect", now, () => "Failed to post an event. It is ignored", facts)
  }

  /** The end is near: pauses end, and what waits is tried at once. */
  hurry(): void {
    this.outage.hurry()
  }

  /** What is left is given up, and told in one line. */
  end(): void {
    const { series } = this.config
    const before = series.totals.dropped.shutdown
    series.end()
    const left = series.totals.dropped.shutdown - before
    if (left + this.crowded === 0) return
    const many = this.crowded === 0 ? "" : `, and ${this.crowded} were dropped before, because too many waited`
    const why = this.outage.isFailing ? `: ${this.lastFailure}` : ""
    this.lines.add({ level: "Warn", text: `${left} events were not posted in time and are lost${many}${why}` })
  }

  takeLines(): ReadonlyArray<Line> {
    return this.lines.take()
  }

  private get hasRoom(): boolean {
    const { concurrency, series } = this.config
    return series.waiting > 0 && series.inFlight < concurrency
  }

  private abandon({ attempt, series }: Delivery, defect: unknown, now: number): void {
    this.outage.answer(attempt)
    if (series.state === "in flight") this.config.series.giveUp(series, "defect")
    this.die(defect, now, series)
  }

  private pass({ attempt, series }: Delivery, posted: { readonly name: string; readonly count: number }, now: number) {
    const lasted = this.outage.succeed(attempt, now)
    const { namespace } = series.place
    this.refusals.accept(series.posted === undefined ? namespace : changesIn(namespace))
    this.config.series.done(series, posted)
    if (lasted === undefined) return
    const { waiting } = this.config.series
    const text = `events are posted again after ${Math.round(lasted / 1_000)} s; ${waiting} wait, ${this.crowded} were dropped because too many waited`
    this.crowded = 0
    this.lines.add({ level: "Debug", text })
  }

  private fail({ attempt, series }: Delivery, error: ApiError, now: number): void {
    const verdict = verdictOf(error)
    if (verdict === "event" || verdict === "either" || verdict === "server") {
      this.lastFailure = error.message
      const { isHopeless, isNews } = this.outage.fail(series, attempt, verdict, askedBy(error), now)
      if (isHopeless) this.giveUp(series, "failed", error, now)
      else this.config.series.putBack(series)
      if (isNews) this.tellOutage(series, error, now)
      return
    }
    this.outage.answer(attempt)
    if (verdict === "refused" && error.verb === "patch") this.refuseChange(series, error, now)
    else if (verdict === "refused") this.refuse(series, error, now)
    else this.giveUp(series, verdict, error, now)
  }

  private giveUp(series: Series, cause: "failed" | "gone" | "invalid", error: ApiError, now: number): void {
    this.config.series.giveUp(series, cause)
    const { namespace } = series.place
    if (cause === "gone")
      this.lines.add({ level: "Debug", text: `an event was dropped: its namespace ${namespace} is gone` })
    else if (cause === "invalid")
      this.lines.warn(cause, now, () => "Failed to post an event. It is ignored", { series, error })
    else {
      const text = `Failed to post an event. It is ignored after ${strikesMax} tries, which failed for it alone`
      this.lines.warn(cause, now, () => text, { series, error })
    }
  }

  private refuse(series: Series, error: ApiError, now: number): void {
    const { namespace } = series.place
    const { ownNamespace } = this.config
    if (this.hasOtherPlace(series)) {
      const text = `Failed to post an event. Those about cluster-scoped objects go to namespace ${ownNamespace} from now on, where kubectl describe does not show them: ${error.message}`
      if (!this.defaultRefused) this.lines.add({ level: "Warn", text, series, error })
      this.defaultRefused = true
      return this.moveHome(series)
    }
    this.config.series.giveUp(series, "refused")
    // Where changes are refused that has been told, in words that hold for both.
    const isTold = this.refusals.isRefusing(changesIn(namespace), now)
    if (!this.refusals.refuse(namespace, now) || isTold) return
    const others = (isLast: boolean): string =>
      isLast ? "; more namespaces that refuse are not told of for some minutes" : ""
    this.lines.warn(
      "refused",
      now,
      (isLast) =>
        `Failed to post an event. It is ignored, and so are others in namespace ${namespace} for a minute at a time${others(isLast)}`,
      { series, error }
    )
  }

  /** The account may create Events and not patch them, as kopf's may (P24): what is new is still posted. */
  private refuseChange(series: Series, error: ApiError, now: number): void {
    const { namespace } = series.place
    this.config.series.leave(series, "refused")
    if (!this.refusals.refuse(changesIn(namespace), now)) return
    const text = `Failed to post an event. It is ignored: repeats of events in namespace ${namespace} are not counted on them, and new ones are dropped if they are refused too`
    this.lines.warn("refused", now, () => text, { series, error })
  }

  /** Whether it is about an object in cluster scope that may be told of in the operator's own namespace (D20). */
  private hasOtherPlace({ place }: Series): boolean {
    return place.involved === undefined && this.config.ownNamespace !== place.namespace
  }

  private moveHome(series: Series): void {
    this.config.series.move(series, placeOf(series.about, "operator-namespace", this.config.ownNamespace))
  }

  private tellOutage(series: Series, error: ApiError, now: number): void {
    const { capacity } = this.config.series
    const text = `Failed to post an event, ${failuresTold} times in a row. Events wait until the server takes them, at most ${capacity}, then the oldest are dropped, Normals first`
    this.lines.warn("outage", now, () => text, { series, error })
    if (this.overflow !== undefined) this.overflow.isTold = true
  }

  /** Events that were dropped for want of room are told of once, unless an outage has told what happens to them. */
  private watchOverflow(now: number): void {
    const { capacity, totals, waiting } = this.config.series
    const fresh = totals.dropped.overflow - this.crowdedSeen
    if (fresh > 0) this.overflow ??= { since: now, isTold: this.outage.isTold }
    this.crowded += fresh
    this.crowdedSeen += fresh
    const { overflow } = this
    if (overflow === undefined) return
    const isOld = now - overflow.since >= overflowMillis && !this.outage.isFailing
    if (!overflow.isTold && (waiting === 0 || isOld)) {
      const text = `${this.crowded} events were dropped because more than ${capacity} waited to be posted: the oldest, Normals first`
      overflow.isTold = this.lines.warn("overflow", now, () => text)
      if (overflow.isTold) this.crowded = 0
    }
    if (waiting === 0) this.overflow = undefined
  }
}
