/** How the programs of the example end: what went wrong in one line, and an exit code. */
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

/** The program was called in a way that it does not understand, or with files that it cannot read: exit code 2. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 2
}

/** Tells on stderr, in one line that begins with the program's name, why it ends; a defect with its trace, since it is a fault of the program itself. */
export const orExplain =
  (name: string) =>
  <A, E extends { readonly message: string }, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tapCause(program, (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      const failure = Cause.findErrorOption(cause)
      return failure._tag === "Some"
        ? Console.error(`${name}: ${failure.value.message.replace(/\s*\n\s*/g, " ")}`)
        : Console.error(`${name}: internal error\n${Cause.pretty(cause)}`)
    })

/** To be asked to stop is no failure: an interruption, by SIGTERM as at the end of a Pod, gives exit code 0. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)
