/** Kills the access operator at one point of its work on a real cluster, starts it again, and looks for what is lost, doubled or contradicted. */
import type { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import { ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as EffectScope from "effect/Scope"
import { contradictions, orphans, repeated } from "./checks.ts"
import { type KillPoint, killPoint } from "./killPoints.ts"
import { comesToRest, makeNamespace, observe, perform, Wrong } from "./livingWorld.ts"
import { home, type Home, start } from "./operatorProcess.ts"
import { type Act, nothing, script, wished } from "./wishes.ts"

/** What came of one kill. */
export interface Killed {
  readonly point: KillPoint
  readonly namespace: string
  readonly registry: string
  /** From the start after the kill until all wishes were met. */
  readonly restMillis: number
  /** Of the operator, in that time. */
  readonly requests: number
  readonly calls: number
}

/** One operator's world while it is played. */
interface Stage {
  readonly home: Home
  readonly proxy: FaultProxy.FaultProxy
  readonly point: KillPoint
  /** All that users have done. */
  readonly done: Array<Act>
}

const wrong = (point: KillPoint, what: string, lines: ReadonlyArray<string>): Effect.Effect<void, Wrong> =>
  lines.length === 0
    ? Effect.void
    : Effect.fail(new Wrong({ message: [`seed ${point.seed} (${point.text}): ${what}:`, ...lines].join("\n  ") }))

const act = ({ done, home }: Stage, one: Act): Effect.Effect<void, ApiError, ApiClient> =>
  Effect.andThen(
    perform(home.namespace, one),
    Effect.sync(() => void done.push(one))
  )

/** So many acts are done while nobody is there. */
const unseen = 4
/** So many before the second operator starts, if the point is one of it. */
const early = 6

/** Something of every kind to do, where the script alone did not bring the operator to the point. */
const filler = (turn: number): Act => {
  const name = `filler-${Math.floor(turn / 5)}`
  if (turn % 5 === 0) return { do: "set scope", name, members: ["ada"] }
  const rules = [{ resource: `thing-${turn % 5}`, verbs: ["read"] }]
  return turn % 5 < 4 ? { do: "set role", name, wish: { scope: name, rules } } : { do: "remove role", name }
}

const check = (stage: Stage, when: string) =>
  Effect.gen(function* () {
    const { done, home, point } = stage
    const touched = new Set(done.flatMap((one) => (one.do === "spoil" || one.do === "drop" ? [one.name] : [])))
    const observed = yield* observe(home.namespace, home.registry)
    yield* wrong(point, `contradictions ${when}`, contradictions(observed, touched))
    yield* wrong(point, `repetitions ${when}`, repeated(observed, done))
  })

/** Starts the operator that is killed at the point, and does the acts until it is; answers with the acts that are left. */
const untilKilled = (
  stage: Stage,
  acts: ReadonlyArray<Act>
): Effect.Effect<ReadonlyArray<Act>, ApiError | Wrong, ApiClient | EffectScope.Scope> =>
  Effect.gen(function* () {
    const { home, point, proxy } = stage
    const dead = yield* Deferred.make<void>()
    const operator = yield* start(home)
    const kill = Effect.andThen(operator.kill, Deferred.succeed(dead, undefined))
    // The kill must not end with the connection that it breaks.
    const detached = Effect.asVoid(Effect.flatMap(Effect.forkDetach(kill), () => Deferred.await(dead)))
    // A process that was just started has asked for nothing yet.
    yield* proxy.add(point.rule(detached))
    while (!operator.output().includes("running:") && operator.isRunning()) yield* Effect.sleep("50 millis")
    let left = acts
    for (let turn = 0; turn < 100; turn++) {
      const isScript = left.length > unseen
      if ((yield* Effect.timeoutOption(Deferred.await(dead), isScript ? "60 millis" : "200 millis"))._tag === "Some") {
        yield* proxy.heal
        return left
      }
      yield* act(stage, isScript ? left[0]! : filler(turn - acts.length + left.length))
      if (isScript) left = left.slice(1)
    }
    return yield* new Wrong({ message: `seed ${point.seed}: ${point.text} never came\n${operator.output()}` })
  })

/** Within half a minute there are two seconds without a request but the watches. */
const rests = ({ point, proxy }: Stage): Effect.Effect<void, Wrong> =>
  Effect.gen(function* () {
    let asked: ReadonlyArray<FaultProxy.Logged> = []
    for (let tries = 0; tries < 15; tries++) {
      yield* proxy.clearLog
      yield* Effect.sleep("2 seconds")
      asked = (yield* proxy.log).filter(({ watch }) => !watch)
      if (asked.length === 0) return
    }
    yield* wrong(
      point,
      "at rest it still asks",
      asked.map(({ method, path }) => `${method} ${path}`)
    )
  })

/** Plays the point of a seed in a namespace of its own. */
export const playKill = (
  seed: number
): Effect.Effect<Killed, ApiError | Wrong, ApiClient | ControlPlane | EffectScope.Scope> =>
  Effect.gen(function* () {
    const point = killPoint(seed)
    const namespace = `kill-${seed}`
    const proxy = yield* FaultProxy.make(yield* ControlPlane)
    const stage: Stage = { home: yield* home(namespace, proxy.kubeconfig), proxy, point, done: [] }
    const { acts, given } = script(seed)
    yield* makeNamespace(namespace)
    yield* Effect.forEach(given, (one) => act(stage, one))
    let left = acts
    if (point.second) {
      const first = yield* start(stage.home)
      for (const one of acts.slice(0, early)) yield* Effect.delay(act(stage, one), "120 millis")
      yield* first.kill
      left = acts.slice(early)
    }
    left = yield* untilKilled(stage, left)
    yield* check(stage, "when it was dead")
    for (const one of left.slice(0, unseen)) yield* act(stage, one)
    yield* proxy.clearLog
    const started = yield* Clock.currentTimeMillis
    const operator = yield* start(stage.home)
    for (const one of left.slice(unseen)) yield* Effect.delay(act(stage, one), "60 millis")
    const wish = stage.done.reduce(wished, nothing)
    yield* comesToRest(namespace, stage.home.registry, wish).pipe(
      Effect.mapError(
        (error) => new Wrong({ message: `seed ${seed} (${point.text}): ${error.message}\n${operator.output()}` })
      )
    )
    const restMillis = (yield* Clock.currentTimeMillis) - started
    const requests = yield* proxy.count
    yield* rests(stage)
    yield* check(stage, "at rest")
    yield* wrong(point, "it complains", /\b(?:ERROR|WARN)\b/.test(operator.output()) ? [operator.output()] : [])
    yield* operator.kill
    const { calls } = yield* observe(namespace, stage.home.registry)
    return { point, namespace, registry: stage.home.registry, restMillis, requests, calls: calls.length }
  })

/** The garbage collector learns of new CRDs within 30 s, and has then to take every child whose Role is gone. */
export const leavesNothing = ({
  namespace,
  point,
  registry
}: Killed): Effect.Effect<void, ApiError | Wrong, ApiClient> =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    for (;;) {
      const left = orphans(yield* observe(namespace, registry))
      if (left.length === 0) return
      if ((yield* Clock.currentTimeMillis) - started > 60_000) return yield* wrong(point, "orphans", left)
      yield* Effect.sleep("1 second")
    }
  })
