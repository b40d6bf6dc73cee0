/**
 * `npm run kubectl`: runs the kubectl script against a real control plane and against the in-memory API, and shows command by command whether they
 * answered the same. `--diff` shows both answers where they did not. The exit code is 1 if any differed.
 */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Listener from "@fixpoint/apiserver/Listener"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as KubectlScript from "@fixpoint/testing/KubectlScript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const listener = Layer.provide(ApiServer.layerListener(), ApiServer.layer())

const both = Effect.gen(function* () {
  const { connection } = yield* ControlPlane.make({ controllers: true })
  const { kubectl } = connection
  const ours = yield* Listener.Listener
  return yield* Effect.all(
    [
      KubectlScript.run(connection),
      KubectlScript.run({ kubectl, url: ours.url, token: ours.token, ...(ours.ca !== undefined && { ca: ours.ca }) })
    ],
    { concurrency: 2 }
  )
}).pipe(Effect.provide(listener), Effect.scoped)

const width = 100

const row = (command: string, ...cells: ReadonlyArray<string | number>): string =>
  [command.length > width ? `${command.slice(0, width - 1)}…` : command.padEnd(width), ...cells].join("  ")

const show = (text: string): string => text.replace(/^/gm, "    ")

const main = Effect.gen(function* () {
  const [real, ours] = yield* both
  const comparisons = KubectlScript.compare(real, ours)
  console.log(row("command", "exit", "answer   ", "real ms", "ours ms"))
  for (const { line, answers, differences } of comparisons) {
    const times = answers.map(({ milliseconds }) => String(Math.round(milliseconds)).padStart(7))
    const code = String(answers[0].code ?? "-").padStart(4)
    console.log(row(`kubectl ${line}`, code, differences.length === 0 ? "same     " : "DIFFERENT", ...times))
  }
  const different = comparisons.filter(({ differences }) => differences.length > 0)
  console.log("")
  for (const comparison of different) {
    for (const line of KubectlScript.explain(comparison)) console.log(line)
    if (!process.argv.includes("--diff")) continue
    for (const [name, { stdout, stderr }] of [
      ["real", comparison.answers[0]] as const,
      ["ours", comparison.answers[1]] as const
    ]) {
      console.log(`  ${name}:\n${show(stdout + stderr)}`)
    }
  }
  console.log(
    `not served by the in-memory API and left out of api-resources and api-versions: ${[...KubectlScript.unserved].join(" ")}`
  )
  console.log(`${comparisons.length} commands, ${comparisons.length - different.length} the same`)
  process.exitCode = different.length > 0 ? 1 : 0
})

Effect.runPromise(main).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
