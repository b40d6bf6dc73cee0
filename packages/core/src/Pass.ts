/**
 * One run of one reconciler for one object. What the run wants to say beside its result (what it changed, its status, its conditions, its events, when
 * to come back, whom to wake) is gathered here and done when the pass has settled.
 *
 * Guarantees: after the pass its `Pass` is closed. A fiber or promise that outlived it and calls it dies with `PassEnded`, which is logged once, and
 * writes nothing.
 * Assumptions: whoever runs the pass closes the record before it settles, and judges what the watch tells of the object only then.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Condition from "./Condition.ts"
import { Failure } from "./internal/failure.ts"
import { statedMillis } from "./internal/statedMillis.ts"
import type * as Kind from "./Kind.ts"
import { formatRef, type KubeObject, type ObjectRef } from "./KubeObject.ts"
import type { LabelSelector } from "./LabelSelector.ts"
import type { EventCall } from "./PostingPolicy.ts"
import type { Announced } from "./Reporting.ts"

/** One thing that the pass changed: an object of which the API moved the version, or what a step said by `Pass.changed`. */
export interface LedgerEntry {
  readonly action: "created" | "updated" | "deleted" | "said"
  /** `ConfigMap editor-rules`, or the step's own words. */
  readonly text: string
}

/** What one read saw: an object, present or absent, or the objects that a selection chooses. */
export type Subscription =
  | { readonly _tag: "Object"; readonly kind: Kind.Any; readonly ref: ObjectRef }
  | {
      readonly _tag: "List"
      readonly kind: Kind.Any
      /** All namespaces if absent. */
      readonly namespace: string | undefined
      /** Every label if absent. */
      readonly selector: LabelSelector | undefined
    }

/** What a pass gathers while it runs. Only this module and those that have a verb of their own (`Owned`, `Wake`, `Reconciler`) write into it. */
export interface PassRecord {
  readonly ledger: Array<LedgerEntry>
  /** Status fields, decoded; written with a success or NotReady, dropped whole with any other end (B44). */
  readonly draft: Record<string, unknown>
  /** In the order they were said; the last one of a type counts. Dropped and written as the draft. */
  readonly conditions: Array<Condition.Input>
  /** Posted after the status, before the event of the pass itself. */
  readonly events: Array<EventCall>
  /** How many of them are log records (D16). */
  mirrored: number
  /** Stands for the event `Reconciled` (D2). */
  announced: Announced | undefined
  /** The soonest wish to come back after a success; a failure decides by itself (D1). */
  requeueAfterMillis: number | undefined
  /** Sent when the pass has settled; told how many passes that changed nothing lie behind (D14). */
  readonly wakes: Array<(hops: number) => void>
  /** Children applied and removed so far, by `kind namespace/name`: that no child is both shows a clash of two stages in the first pass. */
  readonly children: Map<string, "applied" | "removed">
  closed: boolean
}

/** A record in which nothing is said yet. */
export const makeRecord = (): PassRecord => ({
  ledger: [],
  draft: {},
  conditions: [],
  events: [],
  mirrored: 0,
  announced: undefined,
  requeueAfterMillis: undefined,
  wakes: [],
  children: new Map(),
  closed: false
})

export class Pass extends Context.Service<
  Pass,
  {
    /** The controller's name. */
    readonly controller: string
    readonly kind: Kind.Any
    /** The object as it was read for this pass. */
    readonly object: KubeObject
    readonly ref: ObjectRef
    readonly uid: string
    readonly generation: number | undefined
    /** Failures in a row before this pass. */
    readonly attempt: number
    /** When the first of those failures was, in milliseconds since 1970. */
    readonly failingSince?: number
    /** What woke the key, for people: `Scope team/docs`, `requeue`. */
    readonly triggers: ReadonlyArray<string>
    /** Milliseconds since 1970. */
    readonly startedAt: number
    /** Whether the end of this pass is written into the object's status, where a later one can read it. */
    readonly writesStatus: boolean
    readonly record: PassRecord
    /** Wakes the key when what was read changes, from this moment on, so that no change between the read and the end of the pass is missed. */
    readonly subscribe: (subscription: Subscription) => void
  }
>()("@fixpoint/core/Pass") {}

/** A defect: something that outlived its pass called it. */
export class PassEnded extends Failure("PassEnded")<{ readonly kind: string; readonly ref: ObjectRef }> {
  override get message(): string {
    return (
      `the pass of ${this.kind} ${formatRef(this.ref)} has ended: a fiber or promise that it left behind called it, and did nothing. ` +
      "Wait for such work inside the step, or let it wake the object with Wake.enqueue"
    )
  }
}

const told = new WeakSet<PassRecord>()

const ended = ({ kind, record, ref }: Pass["Service"]): Effect.Effect<never> => {
  const error = new PassEnded({ kind: kind.kind, ref })
  if (told.has(record)) return Effect.die(error)
  told.add(record)
  return Effect.andThen(Effect.logWarning(error.message), Effect.die(error))
}

/** Only while the pass runs; else the defect `PassEnded`. */
export const whileOpen = <A, E, R>(
  pass: Pass["Service"],
  effect: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => (pass.record.closed ? ended(pass) : effect())

/** The pass that runs. */
export const current: Effect.Effect<Pass["Service"], never, Pass> = Pass.use((pass) =>
  whileOpen(pass, () => Effect.succeed(pass))
)

const say = (write: (pass: Pass["Service"]) => void): Effect.Effect<void, never, Pass> => Effect.map(current, write)

/**
 * Says that the step changed something outside of the cluster, so that the pass counts as changed and its event tells it (D2).
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Pass } from "@fixpoint/core"
 *
 * export const record = Effect.fnUntraced(function* (isNew: boolean) {
 *   if (isNew) yield* Pass.changed("created the DNS record")
 * })
 * ```
 */
export const changed = (text: string): Effect.Effect<void, never, Pass> =>
  say((pass) => pass.record.ledger.push({ action: "said", text }))

/**
 * Asks for another pass after this one, if it succeeds: `"1 hour"`, or a number of milliseconds. The soonest wish counts, one that is infinite or no time at all
 * is none. On a failure it is ignored: the failure decides.
 */
export const requeueAfter = (duration: Duration.Input): Effect.Effect<void, never, Pass> =>
  say(({ record }) => {
    const millis = statedMillis(duration)
    if (millis !== undefined) record.requeueAfterMillis = Math.min(record.requeueAfterMillis ?? Infinity, millis)
  })

/** The event of this pass if it succeeds, instead of `Reconciled`: at most one a pass, the last one said (D2). */
export const announce = (reason: string, message: string): Effect.Effect<void, never, Pass> =>
  say(({ record }) => {
    record.announced = { reason, message }
  })

/**
 * Fields of the status of this pass's object; `Reconciler.status` in a pipeline. Those said later replace those said earlier, field by field.
 * A kind that is not the pass's own is a defect.
 */
export const status = <K extends Kind.Any>(
  kind: K,
  fields: Kind.Status<Kind.Type<K>>
): Effect.Effect<void, never, Pass> =>
  Effect.flatMap(current, (pass) =>
    pass.kind.id === kind.id
      ? Effect.sync(() => void Object.assign(pass.record.draft, fields))
      : Effect.die(new Error(`this pass is of ${pass.kind.id}: the status of ${kind.id} cannot be written in it`))
  )

/** `Ready` is the engine's own condition. */
export type ConditionType<Type extends string> = Type extends "Ready"
  ? "Ready is written by the engine from how the pass ends: choose another type"
  : Type

/** A condition of this pass's object beside Ready; `Reconciler.condition` in a pipeline. */
export const condition = <const Type extends string>(
  input: Omit<Condition.Input, "type"> & { readonly type: ConditionType<Type> }
): Effect.Effect<void, never, Pass> => say(({ record }) => record.conditions.push(input as Condition.Input))
