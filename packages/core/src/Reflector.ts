/**
 * Keeps a `Store` equal to what the API server has: drives the pure machine of `internal/watcher` over `ApiClient`.
 *
 * Guarantees: it never gives up while its scope is open. A failed request, a broken stream, a defect in a listener or in the client all lead to another
 * try with backoff (B7, B8, B9), and are told in `health` and in the log meanwhile. When healthy it makes no requests but the renewals of its watch,
 * every 5 to 10 minutes, and has no timer running.
 *
 * Assumption: a stream that falls silent fails by itself; that is the transport's part (B5).
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { ApiClient, formatResource, type WatchEvent } from "./ApiClient.ts"
import { isApiError } from "./ApiError.ts"
import * as Watcher from "./internal/watcher.ts"
import * as KubeObject from "./KubeObject.ts"
import * as ReconcileError from "./ReconcileError.ts"
import type * as Store from "./Store.ts"

export interface Options extends Partial<Watcher.Options> {
  readonly resource: KubeObject.Resource
  /** Must have been made for `namespace`. Several reflectors may fill one store, each its own namespace. */
  readonly store: Store.Store
  /** The only one that is asked for: the path of all namespaces is then never called (B28). */
  readonly namespace?: string
}

/** How it goes, as readiness tells it (D23). */
export interface Health {
  /** Whether there was a whole list; stays true. */
  readonly synced: boolean
  /** Since when it is so: synced or not, failing or not. Unix time in milliseconds; another text of a failure does not move it. */
  readonly since: number
  /** One line: verb, resource, scope and cause (B25, B28). Absent while all is well. */
  readonly failure?: string
}

export interface Reflector {
  readonly resource: KubeObject.Resource
  readonly namespace: string | undefined
  readonly health: () => Health
  /** The present health first, then each that follows. */
  readonly changes: Stream.Stream<Health>
}

/** Starts at once and lasts as long as the scope. Throws if the store was not made for the namespace. */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Reflector, never, ApiClient | Scope.Scope> {
  const { namespace, resource, store, ...settings } = options
  const clock = yield* Clock.Clock
  const health = yield* SubscriptionRef.make<Health>({ synced: false, since: clock.currentTimeMillisUnsafe() })
  const follow = follower({
    api: yield* ApiClient,
    clock,
    random: yield* Random.Random,
    resource,
    feed: store.feed(namespace),
    settings: { ...Watcher.defaults, ...settings, ...(namespace !== undefined && { namespace }) },
    tell: (next) => SubscriptionRef.set(health, next)
  })
  yield* Effect.forkScoped(follow)
  return {
    resource,
    namespace,
    health: () => SubscriptionRef.getUnsafe(health),
    changes: SubscriptionRef.changes(health)
  }
})

interface World {
  readonly api: ApiClient["Service"]
  readonly clock: Clock.Clock
  readonly random: typeof Random.Random.Service
  readonly resource: KubeObject.Resource
  readonly feed: Store.Feed
  readonly settings: Watcher.Options
  readonly tell: (health: Health) => Effect.Effect<void>
}

/** Ends a stream whose machine wants something else. */
class Leave {
  readonly next: Watcher.Command
  constructor(next: Watcher.Command) {
    this.next = next
  }
}

const follower = ({ api, clock, feed, random, resource, settings, tell }: World): Effect.Effect<never> => {
  let state = Watcher.initial(settings)
  let told: Health = { synced: false, since: clock.currentTimeMillisUnsafe() }
  const facts: Watcher.Facts = {
    get now() {
      return Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
    },
    get jitter() {
      return random.nextDoubleUnsafe()
    }
  }

  const apply = (input: Watcher.Input): Watcher.Command | undefined => {
    const { command, outputs, state: next } = Watcher.step(state, input, facts)
    // Before the outputs: a listener that throws must not make the same event come twice.
    state = next
    for (const output of outputs) give(feed, output)
    return command
  }

  /** Says in health and log what has changed since it was last said. */
  const report = (command?: Watcher.Command): Effect.Effect<void> => {
    const failure = state.failure === undefined ? undefined : textOf(state.failure, resource, settings)
    const synced = state.position !== undefined
    const fails = failure !== undefined && command?._tag === "Wait"
    if (!fails && synced === told.synced && failure === told.failure) return Effect.void
    const isSame = synced === told.synced && (failure === undefined) === (told.failure === undefined)
    const recovered = failure === undefined && told.failure !== undefined
    told = {
      synced,
      since: isSame ? told.since : clock.currentTimeMillisUnsafe(),
      ...(failure !== undefined && { failure })
    }
    const line = fails
      ? Effect.logWarning(`${failure}; trying again in ${(command.millis / 1_000).toFixed(1)} s`)
      : recovered
        ? Effect.logInfo(`watching ${formatResource(resource)} ${scopeText(resource, settings)} again`)
        : Effect.void
    return Effect.andThen(tell(told), line)
  }

  const next = (input: Watcher.Input): Effect.Effect<Watcher.Command> =>
    Effect.suspend(() => {
      const command = apply(input)!
      return Effect.as(report(command), command)
    })

  const hear = (events: ReadonlyArray<WatchEvent>): Effect.Effect<void, Leave> => {
    for (const event of events) {
      const command = apply({ _tag: "Event", event })
      if (command !== undefined) return Effect.andThen(report(command), Effect.fail(new Leave(command)))
    }
    return report()
  }

  const watch = ({ alarmMillis, options }: Watcher.Command & { _tag: "Watch" }): Effect.Effect<Watcher.Command> => {
    const stream = api.watch(resource, options).pipe(
      Stream.runForEachArray((events) => Effect.suspend(() => hear(events))),
      Effect.matchEffect({
        onSuccess: () => next({ _tag: "Ended" }),
        onFailure: (error) => (error instanceof Leave ? Effect.succeed(error.next) : next({ _tag: "Failed", error }))
      })
    )
    if (alarmMillis === undefined) return stream
    const alarm = Effect.sleep(alarmMillis).pipe(
      Effect.andThen(
        Effect.suspend(() => {
          const command = apply({ _tag: "Alarm" })
          return Effect.andThen(report(command), command === undefined ? Effect.never : Effect.succeed(command))
        })
      )
    )
    return Effect.raceFirst(stream, alarm)
  }

  const execute = (command: Watcher.Command): Effect.Effect<Watcher.Command> => {
    switch (command._tag) {
      case "List":
        return api.list(resource, command.options).pipe(
          Effect.matchEffect({
            onSuccess: (page) => next({ _tag: "Page", page }),
            onFailure: (error) => next({ _tag: "Failed", error })
          })
        )
      case "Watch":
        return watch(command)
      case "Wait":
        return Effect.andThen(Effect.sleep(command.millis), next({ _tag: "Waited" }))
    }
  }

  let command: Watcher.Command | undefined
  return Effect.suspend(() => (command === undefined ? next({ _tag: "Started" }) : execute(command))).pipe(
    Effect.catchCause((cause) =>
      // Our own interruption ends here; an interruption from within the client is one more failure.
      Effect.andThen(
        Effect.yieldNow,
        Effect.suspend(() => next({ _tag: "Died", message: ReconcileError.textOf(Cause.squash(cause)) }))
      ).pipe(Effect.tap(Effect.logError(`following ${formatResource(resource)} broke`, cause)))
    ),
    Effect.map((following) => {
      command = following
    }),
    Effect.forever
  )
}

const give = (feed: Store.Feed, output: Watcher.Output): void => {
  switch (output._tag) {
    case "Begin":
      return feed.begin()
    case "Hold":
      return feed.hold(output.type, output.object)
    case "HoldPage":
      for (const object of output.items) feed.hold("ADDED", object)
      return
    case "Commit":
      return feed.commit(output.resourceVersion, output)
    case "Event":
      return feed.event(output.type, output.object)
    case "Bookmark":
      return feed.bookmark(output.resourceVersion)
  }
}

const scopeText = (resource: KubeObject.Resource, { namespace }: Watcher.Options): string =>
  resource.scope === "Cluster"
    ? "at cluster scope"
    : namespace === undefined
      ? "in all namespaces"
      : `in namespace ${namespace}`

const textOf = (
  failure: NonNullable<Watcher.State["failure"]>,
  resource: KubeObject.Resource,
  settings: Watcher.Options
): string => {
  const scope = scopeText(resource, settings)
  const name = formatResource(resource)
  if (!isApiError(failure)) return `watch ${name} ${scope}: ${failure}`
  const text = failure.message.replace(`${failure.verb} ${failure.resource}`, (head) => `${head} ${scope}`)
  switch (failure.reason._tag) {
    case "Forbidden":
      return `${text}; allow this account list and watch on ${name} ${scope}`
    case "NotFound":
      return `${text}; ${resource.kind} is not served in ${KubeObject.apiVersion(resource)}: install its CRD with that version`
    default:
      return text
  }
}
