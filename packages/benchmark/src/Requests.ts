/** What an operator asks of the API: for each object that converges, when it starts anew on what has converged, and when nothing happens. */
import { ApiServer } from "@fixpoint/apiserver/ApiServer"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { cpuMicros, type Figure, median } from "./Measure.ts"
import { createWidgets, namespace, running, server } from "./Memory.ts"
import { widgets } from "./widget/operator.ts"

const controller = widgets({ namespace, workers: 10 })
const reads = new Set(["get", "list", "watch", "discover"])

/** Requests since the log was cleared, and how many of them write. Discovery and reviews at the start are told as reads. */
const asked = ApiServer.use((api) =>
  Effect.map(api.log, (log) => {
    const own = log.filter(({ operation }) => !operation.resource.startsWith("selfsubject"))
    return { all: own.length, writes: own.filter(({ operation }) => !reads.has(operation.verb)).length }
  })
)

const cleared = ApiServer.use((api) => api.clearLog)

/** Waits until no pass has come for a while. */
const atRest = Effect.fnUntraced(function* (passes: () => number) {
  for (let before = -1; before !== passes();) {
    before = passes()
    yield* Effect.sleep("300 millis")
  }
})

/** Requests for each Widget that is created beside a running operator, less the create itself. */
const converge = Effect.fnUntraced(function* (objects: number) {
  let passes = 0
  return yield* Effect.gen(function* () {
    yield* createWidgets(1)
    yield* atRest(() => passes)
    yield* cleared
    yield* createWidgets(objects, 1)
    yield* atRest(() => passes)
    const { all, writes } = yield* asked
    return { requests: all / objects - 1, writes: writes / objects - 1 }
  }).pipe(Effect.provide(running(controller, () => passes++)))
})

/** Starts on what has converged: milliseconds of CPU until each object has had its pass, and writes. */
const restart = Effect.fnUntraced(function* (objects: number) {
  let passes = 0
  let micros = 0
  yield* cleared
  const began = cpuMicros()
  const onSettled = (): void => {
    if (++passes === objects) micros = cpuMicros() - began
  }
  yield* atRest(() => passes).pipe(Effect.provide(running(controller, onSettled)))
  const { writes } = yield* asked
  return { millis: micros / 1_000, writes }
})

/** Requests a minute of an operator with nothing to do, over some hours of a clock that is moved. */
const idle = Effect.fnUntraced(
  function* (hours: number) {
    yield* createWidgets(10)
    return yield* Effect.gen(function* () {
      // A step of the clock waits for little that runs meanwhile.
      for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
      yield* cleared
      yield* TestClock.adjust(`${hours} hours`)
      const { all, writes } = yield* asked
      if (writes > 0) return yield* Effect.die(new Error(`an idle operator wrote ${writes} times`))
      return all / (hours * 60)
    }).pipe(Effect.provide(running(controller)))
  },
  Effect.provide(server()),
  Effect.provide(TestClock.layer())
)

const ofObjects = Effect.fnUntraced(function* (objects: number, rounds: number) {
  const { requests, writes } = yield* converge(objects)
  const restarts: Array<{ readonly millis: number; readonly writes: number }> = []
  for (let round = 0; round < rounds; round++) restarts.push(yield* restart(objects + 1))
  return { requests, writes, restarts }
}, Effect.provide(server()))

export const figures = Effect.fnUntraced(function* (objects: number, rounds: number) {
  const { requests, restarts, writes } = yield* ofObjects(objects, rounds)
  const all: ReadonlyArray<Figure> = [
    { what: "requests for an object until it has converged", value: requests, unit: "", goal: 2 },
    { what: "of these, writes", value: writes, unit: "", goal: 2 },
    {
      what: "writes of an operator that starts on what has converged",
      value: Math.max(...restarts.map((one) => one.writes)),
      unit: "",
      goal: 0
    },
    {
      what: `CPU of that start with ${objects} objects, the API in memory included`,
      value: median(restarts.map(({ millis }) => millis)),
      unit: "ms"
    },
    // Two watches, each renewed after 5 to 10 minutes.
    { what: "requests a minute of an idle operator with two kinds", value: yield* idle(6), unit: "", goal: 0.4 }
  ]
  return all
})
