/**
 * Brings series of events to the server: many in flight, each series once at a time, retried while the server is out of reach, given up where it
 * refuses (D17, D18). Its log lines are written by its own fibers, outside of any pass, so they are never posted themselves (P7, P21).
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { ApiClient } from "../ApiClient.ts"
import { ApiError } from "../ApiError.ts"
import type { KubeObject } from "../KubeObject.ts"
import type { PostingPolicy } from "../PostingPolicy.ts"
import { eventBody, events, placeOf, repeatBody, type Reporter } from "./eventBody.ts"
import { type EventSeries, nameOf, repeatWindow, type Saying, type Series } from "./eventSeries.ts"

export interface Config {
  readonly api: ApiClient["Service"]
  readonly series: EventSeries
  readonly namePrefix: string
  readonly ownNamespace: string
  readonly fieldManager: string
  readonly reporter: Reporter
  readonly concurrency: number
  readonly graceMillis: number
}

export interface Transport {
  readonly say: (saying: Saying) => Effect.Effect<void>
  /** The policy's choice, unless the server has refused Events in `default`. */
  readonly clusterScoped: (choice: PostingPolicy["clusterScopedEvents"]) => PostingPolicy["clusterScopedEvents"]
  readonly stats: Effect.Effect<{ readonly waiting: number; readonly inFlight: number; readonly dropped: number }>
}

/** A request that takes longer is given up and tried again. */
const requestMillis = 10_000
/** Tries of one post in all; the waits between are 1 s, 2 s, 4 s, or what the server asks for. */
const triesMax = 4
/** How long a namespace that refused is left alone. */
const refusalMillis = 60_000
/** Namespaces of which a refusal is remembered. */
const refusalsMax = 1_000

const silent = (config: Config, series: Series): ApiError =>
  new ApiError({
    verb: "create",
    resource: "events",
    ref: { namespace: series.place.namespace, name: nameOf(config.namePrefix, series.id) },
    reason: { _tag: "Unreachable", message: `no answer within ${requestMillis / 1_000} s` }
  })

const isPassing = ({ reason }: ApiError): boolean => {
  switch (reason._tag) {
    case "Unreachable":
    case "Malformed":
    case "ServerError":
    case "ServerTimeout":
    case "TooManyRequests":
    case "Conflict":
      return true
    default:
      return false
  }
}

const isRefusal = ({ reason }: ApiError): boolean =>
  reason._tag === "Forbidden" || reason._tag === "NamespaceTerminating" || reason._tag === "Unauthorized"

interface Posted {
  readonly name: string
  readonly count: number
}

/** Posts one series as it stands: a new Event, or the new count of the one that is there. */
const post = Effect.fnUntraced(function* (config: Config, series: Series): Effect.fn.Return<Posted, ApiError> {
  const { api, fieldManager } = config
  const { namespace } = series.place
  const count = series.count
  if (series.posted === undefined) return yield* create(config, series, nameOf(config.namePrefix, series.id))
  const { name } = series.posted
  const patched = yield* Effect.result(
    api.patch(
      events,
      { namespace, name },
      { type: "merge", body: repeatBody(series, series.isCombined ? series.words.message : undefined) },
      { fieldManager }
    )
  )
  if (Result.isSuccess(patched)) return { name, count }
  if (patched.failure.reason._tag !== "NotFound") return yield* patched.failure
  // The server forgets Events after an hour: what was said since begins a new one (B85).
  series.count -= series.posted.count
  series.firstAt = series.lastAt
  series.posted = undefined
  return yield* create(config, series, name)
})

const create = Effect.fnUntraced(function* (
  config: Config,
  series: Series,
  name: string
): Effect.fn.Return<Posted, ApiError> {
  const { api, fieldManager, reporter } = config
  const { about, count, place, words } = series
  const body = eventBody({ name, about, place, words, counted: series, reporter })
  const created = yield* Effect.result(api.create(events, body, { fieldManager }))
  if (Result.isSuccess(created)) return { name, count }
  if (created.failure.reason._tag !== "AlreadyExists") return yield* created.failure
  // Posted by an earlier start of the operator, or by a request whose answer was lost.
  const present = yield* api.get(events, { namespace: place.namespace, name })
  const dated = `${nameOf(config.namePrefix, series.id)}-${Math.trunc(series.firstAt).toString(16)}`
  const continued = continuation(present, series) ?? (name === dated ? 0 : undefined)
  // It is of long ago: this series begins an Event whose name bears the time.
  if (continued === undefined) return yield* create(config, series, dated)
  series.count += continued
  series.posted = { name, count: continued }
  return yield* post(config, series)
})

/** The count on an Event of the same series that is recent enough to be continued; 0 if it is this very saying, already posted. */
const continuation = (event: KubeObject, series: Series): number | undefined => {
  const last = typeof event.lastTimestamp === "string" ? Date.parse(event.lastTimestamp) : NaN
  if (!(series.lastAt - last <= repeatWindow + 1_000)) return undefined
  const isSame = typeof event.eventTime === "string" && Date.parse(event.eventTime) === Math.trunc(series.firstAt)
  return isSame || typeof event.count !== "number" ? 0 : event.count
}

/** With the waits between tries. */
const persist = Effect.fnUntraced(function* (config: Config, series: Series): Effect.fn.Return<Posted, ApiError> {
  for (let tries = 1; ; tries++) {
    const result = yield* Effect.result(
      Effect.timeoutOrElse(post(config, series), {
        duration: requestMillis,
        orElse: () => Effect.fail(silent(config, series))
      })
    )
    if (Result.isSuccess(result)) return result.success
    if (!isPassing(result.failure) || tries === triesMax) return yield* result.failure
    const { reason } = result.failure
    const asked = "retryAfterMillis" in reason ? (reason.retryAfterMillis ?? 0) : 0
    yield* Effect.sleep(Math.max(asked, 1_000 * 2 ** (tries - 1)))
  }
})

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

/** Starts `concurrency` workers in the scope; its end waits for them within the grace. */
export const makeTransport = (config: Config): Effect.Effect<Transport, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { graceMillis, ownNamespace, series } = config
    const refusals = new Refusals()
    const signal = yield* Queue.sliding<void>(1)
    const drained = yield* Queue.sliding<void>(1)
    let isOverflowing = false

    const giveUp = (given: Series, error: ApiError): Effect.Effect<void> =>
      Effect.gen(function* () {
        const { namespace } = given.place
        series.done(given)
        refusals.dropped++
        if (error.reason._tag === "NotFound")
          return yield* Effect.logDebug("the namespace of an event is gone", namespace)
        if (isRefusal(error) && given.place.involved === undefined && ownNamespace !== namespace) {
          // Not shown by kubectl describe there, but better than nowhere (D20).
          const isNews = !refusals.clusterScopedRefused
          refusals.clusterScopedRefused = true
          series.say({ ...given, place: placeOf(given.about, "operator-namespace", ownNamespace), at: given.lastAt })
          Queue.offerUnsafe(signal, undefined)
          if (!isNews) return
        } else if (!refusals.refuse(namespace, yield* Clock.currentTimeMillis)) return
        yield* warnFailed(given, error)
      })

    const deliver = (given: Series): Effect.Effect<void> =>
      Effect.gen(function* () {
        if (refusals.isRefusing(given.place.namespace, yield* Clock.currentTimeMillis)) {
          refusals.dropped++
          return series.done(given)
        }
        const result = yield* Effect.result(persist(config, given))
        if (Result.isFailure(result)) return yield* giveUp(given, result.failure)
        refusals.accept(given.place.namespace)
        series.done(given, result.success)
      }).pipe(
        Effect.catchDefect((defect) => {
          series.done(given)
          refusals.dropped++
          return Effect.logWarning("Failed to post an event. It is ignored.", defect)
        })
      )
    const work = Effect.suspend(() => {
      const given = series.take()
      if (given === undefined) return Effect.void
      if (series.waiting > 0) Queue.offerUnsafe(signal, undefined)
      return deliver(given)
    })
    const worker = Queue.take(signal).pipe(
      Effect.andThen(
        Effect.whileLoop({
          while: () => series.waiting > 0,
          body: () => work,
          step: () => {
            isOverflowing = isOverflowing && series.waiting > 0
          }
        })
      ),
      Effect.andThen(Effect.sync(() => Queue.offerUnsafe(drained, undefined))),
      Effect.forever
    )
    for (let i = 0; i < config.concurrency; i++) yield* Effect.forkScoped(worker)

    const awaitDrained = Effect.whileLoop({
      while: () => series.waiting + series.inFlight > 0,
      body: () => Queue.take(drained),
      step: () => {}
    })
    yield* Effect.addFinalizer(() =>
      Effect.interruptible(Effect.timeoutOption(awaitDrained, graceMillis)).pipe(
        Effect.andThen(
          Effect.suspend(() => {
            const lost = series.waiting + series.inFlight
            return lost === 0 ? Effect.void : Effect.logWarning(`${lost} events were not posted in time and are lost`)
          })
        )
      )
    )

    return {
      say: (saying) =>
        Effect.suspend(() => {
          const offered = series.say(saying)
          if (offered !== "counted") Queue.offerUnsafe(signal, undefined)
          if (offered !== "overflow" || isOverflowing) return Effect.void
          isOverflowing = true
          return Effect.logWarning("too many events wait to be posted: the oldest are dropped, Normals first")
        }),
      clusterScoped: (choice) => (refusals.clusterScopedRefused ? "operator-namespace" : choice),
      stats: Effect.sync(() => ({
        waiting: series.waiting,
        inFlight: series.inFlight,
        dropped: series.dropped + refusals.dropped
      }))
    }
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
