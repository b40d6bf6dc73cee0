/**
 * Child processes that live as long as a Scope, and no longer than this process.
 *
 * Guarantees: closing the scope kills them and waits until they are gone; if this process dies without closing it (SIGKILL too), the watchdog kills
 * them within milliseconds and removes their folder.
 * Caveat: a process is unknown to the watchdog for the microseconds between its start and the line that names it.
 */
import * as child from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as url from "node:url"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** A folder of its own for a group of processes, and who clears it away. */
export interface Den {
  readonly folder: string
  readonly watch: (pid: number) => void
  readonly forget: (pid: number) => void
}

/** A running process; `exited` ends with it. `log` is the file of its output. */
export interface Process {
  readonly name: string
  readonly pid: number
  readonly log: string
  readonly isRunning: () => boolean
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
}

// The compiled program has another extension than the source; a URL is not rewritten by the compiler.
const watchdogFile = (): string => {
  const here = url.fileURLToPath(import.meta.url)
  return path.join(path.dirname(here), `watchdog${path.extname(here)}`)
}

/** Makes a temporary folder and its watchdog; the end of the scope removes both. */
export const den: Effect.Effect<Den, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-control-plane-"))
    // A session of its own, so that a signal to the parent's group leaves it alone.
    const watchdog = child.spawn(process.execPath, [watchdogFile(), folder], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      // What the parent was started with (loaders, inspectors) does not concern it.
      env: { PATH: process.env.PATH }
    })
    // A watchdog that was killed by somebody: the release below still does its work.
    watchdog.stdin.on("error", () => {})
    const say = (line: string): void => void watchdog.stdin.write(`${line}\n`)
    return {
      folder,
      watchdog,
      watch: (pid: number) => say(`watch ${pid}`),
      forget: (pid: number) => say(`forget ${pid}`)
    }
  }),
  ({ folder, watchdog }) =>
    Effect.callback<void>((resume) => {
      const done = (): void => {
        fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
        resume(Effect.void)
      }
      if (watchdog.exitCode !== null || watchdog.signalCode !== null) return done()
      watchdog.once("exit", done)
      watchdog.stdin.end()
    })
)

/** Starts a program in the den. Its output goes to `<name>.log` there; the end of the scope kills it. */
export const start = (
  den: Den,
  name: string,
  program: string,
  args: ReadonlyArray<string>
): Effect.Effect<Process, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Process, Error>((resume) => {
      const log = path.join(den.folder, `${name}.log`)
      const output = fs.openSync(log, "a")
      const running = child.spawn(program, args, { cwd: den.folder, stdio: ["ignore", output, output], detached: true })
      if (running.pid !== undefined) den.watch(running.pid)
      fs.closeSync(output)
      const isRunning = (): boolean => running.exitCode === null && running.signalCode === null
      running.once("error", (error) => resume(Effect.fail(error)))
      running.once("exit", () => running.pid !== undefined && den.forget(running.pid))
      running.once("spawn", () =>
        resume(
          Effect.succeed({
            name,
            pid: running.pid!,
            log,
            isRunning,
            kill: (signal) =>
              Effect.callback<void>((ended) => {
                if (!isRunning()) return ended(Effect.void)
                running.once("exit", () => ended(Effect.void))
                running.kill(signal)
              })
          })
        )
      )
    }),
    (running) => running.kill("SIGKILL")
  )

/** The end of a log, in one line, for a message. */
export const lastWords = (log: string): string => {
  if (!fs.existsSync(log)) return "it wrote nothing"
  const lines = fs.readFileSync(log, "utf8").trim().split("\n")
  return lines.slice(-3).join(" | ").slice(-600) || "it wrote nothing"
}
