/** The end of a pass that is written on its object: settled, and told by its status, or by what became of writing it. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { ApiError } from "../ApiError.ts"
import type * as Controller from "../Controller.ts"
import * as Kind from "../Kind.ts"
import type { KubeObject } from "../KubeObject.ts"
import type * as Pass from "../Pass.ts"
import { type ReconcileError, textOf } from "../ReconcileError.ts"
import { refOf } from "./key.ts"
import { asFailure, type Runner } from "./runner.ts"
import * as Settle from "./settle.ts"
import type { Said, Facts as StatusFacts } from "./statusBody.ts"
import { stands, type StatusWrite, type Target, writeStatus } from "./statusWriter.ts"

/** A status that its kind cannot hold is a mistake of the reconciler: the pass ends as if it had died of it. */
export const encodedDraft = (
  kind: Kind.Any,
  record: Pass.PassRecord,
  exit: Exit.Exit<unknown, ReconcileError>
): { readonly exit: Exit.Exit<unknown, ReconcileError>; readonly fields: Readonly<Record<string, unknown>> } => {
  if (Object.keys(record.draft).length === 0) return { exit, fields: {} }
  try {
    return { exit, fields: Kind.encodeStatus(kind, record.draft) }
  } catch (error) {
    const issue = textOf(error).replace(/\s*\n\s*/g, " ")
    return { exit: Exit.die(new Error(`the status does not fit its schema: ${issue}`, { cause: error })), fields: {} }
  }
}

/**
 * Settles the pass and writes its status. What cannot be written for what it says, because no JSON can hold it or the schema refuses it, is told on the object
 * instead; what could not be written for another reason is tried again.
 */
export const settledAndWritten = Effect.fnUntraced(function* (
  runner: Runner,
  key: string,
  object: KubeObject,
  facts: Settle.Facts
): Effect.fn.Return<{
  readonly settlement: Settle.Settlement
  readonly written: Result.Result<StatusWrite, ApiError>
}> {
  const settlement = Settle.settle(facts)
  const writing = writingOf(runner, key, object, settlement, facts)
  if (writing === undefined || isSaid(writing)) return { settlement, written: unchanged }
  const first = yield* Effect.exit(write(writing))
  if (Exit.isSuccess(first) && Result.isSuccess(first.value)) return { settlement, written: first.value }
  if (Exit.isSuccess(first) && Result.isFailure(first.value) && first.value.failure.reason._tag !== "Invalid")
    return { settlement: Settle.afterFailedWrite(facts, settlement, first.value.failure), written: first.value }
  const without = { ...facts, exit: refusedExit(first), pass: { ...facts.pass, draft: {}, conditions: [] } }
  const instead = Settle.settle(without)
  const again = writingOf(runner, key, object, instead, without)
  const written = again === undefined ? unchanged : yield* Effect.catchCause(write(again), () => Effect.succeed(untold))
  return Result.isFailure(written)
    ? { settlement: Settle.afterFailedWrite(without, instead, written.failure), written }
    : { settlement: instead, written }
})

/** What a pass ends with whose status was refused. A client that interrupts itself is met again later. */
const refusedExit = (exit: Exit.Exit<Result.Result<StatusWrite, ApiError>>): Exit.Exit<never, ReconcileError> => {
  if (Exit.isFailure(exit))
    return Cause.hasInterruptsOnly(exit.cause)
      ? Exit.failCause(exit.cause)
      : Exit.die(new Error("the status cannot be written", { cause: Cause.squash(exit.cause) }))
  return Result.isFailure(exit.value)
    ? Exit.fail(asFailure("writing the status")(exit.value.failure))
    : Exit.interrupt()
}

const unchanged: Result.Result<StatusWrite, ApiError> = Result.succeed({ _tag: "Unchanged" })
/** Nothing was written, and the retry of the failure tells it. */
const untold: Result.Result<StatusWrite, ApiError> = Result.succeed({ _tag: "Moved" })

/** One status that may have to be written. */
interface Writing {
  readonly target: Target
  readonly said: Said
  readonly facts: StatusFacts
}

/** Whether the ends of passes are written into the status of their objects. */
export const writesStatus = ({ for: kind, noStatusSubresource }: Controller.Any): boolean =>
  kind.hasStatus && !noStatusSubresource

/** Undefined if the pass touches no status, or the kind has none. */
const writingOf = (
  runner: Runner,
  key: string,
  read: KubeObject,
  settlement: Settle.Settlement,
  { now }: Settle.Facts
): Writing | undefined => {
  const { api, conditionsAreMap, engine, fieldManager } = runner
  const { controller, store } = engine
  if (settlement.status === undefined || !writesStatus(controller)) return undefined
  const current = store.get(refOf(key))
  const isSame =
    current === read ||
    (current !== undefined && current.metadata.uid === read.metadata.uid && !engine.concerns(read, current))
  return {
    target: {
      api,
      resource: controller.for,
      read,
      known: isSame ? current! : read,
      concerns: (seen, next) => engine.concerns(seen, next),
      fold: (answer) => {
        store.fold(answer)
        engine.wroteSelf(key, answer)
      }
    },
    said: settlement.status,
    facts: {
      manager: fieldManager,
      now: stampOf(now),
      generation: read.metadata.generation,
      conditionsAreMap
    }
  }
}

let stamp = { second: NaN, text: "" }
/** RFC 3339. The text of one second is made once: mostly nothing moves, and it is not used. */
const stampOf = (millis: number): string => {
  const second = Math.floor(millis / 1_000)
  if (second !== stamp.second) stamp = { second, text: `${new Date(millis).toISOString().slice(0, 19)}Z` }
  return stamp.text
}

/** What cannot be compared is no reason to fail here: it is met again when it is written. */
const isSaid = ({ facts, said, target }: Writing): boolean => {
  try {
    return stands(target, said, facts)
  } catch {
    return false
  }
}

const write = ({ facts, said, target }: Writing): Effect.Effect<Result.Result<StatusWrite, ApiError>> =>
  Effect.result(writeStatus(target, said, facts))
