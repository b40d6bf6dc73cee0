/** Operators as processes, and what they tell. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { compiled } from "../compiled.ts"

export interface Ended {
  readonly code: number | string
}

export interface Program {
  /** All that it wrote, in the order in which it came. */
  readonly output: () => string
  /** Waits until it has written this, a minute at most. */
  readonly says: (text: string | RegExp) => Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
  /** Asks it to stop, as a kubelet does. */
  readonly stop: Effect.Effect<Ended>
  /** From its start to its first word that is no good news; undefined if there is none. */
  readonly toldMillis: () => number | undefined
}

export const programs = {
  access: fileURLToPath(new URL("../../src/access/main.ts", import.meta.url)),
  gadgets: fileURLToPath(new URL("operator.ts", import.meta.url))
}

const patienceMillis = 60_000

/** A line that begins something: of the log, or what the program says on stderr; others go on with the fields of the one before. */
const isNews = (line: string): boolean =>
  /^\[[^\]]*\] (?:WARN|ERROR|FATAL) /.test(line) || (line !== "" && !/^(?:\[|\s|\})/.test(line))

/** Runs for the scope. */
export const start = (program: keyof typeof programs, env: Readonly<Record<string, string | undefined>>) =>
  Effect.acquireRelease(
    Effect.sync((): Program & { readonly kill: () => void } => {
      const startedAt = performance.now()
      const child = spawn(process.execPath, ["--conditions=@fixpoint/source", programs[program]], {
        env: { PATH: process.env.PATH, HEALTH_PORT: "0", NODE_COMPILE_CACHE: compiled, ...env },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let output = ""
      let toldMillis: number | undefined
      const listeners = new Set<() => void>()
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8")
        stream.on("data", (part: string) => {
          output += part
          if (toldMillis === undefined && part.split("\n").some(isNews)) toldMillis = performance.now() - startedAt
          for (const listener of listeners) listener()
        })
      }
      let end: Ended | undefined
      child.once("close", (code, signal) => {
        end = { code: code ?? signal ?? "none" }
        for (const listener of listeners) listener()
      })
      const until = <A>(what: string, look: () => A | undefined): Effect.Effect<A> =>
        Effect.callback<A>((resume) => {
          const listener = () => {
            const found = look()
            if (found !== undefined) resume(Effect.succeed(found))
          }
          listeners.add(listener)
          listener()
          return Effect.sync(() => void listeners.delete(listener))
        }).pipe(
          Effect.timeoutOrElse({
            duration: patienceMillis,
            orElse: () => Effect.die(new Error(`${what} did not come; it wrote:\n${output.slice(-4_000)}`))
          })
        )
      const ended = until("the end of the program", () => end)
      return {
        output: () => output,
        says: (text) =>
          until(`"${String(text)}"`, () =>
            (typeof text === "string" ? output.includes(text) : text.test(output)) ? true : undefined
          ).pipe(Effect.asVoid),
        ended,
        stop: Effect.andThen(
          Effect.sync(() => void child.kill("SIGTERM")),
          ended
        ),
        toldMillis: () => toldMillis,
        kill: () => void child.kill("SIGKILL")
      }
    }),
    ({ kill }) => Effect.sync(kill)
  )

/** The lines that are no good news, without the fields that follow them. */
export const newsOf = (output: string): ReadonlyArray<string> =>
  output
    .split("\n")
    .filter(isNews)
    .map((line) => line.replace(/ \{$/, ""))
