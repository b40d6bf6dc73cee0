import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { available } from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import { normalised, play, withTable } from "./badInputs/table.ts"

const document = new URL("../../../docs/bad-inputs.md", import.meta.url)

/** So many lines say one thing at most; a cause that two kinds have on their own takes one each. */
const linesMax = 3

describe.skipIf(!available())("bad inputs on a real control plane", () => {
  it.live(
    "each is told in a few lines that say what, where and what to do, without traces or secrets, as docs/bad-inputs.md shows (B25, B28, X14)",
    () =>
      Effect.gen(function* () {
        const rows = yield* play()
        for (const { input, sees, outcome } of rows) {
          assert.notMatch(outcome, /^FAILED/, input)
          assert.isAtMost(sees.length, linesMax, `${input}: ${sees.join("\n")}`)
          for (const line of sees) {
            assert.notMatch(line, /^\s*at /m, input)
            assert.notInclude(line, "s3cret", input)
            assert.notMatch(line, /undefined|\[object|NotReady: $/, input)
          }
        }
        const text = readFileSync(document, "utf8")
        assert.strictEqual(text, withTable(text, rows), "npm run bad-inputs -- --write")
      }),
    600_000
  )
})

it("what differs from run to run is not part of a row", () => {
  const line =
    "WARN list gadgets.case-77-3.example.com at https://127.0.0.1:40123: operator-of-bad-input-x7 in bad-input-x7, /var/fixpoint-bad-inputs-Ab3/kubeconfig"
  assert.strictEqual(
    normalised(line),
    "WARN list gadgets.example.com at https://127.0.0.1:PORT: operator in team, DIR/kubeconfig"
  )
})
