/**
 * Hostile clients against the listener in a process of its own. How long others wait meanwhile is measured by `npm run hostile`; here the machine may be
 * busy with other tests, so that only hangs and leaks are told.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { canonicalQuantity } from "../src/internal/quantity.ts"
import { attacks } from "./hostile/attacks.ts"
import { setUp, type Stage } from "./hostile/stage.ts"

/** What each attack is cut down to, where that is not a twentieth. */
const scales: Readonly<Record<string, number>> = {
  "patterns that explode, and texts for them": 0.4,
  "watches that nobody reads, and changes for them": 0.2,
  "10,000 watches and 1,000 changes, all told": 0.03
}

/** Another client's GET, in milliseconds: what a server that hangs does not keep. */
const longestMillis = 15_000

describe("a listener under attack", () => {
  let stage: Stage
  let heapMiB = 0
  beforeAll(async () => {
    stage = await setUp()
  })
  afterAll(() => stage.close())

  it.each(attacks.map((attack) => [attack.name, attack] as const))(
    "by %s neither ends nor hangs, answers as it must, and keeps nothing of it",
    async (name, attack) => {
      const measured = await stage.run(attack, scales[name] ?? 0.05)
      assert.deepStrictEqual(measured.faults, [])
      assert.deepStrictEqual(measured.failures, [])
      assert.isBelow(measured.longest, longestMillis)
      assert.strictEqual(measured.held.connections, 1)
      if (heapMiB === 0) heapMiB = measured.held.heapMiB
      assert.isBelow(measured.held.heapMiB, heapMiB + 64)
      assert.isBelow(measured.peakMiB, 1_024)
    },
    120_000
  )
})

describe("a quantity", () => {
  it("of three million digits is read at once, as the largest or by its first digits", () => {
    const digits = "9".repeat(3_000_000)
    const started = performance.now()
    assert.strictEqual(canonicalQuantity(digits), canonicalQuantity("1e60"))
    assert.strictEqual(canonicalQuantity(`${"0".repeat(1_000)}1`), "1")
    assert.strictEqual(canonicalQuantity(`0.${"0".repeat(1_000)}1`), "1n")
    assert.strictEqual(canonicalQuantity(`1.${"0".repeat(3_000_000)}`), "1")
    assert.strictEqual(canonicalQuantity(`1e${digits}`), canonicalQuantity("1e60"))
    assert.isBelow(performance.now() - started, 3_000)
  })
})
