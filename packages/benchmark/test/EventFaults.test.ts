import { execFile } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Judge from "./eventFaults/judge.ts"
import type { ShutDown } from "./eventFaults/shutDown.ts"

const program = join(import.meta.dirname, "eventFaults/program.ts")

const run = (...args: ReadonlyArray<string>): Effect.Effect<{ readonly code: number; readonly output: string }> =>
  Effect.callback((resume) => {
    const options = { timeout: 200_000, killSignal: "SIGKILL" } as const
    const child = execFile(
      process.execPath,
      ["--conditions=@fixpoint/source", program, "--tiny", ...args],
      options,
      (_, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode ?? -1, output: `${stderr}${stdout}` }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const same = { baseline: 1, other: 1, ratio: 1, from: 0.9, to: 1.1 }
const passes = { count: [100, 100], p50: same, p99: same } as const

const kept: Judge.Figures = {
  name: "broken",
  title: "500",
  isFault: true,
  passes: { steady: passes, changing: passes },
  cpu: [100, 110],
  starved: [0, 0],
  mostWaiting: 1_000,
  dropped: 7,
  rssMiB: 20,
  peakRssMiB: 50,
  heapMiB: 2,
  lineCount: 1,
  lines: ["Warn no"],
  resumed: { seconds: 3, drainedSeconds: 4, told: 400, objects: 400, lines: [] }
}

const slower = { ...passes, p99: { baseline: 1, other: 1.2, ratio: 1.2, from: 1.06, to: 1.4 } }
const unmeasured = { ...passes, p99: { ...same, from: Number.NaN } }
const perhaps = { ...passes, p99: { baseline: 1, other: 1.2, ratio: 1.2, from: 1.01, to: 1.4 } }

const faults: ReadonlyArray<readonly [string, Partial<Judge.Figures>, RegExp]> = [
  ["passes that are slower", { passes: { steady: passes, changing: slower } }, /p99 of a changing pass: \+20.0 %/],
  ["passes that nobody measured", { passes: { steady: unmeasured, changing: passes } }, /p99 of a steady pass/],
  ["one event too many that waits", { mostWaiting: 1_001 }, /1001 events waited, more than 1000/],
  ["memory that is held", { rssMiB: 50.1 }, /memory: 50.1 MiB more, not 50/],
  ["a second log line", { lineCount: 2 }, /2 log lines, more than 1/],
  ["no posting afterwards", { resumed: { ...kept.resumed!, seconds: undefined } }, /posting did not resume/],
  ["events that stay", { resumed: { ...kept.resumed!, drainedSeconds: undefined } }, /what waited was not posted/],
  ["objects that are not told of", { resumed: { ...kept.resumed!, told: 399 } }, /of 400 objects 399 are told of/]
]

describe("the limits of posting under faults", () => {
  it.each(faults)("%s break exactly one", (_, forged, text) => {
    const found = Judge.broken({ ...kept, ...forged }, Judge.promised)
    assert.strictEqual(found.length, 1)
    assert.match(found[0]!, text)
  })

  it("are kept at their very edge, and where chance explains a ratio", () => {
    assert.deepStrictEqual(Judge.broken(kept, Judge.promised), [])
    assert.deepStrictEqual(
      Judge.broken({ ...kept, passes: { steady: perhaps, changing: perhaps } }, Judge.promised),
      []
    )
  })

  it("bind no scenario without a fault", () => {
    assert.deepStrictEqual(
      Judge.broken({ ...kept, isFault: false, lineCount: 9, resumed: undefined }, Judge.promised),
      []
    )
  })

  it("want of an end that it counts what it loses, in one line, within its grace", () => {
    const end = (forged: Partial<ShutDown>): number =>
      Judge.brokenAtEnd(
        { name: "end", title: "end", count: 500, waiting: 500, posted: 480, seconds: 5.1, lines: [], ...forged },
        Judge.promised
      ).length
    const line = { level: "Warn", text: "20 events were not posted in time and are lost" }
    assert.strictEqual(end({ lines: [line] }), 0)
    assert.strictEqual(end({ posted: 500 }), 0)
    assert.strictEqual(end({}), 1)
    assert.strictEqual(end({ lines: [line, line] }), 1)
    assert.strictEqual(end({ posted: 490, lines: [line] }), 1)
    assert.strictEqual(end({ posted: 500, lines: [line] }), 1)
    assert.strictEqual(end({ lines: [line], seconds: 6.1 }), 1)
  })
})

describe("the program that measures posting under faults", () => {
  it.live(
    "ends with exit code 1 and names what is broken when a limit is",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* run("--only", "broken", "--ratio", "0")
        assert.strictEqual(code, 1, output)
        const [, found = ""] = output.split("broken:\n")
        assert.match(found, /^500: p99 of a steady pass: .*\n500: p99 of a changing pass: .*\n$/, output)
        assert.match(output, /\| 500 \| steady \| \d+ \|/)
        assert.match(output, /\| 10 of 10 \|$/m)
      }),
    240_000
  )

  it.live(
    "ends with exit code 0 when all is kept",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* run("--only", "twins")
        assert.strictEqual(code, 0, output)
        assert.match(output, /no limit is broken\n$/)
      }),
    240_000
  )
})
