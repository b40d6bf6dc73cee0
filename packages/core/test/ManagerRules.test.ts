import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Controller from "../src/Controller.ts"
import * as Event from "../src/Event.ts"
import * as Manager from "../src/Manager.ts"
import * as Pass from "../src/Pass.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { Fatal, Temporary } from "../src/ReconcileError.ts"
import * as Wake from "../src/Wake.ts"
import * as Watch from "../src/Watch.ts"
import { ApiClient } from "../src/ApiClient.ts"
import { api as world, ConfigMap, docs, editor, events, quiet, ready, refTo, Role, running, Scope } from "./world.ts"

describe("the numbered rules, on a whole Manager", () => {
  it.effect(
    "changing a controller's value does not change the one that runs, and its wakes still reach it (K4)",
    () => {
      const runs: Array<string> = []
      const counting = (name: string) => Reconciler.fromEffect(Scope, () => Effect.sync(() => void runs.push(name)))
      const controller = Controller.make({ for: Scope, reconciler: counting("first") })
      return running([controller], ({ api }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          Object.assign(controller, { reconciler: counting("second"), workers: 0 })
          yield* controller.enqueue(refTo(docs))
          yield* quiet
          assert.deepStrictEqual(runs, ["first", "first"])
        })
      )
    }
  )

  it.effect("a name that is gone by its pass is a success without work and without another try (K6)", () => {
    let runs = 0
    const counting = Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(Scope, () => Effect.sync(() => void runs++))
    })
    return running([counting], ({ log, server }) =>
      Effect.gen(function* () {
        yield* server.clearLog
        yield* Wake.enqueue(Scope, { namespace: "team", name: "nobody" })
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(runs, 0)
        assert.lengthOf(log, 0)
        assert.isEmpty((yield* server.log).filter(({ operation }) => operation.verb !== "watch"))
      })
    )
  })

  it.effect("under deletion only the clean-up runs, never the pipeline (K10)", () => {
    const done: Array<string> = []
    const controller = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.tap(() => Effect.sync(() => done.push("run"))),
        Reconciler.finalizer("example.com/cleanup", () =>
          Effect.suspend(() =>
            done.push("clean") < 4 ? Effect.fail(new Temporary({ delay: "1 second" })) : Effect.void
          )
        )
      )
    })
    return running([controller], ({ api, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.delete(Scope, refTo(docs))
        yield* api.patch(Scope, refTo(docs), { type: "merge", body: { spec: { members: [] } } })
        yield* quiet
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(done, ["run", "clean", "clean", "clean"])
        assert.isEmpty(yield* server.objects(Scope))
      })
    )
  })

  it.effect("a status that differs in every pass is written once a pass and starts no pass by itself (X7, B47)", () => {
    let n = 0
    const restless = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(Reconciler.status(() => ({ members: ++n })))
    })
    return running([restless], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(n, 1)
        yield* Wake.enqueue(Scope, refTo(docs))
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(n, 2)
        assert.strictEqual(((yield* api.get(Scope, refTo(docs))).status as any).members, 2)
      })
    )
  })

  it.effect(
    "an ordinary failure and a failed clean-up each post a Warning, log an error and come back (X13, C3)",
    () => {
      let fails = true
      const failing = Controller.make({
        for: Scope,
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.tap(() =>
            fails ? Effect.fail(new Temporary({ message: "disk full", delay: "1 minute" })) : Effect.void
          ),
          Reconciler.finalizer("example.com/cleanup", () =>
            fails ? Effect.fail(new Fatal({ reason: "StillUsed", message: "in use" })) : Effect.void
          )
        )
      })
      return running([failing], ({ api, server }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          yield* api.delete(Scope, refTo(docs))
          yield* quiet
          const said = (yield* server.objects(events)).map(
            ({ message, reason, type }) => `${type} ${reason}: ${message}`
          )
          assert.deepStrictEqual(said.toSorted(), [
            "Warning ReconcileFailed: clean-up failed: in use",
            "Warning ReconcileFailed: reconciling failed: disk full"
          ])
          fails = false
          yield* TestClock.adjust("10 minutes")
          assert.isEmpty(yield* server.objects(Scope))
        })
      )
    }
  )

  it.effect(
    "children bear an owner reference and are left to the garbage collector; without a clean-up there is no finalizer (C8, C9)",
    () => {
      const owning = Controller.make({
        for: Scope,
        owns: [ConfigMap],
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.child("c", ConfigMap, () => ({ metadata: { name: "c" }, data: { a: "b" } }))
        )
      })
      return running([owning], ({ api, server }) =>
        Effect.gen(function* () {
          const { metadata } = yield* api.create(Scope, docs)
          yield* quiet
          assert.isUndefined((yield* api.get(Scope, refTo(docs))).metadata.finalizers)
          assert.deepStrictEqual(
            (yield* api.get(ConfigMap, { namespace: "team", name: "c" })).metadata.ownerReferences,
            [
              {
                apiVersion: "access.example.com/v1",
                kind: "Scope",
                name: "docs",
                uid: metadata.uid,
                controller: true,
                blockOwnerDeletion: true
              }
            ]
          )
          yield* server.clearLog
          yield* api.delete(Scope, refTo(docs))
          yield* TestClock.adjust("1 minute")
          assert.isEmpty(yield* server.objects(ConfigMap))
          const writes = (yield* server.log)
            .filter(({ mutating }) => mutating)
            .map(({ operation }) => `${operation.verb} ${operation.resource}`)
          assert.deepStrictEqual(writes, ["delete scopes.access.example.com"], "the user's own")
        })
      )
    }
  )

  it.effect("a timer goes on for an object whose tries are used up, and it recovers by that (B34, E13)", () => {
    let heals = false
    const timed = Controller.make({
      for: Scope,
      watches: [Watch.every("60 seconds", { jitter: 0 })],
      retry: { retries: 5 },
      reconciler: Reconciler.fromEffect(Scope, () => (heals ? Effect.void : new Temporary({ message: "no" })))
    })
    return running([timed], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* TestClock.adjust("10 minutes")
        assert.isAtLeast(log.length, 10)
        assert.isAtMost(log.length, 20)
        heals = true
        yield* TestClock.adjust("60 seconds")
        assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
      })
    )
  })

  it.effect(
    "each edit is observed, also with the same result, and a pass tells the generation that it saw (B49)",
    () => {
      const slow = Controller.make({
        for: Scope,
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.tap(({ object }) => (object.metadata.generation === 2 ? Effect.sleep("10 seconds") : Effect.void))
        )
      })
      const observed = (object: any) => [
        object.status.observedGeneration,
        object.status.conditions[0].observedGeneration
      ]
      return running([slow], ({ api }) =>
        Effect.gen(function* () {
          const edit = (members: ReadonlyArray<string>) =>
            api.patch(Scope, refTo(docs), { type: "merge", body: { spec: { members } } })
          yield* api.create(Scope, docs)
          yield* quiet
          assert.deepStrictEqual(observed(yield* api.get(Scope, refTo(docs))), [1, 1])
          yield* edit(["ann", "bob"])
          yield* TestClock.adjust("10 seconds")
          yield* quiet
          assert.deepStrictEqual(observed(yield* api.get(Scope, refTo(docs))), [2, 2])
          yield* edit(["eve"])
          yield* quiet
          assert.deepStrictEqual(observed(yield* api.get(Scope, refTo(docs))), [3, 3])
        })
      )
    }
  )

  it.effect("a spec of 300 KB is created, reconciled and deleted: nothing of it is kept in annotations (B78)", () => {
    const big = { ...docs, spec: { members: Array.from({ length: 3_000 }, (_, i) => `${i}`.padStart(100, "x")) } }
    const controller = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(Reconciler.finalizer("example.com/cleanup", () => Effect.void))
    })
    return running([controller], ({ api, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, big)
        yield* quiet
        const object = yield* api.get(Scope, refTo(docs))
        assert.strictEqual(ready(object), "True Synced")
        assert.isUndefined(object.metadata.annotations)
        yield* api.delete(Scope, refTo(docs))
        yield* quiet
        assert.isEmpty(yield* server.objects(Scope))
      })
    )
  })

  it.effect("an owner that is gone while its watch is silent gets no child anew, beyond one try (B66)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const owning = Controller.make({
        for: Scope,
        owns: [ConfigMap],
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.child("c", ConfigMap, () => ({ metadata: { name: "c" }, data: { a: "b" } }))
        )
      })
      yield* Effect.gen(function* () {
        yield* quiet
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.delete(Scope, refTo(docs))
        yield* TestClock.adjust("10 minutes")
        const left = yield* api.list(ConfigMap, { namespace: "team" })
        assert.isEmpty(left.items.filter(({ metadata }) => metadata.name === "c"))
      }).pipe(Effect.provide(Manager.layer([owning])))
    }).pipe(Effect.provide(world()))
  )

  it.effect("what a pass says of itself is what is told: an announcement stands for Reconciled (D2)", () => {
    const announcing = Controller.make({
      for: Role,
      reconciler: Reconciler.for(Role).pipe(
        Reconciler.tap(() => Pass.changed("made a record")),
        Reconciler.tap(() => Pass.announce("Created", "made the record of editor"))
      )
    })
    return running([announcing], ({ api, server }) =>
      Effect.gen(function* () {
        yield* api.create(Role, editor)
        yield* quiet
        const said = (yield* server.objects(events)).map(({ message, reason, type }) => `${type} ${reason}: ${message}`)
        assert.deepStrictEqual(said, ["Normal Created: made the record of editor"])
      })
    )
  })

  it.effect(
    "what a step says about its object is posted after the status, in order, as the policy lets it pass (P1-P4, D8)",
    () => {
      const telling = Controller.make({
        for: Scope,
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.tap(() => Event.info({ reason: "KeyRotated", message: "a new key" })),
          Reconciler.tap(() => Event.warn({ reason: "NearlyFull", message: "90 %" })),
          Reconciler.tap(() => Event.event({ type: "Debug", reason: "Looked", message: "around" })),
          Reconciler.tap(() => Event.exception(new TypeError("odd"), { reason: "Odd" }))
        )
      })
      return running([telling], ({ api, server }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          const said = (yield* server.objects(events)).map(
            ({ message, reason, type }) => `${type} ${reason}: ${message}`
          )
          assert.deepStrictEqual(said.toSorted(), [
            "Debug Looked: around",
            "Error Odd: odd",
            "Normal KeyRotated: a new key",
            "Warning NearlyFull: 90 %"
          ])
          const order = (yield* server.log)
            .filter(({ mutating }) => mutating)
            .map(({ operation }) => operation.resource)
          assert.isAbove(order.indexOf("events"), order.indexOf("scopes.access.example.com/status"))
        })
      )
    }
  )

  it.effect("no wish to come back at once makes a hot loop (C4)", () => {
    let passes = 0
    const eager = Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(Scope, ({ spec }) =>
        Effect.suspend(() => (++passes, spec.members.length > 0 ? Pass.requeueAfter(0) : new Temporary({ delay: 0 })))
      )
    })
    return running([eager], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(passes, 1)
        yield* api.patch(Scope, refTo(docs), { type: "merge", body: { spec: { members: [] } } })
        yield* quiet
        for (let second = 0; second < 60; second++) yield* Effect.andThen(TestClock.adjust("1 second"), quiet)
        assert.isBelow(passes, 30)
        assert.throws(() => Watch.every(0), "give a finite time above zero")
      })
    )
  })

  it.effect("a status that its kind cannot hold is told with the field (C3)", () => {
    const wrong = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(Reconciler.status(() => ({ members: 1.5 })))
    })
    return running([wrong], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        assert.match(log[0]!, /^Scope docs: defect InternalError .*the status does not fit its schema: .*members/)
      })
    )
  })
})
