/** One law for each stage that talks to the world, over any content; those of pure composition are in `ReconcilerLaws`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Fiber from "effect/Fiber"
import * as Condition from "../src/Condition.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { Fatal, NotReady, type ReconcileError, Temporary } from "../src/ReconcileError.ts"
import { ConfigMap, Role, Scope } from "../typetest/access.ts"
import { decoded, editor, fakePass, object, run } from "./passes.ts"

const runs = { arbitrary: { runs: 1_000 } }
const Name = Schema.Literals(["a", "b", "c", "d", "e"])
const Names = Schema.Array(Name)
const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

const failureOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined =>
  Exit.isFailure(exit) ? (exit.cause.reasons.find(({ _tag }) => _tag === "Fail") as any)?.error : undefined
const valueOf = <A, E>(exit: Exit.Exit<A, E>): A => {
  if (Exit.isFailure(exit)) throw new Error(String(exit.cause))
  return exit.value
}
const config = (name: string, value: string) => ({ metadata: { name }, data: { value } })

describe("each stage, over anything", () => {
  it.effect.prop(
    "need gives the very object that is there, or waits with its reason; either way the read is a subscription",
    [Name, Names],
    ([wanted, present]) =>
      Effect.gen(function* () {
        const fake = fakePass({ stored: present.map((name) => object(Scope, name, { spec: { members: [] } })) })
        const exit = yield* run(
          Reconciler.for(Role).pipe(Reconciler.need("scope", Scope, () => wanted, { reason: "Absent" })),
          fake
        )
        if (present.includes(wanted)) assert.strictEqual(valueOf(exit).scope.metadata.name, wanted)
        else assert.deepInclude(failureOf(exit) as object, { _tag: "NotReady", reason: "Absent" })
        assert.deepStrictEqual(fake.subscribed, [`Object Scope team/${wanted}`])
      }),
    runs
  )

  it.effect.prop(
    "child leaves the child as desired, tells what moved, and a second time moves nothing",
    [Name, Schema.String],
    ([name, value]) =>
      Effect.gen(function* () {
        const fake = fakePass()
        const reconciler = Reconciler.for(Role).pipe(Reconciler.child("config", ConfigMap, () => config(name, value)))
        assert.deepStrictEqual(valueOf(yield* run(reconciler, fake)).config.data, { value })
        assert.deepStrictEqual(fake.pass.record.ledger, [{ action: "created", text: `ConfigMap ${name}` }])
        yield* run(reconciler, fake)
        assert.lengthOf(fake.pass.record.ledger, 1)
      }),
    runs
  )

  it.effect.prop(
    "children with prune leave exactly those that are desired, each once, whatever was there",
    [Names, Names],
    ([before, after]) =>
      Effect.gen(function* () {
        const children = (names: ReadonlyArray<string>) =>
          Reconciler.for(Role).pipe(
            Reconciler.children("configs", ConfigMap, () => [...new Set(names)].map((name) => config(name, "x")), {
              prune: true
            })
          )
        const first = fakePass()
        yield* run(children(before), first)
        const second = fakePass({ stored: [...first.stored.values()] })
        const { configs } = valueOf(yield* run(children(after), second))
        assert.deepStrictEqual([...configs.keys()].toSorted(), [...new Set(after)].toSorted())
        assert.deepStrictEqual(
          [...second.stored.values()].map(({ metadata }) => metadata.name).toSorted(),
          [...new Set(after)].toSorted()
        )
      }),
    runs
  )

  it.effect.prop(
    "status is the last word of each field, and condition the words in their order",
    [Schema.Array(Small), Schema.Array(Name)],
    ([counts, types]) =>
      Effect.gen(function* () {
        const fake = fakePass()
        let reconciler: any = Reconciler.for(Role)
        for (const rules of counts)
          reconciler = reconciler.pipe(
            Reconciler.status<{ readonly object: Role }, () => { rules: number }>(() => ({ rules }))
          )
        for (const type of types)
          reconciler = reconciler.pipe(
            Reconciler.condition(type, () => ({ status: "True", reason: "Said", message: "" }))
          )
        yield* run(reconciler, fake)
        assert.deepStrictEqual(fake.pass.record.draft, counts.length === 0 ? {} : { rules: counts.at(-1) })
        assert.deepStrictEqual(
          fake.pass.record.conditions.map(({ type }) => type),
          [...types]
        )
        const facts = { now: "t", generation: 1 }
        assert.lengthOf(Condition.merge([], fake.pass.record.conditions, facts), new Set(types).size)
      }),
    runs
  )

  it.effect.prop(
    "finalizers are gathered from anywhere, each name once, and change nothing of the run",
    [Names, Small],
    ([names, at]) =>
      Effect.gen(function* () {
        const plain = Reconciler.for(Role).pipe(Reconciler.bind("n", () => Effect.succeed(at)))
        let reconciler: any = plain
        for (const name of new Set(names)) {
          const stage: any = Reconciler.finalizer(`example.com/${name}`, () => Effect.void)
          reconciler = reconciler.pipe(at % 2 === 0 ? stage : Reconciler.when(() => false, stage))
        }
        assert.deepStrictEqual(
          reconciler.finalizers.map(({ name }: any) => name),
          [...new Set(names)].map((name) => `example.com/${name}`)
        )
        assert.deepStrictEqual(valueOf(yield* run(reconciler)), valueOf(yield* run(plain)))
      }),
    runs
  )

  it.effect.prop(
    "forEach answers in the order of its items however many run at a time, and runs every one although some fail",
    [Schema.Array(Small), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))],
    ([items, concurrency]) =>
      Effect.gen(function* () {
        const seen: Array<number> = []
        const each = (item: number): Effect.Effect<number, ReconcileError> =>
          Effect.suspend(() => {
            seen.push(item)
            return item === 0 ? Effect.fail(new Fatal({ reason: "Zero" })) : Effect.succeed(item * 2)
          })
        const exit = yield* run(
          Reconciler.for(Role).pipe(Reconciler.forEach("doubled", () => items, each, { concurrency }))
        )
        assert.lengthOf(seen, items.length)
        if (items.includes(0)) assert.strictEqual(failureOf(exit)?._tag, "Fatal")
        else
          assert.deepStrictEqual(
            valueOf(exit).doubled,
            items.map((item) => item * 2)
          )
      }),
    runs
  )

  it.effect.prop(
    "timeout lets pass what is in time and is a Temporary for what is not",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))
    ],
    ([takes, limit]) =>
      Effect.gen(function* () {
        const slow = Reconciler.for(Role).pipe(
          Reconciler.bind("n", () => Effect.as(Effect.sleep(takes), 1)),
          Reconciler.timeout(limit)
        )
        const fiber = yield* Effect.forkChild(run(slow), { startImmediately: true })
        yield* TestClock.adjust(Math.max(takes, limit))
        const exit = yield* Fiber.join(fiber)
        if (takes < limit) assert.strictEqual(valueOf(exit).n, 1)
        else if (takes > limit) assert.deepInclude(failureOf(exit) as object, { _tag: "Temporary", reason: "Timeout" })
      }),
    runs
  )

  it.effect.prop(
    "withRetry touches neither a success nor a NotReady, and ends the tries at the number allowed",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
      Small,
      Schema.Literals(["success", "NotReady", "Temporary"])
    ],
    ([retries, attempt, end]) =>
      Effect.gen(function* () {
        const ends = {
          success: Effect.void,
          NotReady: Effect.fail(new NotReady({ reason: "X" })),
          Temporary: Effect.fail(new Temporary({ message: "again" }))
        } as const
        const reconciler = Reconciler.for(Role).pipe(
          Reconciler.tap((): Effect.Effect<void, ReconcileError> => ends[end]),
          Reconciler.withRetry({ retries })
        )
        const exit = yield* run(reconciler, fakePass({ attempt }))
        const expected = end === "Temporary" && attempt + 1 >= retries ? "Fatal" : end
        assert.strictEqual(Exit.isSuccess(exit) ? "success" : failureOf(exit)?._tag, expected)
      }),
    runs
  )

  it.effect.prop(
    "via with operators one after the other is via with both, and with none it is nothing",
    [Small, Small, Schema.Boolean],
    ([a, b, fails]) =>
      Effect.gen(function* () {
        const start = Reconciler.for(Role).pipe(
          Reconciler.bind("n", (): Effect.Effect<number, ReconcileError> =>
            fails ? Effect.fail(new Fatal({})) : Effect.succeed(1)
          )
        )
        const add = (by: number) => Effect.map((ctx: any) => ({ ...ctx, n: ctx.n + by }))
        const apart = yield* run(start.pipe(Reconciler.via(add(a)), Reconciler.via(add(b))))
        const both = yield* run(start.pipe(Reconciler.via((effect) => add(b)(add(a)(effect)))))
        const none = yield* run(start.pipe(Reconciler.via((effect) => effect)))
        assert.deepStrictEqual(apart, both)
        assert.deepStrictEqual(none, yield* run(start))
      }),
    runs
  )

  it.effect.prop(
    "fromEffect is one bound stage, and toStep is the run of the pipeline",
    [Small, Schema.Boolean],
    ([n, fails]) =>
      Effect.gen(function* () {
        const step = (role: Role): Effect.Effect<number, ReconcileError> =>
          fails ? Effect.fail(new Fatal({ reason: role.spec.scope })) : Effect.succeed(n + role.spec.rules.length)
        const whole = Reconciler.fromEffect(Role, step)
        const bound = Reconciler.for(Role).pipe(Reconciler.bind("result", ({ object }) => step(object)))
        const expected = yield* run(bound)
        assert.deepStrictEqual(yield* run(whole), expected)
        const role = decoded(Role, editor)
        assert.deepStrictEqual(yield* Effect.exit(Reconciler.toStep(whole)(role)), expected)
      }),
    runs
  )
})
