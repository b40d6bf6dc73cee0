import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { flow } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Pass from "../src/Pass.ts"
import type * as Pipeline from "../src/Pipeline.ts"
import * as Reconciler from "../src/Reconciler.ts"
import * as ReconcileError from "../src/ReconcileError.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import { Role } from "../typetest/access.ts"
import { fakePass, run } from "./passes.ts"

// ---- random pipelines

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))

/** What a stage of a random pipeline is; `Bind` adds what `from` holds, so that the order of stages shows. */
const Leaf = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Bind"), name: below(4), from: below(4), add: below(5) }),
  Schema.Struct({ _tag: Schema.Literal("Say"), text: below(100) }),
  Schema.Struct({ _tag: Schema.Literal("Status"), rules: below(100) }),
  Schema.Struct({ _tag: Schema.Literal("ComeBack"), seconds: below(100) }),
  Schema.Struct({ _tag: Schema.Literal("Yield") }),
  Schema.Struct({ _tag: Schema.Literal("Fail"), failure: below(5), reason: below(3), seconds: below(5) })
])
type Leaf = typeof Leaf.Type

type Tree =
  | Leaf
  | { readonly _tag: "Die" }
  | { readonly _tag: "When"; readonly holds: boolean; readonly stages: ReadonlyArray<Tree> }
  | { readonly _tag: "During"; readonly operation: string; readonly stages: ReadonlyArray<Tree> }
  | { readonly _tag: "All"; readonly concurrency: number; readonly branches: ReadonlyArray<ReadonlyArray<Tree>> }
  | { readonly _tag: "OrElse"; readonly first: ReadonlyArray<Tree>; readonly second: ReadonlyArray<Tree> }

const leaf: Arbitrary.Arbitrary<Tree> = Arbitrary.schema(Leaf)
const int = (n: number) => Arbitrary.schema(below(n))

const tree = (depth: number): Arbitrary.Arbitrary<Tree> =>
  depth === 0
    ? leaf
    : int(10).pipe(
        Arbitrary.flatMap((choice): Arbitrary.Arbitrary<Tree> => {
          const stages = trees(depth - 1)
          switch (choice) {
            case 0:
              return Arbitrary.map(Arbitrary.all({ n: int(2), stages }), ({ n, stages }) => ({
                _tag: "When",
                holds: n === 1,
                stages
              }))
            case 1:
              return Arbitrary.map(Arbitrary.all({ n: int(3), stages }), ({ n, stages }) => ({
                _tag: "During",
                operation: `operation ${n}`,
                stages
              }))
            case 2:
              return Arbitrary.map(
                Arbitrary.all({ n: int(3), branches: Arbitrary.array(stages, { maxLength: 3 }) }),
                ({ branches, n }) => ({ _tag: "All", concurrency: n + 1, branches })
              )
            case 3:
              return Arbitrary.map(Arbitrary.all({ first: stages, second: stages }), (both) => ({
                _tag: "OrElse",
                ...both
              }))
            case 4:
              return Arbitrary.Constant<Tree>({ _tag: "Die" })
            default:
              return leaf
          }
        })
      )
const trees = (depth: number): Arbitrary.Arbitrary<ReadonlyArray<Tree>> =>
  Arbitrary.array(tree(depth), { maxLength: 3 })

const pipelines = trees(2)
const runs = { arbitrary: { runs: 1_000 } }

type AnyStage = (self: Pipeline.Any) => Pipeline.Any
const identity: AnyStage = (self) => self
const sequence = (stages: ReadonlyArray<AnyStage>): AnyStage => stages.reduce((a, b) => flow(a, b), identity)
const bind = Reconciler.bind as (name: string, f: (ctx: any) => Effect.Effect<any, any, any>) => any
const tap = Reconciler.tap as (f: (ctx: any) => Effect.Effect<any, any, any>) => any
const all = Reconciler.all as (stages: ReadonlyArray<any>, options?: object) => any
const status = Reconciler.status as (fields: () => object) => any
const during = Reconciler.during as (operation: string, ...stages: ReadonlyArray<any>) => any

const failureOf = ({ failure, reason, seconds }: Extract<Leaf, { _tag: "Fail" }>): ReconcileError.ReconcileError => {
  const fields = { reason: `R${reason}`, message: `text ${reason}` }
  switch (failure) {
    case 0:
      return new NotReady(fields)
    case 1:
      return new NotReady({ ...fields, requeueAfter: seconds * 1_000 })
    case 2:
      return new Temporary(fields)
    case 3:
      return new Temporary({ ...fields, delay: seconds * 1_000 })
    default:
      return new Fatal(fields)
  }
}

/** The stage of a tree; `wrote` is told what ran. */
const stageOf = (tree: Tree, wrote: (text: string) => void): AnyStage => {
  const several = (stages: ReadonlyArray<Tree>) => sequence(stages.map((stage) => stageOf(stage, wrote)))
  switch (tree._tag) {
    case "Bind":
      return bind(`n${tree.name}`, (ctx) =>
        Effect.sync(() => {
          const value = (ctx[`n${tree.from}`] ?? 0) + tree.add
          wrote(`n${tree.name}=${value}`)
          return value
        })
      )
    case "Say":
      return tap(() => Pass.changed(`text ${tree.text}`))
    case "Status":
      return status(() => ({ rules: tree.rules }))
    case "ComeBack":
      return tap(() => Pass.requeueAfter(tree.seconds * 1_000))
    case "Yield":
      return tap(() => Effect.yieldNow)
    case "Fail":
      return tap(() => Effect.fail(failureOf(tree)))
    case "Die":
      return tap(() => Effect.die("bug"))
    case "When":
      return Reconciler.when(() => tree.holds, several(tree.stages)) as AnyStage
    case "During":
      return during(tree.operation, several(tree.stages))
    case "All":
      return all(tree.branches.map(several), { concurrency: tree.concurrency })
    case "OrElse":
      return Reconciler.orElse(several(tree.first), several(tree.second)) as AnyStage
  }
}

/** What can be seen of a run: how it ended, with which names, what was said, and what ran in what order. */
const seen = Effect.fnUntraced(function* (build: (wrote: (text: string) => void) => AnyStage) {
  const wrote: Array<string> = []
  const fake = fakePass()
  const exit = yield* run(build((text) => wrote.push(text))(Reconciler.for(Role)), fake)
  const { draft, ledger, requeueAfterMillis } = fake.pass.record
  return { ...told(exit), draft, ledger, requeueAfterMillis, wrote }
})

const told = (exit: Exit.Exit<any, any>) => {
  if (Exit.isSuccess(exit)) {
    const { object: _, ...names } = exit.value
    return { end: "success", names, texts: [] as Array<string> }
  }
  const reasons = exit.cause.reasons.map((reason) => {
    if (!Cause.isFailReason(reason)) return { end: reason._tag, text: "" }
    const { delay, reason: word, requeueAfter, _tag } = reason.error
    return { end: [_tag, word, delay, requeueAfter].join(), text: ReconcileError.textOf(reason.error) }
  })
  return { end: reasons.map(({ end }) => end).join("; "), names: {}, texts: reasons.map(({ text }) => text) }
}

const of = (stages: ReadonlyArray<Tree>) => (wrote: (text: string) => void) =>
  sequence(stages.map((stage) => stageOf(stage, wrote)))
/** A block that changes nothing but where its stages stand. */
const block = (stage: AnyStage): AnyStage => Reconciler.when(() => true, stage) as AnyStage

const same = Effect.fnUntraced(function* (
  one: (wrote: (text: string) => void) => AnyStage,
  other: (wrote: (text: string) => void) => AnyStage
) {
  assert.deepStrictEqual(yield* seen(one), yield* seen(other))
})

describe("a pipeline", () => {
  it.effect.prop(
    "means the same however its stages are grouped into blocks",
    [pipelines, pipelines, pipelines],
    ([a, b, c]) =>
      Effect.gen(function* () {
        const flat = of([...a, ...b, ...c])
        yield* same(flat, (wrote) => flow(block(flow(of(a)(wrote), of(b)(wrote))), of(c)(wrote)))
        yield* same(flat, (wrote) => flow(of(a)(wrote), block(flow(of(b)(wrote), of(c)(wrote)))))
      }),
    runs
  )

  it.effect.prop(
    "is not changed by the empty pipeline before, behind or inside of it",
    [pipelines, pipelines],
    ([a, b]) =>
      Effect.gen(function* () {
        const whole = of([...a, ...b])
        for (const nothing of [block(identity), during("nothing", identity), all([]), all([identity])] as const) {
          yield* same(whole, (wrote) => flow(nothing, whole(wrote)))
          yield* same(whole, (wrote) => flow(of(a)(wrote), nothing, of(b)(wrote)))
        }
      }),
    runs
  )

  it.effect.prop(
    "runs again from the start, as often as it is retried, and for two objects at once",
    [pipelines],
    ([a]) =>
      Effect.gen(function* () {
        const wrote: Array<string> = []
        const pipeline = of(a)((text) => wrote.push(text))(Reconciler.for(Role))
        const first = told(yield* run(pipeline))
        const once = [...wrote]
        assert.deepStrictEqual(told(yield* run(pipeline)), first)
        assert.deepStrictEqual(wrote, [...once, ...once])
        const both = yield* Effect.all([run(pipeline), run(pipeline)], { concurrency: 2 })
        assert.deepStrictEqual(both.map(told), [first, first])
      }),
    runs
  )

  it.effect.prop(
    "never changes a name under a stage that holds on to its context",
    [pipelines],
    ([a]) =>
      Effect.gen(function* () {
        const held: Array<{ readonly ctx: any; readonly names: object }> = []
        const hold = tap((ctx) => Effect.sync(() => held.push({ ctx, names: { ...ctx } })))
        const spied = (stages: ReadonlyArray<Tree>): AnyStage =>
          sequence(stages.flatMap((stage) => [stageOf(stage, () => {}), hold]))
        yield* run(flow(hold, spied(a), block(spied(a)), spied(a))(Reconciler.for(Role)))
        for (const { ctx, names } of held)
          for (const [name, value] of Object.entries(names)) assert.strictEqual(ctx[name], value)
      }),
    runs
  )
})

describe("when", () => {
  it.effect.prop(
    "does nothing if its predicate does not hold",
    [pipelines, pipelines],
    ([a, b]) => same(of(a), (wrote) => flow(of(a)(wrote), Reconciler.when(() => false, of(b)(wrote)) as AnyStage)),
    runs
  )
})

describe("during", () => {
  it.effect.prop(
    "changes nothing but texts, and names the innermost operation",
    [pipelines],
    ([a]) =>
      Effect.gen(function* () {
        const plain = yield* seen(of(a))
        const named = yield* seen((wrote) => during("outer", during("inner", of(a)(wrote))))
        assert.deepStrictEqual({ ...named, texts: [] }, { ...plain, texts: [] })
      }),
    runs
  )
})

describe("orElse", () => {
  it.effect.prop(
    "is its first stage if that succeeds or dies, and the second if it fails",
    [pipelines, pipelines],
    ([a, b]) =>
      Effect.gen(function* () {
        const first = yield* seen(of(a))
        const both = (wrote: (text: string) => void) => Reconciler.orElse(of(a)(wrote), of(b)(wrote)) as AnyStage
        const failed = first.end !== "success" && !first.end.includes("Die")
        if (!failed) return yield* same(of(a), both)
        const second = yield* seen(of(b))
        const { end, names, texts } = yield* seen(both)
        assert.deepStrictEqual({ end, names, texts }, { end: second.end, names: second.names, texts: second.texts })
      }),
    runs
  )

  it.effect.prop(
    "may be grouped either way",
    [pipelines, pipelines, pipelines],
    ([a, b, c]) => {
      const orElse = Reconciler.orElse as (a: AnyStage, b: AnyStage) => AnyStage
      return same(
        (wrote) => orElse(orElse(of(a)(wrote), of(b)(wrote)), of(c)(wrote)),
        (wrote) => orElse(of(a)(wrote), orElse(of(b)(wrote), of(c)(wrote)))
      )
    },
    runs
  )
})

describe("mapError", () => {
  it.effect.prop(
    "with what changes nothing changes nothing",
    [pipelines],
    ([a]) => same(of(a), (wrote) => flow(of(a)(wrote), Reconciler.mapError((error) => error) as AnyStage)),
    runs
  )
})

/** Names of its own for each branch, and nothing read that a sibling makes. */
const apart = (stages: ReadonlyArray<Tree>, branch: number): AnyStage =>
  flow(
    sequence(
      stages.filter(({ _tag }) => _tag !== "Fail" && _tag !== "Die").map((stage) => stageOf(unfailing(stage), () => {}))
    ),
    Reconciler.via(
      Effect.map((ctx: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(ctx).map(([name, value]) => [/^n\d$/.test(name) ? `b${branch}${name}` : name, value])
        )
      )
    ) as AnyStage
  )
const unfailing = (tree: Tree): Tree => {
  const some = (stages: ReadonlyArray<Tree>) =>
    stages.filter(({ _tag }) => _tag !== "Fail" && _tag !== "Die").map(unfailing)
  switch (tree._tag) {
    case "When":
    case "During":
      return { ...tree, stages: some(tree.stages) }
    case "All":
      return { ...tree, branches: tree.branches.map(some) }
    case "OrElse":
      return { ...tree, first: some(tree.first), second: some(tree.second) }
    default:
      return tree
  }
}

describe("all", () => {
  it.effect.prop(
    "one at a time is the sequence of its stages, if none fails and none needs another",
    [pipelines, pipelines, pipelines],
    ([a, b, c]) =>
      same(
        () => all([apart(a, 0), apart(b, 1), apart(c, 2)]),
        () => sequence([block(apart(a, 0)), block(apart(b, 1)), block(apart(c, 2))])
      ),
    runs
  )

  it.effect.prop(
    "ends the same however many run at a time, and each branch runs to its own end",
    [Arbitrary.array(pipelines, { maxLength: 4 })],
    ([branches]) =>
      Effect.gen(function* () {
        const withAtMost = (concurrency: number | "unbounded") =>
          seen((wrote) =>
            all(
              branches.map((branch) => of(branch)(wrote)),
              { concurrency }
            )
          )
        const one = yield* withAtMost(1)
        const alone = yield* Effect.forEach(branches, (branch) => seen(of(branch)))
        assert.deepStrictEqual(
          one.wrote,
          alone.flatMap(({ wrote }) => wrote)
        )
        for (const concurrency of [2, "unbounded"] as const) {
          const { end, names, texts, wrote } = yield* withAtMost(concurrency)
          assert.deepStrictEqual({ end, names, texts }, { end: one.end, names: one.names, texts: one.texts })
          assert.deepStrictEqual(wrote.toSorted(), one.wrote.toSorted())
        }
      }),
    runs
  )
})
