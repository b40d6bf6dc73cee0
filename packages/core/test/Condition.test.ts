import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Condition from "../src/Condition.ts"

const t0 = "2026-01-01T00:00:00Z"
const t1 = "2026-01-01T00:01:30Z"
const ready = (status: "True" | "False", message = ""): Condition.Input => ({
  type: "Ready",
  status,
  reason: "Synced",
  message
})

describe("Condition", () => {
  it("lastTransitionTime moves only when the status flips, not for a reason or a message (K14, B47)", () => {
    const first = Condition.merge([], [ready("True")], { now: t0, generation: 1 })
    const reworded = Condition.merge(first, [ready("True", "other")], { now: t1, generation: 2 })
    assert.strictEqual(reworded[0]!.lastTransitionTime, t0)
    assert.strictEqual(reworded[0]!.observedGeneration, 2)
    assert.strictEqual(
      Condition.merge(reworded, [ready("False")], { now: t1, generation: 2 })[0]!.lastTransitionTime,
      t1
    )
  })

  it.effect.prop(
    "keeps foreign conditions and their order, one entry a type (B51)",
    [
      Arbitrary.array(Arbitrary.schema(Condition.Condition), { maxLength: 6 }),
      Arbitrary.array(Arbitrary.schema(Condition.Condition), { maxLength: 6 })
    ],
    ([present, said]) =>
      Effect.sync(() => {
        const previous = [...new Map(present.map((condition) => [condition.type, condition])).values()]
        const next = Condition.merge(previous, said, { now: t1, generation: 3 })
        assert.strictEqual(new Set(next.map(({ type }) => type)).size, next.length)
        assert.deepStrictEqual(
          next.slice(0, previous.length).map(({ type }) => type),
          previous.map(({ type }) => type)
        )
        for (const foreign of previous)
          if (!said.some(({ type }) => type === foreign.type)) assert.include(next, foreign)
        assert.deepStrictEqual(
          Condition.merge(next, said, { now: "later", generation: 3 }),
          next,
          "saying the same again changes nothing"
        )
      }),
    { arbitrary: { runs: 1_000 } }
  )

  it("knows what the API server takes as a reason (X12)", () => {
    for (const reason of ["Synced", "A", "ScopeNotFound", "a1_b", "Http:404"])
      assert.isTrue(Condition.isReason(reason), reason)
    for (const reason of ["", "1a", "with space", "ends,", "é", "a".repeat(1_025)])
      assert.isFalse(Condition.isReason(reason), reason)
    assert.strictEqual(Condition.find([], "Ready"), undefined)
  })
})
