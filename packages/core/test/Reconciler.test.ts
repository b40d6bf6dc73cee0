import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { flow } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Kind from "../src/Kind.ts"
import * as Pass from "../src/Pass.ts"
import * as ReconcileError from "../src/ReconcileError.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { ConfigMap, Role, Scope } from "../typetest/access.ts"
import { decoded, docs, editor, fakePass, object, run } from "./passes.ts"

const empty = Reconciler.for(Role)
const failureOf = <E>(exit: Exit.Exit<unknown, E>): E => {
  assert.isTrue(Exit.isFailure(exit), "it succeeded")
  const reason = (exit as Exit.Failure<unknown, E>).cause.reasons[0]!
  assert.strictEqual(reason._tag, "Fail")
  return (reason as Cause.Fail<E>).error
}
const defectOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? exit.cause.reasons.filter(Cause.isDieReason)[0]?.defect : undefined
const valueOf = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isFailure(exit)) assert.fail(Cause.pretty(exit.cause))
  return exit.value
}

describe("need", () => {
  const needing = empty.pipe(
    Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" })
  )

  it.effect("gives what is there, and what is not there ends the pass as not ready; both are subscriptions", () =>
    Effect.gen(function* () {
      const present = fakePass({ stored: [docs] })
      assert.deepStrictEqual(valueOf(yield* run(needing, present)).scope.spec.members, ["ann"])
      const absent = fakePass()
      const failure = failureOf(yield* run(needing, absent))
      assert.deepStrictEqual(
        [failure._tag, failure.reason, failure.message, failure.requeueAfter],
        ["NotReady", "ScopeNotFound", "Scope team/docs not found", undefined]
      )
      assert.deepStrictEqual(
        [present.subscribed, absent.subscribed],
        [["Object Scope team/docs"], ["Object Scope team/docs"]]
      )
    })
  )

  it.effect("a dependency that is malformed is named, and waits for its mend (K7)", () =>
    Effect.gen(function* () {
      const fake = fakePass({ stored: [object(Scope, "docs", { spec: { members: "all" } })] })
      const failure = failureOf(yield* run(needing, fake))
      assert.deepStrictEqual([failure._tag, failure.reason], ["NotReady", "MalformedResource"])
      assert.match(ReconcileError.textOf(failure), /^Scope team\/docs is malformed: .*members/)
      assert.deepStrictEqual(fake.subscribed, ["Object Scope team/docs"])
    })
  )

  it.effect("a name alone never leaves the object's namespace; another one is written out", () =>
    Effect.gen(function* () {
      const elsewhere = object(Scope, "docs", { spec: { members: ["bob"] } }, { namespace: "shared" })
      assert.strictEqual(failureOf(yield* run(needing, fakePass({ stored: [elsewhere] }))).reason, "ScopeNotFound")
      const explicit = empty.pipe(
        Reconciler.need("scope", Scope, ({ object }) => ({ namespace: "shared", name: object.spec.scope }), {
          reason: "ScopeNotFound"
        })
      )
      assert.deepStrictEqual(valueOf(yield* run(explicit, fakePass({ stored: [elsewhere] }))).scope.spec.members, [
        "bob"
      ])
    })
  )

  it.effect("a name alone for an object without namespace is a defect that says what to write", () =>
    Effect.gen(function* () {
      class Fleet extends Kind.make({
        group: "access.example.com",
        version: "v1",
        kind: "Fleet",
        scope: "Cluster",
        spec: Schema.Struct({ scope: Schema.String })
      }) {}
      const raw = object(Fleet, "all", { spec: { scope: "docs" } })
      const { namespace: _, ...metadata } = raw.metadata
      const fleet = Reconciler.for(Fleet).pipe(
        Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" })
      )
      const exit = yield* run(fleet, fakePass({ kind: Fleet, object: { ...raw, metadata } }))
      assert.match(String(defectOf(exit)), /Scope docs: Fleet is cluster-scoped, so the namespace must be said/)
    })
  )
})

describe("child and children", () => {
  const member = (name: string, data = name) => ({ metadata: { name }, data: { data } })

  it.effect("what a child's write moved is in the ledger, and an unchanged one is not", () =>
    Effect.gen(function* () {
      const owning = empty.pipe(Reconciler.child("config", ConfigMap, () => member("rules")))
      const fake = fakePass()
      assert.deepStrictEqual(valueOf(yield* run(owning, fake)).config.data, { data: "rules" })
      assert.deepStrictEqual(fake.pass.record.ledger, [{ action: "created", text: "ConfigMap rules" }])
      const again = fakePass({ stored: [...fake.stored.values()] })
      yield* run(owning, again)
      assert.deepStrictEqual(again.pass.record.ledger, [])
      assert.deepStrictEqual(again.subscribed, ["Object ConfigMap team/rules"])
    })
  )

  it.effect("a failed write names itself, and what it is about", () =>
    Effect.gen(function* () {
      const owning = empty.pipe(Reconciler.child("config", ConfigMap, () => member("rules"), { conflicts: "fail" }))
      const fake = fakePass({ refused: { rules: new Temporary({ reason: "Forbidden", message: "not allowed" }) } })
      const failure = failureOf(yield* run(owning, fake))
      assert.deepStrictEqual([failure.reason, failure.operation], ["Forbidden", "applying ConfigMap"])
      assert.deepStrictEqual(fake.asked, ["apply rules fail"])
    })
  )

  it.effect("children that are not wanted any more are pruned, and only what the function chooses", () =>
    Effect.gen(function* () {
      const owning = (names: ReadonlyArray<string>, prune: boolean | ((child: ConfigMap) => boolean)) =>
        empty.pipe(Reconciler.children("configs", ConfigMap, () => names.map((name) => member(name)), { prune }))
      const fake = fakePass({ stored: [object(ConfigMap, "foreign", { data: {} })] })
      const made = valueOf(yield* run(owning(["a", "b", "c"], true), fake))
      assert.deepStrictEqual([...made.configs.keys()], ["a", "b", "c"])
      const next = fakePass({ stored: [...fake.stored.values()] })
      yield* run(
        owning(["a"], (child) => child.metadata.name === "b"),
        next
      )
      assert.deepStrictEqual(next.asked, ["apply a repair-edits", "remove b"])
      assert.deepStrictEqual(next.pass.record.ledger, [{ action: "deleted", text: "ConfigMap b" }])
      const all = fakePass({ stored: [...next.stored.values()] })
      yield* run(owning([], true), all)
      assert.deepStrictEqual(all.asked, ["remove a", "remove c"])
      const none = fakePass({ stored: [...fake.stored.values()] })
      yield* run(owning([], false), none)
      assert.deepStrictEqual(none.asked, [])
    })
  )

  it.effect("each child is tried though others fail, and then nothing is pruned (B45)", () =>
    Effect.gen(function* () {
      const first = fakePass()
      yield* run(empty.pipe(Reconciler.child("old", ConfigMap, () => member("old"))), first)
      const owning = empty.pipe(
        Reconciler.children("configs", ConfigMap, () => ["a", "b", "c"].map((name) => member(name)), { prune: true })
      )
      const fake = fakePass({
        stored: [...first.stored.values()],
        refused: {
          a: new NotReady({ reason: "ChildTerminating", requeueAfter: 7 }),
          b: new Fatal({ reason: "ChildNotOurs" })
        }
      })
      const failure = failureOf(yield* run(owning, fake))
      assert.deepStrictEqual([failure._tag, failure.reason], ["Fatal", "ChildNotOurs"])
      assert.deepStrictEqual(fake.asked.toSorted(), [
        "apply a repair-edits",
        "apply b repair-edits",
        "apply c repair-edits"
      ])
    })
  )

  it.effect("two children of one name or one key are an error of the program, told before anything is written", () =>
    Effect.gen(function* () {
      const twice = empty.pipe(Reconciler.children("configs", ConfigMap, () => [member("a"), member("a", "other")]))
      const fake = fakePass()
      assert.strictEqual(failureOf(yield* run(twice, fake)).reason, "DuplicateChild")
      assert.deepStrictEqual(fake.asked, [])
      const keyed = empty.pipe(
        Reconciler.children("configs", ConfigMap, () => [member("a", "x"), member("b", "x")], {
          key: (child) => child.data.data ?? ""
        })
      )
      assert.strictEqual(failureOf(yield* run(keyed)).reason, "DuplicateChild")
    })
  )

  it.effect("a stage that prunes the child of another is found out in the first pass, whichever comes first", () =>
    Effect.gen(function* () {
      const config = Reconciler.child("config", ConfigMap, () => member("rules"))
      const many = Reconciler.children("configs", ConfigMap, () => [member("a")], { prune: true })
      const seeded = fakePass()
      yield* run(empty.pipe(config), seeded)
      const stored = [...seeded.stored.values()]
      for (const pipeline of [empty.pipe(config, many), empty.pipe(many, config)]) {
        const failure = failureOf(
          yield* run(pipeline as Reconciler.Reconciler<any, ReconcileError.ReconcileError, any>, fakePass({ stored }))
        )
        assert.strictEqual(failure.reason, "ChildrenClash")
        assert.match(ReconcileError.textOf(failure), /^ConfigMap rules is both wanted and removed/)
      }
    })
  )
})

describe("status and condition", () => {
  it.effect("fields said later replace those said earlier, and conditions are kept in order", () =>
    Effect.gen(function* () {
      const fake = fakePass()
      const telling = empty.pipe(
        Reconciler.status(() => ({ rules: 1 })),
        Reconciler.condition("Granted", () => ({ status: "False", reason: "Asking", message: "" })),
        Reconciler.status(({ object }) => ({ rules: object.spec.rules.length })),
        Reconciler.condition("Granted", () => ({ status: "True", reason: "Granted", message: "all" }))
      )
      yield* run(telling, fake)
      assert.deepStrictEqual(fake.pass.record.draft, { rules: 2 })
      assert.deepStrictEqual(
        fake.pass.record.conditions.map(({ reason, type }) => [type, reason]),
        [
          ["Granted", "Asking"],
          ["Granted", "Granted"]
        ]
      )
    })
  )
})

describe("finalizer", () => {
  const name = "access.example.com/cleanup"
  const cleaned: Array<string> = []
  const cleaning = Reconciler.finalizer(name, ({ ref }) => Effect.sync(() => cleaned.push(ref.name)))

  it.effect("is carried by the pipeline from wherever it is said, once, and does not run in it (D13)", () =>
    Effect.gen(function* () {
      const pipelines = [
        empty.pipe(cleaning),
        empty.pipe(Reconciler.when(() => false, cleaning)),
        empty.pipe(Reconciler.all([cleaning, cleaning])),
        empty.pipe(
          Reconciler.during("granting", Reconciler.orElse(cleaning, cleaning)),
          Reconciler.timeout("1 second")
        ),
        empty.pipe(cleaning, Reconciler.via(Effect.asVoid)),
        empty.pipe(
          cleaning,
          Reconciler.mapError((error) => error),
          Reconciler.bind("n", () => Effect.succeed(1))
        )
      ]
      for (const pipeline of pipelines) {
        assert.deepStrictEqual(
          pipeline.finalizers.map((finalizer) => finalizer.name),
          [name]
        )
        yield* run(pipeline as Reconciler.Reconciler<any, any, any>)
      }
      assert.deepStrictEqual(cleaned, [])
    })
  )

  it("two clean-ups by one name are refused when the pipeline is made", () => {
    assert.throws(
      () =>
        empty.pipe(
          cleaning,
          Reconciler.finalizer(name, () => Effect.void)
        ),
      /two clean-ups have the finalizer access.example.com\/cleanup/
    )
  })

  it.effect("a clean-up gets a malformed object too, and its failure is named (X6)", () =>
    Effect.gen(function* () {
      const pipeline = empty.pipe(
        Reconciler.finalizer(name, ({ decoded, raw, uid }) =>
          Result.isFailure(decoded) && uid === raw.metadata.uid
            ? Effect.fail(new Temporary({ cause: decoded.failure }))
            : Effect.void
        )
      )
      const raw = object(Role, "broken", { spec: {} })
      const exit = yield* Effect.exit(
        pipeline.finalizers[0]!.cleanup({
          ref: { namespace: "team", name: "broken" },
          uid: raw.metadata.uid,
          raw,
          decoded: Kind.decode(Role, raw)
        }) as Effect.Effect<unknown, ReconcileError.ReconcileError>
      )
      assert.strictEqual(failureOf(exit).operation, "clean-up")
    })
  )
})

describe("the flow of a pipeline", () => {
  it.effect("a step as a generator, with its answer as result", () =>
    Effect.gen(function* () {
      const whole = Reconciler.fromEffect(
        Role,
        Effect.fnUntraced(function* (role) {
          yield* Pass.changed("granted")
          return role.spec.rules.length
        })
      )
      const fake = fakePass()
      assert.strictEqual(valueOf(yield* run(whole, fake)).result, 2)
      const { result } = yield* Effect.provideContext(Reconciler.toStep(whole)(decoded(Role, editor)), fake.context)
      assert.strictEqual(result, 2)
      assert.strictEqual(fake.pass.record.ledger.length, 2)
    })
  )

  it.effect("a throw in any lambda is a defect of the pass, not of the engine", () =>
    Effect.gen(function* () {
      const thrower = (): never => {
        throw new Error("bug")
      }
      const pipelines = [
        empty.pipe(Reconciler.bind("a", thrower)),
        empty.pipe(Reconciler.tap(thrower)),
        empty.pipe(Reconciler.when(thrower, (self) => self)),
        empty.pipe(Reconciler.forEach("a", thrower, () => Effect.void)),
        empty.pipe(Reconciler.forEach("a", () => [1], thrower)),
        empty.pipe(Reconciler.all([Reconciler.tap(thrower)])),
        empty.pipe(Reconciler.all([Reconciler.when(thrower, (self: any) => self)])),
        empty.pipe(Reconciler.during("x", Reconciler.tap(thrower))),
        empty.pipe(Reconciler.status(thrower)),
        empty.pipe(Reconciler.need("a", Scope, thrower, { reason: "A" })),
        empty.pipe(Reconciler.orElse(Reconciler.tap(thrower), (self) => self)),
        empty.pipe(
          Reconciler.tap(() => Effect.fail("x")),
          Reconciler.mapError(thrower)
        )
      ]
      for (const [index, pipeline] of pipelines.entries()) {
        const exit = yield* run(pipeline as Reconciler.Reconciler<any, any, any>)
        assert.strictEqual((defectOf(exit) as Error | undefined)?.message, "bug", `pipeline ${index}`)
      }
    })
  )

  it.effect("forEach keeps the order of the items, runs every one, and merges what fails (B45)", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const each = (failing: ReadonlyArray<string>) =>
        empty.pipe(
          Reconciler.forEach(
            "sizes",
            ({ object }) => [...object.spec.rules, "last"],
            (rule) =>
              Effect.suspend(() => {
                ran.push(rule)
                return failing.includes(rule)
                  ? new NotReady({ reason: "Missing", message: rule, requeueAfter: rule.length * 1_000 })
                  : Effect.as(Effect.yieldNow, rule.length)
              }),
            { concurrency: 2 }
          )
        )
      assert.deepStrictEqual(valueOf(yield* run(each([]))).sizes, [4, 5, 4])
      const failure = failureOf(yield* run(each(["read", "write"])))
      assert.deepStrictEqual([failure.message, failure.requeueAfter], ["read; write", 4_000])
      assert.strictEqual(ran.length, 6)
    })
  )

  it.effect("one branch that waits does not cut short the write of another (B45)", () =>
    Effect.gen(function* () {
      let written = false
      const branches = empty.pipe(
        Reconciler.all(
          [
            Reconciler.tap(() => new NotReady({ reason: "ScopeNotFound" })),
            Reconciler.tap(() =>
              Effect.andThen(
                Effect.sleep("1 second"),
                Effect.sync(() => {
                  written = true
                })
              )
            )
          ],
          { concurrency: 2 }
        )
      )
      const fiber = yield* Effect.forkChild(run(branches))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(failureOf(yield* Fiber.join(fiber)).reason, "ScopeNotFound")
      assert.isTrue(written)
    })
  )

  it.effect("a branch that gives a name another value is not undone by a sibling that leaves it alone", () =>
    Effect.gen(function* () {
      const pipeline = empty.pipe(
        Reconciler.bind("n", () => Effect.succeed(1)),
        Reconciler.all([
          Reconciler.bind("n", ({ n }) => Effect.succeed(n + 1)),
          Reconciler.bind("m", ({ n }) => Effect.succeed(n))
        ])
      )
      const { m, n } = valueOf(yield* run(pipeline))
      assert.deepStrictEqual([m, n], [1, 2])
    })
  )

  it.effect("interrupting the pass interrupts every branch, and counts as no failure of theirs", () =>
    Effect.gen(function* () {
      const stopped: Array<number> = []
      const branch = (n: number) =>
        Reconciler.tap(() => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped.push(n))))
      const branches = empty.pipe(Reconciler.all([branch(1), branch(2)], { concurrency: 2 }))
      const fiber = yield* Effect.forkChild(branches.run({ object: decoded(Role, editor) }))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.deepStrictEqual(stopped.toSorted(), [1, 2])
    })
  )

  it.effect("a timeout interrupts its block alone and is a Temporary that says how long", () =>
    Effect.gen(function* () {
      let interrupted = false
      const slow = empty.pipe(
        Reconciler.bind("a", () => Effect.succeed(1)),
        Reconciler.during(
          "asking",
          Reconciler.tap(() =>
            Effect.onInterrupt(Effect.never, () =>
              Effect.sync(() => {
                interrupted = true
              })
            )
          ),
          Reconciler.timeout("10 seconds")
        )
      )
      const fiber = yield* Effect.forkChild(run(slow))
      yield* TestClock.adjust("10 seconds")
      const failure = failureOf(yield* Fiber.join(fiber))
      assert.deepStrictEqual(
        [failure._tag, failure.reason, failure.operation, failure.message],
        ["Temporary", "Timeout", "asking", "took longer than 10s"]
      )
      assert.isTrue(interrupted)
    })
  )

  it.effect("what several branches failed with is mapped and caught one by one, and only then merged (B45)", () =>
    Effect.gen(function* () {
      class Busy extends Data.TaggedError("Busy")<{ readonly seconds: number }> {}
      class Denied extends Data.TaggedError("Denied")<{}> {}
      const branches = empty.pipe(
        Reconciler.all([
          Reconciler.tap(() => Effect.fail(new Denied())),
          Reconciler.tap(() => Effect.fail(new Busy({ seconds: 9 }))),
          Reconciler.tap(() => Effect.fail(new Busy({ seconds: 3 })))
        ])
      )
      const toOurs = (error: Busy | Denied) =>
        error._tag === "Busy"
          ? new Temporary({ reason: "Busy", message: `busy ${error.seconds}`, delay: error.seconds * 1_000 })
          : new Fatal({ reason: "Denied", message: "denied" })
      const mapped = failureOf(yield* run(branches.pipe(Reconciler.mapError(toOurs))))
      assert.deepStrictEqual(
        [mapped._tag, mapped.message, (mapped as Temporary).delay],
        ["Temporary", "denied; busy 9; busy 3", 3_000]
      )
      const caught = branches.pipe(
        Reconciler.catchTag("Busy", (error) => Effect.fail(toOurs(error))),
        Reconciler.catchTag("Denied", (error) => Effect.fail(toOurs(error)))
      )
      const failure = failureOf(yield* run(caught))
      assert.deepStrictEqual([failure._tag, failure.message], ["Temporary", "denied; busy 9; busy 3"])
    })
  )

  it.effect("an operator acts on its block, and an error from before it passes by", () =>
    Effect.gen(function* () {
      class Foreign extends Data.TaggedError("Foreign")<{}> {}
      let tries = 0
      const pipeline = empty.pipe(
        Reconciler.during(
          "asking",
          Reconciler.tap(() => Effect.suspend(() => (++tries < 3 ? new Foreign() : Effect.void))),
          Reconciler.via(Effect.retry({ times: 5 })),
          Reconciler.mapError((cause) => new Temporary({ cause }))
        ),
        Reconciler.bind("tries", () => Effect.sync(() => tries))
      )
      assert.strictEqual(valueOf(yield* run(pipeline)).tries, 3)
      const earlier = empty.pipe(
        Reconciler.tap(() => new NotReady({ reason: "Waiting" })),
        Reconciler.during(
          "asking",
          Reconciler.tap(() => Effect.void)
        )
      )
      assert.isUndefined(failureOf(yield* run(earlier)).operation)
    })
  )

  it.effect("several stages stand as one by flow", () =>
    Effect.gen(function* () {
      const pipeline = empty.pipe(
        Reconciler.when(
          ({ object }) => object.spec.rules.length > 1,
          flow(
            Reconciler.bind("a", () => Effect.succeed(1)),
            Reconciler.bind("b", ({ a }) => Effect.succeed(a + 1))
          )
        )
      )
      const { a, b } = valueOf(yield* run(pipeline))
      assert.deepStrictEqual([a, b], [1, 2])
    })
  )

  it.effect(
    "a service given by an operator is there for the block, and one that is missing is a defect that names it",
    () =>
      Effect.gen(function* () {
        class Database extends Context.Service<Database, { readonly size: number }>()("test/Size") {}
        const asking = Reconciler.bind("size", () => Database.useSync(({ size }) => size))
        const given = empty.pipe(
          Reconciler.during("asking", asking, Reconciler.via(Effect.provideService(Database, { size: 3 })))
        )
        assert.strictEqual(valueOf(yield* run(given)).size, 3)
        assert.match(String(defectOf(yield* run(empty.pipe(asking)))), /Service not found: test\/Size/)
      })
  )
})

describe("withRetry", () => {
  const failing = (delay?: number) =>
    empty.pipe(
      Reconciler.tap(() => new Temporary({ reason: "Busy", message: "busy", ...(delay !== undefined && { delay }) })),
      Reconciler.withRetry({ retries: 3, timeout: "1 minute" })
    )

  it.effect("the last of the tries allowed ends in a slow recheck, counting passes (E4, D5)", () =>
    Effect.gen(function* () {
      const end = Effect.fnUntraced(function* (attempt: number) {
        const { _tag, message, reason } = failureOf(yield* run(failing(), fakePass({ attempt, failingSince: 0 })))
        return [_tag, reason, message]
      })
      assert.deepStrictEqual(yield* end(0), ["Temporary", "Busy", "busy"])
      assert.deepStrictEqual(yield* end(1), ["Temporary", "Busy", "busy"])
      assert.deepStrictEqual(yield* end(2), ["Fatal", "Busy", "given up after 3 tries: busy"])
      assert.deepStrictEqual(yield* end(7), ["Fatal", "Busy", "given up after 8 tries: busy"])
    })
  )

  it.effect("a wait that would end after the time allowed is not begun (E5)", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(50_000)
      const end = (delay: number, failingSince?: number) =>
        Effect.map(
          run(failing(delay), fakePass({ attempt: 1, ...(failingSince !== undefined && { failingSince }) })),
          (exit) => failureOf(exit)._tag
        )
      assert.strictEqual(yield* end(9_999, 0), "Temporary")
      assert.strictEqual(yield* end(10_000, 0), "Fatal")
      assert.strictEqual(yield* end(59_999, 50_000), "Temporary")
    })
  )

  it.effect("other failures and a success pass through", () =>
    Effect.gen(function* () {
      const limited = <A, E, R>(step: Effect.Effect<A, E, R>) =>
        empty.pipe(
          Reconciler.tap(() => step),
          Reconciler.withRetry({ retries: 1 })
        )
      assert.strictEqual(failureOf(yield* run(limited(new NotReady({ reason: "Waiting" }))))._tag, "NotReady")
      assert.strictEqual(failureOf(yield* run(limited(Effect.fail("foreign")))), "foreign")
      assert.isTrue(Exit.isSuccess(yield* run(limited(Effect.void))))
    })
  )
})
