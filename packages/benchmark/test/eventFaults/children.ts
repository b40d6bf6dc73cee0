/** The processes that are measured, as values with a scope. */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Answer, Order, Site } from "./orders.ts"

/** A process did not do what it was ordered. */
export class ChildError extends Data.TaggedError("ChildError")<{ readonly message: string }> {}

const answerOf = (child: ChildProcess, what: string): Effect.Effect<unknown, ChildError> =>
  Effect.callback((resume) => {
    const leave = (): void => {
      child.off("message", answered)
      child.off("exit", ended)
    }
    const answered = (answer: unknown): void => {
      leave()
      resume(Effect.succeed(answer))
    }
    const ended = (code: number | null, signal: string | null): void => {
      leave()
      resume(Effect.fail(new ChildError({ message: `${what}: the process has ended with ${code ?? signal}` })))
    }
    child.once("message", answered)
    child.once("exit", ended)
    return Effect.sync(leave)
  })

/** Starts a program of this folder; it is killed with the scope. `first` is the first that it says. */
export const start = (
  file: string,
  env: Readonly<Record<string, string>> = {}
): Effect.Effect<{ readonly child: ChildProcess; readonly first: unknown }, ChildError, Scope.Scope> =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        fork(fileURLToPath(new URL(file, import.meta.url)), [], {
          env: { PATH: process.env.PATH, NO_COLOR: "1", ...env },
          execArgv: ["--expose-gc", "--conditions=@fixpoint/source"],
          // Typed arrays stay what they are.
          serialization: "advanced",
          stdio: ["ignore", "inherit", "inherit", "ipc"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const first = yield* Effect.timeoutOrElse(answerOf(child, file), {
      duration: "3 minutes",
      orElse: () => Effect.fail(new ChildError({ message: `${file} is not ready after 3 minutes` }))
    })
    return { child, first }
  })

export interface Operator {
  /** One order at a time. */
  readonly ask: <A extends Answer["_tag"]>(
    order: Order,
    answer: A
  ) => Effect.Effect<Extract<Answer, { readonly _tag: A }>, ChildError>
}

/** An operator that has reconciled each of its objects once. */
export const operator = (site: Site): Effect.Effect<Operator, ChildError, Scope.Scope> =>
  Effect.map(start("operatorChild.ts", { OPERATOR: JSON.stringify(site) }), ({ child }) => ({
    ask: (order, tag) =>
      Effect.gen(function* () {
        const answer = answerOf(child, order._tag)
        child.send(order)
        const given = (yield* Effect.timeoutOrElse(answer, {
          duration: "120 seconds",
          orElse: () => Effect.fail(new ChildError({ message: `${order._tag}: no answer after 120 s` }))
        })) as Answer
        if (given._tag !== tag)
          return yield* new ChildError({ message: `${order._tag}: answered ${given._tag}, not ${tag}` })
        return given as Extract<Answer, { readonly _tag: typeof tag }>
      })
  }))
