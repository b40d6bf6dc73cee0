import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Controller from "../src/Controller.ts"
import type { KubeObject } from "../src/KubeObject.ts"
import * as Persisted from "../src/Persisted.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { editor, events, quiet, ready, refTo, Role, running, type World } from "./world.ts"

const unique = Object.assign(new Error("duplicate key value violates unique constraint"), {
  code: "23505",
  constraint: "role_name"
})
const wrapped = (cause: unknown): Error => new Error("persist: it failed", { cause: new Error("query", { cause }) })

/** A record store that answers as a test says, and what was asked of it. */
const recorded = (
  answers: {
    upsert?: (role: Role) => Effect.Effect<unknown, unknown>
    remove?: (uid: string) => Effect.Effect<unknown, unknown>
    conflict?: () => Effect.Effect<unknown, unknown>
  } = {}
) => {
  const asked: Array<string> = []
  const ask = <A>(text: string, effect: Effect.Effect<A, unknown> | undefined) =>
    Effect.suspend(() => {
      asked.push(text)
      return effect ?? Effect.void
    })
  const persisted = Persisted.make({
    for: Role,
    finalizer: "access.example.com/record",
    upsert: (role) => ask(`upsert ${role.spec.rules.length}`, answers.upsert?.(role)),
    delete: (uid) => ask("delete", answers.remove?.(uid)),
    ...(answers.conflict !== undefined && { onConflict: () => ask("conflict", answers.conflict?.()) })
  })
  return { asked, persisted, controller: Controller.make({ for: Role, reconciler: persisted }) }
}

/** In the order of their texts: the server keeps Events by names that are drawn by chance. */
const said = ({ server }: World): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(server.objects(events), (all) =>
    all
      .map(({ message, reason, type }) => `${type} ${reason}: ${String(message).replace(/:[-0-9a-f]{36}\]/, ":uid]")}`)
      .toSorted()
  )

const role = ({ api }: World): Effect.Effect<KubeObject, any> => api.get(Role, refTo(editor))
const observed = (object: KubeObject): unknown => (object.status as any)?.observedGeneration
const messageOf = (object: KubeObject): string => (object.status as any).conditions[0].message

const edited = ({ api }: World, rules: ReadonlyArray<string>) =>
  Effect.andThen(
    api.patch(Role, refTo(editor), { type: "merge", body: { spec: { rules } } }, { fieldManager: "user" }),
    quiet
  )

/** Creates the Role and comes to rest. */
const begun = ({ api }: World) => Effect.andThen(api.create(Role, editor), quiet)

describe("Persisted", () => {
  it("a finalizer that is no name is refused at once, not by the server later (K1)", () => {
    for (const finalizer of ["", "/", "record", "a/", "A.com/x", "a.com/x y"] as Array<any>)
      assert.throws(
        () => Persisted.make({ for: Role, finalizer, upsert: () => Effect.void, delete: () => Effect.void }),
        /finalizer must be a name of yours/
      )
  })

  it("a broken unique constraint is found however deep, but not where a NotReady is (K24, K27)", () => {
    assert.deepInclude(Persisted.uniqueViolationOf(wrapped(unique)), { constraint: "role_name" })
    const own = new Persisted.UniqueViolation({ message: "taken" })
    assert.strictEqual(Persisted.uniqueViolationOf(wrapped(own)), own)
    assert.isUndefined(Persisted.uniqueViolationOf(wrapped(new NotReady({ reason: "X", cause: unique }))))
    assert.isUndefined(Persisted.uniqueViolationOf(Object.assign(new Error("x"), { code: "23503" })))
    assert.isUndefined(Persisted.uniqueViolationOf("23505"))
  })

  it("its parts say by themselves what becomes of a deletion and of an object that cannot be read (D9, K7)", () =>
    Effect.gen(function* () {
      const { asked, persisted } = recorded({ remove: () => Effect.fail(new Error("away")) })
      const error = yield* Effect.flip(persisted.finalize(refTo(editor), "u1"))
      assert.deepInclude(error, { _tag: "Temporary", reason: "DeleteFailed", message: "away" })
      assert.deepStrictEqual(asked, ["delete"])
      const raw = { ...editor, metadata: { ...editor.metadata, uid: "u1", resourceVersion: "1" } } as KubeObject
      assert.deepInclude(yield* Effect.flip(persisted.malformed(raw, "no rules")), {
        _tag: "Fatal",
        reason: "MalformedResource",
        operation: "reading Role[team/editor:u1]"
      })
    }).pipe(Effect.runPromise))

  it.effect("the first success is Created, one after an edit Updated, any other nothing (K12, K13, K14, K8)", () => {
    const { asked, controller } = recorded()
    return running([controller], (world) =>
      Effect.gen(function* () {
        yield* begun(world)
        assert.deepStrictEqual(yield* said(world), ["Normal Created: Created Role[team/editor:uid]"])
        assert.deepStrictEqual([ready(yield* role(world)), observed(yield* role(world))], ["True Synced", 1])
        yield* controller.enqueue(refTo(editor))
        yield* quiet
        assert.strictEqual((yield* said(world)).length, 1)
        yield* edited(world, ["read"])
        assert.deepStrictEqual(yield* said(world), [
          "Normal Created: Created Role[team/editor:uid]",
          "Normal Updated: Updated Role[team/editor:uid]"
        ])
        assert.strictEqual(observed(yield* role(world)), 2)
        assert.deepStrictEqual(asked, ["upsert 2", "upsert 2", "upsert 1"])
      })
    )
  })

  it.effect(
    "a first attempt that failed loses neither Created nor Updated; each failure is told once (X2, K25, K26, D10, D11)",
    () => {
      let isAway = true
      const { controller } = recorded({
        upsert: () => (isAway ? Effect.fail(wrapped(new Error("away"))) : Effect.void)
      })
      return running([controller], (world) =>
        Effect.gen(function* () {
          yield* begun(world)
          const failing = yield* role(world)
          assert.deepStrictEqual([ready(failing), observed(failing)], ["False PersistFailed", undefined])
          assert.strictEqual(messageOf(failing), "persisting the object failed: persist: it failed")
          yield* TestClock.adjust("1 minute")
          yield* quiet
          const warning = "Warning PersistFailed: persisting the object failed: persist: it failed"
          assert.deepStrictEqual(yield* said(world), [warning])
          isAway = false
          yield* TestClock.adjust("2 minutes")
          yield* quiet
          assert.deepStrictEqual(yield* said(world), ["Normal Created: Created Role[team/editor:uid]", warning])
          isAway = true
          yield* edited(world, ["read"])
          assert.strictEqual(observed(yield* role(world)), 1)
          isAway = false
          yield* TestClock.adjust("2 minutes")
          yield* quiet
          assert.include(yield* said(world), "Normal Updated: Updated Role[team/editor:uid]")
          assert.strictEqual(observed(yield* role(world)), 2)
        })
      )
    }
  )

  it.effect(
    "an upsert that fails for hours is tried every two minutes at least, and its own delay stands (D11, X1)",
    () => {
      let delay: string | undefined
      const { asked, controller } = recorded({
        upsert: () => Effect.fail(delay === undefined ? new Error("away") : new Temporary({ delay: delay as any }))
      })
      return running([controller], (world) =>
        Effect.gen(function* () {
          yield* begun(world)
          yield* TestClock.adjust("30 minutes")
          const before = asked.length
          yield* TestClock.adjust("20 minutes")
          assert.isAtLeast(asked.length - before, 10)
          delay = "10 minutes"
          yield* TestClock.adjust("3 minutes")
          const last = asked.length
          yield* TestClock.adjust("9 minutes")
          assert.isAtMost(asked.length - last, 1)
          yield* quiet
        })
      )
    }
  )

  it.effect(
    "a NotReady, however deep, waits: told by its own text, observed, and no Created follows (K16, K18, K21, K22, K24)",
    () => {
      let answer: Effect.Effect<unknown, unknown> = Effect.fail(
        wrapped(new NotReady({ reason: "ScopeNotFound", message: "no scope docs", cause: unique }))
      )
      const { asked, controller } = recorded({ upsert: () => answer, conflict: () => Effect.void })
      return running([controller], (world) =>
        Effect.gen(function* () {
          yield* begun(world)
          const waiting = yield* role(world)
          assert.deepStrictEqual([ready(waiting), observed(waiting)], ["False ScopeNotFound", 1])
          assert.strictEqual(messageOf(waiting), "no scope docs")
          answer = Effect.void
          yield* controller.enqueue(refTo(editor))
          yield* quiet
          assert.strictEqual(ready(yield* role(world)), "True Synced")
          assert.deepStrictEqual(yield* said(world), ["Warning ScopeNotFound: no scope docs"])
          assert.deepStrictEqual(asked, ["upsert 2", "upsert 2"])
        })
      )
    }
  )

  it.effect("a NotReady beside a broken constraint outranks it as well (K24)", () => {
    const both = Effect.failCause(
      Cause.combine(Cause.fail<unknown>(unique), Cause.fail<unknown>(new NotReady({ reason: "A", message: "a" })))
    )
    const { asked, controller } = recorded({ upsert: () => both, conflict: () => Effect.void })
    return running([controller], (world) =>
      Effect.gen(function* () {
        yield* begun(world)
        assert.deepStrictEqual([asked, ready(yield* role(world))], [["upsert 2"], "False A"])
      })
    )
  })

  it.effect("a conflict that is settled touches nothing, and the upsert runs again within seconds (K27, K32)", () => {
    let stale = true
    const { asked, controller } = recorded({
      upsert: () => (stale ? Effect.fail(wrapped(unique)) : Effect.void),
      conflict: () => Effect.sync(() => (stale = false))
    })
    return running([controller], (world) =>
      Effect.gen(function* () {
        yield* begun(world)
        assert.deepStrictEqual([ready(yield* role(world)), yield* said(world)], ["none", []])
        yield* TestClock.adjust("15 seconds")
        yield* quiet
        assert.deepStrictEqual(asked, ["upsert 2", "conflict", "upsert 2"])
        assert.deepStrictEqual(yield* said(world), ["Normal Created: Created Role[team/editor:uid]"])
      })
    )
  })

  it.effect(
    "a conflict that comes back although it was settled is told the third time, and tried every 15 s (K27, D4, D11)",
    () => {
      const { asked, controller } = recorded({
        upsert: () => Effect.fail(wrapped(unique)),
        conflict: () => Effect.void
      })
      return running([controller], (world) =>
        Effect.gen(function* () {
          yield* begun(world)
          yield* TestClock.adjust("1 minute")
          yield* quiet
          assert.strictEqual(ready(yield* role(world)), "False PersistFailed")
          assert.deepStrictEqual(yield* said(world), [
            "Warning PersistFailed: persisting the object failed: duplicate key value violates unique constraint"
          ])
          const before = asked.length
          yield* TestClock.adjust("5 minutes")
          assert.isAtLeast(asked.length - before, 2 * 19)
          yield* quiet
        })
      )
    }
  )

  it.effect.each([
    [new NotReady({ reason: "NameTaken", message: "by another Role" }), "False NameTaken", "by another Role"],
    [new Error("away"), "False PersistFailed", "persisting the object failed: away"],
    [
      new Fatal({ reason: "NameTaken", message: "for good" }),
      "False NameTaken",
      "persisting the object failed: for good"
    ]
  ] as const)(
    "a conflict handler that fails is a failure of the pass, which the object tells: %s (X18, K32)",
    ([failure, expected, text]) => {
      const { controller } = recorded({ upsert: () => Effect.fail(unique), conflict: () => Effect.fail(failure) })
      return running([controller], (world) =>
        Effect.gen(function* () {
          yield* begun(world)
          const told = yield* role(world)
          assert.deepStrictEqual([ready(told), messageOf(told)], [expected, text])
          assert.strictEqual((yield* said(world)).length, 1)
        })
      )
    }
  )

  it.effect("without a conflict handler a broken constraint is a failure like any other (K27)", () => {
    const { controller } = recorded({ upsert: () => Effect.fail(wrapped(unique)) })
    return running([controller], (world) =>
      Effect.gen(function* () {
        yield* begun(world)
        assert.strictEqual(ready(yield* role(world)), "False PersistFailed")
      })
    )
  })

  it.effect(
    "a deletion that fails is told and keeps the object; Deleted is said when it is gone (K30, K31, X4, X13, D13)",
    () => {
      let isAway = true
      const { asked, controller } = recorded({
        remove: () => (isAway ? Effect.fail(new NotReady({ reason: "X", message: "rows refer to it" })) : Effect.void)
      })
      return running([controller], (world) =>
        Effect.gen(function* () {
          yield* begun(world)
          yield* world.api.delete(Role, refTo(editor))
          yield* quiet
          assert.strictEqual(ready(yield* role(world)), "False DeleteFailed")
          assert.include(yield* said(world), "Warning DeleteFailed: deleting the record failed: rows refer to it")
          assert.notInclude((yield* said(world)).join(), "Deleted Role")
          isAway = false
          yield* TestClock.adjust("2 minutes")
          yield* quiet
          assert.deepStrictEqual(yield* world.server.objects(Role), [])
          assert.include(yield* said(world), "Normal Deleted: Deleted Role[team/editor:uid]")
          assert.strictEqual(asked.filter((text) => text === "delete").length, asked.length - 1)
        })
      )
    }
  )

  it.effect("further stages run when the object is persisted, and their failure loses no Created (D9, X2)", () => {
    let isReady = false
    const { persisted } = recorded()
    const controller = Controller.make({
      for: Role,
      reconciler: persisted.pipe(
        Reconciler.tap(() => (isReady ? Effect.void : Effect.fail(new Temporary({ message: "not yet" })))),
        Reconciler.status(({ object }) => ({ rules: object.spec.rules.length }))
      )
    })
    return running([controller], (world) =>
      Effect.gen(function* () {
        yield* begun(world)
        assert.strictEqual(ready(yield* role(world)), "False ReconcileFailed")
        isReady = true
        yield* TestClock.adjust("10 seconds")
        yield* quiet
        assert.deepInclude((yield* role(world)).status, { rules: 2, observedGeneration: 1 })
        assert.include(yield* said(world), "Normal Created: Created Role[team/editor:uid]")
      })
    )
  })

  it.effect("where no status is written nothing is called Created, in any pass", () => {
    const { persisted } = recorded()
    const controller = Controller.make({ for: Role, reconciler: persisted, noStatusSubresource: true })
    return running([controller], (world) =>
      Effect.gen(function* () {
        yield* begun(world)
        yield* controller.enqueue(refTo(editor))
        yield* quiet
        assert.deepStrictEqual(yield* said(world), [])
      })
    )
  })
})
