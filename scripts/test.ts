/**
 * `npm test`: types, lint, format, every test, the spec map; then what was skipped and why, the time, and the counts.
 *
 * Every step runs even when an earlier one failed, so that one run shows all there is to mend. A failed step counts as
 * one failed test, and the exit code follows the counts.
 */
import { spawnSync } from "node:child_process"
import { existsSync, rmSync } from "node:fs"
import { count, countsLine, readResults, resultsPath, skipLines } from "./results.ts"

/** `npm test` has to stay under this on two cores, and a cold `tsc -b` under that. */
const budgetSeconds = { whole: 360, coldTypes: 15 }

const seconds = (since: number): number => (performance.now() - since) / 1000

interface Step {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
}

/** Runs a program of node_modules/.bin or of this Node and shows its output as it comes. */
const run = (name: string, program: string, args: ReadonlyArray<string>): Step => {
  console.log(`\n> ${name}`)
  const begun = performance.now()
  const { status, error, signal } = spawnSync(program, args, { stdio: "inherit" })
  if (error !== undefined) console.error(`${name} failed to start: ${error.message}`)
  if (signal !== null) console.error(`${name} was ended by ${signal}`)
  return { name, ok: status === 0, seconds: seconds(begun) }
}

const begun = performance.now()
process.env["PATH"] = `node_modules/.bin:${process.env["PATH"] ?? ""}`
rmSync(resultsPath, { force: true })

const cold = !existsSync(".build/core.tsbuildinfo")
const types = run(`tsc -b${cold ? " (cold)" : ""}`, "tsc", ["-b"])
const lint = run("oxlint", "oxlint", ["--deny-warnings"])
const format = run("oxfmt --check", "oxfmt", ["--check", "."])
const reporters = ["--reporter=default", "--reporter=./scripts/resultsReporter.ts"]
const tests = run("vitest", "vitest", ["run", "--config", "vitest.workspace.ts", ...reporters])
const results = readResults(resultsPath)
const spec = run("spec map", process.execPath, ["scripts/spec.ts"])

const steps = [types, lint, format, tests, spec]
const counted = (results?.tests.length ?? 0) > 0
// A red vitest whose failures are in its results counts by those; one that left none counts as a failed step.
const explained = results !== undefined && count(results, 0).failed > 0
const failedSteps = steps.filter((step) => !step.ok && !(step === tests && explained))
const counts = count(results, failedSteps.length + (counted || failedSteps.includes(tests) ? 0 : 1))

console.log("")
for (const { where, message } of results?.failures ?? []) {
  console.log(`failed outside of a test: ${where}: ${message.split("\n", 1)[0]}`)
}
for (const step of failedSteps) console.log(`failed: ${step.name}`)
if (!counted) console.log("failed: no test ran")
for (const line of results === undefined ? [] : skipLines(results)) console.log(line)
console.log(steps.map((step) => `${step.name} ${step.seconds.toFixed(1)} s`).join(", "))
if (cold && types.seconds > budgetSeconds.coldTypes) {
  console.log(`a cold tsc -b may take ${budgetSeconds.coldTypes} s, this one took ${types.seconds.toFixed(1)} s`)
}
const whole = seconds(begun)
console.log(`took ${whole.toFixed(0)} s${whole > budgetSeconds.whole ? `, over its ${budgetSeconds.whole} s` : ""}`)
console.log(countsLine(counts))
process.exitCode = counts.failed > 0 ? 1 : 0
