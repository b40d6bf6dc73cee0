import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Pairs from "../src/Pairs.ts"

/** Numbers in [0, 1) that are the same each time. */
const drawn = (): (() => number) => {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

const Millis = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))
const Rounds = Schema.NonEmptyArray(Schema.NonEmptyArray(Millis))

describe("sides that were measured in turn", () => {
  it.prop(
    "a side that takes k times as long in each pass is told as k times, whatever the passes are",
    [Rounds, Schema.Literals([1, 2, 4])],
    ([rounds, k]) => {
      const pairs = rounds.map((one) => ({
        baseline: Float64Array.from(one),
        other: Float64Array.from(one, (value) => value * k)
      }))
      for (const share of [0.5, 0.99]) {
        const { baseline, from, other, ratio, to } = Pairs.compare(pairs, share, drawn(), 20)
        assert.strictEqual(ratio, k)
        assert.strictEqual(other, baseline * k)
        // Both sides of a round are drawn together, so no draw can tell anything else.
        assert.deepStrictEqual([from, to], [k, k])
      }
    },
    { arbitrary: { runs: 1000 } }
  )

  it("one round that the machine disturbed does not tell equal sides apart", () => {
    const quiet = Float64Array.from({ length: 100 }, (_, i) => 1 + i / 1_000)
    const disturbed = quiet.map((value) => value * 50)
    const rounds = Array.from({ length: 20 }, (_, i) => ({ baseline: quiet, other: i === 7 ? disturbed : quiet }))
    const { from, ratio, to } = Pairs.compare(rounds, 0.99, drawn())
    assert.deepStrictEqual([from, ratio, to], [1, 1, 1])
  })

  it("equal sides that scatter are told as equal within the doubt, but for some of twenty", () => {
    const random = drawn()
    const one = (): Float64Array => {
      const factor = 0.7 + random()
      return Float64Array.from({ length: 20 }, () => factor * (1 + random()))
    }
    const isHeld = Array.from({ length: 200 }, () => {
      const rounds = Array.from({ length: 30 }, () => ({ baseline: one(), other: one() }))
      const { from, to } = Pairs.compare(rounds, 0.5, random, 200)
      return from <= 1 && 1 <= to
    })
    assert.isAtLeast(isHeld.filter(Boolean).length, 180)
  })

  it("nothing measured has no quantile", () => {
    assert.isNaN(Pairs.quantile(new Float64Array(0), 0.99))
    const empty = { baseline: new Float64Array(0), other: Float64Array.of(1) }
    for (const rounds of [[], [empty]]) assert.isNaN(Pairs.compare(rounds, 0.99, drawn()).from)
  })

  it("the quantile of a hundred is the next to the last but one", () => {
    assert.strictEqual(
      Pairs.quantile(
        Float64Array.from({ length: 100 }, (_, i) => 100 - i),
        0.99
      ),
      100
    )
    assert.strictEqual(Pairs.quantile(Float64Array.from([3, 1, 2]), 0.5), 2)
  })
})
