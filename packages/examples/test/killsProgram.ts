/** The program of `scripts/kills.ts`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { atRest, outage, stalled } from "./disturbances.ts"
import { leavesNothing, type Killed, playKill } from "./kills.ts"
import { direct, install } from "./livingWorld.ts"

const valueOf = (flag: string, otherwise: number): number => {
  const at = process.argv.indexOf(flag)
  return at === -1 ? otherwise : Number(process.argv[at + 1])
}

const row = ({ calls, point, requests, restMillis }: Killed): string =>
  [
    String(point.seed).padStart(4),
    point.kind.padEnd(23),
    `${point.text}${point.second ? " (second start)" : ""}`.padEnd(68),
    String(restMillis).padStart(9),
    String(requests).padStart(9),
    String(calls).padStart(9)
  ].join("  ")

const kills = Effect.gen(function* () {
  const seed = valueOf("--seed", 1)
  const count = valueOf("--count", 30)
  yield* install
  yield* Console.log(
    ["seed", "between".padEnd(23), "killed at".padEnd(68), "  rest ms", " requests", " registry"].join("  ")
  )
  const seeds = Array.from({ length: count }, (_, i) => seed + i)
  const results = yield* Effect.forEach(
    seeds,
    (one) =>
      playKill(one).pipe(
        Effect.tap((killed) => Console.log(row(killed))),
        Effect.result,
        Effect.tap((result) =>
          result._tag === "Failure" ? Console.log(`FAILED ${result.failure.message}`) : Effect.void
        )
      ),
    { concurrency: valueOf("--lanes", 4) }
  )
  const killed = results.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
  yield* Effect.forEach(killed, leavesNothing, { discard: true })
  yield* Console.log(`${killed.length} of ${count} kills left nothing lost, doubled or contradicted`)
  if (killed.length < count) process.exitCode = 1
})

const outageOf = (seconds: number) =>
  Effect.gen(function* () {
    yield* install
    const came = yield* outage(yield* atRest("outage", valueOf("--seed", 1)), seconds)
    yield* Console.log(
      `API server away for ${came.seconds} s: ${came.requests} requests and ${came.lines} log lines of the operator meanwhile; all done ${came.restMillis} ms after its return, with ${came.requestsAfter} requests, ${came.relists} of them relists`
    )
  })

const stall = Effect.gen(function* () {
  yield* install
  const came = yield* stalled(yield* atRest("stall", valueOf("--seed", 1)))
  yield* Console.log(
    `${came.watches} watches half-open: all done after ${came.restMillis} ms, with ${came.relists} relists`
  )
})

const chosen = process.argv.includes("--outage")
  ? outageOf(valueOf("--seconds", 60))
  : process.argv.includes("--stall")
    ? stall
    : kills

chosen.pipe(
  Effect.scoped,
  Effect.provide(direct.pipe(Layer.provideMerge(ControlPlane.layer({ controllers: true })))),
  Effect.provide(Logger.layer([])),
  NodeRuntime.runMain
)
