/** What the end of a pass means (D1-D5): its outcome, the condition Ready, when the key comes back and what counts as a failure. Pure. */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import type * as LogLevel from "effect/LogLevel"
import type * as Condition from "../Condition.ts"
import { isReason } from "../Condition.ts"
import type { KubeObject } from "../KubeObject.ts"
import type { PassRecord } from "../Pass.ts"
import type * as ReconcileError from "../ReconcileError.ts"
import { ledgerText, type Outcome, type Reporting } from "../Reporting.ts"
import * as RequeuePolicy from "../RequeuePolicy.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import {
  apiErrorOf,
  type FailedExit,
  failureOf,
  fieldOf,
  ownText,
  soonestOf,
  textOf,
  timeOf,
  traceOf
} from "./failureOf.ts"
import { type Failures, failuresOf, identityOf, type Memory } from "./memory.ts"
import { cutMiddle } from "./text.ts"
import { isUntold } from "./untold.ts"

export interface Facts {
  /** As the pass read it; undefined if it was not there. */
  readonly object: KubeObject | undefined
  readonly exit: Exit.Exit<unknown, unknown>
  readonly pass: Pick<PassRecord, "ledger" | "draft" | "conditions" | "events" | "announced" | "requeueAfterMillis">
  /** Whether our finalizer went in this pass: nothing is written afterwards (B54). */
  readonly released: boolean
  /** Whether the engine itself interrupts: shutdown, lost leadership. */
  readonly stopping: boolean
  readonly memory: Memory | undefined
  /** Of the queue: whether a failure counts, and how long from `startedAt` the pending retry has to wait. */
  readonly due: boolean
  readonly retryIn: number | undefined
  /** Milliseconds of one clock. */
  readonly startedAt: number
  readonly now: number
  /** In [0, 1). */
  readonly jitter: number
  readonly requeue: RequeuePolicy.RequeuePolicy
  readonly reporting: Reporting
  /** Whether the reconciler is a `Persisted`. */
  readonly persisted: boolean
  /** Below it a line is not logged, and so not mirrored (P6). */
  readonly minimumLogLevel: LogLevel.LogLevel
  readonly retry?: RetryPolicy.RetryPolicy | undefined
}

/** `why`: in a word, for logs and live tables. */
export type Requeue =
  | { readonly _tag: "none" }
  | {
      readonly _tag: "after"
      readonly millis: number
      readonly why: "asked" | "delay" | "backoff" | "conflict" | "recheck" | "safety net"
    }

export interface LogLine {
  readonly level: "Debug" | "Info" | "Warn" | "Error"
  readonly message: string
  /** The cause as fields (C3), never inside the message alone. */
  readonly annotations: Readonly<Record<string, string | number>>
}

/** A conflict that comes this often in a row is told as an error (D4). */
const conflictsTold = 3
/** What a condition's message holds (B79). */
export const messageMax = 32_768
/** Of a text in the log. */
const logMax = 4_096

/** A valid word for a condition, made from anything; `Invalid` if nothing is left (X12, K17). */
export const reasonFrom = (text: string): string => {
  if (isReason(text)) return text
  const word = text
    .slice(0, 1_024)
    .split(/[^A-Za-z0-9_,:]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join("")
    .replace(/^[^A-Za-z]+|[,:]+$/g, "")
  return isReason(word) ? word : "Invalid"
}

/** What one kind of end means, before it is reported. */
export interface Verdict {
  readonly outcome: Outcome
  readonly ready: Condition.Input
  readonly requeue: Requeue
  readonly failures: Failures | undefined
  /** The first conflicts in a row: the pass runs again, and nobody is told (D4). */
  readonly quiet: boolean
  readonly log: LogLine
}

export const none: Requeue = { _tag: "none" }

const after = (millis: number, why: Extract<Requeue, { readonly _tag: "after" }>["why"]): Requeue =>
  Number.isFinite(millis) ? { _tag: "after", millis: Math.max(0, millis), why } : none

export const sooner = (a: Requeue, b: Requeue): Requeue =>
  a._tag === "none" || (b._tag === "after" && b.millis < a.millis) ? b : a

/** What the pass came to; "interrupted" if the engine itself ended it. */
export const judge = (facts: Facts): Verdict | "interrupted" =>
  Exit.isSuccess(facts.exit) ? succeeded(facts) : failed(facts, facts.exit.cause)

const succeeded = ({ pass }: Facts): Verdict => {
  const asked = pass.requeueAfterMillis
  const changed = pass.ledger.length > 0 || pass.announced !== undefined
  const changes = pass.ledger.length > 0 ? ledgerText(pass.ledger) : (pass.announced?.message ?? "")
  return {
    outcome: changed ? "changed" : "unchanged",
    ready: { type: "Ready", status: "True", reason: "Synced", message: "" },
    requeue: asked === undefined ? none : after(asked, "asked"),
    failures: undefined,
    quiet: false,
    log: changed
      ? { level: "Info", message: "reconciled", annotations: { changes: cutMiddle(changes, logMax) } }
      : { level: "Debug", message: "reconciled: nothing differs", annotations: {} }
  }
}

const failed = (facts: Facts, cause: Cause.Cause<unknown>): Verdict | "interrupted" => {
  const failure = failureOf(cause, facts.stopping)
  if (failure._tag === "interrupted") return "interrupted"
  return failure._tag === "failed" && failure.error._tag === "NotReady"
    ? notReady(facts, failure.error, failure.others)
    : broken(facts, failure, cause)
}

const notReady = (facts: Facts, error: ReconcileError.NotReady, others: ReadonlyArray<string>): Verdict => {
  const { memory, requeue } = facts
  const reason = reasonFrom(fieldOf(error, "reason"))
  const message = cutMiddle(ownText(error), messageMax)
  const asked = timeOf(error, "requeueAfter")
  return {
    outcome: "NotReady",
    ready: { type: "Ready", status: "False", reason, message },
    requeue:
      asked !== undefined && asked > 0
        ? after(asked, "asked")
        : requeue.safetyNet === "off"
          ? none
          : after(Duration.toMillis(requeue.safetyNet), "safety net"),
    // Waiting is no failure: it neither counts nor forgives (B31).
    failures: memory?.failures,
    quiet: false,
    log: { level: "Debug", message: "not ready", annotations: causeFields(reason, message, error, others) }
  }
}

/** Temporary, Fatal and defects. */
const broken = (
  facts: Facts,
  failure: Exclude<FailedExit, { readonly _tag: "interrupted" }>,
  cause: Cause.Cause<unknown>
): Verdict => {
  const error =
    failure._tag === "failed" ? (failure.error as ReconcileError.Temporary | ReconcileError.Fatal) : undefined
  const root = error ?? (failure as { readonly defect: unknown }).defect
  const outcome = error === undefined ? "defect" : error._tag
  const reason = error === undefined ? "InternalError" : reasonFrom(fieldOf(error, "reason") || "ReconcileFailed")
  const text = error === undefined ? textOf(root) : ownText(error)
  const operation = (error === undefined ? "" : fieldOf(error, "operation")) || "reconciling"
  const message = cutMiddle(`${operation} failed: ${text}`, messageMax)

  const before = failuresOf(facts.memory, facts.object)
  const counts = before === undefined || facts.due
  const isConflict = outcome === "Temporary" && (reason === "Conflict" || (error !== undefined && isUntold(error)))
  const conflicts = isConflict ? (facts.memory?.failures?.conflicts ?? 0) + 1 : 0
  const failures: Failures = {
    ...identityOf(facts.object),
    count: (before?.count ?? 0) + (counts ? 1 : 0),
    conflicts,
    since: before?.since ?? facts.startedAt
  }
  const { exhausted, requeue } = retryOf(facts, error, isConflict, before)
  const quiet = isConflict && conflicts < conflictsTold
  return {
    outcome,
    ready: { type: "Ready", status: "False", reason, message },
    requeue,
    failures,
    quiet,
    log: {
      level: quiet ? "Debug" : "Error",
      message: cutMiddle(message, logMax),
      annotations: {
        ...causeFields(reason, text, root, failure.others),
        attempt: failures.count,
        ...(exhausted !== "go on" && { exhausted }),
        ...(error === undefined && { trace: traceOf(cause) })
      }
    }
  }
}

/**
 * When a failure is tried again. A pass that something else woke before the retry was due does not move the retry, but for a step that has become
 * shorter: so no script of wakes makes the backoff run faster (D6, D27).
 */
const retryOf = (
  facts: Facts,
  error: ReconcileError.Temporary | ReconcileError.Fatal | undefined,
  isConflict: boolean,
  before: Failures | undefined
): { readonly requeue: Requeue; readonly exhausted: RetryPolicy.Decision } => {
  const { jitter, now, requeue: policy, retry, startedAt } = facts
  const attempt = before?.count ?? 0
  const atMost = (error === undefined ? undefined : soonestOf(error)) ?? Infinity
  const recheck = policy.recheck === "on change only" ? none : after(Duration.toMillis(policy.recheck), "recheck")
  const bounded = (requeue: Requeue): Requeue => sooner(requeue, after(atMost, "asked"))
  if (error?._tag === "Fatal") return { requeue: bounded(recheck), exhausted: "go on" }
  const delay = error === undefined ? undefined : timeOf(error, "delay")
  const pending = before === undefined || facts.due ? undefined : facts.retryIn
  const requeue =
    delay !== undefined
      ? after(delay, "delay")
      : pending !== undefined
        ? after(Math.min(pending - (now - startedAt), RequeuePolicy.stepMillis(policy, attempt)), "backoff")
        : isConflict
          ? after(RequeuePolicy.conflictMillis(policy, attempt, jitter), "conflict")
          : after(RequeuePolicy.backoffMillis(policy, attempt, jitter), "backoff")
  if (retry === undefined) return { requeue: bounded(requeue), exhausted: "go on" }
  const exhausted = RetryPolicy.decide(retry, {
    attempts: attempt,
    runtimeMillis: now - (before?.since ?? startedAt),
    delayMillis: requeue._tag === "after" ? requeue.millis : 0
  })
  if (exhausted === "go on") return { requeue: bounded(requeue), exhausted }
  return { requeue: retry.exhausted === "on change only" ? none : recheck, exhausted }
}

const causeFields = (
  reason: string,
  text: string,
  root: unknown,
  others: ReadonlyArray<string>
): Readonly<Record<string, string | number>> => {
  const api = apiErrorOf(root)
  return {
    reason,
    cause: cutMiddle(text, logMax),
    ...(api !== undefined && {
      apiReason: api.reason._tag,
      apiMessage: cutMiddle(api.reason.message, 1_024),
      ...("code" in api.reason && { apiCode: api.reason.code })
    }),
    ...(others.length > 0 && { others: others.join("; ") })
  }
}
