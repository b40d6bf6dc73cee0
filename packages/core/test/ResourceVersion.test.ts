import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { compare, later } from "../src/internal/resourceVersion.ts"

const Natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))

describe("the order of resourceVersions", () => {
  it("is that of decimals: 9 is older than 10, also beyond what a number holds (B13, D29)", () => {
    assert.isBelow(compare("9", "10")!, 0)
    assert.isAbove(compare("10", "9")!, 0)
    assert.strictEqual(compare("12", "12"), 0)
    assert.isBelow(compare("90071992547409920001", "90071992547409920002")!, 0)
  })

  it("does not exist where a version is no decimal: only equal or not (D29)", () => {
    assert.strictEqual(compare("v1", "v1"), 0)
    for (const [a, b] of [
      ["v1", "v2"],
      ["1", "v1"],
      ["", "1"],
      ["01", "1"],
      ["-1", "1"],
      ["1.5", "2"]
    ] as const)
      assert.isUndefined(compare(a, b), `${a} ${b}`)
    assert.strictEqual(later("v9", "v1"), "v1")
    assert.strictEqual(later("10", "9"), "10")
    assert.strictEqual(later(undefined, "9"), "9")
  })

  it.prop(
    "agrees with that of numbers where those are exact",
    [Natural, Natural],
    ([a, b]) => Math.sign(compare(String(a), String(b))!) === Math.sign(a - b),
    { arbitrary: { runs: 1000 } }
  )
})
