/**
 * Waking objects by kind from anywhere: another reconciler, a webhook, a timer. `Wakes<Id>` in R says which kinds; a Manager that reconciles the kind gives
 * it, so a wake that nobody serves is a compile error at the program's edge. Kinds are leaves, so controllers that wake each other need no import of each
 * other.
 *
 * The examples here are about these kinds:
 *
 * ```ts
 * // kinds.ts
 * import * as Schema from "effect/Schema"
 * import { Kind } from "@fixpoint/core"
 *
 * export class Role extends Kind.make({
 *   group: "access.example.com", version: "v1", kind: "Role", scope: "Namespaced",
 *   spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) }),
 *   status: Schema.Struct({ rules: Schema.Int })
 * }) {}
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiError } from "./ApiError.ts"
import { type Selection, selectorOf } from "./Cached.ts"
import { Failure } from "./internal/failure.ts"
import type * as Kind from "./Kind.ts"
import { kindService } from "./internal/kindService.ts"
import type { ObjectRef } from "./KubeObject.ts"
import type { LabelSelector } from "./LabelSelector.ts"
import { Pass } from "./Pass.ts"

declare const WakesId: unique symbol
/** Identifies the service that wakes objects of one kind. */
export interface Wakes<out Id extends string> {
  readonly [WakesId]: Id
}

/** No Manager here reconciles the kind (K36, D14). */
export class NotSetUp extends Failure("NotSetUp")<{ readonly kind: string }> {
  override get message(): string {
    return `resync of ${this.kind}: no Manager here reconciles it; give the program Manager.layer with a controller for it`
  }
}

/** The Manager that reconciled the kind has stopped (D14). */
export class ManagerStopped extends Failure("ManagerStopped")<{ readonly kind: string }> {
  override get message(): string {
    return `resync of ${this.kind}: its Manager has stopped, nothing will be reconciled`
  }
}

/** How a Manager is woken. */
export interface Waker {
  /**
   * Never waits and never fails: before start it is kept, after stop it is dropped with a debug line (K33, K34, K36). `hops` counts the passes that changed
   * nothing between the last real change and this wake.
   */
  readonly enqueue: (ref: ObjectRef, hops: number) => void
  /** The objects that are chosen, from the API until the cache has synced (K37). */
  readonly list: (selection: {
    readonly namespace: string | undefined
    readonly selector: LabelSelector | undefined
  }) => Effect.Effect<ReadonlyArray<ObjectRef>, NotSetUp | ManagerStopped | ApiError>
}

/** The key of a kind's waker. */
export const wakes: <K extends Kind.Any>(kind: K) => Context.Service<Wakes<Kind.Id<K>>, Waker> = kindService("Wakes")

// A wake sent in a pass leaves when that has settled. What outlived its pass wakes at once: it is work of its own that has come to an end.
const send = (context: Context.Context<never>, waker: Waker, refs: ReadonlyArray<ObjectRef>): void => {
  const pass = Context.getOption(context, Pass)
  if (Option.isSome(pass) && !pass.value.record.closed) {
    for (const ref of refs) pass.value.record.wakes.push((hops) => waker.enqueue(ref, hops))
  } else {
    for (const ref of refs) waker.enqueue(ref, 0)
  }
}

/**
 * Wakes one object: exactly one more pass, however many wakes arrive meanwhile (K35). A name that does not exist is ignored (K34).
 *
 * ```ts
 * import { Wake } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const onWebhook = (name: string) => Wake.enqueue(Role, { namespace: "team", name })
 * ```
 */
export const enqueue = <K extends Kind.Any>(kind: K, ref: ObjectRef): Effect.Effect<void, never, Wakes<Kind.Id<K>>> =>
  Effect.contextWith((context: Context.Context<Wakes<Kind.Id<K>>>) => {
    const waker = Context.get(context, wakes(kind))
    return Effect.sync(() => send(context, waker, [ref]))
  })

/**
 * Wakes every object that is chosen, and answers how many those were. Works before the Manager starts (K37). An interruption before or during the list ends
 * in an interruption even if there was nothing to wake (K38); what was woken stays woken.
 */
export const resync = <K extends Kind.Any>(
  kind: K,
  selection: Selection = {}
): Effect.Effect<number, NotSetUp | ManagerStopped | ApiError, Wakes<Kind.Id<K>>> =>
  Effect.contextWith((context: Context.Context<Wakes<Kind.Id<K>>>) => {
    const waker = Context.getOption(context, wakes(kind))
    // Only what slips past the types gets here; a resync that quietly woke nothing would hide it.
    if (Option.isNone(waker)) return Effect.fail(new NotSetUp({ kind: kind.id }))
    return waker.value.list({ namespace: selection.namespace, selector: selectorOf(selection) }).pipe(
      Effect.map((refs) => {
        send(context, waker.value, refs)
        return refs.length
      })
    )
  })
