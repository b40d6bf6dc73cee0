/**
 * A reconciler is a value, composed as a pipeline: each stage adds a named result to the context, its failures to `E` and its needs to `R`, as `Effect.bind`
 * does; nothing needs an annotation.
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
 * export class Role extends Kind.make({
 *   group: "access.example.com", version: "v1", kind: "Role", scope: "Namespaced",
 *   spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) }),
 *   status: Schema.Struct({ rules: Schema.Int })
 * }) {}
 * export class ConfigMap extends Kind.make({
 *   group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced",
 *   fields: { data: Schema.Record(Schema.String, Schema.String) }
 * }) {}
 * ```
 *
 * ```ts
 * import { Reconciler } from "@fixpoint/core"
 * import { ConfigMap, Role, Scope } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" }),
 *   Reconciler.child("config", ConfigMap, ({ object, scope }) => ({
 *     metadata: { name: `${object.metadata.name}-rules` },
 *     data: { rules: object.spec.rules.join(","), members: scope.spec.members.join(",") }
 *   })),
 *   Reconciler.status(({ object }) => ({ rules: object.spec.rules.length }))
 * )
 * ```
 *
 * Laws: sequence is associative with the empty pipeline as identity; `all` with concurrency 1 equals sequence when nothing fails; `during` changes text only.
 */
import * as Effect from "effect/Effect"
import * as Cached from "./Cached.ts"
import type * as Condition from "./Condition.ts"
import type { Decided, NoOther } from "./internal/sentences.ts"
import type * as Kind from "./Kind.ts"
import type { ObjectRef } from "./KubeObject.ts"
import * as Owned from "./Owned.ts"
import * as Pass from "./Pass.ts"
import {
  type AnyEffect,
  append,
  type Base,
  type Deleting,
  type Extend,
  type Finalizer,
  type Finalizes,
  make,
  type Reconciler,
  withFinalizers,
  wrap
} from "./Pipeline.ts"
import { during, Fatal, type NotReady, type ReconcileError } from "./ReconcileError.ts"

export type { Deleting, Finalizer, Finalizes, Reconciler, Stage } from "./Pipeline.ts"
export * from "./ReconcilerFlow.ts"

/**
 * The pipeline that does nothing: `{ object }`.
 *
 * ```ts
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const nothing = Reconciler.for(Role)
 * ```
 */
const for_ = <K extends Kind.Any>(kind: K): Reconciler<{ readonly object: Kind.Type<K> }> =>
  make<{ readonly object: Kind.Type<K> }, never, never>(kind, [])
export { for_ as for }

/**
 * One function as a whole reconciler; what it answers is the context's `result`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Fatal, Pass, Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.fromEffect(Role, Effect.fnUntraced(function* (object) {
 *   if (object.spec.rules.length > 100) return yield* new Fatal({ reason: "TooManyRules" })
 *   yield* Pass.status(Role, { rules: object.spec.rules.length })
 * }))
 * ```
 */
export const fromEffect = <K extends Kind.Any, F extends AnyEffect>(
  kind: K,
  step: (object: Kind.Type<K>) => F
): Reconciler<
  { readonly object: Kind.Type<K>; readonly result: Effect.Success<F> },
  Effect.Error<F>,
  Effect.Services<F>
> => for_(kind).pipe(bind("result", ({ object }) => step(object)))

type Whole<R> = [Extract<R, Finalizes<any>>] extends [never]
  ? unknown
  : "this pipeline has a clean-up, which a function would lose: compose it with pipe instead"

/**
 * The whole pipeline as one function of the object, to be called from a generator.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * const count = Reconciler.toStep(
 *   Reconciler.for(Role).pipe(Reconciler.bind("count", ({ object }) => Effect.succeed(object.spec.rules.length)))
 * )
 * export const role = Reconciler.fromEffect(Role, Effect.fnUntraced(function* (object) {
 *   const { count: rules } = yield* count(object)
 *   yield* Effect.log(rules)
 * }))
 * ```
 */
export const toStep =
  <Ctx extends Base, E, R>(self: Reconciler<Ctx, E, R> & Whole<R>) =>
  (object: Ctx["object"]): Effect.Effect<Ctx, E, R> =>
    (self as Reconciler<Ctx, E, R>).run({ object })

/**
 * Any operator of Effect, applied to the pipeline so far, or to the block that it stands in: `Reconciler.via(Effect.withSpan("role"))`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.tap(({ object }) => Effect.log(object.metadata.name)),
 *   Reconciler.via(Effect.withSpan("role"))
 * )
 * ```
 */
export const via =
  <A, E, R, A2, E2, R2>(operator: (effect: Effect.Effect<A, E, R>) => Effect.Effect<A2, E2, R2>) =>
  (self: Reconciler<A, E, R>): Reconciler<A2, E2, R2> =>
    wrap(self, operator)

/**
 * The result of an effect, by a name for the stages after it. A name that is there already gets the new value, and its type.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 *
 * export const answer = Reconciler.bind("answer", () => Effect.succeed(42))
 * ```
 */
export const bind =
  <const Name extends string, Ctx, F extends AnyEffect>(name: Name, f: (ctx: NoInfer<Ctx>) => F) =>
  <E, R>(
    self: Reconciler<Ctx, E, R>
  ): Reconciler<Extend<Ctx, Name, Effect.Success<F>>, E | Effect.Error<F>, R | Effect.Services<F>> =>
    append(self, { _tag: "Bind", name, run: f })

/**
 * An effect for what it does; its result is dropped.
 *
 * ```ts
 * import { Pass, Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.tap(() => Pass.requeueAfter("1 hour"))
 * )
 * ```
 */
export const tap =
  <Ctx, F extends AnyEffect>(f: (ctx: NoInfer<Ctx>) => F) =>
  <E, R>(self: Reconciler<Ctx, E, R>): Reconciler<Ctx, E | Effect.Error<F>, R | Effect.Services<F>> =>
    append(self, { _tag: "Tap", run: f })

/** A name alone means the object's own namespace; one in another is written out. */
const placed = (kind: Kind.Any, { object }: Base, ref: string | ObjectRef): ObjectRef => {
  const { name, namespace } = typeof ref === "string" ? { name: ref, namespace: object.metadata.namespace } : ref
  if (kind.scope === "Cluster") return { namespace: undefined, name }
  // Only a cluster-scoped object that gives a name alone gets here; a defect, since no event of the world will mend it.
  if (namespace === undefined)
    throw new Error(
      `${kind.kind} ${name}: ${object.kind} is cluster-scoped, so the namespace must be said: { namespace, name }`
    )
  return { namespace, name }
}

/**
 * The object that ours refers to, or NotReady until it is there; its appearance and every change wake ours. A name alone means our own namespace: a reference
 * into another is written out as `{ namespace, name }`.
 *
 * ```ts
 * import { Reconciler } from "@fixpoint/core"
 * import { Role, Scope } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" })
 * )
 * ```
 */
export const need = <const Name extends string, K extends Kind.Any, Ctx extends Base>(
  name: Name,
  kind: K,
  ref: (ctx: NoInfer<Ctx>) => string | ObjectRef,
  options: Cached.NeedOptions
) =>
  bind<Name, Ctx, Effect.Effect<Kind.Type<K>, NotReady, Cached.Reads<Kind.Id<K>>>>(name, (ctx) =>
    Cached.need(kind, placed(kind, ctx, ref(ctx)), options)
  )

/**
 * A child that must be as desired; the context has it as it then is. It lives in the object's namespace, bears its owner reference and goes with it.
 *
 * ```ts
 * import { Reconciler } from "@fixpoint/core"
 * import { ConfigMap, Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.child("config", ConfigMap, ({ object }) => ({
 *     metadata: { name: object.metadata.name },
 *     data: { rules: object.spec.rules.join(",") }
 *   }))
 * )
 * ```
 */
export const child = <
  const Name extends string,
  K extends Kind.Any,
  Ctx,
  F extends (ctx: NoInfer<Ctx>) => Kind.Desired<Kind.Type<K>>
>(
  name: Name,
  kind: K,
  desired: F & NoOther<ReturnType<F>, Kind.Desired<Kind.Type<K>>>,
  options?: Owned.ApplyOptions
) =>
  bind<
    Name,
    Ctx,
    Effect.Effect<Kind.Type<K>, ReconcileError, Pass.Pass | Cached.Reads<Kind.Id<K>> | Owned.Writes<Kind.Id<K>>>
  >(name, (ctx) => Effect.mapError(Owned.apply(kind, desired(ctx), options), during(`applying ${kind.kind}`)))

export interface ChildrenOptions<T> extends Owned.ApplyAllOptions<T> {
  /** How the children are told apart in the context's map. Default: by name. */
  readonly key?: (child: T) => string
}

/**
 * Many children that must be as desired; the context has them in a map. With `prune` those that are not desired any more are removed. All are tried, and
 * failures merge, as in `all`.
 *
 * ```ts
 * import { Reconciler } from "@fixpoint/core"
 * import { ConfigMap, Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.children("configs", ConfigMap, ({ object }) =>
 *     object.spec.rules.map((rule) => ({ metadata: { name: `rule-${rule}` }, data: { rule } })),
 *     { prune: true }
 *   ),
 *   Reconciler.status(({ configs }) => ({ rules: configs.size }))
 * )
 * ```
 */
export const children = <
  const Name extends string,
  K extends Kind.Any,
  Ctx,
  F extends (ctx: NoInfer<Ctx>) => ReadonlyArray<Kind.Desired<Kind.Type<K>>>
>(
  name: Name,
  kind: K,
  desired: F & NoOther<ReturnType<F>[number], Kind.Desired<Kind.Type<K>>>,
  options: ChildrenOptions<Kind.Type<K>> = {}
) =>
  bind<
    Name,
    Ctx,
    Effect.Effect<
      ReadonlyMap<string, Kind.Type<K>>,
      ReconcileError,
      Pass.Pass | Cached.Reads<Kind.Id<K>> | Owned.Writes<Kind.Id<K>>
    >
  >(name, (ctx) => {
    const key = options.key ?? ((child: any) => child.metadata.name as string)
    return Owned.applyAll(kind, desired(ctx), options).pipe(
      Effect.flatMap((all) => {
        const byKey = new Map(all.map((child) => [key(child), child] as const))
        return byKey.size === all.length
          ? Effect.succeed(byKey)
          : Effect.fail(new Fatal({ reason: "DuplicateChild", message: `two of ${name} have the same key` }))
      }),
      Effect.mapError(during(`applying ${kind.kind}`))
    )
  })

/**
 * Fields of the object's status. They are gathered, and written in one request when the pass has settled with a success or NotReady (B44). Those said later
 * replace those said earlier, field by field.
 *
 * ```ts
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.status(({ object }) => ({ rules: object.spec.rules.length }))
 * )
 * ```
 */
export const status = <Ctx extends Base, F extends (ctx: NoInfer<Ctx>) => Kind.Status<Ctx["object"]>>(
  fields: F & NoOther<ReturnType<F>, Kind.Status<Ctx["object"]>>
) =>
  tap<Ctx, Effect.Effect<unknown, never, Pass.Pass>>((ctx) =>
    Effect.map(Pass.current, ({ record }) => Object.assign(record.draft, fields(ctx)))
  )

/**
 * A condition of the object beside Ready, which the engine writes. Gathered and written as the status.
 *
 * ```ts
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.condition("Restricted", ({ object }) =>
 *     object.spec.rules.length < 10
 *       ? { status: "True", reason: "FewRules", message: "" }
 *       : { status: "False", reason: "ManyRules", message: `${object.spec.rules.length} rules` }
 *   )
 * )
 * ```
 */
export const condition = <const Type extends string, Ctx>(
  type: Pass.ConditionType<Type>,
  f: (ctx: NoInfer<Ctx>) => Omit<Condition.Input, "type">
) =>
  tap<Ctx, Effect.Effect<unknown, never, Pass.Pass>>((ctx) =>
    Effect.map(Pass.current, ({ record }) => record.conditions.push({ ...f(ctx), type: type as string }))
  )

/**
 * A clean-up outside of the cluster, before an object goes. The finalizer is on the object before the first run of the pipeline; when the object is deleted the
 * clean-up runs instead of the pipeline, as often as it takes, and then the finalizer is taken off (D13).
 *
 * It holds for every object of the kind, wherever in the pipeline it is said, also inside of `when`. It is a program of its own: no operator of the pipeline acts
 * on it, so it says itself what its failures mean. It need not have succeeded before, and may run twice: make it do nothing if there is nothing to do.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.finalizer("access.example.com/cleanup", ({ ref }) => Effect.log(`revoking ${ref.name}`))
 * )
 * ```
 */
export const finalizer = <Ctx extends Base, F extends (deleting: Deleting<NoInfer<Ctx>["object"]>) => AnyEffect>(
  name: `${string}/${string}`,
  cleanup: F & Decided<Effect.Error<ReturnType<F>>, "this clean-up">
) => {
  const own: Finalizer = {
    name,
    cleanup: (deleting) => Effect.mapError((cleanup as F)(deleting), during("clean-up"))
  }
  return <E, R>(self: Reconciler<Ctx, E, R>): Reconciler<Ctx, E, R | Finalizes<Effect.Services<ReturnType<F>>>> =>
    withFinalizers(self, [own])
}
