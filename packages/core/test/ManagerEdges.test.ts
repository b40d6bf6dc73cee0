import { assert, describe, it } from "@effect/vitest"
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import * as Cached from "../src/Cached.ts"
import * as Controller from "../src/Controller.ts"
import * as Kind from "../src/Kind.ts"
import type { KubeObject } from "../src/KubeObject.ts"
import * as Manager from "../src/Manager.ts"
import * as Pass from "../src/Pass.ts"
import * as Predicate from "../src/Predicate.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { type Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Wake from "../src/Wake.ts"
import * as Watch from "../src/Watch.ts"
import { api as world, ConfigMap, docs, events, quiet, ready, refTo, Role, running, Scope } from "./world.ts"

const counted = Controller.make({
  for: Scope,
  reconciler: Reconciler.for(Scope).pipe(Reconciler.status(({ object }) => ({ members: object.spec.members.length })))
})
const owning = Controller.make({
  for: Scope,
  owns: [ConfigMap],
  reconciler: Reconciler.for(Scope).pipe(
    Reconciler.child("config", ConfigMap, ({ object }) => ({
      metadata: { name: `${object.metadata.name}-members`.slice(0, 253) },
      data: { members: object.spec.members.join(",") }
    })),
    Reconciler.status(({ object }) => ({ members: object.spec.members.length }))
  )
})
const child = { namespace: "team", name: "docs-members" }
const members = (...members: ReadonlyArray<string>) => ({ type: "merge", body: { spec: { members } } }) as const
const label = (value: string) => ({ type: "merge", body: { metadata: { labels: { of: value } } } }) as const

/** The operator does not hear of one kind while `deaf` says so. */
const deafTo = (kind: string, deaf: { is: boolean }) =>
  Layer.provideMerge(
    Layer.effect(
      ApiClient,
      Effect.map(ApiClient, (inner) => ({
        ...inner,
        watch: (resource: any, options: any) =>
          inner
            .watch(resource, options)
            .pipe(Stream.filter((event: any) => !deaf.is || event.type === "BOOKMARK" || event.object.kind !== kind))
      }))
    ),
    world()
  ) as Layer.Layer<any>

describe("what the cache does not know", () => {
  it.effect(
    "the children of an owner that is gone are not made again and again while its own watch is late (B66)",
    () => {
      const deaf = { is: false }
      return running(
        [owning],
        ({ api, log, server }) =>
          Effect.gen(function* () {
            yield* api.create(Scope, docs)
            yield* quiet
            deaf.is = true
            yield* server.clearLog
            yield* api.delete(Scope, refTo(docs))
            yield* quiet
            yield* TestClock.adjust("20 seconds")
            yield* quiet
            const attempts = (yield* server.log).filter(({ operation }) => operation.verb === "apply")
            assert.isAtMost(attempts.length, 1, log.join())
            deaf.is = false
            yield* server.cutWatches()
            yield* TestClock.adjust("2 minutes")
            assert.deepStrictEqual(
              (yield* server.objects(ConfigMap)).filter(({ metadata }) => metadata.name === child.name),
              []
            )
          }),
        { world: deafTo("Scope", deaf) }
      )
    }
  )

  it.effect(
    "a child that somebody deletes is put back in one request, and asked for its owner only from the second time on (B66)",
    () =>
      running([owning], ({ api, server }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          const asked: Array<ReadonlyArray<string>> = []
          for (let i = 0; i < 4; i++) {
            yield* server.clearLog
            yield* api.delete(ConfigMap, child)
            yield* quiet
            const log = (yield* server.log).map(({ operation }) => `${operation.verb} ${operation.resource}`)
            asked.push(log.filter((line) => line.startsWith("apply config") || line.startsWith("get")))
          }
          const free = ["apply configmaps"]
          const checked = ["get scopes.access.example.com", "apply configmaps"]
          assert.deepStrictEqual(asked, [free, checked, free, checked])
        })
      )
  )

  it.effect("a status that meets one conflict after the other is written in the end (B52)", () =>
    running([counted], ({ api, server }) =>
      Effect.gen(function* () {
        let conflicts = 4
        yield* server.hook({
          before: (call) =>
            call.operation.resource.endsWith("/status") && conflicts-- > 0
              ? Effect.fail(ApiServer.refused(call, { code: 409 }))
              : Effect.void
        })
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
      })
    )
  )
})

describe("what an answer shows", () => {
  it.effect("a foreign change of a child that only the answer of our write shows gives one more pass (D27)", () => {
    const deaf = { is: false }
    return running(
      [owning],
      ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          deaf.is = true
          yield* api.patch(ConfigMap, child, label("theirs"), { fieldManager: "kubectl" })
          yield* quiet
          assert.lengthOf(log, 1, "not heard")
          yield* api.patch(Scope, refTo(docs), members("x"))
          yield* quiet
          yield* TestClock.adjust("10 seconds")
          yield* quiet
          assert.deepStrictEqual(log.slice(1), ["Scope docs: changed Synced", "Scope docs: unchanged Synced"])
        }),
      { world: deafTo("ConfigMap", deaf) }
    )
  })
})

describe("names that are taken", () => {
  it.effect.each([0, 5_000])(
    "a stranger's object that the cache has not heard of for %i ms is not taken over (B62)",
    (lag) => {
      const deaf = { is: lag > 0 }
      return running(
        [owning],
        ({ api, log, server }) =>
          Effect.gen(function* () {
            const { metadata } = yield* api.create(ConfigMap, { metadata: child, data: { mine: "yes" } })
            yield* api.create(Scope, docs)
            yield* quiet
            assert.match(log.at(-1)!, /Fatal ChildNotOurs/)
            const now = yield* api.get(ConfigMap, child)
            assert.deepStrictEqual(
              [now.data, now.metadata.resourceVersion],
              [{ mine: "yes" }, metadata.resourceVersion]
            )
            yield* api.delete(ConfigMap, child)
            deaf.is = false
            yield* server.cutWatches()
            yield* TestClock.adjust("6 minutes")
            yield* quiet
            assert.deepStrictEqual((yield* api.get(ConfigMap, child)).data, { members: "ann" })
          }),
        { world: deafTo("ConfigMap", deaf) }
      )
    }
  )

  it.effect(
    "a child of which the answer was lost is found again, not made twice, and no conflict is told (B62)",
    () => {
      const deaf = { is: true }
      return running(
        [owning],
        ({ api, log, server }) =>
          Effect.gen(function* () {
            let lost = 1
            yield* server.hook({
              after: (call) =>
                call.operation.verb === "apply" && call.operation.resource === "configmaps" && lost-- > 0
                  ? Effect.fail(ApiServer.unreachable(call))
                  : Effect.void
            })
            yield* api.create(Scope, docs)
            yield* quiet
            yield* TestClock.adjust("10 seconds")
            yield* quiet
            assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
            assert.lengthOf(log, 2)
          }),
        { world: deafTo("ConfigMap", deaf) }
      )
    }
  )
})

describe("what only some controllers want", () => {
  it.effect(
    "a controller for one namespace leaves the others alone, also if its cache has them for a neighbour (B28)",
    () => {
      const narrow = Controller.make({ for: Scope, namespaces: ["team"], reconciler: Reconciler.for(Scope) })
      const wide = Controller.make({ for: Role, watches: [Scope], reconciler: Reconciler.for(Role) })
      return running([narrow, wide], ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, { ...docs, metadata: { namespace: "other", name: "docs" } })
          yield* api.create(Scope, docs)
          yield* quiet
          assert.deepStrictEqual(log, ["Scope docs: unchanged Synced"])
          assert.strictEqual(yield* Wake.resync(Scope), 1)
          yield* Wake.enqueue(Scope, { namespace: "other", name: "docs" })
          yield* quiet
          assert.lengthOf(log, 2)
          assert.strictEqual(ready(yield* api.get(Scope, { namespace: "other", name: "docs" })), "none")
        })
      )
    }
  )

  it.effect("a kind without a status says once that it waits, not with every wake (K21)", () => {
    const config = Controller.make({
      for: ConfigMap,
      watches: [Scope],
      reconciler: Reconciler.for(ConfigMap).pipe(
        Reconciler.need("scope", Scope, ({ object }) => object.data?.scope ?? "none", { reason: "ScopeNotFound" })
      )
    })
    return running([config], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* server.clearLog
        yield* api.create(ConfigMap, { metadata: { namespace: "team", name: "c" }, data: { scope: "docs" } })
        yield* quiet
        for (let i = 0; i < 3; i++) {
          yield* api.patch(ConfigMap, { namespace: "team", name: "c" }, label(String(i)))
          yield* quiet
        }
        assert.lengthOf(
          log.filter((line) => line.startsWith("ConfigMap c: NotReady ScopeNotFound")),
          4
        )
        yield* TestClock.adjust("1 minute")
        const said = (yield* server.objects(events)).filter(({ involvedObject }: any) => involvedObject.name === "c")
        assert.deepStrictEqual(
          said.map(({ count, reason }) => `${reason} x${count}`),
          ["ScopeNotFound x1"]
        )
        yield* api.create(Scope, docs)
        yield* quiet
        assert.strictEqual(log.at(-1), "ConfigMap c: unchanged Synced")
      })
    )
  })

  it.effect("a cluster-scoped owner is woken by its children in any namespace, by its own key (B68)", () => {
    class Team extends Kind.make({
      group: "access.example.com",
      version: "v1",
      kind: "Team",
      scope: "Cluster",
      spec: Schema.Struct({ home: Schema.String }),
      status: Schema.Struct({ homes: Schema.Int })
    }) {}
    const teams = Controller.make({
      for: Team,
      owns: [ConfigMap],
      reconciler: Reconciler.for(Team).pipe(
        Reconciler.child("config", ConfigMap, ({ object }) => ({
          metadata: { namespace: object.spec.home, name: "team" },
          data: { team: object.metadata.name }
        })),
        Reconciler.status(() => ({ homes: 1 }))
      )
    })
    return running(
      [teams],
      ({ api, log }) =>
        Effect.gen(function* () {
          const metadata = { name: "sre" }
          yield* api.create(Team, { metadata, spec: { home: "other" } })
          yield* quiet
          yield* api.delete(ConfigMap, { namespace: "other", name: "team" })
          yield* quiet
          assert.deepStrictEqual(log, ["Team sre: changed Synced", "Team sre: changed Synced"])
          assert.strictEqual(
            (yield* api.get(ConfigMap, { namespace: "other", name: "team" })).metadata.ownerReferences?.[0]?.name,
            "sre"
          )
        }),
      { world: world({ kinds: [Kind.customResourceDefinition(Team)] }) }
    )
  })

  it.effect("two controllers of one kind whose status nobody of ours writes each run it, and rest", () => {
    const one = Controller.make({ for: ConfigMap, reconciler: Reconciler.for(ConfigMap) })
    const again = Controller.make({
      for: ConfigMap,
      name: "again",
      reconciler: Reconciler.for(ConfigMap).pipe(Reconciler.finalizer("example.com/again", () => Effect.void))
    })
    const config = { namespace: "team", name: "c" }
    return running([one, again], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* api.create(ConfigMap, { metadata: config })
        yield* quiet
        yield* TestClock.adjust("1 minute")
        const before = log.length
        assert.isAtMost(before, 6)
        yield* TestClock.adjust("1 hour")
        assert.lengthOf(log, before)
        yield* api.delete(ConfigMap, config)
        yield* quiet
        assert.deepStrictEqual(yield* server.objects(ConfigMap), [])
      })
    )
  })

  it.effect("two controllers of one kind with its status share it by namespaces", () => {
    const of = (name: string, ...namespaces: ReadonlyArray<string>) =>
      Controller.make({ for: Scope, name, namespaces, reconciler: Reconciler.for(Scope) })
    return running([of("here", "team"), of("there", "other")], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* api.create(Scope, { ...docs, metadata: { namespace: "other", name: "docs" } })
        yield* quiet
        assert.deepStrictEqual(log, ["Scope docs: unchanged Synced", "Scope docs: unchanged Synced"])
      })
    )
  })
})

describe("steps that misbehave", () => {
  class Loose extends Kind.make({
    group: "access.example.com",
    version: "v1",
    kind: "Loose",
    scope: "Namespaced",
    spec: Schema.Struct({ n: Schema.Int }),
    status: Schema.Struct({ any: Schema.Unknown })
  }) {}
  const loose = { metadata: { namespace: "team", name: "l" }, spec: { n: 1 } }
  const circle: Record<string, unknown> = {}
  circle.self = circle

  it.effect.each([
    ["a number that JSON does not know", () => ({ big: 1n })],
    ["a circle", () => circle],
    [
      "a getter that throws",
      () =>
        Object.defineProperty({}, "x", {
          enumerable: true,
          get: () => {
            throw new Error("boo")
          }
        })
    ]
  ] as const)("a status that holds %s is told as a defect, and backs off (B43)", ([, make]) => {
    const controller = Controller.make({
      for: Loose,
      reconciler: Reconciler.for(Loose).pipe(Reconciler.status(() => ({ any: make() as any })))
    })
    return running(
      [controller],
      ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Loose, loose)
          yield* quiet
          assert.match(log[0] ?? "", /^Loose l: defect InternalError/)
          assert.strictEqual(ready(yield* api.get(Loose, loose.metadata)), "False InternalError")
          yield* TestClock.adjust("10 minutes")
          assert.isBelow(log.length, 20)
        }),
      { world: world({ kinds: [Kind.customResourceDefinition(Loose)] }) }
    )
  })

  it.effect("a step that throws at once, in its body or in a clean-up, is a defect of that key alone (B43)", () => {
    const throwing = Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(Scope, (object): Effect.Effect<void> => {
        if (object.metadata.name === "bad") throw new TypeError("at once")
        return Effect.void
      }).pipe(
        Reconciler.finalizer("example.com/x", ({ ref }): Effect.Effect<void> => {
          if (ref.name === "bad") throw new TypeError("in the clean-up")
          return Effect.void
        })
      )
    })
    return running([throwing], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: "bad" } })
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.delete(Scope, { namespace: "team", name: "bad" })
        yield* api.delete(Scope, refTo(docs))
        yield* quiet
        assert.deepStrictEqual(
          (yield* server.objects(Scope)).map((object) => `${object.metadata.name} ${ready(object)}`),
          ["bad False InternalError"]
        )
        assert.match(log.join("\n"), /defect InternalError .*at once/)
        assert.match(log.join("\n"), /defect InternalError .*in the clean-up/)
      })
    )
  })

  it.effect("a step that never ends holds one worker, and no other key", () => {
    const stuck = Controller.make({
      for: Scope,
      workers: 2,
      reconciler: Reconciler.fromEffect(Scope, (object) =>
        object.metadata.name === "bad" ? Effect.never : Effect.void
      )
    })
    return running(
      [stuck],
      ({ api }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: "bad" } })
          yield* quiet
          for (let i = 0; i < 20; i++)
            yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: `s${i}` } })
          yield* quiet
          assert.strictEqual(ready(yield* api.get(Scope, { namespace: "team", name: "s19" })), "True Synced")
        }),
      { grace: { grace: 0 } }
    )
  })

  it.effect("a key that wakes itself in each pass goes ever more slowly (D14)", () => {
    const ring = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(Reconciler.tap(() => Wake.enqueue(Scope, refTo(docs))))
    })
    return running([ring as any], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("1 hour")
        assert.isBelow(log.length, 40)
      })
    )
  })

  it.effect("a controller that lists its own kind rests, and runs again for a sibling", () => {
    const listing = Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(
        Scope,
        Effect.fnUntraced(function* (object) {
          const all = yield* Cached.list(Scope, { namespace: object.metadata.namespace })
          yield* Pass.status(Scope, { members: all.length })
        })
      )
    })
    return running([listing], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: "code" } })
        yield* quiet
        assert.strictEqual(((yield* api.get(Scope, refTo(docs))).status as any).members, 2)
        const before = log.length
        yield* TestClock.adjust("1 hour")
        assert.lengthOf(log, before)
        assert.isBelow(before, 10)
      })
    )
  })
})

describe("what others take away", () => {
  it.effect("a finalizer of ours that was taken by hand from a living object comes back (X15)", () => {
    const cleaned: Array<string> = []
    const controller = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.finalizer("example.com/x", ({ ref }) => Effect.sync(() => void cleaned.push(ref.name)))
      )
    })
    return running([controller], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.patch(Scope, refTo(docs), { type: "merge", body: { metadata: { finalizers: [] } } })
        yield* quiet
        assert.deepStrictEqual((yield* api.get(Scope, refTo(docs))).metadata.finalizers, ["example.com/x"])
        assert.deepStrictEqual(cleaned, [])
      })
    )
  })

  it.effect("managed fields that were cleared by hand are taken again, once (F33)", () =>
    running([owning], ({ api, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.patch(ConfigMap, child, { type: "merge", body: { metadata: { managedFields: [{}] } } as any })
        yield* api.patch(Scope, refTo(docs), { type: "merge", body: { metadata: { managedFields: [{}] } } as any })
        yield* quiet
        yield* Wake.enqueue(Scope, refTo(docs))
        yield* quiet
        yield* server.clearLog
        yield* Wake.enqueue(Scope, refTo(docs))
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(
          (yield* server.log).filter(({ mutating }) => mutating).map(({ operation }) => operation.resource),
          []
        )
        assert.isTrue(
          (yield* api.get(ConfigMap, child)).metadata.managedFields?.some(({ operation }) => operation === "Apply")
        )
      })
    )
  )

  it.effect("a child with a second owner stays ours, and the other reference stays too", () =>
    running([owning], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        const other = yield* api.create(ConfigMap, { metadata: { namespace: "team", name: "owner" } })
        const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: other.metadata.uid }
        yield* api.patch(ConfigMap, child, {
          type: "json",
          body: [{ op: "add", path: "/metadata/ownerReferences/-", value: reference }]
        })
        yield* quiet
        yield* api.patch(Scope, refTo(docs), members("ann", "bob"))
        yield* quiet
        const { data, metadata } = yield* api.get(ConfigMap, child)
        assert.deepStrictEqual([data, metadata.ownerReferences?.length], [{ members: "ann,bob" }, 2])
        const before = log.length
        yield* TestClock.adjust("1 hour")
        assert.lengthOf(log, before)
      })
    )
  )

  it.effect("a namespace that goes takes its objects along, and no child is wanted in it any more", () =>
    running([owning], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        const namespaces = {
          group: "",
          version: "v1",
          kind: "Namespace",
          plural: "namespaces",
          scope: "Cluster"
        } as const
        yield* api.delete(namespaces, { namespace: undefined, name: "team" })
        yield* api.delete(ConfigMap, child)
        yield* quiet
        assert.match(log.at(-1) ?? "", /NamespaceTerminating|being terminated/)
        yield* TestClock.adjust("1 minute")
        assert.isBelow(log.length, 8)
        assert.deepStrictEqual(
          (yield* server.objects(Scope))
            .concat(yield* server.objects(ConfigMap))
            .filter(({ metadata }) => metadata.namespace === "team"),
          []
        )
        const before = log.length
        yield* TestClock.adjust("1 hour")
        assert.lengthOf(log, before)
      })
    )
  )
})

describe("when keys come back", () => {
  const failing = (fails: () => boolean, error: () => Temporary | Fatal | NotReady, options: object = {}) =>
    Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(Scope, () =>
        Effect.suspend(() => (fails() ? Effect.fail(error()) : Effect.void))
      ),
      ...options
    })

  it.effect("ten label edits while a key fails do not grow its backoff, and are all answered (B33)", () => {
    let is = true
    const controller = failing(
      () => is,
      () => new Temporary({ message: "no" })
    )
    return running([controller], ({ api, log }) =>
      Effect.gen(function* () {
        const manager = yield* Manager.Manager
        yield* api.create(Scope, docs)
        yield* quiet
        const first = (yield* manager.nextOf(Scope, refTo(docs)))!
        for (let i = 0; i < 10; i++) {
          yield* api.patch(Scope, refTo(docs), label(String(i)))
          yield* quiet
        }
        assert.lengthOf(log, 11)
        assert.isAtMost((yield* manager.nextOf(Scope, refTo(docs)))!, first)
        is = false
        yield* TestClock.adjust("1 seconds")
        yield* quiet
        assert.strictEqual(log.at(-1), "Scope docs: unchanged Synced")
      })
    )
  })

  it.effect("a spec edit ends a long backoff at once, and the count of failures with it (B42, B65)", () => {
    const attempts: Array<number> = []
    const controller = Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(
        Scope,
        Effect.fnUntraced(function* () {
          attempts.push((yield* Pass.current).attempt)
          return yield* new Temporary({ message: "no" })
        })
      )
    })
    return running([controller], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("30 minutes")
        const before = attempts.length
        assert.isAbove(attempts.at(-1)!, 5)
        yield* api.patch(Scope, refTo(docs), members("x"))
        yield* quiet
        assert.deepStrictEqual(attempts.slice(before), [0])
        yield* TestClock.adjust("30 minutes")
        const again = attempts.length
        yield* api.delete(Scope, refTo(docs))
        yield* api.create(Scope, docs)
        yield* quiet
        assert.deepStrictEqual(attempts.slice(again), [0])
      })
    )
  })

  it.effect("a Retry-After of an hour is kept, and a spec edit does not wait for it (D4, B42)", () =>
    running([owning], ({ api, log, server }) =>
      Effect.gen(function* () {
        let refusals = 1
        yield* server.hook({
          before: (call) =>
            call.operation.verb === "apply" && call.operation.resource === "configmaps" && refusals-- > 0
              ? Effect.fail(ApiServer.refused(call, { code: 429, retryAfterSeconds: 3_600 }))
              : Effect.void
        })
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("59 minutes")
        assert.lengthOf(log, 1)
        yield* TestClock.adjust("1 minute")
        yield* quiet
        assert.strictEqual(log.at(-1), "Scope docs: changed Synced")
        refusals = 1
        yield* api.patch(Scope, refTo(docs), members("x"))
        yield* quiet
        assert.match(log.at(-1)!, /Temporary/)
        yield* api.patch(Scope, refTo(docs), members("y"))
        yield* quiet
        assert.strictEqual(log.at(-1), "Scope docs: changed Synced")
      })
    )
  )

  it.effect("a clean-up that is not ready for an hour runs once in it, but for a foreign edit (B59)", () => {
    let runs = 0
    const controller = Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.finalizer("example.com/x", () =>
          Effect.suspend(() =>
            ++runs < 3 ? Effect.fail(new NotReady({ reason: "StillUsed", requeueAfter: "1 hour" })) : Effect.void
          )
        )
      )
    })
    return running([controller], ({ api, server }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* api.delete(Scope, refTo(docs))
        yield* quiet
        yield* TestClock.adjust("30 minutes")
        assert.strictEqual(runs, 1)
        assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "False StillUsed")
        yield* api.patch(Scope, refTo(docs), label("x"))
        yield* quiet
        assert.strictEqual(runs, 2)
        yield* TestClock.adjust("59 minutes")
        assert.strictEqual(runs, 2)
        yield* TestClock.adjust("1 minute")
        yield* quiet
        assert.strictEqual(runs, 3)
        assert.deepStrictEqual(yield* server.objects(Scope), [])
      })
    )
  })

  it.effect("tries that are used up leave a slow recheck, by which it recovers (E4, E5, C1)", () => {
    let is = true
    const controller = failing(
      () => is,
      () => new Temporary({ message: "no", delay: "1 seconds" }),
      { retry: { retries: 3 } }
    )
    return running([controller], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("1 minute")
        assert.lengthOf(log, 3)
        is = false
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(log.at(-1), "Scope docs: unchanged Synced")
      })
    )
  })

  it.effect("a timer with idle waits for a quiet key (D31, E13)", () => {
    const controller = Controller.make({
      for: Scope,
      watches: [Watch.every("1 minute", { idle: "10 minutes", jitter: 0 })],
      reconciler: Reconciler.for(Scope)
    })
    return running([controller], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("9 minutes")
        assert.lengthOf(log, 1)
        yield* api.patch(Scope, refTo(docs), label("x"))
        yield* TestClock.adjust("9 minutes")
        assert.lengthOf(log, 2)
        yield* TestClock.adjust("61 seconds")
        assert.lengthOf(log, 3)
        yield* TestClock.adjust("2 minutes")
        assert.lengthOf(log, 5)
      })
    )
  })

  it.effect("a clock that is set back by an hour holds up no retry", () => {
    let is = true
    const controller = failing(
      () => is,
      () => new Temporary({ message: "no", delay: "10 seconds" })
    )
    return running([controller], ({ api, log }) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("2 hours")
        yield* api.create(Scope, docs)
        yield* quiet
        is = false
        yield* TestClock.setTime(3_600_000)
        yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: "late" } })
        yield* quiet
        yield* TestClock.adjust("11 seconds")
        yield* quiet
        assert.include(log, "Scope late: unchanged Synced")
      })
    )
  })
})

describe("sizes", () => {
  it.effect("names of 253 characters are kept whole in keys, children and events (B70)", () => {
    const name = `${"a".repeat(252)}b`
    return running([owning], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name } })
        yield* quiet
        assert.deepStrictEqual(log.length, 1)
        assert.strictEqual(ready(yield* api.get(Scope, { namespace: "team", name })), "True Synced")
      })
    )
  })

  it.effect("a status that the schema refuses is told, and tried slowly (B48)", () => {
    class Narrow extends Kind.make({
      group: "access.example.com",
      version: "v1",
      kind: "Scope",
      scope: "Namespaced",
      spec: Schema.Struct({ members: Schema.Array(Schema.String) }),
      status: Schema.Struct({ members: Schema.Int.check(Schema.isBetween({ minimum: 5, maximum: 9 })) })
    }) {}
    return running(
      [counted],
      ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          yield* TestClock.adjust("4 minutes")
          assert.lengthOf(log, 1)
          assert.match(log[0]!, /writing the status failed/)
          assert.strictEqual(
            ready(yield* api.get(Scope, refTo(docs))),
            "False Invalid",
            "told on the object, without what was refused"
          )
        }),
      { world: world({ kinds: [Kind.customResourceDefinition(Narrow)] }) }
    )
  })

  it.effect("specOnly holds against a neighbour that never stops annotating (B52, B75)", () => {
    const calm = Controller.make({
      for: Scope,
      predicate: Predicate.specOnly,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.status(({ object }) => ({ members: object.spec.members.length }))
      )
    })
    return running([calm], ({ api, server }) =>
      Effect.gen(function* () {
        let edits = 6
        yield* server.hook({
          before: (call) =>
            call.operation.resource.endsWith("/status") && edits-- > 0
              ? Effect.orDie(Effect.asVoid(api.patch(Scope, refTo(docs), label(String(edits)))))
              : Effect.void
        })
        yield* api.create(Scope, docs)
        yield* quiet
        yield* TestClock.adjust("30 seconds")
        const object: KubeObject = yield* api.get(Scope, refTo(docs))
        assert.strictEqual(ready(object), "True Synced")
      })
    )
  })

  it.effect("10,000 objects at a start are each run once, and cost nothing afterwards", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      for (let i = 0; i < 10_000; i++)
        yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: `s${i}` } })
      let passes = 0
      const quick = Controller.make({
        for: Scope,
        reconciler: Reconciler.fromEffect(Scope, () => Effect.sync(() => void passes++)),
        noStatusSubresource: true
      })
      yield* Effect.gen(function* () {
        yield* Effect.repeat(quiet, { until: () => passes >= 10_000, times: 1_000 })
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(passes, 10_000)
      }).pipe(Effect.provide(Manager.layer([quick])))
    }).pipe(Effect.provide(world()))
  )
})

/** A server whose versions are no decimals. */
const opaque = Layer.provideMerge(
  Layer.effect(
    ApiClient,
    Effect.map(ApiClient, (inner) => {
      const map = (value: any, change: (text: string) => string, key?: string): any => {
        if (Array.isArray(value)) return value.map((one) => map(one, change))
        if (typeof value === "object" && value !== null)
          return value.path === "/metadata/resourceVersion"
            ? { ...value, value: change(value.value) }
            : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one, change, name)]))
        return key === "resourceVersion" && typeof value === "string" && value !== "0" && value !== ""
          ? change(value)
          : value
      }
      const out = (value: any) => map(value, (text) => `v${Number(text).toString(36)}`)
      const into = (value: any) => map(value, (text) => String(Number.parseInt(text.slice(1), 36)))
      return {
        ...inner,
        get: (resource: any, ref: any, options: any) => Effect.map(inner.get(resource, ref, options), out),
        list: (resource: any, options: any) => Effect.map(inner.list(resource, into(options)), out),
        create: (resource: any, object: any, options: any) => Effect.map(inner.create(resource, object, options), out),
        patch: (resource: any, ref: any, patch: any, options: any) =>
          Effect.map(inner.patch(resource, ref, into(patch), options), out),
        watch: (resource: any, options: any) => Stream.map(inner.watch(resource, into(options)), out)
      } as any
    })
  ),
  world()
) as Layer.Layer<any>

describe("servers and clients of their own kind", () => {
  it.effect("versions that are no numbers are enough to converge, to repair and to rest (D29)", () =>
    running(
      [owning],
      ({ api, log, server }) =>
        Effect.gen(function* () {
          yield* quiet
          yield* api.create(Scope, docs)
          yield* quiet
          yield* TestClock.adjust("10 seconds")
          assert.match((yield* api.get(Scope, refTo(docs))).metadata.resourceVersion, /^v/)
          assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
          yield* api.patch(Scope, refTo(docs), members("x"))
          yield* quiet
          yield* api.patch(
            ConfigMap,
            child,
            { type: "merge", body: { data: { members: "eve" } } },
            { fieldManager: "k" }
          )
          yield* quiet
          yield* TestClock.adjust("10 seconds")
          yield* quiet
          assert.deepStrictEqual((yield* api.get(ConfigMap, child)).data, { members: "x" })
          const before = log.length
          assert.isBelow(before, 8)
          yield* server.clearLog
          yield* TestClock.adjust("1 hour")
          assert.lengthOf(log, before)
          assert.deepStrictEqual(
            (yield* server.log).filter(({ mutating }) => mutating),
            []
          )
        }),
      { world: opaque }
    )
  )

  it.effect.each(["configmaps", "scopes.access.example.com/status", "scopes.access.example.com"])(
    "a client that interrupts itself at %s loses no key",
    (resource) => {
      const cleaned: Array<string> = []
      const controller = Controller.make({
        ...owning,
        reconciler: Reconciler.for(Scope).pipe(
          Reconciler.child("config", ConfigMap, ({ object }) => ({
            metadata: { name: "docs-members" },
            data: { members: object.spec.members.join(",") }
          })),
          Reconciler.finalizer("example.com/x", ({ ref }) => Effect.sync(() => void cleaned.push(ref.name)))
        )
      } as any) as any
      return running([controller], ({ api, server }) =>
        Effect.gen(function* () {
          let interruptions = 3
          let isUser = true
          yield* server.hook({
            before: (call) =>
              !isUser && call.operation.resource === resource && call.mutating && interruptions-- > 0
                ? Effect.interrupt
                : Effect.void
          })
          yield* api.create(Scope, docs)
          isUser = false
          yield* quiet
          yield* TestClock.adjust("1 minute")
          yield* quiet
          assert.isAtMost(interruptions, 0)
          assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
          isUser = true
          yield* api.delete(Scope, refTo(docs))
          isUser = false
          yield* quiet
          assert.deepStrictEqual([cleaned, yield* server.objects(Scope)], [["docs"], []])
        })
      )
    }
  )
})
