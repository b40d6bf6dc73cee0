import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const program = fileURLToPath(new URL("endingProgram.ts", import.meta.url))

/** Runs it; once it waits it is sent the signals, each after so many milliseconds. */
const ended = (
  args: ReadonlyArray<string>,
  ...signals: ReadonlyArray<readonly [signal: NodeJS.Signals, afterMillis: number]>
) =>
  Effect.callback<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resume) => {
    const child = spawn(process.execPath, ["--conditions=@fixpoint/source", program, ...args], { timeout: 30_000 })
    const said = { stdout: "", stderr: "" }
    child.stderr.on("data", (part) => void (said.stderr += String(part)))
    child.stdout.on("data", (part) => {
      said.stdout += String(part)
      if (String(part).includes("waiting"))
        for (const [signal, after] of signals) setTimeout(() => child.kill(signal), after)
    })
    child.once("close", (code) => resume(Effect.succeed({ code, ...said })))
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

describe("the end of a program", () => {
  it.live("in order gives 0 and says nothing, and what ran owned its fields under the program's name (C10)", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ended(["well"]), { code: 0, stdout: "role-operator\n", stderr: "" })
    })
  )

  it.live("by a failure that was foreseen gives 1 and one line, and by a wrong call 2", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ended(["failure"]), {
        code: 1,
        stdout: "",
        stderr: "role-operator: the file a.yaml is not there\n"
      })
      assert.deepStrictEqual(yield* ended(["usage"]), {
        code: 2,
        stdout: "",
        stderr: "role-operator: no such option\n"
      })
    })
  )

  it.live("by a defect gives 1 and the trace, also where it came while a failure was being cleaned up", () =>
    Effect.gen(function* () {
      for (const [how, text] of [
        ["defect", "a fault of the program"],
        ["cleanUp", "not foreseen"]
      ] as const) {
        const { code, stderr } = yield* ended([how])
        assert.strictEqual(code, 1)
        assert.match(stderr, new RegExp(`^role-operator: internal error\\n[^]*${text}[^]*\\n\\s+at `))
      }
    })
  )

  it.live("by SIGTERM or Ctrl-C waits for the clean-up and gives 0, or what the program says", () =>
    Effect.gen(function* () {
      for (const signal of ["SIGTERM", "SIGINT"] as const)
        assert.deepStrictEqual(yield* ended(["waits"], [signal, 0]), {
          code: 0,
          stdout: "waiting\ncleaned up\n",
          stderr: ""
        })
      assert.strictEqual((yield* ended(["waits", "130"], ["SIGINT", 0])).code, 130)
    })
  )

  it.live("by a second signal does not wait for a clean-up that hangs; the echo of the first is no second one", () =>
    Effect.gen(function* () {
      const { code } = yield* ended(["hangs"], ["SIGINT", 0], ["SIGINT", 1_500])
      assert.strictEqual(code, 130)
      const { code: echoed } = yield* ended(["waits"], ["SIGINT", 0], ["SIGTERM", 20])
      assert.strictEqual(echoed, 0)
    })
  )
})
