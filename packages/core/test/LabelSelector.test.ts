import { assert, describe, it } from "@effect/vitest"
import * as LabelSelector from "../src/LabelSelector.ts"

describe("LabelSelector", () => {
  it("chooses as the server does: an absent label is not in any set (F47)", () => {
    const labels = { app: "x", tier: "front" }
    const is = (selector: LabelSelector.LabelSelector, of: Record<string, string> | undefined = labels) =>
      LabelSelector.matches(selector, of)
    assert.isTrue(is({}))
    assert.isTrue(is({}, undefined))
    assert.isTrue(is({ matchLabels: { app: "x" } }))
    assert.isFalse(is({ matchLabels: { app: "y" } }))
    assert.isTrue(is({ matchExpressions: [{ key: "app", operator: "In", values: ["x", "y"] }] }))
    assert.isTrue(is({ matchExpressions: [{ key: "gone", operator: "NotIn", values: ["x"] }] }))
    assert.isFalse(is({ matchExpressions: [{ key: "app", operator: "NotIn", values: ["x"] }] }))
    assert.isTrue(
      is({
        matchExpressions: [
          { key: "app", operator: "Exists" },
          { key: "gone", operator: "DoesNotExist" }
        ]
      })
    )
    assert.isFalse(is({ matchLabels: { toString: "x" } }), "inherited names are no labels")
  })

  it("is written as URLs carry it", () => {
    assert.strictEqual(
      LabelSelector.format({
        matchLabels: { app: "x" },
        matchExpressions: [
          { key: "tier", operator: "In", values: ["a", "b"] },
          { key: "env", operator: "NotIn", values: ["c"] },
          { key: "new", operator: "Exists" },
          { key: "old", operator: "DoesNotExist" }
        ]
      }),
      "app=x,tier in (a,b),env notin (c),new,!old"
    )
  })
})
