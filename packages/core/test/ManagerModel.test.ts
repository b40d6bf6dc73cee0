import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { play, scripts } from "./managerModel.ts"

const { calm, rough } = scripts(16)

// About 60 ms a run.
const runs = { calm: 300, rough: 700 }
/** The same worlds in each run of the suite; `SEED=...` in the environment draws others. */
const seed = process.env["SEED"] ?? 1

describe("a whole operator ends as its users' objects say, and rests there: no write, no pass, nothing kept", () => {
  it.effect.prop(
    "whatever users and strangers do meanwhile (B39, B41, B51, B57, B62, C1)",
    [calm],
    ([[script, climate]]) => Effect.map(play(script, climate), ({ said }) => assert.strictEqual(said.join("\n"), "")),
    { arbitrary: { runs: runs.calm, seed }, timeout: 600_000 }
  )

  it.effect.prop(
    "through failed requests, lost answers, broken and late watches, stops and crashes",
    [rough],
    ([[script, climate]]) => Effect.map(play(script, climate), ({ said }) => assert.strictEqual(said.join("\n"), "")),
    { arbitrary: { runs: runs.rough, seed }, timeout: 600_000 }
  )
})
