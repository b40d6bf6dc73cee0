import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { cost, format } from "../typetest/cost.ts"
import { messages, recorded } from "../typetest/messages.ts"

describe("the types", () => {
  it("say of each wrong use what was recorded: run packages/core/typetest/messages.ts to record it anew", () => {
    assert.strictEqual(messages(), readFileSync(recorded, "utf8"))
  }, 120_000)

  it("cost so little that another controller is not felt", () => {
    const measured = cost()
    console.log(format(measured))
    // Ten milliseconds where nothing else runs; the count of instantiations does not depend on the machine.
    assert.isBelow(measured.instantiations, 1_000)
    assert.isBelow(measured.millis, 100)
  }, 300_000)
})
