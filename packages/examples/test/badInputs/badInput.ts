/** One bad input, and how it is played. */
import type { ApiClient } from "@fixpoint/core/ApiClient"
import type { ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { newsOf, type Program, type programs, start } from "./programs.ts"

export interface Played {
  /** What the user sees, raw: lines of the program, and conditions of objects. */
  readonly sees: ReadonlyArray<string>
  /** What happens then, as seen. */
  readonly outcome: string
  /** From the start of the program to its first word of it. */
  readonly toldMillis: number | undefined
}

const timeless = (line: string): string => line.replace(/^\[[\d:.]+\] (\w+) \(#\d+\): ?/, "$1 ")

export interface BadInput {
  readonly input: string
  readonly play: Effect.Effect<Played, unknown, ApiClient | ControlPlane | Scope.Scope>
}

export const badInput = <E>(
  input: string,
  play: Effect.Effect<Played, E, ApiClient | ControlPlane | Scope.Scope>
): BadInput => ({ input, play })

/** The program ends by itself. */
export const ends = (program: keyof typeof programs, env: Readonly<Record<string, string | undefined>>) =>
  Effect.gen(function* () {
    const running = yield* start(program, env)
    const { code } = yield* running.ended
    return played(running, [], `exit code ${code}`)
  })

/** What the program has told by now, in an order that does not depend on which answer came first. */
export const played = (running: Program, more: ReadonlyArray<string>, outcome: string): Played => ({
  sees: [...newsOf(running.output()).map(timeless).toSorted(), ...more],
  outcome,
  toldMillis: running.toldMillis()
})

/** Asked to stop, it does. */
export const stops = (running: Program) =>
  Effect.map(running.stop, ({ code }) => (code === 0 ? "" : `; exit code ${code} on SIGTERM`))
