/**
 * The end of a pass, as a pure function: from what it read, said and exited with to the status, the events, the log line and the time of the next pass
 * (D1-D4, D12, D18). The only place that classifies, reports and requeues (C5). Total: nothing that a step can throw or return makes it throw.
 */
import * as Exit from "effect/Exit"
import * as LogLevel from "effect/LogLevel"
import type { ApiError } from "../ApiError.ts"
import type * as Condition from "../Condition.ts"
import type { KubeObject } from "../KubeObject.ts"
import type { EventCall } from "../PostingPolicy.ts"
import * as ReconcileError from "../ReconcileError.ts"
import type { Announcement, Outcome, Report } from "../Reporting.ts"
import { textOf } from "./failureOf.ts"
import { type Memory, memoryOf, saidOf, unseenOf, toldOf, type Written } from "./memory.ts"
import type { Said } from "./statusBody.ts"
import { cutMiddle } from "./text.ts"
import {
  type Facts,
  judge,
  type LogLine,
  messageMax,
  none,
  reasonFrom,
  type Requeue,
  sooner,
  type Verdict
} from "./verdict.ts"

export type { Failures, Memory, Written } from "./memory.ts"
export { failuresOf } from "./memory.ts"
export type { Facts, LogLine, Requeue } from "./verdict.ts"

export interface Settlement {
  readonly outcome: Outcome
  /** What is to be written; undefined: the status is not touched. */
  readonly status: Said | undefined
  /** Posted after the status has been written (D8). */
  readonly events: ReadonlyArray<EventCall>
  readonly requeue: Requeue
  /** Whether `requeue` is the retry of a failure (D27). */
  readonly backingOff: boolean
  readonly log: LogLine
  /** Why the Reporting told nothing, if it threw. */
  readonly complaint?: string
  /** For the next pass, unless the status is written: then `remember` gives it. */
  readonly memory: Memory | undefined
  readonly written: Omit<Written, "resourceVersion"> | undefined
}

/** How long a failure's condition keeps its message while status and reason stay (D18). */
const messageInterval = 60_000

/** What the next pass is told, once the status stands as `resourceVersion` says. */
export const remember = (settlement: Settlement, resourceVersion: string): Memory | undefined => {
  const { memory, outcome, written } = settlement
  // What a success wrote needs no memory: the next pass waits until it is seen (D29). An announcement must not be made twice.
  const isPlain = (outcome === "changed" || outcome === "unchanged") && written?.announced === undefined
  if (written === undefined || isPlain) return memory
  return { ...memory, written: { ...written, resourceVersion } }
}

const readyOf = (object: KubeObject | undefined): Condition.Input | undefined => {
  const status = object?.status
  const conditions = typeof status === "object" && status !== null ? (status as any).conditions : undefined
  return Array.isArray(conditions) ? conditions.find((condition) => condition?.type === "Ready") : undefined
}

export const settle = (facts: Facts): Settlement => {
  const stale = unseenOf(facts.memory, facts.object)
  // Said already by a pass whose write this one does not see (D12).
  const isRepeated = stale?.announced !== undefined && facts.pass.announced?.reason === stale.announced
  const told = isRepeated ? { ...facts, pass: { ...facts.pass, announced: undefined } } : facts
  const verdict = judge(told)
  return verdict === "interrupted" ? interrupted(facts) : report(told, verdict, stale)
}

/**
 * The same pass when its status could not be written. After a success or NotReady that is the only failure and no event tells the rest (K20, K29), but
 * for its line where log lines are mirrored (D16); after a failure both are logged and the sooner retry counts (K25, B53).
 */
export const afterFailedWrite = (facts: Facts, settlement: Settlement, error: ApiError): Settlement => {
  const failure = ReconcileError.during("writing the status")(ReconcileError.fromApiError(error))
  const write = settle({ ...facts, exit: Exit.fail(failure) })
  const untouched = { status: undefined, written: undefined }
  const requeue = sooner(settlement.requeue, write.requeue)
  const { memory, object } = facts
  const uid = object?.metadata.uid ?? ""
  if (!settlement.backingOff) {
    const told = toldOf(memory, object) ?? { uid, ready: toldBefore(memory, object) }
    const own = write.events.slice(facts.pass.events.length)
    const events = own.flatMap((call) => (call._tag === "log" ? [{ ...call, besideWarning: false }] : []))
    return { ...write, ...untouched, requeue, memory: { ...write.memory, told }, events }
  }
  const annotations = { ...settlement.log.annotations, statusWrite: write.log.message }
  const told = settlement.written === undefined ? toldOf(memory, object) : { uid, ready: settlement.written.ready }
  return {
    ...settlement,
    ...untouched,
    requeue,
    memory: { ...settlement.memory, ...(told !== undefined && { told }) },
    log: { ...settlement.log, annotations }
  }
}

/** Ready as the object says, or as it will say once it is seen. */
const toldBefore = (memory: Memory | undefined, object: KubeObject | undefined): Condition.Input | undefined =>
  unseenOf(memory, object)?.ready ?? readyOf(object) ?? saidOf(memory, object)

const isTransition = (before: Condition.Input | undefined, after: Condition.Input): boolean =>
  before === undefined || before.status !== after.status || before.reason !== after.reason

/** The log line of a failed pass as the policy may post it (D16, P6, P8). */
const mirrored = (
  { minimumLogLevel, now, object }: Facts,
  { annotations, level, message }: LogLine,
  besideWarning: boolean
): ReadonlyArray<EventCall> => [
  {
    _tag: "log",
    about: object,
    at: now,
    level,
    message: annotations.trace === undefined ? message : `${message}\n${annotations.trace}`,
    inPass: true,
    housekeeping: false,
    passesLogger: !LogLevel.isGreaterThan(minimumLogLevel, level),
    besideWarning
  }
]

const interrupted = ({ memory }: Facts): Settlement => ({
  outcome: "interrupted",
  status: undefined,
  events: [],
  requeue: none,
  backingOff: false,
  log: {
    level: "Warn",
    message: "interrupted: nothing is recorded, the key is served again after the next start",
    annotations: {}
  },
  memory,
  written: undefined
})

/** Turns the verdict into what is written and said, against what was written and said before. */
const report = (facts: Facts, verdict: Verdict, stale: Written | undefined): Settlement => {
  const { now, object, pass } = facts
  const { outcome, quiet, ready } = verdict
  const isSuccess = outcome === "changed" || outcome === "unchanged"
  const isBroken = !isSuccess && outcome !== "NotReady"
  const previous = toldBefore(facts.memory, object)
  const told = toldOf(facts.memory, object)
  const transition = isTransition(told === undefined ? previous : told.ready, ready)
  const message =
    previous === undefined || isTransition(previous, ready)
      ? { text: ready.message, at: now }
      : messageOf(facts, ready.message, previous, isBroken)
  const isUntouched =
    object === undefined || facts.released || quiet || (isSuccess && object.metadata.deletionTimestamp !== undefined)
  const shown = { ...ready, message: message.text }
  const { complaint, said } = quiet || object === undefined ? silence : announce(facts, { ...verdict, transition })
  const events: ReadonlyArray<EventCall> = [
    ...pass.events,
    ...said.map((one): EventCall => ({ _tag: "event", about: object, ...one, at: now })),
    ...(quiet || isSuccess
      ? []
      : mirrored(
          facts,
          verdict.log,
          said.some(({ type }) => type === "Warning")
        ))
  ]
  return {
    outcome,
    status: isUntouched
      ? undefined
      : {
          fields: isBroken ? {} : pass.draft,
          conditions: [...(isBroken ? [] : authors(pass.conditions)), shown],
          complete: isSuccess,
          observes: !(isBroken && facts.persisted)
        },
    events,
    requeue: verdict.requeue,
    backingOff: isBroken,
    log: verdict.log,
    ...(complaint !== undefined && { complaint }),
    memory: memoryOf(verdict.failures, isBroken ? facts.memory?.written : stale, quiet ? told : undefined),
    written: isUntouched
      ? undefined
      : {
          uid: object.metadata.uid,
          generation: object.metadata.generation,
          ready: shown,
          announced: pass.announced?.reason ?? stale?.announced,
          messageAt: message.at
        }
  }
}

/** Which message the condition shows while its status and reason stay, and since when: that of a failure changes at most once a minute (D18). */
const messageOf = (
  { memory, now, object }: Facts,
  text: string,
  previous: Condition.Input,
  isBroken: boolean
): { readonly text: string; readonly at: number } => {
  const written = memory?.written
  const isOurs = written?.uid === object?.metadata.uid && written?.generation === object?.metadata.generation
  const at = isOurs && written !== undefined ? written.messageAt : undefined
  if (previous.message === text) return { text, at: at ?? now }
  return isBroken && at !== undefined && now - at < messageInterval ? { text: previous.message, at } : { text, at: now }
}

/** The author's own conditions, fit to be stored; Ready is what the end of the pass says. */
const authors = (conditions: ReadonlyArray<Condition.Input>): ReadonlyArray<Condition.Input> =>
  conditions
    .filter(({ type }) => type !== "Ready")
    .map((condition) => ({
      ...condition,
      reason: reasonFrom(String(condition.reason)),
      message: cutMiddle(String(condition.message), messageMax)
    }))

interface Told {
  readonly said: ReadonlyArray<Announcement>
  readonly complaint?: string
}

const silence: Told = { said: [] }

/** A reporting of the author's own may throw: then nothing is said, which the log tells, and conditions tell the rest. */
const announce = (
  { pass, persisted, reporting }: Facts,
  { outcome, ready, transition }: Pick<Report, "outcome" | "ready" | "transition">
): Told => {
  try {
    const all = [
      ...reporting({ outcome, ready, transition, ledger: pass.ledger, announced: pass.announced, persisted })
    ]
    return { said: all.map(({ message, reason, type }) => ({ message, reason, type })) }
  } catch (error) {
    return { said: [], complaint: `the Reporting threw, so nothing is said of a pass: ${textOf(error)}` }
  }
}
