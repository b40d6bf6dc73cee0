import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import * as Controller from "../src/Controller.ts"
import * as Kind from "../src/Kind.ts"
import * as Manager from "../src/Manager.ts"
import * as Pass from "../src/Pass.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { Fatal, Temporary } from "../src/ReconcileError.ts"
import * as Wake from "../src/Wake.ts"
import { api as world, ConfigMap, docs, editor, quiet, ready, Role, running, Scope } from "./world.ts"

const role = Reconciler.for(Role).pipe(
  Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" }),
  Reconciler.child("config", ConfigMap, ({ object, scope }) => ({
    metadata: { name: `${object.metadata.name}-rules` },
    data: { rules: object.spec.rules.join(","), members: scope.spec.members.join(",") }
  })),
  Reconciler.status(({ object }) => ({ rules: object.spec.rules.length }))
)
const roles = Controller.make({ for: Role, owns: [ConfigMap], watches: [Scope], reconciler: role })
const scopes = Controller.make({
  for: Scope,
  reconciler: Reconciler.for(Scope).pipe(Reconciler.status(({ object }) => ({ members: object.spec.members.length })))
})

describe("Manager", () => {
  it.effect("a Role waits for its Scope, is woken by it, and rests at its fixed point", () =>
    running([roles, scopes], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* api.create(Role, editor)
        yield* quiet
        assert.strictEqual(ready(yield* api.get(Role, editor.metadata as any)), "False ScopeNotFound")
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(log, ["Role editor: NotReady ScopeNotFound (Scope team/docs not found)"])
        yield* api.create(Scope, docs)
        yield* quiet
        const object = yield* api.get(Role, editor.metadata as any)
        assert.strictEqual(ready(object), "True Synced")
        assert.strictEqual((object.status as any).rules, 2)
        const config = yield* api.get(ConfigMap, { namespace: "team", name: "editor-rules" })
        assert.deepStrictEqual(config.data, { rules: "read,write", members: "ann" })
        const before = log.length
        yield* server.clearLog
        yield* TestClock.adjust("1 day")
        assert.strictEqual(log.length, before, "no pass at rest")
        assert.deepStrictEqual(
          (yield* server.log).filter(({ operation }) => operation.verb !== "watch").map(({ operation }) => operation),
          [],
          "no request at rest but the renewals of watches"
        )
      })
    )
  )

  const settled = (api: ApiClient["Service"]) =>
    Effect.gen(function* () {
      yield* api.create(Scope, docs)
      yield* quiet
      yield* api.create(Role, editor)
      yield* quiet
    })
  const rules = { namespace: "team", name: "editor-rules" }
  const writes = (server: ApiServer.ApiServer["Service"]) =>
    Effect.map(server.log, (log) =>
      log
        .filter(({ mutating, operation }) => mutating && operation.resource !== "events")
        .map(({ operation }) => `${operation.verb} ${operation.resource}`)
    )

  it.effect("a converged object costs two requests, and none is a conflict of our own making", () =>
    running([roles, scopes], ({ api, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* server.clearLog
        yield* api.create(Role, editor)
        yield* quiet
        assert.deepStrictEqual(yield* writes(server), [
          "create roles.access.example.com",
          "apply configmaps",
          "apply roles.access.example.com/status"
        ])
        assert.isFalse((yield* server.log).some(({ code }) => code === 409))
      })
    )
  )

  it.effect("a child that is deleted or edited is put right, and nothing else is written", () =>
    running([roles, scopes], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* settled(api)
        yield* server.clearLog
        yield* api.delete(ConfigMap, rules)
        yield* quiet
        assert.deepStrictEqual((yield* api.get(ConfigMap, rules)).data, { rules: "read,write", members: "ann" })
        yield* api.patch(
          ConfigMap,
          rules,
          { type: "merge", body: { data: { members: "eve" } } },
          { fieldManager: "kubectl-edit" }
        )
        yield* quiet
        assert.deepStrictEqual((yield* api.get(ConfigMap, rules)).data, { rules: "read,write", members: "ann" })
        assert.strictEqual(log.at(-1), "Role editor: changed Synced")
        assert.deepStrictEqual(
          (yield* writes(server)).filter((write) => !write.startsWith("delete") && !write.startsWith("patch")),
          ["apply configmaps", "apply configmaps", "apply configmaps"],
          "one to make it anew; for the edit one that is refused and one with force"
        )
      })
    )
  )

  it.effect("a field that another manager applies is a conflict that names it, and is not forced (B75)", () =>
    running([roles, scopes], ({ api, log }) =>
      Effect.gen(function* () {
        yield* settled(api)
        yield* api.patch(
          ConfigMap,
          rules,
          {
            type: "apply",
            force: true,
            body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "editor-rules" }, data: { members: "eve" } }
          },
          { fieldManager: "helm" }
        )
        yield* quiet
        assert.match(log.at(-1)!, /^Role editor: Temporary ApplyConflict .*\.data\.members .*helm/)
        const passes = log.length
        yield* TestClock.adjust("4 minutes")
        assert.strictEqual(log.length, passes, "no ping-pong")
        assert.deepStrictEqual(((yield* api.get(ConfigMap, rules)).data as any).members, "eve")
      })
    )
  )

  it.effect("a stranger's object is never taken over (B62)", () =>
    running([roles, scopes], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(ConfigMap, { metadata: rules, data: { mine: "yes" } })
        yield* settled(api)
        assert.match(log.at(-1)!, /Role editor: Fatal ChildNotOurs .*exists and belongs to nobody/)
        assert.deepStrictEqual((yield* api.get(ConfigMap, rules)).data, { mine: "yes" })
      })
    )
  )

  it.effect("a desired state that shrinks across a restart is noticed (D28)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const wide = Controller.make({
        for: Scope,
        owns: [ConfigMap],
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.child("config", ConfigMap, ({ object }) => ({
            metadata: { name: "c", labels: { a: "1", b: "2" } },
            data: { members: object.spec.members.join(), more: "x" }
          }))
        )
      })
      const narrow = Controller.make({
        for: Scope,
        owns: [ConfigMap],
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.child("config", ConfigMap, ({ object }) => ({
            metadata: { name: "c", labels: { a: "1" } },
            data: { members: object.spec.members.join() }
          }))
        )
      })
      yield* api.create(Scope, docs)
      yield* Effect.provide(quiet, Manager.layer([wide]))
      yield* Effect.provide(quiet, Manager.layer([narrow]))
      const config = yield* api.get(ConfigMap, { namespace: "team", name: "c" })
      assert.deepStrictEqual([config.data, config.metadata.labels], [{ members: "ann" }, { a: "1" }])
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "a finalizer is there before the first run, cleans up before the object goes, and nothing is written afterwards (K11, B54, D13)",
    () => {
      const done: Array<string> = []
      const cleaned = Controller.make({
        for: Scope,
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.tap(({ object }) => Effect.sync(() => done.push(`run ${object.metadata.finalizers?.join()}`))),
          Reconciler.finalizer("example.com/cleanup", ({ ref }) => Effect.sync(() => done.push(`clean ${ref.name}`)))
        )
      })
      return running([cleaned], ({ api, log, server }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          assert.deepStrictEqual(done, ["run example.com/cleanup"])
          yield* server.clearLog
          yield* api.delete(Scope, docs.metadata as any)
          yield* quiet
          assert.deepStrictEqual(done, ["run example.com/cleanup", "clean docs"])
          assert.deepStrictEqual(yield* server.objects(Scope), [])
          assert.deepStrictEqual(yield* writes(server), [
            "delete scopes.access.example.com",
            "patch scopes.access.example.com"
          ])
          yield* TestClock.adjust("1 hour")
          assert.lengthOf(log, 2)
        })
      )
    }
  )

  it.effect("a clean-up that fails keeps the finalizer, is told and tried again (B58, C1)", () => {
    let fails = 2
    const cleaned = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.finalizer("example.com/cleanup", () =>
          fails-- > 0 ? Effect.fail(new Fatal({ reason: "StillUsed", message: "in use" })) : Effect.void
        )
      )
    })
    return running([cleaned], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.delete(Scope, docs.metadata as any)
        yield* quiet
        assert.strictEqual(ready(yield* api.get(Scope, docs.metadata as any)), "False StillUsed")
        assert.strictEqual(log.at(-1), "Scope docs: Fatal StillUsed (clean-up failed: in use)")
        yield* TestClock.adjust("4 minutes")
        assert.lengthOf(log, 2, "no hot retry")
        yield* TestClock.adjust("7 minutes")
        assert.deepStrictEqual(yield* server.objects(Scope), [])
      })
    )
  })

  it.effect("an object under deletion that another owner holds gets no finalizer and no run (B57, X3)", () => {
    let runs = 0
    const cleaned = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.tap(() => Effect.sync(() => void runs++)),
        Reconciler.finalizer("example.com/cleanup", () => Effect.sync(() => void runs++))
      )
    })
    return Effect.gen(function* () {
      const api = yield* ApiClient
      yield* api.create(Scope, { ...docs, metadata: { ...docs.metadata, finalizers: ["foreign.com/x"] } })
      yield* api.delete(Scope, docs.metadata as any)
      yield* Effect.provide(
        Effect.gen(function* () {
          yield* quiet
          yield* api.patch(Scope, docs.metadata as any, { type: "merge", body: { metadata: { labels: { a: "b" } } } })
          yield* quiet
        }),
        Manager.layer([cleaned])
      )
      assert.strictEqual(runs, 0)
      assert.deepStrictEqual((yield* api.get(Scope, docs.metadata as any)).metadata.finalizers, ["foreign.com/x"])
    }).pipe(Effect.provide(world()))
  })

  it.effect("a malformed object is told once and does not stop its siblings (K3, K7, C6)", () =>
    Effect.gen(function* () {
      // The CRD of an older version of the operator took any size.
      class Loose extends Kind.make({
        group: "access.example.com",
        version: "v1",
        kind: "Scope",
        scope: "Namespaced",
        spec: Schema.Struct({ members: Schema.Unknown }),
        status: Schema.Struct({ members: Schema.Int })
      }) {}
      const log: Array<string> = []
      yield* Effect.gen(function* () {
        const api = yield* ApiClient
        yield* api.create(Loose, { ...docs, spec: { members: "ann" } })
        yield* api.create(Loose, { ...docs, metadata: { namespace: "team", name: "good" } })
        yield* quiet
        const object = yield* api.get(Loose, docs.metadata as any)
        assert.strictEqual(ready(object), "False MalformedResource")
        assert.strictEqual(ready(yield* api.get(Loose, { namespace: "team", name: "good" })), "True Synced")
        yield* api.patch(Loose, docs.metadata as any, { type: "merge", body: { spec: { members: ["ann"] } } })
        yield* quiet
        assert.strictEqual(ready(yield* api.get(Loose, docs.metadata as any)), "True Synced")
        const events = yield* (yield* ApiServer.ApiServer).objects({ group: "", version: "v1", plural: "events" })
        assert.deepStrictEqual(
          events.map(({ reason, type }) => [reason, type]),
          [["ReconcileFailed", "Warning"]]
        )
      }).pipe(
        Effect.provide(Manager.layer([scopes])),
        Effect.provide(
          ApiServer.layer({
            kinds: [Kind.customResourceDefinition(Loose)],
            objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }]
          })
        )
      )
      void log
    })
  )

  it.effect(
    "a Temporary comes back after exactly its delay, a defect by the backoff, and neither holds up other keys (B31, B43)",
    () => {
      let fails = 1
      const flaky = Controller.make({
        for: Scope,
        reconciler: Reconciler.fromEffect(Scope, (object) =>
          object.metadata.name === "broken"
            ? Effect.die(new TypeError("x is undefined"))
            : fails-- > 0
              ? new Temporary({ message: "not now", delay: "7 seconds" })
              : Effect.void
        )
      })
      return running([flaky], ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: "broken" } })
          yield* api.create(Scope, docs)
          yield* quiet
          assert.deepStrictEqual(log, [
            "Scope broken: defect InternalError (reconciling failed: x is undefined)",
            "Scope docs: Temporary ReconcileFailed (reconciling failed: not now)"
          ])
          yield* TestClock.adjust("6999 millis")
          assert.strictEqual(ready(yield* api.get(Scope, docs.metadata as any)), "False ReconcileFailed")
          yield* TestClock.adjust("1 millis")
          yield* quiet
          assert.strictEqual(ready(yield* api.get(Scope, docs.metadata as any)), "True Synced")
          yield* TestClock.adjust("10 minutes")
          const passes = log.filter((line) => line.startsWith("Scope broken")).length
          assert.isTrue(passes >= 4 && passes <= 40, `${passes} passes in 10 minutes`)
        })
      )
    }
  )

  it.effect("the status of a pass that died is not written, what was there before stays (B44)", () => {
    let dies = false
    const dying = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.status(({ object }) => ({ members: object.spec.members.length })),
        Reconciler.tap(() => (dies ? Effect.die("gone") : Effect.void))
      )
    })
    return running([dying], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        dies = true
        yield* api.patch(Scope, docs.metadata as any, { type: "merge", body: { spec: { members: ["ann", "bob"] } } })
        yield* quiet
        const { status } = yield* api.get(Scope, docs.metadata as any)
        assert.strictEqual((status as any).members, 1)
        assert.strictEqual((status as any).conditions[0].status, "False")
      })
    )
  })

  it.effect(
    "a wake sent in a pass leaves when it has settled, and a ring that changes nothing comes to rest (D14)",
    () => {
      const ring = [
        Controller.make({
          for: Role,
          reconciler: Reconciler.for(Role).pipe(
            Reconciler.tap(() => Wake.enqueue(Scope, { namespace: "team", name: "docs" }))
          )
        }),
        Controller.make({
          for: Scope,
          reconciler: Reconciler.for(Scope).pipe(
            Reconciler.tap(() => Wake.enqueue(Role, { namespace: "team", name: "editor" }))
          )
        })
      ] as const
      return running(ring, ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* api.create(Role, editor)
          yield* quiet
          const first = log.length
          assert.isBelow(first, 20)
          yield* TestClock.adjust("1 hour")
          assert.isBelow(log.length - first, 60, "ever more slowly, 5 minutes at most, and never lost")
          assert.isAbove(log.length, first)
        })
      )
    }
  )

  it.effect("two Managers run the same controllers at once and share nothing (B40)", () =>
    Effect.gen(function* () {
      const counts = [0, 0]
      const counting = (i: number) =>
        Manager.layer([scopes]).pipe(
          Layer.provide(Layer.succeed(Manager.OnSettled, () => void counts[i]!++)),
          Layer.fresh
        )
      yield* Effect.gen(function* () {
        const api = yield* ApiClient
        yield* api.create(Scope, docs)
        yield* quiet
      }).pipe(Effect.provide(Layer.mergeAll(counting(0), counting(1))))
      assert.isTrue(counts[0]! >= 1 && counts[1]! >= 1, String(counts))
    }).pipe(Effect.provide(world()))
  )

  it.effect("a spec edit during a pass gives one more pass at once, on the new spec (B30, B46, K35)", () => {
    const seen: Array<number> = []
    const slow = Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(Scope, (object) =>
        Effect.andThen(
          Effect.sync(() => seen.push(object.spec.members.length)),
          Effect.andThen(Effect.sleep("2 seconds"), Pass.requeueAfter("10 seconds"))
        )
      )
    })
    return running([slow], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* TestClock.adjust("1 seconds")
        yield* api.patch(Scope, docs.metadata as any, { type: "merge", body: { spec: { members: ["ann", "bob"] } } })
        yield* api.patch(Scope, docs.metadata as any, {
          type: "merge",
          body: { spec: { members: ["ann", "bob", "eve"] } }
        })
        yield* TestClock.adjust("1 seconds")
        yield* quiet
        assert.deepStrictEqual(seen, [1, 3])
        yield* TestClock.adjust("11999 millis")
        assert.deepStrictEqual(seen, [1, 3])
        yield* TestClock.adjust("1 millis")
        yield* quiet
        assert.deepStrictEqual(seen, [1, 3, 3])
        // The last pass ends before the Manager stops.
        yield* TestClock.adjust("2 seconds")
      })
    )
  })
})
