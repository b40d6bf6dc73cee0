/** Requests as a test sees them: numbered, logged, and at the mercy of its hook. */
import type { ApiError, Operation } from "@fixpoint/core/ApiError"
import * as Effect from "effect/Effect"

/** A request. `number` counts from 1 in the order in which requests begin. */
export interface Call {
  readonly number: number
  readonly operation: Operation
  /** Whether the verb writes, whatever comes of it. */
  readonly mutating: boolean
}

export interface LogEntry extends Call {
  /** HTTP code of the answer. */
  readonly code: number
  /** Whether anything was stored or removed by it. */
  readonly changed: boolean
  /** Milliseconds since 1970. */
  readonly at: number
}

/**
 * What happens around requests. `before` runs before the server knows of the request: failing with an ApiError is the answer then, and nothing is done. `after` runs
 * when it is done, and failing there is an answer that was lost. Either may sleep, which delays, or interrupt, which is a crash of the caller.
 */
export interface Hook {
  readonly before?: (call: Call) => Effect.Effect<void, ApiError>
  readonly after?: (call: Call, code: number) => Effect.Effect<void, ApiError>
}

export interface Calls {
  readonly begin: (operation: Operation, mutating: boolean) => Call
  readonly before: (call: Call) => Effect.Effect<void, ApiError>
  readonly after: (call: Call, code: number) => Effect.Effect<void, ApiError>
  /** Whether any hook is there. */
  readonly hooked: () => boolean
  readonly done: (call: Call, code: number, changed: boolean, at: number) => void
  readonly log: () => ReadonlyArray<LogEntry>
  readonly clear: () => void
  /** Hooks run in the order in which they were added; the answer takes one away again. */
  readonly add: (hook: Hook) => () => void
}

/** The log keeps this many entries; older ones are forgotten. */
export const logCapacity = 100_000

export const make = (): Calls => {
  let count = 0
  let log: Array<LogEntry> = []
  let hooks: ReadonlyArray<Hook> = []
  return {
    begin: (operation, mutating) => ({ number: ++count, operation, mutating }),
    before: (call) =>
      hooks.length === 0
        ? Effect.void
        : Effect.forEach(hooks, (hook) => hook.before?.(call) ?? Effect.void, { discard: true }),
    after: (call, code) =>
      hooks.length === 0
        ? Effect.void
        : Effect.forEach(hooks, (hook) => hook.after?.(call, code) ?? Effect.void, { discard: true }),
    hooked: () => hooks.length > 0,
    done: (call, code, changed, at) => {
      log.push({ ...call, code, changed, at })
      // Halved now and then, so that keeping it short costs nothing per request.
      if (log.length >= 2 * logCapacity) log = log.slice(-logCapacity)
    },
    log: () => log.slice(-logCapacity),
    clear: () => {
      log = []
    },
    add: (hook) => {
      hooks = [...hooks, hook]
      return () => {
        hooks = hooks.filter((other) => other !== hook)
      }
    }
  }
}
