/** Runs the demo as a process of its own. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { compiled } from "./compiled.ts"

const program = fileURLToPath(new URL("../src/access/demo.ts", import.meta.url))

interface Ended {
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

export interface SignalAfter {
  readonly text: string
  readonly signal: NodeJS.Signals
  /** Done before it is sent, with all that was written. */
  readonly before?: (stdout: string) => Promise<void>
}

/** Killed if it takes longer than two minutes. `signalAfter`: what is sent once it has written that text. */
export const demo = (args: ReadonlyArray<string>, signalAfter?: SignalAfter) =>
  Effect.callback<Ended>((resume) => {
    const child = execFile(
      process.execPath,
      ["--conditions=@fixpoint/source", program, ...args],
      { timeout: 120_000, killSignal: "SIGKILL", env: { ...process.env, NODE_COMPILE_CACHE: compiled } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : (error.code ?? error.signal ?? null)
        resume(Effect.succeed({ code, stdout, stderr }))
      }
    )
    let isSent = false
    let written = ""
    child.stdout?.on("data", (part: string) => {
      written += part
      if (isSent || signalAfter === undefined || !written.includes(signalAfter.text)) return
      isSent = true
      void Promise.resolve(signalAfter.before?.(written)).finally(() => child.kill(signalAfter.signal))
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
