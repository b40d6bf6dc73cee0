/** Runs kubectl as a user would: in a folder, with a home, a temporary folder and a kubeconfig of its own. */
import * as child from "node:child_process"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { type Command, type Watching, words } from "./kubectlScene.ts"

/** Where commands run. */
export interface Seat {
  readonly kubectl: string
  /** The folder of the scene's files. */
  readonly folder: string
  /** The home, with kubectl's caches. */
  readonly home: string
  readonly kubeconfig: string
}

/** What a command came to. */
export interface Outcome {
  /** `undefined` if it was ended: a watch that had its lines, or a command that took longer than a minute. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly milliseconds: number
}

const patience = 60_000

/** A command that is running. */
interface Running {
  readonly outcome: Effect.Effect<Outcome>
  readonly end: Effect.Effect<void>
  /** How many lines it has written, and how long ago the last one was. */
  readonly lines: () => number
  readonly isRunning: () => boolean
}

const environment = (seat: Seat, editor: string | undefined): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: seat.home,
  TMPDIR: seat.folder,
  KUBECONFIG: seat.kubeconfig,
  TZ: "UTC",
  LANG: "C",
  // One thread and no garbage collection: a third less CPU for each of these short lives.
  GOMAXPROCS: "1",
  GOGC: "off",
  // With a suffix for the copy both kinds of sed take it.
  ...(editor !== undefined && { KUBE_EDITOR: `sed -i.bak -e '${editor}'` })
})

const begin = (seat: Seat, command: Command): Running => {
  const begun = performance.now()
  const running = child.spawn(seat.kubectl, words(command.line), {
    cwd: seat.folder,
    env: environment(seat, command.editor),
    stdio: "pipe"
  })
  let [stdout, stderr] = ["", ""]
  running.stdout.setEncoding("utf8").on("data", (part: string) => void (stdout += part))
  running.stderr.setEncoding("utf8").on("data", (part: string) => void (stderr += part))
  // A command that does not read its input may be gone before it is written.
  running.stdin.on("error", () => {})
  running.stdin.end(command.stdin ?? "")
  const closed = new Promise<Outcome>((resolve) => {
    const done = (code: number | null): void =>
      resolve({ code: code ?? undefined, stdout, stderr, milliseconds: performance.now() - begun })
    running.once("close", done)
    running.once("error", (error) => {
      stderr += String(error)
      done(null)
    })
  })
  return {
    outcome: Effect.promise(() => closed),
    end: Effect.sync(() => void running.kill("SIGKILL")),
    lines: () => stdout.split("\n").length - 1,
    isRunning: () => running.exitCode === null && running.signalCode === null
  }
}

const started = (seat: Seat, command: Command) =>
  Effect.acquireRelease(
    Effect.sync(() => begin(seat, command)),
    ({ end }) => end
  )

/** Runs a command to its end. */
export const run = (seat: Seat, command: Command): Effect.Effect<Outcome> =>
  Effect.scoped(
    Effect.gen(function* () {
      const running = yield* started(seat, command)
      return yield* Effect.timeoutOrElse(running.outcome, {
        duration: patience,
        orElse: () => Effect.andThen(running.end, running.outcome)
      })
    })
  )

/** Until it has the lines, has ended, or about a minute is over: what is missing then shows in the comparison. */
const hasLines = (running: Running, lines: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 3_000 && running.lines() < lines && running.isRunning(); tries++) {
      yield* Effect.sleep("20 millis")
    }
  })

/** Runs a watch and the commands meanwhile; the outcomes in the order of `commandsOf`. */
export const watch = (seat: Seat, watching: Watching): Effect.Effect<ReadonlyArray<Outcome>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const running = yield* started(seat, watching)
      const others: Array<Outcome> = []
      for (const { line, lines } of watching.meanwhile) {
        yield* hasLines(running, lines)
        others.push(yield* run(seat, { line }))
      }
      yield* hasLines(running, watching.lines)
      yield* running.end
      return [yield* running.outcome, ...others]
    })
  )

/** The folders of a seat. */
export const seatAt = (kubectl: string, folder: string, scene: string): Seat => ({
  kubectl,
  folder: path.join(folder, scene),
  home: path.join(folder, "home"),
  kubeconfig: path.join(folder, `${scene}.kubeconfig`)
})
