/** Which events a persisted object gets for a script of ends, whatever the watch tells and when. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Controller from "../src/Controller.ts"
import * as EventPoster from "../src/EventPoster.ts"
import * as Persisted from "../src/Persisted.ts"
import { NotReady } from "../src/ReconcileError.ts"
import { api, editor, lagging, quiet, ready, refTo, Role, running } from "./world.ts"

type End = "Synced" | readonly [reason: string, message: string]

const upsertOf = (end: End) =>
  end === "Synced" ? Effect.void : Effect.fail(new NotReady({ reason: end[0], message: end[1] }))

/** One pass for each end, in turn; the events that each brought, and Ready in the end. */
const played = (ends: ReadonlyArray<End>, lagMillis: number) => {
  const passes: Array<ReadonlyArray<string>> = []
  let end: End = ends[0]!
  let last = ""
  const controller = Controller.make({
    for: Role,
    reconciler: Persisted.make({
      for: Role,
      finalizer: "access.example.com/record",
      upsert: () => upsertOf(end),
      delete: () => Effect.void
    })
  })
  const world = Layer.merge(
    lagMillis === 0 ? api() : Layer.provideMerge(lagging(lagMillis), api()),
    EventPoster.layerMemory
  )
  const settle = Effect.andThen(TestClock.adjust(20 * lagMillis), quiet)
  return Effect.as(
    running(
      [controller],
      ({ api }) =>
        Effect.gen(function* () {
          const recorded = yield* EventPoster.Recorded
          let before = 0
          yield* api.create(Role, editor)
          for (const next of ends) {
            end = next
            // As fast as they may come: the pass may begin before the watch has told the last write.
            if (passes.length > 0) yield* controller.enqueue(refTo(editor))
            yield* quiet
            yield* settle
            const said = yield* recorded.said
            passes.push(said.slice(before).map(({ message, reason, type }) => `${type} ${reason}: ${message}`))
            before = said.length
            last = ready(yield* api.get(Role, refTo(editor)))
          }
        }),
      { world }
    ),
    { passes, ready: () => last }
  )
}

describe("the events of a persisted object", () => {
  it.effect.each([0, 50, 500])(
    "follow status and reason exactly, with a watch that lags by %i ms (K14, K17, K19, K20, K21, K22, X8, D12)",
    (lagMillis) =>
      Effect.gen(function* () {
        const { passes, ready } = yield* played(
          [
            ["A", "a"],
            ["A", "a"],
            ["A", "another text"],
            ["B", "b"],
            "Synced",
            ["B", "b"],
            ["", "first"],
            ["", "second"],
            ["", "third"]
          ],
          lagMillis
        )
        assert.deepStrictEqual(passes, [
          ["Warning A: a"],
          [],
          [],
          ["Warning B: b"],
          [],
          ["Warning B: b"],
          ["Warning Invalid: first"],
          [],
          []
        ])
        assert.strictEqual(ready(), "False Invalid")
      }),
    60_000
  )
})
