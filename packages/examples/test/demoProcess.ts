/** Runs the demo as a process of its own. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"

const program = fileURLToPath(new URL("../src/access/demo.ts", import.meta.url))

interface Ended {
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

/** Killed if it takes longer than two minutes. `signalAfter`: what is sent once it has written that text. */
export const demo = (
  args: ReadonlyArray<string>,
  signalAfter?: { readonly text: string; readonly signal: NodeJS.Signals }
) =>
  Effect.callback<Ended>((resume) => {
    const child = execFile(
      process.execPath,
      ["--conditions=@fixpoint/source", program, ...args],
      { timeout: 120_000, killSignal: "SIGKILL" },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : (error.code ?? error.signal ?? null)
        resume(Effect.succeed({ code, stdout, stderr }))
      }
    )
    let isSent = false
    child.stdout?.on("data", (part: string) => {
      if (isSent || signalAfter === undefined || !part.includes(signalAfter.text)) return
      isSent = true
      child.kill(signalAfter.signal)
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
