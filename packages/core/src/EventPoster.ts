/**
 * Tells people what happened to an object, by Events that `kubectl describe` shows. What is posted the `PostingPolicy` decides; this module brings it to
 * the server.
 *
 * Guarantees: saying never waits, never fails and never changes a pass (P18-P23, D17); at most 1,000 Events wait, and a Warning is not dropped while a
 * Normal waits; while the server is away nothing is lost that has room, and posting resumes by itself; repeats are counted on one Event (D18); the time that
 * is told is that of the saying; what waits at the end is posted within a grace.
 * Assumptions: the operator may `create` and `patch` Events, in the API group of the Layer that posts them (D21).
 * Caveats: at most once: what is said between a status write and a crash is lost (D8). A namespace that refuses Events is asked again once a minute, and
 * what is said meanwhile about its objects is dropped and counted.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ApiClient } from "./ApiClient.ts"
import * as EventLogger from "./EventLogger.ts"
import { fitted, placeOf, reporterFrom } from "./internal/eventBody.ts"
import { coreV1, type EventsApi, eventsV1 } from "./internal/eventsApi.ts"
import { EventSeries } from "./internal/eventSeries.ts"
import { makeTransport } from "./internal/eventTransport.ts"
import { FieldManager } from "./FieldManager.ts"
import type { Resource } from "./KubeObject.ts"
import { OwnNamespace } from "./OwnNamespace.ts"
import * as PostingPolicy from "./PostingPolicy.ts"

/** What is said beside whom it is about. */
export interface Words {
  /** A CamelCase word for programs. */
  readonly reason: string
  readonly message: string
}

export interface Stats {
  /** Events that wait to be posted. */
  readonly waiting: number
  readonly inFlight: number
  /** Sayings that were given up, whatever the cause; the metric `fixpoint_events_dropped` tells the causes apart. */
  readonly dropped: number
}

/** Each takes one object, any nesting of lists of them, or none (P5). */
export class EventPoster extends Context.Service<
  EventPoster,
  {
    /** Any type, whatever the level; only if posting is enabled (P1). */
    readonly event: (
      about: PostingPolicy.About,
      words: Words & { readonly type: string; readonly action?: string }
    ) => Effect.Effect<void>
    /** A Normal, from level Info up (P2). */
    readonly info: (about: PostingPolicy.About, words: Words) => Effect.Effect<void>
    /** A Warning, from level Warn up, also if posting is not enabled (P3). */
    readonly warn: (about: PostingPolicy.About, words: Words) => Effect.Effect<void>
    /** Of type Error; reason and text default to those of the error (P4). */
    readonly exception: (about: PostingPolicy.About, error: unknown, words?: Partial<Words>) => Effect.Effect<void>
    /** What was gathered elsewhere. */
    readonly say: (call: PostingPolicy.EventCall) => Effect.Effect<void>
    readonly stats: Effect.Effect<Stats>
    /** What is posted, on which the operator needs the verbs `create` and `patch` (D21); undefined if nothing is. */
    readonly resource: Resource | undefined
  }
>()("@fixpoint/core/EventPoster") {}

/** Decides by the policy of the caller, and hands over what passes. Nothing that is thrown on the way reaches the caller. */
const make = (
  hand: (said: PostingPolicy.Said, at: number, policy: PostingPolicy.PostingPolicy) => Effect.Effect<void>,
  stats: Effect.Effect<Stats>,
  resource?: Resource
): EventPoster["Service"] => {
  let toldAt = -Infinity
  // Only what slips past the types comes here, or a bug: it is lost, and told once a minute.
  const tell = (defect: unknown): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - toldAt < 60_000) return Effect.void
      toldAt = now
      return Effect.logWarning("Failed to post an event. It is ignored: what was said cannot be read", defect)
    }).pipe(Effect.catchDefect(() => Effect.void))
  const say = Effect.fnUntraced(
    function* (call: PostingPolicy.EventCall) {
      const policy = yield* PostingPolicy.PostingPolicy
      const now = yield* Clock.currentTimeMillis
      for (const said of PostingPolicy.decide(policy, call)) yield* hand(said, said.at ?? now, policy)
    },
    Effect.catchDefect(tell),
    // It may be said inside of a pass that mirrors what it logs.
    EventLogger.unposted
  )
  return {
    event: (about, words) => say({ _tag: "event", about, ...words }),
    info: (about, words) => say({ _tag: "info", about, ...words }),
    warn: (about, words) => say({ _tag: "warn", about, ...words }),
    exception: (about, error, words) => say({ _tag: "exception", about, error, ...words }),
    say,
    stats,
    resource
  }
}

export interface Options {
  /** Who reports. Default: the `FieldManager`. */
  readonly component?: string
  /** Which of several instances reports, such as the Pod's name. Default: the component. */
  readonly instance?: string
  /** How the names of Events begin; `/` and `%` become `-`. In events.k8s.io/v1 it is made what such a name may be: lower-case letters, digits, `-` and `.`. Default `fixpoint-`. */
  readonly namePrefix?: string
  /** Events that wait at most; 1 at least. Default 1,000. */
  readonly capacity?: number
  /** Requests at once at most; 1 at least. Default 8. */
  readonly concurrency?: number
  /** How long the end waits for what is not posted yet. Default 5 s. */
  readonly grace?: Duration.Input
}

/** Read when `layer` is built. Default: the values named at each option. */
export const Options = Context.Reference<Options>("@fixpoint/core/EventPoster/Options", { defaultValue: () => ({}) })

/** Who reports in kopf, and how its Events are named (P9); with `PostingPolicy.kopf` its dashboards and filters go on working. */
export const kopf: Options = { component: "kopf", instance: "dev", namePrefix: "kopf-event-" }

const layerOf = (events: EventsApi): Layer.Layer<EventPoster, never, ApiClient> =>
  Layer.effect(
    EventPoster,
    Effect.gen(function* () {
      const options = yield* Options
      const { capacity = 1_000, concurrency = 8, grace = "5 seconds", namePrefix = "fixpoint-" } = options
      const component = options.component ?? (yield* FieldManager)
      const ownNamespace = yield* OwnNamespace
      const transport = yield* makeTransport({
        api: yield* ApiClient,
        events,
        series: new EventSeries(capacity),
        namePrefix: events.prefixOf(namePrefix),
        ownNamespace,
        fieldManager: yield* FieldManager,
        reporter: reporterFrom(component, options.instance ?? component),
        concurrency: concurrency >= 1 ? concurrency : 1,
        graceMillis: Duration.toMillis(grace)
      })
      const hand = (
        { about, action, message, reason, type }: PostingPolicy.Said,
        at: number,
        policy: PostingPolicy.PostingPolicy
      ) => {
        const words = fitted({ action, message, reason, type })
        return transport.say({
          about,
          place: placeOf(about, transport.clusterScoped(policy.clusterScopedEvents), ownNamespace),
          words: { ...words, type: events.typeOf(words.type) },
          at,
          budgets: policy.budgets
        })
      }
      return make(hand, transport.stats, events.resource)
    })
  )

/** Posts through core/v1, as `Options` say: what every tool reads in full, in which every type passes as it is (D19). */
export const layer: Layer.Layer<EventPoster, never, ApiClient> = layerOf(coreV1)

/**
 * Posts through events.k8s.io/v1, as `Options` say. There a type is Normal or Warning: Debug becomes Normal, all else that is not Normal, such as Error, Fatal and
 * words of one's own, Warning (D19). `Controller.rbac` grants it with `{ events: "events.k8s.io" }`.
 *
 * Caveats: nothing of an Event may change there but the count and the last time, so one that combines several texts keeps the first of them (F155). An Event
 * that the core/v1 Layer has posted is not counted on: after a change of the Layer a repeat begins a new one.
 */
export const layerEventsV1: Layer.Layer<EventPoster, never, ApiClient> = layerOf(eventsV1)

/** What was decided to be posted, in order: for tests. */
export class Recorded extends Context.Service<
  Recorded,
  {
    /** The last 10,000. */
    readonly said: Effect.Effect<ReadonlyArray<PostingPolicy.Said>>
    readonly clear: Effect.Effect<void>
  }
>()("@fixpoint/core/EventPoster/Recorded") {}

const recordedMax = 10_000
const idle: Effect.Effect<Stats> = Effect.succeed({ waiting: 0, inFlight: 0, dropped: 0 })

/** Posts nothing and keeps what would be posted. */
export const layerMemory: Layer.Layer<EventPoster | Recorded> = Layer.effectContext(
  Effect.sync(() => {
    let kept: Array<PostingPolicy.Said> = []
    const poster = make(
      (said, at) =>
        Effect.sync(() => {
          kept.push({ ...said, at })
          if (kept.length > 2 * recordedMax) kept = kept.slice(-recordedMax)
        }),
      idle
    )
    return Context.make(EventPoster, poster).pipe(
      Context.add(Recorded, {
        said: Effect.sync(() => kept.slice(-recordedMax)),
        clear: Effect.sync(() => {
          kept = []
        })
      })
    )
  })
)

/** Posts nothing. */
export const layerNone: Layer.Layer<EventPoster> = Layer.succeed(
  EventPoster,
  make(() => Effect.void, idle)
)
