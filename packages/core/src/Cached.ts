/**
 * Reading other objects from the Manager's cache. A read is a subscription: the key that read an object, present or absent, or a list, is woken when that
 * changes. `Reads<Id>` in R says which kinds are read, so that a read that nobody watches does not compile.
 *
 * Caveat: the cache may lag behind the server. What a step does must be safe to do twice.
 *
 * The examples here are about these kinds:
 *
 * ```ts
 * // kinds.ts
 * import * as Schema from "effect/Schema"
 * import { Kind } from "@fixpoint/core"
 *
 * export class Scope extends Kind.make({
 *   group: "access.example.com", version: "v1", kind: "Scope", scope: "Namespaced",
 *   spec: Schema.Struct({ members: Schema.Array(Schema.String) })
 * }) {}
 * ```
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { kindService } from "./internal/kindService.ts"
import type * as Kind from "./Kind.ts"
import { formatRef, type ObjectRef } from "./KubeObject.ts"
import type { LabelSelector } from "./LabelSelector.ts"
import * as Pass from "./Pass.ts"
import { NotReady } from "./ReconcileError.ts"

declare const ReadsId: unique symbol
/** Identifies the service that reads objects of one kind. */
export interface Reads<out Id extends string> {
  readonly [ReadsId]: Id
}

/** Which objects of a kind are meant; all of them if nothing is said. */
export interface Selection {
  /** One namespace; all if absent. */
  readonly namespace?: string | undefined
  /** Labels that must have exactly these values. */
  readonly labels?: Readonly<Record<string, string>>
  /** The whole language of selectors; holds together with `labels`. */
  readonly selector?: LabelSelector
}

/** The selector that a selection asks for; undefined if any labels will do. */
export const selectorOf = ({ labels, selector }: Selection): LabelSelector | undefined =>
  labels === undefined ? selector : { ...selector, matchLabels: { ...selector?.matchLabels, ...labels } }

/** How the objects of one kind are read: the Manager gives one for each declared kind. */
export interface Reader<T> {
  /** Undefined if there is none in the cache. */
  readonly get: (ref: ObjectRef) => Result.Result<T, Kind.MalformedResource> | undefined
  /** Those that are as their kind says; the Manager logs the others. */
  readonly list: (selection: {
    readonly namespace: string | undefined
    readonly selector: LabelSelector | undefined
  }) => ReadonlyArray<T>
}

/** The key of a kind's reader. */
export const reads: <K extends Kind.Any>(kind: K) => Context.Service<Reads<Kind.Id<K>>, Reader<Kind.Type<K>>> =
  kindService("Reads")

// Inside a pass a read is a subscription, made before the cache is asked; outside of one (a mapped watch) it is only a read.
const read = <K extends Kind.Any, A, E>(
  kind: K,
  subscription: Pass.Subscription,
  ask: (reader: Reader<Kind.Type<K>>) => Effect.Effect<A, E>
): Effect.Effect<A, E, Reads<Kind.Id<K>>> =>
  Effect.contextWith((context: Context.Context<Reads<Kind.Id<K>>>) => {
    const pass = Context.getOption(context, Pass.Pass)
    const reader = Context.get(context, reads(kind))
    if (Option.isNone(pass)) return ask(reader)
    return Pass.whileOpen(pass.value, () => {
      pass.value.subscribe(subscription)
      return ask(reader)
    })
  })

/** The object, if there is one. One that is not as its kind says ends the pass with NotReady, reason `MalformedResource`, until someone mends it (K7). */
export const find = <K extends Kind.Any>(
  kind: K,
  ref: ObjectRef
): Effect.Effect<Option.Option<Kind.Type<K>>, NotReady, Reads<Kind.Id<K>>> =>
  read(kind, { _tag: "Object", kind, ref }, (reader): Effect.Effect<Option.Option<Kind.Type<K>>, NotReady> => {
    const found = reader.get(ref)
    if (found === undefined) return Effect.succeedNone
    return Result.isSuccess(found)
      ? Effect.succeedSome(found.success)
      : Effect.fail(new NotReady({ reason: "MalformedResource", cause: found.failure }))
  })

export interface NeedOptions {
  /** The reason of the condition Ready while it is not there; a CamelCase word such as `ScopeNotFound`. */
  readonly reason: string
  /** Default: `Scope team/docs not found`. */
  readonly message?: string
  /** Look again after this long, although its appearance wakes the key anyway. Default: never. */
  readonly requeueAfter?: Duration.Input
}

/**
 * The object, or NotReady until it is there; its appearance wakes the key.
 *
 * ```ts
 * import { Cached } from "@fixpoint/core"
 * import { Scope } from "./kinds.ts"
 *
 * export const docs = Cached.need(Scope, { namespace: "team", name: "docs" }, { reason: "ScopeNotFound" })
 * ```
 */
export const need = <K extends Kind.Any>(
  kind: K,
  ref: ObjectRef,
  options: NeedOptions
): Effect.Effect<Kind.Type<K>, NotReady, Reads<Kind.Id<K>>> =>
  Effect.flatMap(find(kind, ref), (found) =>
    Option.isSome(found)
      ? Effect.succeed(found.value)
      : Effect.fail(new NotReady({ message: `${kind.kind} ${formatRef(ref)} not found`, ...options }))
  )

/** The objects that a selection chooses; one that comes, changes or goes wakes the key. */
export const list = <K extends Kind.Any>(
  kind: K,
  selection: Selection = {}
): Effect.Effect<ReadonlyArray<Kind.Type<K>>, never, Reads<Kind.Id<K>>> => {
  const { namespace } = selection
  const selector = selectorOf(selection)
  return read(kind, { _tag: "List", kind, namespace, selector }, (reader) =>
    Effect.succeed(reader.list({ namespace, selector }))
  )
}
