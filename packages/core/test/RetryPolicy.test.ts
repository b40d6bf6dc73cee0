import { assert, describe, it } from "@effect/vitest"
import { decide } from "../src/RetryPolicy.ts"

describe("RetryPolicy", () => {
  it("without limits the tries never end (E4)", () => {
    assert.strictEqual(decide({}, { attempts: 1e9, runtimeMillis: 1e15, delayMillis: 1e9 }), "go on")
  })

  it.each([
    [0, "go on"],
    [2, "go on"],
    [3, "retries"],
    [4, "retries"]
  ])("before a call that %d failed ones precede, with three in all: %s (E5)", (attempts, decision) => {
    assert.strictEqual(decide({ retries: 3 }, { attempts, runtimeMillis: 0 }), decision)
  })

  it.each([
    [0, "go on"],
    [1, "go on"],
    [2, "retries"]
  ])(
    "after the failure of a call that %d precede, with three in all: the third is the last (E4, E5): %s",
    (attempts, decision) => {
      assert.strictEqual(decide({ retries: 3 }, { attempts, runtimeMillis: 0, delayMillis: 1 }), decision)
    }
  )

  it.each([
    [59_999, undefined, "go on"],
    [60_000, undefined, "timeout"],
    [30_000, 29_999, "go on"],
    [30_000, 30_000, "timeout"]
  ])(
    "after %d ms, with a wait of %s ms ahead and a minute in all: %s; no last wait ends in nothing (E5)",
    (runtimeMillis, wait, decision) => {
      const facts = { attempts: 0, runtimeMillis, ...(wait !== undefined && { delayMillis: wait }) }
      assert.strictEqual(decide({ timeout: "1 minute" }, facts), decision)
    }
  )

  it("the timeout is named where both limits apply (E5)", () => {
    assert.strictEqual(decide({ retries: 1, timeout: 1 }, { attempts: 1, runtimeMillis: 1 }), "timeout")
  })
})
