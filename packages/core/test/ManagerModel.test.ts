import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { play, scripts } from "./managerModel.ts"

const { calm, rough } = scripts(16)
const runs = Number(process.env.RUNS ?? 500)

describe("a whole operator, whatever users and strangers do to its objects", () => {
  it.effect.prop(
    "ends as the users' objects say and rests there",
    [calm],
    ([[script, climate]]) =>
      Effect.gen(function* () {
        const { said } = yield* play(script, climate)
        assert.deepStrictEqual(said, [])
      }),
    { arbitrary: { runs }, timeout: 600_000 }
  )
  it.effect.prop(
    "ends so through faults too",
    [rough],
    ([[script, climate]]) =>
      Effect.gen(function* () {
        const { said } = yield* play(script, climate)
        assert.deepStrictEqual(said, [])
      }),
    { arbitrary: { runs }, timeout: 600_000 }
  )
})
