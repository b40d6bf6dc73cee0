/**
 * `npm run bad-inputs`: gives operators bad inputs on a real control plane, and prints what their users see.
 *
 *     npm run bad-inputs -- [--write] [TEXT]
 *
 * TEXT: only the inputs whose name has it. `--write`: the table goes into docs/bad-inputs.md. Needs KUBEBUILDER_ASSETS.
 */
import { readFileSync, writeFileSync } from "node:fs"
import * as Operator from "@fixpoint/kubernetes/Operator"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { badInputs, markdown, play, withTable } from "../packages/examples/test/badInputs/table.ts"

const file = new URL("../docs/bad-inputs.md", import.meta.url)
const args = process.argv.slice(2)
const isWritten = args.includes("--write")
const text = args.find((arg) => !arg.startsWith("--"))

Effect.gen(function* () {
  const rows = yield* play(badInputs.filter(({ input }) => text === undefined || input.includes(text)))
  if (isWritten) writeFileSync(file, withTable(readFileSync(file, "utf8"), rows))
  else yield* Console.log(markdown(rows))
  for (const { input, toldMillis } of rows)
    yield* Console.error(`told after ${toldMillis === undefined ? "-" : (toldMillis / 1_000).toFixed(1)} s: ${input}`)
}).pipe(Operator.runMain("bad-inputs"))
