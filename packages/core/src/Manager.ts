/**
 * Runs controllers: keeps one cache for each kind that they read, gives each pass what its controller declared, and the world the `Wakes` of the kinds that
 * it reconciles.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Controller, Kind, Manager, Reconciler } from "@fixpoint/core"
 *
 * class Role extends Kind.make({
 *   group: "access.example.com", version: "v1", kind: "Role", scope: "Namespaced",
 *   spec: Schema.Struct({ scope: Schema.String })
 * }) {}
 *
 * // needs an ApiClient, such as Kubernetes.layer
 * export const operator = Manager.run([Controller.make({ for: Role, reconciler: Reconciler.for(Role) })])
 * ```
 *
 * Guarantees: a controller starts when its caches have synced, however it goes with those of others (B27); on stop no pass begins, running ones get the
 * grace to end, with their status and events (B92); nothing of a Manager lives in its controllers, so two may run the same ones.
 * Assumption: one process acts at a time, see `Leadership`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { ApiClient, formatResource } from "./ApiClient.ts"
import type * as Controller from "./Controller.ts"
import * as EventLogger from "./EventLogger.ts"
import * as EventPoster from "./EventPoster.ts"
import { FieldManager } from "./FieldManager.ts"
import { readerOf, writerOf } from "./internal/access.ts"
import * as Cached from "./Cached.ts"
import * as Complaints from "./internal/complaints.ts"
import { Engine } from "./internal/engine.ts"
import { keyOf } from "./internal/key.ts"
import { follow, type Informer, informersOf, kindsOf } from "./internal/informers.ts"
import { runSafely } from "./internal/passRunner.ts"
import type { Runner, Settled } from "./internal/runner.ts"
import type * as Settle from "./internal/settle.ts"
import { followExternal, followMapped } from "./internal/sources.ts"
import { awaitDefinition, checkDefinition, warnOfEventRights } from "./internal/startChecks.ts"
import { wakerOf } from "./internal/waker.ts"
import type * as Kind from "./Kind.ts"
import { formatRef, type KubeObject } from "./KubeObject.ts"
import { Leadership } from "./Leadership.ts"
import { ManagerError } from "./ManagerError.ts"
import * as Owned from "./Owned.ts"
import type { Reflector } from "./Reflector.ts"
import { Reporting } from "./Reporting.ts"
import { RequeuePolicy } from "./RequeuePolicy.ts"
import * as Wake from "./Wake.ts"
import * as WorkQueues from "./WorkQueues.ts"

export type { Settled } from "./internal/runner.ts"
export { ManagerError } from "./ManagerError.ts"

/** How a Manager is. It is ready when it does its work: every cache has synced and none has been cut off for longer than 30 s (D23). */
export interface Health {
  readonly phase: "starting" | "running" | "draining" | "stopped"
  readonly ready: boolean
  /** What keeps it from being ready, a line each: verb, resource, scope and cause (B25, B28). */
  readonly problems: ReadonlyArray<string>
}

/** A cache that is cut off longer than this makes the Manager unready. */
const cutOffMax = 30_000

export class Manager extends Context.Service<
  Manager,
  {
    readonly health: Effect.Effect<Health>
    /** Of each controller, in the order in which they were given. */
    readonly queues: Effect.Effect<ReadonlyArray<{ readonly controller: string; readonly queue: WorkQueues.Snapshot }>>
    /** In how many milliseconds an object comes by itself; undefined if only a wake brings it. */
    readonly nextOf: (
      kind: Kind.Any,
      ref: { readonly namespace?: string | undefined; readonly name: string }
    ) => Effect.Effect<number | undefined>
  }
>()("@fixpoint/core/Manager") {}

/** Told of every settled pass: for metrics, tests and live tables. Must not throw. Default: nobody. */
export const OnSettled = Context.Reference<(settled: Settled) => void>("@fixpoint/core/Manager/OnSettled", {
  defaultValue: () => () => {}
})

/** Given each Manager as it starts, before it asks anything of the cluster: for health probes. Must not throw. Default: nobody. */
export const OnStart = Context.Reference<(manager: Manager["Service"]) => void>("@fixpoint/core/Manager/OnStart", {
  defaultValue: () => () => {}
})

export interface Options {
  /** How long running passes get to end when the Manager stops. Default 30 s. */
  readonly grace?: Duration.Input
}

type Services<C extends Controller.Any> = ApiClient | Exclude<Controller.Services<C>, Wake.Wakes<Controller.Id<C>>>

/** Runs the controllers while the layer's scope is open, and gives the wakes of their kinds, before they start too (K34). */
export const layer = <const C extends ReadonlyArray<Controller.Any>>(
  controllers: C,
  options: Options = {}
): Layer.Layer<
  Manager | Wake.Wakes<Controller.Id<C[number]>>,
  ManagerError | Controller.Error<C[number]>,
  Services<C[number]>
> => Layer.effectContext(start(controllers, options)) as Layer.Layer<any, any, any>

/** Runs the controllers until it is interrupted. */
export const run = <const C extends ReadonlyArray<Controller.Any>>(
  controllers: C,
  options: Options = {}
): Effect.Effect<never, ManagerError | Controller.Error<C[number]>, Services<C[number]>> =>
  Layer.launch(layer(controllers, options))

interface State {
  phase: Health["phase"]
  readonly engines: ReadonlyArray<Engine>
  readonly informers: ReadonlyMap<string, Informer>
  readonly reflectors: Array<Reflector>
  /** Why a controller does not begin though its caches have synced, by its name. */
  readonly blocked: Map<string, string>
}

/** A Runner of which the kind may not have been looked at yet. */
type Checking = Omit<Runner, "conditionsAreMap"> & { readonly conditionsAreMap: boolean | undefined }

const start = Effect.fnUntraced(function* (
  given: ReadonlyArray<Controller.Any>,
  options: Options
): Effect.fn.Return<Context.Context<any>, unknown, any> {
  // What runs is not changed by whoever changes the value later (K4).
  const controllers = given.map((controller): Controller.Any => ({ ...controller }))
  yield* refuseTwins(controllers)
  const api = yield* ApiClient
  const fieldManager = yield* FieldManager
  const informers = informersOf(controllers, fieldManager)
  const queues = yield* orBuilt(WorkQueues.WorkQueues, WorkQueues.layer)
  const poster = yield* orBuilt(EventPoster.EventPoster, EventPoster.layer)
  const engines = yield* Effect.forEach(controllers, (controller) =>
    Effect.map(
      queues.open<Settle.Memory>(controller.name),
      (queue) => new Engine({ controller, queue, fieldManager, storeOf: (id) => informers.get(id)!.store })
    )
  )
  const state: State = { phase: "starting", engines, informers, reflectors: [], blocked: new Map() }
  const service = serviceOf(state)
  ;(yield* OnStart)(service)
  const wakes = wakesOf(state, api, yield* Effect.context<any>())
  for (const engine of engines)
    yield* Effect.acquireRelease(
      Effect.sync(() => engine.listen()),
      (end) => Effect.sync(end)
    )
  const complaints = Complaints.make()
  for (const informer of informers.values()) state.reflectors.push(...(yield* follow(informer, complaints)))
  yield* Effect.addFinalizer(() => Effect.sync(() => void (state.phase = "stopped")))
  // A scope of their own, since workers begin later than all else and must end first.
  const workers = yield* Scope.make()
  const conditions = yield* Effect.forEach(controllers, checkDefinition, { concurrency: "unbounded" })
  for (const [i, engine] of engines.entries()) {
    const services = yield* servicesOf(engine, informers, wakes)
    const own = Option.getOrElse(Context.getOption(services, EventPoster.EventPoster), () => poster)
    const runner: Checking = {
      engine,
      api,
      fieldManager,
      services,
      // Of the controller's own services: `Controller.provide` may give what holds for it alone.
      requeue: Context.get(services, RequeuePolicy),
      reporting: Context.get(services, Reporting),
      conditionsAreMap: conditions[i],
      post: (calls) => Effect.forEach(calls, own.say, { discard: true }),
      onSettled: yield* OnSettled
    }
    yield* Effect.provideContext(startEngine(state, runner, workers), services)
  }
  yield* Effect.forkScoped(warnOfEventRights(poster))
  // In a fiber of its own: the one that ends the scope is interrupted already at a SIGTERM, and would not wait at all.
  const drained = Effect.flatMap(Effect.forkDetach(drain(state, options)), Fiber.await)
  yield* Effect.addFinalizer((exit) => Effect.andThen(drained, Scope.close(workers, exit)))
  return Context.add(wakes, Manager, service)
})

/**
 * One name is one queue; and of two controllers that write the status of one object, each would take back what the other wrote, since both are the same field
 * manager and a pass says the whole status (ADR 5).
 */
const refuseTwins = (controllers: ReadonlyArray<Controller.Any>): Effect.Effect<void, ManagerError> => {
  const refuse = (_tag: ManagerError["reason"]["_tag"], message: string) =>
    Effect.fail(new ManagerError({ reason: { _tag, message } }))
  for (const [i, controller] of controllers.entries())
    for (const other of controllers.slice(0, i)) {
      if (other.name === controller.name)
        return refuse("DuplicateController", `two controllers are named ${other.name}: give one of them another name`)
      const where = sharedNamespaces(controller, other)
      if (controller.for.id === other.for.id && controller.for.hasStatus && where !== undefined)
        return refuse(
          "StatusWrittenTwice",
          `the controllers ${other.name} and ${controller.name} both write the status of ${formatResource(controller.for)} ${where}, and each would undo what the other wrote: join their reconcilers into one, or give them namespaces that differ`
        )
    }
  return Effect.void
}

/** Where both controllers work, in words; undefined if nowhere. */
const sharedNamespaces = (one: Controller.Any, other: Controller.Any): string | undefined => {
  if (one.for.scope === "Cluster") return "in the whole cluster"
  if (one.namespaces === undefined && other.namespaces === undefined) return "in all namespaces"
  const [first, second] = [one.namespaces ?? other.namespaces!, other.namespaces ?? one.namespaces!]
  const shared = first.filter((namespace) => second.includes(namespace))
  return shared.length === 0 ? undefined : `in namespace ${shared.join(", ")}`
}

/** The service that the program gives, or one of our own for as long as the Manager runs. */
const orBuilt = <I, S, E, R>(
  key: Context.Service<I, S>,
  standard: Layer.Layer<I, E, R>
): Effect.Effect<S, E, R | Scope.Scope> =>
  Effect.flatMap(Effect.serviceOption(key), (given) =>
    Option.isSome(given)
      ? Effect.succeed(given.value)
      : Effect.map(Layer.build(Layer.fresh(standard)), (built) => Context.get(built, key))
  )

const wakesOf = (state: State, api: ApiClient["Service"], services: Context.Context<any>): Context.Context<any> => {
  let wakes = Context.empty() as Context.Context<any>
  for (const { controller } of state.engines) {
    const engines = state.engines.filter((engine) => engine.controller.for.id === controller.for.id)
    wakes = Context.add(
      wakes,
      Wake.wakes(controller.for),
      wakerOf({ kind: controller.for, engines, api, services, isStopped: () => state.phase === "stopped" })
    )
  }
  return wakes
}

/** Everything that a step of the controller may ask for: the program's services, those of `Controller.provide`, and what it declared. */
const servicesOf = Effect.fnUntraced(function* (
  engine: Engine,
  informers: ReadonlyMap<string, Informer>,
  wakes: Context.Context<any>
): Effect.fn.Return<Context.Context<any>, unknown, any> {
  const { controller } = engine
  const outer = Context.merge(yield* Effect.context<any>(), wakes)
  let services = outer
  if (controller.layer !== undefined)
    services = Context.merge(outer, yield* Effect.provideContext(Layer.build(Layer.fresh(controller.layer)), outer))
  const api = Context.get(services, ApiClient)
  const manager = yield* FieldManager
  const told = new WeakSet<KubeObject>()
  const fork = Effect.runForkWith(services)
  const onMalformed = (malformed: Kind.MalformedResource, object: KubeObject): void => {
    if (told.has(object)) return
    told.add(object)
    fork(Effect.logWarning(`left out of a list: ${malformed.message}`))
  }
  for (const kind of kindsOf(controller))
    services = Context.add(services, Cached.reads(kind), readerOf(kind, informers.get(kind.id)!.store, onMalformed))
  for (const kind of [...controller.owns, ...controller.writes]) {
    const writing = {
      api,
      manager,
      onWrite: (owner: KubeObject, write: Parameters<Engine["wrote"]>[1]) => engine.wrote(owner, write, kind.id),
      onRead: (owner: KubeObject, ref: Parameters<Engine["readChild"]>[1], child: KubeObject) =>
        engine.readChild(owner, ref, child, kind.id),
      childBefore: (owner: KubeObject, ref: Parameters<Engine["childBefore"]>[1]) =>
        engine.childBefore(owner, ref, kind.id),
      owners: engine.store
    }
    services = Context.add(
      services,
      Owned.writes(kind),
      writerOf(kind, informers.get(kind.id)!.store, writing, onMalformed)
    )
  }
  const loggers = [...Context.get(services, References.CurrentLoggers), EventLogger.logger]
  return Context.add(services, References.CurrentLoggers, new Set(loggers))
})

/** Starts what wakes the controller, and its workers once its caches have synced and this process leads. */
const startEngine = Effect.fnUntraced(function* (
  state: State,
  given: Checking,
  workers: Scope.Closeable
): Effect.fn.Return<void, never, any> {
  const { engine } = given
  const { controller } = engine
  for (const mapped of controller.mapped)
    yield* followMapped(engine, mapped, state.informers.get(mapped.kind.id)!.store)
  for (const external of controller.external) yield* followExternal(engine, external)
  const leadership = yield* Leadership
  const work = Effect.gen(function* () {
    for (const kind of kindsOf(controller)) yield* state.informers.get(kind.id)!.store.awaitSynced
    const block = (why: string | undefined) =>
      void (why === undefined ? state.blocked.delete(controller.name) : state.blocked.set(controller.name, why))
    const conditionsAreMap = given.conditionsAreMap ?? (yield* awaitDefinition(controller, block))
    const runner: Runner = { ...given, conditionsAreMap }
    yield* leadership.acquire
    engine.started = true
    if (state.phase === "starting" && state.engines.every((other) => other.started)) {
      state.phase = "running"
      yield* Effect.logInfo(`running: ${state.engines.map((other) => other.controller.name).join(", ")}`)
    }
    yield* Effect.forEach(Array.from({ length: controller.workers }), () => Effect.forkIn(worker(runner), workers), {
      discard: true
    })
  })
  yield* Effect.forkIn(work, workers)
})

/** Runs keys until the queue is shut down. A key that was taken is always done, so only waiting and the step itself can be interrupted. */
const worker = (runner: Runner): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      for (;;) {
        const taken = yield* runner.engine.queue.take
        if (taken === undefined) return
        yield* runSafely(runner, taken)
      }
    })
  )

const passesText = (count: number): string => (count === 1 ? "1 pass" : `${count} passes`)

/** No pass begins any more; those that run get the grace to end (B92). What is then still running is interrupted when the scope closes. */
const drain = (state: State, { grace = "30 seconds" }: Options): Effect.Effect<void> =>
  Effect.gen(function* () {
    state.phase = "draining"
    for (const { queue } of state.engines) yield* queue.shutdown
    const allowed = Duration.format(Duration.fromInputUnsafe(grace))
    let running = 0
    for (const { queue } of state.engines) running += (yield* queue.snapshot).processing.length
    yield* Effect.logInfo(running === 0 ? "stopping" : `stopping: ${passesText(running)} may take ${allowed} to end`)
    const ended = yield* Effect.timeoutOption(
      Effect.forEach(state.engines, ({ queue }) => queue.awaitIdle, { discard: true }),
      grace
    )
    for (const engine of state.engines) engine.stopping = true
    if (Option.isSome(ended)) return
    for (const { controller, queue } of state.engines) {
      const { processing } = yield* queue.snapshot
      if (processing.length > 0)
        yield* Effect.logWarning(
          `stopping: ${passesText(processing.length)} of ${controller.name} did not end within ${allowed}, and what is left is interrupted: ${processing.slice(0, 10).join(", ")}`
        )
    }
  })

const serviceOf = (state: State): Manager["Service"] => ({
  health: Effect.map(Clock.currentTimeMillis, (now) => {
    const problems = [...new Set(problemsOf(state, now))]
    return { phase: state.phase, ready: state.phase === "running" && problems.length === 0, problems }
  }),
  queues: Effect.forEach(state.engines, ({ controller, queue }) =>
    Effect.map(queue.snapshot, (snapshot) => ({ controller: controller.name, queue: snapshot }))
  ),
  nextOf: (kind, ref) =>
    Effect.map(
      Effect.forEach(
        state.engines.filter(({ controller }) => controller.for.id === kind.id),
        ({ queue }) => queue.nextOf(keyOf(ref))
      ),
      (all) => {
        const times = all.filter((millis) => millis !== undefined)
        return times.length === 0 ? undefined : Math.min(...times)
      }
    )
})

function* problemsOf({ blocked, reflectors }: State, now: number): Generator<string> {
  yield* blocked.values()
  for (const { health, namespace, resource } of reflectors) {
    const { failure, since, synced } = health()
    const where = namespace === undefined ? "" : ` in ${formatRef({ namespace: undefined, name: namespace })}`
    if (!synced) yield failure ?? `${formatResource(resource)}${where}: the first list has not come yet`
    else if (failure !== undefined && now - since > cutOffMax) yield failure
  }
}
