/** Programs that run until they are told to end: SIGINT and SIGTERM end them in order, a user's mistake is one line. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** What the user got wrong, in one line that says what to do. */
export class Mistake extends Data.TaggedError("Mistake")<{ readonly message: string }> {}

const oneLine = (cause: Cause.Cause<{ readonly message: string }>): string => {
  const error = Cause.squash(cause)
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, " ")
}

/** Runs the program and ends the process: 0 after a signal or an end of its own, 2 after a failure, which is told on stderr. */
export const run = (name: string, program: Effect.Effect<void, { readonly message: string }>): void => {
  const fiber = Effect.runFork(program)
  const end = (): void => fiber.interruptUnsafe()
  process.once("SIGINT", end).once("SIGTERM", end)
  fiber.addObserver((exit) => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) process.exit(0)
    process.stderr.write(`${name}: ${oneLine(exit.cause)}\n`, () => process.exit(2))
  })
}
