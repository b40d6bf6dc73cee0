/**
 * A controller is a pure description of what is reconciled, by what, and what wakes it; it starts nothing and holds no state, so two Managers may run the same
 * one. What its reconciler needs and cannot get is a compile error that says so.
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
 * ```
 *
 * ```ts
 * import { Controller, Reconciler } from "@fixpoint/core"
 * import { Role, Scope } from "./kinds.ts"
 *
 * export const roles = Controller.make({
 *   for: Role,
 *   watches: [Scope],
 *   reconciler: Reconciler.for(Role).pipe(
 *     Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" })
 *   )
 * })
 * ```
 */
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import { formatResource } from "./ApiClient.ts"
import type { ApiError } from "./ApiError.ts"
import type { Reads, Selection } from "./Cached.ts"
import { type PolicyRule, type RbacOptions, rulesOf } from "./internal/rbac.ts"
import type { NameOf } from "./internal/sentences.ts"
import type * as Kind from "./Kind.ts"
import type { ObjectRef } from "./KubeObject.ts"
import type { Writes } from "./Owned.ts"
import type { Pass } from "./Pass.ts"
import type { Finalizes, Reconciler } from "./Pipeline.ts"
import type { Predicate } from "./Predicate.ts"
import type { ReconcileError } from "./ReconcileError.ts"
import type { RequeuePolicy } from "./RequeuePolicy.ts"
import type { RetryPolicy } from "./RetryPolicy.ts"
import * as Wake from "./Wake.ts"
import type { Every, External, Mapped, Watch } from "./Watch.ts"

export interface Controller<out K extends Kind.Any, out R, out E = never> extends Pipeable {
  readonly for: K
  /** Names its queue, metrics and log lines. */
  readonly name: string
  readonly owns: ReadonlyArray<Kind.Any>
  /** Every kind of which a change wakes the keys that read the object; those of `mapped` too. */
  readonly watches: ReadonlyArray<Kind.Any>
  readonly mapped: ReadonlyArray<Mapped<Kind.Any, any>>
  readonly timers: ReadonlyArray<Every>
  readonly external: ReadonlyArray<External<any>>
  readonly polls: ReadonlyArray<Kind.Any>
  readonly writes: ReadonlyArray<Kind.Any>
  readonly reconciler: Reconciler<any, ReconcileError, any>
  readonly workers: number
  readonly requeue: RequeuePolicy | undefined
  readonly retry: RetryPolicy | undefined
  readonly predicate: Predicate | undefined
  /** All if undefined. */
  readonly namespaces: ReadonlyArray<string> | undefined
  readonly noStatusSubresource: boolean
  /** What `provide` gave: built once a run of the Manager. It needs `R` and may fail with `E`. */
  readonly layer: Layer.Layer<any, E, R> | undefined
  /** `Wake.enqueue` for its kind. */
  readonly enqueue: (ref: ObjectRef) => Effect.Effect<void, never, Wake.Wakes<Kind.Id<K>>>
  /** `Wake.resync` for its kind. */
  readonly resync: (
    selection?: Selection
  ) => Effect.Effect<number, Wake.NotSetUp | Wake.ManagerStopped | ApiError, Wake.Wakes<Kind.Id<K>>>
}

export type Any = Controller<Kind.Any, any, any>
/** What the user must give to run it. */
export type Services<C> = C extends Controller<any, infer R, any> ? R : never
/** With what its layer may fail. */
export type Error<C> = C extends Controller<any, any, infer E> ? E : never
/** The kind that it reconciles. */
export type Id<C> = C extends { readonly for: infer K } ? Kind.Id<K> : never

type Kinds = ReadonlyArray<Kind.Any>
type Watches = ReadonlyArray<Kind.Any | Watch<Kind.Any, any>>
type Watched<W> = W extends Mapped<infer K, any> ? Kind.Id<K> : Kind.Id<W>
type WatchServices<W> = W extends Mapped<any, infer R> ? R : W extends External<infer R> ? R : never

/** What the stages and the clean-ups need. */
type Needs<R> = R extends Finalizes<infer N> ? N : R
type ReadIds<R> = R extends Reads<infer Id> ? Id : never
type WriteIds<R> = R extends Writes<infer Id> ? Id : never

// `Self` when all is well, else a sentence. TypeScript infers E and R through the branches of a conditional, and a value that is not what a sentence says gives the
// shortest message. Writes come before reads: a child is both, and in `owns` it is declared for both. No `NoInfer` in here: over `NoInfer<R>` nothing is found, and
// wrong code passes.
type Checked<Self, E, R, Read extends string, Write extends string> = [Exclude<E, ReconcileError>] extends [never]
  ? [Exclude<WriteIds<R>, Write>] extends [never]
    ? [Exclude<ReadIds<R>, Read>] extends [never]
      ? Self
      : `this reconciler reads ${Exclude<ReadIds<R>, Read>}, and nothing wakes it when that changes: declare it in owns, watches or polls`
    : `this reconciler writes ${Exclude<WriteIds<R>, Write>}: declare it in owns or writes`
  : `this reconciler can fail with ${NameOf<Exclude<E, ReconcileError>>}: say what happens next with Reconciler.mapError, for instance ReconcileError.classify`

/** What the engine gives each pass; the rest of R is the user's own. */
type Provided = Pass | Reads<string> | Writes<string>

export interface Options<
  K extends Kind.Any,
  Owns extends Kinds,
  Watching extends Watches,
  Polls extends Kinds,
  Writing extends Kinds,
  Checked
> {
  readonly for: K
  /**
   * Default: the resource, such as `roles.access.example.com`. Two controllers in one Manager need two names; two of one kind, if they write its status,
   * `namespaces` that differ too.
   */
  readonly name?: string
  /** The kinds of its children: a change of one that bears the object's owner reference wakes the object. Read and written. */
  readonly owns?: Owns
  /** Kinds whose changes wake the keys that read them, and the descriptions of `Watch`. */
  readonly watches?: Watching
  /** Kinds that are read although their changes wake nothing: for those that come back by themselves, with `Watch.every` or `Pass.requeueAfter`. */
  readonly polls?: Polls
  /** Kinds of children that are written and not read, such as one that is only removed: else `owns` says both. A change of such a child wakes its owner too. */
  readonly writes?: Writing
  readonly reconciler: Checked
  /** How many keys run at a time. Default 10. One key never runs twice at once (K35). */
  readonly workers?: number
  /** When keys come back. Default: the `RequeuePolicy` reference. */
  readonly requeue?: RequeuePolicy
  /** Limits the tries of a key that fails (D5). Default: no limit. */
  readonly retry?: RetryPolicy
  /** Which changes of the object itself wake it. Default: all but its status and what the last pass saw already (D27). */
  readonly predicate?: Predicate
  /** Only these. Default: all. */
  readonly namespaces?: ReadonlyArray<string>
  /** Says that the kind's CRD has no status subresource, which is refused at start otherwise (B48, X14). */
  readonly noStatusSubresource?: boolean
}

const workersDefault = 10

/** Throws if `workers` is not a whole number above 0, or `namespaces` is an empty list: both would quietly reconcile nothing. */
export const make = <
  K extends Kind.Any,
  E,
  R,
  const Owns extends Kinds = [],
  const Watching extends Watches = [],
  const Polls extends Kinds = [],
  const Writing extends Kinds = []
>(
  options: Options<
    K,
    Owns,
    Watching,
    Polls,
    Writing,
    Checked<
      Reconciler<{ readonly object: Kind.Type<K> }, E, R>,
      E,
      Needs<R> | WatchServices<Watching[number]>,
      Kind.Id<K> | Kind.Id<Owns[number]> | Watched<Watching[number]> | Kind.Id<Polls[number]>,
      Kind.Id<Owns[number]> | Kind.Id<Writing[number]>
    >
  >
): Controller<K, Exclude<Needs<R>, Provided> | Exclude<WatchServices<Watching[number]>, Reads<string>>> => {
  const kind = options.for
  const name = options.name ?? formatResource(kind)
  const workers = options.workers ?? workersDefault
  if (!Number.isInteger(workers) || workers < 1)
    throw new RangeError(`controller ${name}: workers must be a whole number above 0, not ${workers}`)
  if (options.namespaces?.length === 0)
    throw new RangeError(
      `controller ${name}: namespaces is empty, so nothing would be reconciled: leave it out for all`
    )
  const watches: ReadonlyArray<Kind.Any | Watch<Kind.Any, any>> = options.watches ?? []
  const mapped = watches.filter((watch) => "_tag" in watch && watch._tag === "Mapped") as Array<Mapped<Kind.Any>>
  const controller: Omit<Controller<K, any, any>, "pipe"> = {
    for: kind,
    name,
    owns: options.owns ?? [],
    watches: [
      ...new Set([...watches.filter((watch) => !("_tag" in watch)), ...mapped.map((watch) => watch.kind)])
    ] as ReadonlyArray<any>,
    mapped,
    timers: watches.filter((watch) => "_tag" in watch && watch._tag === "Every") as Array<Every>,
    external: watches.filter((watch) => "_tag" in watch && watch._tag === "External") as Array<External>,
    polls: options.polls ?? [],
    writes: options.writes ?? [],
    reconciler: options.reconciler as any,
    workers,
    requeue: options.requeue,
    retry: options.retry,
    predicate: options.predicate,
    namespaces: options.namespaces,
    noStatusSubresource: options.noStatusSubresource ?? false,
    layer: undefined,
    enqueue: (ref) => Wake.enqueue(kind, ref),
    resync: (selection) => Wake.resync(kind, selection)
  }
  return Object.assign(Object.create(Proto), controller)
}

const Proto = {
  pipe() {
    return pipeArguments(this, arguments)
  }
}

/**
 * Gives a controller services, built once a run of the Manager, when it starts, and released when it stops; if that fails, so does the Manager.
 *
 * ```ts
 * import * as Context from "effect/Context"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import { Controller, Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * class Database extends Context.Service<Database, { readonly grants: Effect.Effect<number> }>()("example/Database") {}
 * export const roles = Controller.make({
 *   for: Role,
 *   reconciler: Reconciler.fromEffect(Role, () => Database.use((database) => database.grants))
 * }).pipe(Controller.provide(Layer.succeed(Database, { grants: Effect.succeed(1) })))
 * ```
 */
export const provide =
  <ROut, E2, RIn>(layer: Layer.Layer<ROut, E2, RIn>) =>
  <K extends Kind.Any, R, E>(self: Controller<K, R, E>): Controller<K, RIn | Exclude<R, ROut>, E | E2> =>
    Object.assign(Object.create(Proto), self, {
      layer: self.layer === undefined ? layer : Layer.provideMerge(self.layer, layer as Layer.Layer<any, any, any>)
    })

export type { PolicyRule, RbacOptions }

/**
 * What the controllers may do in the cluster, made from their declarations, and no more: rules of a Role or ClusterRole. Posting Events is among them, the
 * lease of leader election is not.
 *
 * ```ts
 * import { Controller, Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const clusterRole = {
 *   apiVersion: "rbac.authorization.k8s.io/v1",
 *   kind: "ClusterRole",
 *   metadata: { name: "access-operator" },
 *   rules: Controller.rbac([Controller.make({ for: Role, reconciler: Reconciler.for(Role) })])
 * }
 * ```
 */
export const rbac = (controllers: Any | ReadonlyArray<Any>, options: RbacOptions = {}): ReadonlyArray<PolicyRule> =>
  rulesOf(Array.isArray(controllers) ? controllers : [controllers as Any], options)
