/**
 * Brings series of events to the server: many in flight, each series once at a time, retried while the server is out of reach, given up where it
 * refuses (D17, D18). Its log lines are written by its own fibers, outside of any pass, so they are never posted themselves (P7, P21).
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { ApiError } from "../ApiError.ts"
import type { PostingPolicy } from "../PostingPolicy.ts"
import { placeOf } from "./eventBody.ts"
import { type Config as Requests, persist } from "./eventRequests.ts"
import type { EventSeries, Saying, Series } from "./eventSeries.ts"

export interface Config extends Requests {
  readonly series: EventSeries
  readonly ownNamespace: string
  readonly concurrency: number
  readonly graceMillis: number
}

export interface Transport {
  readonly say: (saying: Saying) => Effect.Effect<void>
  /** The policy's choice, unless the server has refused Events in `default`. */
  readonly clusterScoped: (choice: PostingPolicy["clusterScopedEvents"]) => PostingPolicy["clusterScopedEvents"]
  readonly stats: Effect.Effect<{ readonly waiting: number; readonly inFlight: number; readonly dropped: number }>
}

/** How long a namespace that refused is left alone. */
const refusalMillis = 60_000
/** Namespaces of which a refusal is remembered. */
const refusalsMax = 1_000

const isRefusal = ({ reason }: ApiError): boolean =>
  reason._tag === "Forbidden" || reason._tag === "NamespaceTerminating" || reason._tag === "Unauthorized"

/** Until when a namespace is left alone, and that its refusal has been told. */
class Refusals {
  private readonly until = new Map<string, number>()
  dropped = 0
  clusterScopedRefused = false

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

/** Delivers series one by one, whoever calls it. */
class Courier implements Transport {
  /** Tells one worker that something waits. */
  readonly signal: Queue.Queue<void>
  private readonly config: Config
  private readonly refusals = new Refusals()
  private isOverflowing = false

  constructor(config: Config, signal: Queue.Queue<void>) {
    this.config = config
    this.signal = signal
  }

  readonly say = (saying: Saying): Effect.Effect<void> =>
    Effect.suspend(() => {
      const offered = this.config.series.say(saying)
      if (offered !== "counted") Queue.offerUnsafe(this.signal, undefined)
      if (offered !== "overflow" || this.isOverflowing) return Effect.void
      this.isOverflowing = true
      return Effect.logWarning("too many events wait to be posted: the oldest are dropped, Normals first")
    })

  readonly clusterScoped: Transport["clusterScoped"] = (choice) =>
    this.refusals.clusterScopedRefused ? "operator-namespace" : choice

  readonly stats: Transport["stats"] = Effect.sync(() => {
    const { dropped, inFlight, waiting } = this.config.series
    return { waiting, inFlight, dropped: dropped + this.refusals.dropped }
  })

  /** Until nothing waits; others may deliver beside it. */
  readonly deliverAll: Effect.Effect<void> = Effect.whileLoop({
    while: () => this.config.series.waiting > 0,
    body: () => this.deliverNext,
    step: () => {
      this.isOverflowing = this.isOverflowing && this.config.series.waiting > 0
    }
  })

  private readonly deliverNext: Effect.Effect<void> = Effect.suspend(() => {
    const { series } = this.config
    const next = series.take()
    if (next === undefined) return Effect.void
    if (series.waiting > 0) Queue.offerUnsafe(this.signal, undefined)
    return Effect.catchDefect(this.deliver(next), (defect) => {
      this.drop(next)
      return Effect.logWarning("Failed to post an event. It is ignored.", defect)
    })
  })

  private readonly deliver = Effect.fnUntraced({ self: this }, function* (this: Courier, next: Series) {
    const { namespace } = next.place
    if (this.refusals.isRefusing(namespace, yield* Clock.currentTimeMillis)) return this.drop(next)
    const result = yield* Effect.result(persist(this.config, next))
    if (Result.isFailure(result)) return yield* this.giveUp(next, result.failure)
    this.refusals.accept(namespace)
    this.config.series.done(next, result.success)
  })

  private readonly giveUp = Effect.fnUntraced(
    { self: this },
    function* (this: Courier, given: Series, error: ApiError) {
      const { namespace } = given.place
      if (isRefusal(error) && given.place.involved === undefined && this.config.ownNamespace !== namespace) {
        const isNews = !this.refusals.clusterScopedRefused
        this.refusals.clusterScopedRefused = true
        this.config.series.done(given)
        yield* this.sayElsewhere(given)
        if (!isNews) return
      } else {
        this.drop(given)
        if (error.reason._tag === "NotFound")
          return yield* Effect.logDebug("the namespace of an event is gone", namespace)
        if (!this.refusals.refuse(namespace, yield* Clock.currentTimeMillis)) return
      }
      yield* warnFailed(given, error)
    }
  )

  /** Not shown by kubectl describe there, but better than nowhere (D20). */
  private sayElsewhere({ about, budgets, lastAt, words }: Series): Effect.Effect<void> {
    return this.say({
      about,
      words,
      budgets,
      at: lastAt,
      place: placeOf(about, "operator-namespace", this.config.ownNamespace)
    })
  }

  private drop(given: Series): void {
    this.refusals.dropped++
    this.config.series.done(given)
  }
}

/** Starts `concurrency` workers in the scope; its end waits for them within the grace. */
export const makeTransport = Effect.fnUntraced(function* (
  config: Config
): Effect.fn.Return<Transport, never, Scope.Scope> {
  const { concurrency, graceMillis, series } = config
  const courier = new Courier(config, yield* Queue.sliding<void>(1))
  const delivered = yield* Queue.sliding<void>(1)
  const worker = Queue.take(courier.signal).pipe(
    Effect.andThen(courier.deliverAll),
    Effect.andThen(Effect.sync(() => Queue.offerUnsafe(delivered, undefined))),
    Effect.forever
  )
  for (let i = 0; i < concurrency; i++) yield* Effect.forkScoped(worker)
  const unposted = (): number => series.waiting + series.inFlight
  const awaitDelivered = Effect.whileLoop({
    while: () => unposted() > 0,
    body: () => Queue.take(delivered),
    step: () => {}
  })
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* Effect.interruptible(Effect.timeoutOption(awaitDelivered, graceMillis))
      if (unposted() > 0) yield* Effect.logWarning(`${unposted()} events were not posted in time and are lost`)
    })
  )
  return courier
})

/** One line, as kopf words it (P21); what follows is told as fields. */
const warnFailed = ({ about, place, words }: Series, error: ApiError): Effect.Effect<void> =>
  Effect.logWarning(
    `Failed to post an event. It is ignored, and so are others in namespace ${place.namespace} for a minute: ${error.message}`
  ).pipe(
    Effect.annotateLogs({
      ...("code" in error.reason && { code: error.reason.code }),
      apiReason: error.reason._tag,
      type: words.type,
      reason: words.reason,
      object: `${about.kind} ${about.metadata.namespace ?? ""}/${about.metadata.name}`
    })
  )
