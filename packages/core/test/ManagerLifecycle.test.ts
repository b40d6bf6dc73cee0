import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import * as Cached from "../src/Cached.ts"
import * as Controller from "../src/Controller.ts"
import * as EventPoster from "../src/EventPoster.ts"
import * as FieldManager from "../src/FieldManager.ts"
import * as Kind from "../src/Kind.ts"
import * as Leadership from "../src/Leadership.ts"
import * as Manager from "../src/Manager.ts"
import * as Owned from "../src/Owned.ts"
import * as Pass from "../src/Pass.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { Fatal } from "../src/ReconcileError.ts"
import * as Wake from "../src/Wake.ts"
import * as Watch from "../src/Watch.ts"
import {
  api as world,
  ConfigMap,
  crds,
  docs,
  editor,
  events,
  lagging,
  quiet,
  ready,
  refTo,
  Role,
  running,
  Scope
} from "./world.ts"

const scopes = Controller.make({
  for: Scope,
  reconciler: Reconciler.for(Scope).pipe(Reconciler.status(({ object }) => ({ members: object.spec.members.length })))
})
const roles = Controller.make({ for: Role, reconciler: Reconciler.for(Role) })
const other = { ...docs, metadata: { namespace: "other", name: "docs" } }

/** Collects what is logged. */
const logged = (lines: Array<string>) =>
  Logger.layer([
    Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${[message].flat().map(String).join(" ")}`))
  ])

describe("the cache behind its own writes", () => {
  it.effect.each([0, 50, 500])(
    "with a watch that lags by %i ms a pass never acts on what its last one has changed (B61, D29, X8)",
    (lag) => {
      let made = 0
      const listing = Controller.make({
        for: Scope,
        owns: [ConfigMap],
        reconciler: Reconciler.fromEffect(
          Scope,
          Effect.fnUntraced(function* (object) {
            const mine = (yield* Cached.list(ConfigMap, { namespace: object.metadata.namespace })).filter(
              ({ metadata }) => metadata.name.startsWith("made")
            )
            if (mine.length === 0)
              yield* Owned.apply(ConfigMap, { metadata: { name: `made-${++made}` }, data: { a: "b" } })
            yield* Pass.status(Scope, { members: object.spec.members.length })
          })
        )
      })
      return Effect.gen(function* () {
        const server = yield* ApiServer.ApiServer
        const lines: Array<string> = []
        const manager = Manager.layer([listing]).pipe(
          Layer.provide(Layer.succeed(Manager.OnSettled, ({ outcome }) => void lines.push(outcome))),
          Layer.provide(lagging(lag))
        )
        yield* Effect.gen(function* () {
          const api = yield* ApiClient
          yield* TestClock.adjust("2 seconds")
          yield* api.create(Scope, docs)
          yield* TestClock.adjust(lag + 5)
          for (let i = 0; i < 3; i++) {
            yield* Wake.enqueue(Scope, refTo(docs))
            yield* TestClock.adjust("10 millis")
          }
          yield* TestClock.adjust("10 seconds")
          assert.strictEqual(made, 1)
          assert.strictEqual(lines.filter((outcome) => outcome === "changed").length, 1)
          const scopeWrites = (yield* server.log).filter(
            ({ code, operation }) => operation.resource === "scopes.access.example.com/status" && code < 300
          )
          assert.lengthOf(scopeWrites, 1)
          assert.isFalse((yield* server.log).some(({ code }) => code === 409))
        }).pipe(Effect.provide(manager as Layer.Layer<any>))
      }).pipe(Effect.provide(world()))
    }
  )

  it.effect("an echo that never comes holds a key for 5 s, then the server is asked itself (D29)", () => {
    const deaf = Layer.effect(
      ApiClient,
      Effect.map(ApiClient, (inner) => ({
        ...inner,
        watch: (resource: any, options: any) =>
          inner
            .watch(resource, options)
            .pipe(Stream.filter((event: any) => event.type === "BOOKMARK" || event.object.kind !== "ConfigMap"))
      }))
    )
    let passes = 0
    const owning = Controller.make({
      for: Scope,
      owns: [ConfigMap],
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.tap(() => Effect.sync(() => void passes++)),
        Reconciler.child("config", ConfigMap, ({ object }) => ({
          metadata: { name: "c" },
          data: { n: String(object.spec.members.length) }
        }))
      )
    })
    return Effect.gen(function* () {
      const api = yield* ApiClient
      const server = yield* ApiServer.ApiServer
      yield* Effect.gen(function* () {
        yield* quiet
        yield* api.create(Scope, docs)
        yield* quiet
        yield* Wake.enqueue(Scope, refTo(docs))
        yield* TestClock.adjust("4999 millis")
        assert.strictEqual(passes, 1)
        yield* server.clearLog
        yield* TestClock.adjust("1 millis")
        yield* quiet
        assert.strictEqual(passes, 2)
        assert.isTrue(
          (yield* server.log).some(({ operation }) => operation.verb === "get" && operation.resource === "configmaps")
        )
      }).pipe(Effect.provide(Manager.layer([owning]).pipe(Layer.provide(deaf))))
    }).pipe(Effect.provide(world()))
  })
})

describe("wakes from outside of passes", () => {
  it.effect(
    "what is enqueued before the caches have synced is kept, a name that does not exist is ignored (K33, K34)",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        yield* api.create(Scope, docs)
        const seen: Array<string> = []
        const manager = Manager.layer([scopes]).pipe(
          Layer.provide(
            Layer.succeed(Manager.OnSettled, ({ triggers, ref }) => void seen.push(`${ref.name} ${triggers.join()}`))
          )
        )
        yield* Effect.gen(function* () {
          yield* Wake.enqueue(Scope, refTo(docs))
          yield* Wake.enqueue(Scope, { namespace: "team", name: "nobody" })
          yield* quiet
          assert.lengthOf(seen, 1)
          assert.match(seen[0]!, /^docs .*enqueue/)
        }).pipe(Effect.provide(manager))
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "2,048 distinct keys from 8 fibers while the only worker is stuck: nobody waits, all are served (K33)",
    () => {
      const done = new Set<string>()
      let stuck = true
      const slow = Controller.make({
        for: Scope,
        workers: 1,
        reconciler: Reconciler.fromEffect(Scope, (object) =>
          Effect.suspend(() => (stuck ? Effect.sleep("1 minute") : Effect.void)).pipe(
            Effect.andThen(Effect.sync(() => done.add(object.metadata.name)))
          )
        )
      })
      return running([slow], ({ api }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          stuck = false
          const names = Array.from({ length: 2_048 }, (_, i) => `s${i}`)
          for (const name of names.slice(0, 64))
            yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name } })
          yield* Effect.forEach(
            Array.from({ length: 8 }, (_, i) => i),
            (i) =>
              Effect.forEach(
                names.filter((_, k) => k % 8 === i),
                (name) => Wake.enqueue(Scope, { namespace: "team", name }),
                { discard: true }
              ),
            { concurrency: 8, discard: true }
          )
          assert.strictEqual(done.size, 0)
          yield* TestClock.adjust("1 minute")
          yield* quiet
          yield* quiet
          assert.strictEqual(done.size, 65)
        })
      )
    }
  )

  it.effect(
    "resync wakes what is chosen and nothing else, counts it, and fails once the Manager has stopped (K37, K36, D14)",
    () => {
      const runs: Array<string> = []
      const counting = Controller.make({
        for: Scope,
        reconciler: Reconciler.fromEffect(Scope, ({ metadata }) =>
          Effect.sync(() => void runs.push(`${metadata.namespace}/${metadata.name}`))
        )
      })
      return Effect.gen(function* () {
        const api = yield* ApiClient
        yield* api.create(Scope, docs)
        yield* api.create(Scope, other)
        yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: "sre", labels: { team: "sre" } } })
        const context = yield* Effect.gen(function* () {
          yield* quiet
          runs.length = 0
          assert.strictEqual(yield* Wake.resync(Scope, { namespace: "team", labels: { team: "sre" } }), 1)
          yield* quiet
          assert.deepStrictEqual(runs, ["team/sre"])
          assert.strictEqual(yield* counting.resync(), 3)
          yield* quiet
          return yield* Effect.context<Wake.Wakes<"access.example.com/Scope">>()
        }).pipe(Effect.provide(Manager.layer([counting])))
        const stopped = yield* Effect.exit(Effect.provideContext(Wake.resync(Scope), context))
        assert.include(
          String(Exit.isFailure(stopped) ? (stopped.cause.reasons[0] as any).error.message : ""),
          "its Manager has stopped"
        )
        yield* Effect.provideContext(Wake.enqueue(Scope, refTo(docs)), context)
        yield* quiet
        assert.lengthOf(runs, 4)
      }).pipe(Effect.provide(world()))
    }
  )

  it.effect("an interruption of resync is reported even if the list is empty (K38)", () =>
    running([scopes], () =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Wake.resync(Scope))
        yield* Fiber.interrupt(fiber)
        const exit = yield* Fiber.await(fiber)
        assert.isTrue(Exit.isFailure(exit) && exit.cause.reasons.every(({ _tag }) => _tag === "Interrupt"))
      })
    )
  )

  it.effect("a mapped watch wakes what an object named before and what it names after", () => {
    const runs: Array<string> = []
    const mapping = Controller.make({
      for: Scope,
      watches: [
        Watch.mapped(Role, (role) => Effect.succeed([{ namespace: role.metadata.namespace, name: role.spec.scope }]))
      ],
      reconciler: Reconciler.fromEffect(Scope, ({ metadata }) => Effect.sync(() => void runs.push(metadata.name)))
    })
    return running([mapping], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* api.create(Scope, { ...docs, metadata: { namespace: "team", name: "code" } })
        yield* api.create(Role, editor)
        yield* quiet
        runs.length = 0
        yield* api.patch(Role, refTo(editor), { type: "merge", body: { spec: { scope: "code" } } })
        yield* quiet
        assert.deepStrictEqual(runs.sort(), ["code", "docs"])
      })
    )
  })

  it.effect(
    "a stream from outside wakes its keys and is started again when it breaks (B9); a timer wakes each key after its interval (D31, E13)",
    () => {
      const runs: Array<string> = []
      let starts = 0
      const woken = Controller.make({
        for: Scope,
        watches: [
          Watch.external(
            Stream.suspend(() =>
              ++starts === 1 ? Stream.die("lost") : Stream.concat(Stream.make(refTo(docs)), Stream.never)
            )
          ),
          Watch.every("1 hour", { jitter: 0 })
        ],
        reconciler: Reconciler.fromEffect(Scope, ({ metadata }) => Effect.sync(() => void runs.push(metadata.name)))
      })
      return running([woken], ({ api }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          assert.lengthOf(runs, 1)
          yield* TestClock.adjust("1 minute")
          assert.isAtLeast(starts, 2)
          const before = runs.length
          assert.isAtLeast(before, 2)
          yield* TestClock.adjust("59 minutes")
          yield* TestClock.adjust("2 minutes")
          assert.lengthOf(runs, before + 1)
        })
      )
    }
  )
})

describe("start and health", () => {
  it.effect(
    "a kind whose CRD is absent is told and waited for, and no restart is needed when it comes (B25, D23)",
    () =>
      running(
        [scopes],
        ({ api }) =>
          Effect.gen(function* () {
            const manager = yield* Manager.Manager
            yield* TestClock.adjust("15 seconds")
            const before = yield* manager.health
            assert.isFalse(before.ready)
            assert.match(
              before.problems.join(),
              /list scopes.access.example.com in all namespaces: 404 .*install its CRD/
            )
            yield* api.create(crds, Kind.customResourceDefinition(Scope))
            yield* quiet
            yield* api.create(Scope, docs)
            yield* TestClock.adjust("10 minutes")
            assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
            assert.isTrue((yield* manager.health).ready)
          }) as any,
        { world: world({ kinds: [] }) }
      )
  )

  it.effect("one kind that cannot be listed does not hold up the others (B27)", () =>
    running(
      [scopes, roles],
      ({ api, server }) =>
        Effect.gen(function* () {
          void server
          yield* api.create(Scope, docs)
          yield* TestClock.adjust("5 seconds")
          assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
          const manager = yield* Manager.Manager
          assert.match((yield* manager.health).problems.join(), /list roles.access.example.com/)
        }),
      { world: world({ kinds: [Kind.customResourceDefinition(Scope)] }) }
    )
  )

  it.effect("with namespaces given, the path of all namespaces is never asked for (B28)", () => {
    const narrow = Controller.make({ for: Scope, namespaces: ["team"], reconciler: Reconciler.for(Scope) })
    return running([narrow], ({ api, log }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* api.create(Scope, other)
        yield* quiet
        assert.deepStrictEqual(log, ["Scope docs: unchanged Synced"])
        assert.strictEqual(ready(yield* api.get(Scope, refTo(other))), "none")
      })
    )
  })

  it.effect("a CRD without a status subresource is refused at start, unless the controller says so (B48, X14)", () => {
    const crd: any = structuredClone(Kind.customResourceDefinition(Scope))
    delete crd.spec.versions[0].subresources
    return Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(Manager.layer([scopes]))))
      assert.isTrue(Exit.isFailure(exit))
      assert.match(
        String(Exit.isFailure(exit) ? (exit.cause.reasons[0] as any).error.message : ""),
        /scopes.access.example.com has no status subresource.*add/
      )
      const quietly = Controller.make({ for: Scope, noStatusSubresource: true, reconciler: Reconciler.for(Scope) })
      yield* Effect.provide(quiet, Manager.layer([quietly]))
    }).pipe(Effect.provide(world({ kinds: [crd] })))
  })

  it.effect("two controllers of one name are refused", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(Manager.layer([scopes, scopes]))))
      assert.match(
        String(Exit.isFailure(exit) ? (exit.cause.reasons[0] as any).error.message : ""),
        /two controllers are named scopes.access.example.com/
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect.each([
    ["everywhere", [undefined, undefined], "in all namespaces"],
    ["where one has all namespaces", [undefined, ["team", "other"]], "in namespace team, other"],
    ["where their namespaces overlap", [["team"], ["other", "team"]], "in namespace team"]
  ] as const)("two controllers that would write one status are refused: %s", ([, [one, other], where]) =>
    Effect.gen(function* () {
      const of = (name: string, namespaces: ReadonlyArray<string> | undefined) =>
        Controller.make({
          for: Scope,
          name,
          reconciler: Reconciler.for(Scope),
          ...(namespaces !== undefined && { namespaces })
        })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Manager.layer([of("one", one), of("two", other)]))))
      assert.strictEqual(error.reason._tag, "StatusWrittenTwice")
      assert.include(
        error.message,
        `the controllers one and two both write the status of scopes.access.example.com ${where}, and each would`
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("who waits for the start of a Manager can ask it before its cluster answers", () => {
    const silent = Layer.effect(
      ApiClient,
      Effect.map(ApiClient, (inner) => ({ ...inner, discover: () => Effect.never, watch: () => Stream.never }))
    )
    const started: Array<Manager.Manager["Service"]> = []
    const manager = Manager.layer([scopes]).pipe(
      Layer.provide(Layer.succeed(Manager.OnStart, (one) => void started.push(one))),
      Layer.provide(silent)
    )
    return Effect.gen(function* () {
      yield* Effect.forkScoped(Layer.build(manager))
      yield* quiet
      assert.lengthOf(started, 1)
      const health = yield* started[0]!.health
      assert.deepStrictEqual([health.phase, health.ready], ["starting", false])
    }).pipe(Effect.scoped, Effect.provide(world()))
  })

  /** What a Manager with this poster asks about Events when it starts, and what it logs of an account that may do nothing. */
  const rightsAsked = (poster: Layer.Layer<never> | Layer.Layer<EventPoster.EventPoster, never, ApiClient>) => {
    const lines: Array<string> = []
    const asked: Array<string> = []
    const denied = Layer.effect(
      ApiClient,
      Effect.map(ApiClient, (inner) => ({
        ...inner,
        create: (resource: any, object: any, options: any) => {
          if (resource.kind !== "SelfSubjectAccessReview") return inner.create(resource, object, options)
          const { group, resource: plural, verb } = object.spec.resourceAttributes
          asked.push(`${verb} ${plural} of "${group}"`)
          return Effect.map(inner.create(resource, object, options), (review: any) => ({
            ...review,
            status: { allowed: false }
          }))
        }
      }))
    )
    return Effect.gen(function* () {
      yield* Effect.provide(
        quiet,
        Manager.layer([scopes]).pipe(Layer.provide(poster), Layer.provide(denied), Layer.provideMerge(logged(lines)))
      )
      return { asked, warnings: lines.filter((one) => one.startsWith("Warn ") && one.includes("events")) }
    }).pipe(Effect.provide(world()))
  }

  it.effect("an account that may not post events is warned of once at start (D21)", () =>
    Effect.gen(function* () {
      for (const poster of [Layer.empty, EventPoster.layer])
        assert.deepStrictEqual(yield* rightsAsked(poster), {
          asked: [`create events of ""`, `patch events of ""`],
          warnings: [
            "Warn this account may not create and patch events in all namespaces, so some will not be posted: grant create and patch on events; Controller.rbac prints the rules"
          ]
        })
    })
  )

  it.effect(
    "the start asks for the rights that the poster in force needs, and for none if it posts nothing (D21)",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* rightsAsked(EventPoster.layerEventsV1), {
          asked: [`create events of "events.k8s.io"`, `patch events of "events.k8s.io"`],
          warnings: [
            `Warn this account may not create and patch events.events.k8s.io in all namespaces, so some will not be posted: grant create and patch on events.events.k8s.io; Controller.rbac with { events: "events.k8s.io" } prints the rules`
          ]
        })
        for (const poster of [EventPoster.layerNone, EventPoster.layerMemory])
          assert.deepStrictEqual(yield* rightsAsked(poster), { asked: [], warnings: [] })
      })
  )

  it.effect("a process that leads alone reconciles at once", () =>
    running(
      [scopes],
      ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          assert.lengthOf(log, 1)
        }),
      { world: Layer.merge(world(), Layer.succeed(Leadership.Leadership, Leadership.always)) }
    )
  )

  it.effect("one that does not lead keeps its caches and reconciles nothing", () =>
    running(
      [scopes],
      ({ api, log }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* TestClock.adjust("1 hour")
          assert.lengthOf(log, 0)
        }),
      { world: Layer.merge(world(), Layer.succeed(Leadership.Leadership, Leadership.never)) }
    )
  )
})

describe("stop", () => {
  const slow = (millis: number, ends: Array<string>) =>
    Controller.make({
      for: Scope,
      reconciler: Reconciler.for(Scope).pipe(
        Reconciler.tap(() =>
          Effect.onExit(Effect.sleep(millis), (exit) => Effect.sync(() => void ends.push(exit._tag)))
        ),
        Reconciler.status(({ object }) => ({ members: object.spec.members.length }))
      )
    })

  it.effect("a running pass ends, with its status and event; none begins (B92, B41)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const ends: Array<string> = []
      const fiber = yield* Effect.forkChild(
        Effect.gen(function* () {
          yield* quiet
          yield* api.create(Scope, docs)
          yield* quiet
        }).pipe(Effect.provide(Manager.layer([slow(2_000, ends)])))
      )
      yield* Effect.repeat(quiet, { times: 3 })
      yield* TestClock.adjust("1 seconds")
      yield* api.create(Scope, other)
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(ends, ["Success"])
      assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
      assert.strictEqual(ready(yield* api.get(Scope, refTo(other))), "none")
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "an operator that is interrupted, as by SIGTERM, waits for its passes like one that ends (B92, X17)",
    () => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const api = yield* ApiClient
        const ends: Array<string> = []
        yield* api.create(Scope, docs)
        const operator = yield* Effect.forkChild(Manager.run([slow(2_000, ends)]))
        yield* Effect.repeat(quiet, { times: 3 })
        const stopping = yield* Effect.forkChild(Fiber.interrupt(operator))
        yield* quiet
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(stopping)
        assert.deepStrictEqual(ends, ["Success"])
        assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
        assert.include(lines, "Info stopping: 1 pass may take 30s to end")
      }).pipe(Effect.provide([world(), logged(lines)]))
    }
  )

  it.effect(
    "past the grace the step is interrupted, its clean-up runs, nothing is recorded, and the log says for whom it waited (B92, D2, X17)",
    () => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const api = yield* ApiClient
        const ends: Array<string> = []
        const fiber = yield* Effect.forkChild(
          Effect.gen(function* () {
            yield* quiet
            yield* api.create(Scope, docs)
            yield* quiet
          }).pipe(Effect.provide(Manager.layer([slow(3_600_000, ends)], { grace: "5 seconds" })))
        )
        yield* Effect.repeat(quiet, { times: 3 })
        yield* TestClock.adjust("6 seconds")
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(ends, ["Failure"])
        assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "none")
        assert.deepStrictEqual(
          lines.filter((line) => line.includes("stopping")),
          [
            "Info stopping: 1 pass may take 5s to end",
            "Warn stopping: 1 pass of scopes.access.example.com did not end within 5s, and what is left is interrupted: team/docs"
          ]
        )
      }).pipe(Effect.provide([world(), logged(lines)]))
    }
  )
})

describe("what a pass tells", () => {
  const eventsOf = (server: ApiServer.ApiServer["Service"]) =>
    Effect.map(server.objects(events), (all) =>
      all.map(({ count, message, reason, type }) => `${type} ${reason} x${count}: ${message}`)
    )

  it.effect(
    "the same outcome a hundred times, and again after a restart, is one Event (B83); steady objects say nothing at a start",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const server = yield* ApiServer.ApiServer
        const failing = Controller.make({
          for: Scope,
          reconciler: Reconciler.fromEffect(Scope, () => new Fatal({ reason: "Denied", message: "no" }))
        })
        yield* api.create(Scope, docs)
        yield* Effect.gen(function* () {
          for (let i = 0; i < 100; i++) {
            yield* Wake.enqueue(Scope, refTo(docs))
            yield* TestClock.adjust("1 seconds")
          }
        }).pipe(Effect.provide(Manager.layer([failing])))
        assert.lengthOf(yield* eventsOf(server), 1)
        yield* api.create(Role, editor)
        yield* Effect.provide(TestClock.adjust("1 seconds"), Manager.layer([roles]))
        const before = yield* eventsOf(server)
        yield* Effect.provide(TestClock.adjust("1 seconds"), Manager.layer([roles]))
        assert.deepStrictEqual(yield* eventsOf(server), before)
      }).pipe(Effect.provide(world()))
  )

  it.effect("the event follows the status and is not said if the status could not be written (K20, D8)", () => {
    const waiting = Controller.make({
      for: Role,
      watches: [Scope],
      reconciler: Reconciler.for(Role).pipe(
        Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" })
      )
    })
    return running([waiting], ({ api, log, server }) =>
      Effect.gen(function* () {
        let broken = true
        yield* server.hook({
          before: (call) =>
            broken && call.operation.resource.endsWith("/status")
              ? Effect.fail(ApiServer.refused(call, { code: 500 }))
              : Effect.void
        })
        yield* api.create(Role, editor)
        yield* quiet
        assert.match(log[0]!, /writing the status failed.*500/)
        assert.lengthOf(yield* eventsOf(server), 0)
        broken = false
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(yield* eventsOf(server), ["Warning ScopeNotFound x1: Scope team/docs not found"])
        const order = (yield* server.log)
          .filter(({ code, mutating }) => mutating && code < 300)
          .map(({ operation }) => `${operation.verb} ${operation.resource}`)
        assert.deepStrictEqual(order.slice(-2), ["apply roles.access.example.com/status", "create events"])
      })
    )
  })

  it.effect(
    "both failures are told where a Fatal's status could not be written, and it is written in the end (B53)",
    () => {
      const lines: Array<string> = []
      const failing = Controller.make({
        for: Scope,
        reconciler: Reconciler.fromEffect(Scope, () => new Fatal({ reason: "BadSpec", message: "bad spec" }))
      })
      return running(
        [failing],
        ({ api, server }) =>
          Effect.gen(function* () {
            let fails = 1
            yield* server.hook({
              before: (call) =>
                call.operation.resource.endsWith("/status") && fails-- > 0
                  ? Effect.fail(ApiServer.refused(call, { code: 500 }))
                  : Effect.void
            })
            yield* api.create(Scope, docs)
            yield* TestClock.adjust("30 seconds")
            assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "False BadSpec")
            assert.isTrue(lines.some((one) => one.startsWith("Error") && one.includes("bad spec")))
          }),
        { world: Layer.merge(world(), logged(lines)) }
      )
    }
  )

  it.effect("what a pass leaves behind is refused when it has ended, and told once", () => {
    const lines: Array<string> = []
    let leak: Effect.Effect<void> = Effect.void
    const leaking = Controller.make({
      for: Scope,
      reconciler: Reconciler.fromEffect(
        Scope,
        Effect.fnUntraced(function* () {
          const context = yield* Effect.context<Pass.Pass>()
          leak = Effect.provideContext(Pass.changed("too late"), context)
        })
      )
    })
    return running(
      [leaking],
      ({ api }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          const exit = yield* Effect.exit(leak)
          yield* Effect.exit(leak)
          assert.isTrue(Exit.isFailure(exit) && exit.cause.reasons[0]?._tag === "Die")
          assert.lengthOf(
            lines.filter((one) => one.includes("has ended")),
            1
          )
        }),
      { world: Layer.merge(world(), logged(lines)) }
    )
  })

  it.effect("a poster and a name of the program's own are used", () =>
    running(
      [
        Controller.make({
          for: Scope,
          owns: [ConfigMap],
          reconciler: Reconciler.for(Scope).pipe(
            Reconciler.child("c", ConfigMap, () => ({ metadata: { name: "c" }, data: { a: "b" } }))
          )
        })
      ],
      ({ api, server }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* quiet
          assert.lengthOf(yield* server.objects(events), 0)
          assert.deepStrictEqual(
            (yield* api.get(ConfigMap, { namespace: "team", name: "c" })).metadata.managedFields?.map(
              ({ manager }) => manager
            ),
            ["my-operator"]
          )
          const recorded = yield* EventPoster.Recorded
          assert.deepStrictEqual(
            (yield* recorded.said).map(({ message, reason }) => `${reason}: ${message}`),
            ["Reconciled: created ConfigMap c"]
          )
        }) as any,
      {
        world: Layer.mergeAll(world(), EventPoster.layerMemory, Layer.succeed(FieldManager.FieldManager, "my-operator"))
      }
    )
  )
})
