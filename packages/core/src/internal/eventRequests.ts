/** The requests that bring one series of events to the server once: a new Event, or a new count (D18). */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ApiClient, formatResource } from "../ApiClient.ts"
import { ApiError } from "../ApiError.ts"
import type { Reporter } from "./eventBody.ts"
import type { Counted, EventsApi } from "./eventsApi.ts"
import { millisOf, nameOf, type Series } from "./eventSeries.ts"

export interface Config {
  readonly api: ApiClient["Service"]
  readonly events: EventsApi
  readonly namePrefix: string
  readonly fieldManager: string
  readonly reporter: Reporter
}

/** Another operator that says the same of the same object has an Event of its own. */
const nameFrom = ({ namePrefix, reporter }: Config, id: string): string =>
  nameOf(namePrefix, `${reporter.component} ${id}`)

/** A request that takes longer is given up. */
const requestMillis = 10_000

const silent = (config: Config, series: Series): ApiError =>
  new ApiError({
    verb: "create",
    resource: formatResource(config.events.resource),
    ref: { namespace: series.place.namespace, name: nameFrom(config, series.id) },
    reason: { _tag: "Unreachable", message: `no answer within ${requestMillis / 1_000} s` }
  })

/** An Event that is there, and the count on it. */
export interface Posted {
  readonly name: string
  readonly count: number
}

/** Posts one series as it stands: a new Event, or the new count of the one that is there. */
const post = Effect.fnUntraced(function* (config: Config, series: Series): Effect.fn.Return<Posted, ApiError> {
  const { api, events, fieldManager } = config
  const { namespace } = series.place
  const { count } = series
  if (series.posted === undefined) return yield* create(config, series, nameFrom(config, series.id))
  const { name } = series.posted
  if (count <= series.posted.count) return { name, count }
  const patched = yield* Effect.result(
    api.patch(
      events.resource,
      { namespace, name },
      { type: "merge", body: events.repeatOf(series, series.isCombined ? series.words.message : undefined) },
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
  const { api, events, fieldManager, reporter } = config
  const { about, count, place, words } = series
  const body = events.bodyOf({ name, about, place, words, counted: series, reporter })
  const created = yield* Effect.result(api.create(events.resource, body, { fieldManager }))
  if (Result.isSuccess(created)) return { name, count }
  if (created.failure.reason._tag !== "AlreadyExists") return yield* created.failure
  // Posted by an earlier start of the operator, or by a request whose answer was lost. An empty patch writes nothing and answers the object (F5): it reads
  // with the rights that posting has anyway (D21).
  const present = yield* api.patch(
    events.resource,
    { namespace: place.namespace, name },
    { type: "merge", body: {} },
    { fieldManager }
  )
  const told = events.countedOf(present)
  // Of long ago, or of the other API. The next name follows from it, so that a later start finds the Event that begins here.
  if (told === undefined || !isContinued(told, series))
    return yield* create(config, series, nameFrom(config, `${name} ${told?.lastAt ?? 0}`))
  // The same first time: this very saying, of which the answer was lost.
  if (!isSame(told, series)) series.count += told.count
  series.posted = { name, count: told.count }
  return yield* post(config, series)
})

const isSame = ({ firstAt }: Counted, series: Series): boolean => firstAt === Math.trunc(series.firstAt)

/** Times of core/v1 are cut to seconds. */
const isContinued = (told: Counted, series: Series): boolean =>
  isSame(told, series) || series.lastAt - told.lastAt <= millisOf(series.budgets).repeatsWithin + 1_000

/** One try, which takes `requestMillis` at most. */
export const persist = (config: Config, series: Series): Effect.Effect<Posted, ApiError> =>
  Effect.timeoutOrElse(post(config, series), {
    duration: requestMillis,
    orElse: () => Effect.fail(silent(config, series))
  })
