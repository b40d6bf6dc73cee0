/**
 * Several failures of one pass as one: the rank is Temporary, Fatal, NotReady, the soonest wish to come back counts whoever had it, and every text is kept
 * (B45). Associative, so that it does not matter how branches are nested.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Fatal, isReconcileError, NotReady, type ReconcileError, Temporary, textOf } from "../ReconcileError.ts"
import { statedMillis } from "./statedMillis.ts"

/** On a merged failure: what it was made of. Enumerable, so that it survives the copy that `during` makes. */
const Parts = Symbol.for("@fixpoint/core/mergedParts")

interface Merged {
  readonly [Parts]?: { readonly texts: ReadonlyArray<string>; readonly atMostMillis: number | undefined }
}

/**
 * A failure whose own delay is a backoff or a slow recheck may stand for one that wanted to come back after a known time: then it comes back after this many
 * milliseconds at the latest. Undefined otherwise.
 */
export const atMostMillis = (error: ReconcileError): number | undefined => (error as Merged)[Parts]?.atMostMillis

/** The same failure, which comes back after so many milliseconds at the latest, whatever its backoff says. */
export const atMost = <E extends ReconcileError>(error: E, millis: number): E =>
  Object.assign(error, { [Parts]: { texts: [textOf(error)], atMostMillis: millis } })

/** The wish that a failure states itself; a merged one may state a sooner one on behalf of another. */
const wishOf = (error: ReconcileError): number | undefined =>
  soonest([
    error._tag === "NotReady"
      ? statedMillis(error.requeueAfter)
      : error._tag === "Temporary"
        ? statedMillis(error.delay)
        : undefined,
    atMostMillis(error)
  ])

const soonest = (wishes: ReadonlyArray<number | undefined>): number | undefined => {
  const stated = wishes.filter((wish) => wish !== undefined)
  return stated.length === 0 ? undefined : Math.min(...stated)
}

/** With its operation, which the merged failure can no longer name. A merged one keeps the texts of its parts, unless it was named since. */
const textsOf = (error: ReconcileError): ReadonlyArray<string> => {
  const parts = (error as Merged)[Parts]
  if (error.operation !== undefined) return [`${error.operation} failed: ${textOf(error)}`]
  return parts?.texts ?? [textOf(error)]
}

const rank: Readonly<Record<ReconcileError["_tag"], number>> = { Temporary: 0, Fatal: 1, NotReady: 2 }

export const mergeFailures = (errors: readonly [ReconcileError, ...ReadonlyArray<ReconcileError>]): ReconcileError => {
  if (errors.length === 1) return errors[0]
  // The first of the highest rank leads: it gives class and reason.
  const lead = errors.reduce((best, error) => (rank[error._tag] < rank[best._tag] ? error : best))
  const texts = [...new Set(errors.flatMap(textsOf))]
  const wish = soonest(errors.map(wishOf))
  const fields = {
    ...(lead.reason !== undefined && { reason: lead.reason }),
    message: texts.join("; "),
    cause: { errors }
  }
  const mark = (error: ReconcileError, atMost: number | undefined): ReconcileError =>
    Object.assign(error, { [Parts]: { texts, atMostMillis: atMost } })
  switch (lead._tag) {
    case "NotReady":
      return mark(
        new NotReady({ ...fields, reason: lead.reason, ...(wish !== undefined && { requeueAfter: wish }) }),
        undefined
      )
    case "Fatal":
      return mark(new Fatal(fields), wish)
    case "Temporary": {
      // A delay is exact. One of them on the backoff keeps the whole on it, and the stated wishes only bound it.
      const onBackoff = errors.some((error) => error._tag === "Temporary" && statedMillis(error.delay) === undefined)
      return mark(
        new Temporary({ ...fields, ...(!onBackoff && wish !== undefined && { delay: wish }) }),
        onBackoff ? wish : undefined
      )
    }
  }
}

/** One failure where all are ours; otherwise the cause as it is, with all of its reasons, for whoever maps or settles it. */
export const mergeCause = <E>(cause: Cause.Cause<E>): Cause.Cause<E> => {
  if (cause.reasons.length < 2 || !cause.reasons.every(Cause.isFailReason)) return cause
  const errors = cause.reasons.map((reason) => reason.error)
  return errors.every(isReconcileError) ? (Cause.fail(mergeFailures(errors as any)) as Cause.Cause<any>) : cause
}

/** All values, in their order, or all failures as one. */
export const mergeExits = <A, E>(exits: ReadonlyArray<Exit.Exit<A, E>>): Effect.Effect<ReadonlyArray<A>, E> => {
  const values: Array<A> = []
  const reasons: Array<Cause.Reason<E>> = []
  for (const exit of exits) {
    if (Exit.isSuccess(exit)) values.push(exit.value)
    else reasons.push(...exit.cause.reasons)
  }
  return reasons.length === 0 ? Effect.succeed(values) : Effect.failCause(mergeCause(Cause.fromReasons(reasons)))
}
