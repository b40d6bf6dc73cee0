/**
 * The value that a reconciler is: an effect that waits for its object, made of stages. The stages themselves are in `Reconciler`, which exports the types that
 * its users name.
 */
import type * as Effect from "effect/Effect"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import type * as Result from "effect/Result"
import type * as Types from "effect/Types"
import { type Link, walk } from "./internal/pipeline.ts"
import type * as Kind from "./Kind.ts"
import type { KubeObject, ObjectRef } from "./KubeObject.ts"
import type { ReconcileError } from "./ReconcileError.ts"

/**
 * Makes `Ctx` (the object and one named result a stage), fails with `E`, needs `R`. A pure value: it may run for many objects at once, and in several
 * Managers.
 */
export interface Reconciler<out Ctx, out E = never, out R = never> extends Pipeable {
  readonly kind: Kind.Any
  /** What must be done before an object goes, wherever in the pipeline it is said. */
  readonly finalizers: ReadonlyArray<Finalizer>
  /** The stages in their order. */
  readonly links: ReadonlyArray<Link>
  /** Runs on a context that holds at least `object`. */
  readonly run: (start: any) => Effect.Effect<Ctx, E, R>
}

/**
 * A function from pipeline to pipeline. `when`, `all` and `during` take stages too, so parts of a pipeline need no second vocabulary.
 *
 * A stage gets its types from the pipe in which it is written. One that stands apart, to be used in several, is a function:
 * `<Ctx extends { readonly object: Role }, E, R>(self: Reconciler<Ctx, E, R>) => self.pipe(...)`.
 */
export interface Stage<in Ctx, out Ctx2, out E, out R> {
  (self: Reconciler<Ctx>): Reconciler<Ctx2, E, R>
}

/** An object that is being deleted. It need not be as its kind says any more: `decoded` tells, and `ref` and `uid` are always there (X6). */
export interface Deleting<T> {
  readonly ref: ObjectRef
  readonly uid: string
  readonly raw: KubeObject
  readonly decoded: Result.Result<T, Kind.MalformedResource>
}

/** A name in the object's `metadata.finalizers`, and what is done before it is taken off. */
export interface Finalizer {
  readonly name: string
  readonly cleanup: (deleting: Deleting<any>) => Effect.Effect<unknown, ReconcileError, any>
  /** Whether it guards a record elsewhere: then the ends of the passes are told as `Persisted` says. */
  readonly persisted?: boolean
}

declare const FinalizesId: unique symbol
/** Marks in R what a clean-up needs: no operator of the pipeline acts on it, so none can take its needs away, and no generator can lose it. */
export interface Finalizes<out R> {
  readonly [FinalizesId]: R
}

/** A context at any place of a pipeline. */
export interface Base {
  readonly object: any
}
/** The context with one more name, or another value for one that is there. */
export type Extend<Ctx, Name extends string, A> = Types.Simplify<Omit<Ctx, Name> & { readonly [_ in Name]: A }>
/** A step may return a union of effects (`retryable ? new Temporary({}) : new Fatal({})`), which `Effect<A, E, R>` alone would not infer. */
export type AnyEffect = Effect.Effect<any, any, any>
export type Any = Reconciler<any, any, any>
export type CtxOf<S> = S extends Reconciler<infer Ctx, any, any> ? Ctx : never
export type ErrorOf<S> = S extends Reconciler<any, infer E, any> ? E : never
export type ServicesOf<S> = S extends Reconciler<any, any, infer R> ? R : never

const Proto = {
  run(this: Any, start: any) {
    return walk(this.links, start)
  },
  pipe() {
    return pipeArguments(this, arguments)
  }
}

/** Throws if two clean-ups go by one name: only one of them would be done. */
const joinFinalizers = (before: ReadonlyArray<Finalizer>, more: ReadonlyArray<Finalizer>): ReadonlyArray<Finalizer> => {
  const joined = [...before]
  for (const finalizer of more) {
    const same = joined.find(({ name }) => name === finalizer.name)
    if (same !== undefined && same.cleanup !== finalizer.cleanup)
      throw new Error(`two clean-ups have the finalizer ${finalizer.name}: give each a name of its own`)
    if (same === undefined) joined.push(finalizer)
  }
  return joined
}

/** A pipeline of these stages. */
export const make = <Ctx = any, E = any, R = any>(
  kind: Kind.Any,
  links: ReadonlyArray<Link>,
  finalizers: ReadonlyArray<Finalizer> = []
): Reconciler<Ctx, E, R> => Object.assign(Object.create(Proto), { kind, links, finalizers })

/** The pipeline with more clean-ups. */
export const withFinalizers = (self: Any, more: ReadonlyArray<Finalizer>): Any =>
  more.length === 0 ? self : make(self.kind, self.links, joinFinalizers(self.finalizers, more))

/** The pipeline with one more link, which runs parts that may have clean-ups. */
export const append = (self: Any, link: Link, parts: ReadonlyArray<Any> = []): Any =>
  parts.reduce(
    (whole, { finalizers }) => withFinalizers(whole, finalizers),
    make(self.kind, [...self.links, link], self.finalizers)
  )

/** What stages do by themselves, apart from any pipeline: the stages applied to the empty one. */
export const part = (kind: Kind.Any, stages: ReadonlyArray<(self: any) => any>): Any =>
  stages.reduce((self, stage) => stage(self), make(kind, []))

/** The pipeline as one block, with an operator around it. */
export const wrap = (self: Any, operator: (effect: AnyEffect) => AnyEffect): Any =>
  make(self.kind, [{ _tag: "Block", run: (ctx) => operator(self.run(ctx)) }], self.finalizers)
