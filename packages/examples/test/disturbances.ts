/** The access operator behind a `FaultProxy` on a real cluster, brought to rest and then disturbed: watches that end badly, a server that is away. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import { ApiServerProcess, ControlPlane, type ControlPlaneError } from "@fixpoint/testing/ControlPlane"
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as EffectScope from "effect/Scope"
import { Role } from "../src/access/kinds.ts"
import { contradictions, repeated } from "./checks.ts"
import { comesToRest, makeNamespace, observe, perform, Wrong } from "./livingWorld.ts"
import { home, type Limits, type OperatorProcess, start } from "./operatorProcess.ts"
import { type Act, nothing, type Script, script, wished } from "./wishes.ts"

/** An operator and its world. */
export interface Disturbed {
  readonly proxy: FaultProxy.FaultProxy
  readonly operator: OperatorProcess
  /** What users may do now. */
  readonly acts: Script["acts"]
  readonly act: (one: Act) => Effect.Effect<void, ApiError, ApiClient>
  /** Waits until all is done that is wished for; answers in how many milliseconds. Fails with what is missing, doubled or contradicted. */
  readonly rests: Effect.Effect<number, ApiError | Wrong, ApiClient>
}

/** Starts an operator in a namespace of its own, and waits until it rests. */
export const atRest = (
  namespace: string,
  seed: number,
  limits: Limits = {}
): Effect.Effect<Disturbed, ApiError | Wrong, ApiClient | ControlPlane | EffectScope.Scope> =>
  Effect.gen(function* () {
    const proxy = yield* FaultProxy.make(yield* ControlPlane)
    const place = yield* home(namespace, proxy.kubeconfig, limits)
    const done: Array<Act> = []
    const act = (one: Act) =>
      Effect.andThen(
        perform(namespace, one),
        Effect.sync(() => void done.push(one))
      )
    const { acts, given } = script(seed)
    yield* makeNamespace(namespace)
    yield* Effect.forEach(given, act)
    const operator = yield* start(place)
    const rests = Effect.gen(function* () {
      const millis = yield* comesToRest(namespace, place.registry, done.reduce(wished, nothing))
      const observed = yield* observe(namespace, place.registry)
      const touched = new Set(done.flatMap((one) => (one.do === "spoil" || one.do === "drop" ? [one.name] : [])))
      const faults = [...contradictions(observed, touched), ...repeated(observed, done)]
      if (faults.length > 0) return yield* new Wrong({ message: faults.join("\n") })
      if (!operator.isRunning()) return yield* new Wrong({ message: "the operator has ended" })
      return millis
    }).pipe(Effect.mapError((error) => new Wrong({ message: `${error.message}\n${operator.output()}` })))
    yield* rests
    yield* proxy.clearLog
    return { proxy, operator, acts, act, rests }
  })

/** Those that ask for all objects anew, be it by a streamed list; not the least list, by which a server is probed. */
export const relists = (log: ReadonlyArray<FaultProxy.Logged>): ReadonlyArray<FaultProxy.Logged> =>
  log.filter(({ method, path, query, watch }) =>
    watch
      ? query.includes("sendInitialEvents=true")
      : method === "GET" && /\/(?:roles|scopes|configmaps)$/.test(path) && !/\blimit=1\b/.test(query)
  )

/** What an outage looked like from the operator. */
export interface Outage {
  readonly seconds: number
  /** Of the operator, while the server was away. */
  readonly requests: number
  readonly lines: number
  /** From the server's return until all that was wished for meanwhile was done. */
  readonly restMillis: number
  /** From its return to the end of that. */
  readonly requestsAfter: number
  readonly relists: number
}

/** Kills the API server under the operator, starts it again after so many seconds, and lets users act as soon as it serves. */
export const outage = (
  { act, acts, operator, proxy, rests }: Disturbed,
  seconds: number
): Effect.Effect<Outage, ApiError | Wrong | ControlPlaneError, ApiClient | ApiServerProcess> =>
  Effect.gen(function* () {
    const server = yield* ApiServerProcess
    const said = operator.output().length
    yield* proxy.clearLog
    yield* server.stop()
    yield* Effect.sleep(`${seconds} seconds`)
    const requests = yield* proxy.count
    const lines = operator.output().slice(said).match(/^\[/gm)?.length ?? 0
    yield* server.start
    const back = yield* Clock.currentTimeMillis
    yield* proxy.clearLog
    const often = { schedule: Schedule.spaced("100 millis"), times: 100 }
    yield* Effect.retry(
      ApiClient.use((api) => api.list(Role)),
      often
    )
    for (const one of acts) yield* act(one)
    yield* rests
    const restMillis = (yield* Clock.currentTimeMillis) - back
    const requestsAfter = yield* proxy.count
    return { seconds, requests, lines, restMillis, requestsAfter, relists: relists(yield* proxy.log).length }
  })

/** Leaves all watches half-open while users act; answers in how many milliseconds that was noticed, made good, and how many relists it took. */
export const stalled = ({ act, acts, proxy, rests }: Disturbed) =>
  Effect.gen(function* () {
    const watches = yield* proxy.stallWatches
    const started = yield* Clock.currentTimeMillis
    for (const one of acts) yield* act(one)
    yield* rests
    const restMillis = (yield* Clock.currentTimeMillis) - started
    return { watches, restMillis, relists: relists(yield* proxy.log).length }
  })
