/**
 * The three failures of a reconciler. The value alone decides what happens next (D1); nothing else gives a delay beside an error (B31, X1).
 *
 * - `NotReady`: something that the object refers to is not there yet. No error; the key waits for a wake, or for `requeueAfter`.
 * - `Temporary`: worth another try, after `delay` exactly, or else by the key's backoff; what wakes the key meanwhile brings it sooner.
 * - `Fatal`: only a change is likely to help; rechecked slowly all the same (C1).
 *
 * A time is an Effect `Duration.Input`: `"30 seconds"`; a number alone is milliseconds.
 */
import * as Duration from "effect/Duration"
import type { ApiError } from "./ApiError.ts"
import { isApiError } from "./ApiError.ts"
import { Failure } from "./internal/failure.ts"

interface Fields {
  /** The reason of the condition Ready, and of the event where the `Reporting` says so (by default for NotReady alone); a CamelCase word. */
  readonly reason?: string
  /** For people. Default: the text of the cause. */
  readonly message?: string
  readonly cause?: unknown
  /** What was being done; named by `during`. */
  readonly operation?: string
}

/** Something that the object needs is not there yet. An empty reason becomes `Invalid` (K17). */
export class NotReady extends Failure("NotReady")<
  Fields & { readonly reason: string; readonly requeueAfter?: Duration.Input }
> {}

/** Worth another try: after `delay` exactly if given, else by the key's backoff. */
export class Temporary extends Failure("Temporary")<Fields & { readonly delay?: Duration.Input }> {}

/** Only a change of the object or of what it needs is likely to help; rechecked slowly all the same (C1, D2). */
export class Fatal extends Failure("Fatal")<Fields> {}

export type ReconcileError = NotReady | Temporary | Fatal

export const isReconcileError = (u: unknown): u is ReconcileError =>
  u instanceof NotReady || u instanceof Temporary || u instanceof Fatal

/** Names the operation of a failure that does not name one itself: its text becomes `<operation> failed: <cause>`. */
export const during =
  (operation: string) =>
  <E>(error: E): E =>
    isReconcileError(error) && error.operation === undefined ? (withFields(error, { operation }) as E) : error

/** The same failure with some fields changed; it keeps its class. */
const withFields = <F extends ReconcileError>(error: F, fields: Partial<Fields>): F =>
  Object.assign(Object.create(Object.getPrototypeOf(error)), error, fields)

/** Below this depth of causes nothing is looked at: a chain that long was not made by people. */
const depthMax = 32
/** Values looked at in one failure at most, so that a hostile one cannot stall a pass. */
const valuesMax = 1_000

const read = (value: object, key: string): unknown => {
  try {
    return (value as any)[key]
  } catch {
    return undefined
  }
}

/**
 * Every object reachable from a failure through `cause`, `errors`, a tagged `reason`, `error`, `defect`, `reasons` (a Cause's and an Exit's), nearest
 * first. Safe against cycles, throwing getters and size (D3).
 */
export function* chain(root: unknown): Generator<object> {
  const seen = new Set<unknown>()
  const todo: Array<readonly [unknown, number]> = [[root, 0]]
  for (let i = 0; i < todo.length && seen.size < valuesMax; i++) {
    const [value, depth] = todo[i]!
    if (typeof value !== "object" || value === null || seen.has(value) || depth > depthMax) continue
    seen.add(value)
    yield value
    for (const key of ["cause", "errors", "reason", "error", "defect", "reasons"]) {
      const inner = read(value, key)
      if (Array.isArray(inner)) for (const item of inner.slice(0, valuesMax)) todo.push([item, depth + 1])
      else todo.push([inner, depth + 1])
    }
  }
}

/** The text of any failure: its message, or that of the first cause that has one. At most 1,024 characters are taken of each. */
export const textOf = (error: unknown): string => {
  if (typeof error === "string") return error.slice(0, 1_024)
  for (const value of chain(error)) {
    const message = read(value, "message")
    if (typeof message === "string" && message !== "") return message.slice(0, 1_024)
  }
  if (typeof error !== "object" || error === null) return String(error).slice(0, 1_024)
  const name = read(error, "_tag") ?? read(error, "name")
  return typeof name === "string" && name !== "" ? name : "unknown error"
}

/**
 * The decision hidden in any error (D1, D4, K16, K24): one of ours found in its chain, NotReady before the others; else an `ApiError`; else
 * Temporary. Use it where a step's own errors meet the reconciler: `Reconciler.mapError(ReconcileError.classify)`.
 */
export const classify = (error: unknown): ReconcileError => {
  if (isReconcileError(error)) return error
  let ours: ReconcileError | undefined
  let api: ApiError | undefined
  for (const value of chain(error)) {
    if (value instanceof NotReady) return value
    if (ours === undefined && isReconcileError(value)) ours = value
    if (api === undefined && isApiError(value)) api = value
  }
  return ours ?? (api === undefined ? new Temporary({ message: textOf(error), cause: error }) : fromApiError(api))
}

/** How long a refusal waits that no quick retry will mend, such as 403 and 422 (C4). */
export const slow: Duration.Duration = Duration.minutes(5)

/** Whether a request failed because something moved meanwhile: read again and run again soon (D4). */
export const isConflict = (error: ApiError): boolean =>
  error.reason._tag === "Conflict" || error.reason._tag === "TestFailed"

/**
 * What a pass does with the API's answer (D4): 5xx, 429, no answer: Temporary on the backoff, or after Retry-After; a conflict: Temporary, soon;
 * other 4xx: Temporary, slowly, with the answer's tag as reason.
 */
export const fromApiError = (error: ApiError): Temporary => {
  const { reason } = error
  switch (reason._tag) {
    case "Conflict":
    case "TestFailed":
      return new Temporary({ reason: "Conflict", cause: error })
    case "TooManyRequests":
    case "ServerTimeout":
    case "ServerError":
      return new Temporary({
        cause: error,
        ...(reason.retryAfterMillis !== undefined && { delay: Duration.millis(reason.retryAfterMillis) })
      })
    case "Expired":
    case "Unreachable":
    case "Malformed":
      return new Temporary({ cause: error })
    default:
      return new Temporary({ reason: reason._tag, delay: slow, cause: error })
  }
}
