/**
 * An object whose truth is copied somewhere else: rows of a database, records of a service. Two functions say how, `upsert` and `delete`; what their ends mean
 * to the object, its events and the queue is said here once (D9-D13).
 *
 * | the end | condition Ready | event | comes back |
 * | --- | --- | --- | --- |
 * | `upsert` succeeds | True `Synced` | `Created` the first time, `Updated` after an edit, else none | when woken |
 * | `upsert` fails with a NotReady, however deep | False, its reason | Warning when that is news | when woken, or after its `requeueAfter` |
 * | `upsert` fails with a `UniqueViolation`, however deep, and `onConflict` settles it | as it was; told if it is the third in a row | none | by the backoff, in 15 s at most |
 * | `upsert` fails otherwise | False `PersistFailed` | Warning when that is news | by the backoff, in 2 min at most |
 * | `onConflict` fails | False `PersistFailed`, or the reason of its NotReady | Warning when that is news | by the backoff, in 5 min at most |
 * | `delete` succeeds | nothing is written any more | `Deleted`, when the finalizer is off | never |
 * | `delete` fails | False `DeleteFailed`; the object stays | Warning when that is news | by the backoff, in 2 min at most |
 *
 * Both run again and again: after a crash, a lost answer, a failed status write. Make them do nothing where there is nothing to do.
 *
 * The examples here are about this kind:
 *
 * ```ts
 * // kinds.ts
 * import * as Schema from "effect/Schema"
 * import { Kind } from "@fixpoint/core"
 *
 * export class Role extends Kind.make({
 *   group: "access.example.com", version: "v1", kind: "Role", scope: "Namespaced",
 *   spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) })
 * }) {}
 * ```
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Failure } from "./internal/failure.ts"
import { atMost } from "./internal/mergeFailures.ts"
import { untold } from "./internal/untold.ts"
import type * as Kind from "./Kind.ts"
import { displayName, formatRef, type KubeObject, type ObjectRef } from "./KubeObject.ts"
import * as Pass from "./Pass.ts"
import {
  type AnyEffect,
  type Deleting,
  type Finalizer,
  type Finalizes,
  make as pipeline,
  type Reconciler
} from "./Pipeline.ts"
import {
  chain,
  during,
  Fatal,
  isReconcileError,
  NotReady,
  type ReconcileError,
  Temporary,
  textOf
} from "./ReconcileError.ts"

/** Another record has what ours needs for itself: a name, a key. An `upsert` may fail with it; `uniqueViolationOf` finds it, and a database's own. */
export class UniqueViolation extends Failure("UniqueViolation")<{
  readonly message?: string
  /** Which constraint was broken, if that is known. */
  readonly constraint?: string
  readonly cause?: unknown
}> {}

/** PostgreSQL's code of a broken unique constraint. */
const uniqueCode = "23505"

const field = (value: object, key: string): unknown => {
  try {
    return (value as any)[key]
  } catch {
    return undefined
  }
}

/**
 * The broken unique constraint behind any failure: a `UniqueViolation`, or PostgreSQL's code 23505, however deep in the chain of causes (K27). Undefined if
 * there is none, or if a NotReady is in the chain, which says more (K24).
 *
 * ```ts
 * import { Persisted } from "@fixpoint/core"
 *
 * const failure = new Error("insert failed", { cause: { code: "23505", constraint: "role_name" } })
 * export const constraint = Persisted.uniqueViolationOf(failure)?.constraint // "role_name"
 * ```
 */
export const uniqueViolationOf = (error: unknown): UniqueViolation | undefined => {
  let found: UniqueViolation | undefined
  for (const value of chain(error)) {
    if (value instanceof NotReady) return undefined
    if (found !== undefined) continue
    if (value instanceof UniqueViolation) found = value
    else if (field(value, "code") === uniqueCode) {
      const constraint = field(value, "constraint")
      found = new UniqueViolation({
        message: textOf(value),
        ...(typeof constraint === "string" && constraint !== "" && { constraint }),
        cause: value
      })
    }
  }
  return found
}

const persisting = "persisting the object"
/** Caps of the backoffs: what kopper asks for and never gets (K28, X1, D11). */
const persistFailedMax = Duration.minutes(2)
const conflictSettledMax = Duration.seconds(15)
const conflictFailedMax = Duration.minutes(5)
const deleteFailedMax = Duration.minutes(2)

/** In a failure, or in a whole cause. */
const notReadyIn = (error: unknown): NotReady | undefined => {
  for (const value of chain(error)) if (value instanceof NotReady) return value
  return undefined
}

/** A failure of ours that the author chose stands as it is but for a missing reason; anything else is Temporary, on the backoff up to `max` (D11). */
const failed = (error: unknown, reason: string, operation: string, max: Duration.Duration): ReconcileError => {
  if (isReconcileError(error)) {
    const { _tag, ...fields } = error
    const named = { reason, operation, ...fields }
    if (_tag === "NotReady") return error
    if (_tag === "Fatal") return new Fatal(named)
    return error.delay === undefined ? atMost(new Temporary(named), Duration.toMillis(max)) : new Temporary(named)
  }
  return atMost(new Temporary({ reason, operation, message: textOf(error), cause: error }), Duration.toMillis(max))
}

/** What the object was when the pass began decides what a success is called (K12, D10). */
const announcementOf = (object: KubeObject): "Created" | "Updated" | undefined => {
  const status = object.status as { readonly observedGeneration?: unknown } | null | undefined
  const observed = status?.observedGeneration
  if (observed === undefined || observed === null) return "Created"
  return observed === object.metadata.generation ? undefined : "Updated"
}

export interface Options<T, Up extends AnyEffect, Del extends AnyEffect, Con extends AnyEffect> {
  /** In `metadata.finalizers` of every object before its first `upsert`, until `delete` has succeeded: `access.example.com/record`. */
  readonly finalizer: `${string}/${string}`
  /** Makes the record as the object says. May fail with anything. */
  readonly upsert: (object: T) => Up
  /**
   * Removes what was made for the object of this uid; succeeds if nothing is there. `deleting` holds what else is known of it: nothing where a record is left over
   * from an object that is long gone. May fail with anything.
   */
  readonly delete: (uid: string, deleting?: Deleting<T>) => Del
  /**
   * Another record stands in the way, often one of an object of the same name that is gone: removes that one, after which `upsert` runs again soon. Fails if the
   * other one has a right to be there. Default: the violation is a failure like any other.
   */
  readonly onConflict?: (object: T, violation: UniqueViolation) => Con
}

/** A reconciler, and its parts by themselves, for tests and for programs of your own. */
export interface Persisted<T, R, DeleteR> extends Reconciler<
  { readonly object: T },
  ReconcileError,
  R | Finalizes<DeleteR> | Pass.Pass
> {
  /** Deletes what was made for the object of this uid; nothing is decoded. */
  readonly finalize: (ref: ObjectRef, uid: string) => Effect.Effect<void, ReconcileError, DeleteR>
  /** What becomes of an object that is not as its kind says: it stays as it is until someone edits it, and a deletion still deletes its record (K7, X6). */
  readonly malformed: (raw: KubeObject, issue: string) => Effect.Effect<never, Fatal>
}

/** A qualified name, as the server takes it. */
const finalizerPattern = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** What a failure of the upsert or of the conflict handler is to the object. A defect stays one. */
const failedCause = (cause: Cause.Cause<unknown>, max: Duration.Duration): Effect.Effect<never, ReconcileError> => {
  const notReady = notReadyIn(cause)
  if (notReady !== undefined) return Effect.fail(notReady)
  const failure = cause.reasons.find(Cause.isFailReason)
  return failure === undefined
    ? (Effect.failCause(cause) as Effect.Effect<never>)
    : Effect.fail(failed(failure.error, "PersistFailed", persisting, max))
}

/** The conflict is settled, and the upsert runs again soon. Nobody is told the first times: the object is as it was (K27). */
const settled = (violation: UniqueViolation): Effect.Effect<never, Temporary> => {
  const failure = new Temporary({
    reason: "PersistFailed",
    operation: persisting,
    message: textOf(violation),
    cause: violation
  })
  return Effect.fail(untold(atMost(failure, Duration.toMillis(conflictSettledMax))))
}

/**
 * A reconciler whose objects are persisted elsewhere. It is a pipeline like any other: further stages may follow, and run when the object is persisted.
 *
 * Its failures are told by `Reporting.persisted` unless another `Reporting` is given, and leave `status.observedGeneration` as it was, since `Created` and
 * `Updated` are told from it (K12, K26, D10). A first pass that ended NotReady has been observed: no `Created` follows (K22). Where no status is written,
 * neither is told.
 * Throws if the finalizer is no qualified name (K1).
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Controller, Persisted } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * const rows = new Map<string, string>()
 * export const roles = Controller.make({
 *   for: Role,
 *   reconciler: Persisted.make({
 *     for: Role,
 *     finalizer: "access.example.com/record",
 *     upsert: ({ metadata, spec }) => Effect.sync(() => rows.set(metadata.uid, spec.scope)),
 *     delete: (uid) => Effect.sync(() => rows.delete(uid))
 *   })
 * })
 * ```
 */
export const make = <
  K extends Kind.Any,
  Up extends AnyEffect,
  Del extends AnyEffect,
  Con extends AnyEffect = Effect.Effect<void>
>(
  options: { readonly for: K } & Options<Kind.Type<K>, Up, Del, Con>
): Persisted<Kind.Type<K>, Effect.Services<Up> | Effect.Services<Con>, Effect.Services<Del>> => {
  const { delete: remove, finalizer: name, for: kind, onConflict, upsert } = options
  if (!finalizerPattern.test(name))
    throw new RangeError(
      `Persisted.make of ${kind.kind}: the finalizer must be a name of yours such as access.example.com/record, not ${JSON.stringify(name)}`
    )
  const onViolation = (object: Kind.Type<K>, raw: KubeObject, violation: UniqueViolation) =>
    (onConflict as NonNullable<typeof onConflict>)(object, violation).pipe(
      Effect.catchCause((cause: Cause.Cause<unknown>) => failedCause(cause, conflictFailedMax)),
      Effect.andThen(
        Effect.logWarning(`another record stood in the way of ${displayName(raw)}: ${textOf(violation)}; trying again`)
      ),
      Effect.andThen(settled(violation))
    )
  const run = ({ object }: { readonly object: Kind.Type<K> }) =>
    Effect.flatMap(Pass.current, (pass) => {
      const announced = pass.writesStatus ? announcementOf(pass.object) : undefined
      return Effect.suspend(() => upsert(object)).pipe(
        Effect.catchCause((cause: Cause.Cause<unknown>) => {
          const violation = onConflict === undefined ? undefined : uniqueViolationOf(cause)
          return violation === undefined
            ? failedCause(cause, persistFailedMax)
            : onViolation(object, pass.object, violation)
        }),
        Effect.andThen(
          announced === undefined ? Effect.void : Pass.announce(announced, `${announced} ${displayName(pass.object)}`)
        )
      )
    })
  const removed = (uid: string, deleting?: Deleting<Kind.Type<K>>) =>
    Effect.catchCause(
      Effect.suspend(() => remove(uid, deleting)),
      deleteFailed
    )
  const finalizer: Finalizer = {
    name,
    persisted: true,
    cleanup: (deleting) =>
      Effect.andThen(removed(deleting.uid, deleting), Pass.announce("Deleted", `Deleted ${displayName(deleting.raw)}`))
  }
  return Object.assign(pipeline<any, any, any>(kind, [{ _tag: "Tap", run }], [finalizer]), {
    finalize: (ref: ObjectRef, uid: string) =>
      Effect.mapError(Effect.asVoid(removed(uid)), during(`deleting the record of ${formatRef(ref)}`)),
    malformed: (raw: KubeObject, issue: string) =>
      Effect.fail(new Fatal({ reason: "MalformedResource", message: issue, operation: `reading ${displayName(raw)}` }))
  }) as any
}

/** Nothing is waited for while an object goes: a NotReady, also one that it died of, is a failure like any other (K10, K31). Any other defect stays one. */
const deleteFailed = (cause: Cause.Cause<unknown>): Effect.Effect<never, ReconcileError> => {
  const notReady = notReadyIn(cause)
  const failure = cause.reasons.find(Cause.isFailReason)
  if (notReady === undefined && failure === undefined) return Effect.failCause(cause) as Effect.Effect<never>
  const error = notReady === undefined ? failure!.error : new Error(textOf(notReady), { cause: notReady.cause })
  return Effect.fail(failed(error, "DeleteFailed", "deleting the record", deleteFailedMax))
}
