/**
 * The stages of `Reconciler` that say whether, how often, how long and in what order other stages run, and what becomes of their failures.
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
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Types from "effect/Types"
import { mergeCause, mergeExits } from "./internal/mergeFailures.ts"
import { join } from "./internal/pipeline.ts"
import {
  type Any,
  type AnyEffect,
  append,
  type CtxOf,
  type ErrorOf,
  type Extend,
  part,
  type Reconciler,
  type ServicesOf,
  type Stage,
  wrap
} from "./Pipeline.ts"
import * as Pass from "./Pass.ts"
import * as ReconcileError from "./ReconcileError.ts"
import * as RetryPolicy from "./RetryPolicy.ts"

/**
 * A stage that runs only if the predicate holds; the names that it makes are optional afterwards. Several stages go in by `flow` of
 * `effect/Function`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.when(
 *     ({ object }) => object.spec.rules.length > 0,
 *     Reconciler.bind("first", ({ object }) => Effect.succeed(object.spec.rules[0]))
 *   ),
 *   Reconciler.tap(({ first }) => Effect.log(first ?? "no rules"))
 * )
 * ```
 */
export const when =
  <Ctx, Ctx2, E2, R2>(predicate: (ctx: NoInfer<Ctx>) => boolean, stage: Stage<Ctx, Ctx2, E2, R2>) =>
  <E, R>(
    self: Reconciler<Ctx, E, R>
  ): Reconciler<Types.Simplify<Ctx & Partial<Omit<Ctx2, keyof Ctx>>>, E | E2, R | R2> => {
    const then = part(self.kind, [stage])
    return append(self, { _tag: "Block", run: (ctx) => (predicate(ctx) ? then.run(ctx) : Effect.succeed(ctx)) }, [then])
  }

/**
 * An effect for each item; the results are a list by that name, in the order of the items. Each runs to its end, and failures merge, as in `all`. One at a time
 * unless `concurrency` says more.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.forEach("sizes", ({ object }) => object.spec.rules, (rule) => Effect.succeed(rule.length), { concurrency: 4 })
 * )
 * ```
 */
export const forEach =
  <const Name extends string, Ctx, A, F extends AnyEffect>(
    name: Name,
    items: (ctx: NoInfer<Ctx>) => Iterable<A>,
    f: (item: A, ctx: NoInfer<Ctx>) => F,
    options?: { readonly concurrency?: number | "unbounded" }
  ) =>
  <E, R>(
    self: Reconciler<Ctx, E, R>
  ): Reconciler<Extend<Ctx, Name, ReadonlyArray<Effect.Success<F>>>, E | Effect.Error<F>, R | Effect.Services<F>> =>
    append(self, {
      _tag: "Bind",
      name,
      run: (ctx) =>
        Effect.forEach(items(ctx), (item) => Effect.exit(Effect.suspend(() => f(item, ctx))), {
          concurrency: options?.concurrency ?? 1
        }).pipe(Effect.flatMap((exits: ReadonlyArray<Exit.Exit<any, any>>) => mergeExits(exits)))
    })

// What all branches make. Not `UnionToIntersection`, which would take a branch that makes one name or another for one that makes both.
type Together<C extends ReadonlyArray<Any>> = {
  readonly [I in keyof C]: (ctx: CtxOf<C[I]>) => void
}[number] extends (ctx: infer All) => void
  ? All
  : never

/**
 * Stages that do not need each other. Every one runs to its end, so that one which waits does not cut another's write short. If several fail, the pass ends as
 * the worst of them says (Temporary, Fatal, NotReady, in this order), the soonest wish to come back counts, and all texts are kept (B45). One at a time
 * unless `concurrency` says more.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.all([
 *     Reconciler.bind("count", ({ object }) => Effect.succeed(object.spec.rules.length)),
 *     Reconciler.tap(({ object }) => Effect.log(object.metadata.name))
 *   ], { concurrency: 2 })
 * )
 * ```
 */
export const all =
  <Ctx, const C extends ReadonlyArray<Any>>(
    // Not `C extends ReadonlyArray<Stage>`, with which E and R become `unknown` in silence.
    stages: { readonly [I in keyof C]: (self: Reconciler<Ctx>) => C[I] },
    options?: { readonly concurrency?: number | "unbounded" }
  ) =>
  <E, R>(
    self: Reconciler<Ctx, E, R>
  ): Reconciler<Types.Simplify<Ctx & Together<C>>, E | ErrorOf<C[number]>, R | ServicesOf<C[number]>> => {
    const branches = (stages as ReadonlyArray<any>).map((stage) => part(self.kind, [stage]))
    return append(
      self,
      {
        _tag: "Block",
        run: (ctx) =>
          Effect.forEach(branches, (branch) => Effect.exit(Effect.suspend(() => branch.run(ctx))), {
            concurrency: options?.concurrency ?? 1
          }).pipe(
            Effect.flatMap((exits) => mergeExits(exits)),
            Effect.map((results) => join(ctx, results))
          )
      },
      branches
    )
  }

const onlyFails = (cause: Cause.Cause<unknown>): boolean => cause.reasons.every(Cause.isFailReason)

/**
 * A stage, and another that runs on the same context if the first fails; a defect or an interruption is no failure. What the first has said meanwhile (status,
 * ledger) stays said. Afterwards only the names that both make are there.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.orElse(
 *     Reconciler.bind("limit", ({ object }) => object.spec.rules.length > 0 ? Effect.succeed(10) : Effect.fail("none")),
 *     Reconciler.bind("limit", () => Effect.succeed(0))
 *   )
 * )
 * ```
 */
export const orElse =
  <Ctx, A extends Any, B extends Any>(first: (self: Reconciler<Ctx>) => A, fallback: (self: Reconciler<Ctx>) => B) =>
  <E, R>(
    self: Reconciler<Ctx, E, R>
  ): Reconciler<CtxOf<A> | CtxOf<B>, E | ErrorOf<B>, R | ServicesOf<A> | ServicesOf<B>> => {
    const one = part(self.kind, [first])
    const other = part(self.kind, [fallback])
    return append(
      self,
      {
        _tag: "Block",
        run: (ctx) =>
          Effect.catchCause(one.run(ctx), (cause) => (onlyFails(cause) ? other.run(ctx) : Effect.failCause(cause)))
      },
      [one, other]
    )
  }

/**
 * Says anew what every failure of the pipeline so far means, or of the block that it stands in: `Reconciler.mapError(ReconcileError.classify)`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { ReconcileError, Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.tap(() => Effect.tryPromise(async () => {})),
 *   Reconciler.mapError(ReconcileError.classify)
 * )
 * ```
 */
export const mapError =
  <E, E2>(f: (error: E) => E2) =>
  <Ctx, R>(self: Reconciler<Ctx, E, R>): Reconciler<Ctx, E2, R> =>
    wrap(self, (effect) => Effect.catchCause(effect, (cause) => Effect.failCause(mergeCause(Cause.map(cause, f)))))

/**
 * What happens after failures of one tag, in the pipeline so far or in the block that it stands in.
 *
 * ```ts
 * import * as Data from "effect/Data"
 * import * as Effect from "effect/Effect"
 * import { Fatal, Reconciler, Temporary } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * class DatabaseError extends Data.TaggedError("DatabaseError")<{ readonly busy: boolean }> {}
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.bind("grants", () => Effect.fail(new DatabaseError({ busy: true }))),
 *   Reconciler.catchTag("DatabaseError", (error) =>
 *     error.busy ? new Temporary({ delay: "10 seconds", cause: error }) : new Fatal({ reason: "Denied", cause: error })
 *   )
 * )
 * ```
 */
export const catchTag =
  <const Tag extends Types.Tags<E>, E, F extends AnyEffect>(tag: Tag, f: (error: Types.ExtractTag<E, Tag>) => F) =>
  <Ctx, R>(
    self: Reconciler<Ctx, E, R>
  ): Reconciler<Ctx | Effect.Success<F>, Types.ExcludeTag<E, Tag> | Effect.Error<F>, R | Effect.Services<F>> =>
    wrap(self, (effect) => Effect.catchCause(effect, caught(tag, f as any)))

// Several branches may have failed at once: each failure of the tag is handled, and what is left of all merges.
const caught =
  (tag: string, f: (error: any) => AnyEffect) =>
  (cause: Cause.Cause<any>): AnyEffect => {
    const isTagged = (reason: Cause.Reason<any>) => Cause.isFailReason(reason) && reason.error?._tag === tag
    if (!cause.reasons.some(isTagged)) return Effect.failCause(cause)
    return Effect.forEach(cause.reasons, (reason) =>
      Effect.exit(
        isTagged(reason)
          ? Effect.suspend(() => f((reason as Cause.Fail<any>).error))
          : Effect.failCause(Cause.fromReasons([reason]))
      )
    ).pipe(
      Effect.flatMap((exits) => mergeExits(exits)),
      Effect.map((results) => results.at(-1))
    )
  }

type Block<Ctx, B> = <E, R>(self: Reconciler<Ctx, E, R>) => Reconciler<CtxOf<B>, E | ErrorOf<B>, R | ServicesOf<B>>

/**
 * A named block: its failures read `creating the database failed: ...`, and `mapError`, `catchTag`, `timeout` and `via` inside act on the block alone. A failure
 * that is named already keeps its name.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { ReconcileError, Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.during("creating the database",
 *     Reconciler.bind("database", ({ object }) => Effect.tryPromise(async () => object.metadata.name)),
 *     Reconciler.timeout("10 seconds"),
 *     Reconciler.mapError(ReconcileError.classify)
 *   )
 * )
 * ```
 */
export const during: {
  <Ctx, A extends Any>(operation: string, a: (block: Reconciler<Ctx>) => A): Block<Ctx, A>
  <Ctx, A, B extends Any>(operation: string, a: (block: Reconciler<Ctx>) => A, b: (_: A) => B): Block<Ctx, B>
  <Ctx, A, B, C extends Any>(
    operation: string,
    a: (block: Reconciler<Ctx>) => A,
    b: (_: A) => B,
    c: (_: B) => C
  ): Block<Ctx, C>
  <Ctx, A, B, C, D extends Any>(
    operation: string,
    a: (block: Reconciler<Ctx>) => A,
    b: (_: A) => B,
    c: (_: B) => C,
    d: (_: C) => D
  ): Block<Ctx, D>
  <Ctx, A, B, C, D, E extends Any>(
    operation: string,
    a: (block: Reconciler<Ctx>) => A,
    b: (_: A) => B,
    c: (_: B) => C,
    d: (_: C) => D,
    e: (_: D) => E
  ): Block<Ctx, E>
  <Ctx, A, B, C, D, E, F extends Any>(
    operation: string,
    a: (block: Reconciler<Ctx>) => A,
    b: (_: A) => B,
    c: (_: B) => C,
    d: (_: C) => D,
    e: (_: D) => E,
    f: (_: E) => F
  ): Block<Ctx, F>
} =
  (operation: string, ...stages: ReadonlyArray<any>) =>
  (self: Any): any => {
    const block = part(self.kind, stages)
    return append(
      self,
      { _tag: "Block", run: (ctx) => Effect.mapError(block.run(ctx), ReconcileError.during(operation)) },
      [block]
    )
  }

/**
 * Ends the pipeline so far, or the block that it stands in, after this long: it is interrupted, and fails as Temporary with reason `Timeout`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.during("asking", Reconciler.tap(() => Effect.sleep("1 second")), Reconciler.timeout("10 seconds"))
 * )
 * ```
 */
export const timeout =
  (duration: Duration.Input) =>
  <Ctx, E, R>(self: Reconciler<Ctx, E, R>): Reconciler<Ctx, E | ReconcileError.Temporary, R> =>
    wrap(self, (effect) =>
      Effect.timeoutOrElse(effect, {
        duration,
        orElse: () =>
          Effect.fail(
            new ReconcileError.Temporary({
              reason: "Timeout",
              message: `took longer than ${Duration.format(Duration.fromInputUnsafe(duration))}`
            })
          )
      })
    )

/**
 * Limits the tries of the pipeline so far, or of the block that it stands in (E4, E5): a Temporary failure that is the last allowed one becomes Fatal, so that the key
 * is only rechecked slowly. Tries are passes: the key's failures in a row and the time since the first of them count, whatever stage they came from. To try again
 * within a pass, use `via(Effect.retry(...))`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Reconciler, Temporary } from "@fixpoint/core"
 * import { Role } from "./kinds.ts"
 *
 * export const role = Reconciler.for(Role).pipe(
 *   Reconciler.tap(() => Effect.fail(new Temporary({ reason: "Busy" }))),
 *   Reconciler.withRetry({ retries: 5, timeout: "1 hour" })
 * )
 * ```
 */
export const withRetry =
  (policy: Omit<RetryPolicy.RetryPolicy, "exhausted">) =>
  <Ctx, E, R>(
    self: Reconciler<Ctx, E, R>
  ): Reconciler<
    Ctx,
    E | ([Extract<E, ReconcileError.Temporary>] extends [never] ? never : ReconcileError.Fatal),
    R | Pass.Pass
  > =>
    wrap(self, (effect) =>
      Effect.catchCause(effect, (cause) =>
        Effect.flatMap(Effect.all([Pass.current, Clock.currentTimeMillis]), ([pass, now]) =>
          Effect.failCause(
            Cause.map(cause, (error) =>
              error instanceof ReconcileError.Temporary ? limited(policy, pass, now, error) : error
            )
          )
        )
      )
    )

const limited = (
  policy: RetryPolicy.RetryPolicy,
  { attempt, failingSince, startedAt }: Pass.Pass["Service"],
  now: number,
  error: ReconcileError.Temporary
): ReconcileError.Temporary | ReconcileError.Fatal => {
  const decision = RetryPolicy.decide(policy, {
    attempts: attempt,
    runtimeMillis: now - (failingSince ?? startedAt),
    delayMillis: error.delay === undefined ? 0 : Duration.toMillis(error.delay)
  })
  if (decision === "go on") return error
  const limit = decision === "retries" ? `${attempt + 1} tries` : "the time allowed"
  return new ReconcileError.Fatal({
    reason: error.reason ?? "RetriesExhausted",
    message: `given up after ${limit}: ${ReconcileError.textOf(error)}`,
    cause: error,
    ...(error.operation !== undefined && { operation: error.operation })
  })
}
