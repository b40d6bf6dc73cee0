/** What an API server, or the way to it, answers instead of what was asked. */
import { Failure } from "./internal/failure.ts"
import { remedyOf } from "./internal/remedy.ts"
import { isRecord } from "./internal/sameJson.ts"
import { formatRef, type ObjectRef } from "./KubeObject.ts"

/** One cause of a refusal, as a Status lists them. `field` is the path in the object, `reason` a word such as `FieldValueInvalid`. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** The JSON that the server sends with an error (metav1.Status); all fields may be missing. */
export interface Status {
  readonly kind: "Status"
  readonly apiVersion: "v1"
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly status?: "Success" | "Failure"
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly causes?: ReadonlyArray<StatusCause>
    readonly retryAfterSeconds?: number
  }
}

interface Answer {
  /** The HTTP code. */
  readonly code: number
  /** The server's own text; may quote the object that was sent, so it is cut where it is shown. */
  readonly message: string
  readonly causes: ReadonlyArray<StatusCause>
  /** From the header or the Status, whichever is longer. */
  readonly retryAfterMillis?: number
}

/**
 * Why a request failed.
 *
 * - `NotFound` 404: no such object, kind or namespace.
 * - `AlreadyExists` 409 on create; `Conflict` 409: another version or uid than was said; `ApplyConflict` 409: another manager owns the fields in `causes`.
 * - `Invalid` 422 and `BadRequest` 400: the request will never pass as it is; `TestFailed` 422 without details: a JSON patch `test` or path did not hold (F80), which is a conflict.
 * - `Unauthorized` 401, `Forbidden` 403, `NamespaceTerminating` 403 with that cause (F127).
 * - `Expired` 410: a version or page token that the server no longer has. `continueToken` gives the rest of an inconsistent list (F45).
 * - `TooManyRequests` 429. `ServerTimeout` 504 and 500 `ServerTimeout`. `ServerError` other 5xx.
 * - `Refused` other 4xx (405, 406, 413, 415).
 * - `Unreachable`: no answer: refused, reset, timed out, TLS. Whether a write was done is unknown.
 * - `Malformed`: an answer that is not what the protocol says.
 */
export type Reason =
  | ({ readonly _tag: "NotFound" } & Answer)
  | ({ readonly _tag: "AlreadyExists" } & Answer)
  | ({ readonly _tag: "Conflict" } & Answer)
  | ({ readonly _tag: "ApplyConflict" } & Answer)
  | ({ readonly _tag: "Invalid" } & Answer)
  | ({ readonly _tag: "TestFailed" } & Answer)
  | ({ readonly _tag: "BadRequest" } & Answer)
  | ({ readonly _tag: "Unauthorized" } & Answer)
  | ({ readonly _tag: "Forbidden" } & Answer)
  | ({ readonly _tag: "NamespaceTerminating" } & Answer)
  | ({ readonly _tag: "Expired"; readonly continueToken?: string } & Answer)
  | ({ readonly _tag: "TooManyRequests" } & Answer)
  | ({ readonly _tag: "ServerTimeout" } & Answer)
  | ({ readonly _tag: "ServerError" } & Answer)
  | ({ readonly _tag: "Refused" } & Answer)
  | { readonly _tag: "Unreachable"; readonly message: string }
  | { readonly _tag: "Malformed"; readonly message: string }

export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "replace"
  | "patch"
  | "apply"
  | "delete"
  | "deletecollection"
  | "discover"

/** What was asked when it failed. */
export interface Operation {
  readonly verb: Verb
  /** The plural and group, as RBAC names them: `roles.access.example.com`, `configmaps`, `roles.access.example.com/status`. */
  readonly resource: string
  readonly ref?: ObjectRef
}

interface Fields extends Operation {
  readonly reason: Reason
  readonly cause?: unknown
}

/** Of the texts of servers no more than this many characters are shown: an error must not carry the whole object into a log. */
const shown = 1_000

/** Without what would begin another line, or speak to the terminal, where it is shown. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ")

/** A day: what a server may make us wait at most, so that a wrong value stops nobody for ever. */
const longestWaitSeconds = 86_400

/**
 * The only error of the raw `ApiClient`. Nothing is decided here: `ReconcileError.fromApiError` says what a pass does with it (D4).
 *
 * `message` is one line: `patch roles.access.example.com team/editor: 409 Conflict: Operation cannot be fulfilled ...`, and what to do about it where that is known.
 */
export class ApiError extends Failure("ApiError")<Fields> {
  override get message(): string {
    const { reason, ref, resource, verb } = this
    const text = reason.message.length > shown ? `${reason.message.slice(0, shown)}...` : reason.message
    const code = "code" in reason ? `${reason.code} ` : ""
    const remedy = remedyOf(reason, this)
    return `${verb} ${resource}${ref === undefined ? "" : ` ${formatRef(ref)}`}: ${code}${reason._tag}: ${oneLine(text)}${remedy === undefined ? "" : `; ${remedy}`}`
  }
}

export const isApiError = (u: unknown): u is ApiError => u instanceof ApiError

const text = (u: unknown): string | undefined => (typeof u === "string" ? u : undefined)

const causeOf = (cause: Readonly<Record<string, unknown>>): StatusCause => {
  const [reason, message, field] = [text(cause.reason), text(cause.message), text(cause.field)]
  return {
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(field !== undefined && { field })
  }
}

const causesOf = (details: unknown): ReadonlyArray<StatusCause> =>
  isRecord(details) && Array.isArray(details.causes) ? details.causes.filter(isRecord).map(causeOf) : []

const tagOf = (
  code: number,
  word: string | undefined,
  causes: ReadonlyArray<StatusCause>,
  details: unknown
): Exclude<Reason["_tag"], "Unreachable" | "Malformed"> => {
  const caused = (reason: string): boolean => causes.some((cause) => cause.reason === reason)
  switch (code) {
    case 400:
      return "BadRequest"
    case 401:
      return "Unauthorized"
    case 403:
      return caused("NamespaceTerminating") ? "NamespaceTerminating" : "Forbidden"
    case 404:
      return "NotFound"
    case 409:
      return word === "AlreadyExists" ? "AlreadyExists" : caused("FieldManagerConflict") ? "ApplyConflict" : "Conflict"
    case 410:
      return "Expired"
    case 422:
      return isRecord(details) && (details.name !== undefined || causes.length > 0) ? "Invalid" : "TestFailed"
    case 429:
      return "TooManyRequests"
    case 504:
      return "ServerTimeout"
  }
  if (code >= 500) return word === "Timeout" || word === "ServerTimeout" ? "ServerTimeout" : "ServerError"
  return "Refused"
}

/**
 * Reads an answer with an error code. The body may be a Status, a Status without kind (F166), plain text (F36, F165) or anything else.
 * `retryAfterSeconds` is that of the header. No wait is longer than a day.
 */
export const fromAnswer = (
  operation: Operation,
  answer: { readonly code: number; readonly body: unknown; readonly retryAfterSeconds?: number }
): ApiError => {
  const status: Record<string, unknown> = isRecord(answer.body) ? answer.body : {}
  const details = status.details
  const causes = causesOf(details)
  const message = text(status.message) ?? text(answer.body)?.trim() ?? ""
  const stated = isRecord(details) && typeof details.retryAfterSeconds === "number" ? details.retryAfterSeconds : 0
  const seconds = Math.min(Math.max(answer.retryAfterSeconds ?? 0, stated), longestWaitSeconds)
  const _tag = tagOf(answer.code, text(status.reason), causes, details)
  const continueToken = isRecord(status.metadata) ? text(status.metadata.continue) : undefined
  return new ApiError({
    ...operation,
    reason: {
      _tag,
      code: answer.code,
      message: message === "" ? `the server answered ${answer.code}` : message,
      causes,
      ...(seconds > 0 && { retryAfterMillis: seconds * 1_000 }),
      ...(_tag === "Expired" && continueToken !== undefined && continueToken !== "" && { continueToken })
    }
  })
}
