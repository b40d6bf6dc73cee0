/**
 * The edge of an operator's program: the name that it goes by, its exit code, and what is said when it ends.
 *
 * ```ts
 * // main.ts
 * import { Controller, Kind, Manager, Reconciler } from "@fixpoint/core"
 * import { Kubernetes, Operator } from "@fixpoint/kubernetes"
 *
 * const Role = Kind.make({ group: "access.example.com", version: "v1", kind: "Role", scope: "Namespaced" })
 * const roles = Controller.make({ for: Role, reconciler: Reconciler.for(Role) })
 *
 * Manager.run([roles]).pipe(Effect.provide(Kubernetes.layer), Operator.runMain("access-operator"))
 *
 * import * as Effect from "effect/Effect"
 * ```
 */
import { FieldManager } from "@fixpoint/core/FieldManager"
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

export interface Options {
  /** The exit code when it was asked to stop and did; read when it has stopped. Default 0: the end of a Pod is no failure. */
  readonly stopped?: () => number
}

/** A second signal sooner than this is the same one: npm passes on to its child what the terminal sends to both. */
const echoMillis = 1_000

/** Exits at once; running passes are cut off. */
const impatient = 130

const start = Runtime.makeRunMain(({ fiber, teardown }) => {
  let signalledAt: number | undefined
  const onSignal = () => {
    const now = performance.now()
    if (signalledAt !== undefined && now - signalledAt >= echoMillis) process.exit(impatient)
    signalledAt ??= now
    fiber.interruptUnsafe(fiber.id)
  }
  process.on("SIGINT", onSignal)
  process.on("SIGTERM", onSignal)
  fiber.addObserver((exit) =>
    teardown(exit, (code) => {
      // What has ended in order leaves nothing open, and node ends by itself.
      if (signalledAt !== undefined || code !== 0) process.exit(code)
    })
  )
})

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, " ")

/** Failures were foreseen, and one line is enough. A defect is a fault of the program itself: with its trace. */
const explain = (name: string, cause: Cause.Cause<{ readonly message: string }>): Effect.Effect<void> =>
  Effect.forEach(
    Cause.hasDies(cause)
      ? [`internal error\n${Cause.pretty(cause)}`]
      : cause.reasons.filter(Cause.isFailReason).map(({ error }) => oneLine(error.message)),
    (text) => Console.error(`${name}: ${text}`),
    { discard: true }
  )

/**
 * Runs the program as the process: it owns fields in the cluster as `name`, which is never changed (see `FieldManager`).
 *
 * - SIGTERM or SIGINT: the Manager drains, then exit code 0. Another signal a second or more later ends it at once, with 130.
 * - A failure, such as a missing kubeconfig: its message in one line on stderr, then exit code 1, or what the error says by `Runtime.errorExitCode`, as
 *   `UsageError` does.
 * - A defect: its trace on stderr, then exit code 1.
 */
export const runMain =
  (name: string, options: Options = {}) =>
  <A, E extends { readonly message: string }>(program: Effect.Effect<A, E>): void =>
    start(
      program.pipe(
        Effect.tapCause((cause) => explain(name, cause)),
        Effect.provideService(FieldManager, name)
      ),
      {
        disableErrorReporting: true,
        teardown: (exit, onExit) =>
          Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
            ? onExit(options.stopped?.() ?? 0)
            : Runtime.defaultTeardown(exit, onExit)
      }
    )
