/**
 * What a failed exit says (D3). Effect's Cause turns a typed failure into a defect when a finalizer, a release or a sibling's clean-up dies beside it;
 * so failures and defects are searched alike. Total: cycles, throwing getters and proxies end in a defect, never in an exception.
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import type { ApiError } from "../ApiError.ts"
import { isApiError } from "../ApiError.ts"
import * as ReconcileError from "../ReconcileError.ts"
import { atMostMillis } from "./mergeFailures.ts"
import { statedMillis } from "./statedMillis.ts"
import { cutMiddle } from "./text.ts"

/** How an exit that is no success is to be read. */
export type FailedExit =
  | { readonly _tag: "interrupted" }
  | {
      readonly _tag: "failed"
      readonly error: ReconcileError.ReconcileError
      /** What else the cause holds, as texts. */
      readonly others: ReadonlyArray<string>
    }
  | { readonly _tag: "defect"; readonly defect: unknown; readonly others: ReadonlyArray<string> }

/** Texts of other failures that are told beside the one that decides. */
const othersMax = 8

const errorOf = (reason: Cause.Reason<unknown>): unknown =>
  Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined

const attempt = <A>(f: () => A, otherwise: A): A => {
  try {
    return f()
  } catch {
    return otherwise
  }
}

/** As far as they can be reached before something throws. */
const reach = (root: unknown): ReadonlyArray<object> => {
  const found: Array<object> = []
  try {
    for (const value of ReconcileError.chain(root)) found.push(value)
  } catch {
    // A revoked proxy: what was found before it counts.
  }
  return found
}

const isOurs = (value: unknown): value is ReconcileError.ReconcileError =>
  attempt(() => ReconcileError.isReconcileError(value), false)

/** One that was made on purpose stands as it is, whatever its cause (D1); among several, or deeper down, a NotReady outranks the rest (K16, K24). */
const decisive = (errors: ReadonlyArray<unknown>): ReconcileError.ReconcileError | undefined => {
  const explicit = errors.filter(isOurs)
  if (explicit.length > 0) return explicit.find(({ _tag }) => _tag === "NotReady") ?? explicit[0]
  const reached = errors.flatMap(reach)
  const ours = reached.filter(isOurs)
  if (ours.length > 0) return ours.find(({ _tag }) => _tag === "NotReady") ?? ours[0]
  const api = reached.find((value) => attempt(() => isApiError(value), false))
  return api === undefined ? undefined : ReconcileError.fromApiError(api as ApiError)
}

/** `isStopping`: only then is an interruption one from outside; otherwise the pass interrupted itself, which is a failure like any other. */
export const failureOf = (cause: Cause.Cause<unknown>, isStopping: boolean): FailedExit => {
  const reasons = cause.reasons.filter((reason) => !Cause.isInterruptReason(reason))
  if (reasons.length === 0 && cause.reasons.length > 0)
    return isStopping
      ? { _tag: "interrupted" }
      : { _tag: "defect", defect: "the pass was interrupted from within: it joined an interrupted fiber", others: [] }
  const errors = reasons.map(errorOf)
  const error = decisive(errors)
  const told = error === undefined ? errors[0] : errors.find((other) => other === error || reach(other).includes(error))
  const others = errors
    .filter((other) => other !== told)
    .slice(0, othersMax)
    .map((other) => cutMiddle(textOf(other), 1_024))
  return error === undefined
    ? { _tag: "defect", defect: errors.length === 0 ? "an empty cause" : errors[0], others }
    : { _tag: "failed", error, others }
}

const read = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? attempt(() => (value as any)[key], undefined) : undefined

const filled = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** The text of anything: its message, else that of the nearest cause that has one, else its name. Unlike `ReconcileError.textOf` it never throws and cuts nothing. */
export const textOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return attempt(() => String(value), "unknown error")
  for (const inner of reach(value)) {
    const message = filled(read(inner, "message"))
    if (message !== undefined) return message
  }
  const cause = read(value, "cause")
  if (typeof cause === "string" && cause !== "") return cause
  return filled(read(value, "_tag")) ?? filled(read(value, "name")) ?? "unknown error"
}

/** Its own text, else that of its cause, else its reason (K16, K17). */
export const ownText = (error: ReconcileError.ReconcileError): string => {
  const own = filled(read(error, "message"))
  if (own !== undefined) return own
  const cause = read(error, "cause")
  return cause === undefined ? (filled(read(error, "reason")) ?? "no reason given") : textOf(cause)
}

/** Read without trust: an author may have put getters into a subclass. */
export const fieldOf = (error: ReconcileError.ReconcileError, field: "reason" | "operation"): string =>
  filled(read(error, field)) ?? ""

/** A time that it states, in milliseconds; undefined if that is no time. */
export const timeOf = (error: ReconcileError.ReconcileError, field: "delay" | "requeueAfter"): number | undefined =>
  statedMillis(read(error, field) as Duration.Input | undefined)

/** When it comes back at the latest, whatever its own rule says: a merged failure speaks for several. */
export const soonestOf = (error: ReconcileError.ReconcileError): number | undefined =>
  attempt(() => atMostMillis(error), undefined)

/** The API's answer behind a failure, if there is one. */
export const apiErrorOf = (value: unknown): ApiError | undefined =>
  reach(value).find((inner) => attempt(() => isApiError(inner), false)) as ApiError | undefined

/** Causes of a trace that are shown. */
const tracedMax = 16

/** Everything about a cause, for the log of a defect: the stacks of its reasons and of what caused them. */
export const traceOf = (cause: Cause.Cause<unknown>): string => {
  const parts: Array<string> = []
  for (const reason of cause.reasons) {
    if (Cause.isInterruptReason(reason)) continue
    const error = errorOf(reason)
    const inner = typeof error === "object" && error !== null ? reach(error) : []
    if (inner.length === 0) parts.push(textOf(error))
    for (const value of inner) {
      const text = filled(read(value, "stack")) ?? filled(read(value, "message"))
      if (text !== undefined && parts.length < tracedMax) parts.push(cutMiddle(text, 4_096))
    }
  }
  return parts.slice(0, tracedMax).join("\ncaused by ")
}
