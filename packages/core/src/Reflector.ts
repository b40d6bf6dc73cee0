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
import * as Complaints from "./internal/complaints.ts"
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
  /** Shared by reflectors of which a common fault, such as a server that is down, is to be told once. Default: its own. */
  readonly complaints?: Complaints.Complaints
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
  const { complaints = Complaints.make(), namespace, resource, store, ...settings } = options
  const clock = yield* Clock.Clock
  const health = yield* SubscriptionRef.make<Health>({ synced: false, since: clock.currentTimeMillisUnsafe() })
  const { run } = new Follower({
    api: yield* ApiClient,
    clock,
    random: yield* Random.Random,
    resource,
    feed: store.feed(namespace),
    settings: { ...Watcher.defaults, ...settings, ...(namespace !== undefined && { namespace }) },
    complaints,
    tell: (next) => SubscriptionRef.set(health, next)
  })
  yield* Effect.forkScoped(run)
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
  readonly complaints: Complaints.Complaints
  readonly tell: (health: Health) => Effect.Effect<void>
}

/** Ends a stream whose machine wants something else. */
class Leave {
  readonly next: Watcher.Command
  constructor(next: Watcher.Command) {
    this.next = next
  }
}

/** Carries out what the machine commands, and tells it what came of that. */
class Follower {
  private readonly world: World
  private readonly facts: Watcher.Facts
  private state: Watcher.State
  private told: Health
  /** What was complained of last. */
  private cause: string | undefined
  private command: Watcher.Command | undefined

  constructor(world: World) {
    this.world = world
    const { clock, random } = world
    this.facts = {
      get now() {
        return Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
      },
      get jitter() {
        return random.nextDoubleUnsafe()
      }
    }
    this.state = Watcher.initial(world.settings)
    this.told = { synced: false, since: clock.currentTimeMillisUnsafe() }
  }

  get run(): Effect.Effect<never> {
    return Effect.suspend(() =>
      this.command === undefined ? this.next({ _tag: "Started" }) : this.execute(this.command)
    ).pipe(
      Effect.catchCause((cause) =>
        // Our own interruption ends here; an interruption from within the client is one more failure.
        Effect.andThen(
          Effect.yieldNow,
          Effect.suspend(() => this.next({ _tag: "Died", message: ReconcileError.textOf(Cause.squash(cause)) }))
        ).pipe(Effect.tap(Effect.logError(`following ${formatResource(this.world.resource)} broke`, cause)))
      ),
      Effect.map((following) => {
        this.command = following
      }),
      Effect.forever
    )
  }

  private apply(input: Watcher.Input): Watcher.Command | undefined {
    const { command, outputs, state } = Watcher.step(this.state, input, this.facts)
    // Before the outputs: a listener that throws must not make the same event come twice.
    this.state = state
    for (const output of outputs) give(this.world.feed, output)
    return command
  }

  /** Says in health what is so, and in the log what has changed: a failure that lasts, or is another's too, is not told at each try. */
  private report(command?: Watcher.Command): Effect.Effect<void> {
    const { told } = this
    const { clock, resource, settings, tell } = this.world
    const failure = this.state.failure === undefined ? undefined : textOf(this.state.failure, resource, settings)
    const synced = this.state.position !== undefined
    const line = command?._tag === "Wait" ? this.complaint() : undefined
    const isSame = synced === told.synced && failure === told.failure
    if (isSame) return line ?? Effect.void
    const recovered = failure === undefined && told.failure !== undefined
    this.told = {
      synced,
      since:
        synced === told.synced && (failure === undefined) === (told.failure === undefined)
          ? told.since
          : clock.currentTimeMillisUnsafe(),
      ...(failure !== undefined && { failure })
    }
    return Effect.andThen(tell(this.told), recovered ? this.relief() : (line ?? Effect.void))
  }

  /** The line of what is wrong, unless it was told a moment ago. */
  private complaint(): Effect.Effect<void> | undefined {
    const { clock, complaints, resource, settings } = this.world
    const { failure } = this.state
    if (failure === undefined) return undefined
    const now = clock.currentTimeMillisUnsafe()
    const { cause, text } = complaintOf(failure, resource, settings)
    this.cause = cause
    const since = complaints.news(cause, now)
    if (since === undefined) return undefined
    const seconds = Math.round((now - since) / 1_000)
    return Effect.logWarning(`${text}; trying again${seconds === 0 ? "" : `, for ${seconds} s now`}`)
  }

  private relief(): Effect.Effect<void> {
    const { complaints, resource, settings } = this.world
    if (this.cause === undefined) return Effect.void
    complaints.over(this.cause)
    this.cause = undefined
    return Effect.logInfo(`watching ${formatResource(resource)} ${scopeText(resource, settings)} again`)
  }

  private next(input: Watcher.Input): Effect.Effect<Watcher.Command> {
    return Effect.suspend(() => {
      const command = this.apply(input)!
      return Effect.as(this.report(command), command)
    })
  }

  private hear(events: ReadonlyArray<WatchEvent>): Effect.Effect<void, Leave> {
    for (const event of events) {
      const command = this.apply({ _tag: "Event", event })
      if (command !== undefined) return Effect.andThen(this.report(command), Effect.fail(new Leave(command)))
    }
    return this.report()
  }

  private watch({ alarmMillis, options }: Watcher.Command & { _tag: "Watch" }): Effect.Effect<Watcher.Command> {
    const { api, resource } = this.world
    const stream = api.watch(resource, options).pipe(
      Stream.runForEachArray((events) => Effect.suspend(() => this.hear(events))),
      Effect.matchEffect({
        onSuccess: () => this.next({ _tag: "Ended" }),
        onFailure: (error) =>
          error instanceof Leave ? Effect.succeed(error.next) : this.next({ _tag: "Failed", error })
      })
    )
    if (alarmMillis === undefined) return stream
    const alarm = Effect.sleep(alarmMillis).pipe(
      Effect.andThen(
        Effect.suspend(() => {
          const command = this.apply({ _tag: "Alarm" })
          return Effect.andThen(this.report(command), command === undefined ? Effect.never : Effect.succeed(command))
        })
      )
    )
    return Effect.raceFirst(stream, alarm)
  }

  private execute(command: Watcher.Command): Effect.Effect<Watcher.Command> {
    switch (command._tag) {
      case "List":
        return this.world.api.list(this.world.resource, command.options).pipe(
          Effect.matchEffect({
            onSuccess: (page) => this.next({ _tag: "Page", page }),
            onFailure: (error) => this.next({ _tag: "Failed", error })
          })
        )
      case "Watch":
        return this.watch(command)
      case "Wait":
        return Effect.andThen(Effect.sleep(command.millis), this.next({ _tag: "Waited" }))
    }
  }
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
  if (failure.reason._tag !== "NotFound") return text
  const version = KubeObject.apiVersion(resource)
  // The kinds of Kubernetes itself need no CRD.
  return resource.group.includes(".")
    ? `${text}; ${resource.kind} is not served in ${version}: install its CRD with that version`
    : `${text}; ${version} is not served: is the API server of this cluster there?`
}

/** What is wrong in words, and by what it is told whether it is the same: a way that leads nowhere is everybody's, and so are credentials. */
const complaintOf = (
  failure: NonNullable<Watcher.State["failure"]>,
  resource: KubeObject.Resource,
  settings: Watcher.Options
): { readonly cause: string; readonly text: string } => {
  const own = textOf(failure, resource, settings)
  if (!isApiError(failure)) return { cause: own, text: own }
  const { message, reason } = failure
  switch (reason._tag) {
    case "Unreachable":
      return { cause: reason.message, text: `no answer from the API server: ${reason.message}` }
    case "Unauthorized":
      return {
        cause: reason._tag,
        text: `the API server refuses this account: ${message.slice(message.indexOf(": ") + 2)}`
      }
    default:
      return {
        cause: `${formatResource(resource)} ${scopeText(resource, settings)} ${reason._tag} ${"code" in reason ? reason.code : ""}`,
        text: own
      }
  }
}
