/** What the engine costs in a pass that finds nothing to do: all but the step, which is empty here; and what the step of the Widget operator adds. */
import * as Controller from "@fixpoint/core/Controller"
import * as Reconciler from "@fixpoint/core/Reconciler"
import * as Wake from "@fixpoint/core/Wake"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { cpuOf, type Figure } from "./Measure.ts"
import { createWidgets, namespace, running, server } from "./Memory.ts"
import { Widget } from "./widget/kinds.ts"
import { widgets } from "./widget/operator.ts"

/** Does nothing, and so rests once its condition is written. */
const empty = Controller.make({
  for: Widget,
  reconciler: Reconciler.fromEffect(Widget, () => Effect.void),
  namespaces: [namespace]
})

/** Microseconds of CPU a pass, from its wake to its end. */
const costOf = (controller: Controller.Controller<typeof Widget, never>, objects: number, rounds: number) => {
  let left = Infinity
  let done = Deferred.makeUnsafe<void>()
  const onSettled = (): void => {
    if (--left === 0) Deferred.doneUnsafe(done, Effect.void)
  }
  const awaited = <E, R>(wake: Effect.Effect<unknown, E, R>, passes: number): Effect.Effect<void, E, R> =>
    Effect.suspend(() => {
      left = passes
      done = Deferred.makeUnsafe<void>()
      return Effect.andThen(wake, Deferred.await(done))
    })
  const wakeAll = Wake.resync(Widget, { namespace })
  return Effect.gen(function* () {
    yield* createWidgets(objects)
    return yield* Effect.gen(function* () {
      // The first passes write, and those after them see what was written.
      yield* Effect.sleep("1 second")
      yield* awaited(wakeAll, objects)
      return yield* cpuOf(awaited(wakeAll, objects), objects, rounds)
    }).pipe(Effect.provide(running(controller, onSettled)))
  }).pipe(Effect.provide(server()), Effect.orDie)
}

export const figures = Effect.fnUntraced(function* (objects: number, rounds: number) {
  const engine = yield* costOf(empty, objects, rounds)
  const operator = yield* costOf(widgets({ namespace, workers: 10 }), objects, rounds)
  const all: ReadonlyArray<Figure> = [
    { what: "CPU of a pass that finds nothing to do, above its step", value: engine, unit: "us", goal: 15 },
    {
      what: "the same with the step of the Widget operator, which compares a child and a status",
      value: operator,
      unit: "us"
    }
  ]
  return all
})
