import { ApiClient, type WatchEvent, type WatchOptions } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import { FieldManager } from "@fixpoint/core/FieldManager"
import type { ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ApiServer from "../src/ApiServer.ts"
import { configMaps, crds, gadgets, leases, namespaces, widgetCrd, widgets } from "./fixtures.ts"

const world = (options: ApiServer.Options = {}) => ApiServer.layer({ kinds: [widgetCrd()], seed: 1, ...options })

const here = (name: string) => ({ namespace: "default", name })
const widget = (name: string, size = 1, metadata: object = {}): ObjectInput => ({
  metadata: { ...here(name), ...metadata },
  spec: { size }
})

const brief = (event: WatchEvent): string =>
  event.type === "BOOKMARK"
    ? `BOOKMARK${event.initialEventsEnd ? " end" : ""}`
    : `${event.type} ${event.object.metadata.name}`

/** Collects events in the background; the answer reads what has come so far. */
const follow = (resource: Resource, options?: WatchOptions) =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const seen: Array<WatchEvent> = []
    const fiber = yield* Effect.forkChild(
      Stream.runForEach(api.watch(resource, options), (event) => Effect.sync(() => void seen.push(event)))
    )
    yield* settled
    return { fiber, seen, told: () => seen.map(brief) }
  })

/** Lets every fiber run that can, without any time passing. */
const settled = TestClock.adjust(0).pipe(Effect.andThen(Effect.repeat(Effect.yieldNow, { times: 20 })))

const reasonOf = <A>(effect: Effect.Effect<A, ApiError, ApiClient>) =>
  Effect.map(Effect.flip(effect as Effect.Effect<unknown, ApiError, ApiClient>), ({ reason }) => reason._tag)

describe("ApiServer.layer", () => {
  it.effect("a watch tells changes in the order and with the versions of the answers (F60, F61)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const watch = yield* follow(widgets)
      const created = yield* api.create(widgets, widget("a"))
      const patched = yield* api.patch(widgets, here("a"), { type: "merge", body: { spec: { size: 2 } } })
      const same = yield* api.patch(widgets, here("a"), { type: "merge", body: { spec: { size: 2 } } })
      yield* api.delete(widgets, here("a"))
      yield* settled
      assert.strictEqual(same.metadata.resourceVersion, patched.metadata.resourceVersion)
      assert.deepStrictEqual(
        watch.seen.map((event) => event.type !== "BOOKMARK" && [event.type, event.object.metadata.resourceVersion]),
        [
          ["ADDED", created.metadata.resourceVersion],
          ["MODIFIED", patched.metadata.resourceVersion],
          ["DELETED", String(Number(patched.metadata.resourceVersion) + 1)]
        ]
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("a watch that is interrupted leaves nothing behind, and one that is cut ends or breaks", () =>
    Effect.gen(function* () {
      const server = yield* ApiServer.ApiServer
      const interrupted = yield* follow(widgets)
      const ended = yield* follow(widgets)
      assert.strictEqual(yield* server.watches, 2)
      yield* Fiber.interrupt(interrupted.fiber)
      assert.strictEqual(yield* server.watches, 1)
      yield* server.cutWatches({ resource: widgets })
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(ended.fiber)))
      const broken = yield* follow(configMaps)
      yield* server.cutWatches({ broken: true })
      assert.strictEqual(yield* reasonOf(Fiber.join(broken.fiber)), "Unreachable")
      assert.strictEqual(yield* server.watches, 0)
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "a watch ends cleanly after its seconds, with bookmarks each minute and before the end of a long one (F65)",
    () =>
      Effect.gen(function* () {
        const short = yield* follow(widgets, { timeoutSeconds: 3 })
        const long = yield* follow(widgets, { timeoutSeconds: 75 })
        yield* TestClock.adjust("2999 millis")
        assert.isUndefined(short.fiber.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.isDefined(short.fiber.pollUnsafe())
        assert.deepStrictEqual(short.told(), [])
        yield* TestClock.adjust("57 seconds")
        assert.deepStrictEqual(long.told(), ["BOOKMARK"])
        yield* TestClock.adjust("13 seconds")
        assert.deepStrictEqual(long.told(), ["BOOKMARK", "BOOKMARK"])
        yield* TestClock.adjust("2 seconds")
        assert.isDefined(long.fiber.pollUnsafe())
      }).pipe(Effect.provide(world()))
  )

  it.effect("initial events end with a marked bookmark, after which nothing is missing (F67)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      yield* api.create(widgets, widget("a"))
      const watch = yield* follow(widgets, { sendInitialEvents: true })
      yield* api.create(widgets, widget("b"))
      yield* settled
      assert.deepStrictEqual(watch.told(), ["ADDED a", "BOOKMARK end", "ADDED b"])
    }).pipe(Effect.provide(world()))
  )

  it.effect("after a compaction old versions and page tokens are gone, but open watches go on (F45, F55)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const server = yield* ApiServer.ApiServer
      for (const name of ["a", "b", "c"]) yield* api.create(widgets, widget(name))
      const first = yield* api.list(widgets, { limit: 1 })
      const watch = yield* follow(widgets, { resourceVersion: first.resourceVersion })
      yield* api.delete(widgets, here("b"))
      yield* server.compact(widgets)
      const late = Stream.runDrain(api.watch(widgets, { resourceVersion: first.resourceVersion }))
      assert.strictEqual(yield* reasonOf(late), "Expired")
      const { reason } = yield* Effect.flip(api.list(widgets, { limit: 1, continue: first.continue! }))
      assert.strictEqual(reason._tag, "Expired")
      const token = reason._tag === "Expired" ? reason.continueToken! : ""
      const rest = yield* api.list(widgets, { continue: token })
      assert.deepStrictEqual(
        rest.items.map(({ metadata }) => metadata.name),
        ["c"]
      )
      yield* api.create(widgets, widget("d"))
      yield* settled
      assert.deepStrictEqual(watch.told(), ["DELETED b", "ADDED d"])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a request that fails before it is done is not done, and one whose answer is lost is", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const server = yield* ApiServer.ApiServer
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* server.hook({ before: (call) => ApiServer.unreachable(call) })
          assert.strictEqual(yield* reasonOf(api.create(widgets, widget("before"))), "Unreachable")
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* server.hook({ after: (call) => ApiServer.unreachable(call) })
          assert.strictEqual(yield* reasonOf(api.create(widgets, widget("after"))), "Unreachable")
        })
      )
      const { items } = yield* api.list(widgets)
      assert.deepStrictEqual(
        items.map(({ metadata }) => metadata.name),
        ["after"]
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("a hook may delay a request by the clock, refuse it with any code, or crash its caller", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const server = yield* ApiServer.ApiServer
      const done: Array<string> = []
      yield* server.hook({
        before: (call) => {
          switch (call.operation.ref?.name) {
            case "slow":
              return Effect.sleep("10 seconds")
            case "busy":
              return ApiServer.refused(call, { code: 429, retryAfterSeconds: 7 })
            case "crash":
              return Effect.interrupt
          }
          return Effect.void
        }
      })
      const slow = yield* Effect.forkChild(
        Effect.andThen(
          Effect.exit(api.get(widgets, here("slow"))),
          Effect.sync(() => done.push("slow"))
        )
      )
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(done, [])
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(slow)
      assert.deepStrictEqual(done, ["slow"])
      const { reason } = yield* Effect.flip(api.delete(widgets, here("busy")))
      assert.deepInclude(reason, { _tag: "TooManyRequests", retryAfterMillis: 7_000 })
      assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(api.delete(widgets, here("crash")))))
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("the log tells who asked what, what came of it, and whether anything changed", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const server = yield* ApiServer.ApiServer
      yield* api.create(widgets, widget("a"))
      yield* api.patch(widgets, here("a"), { type: "merge", body: {} }, { subresource: "status" })
      yield* Effect.flip(api.get(configMaps, here("absent")))
      const log = yield* server.log
      assert.deepStrictEqual(
        log.map(({ changed, code, mutating, number, operation }) => [
          number,
          operation.verb,
          operation.resource,
          operation.ref?.name,
          code,
          mutating,
          changed
        ]),
        [
          [1, "create", "widgets.facts.example.com", undefined, 201, true, true],
          [2, "patch", "widgets.facts.example.com/status", "a", 200, true, false],
          [3, "get", "configmaps", "absent", 404, false, false]
        ]
      )
      yield* server.clearLog
      assert.deepStrictEqual(yield* server.log, [])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a namespace is emptied five seconds after its DELETE, and then gone (F128, F129)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const ref = { namespace: undefined, name: "team" }
      yield* api.create(configMaps, { metadata: { namespace: "team", name: "a" } })
      yield* api.create(configMaps, { metadata: { namespace: "team", name: "held", finalizers: ["x.io/a"] } })
      yield* api.delete(namespaces, ref)
      assert.strictEqual(
        yield* reasonOf(api.create(configMaps, { metadata: { namespace: "team", name: "b" } })),
        "NamespaceTerminating"
      )
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual((yield* api.list(configMaps, { namespace: "team" })).items.length, 2)
      yield* TestClock.adjust("1 millis")
      const { items } = yield* api.list(configMaps, { namespace: "team" })
      assert.deepStrictEqual(
        items.map(({ metadata }) => metadata.name),
        ["held"]
      )
      const held = { namespace: "team", name: "held" }
      yield* api.patch(configMaps, held, { type: "json", body: [{ op: "remove", path: "/metadata/finalizers" }] })
      assert.strictEqual(yield* reasonOf(api.get(namespaces, ref)), "NotFound")
    }).pipe(Effect.provide(world({ objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }] })))
  )

  it.effect("sixty patches at once all land, and of ten replaces of one version one does (F73, F159)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      yield* api.create(configMaps, { metadata: here("a") })
      yield* Effect.forEach(
        Array.from({ length: 60 }, (_, i) => `k${i}`),
        (key) => api.patch(configMaps, here("a"), { type: "merge", body: { data: { [key]: "1" } } }),
        { concurrency: "unbounded" }
      )
      const { data } = yield* api.get(configMaps, here("a"))
      assert.strictEqual(Object.keys(data as object).length, 60)
      const lease = yield* api.create(leases, { metadata: here("l"), spec: { holderIdentity: "none" } })
      const exits = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, i) => ({ ...lease, spec: { holderIdentity: `h${i}` } })),
        (next) => Effect.exit(api.replace(leases, here("l"), next)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    }).pipe(Effect.provide(world()))
  )

  it.effect("what a caller does with an object after sending it does not reach the server", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const data: Record<string, string | undefined> = { a: "1", none: undefined }
      const made = yield* api.create(configMaps, { metadata: here("a"), data })
      data.a = "changed"
      assert.deepStrictEqual((yield* api.get(configMaps, here("a"))).data, { a: "1" })
      assert.deepStrictEqual(made.data, { a: "1" })
    }).pipe(Effect.provide(world()))
  )

  it.effect("two servers share nothing, and two of one seed draw the same (F1, F11)", () =>
    Effect.gen(function* () {
      const make = Effect.flatMap(ApiClient, (api) =>
        api.create(widgets, { metadata: { namespace: "default", generateName: "a-" } })
      )
      const [one, other, third] = [
        yield* Effect.provide(make, world()),
        yield* Effect.provide(make, world()),
        yield* Effect.provide(make, world({ seed: 2 }))
      ]
      assert.deepStrictEqual(one, other)
      assert.notStrictEqual(one.metadata.uid, third.metadata.uid)
      assert.match(one.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.match(one.metadata.name, /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    })
  )

  it.effect("writes are made under the name of the FieldManager reference, unless another is given (F29)", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const managers = (object: {
        readonly metadata: { readonly managedFields?: ReadonlyArray<{ manager: string }> }
      }) => object.metadata.managedFields?.map(({ manager }) => manager)
      const own = api.create(configMaps, { metadata: here("a"), data: { a: "1" } })
      assert.deepStrictEqual(managers(yield* Effect.provideService(own, FieldManager, "mine")), ["mine"])
      const given = yield* api.create(configMaps, { metadata: here("b"), data: { a: "1" } }, { fieldManager: "other" })
      assert.deepStrictEqual(managers(given), ["other"])
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "a kind is discovered, with its schema, as soon as its CRD is made, and no longer when that is gone (F68, F168)",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const found = Option.getOrThrow(yield* api.discover(widgets))
        assert.deepInclude(found, { kind: "Widget", namespaced: true, subresources: ["status"] })
        const schema = Option.getOrThrow(yield* api.schema(widgets)) as any
        assert.strictEqual(schema.properties.status.properties.conditions["x-kubernetes-list-type"], "map")
        assert.isTrue(Option.isNone(yield* api.discover(gadgets)))
        assert.isTrue(Option.isNone(yield* api.schema(gadgets)))
        yield* api.create(widgets, widget("a"))
        const watch = yield* follow(widgets)
        yield* api.delete(crds, { namespace: undefined, name: "widgets.facts.example.com" })
        yield* Fiber.join(watch.fiber)
        assert.deepStrictEqual(watch.told(), ["ADDED a", "DELETED a"])
        assert.isTrue(Option.isNone(yield* api.discover(widgets)))
        assert.strictEqual(yield* reasonOf(api.list(widgets)), "NotFound")
      }).pipe(Effect.provide(world()))
  )

  it.effect("an object that cannot be made at the start is a defect that says why", () =>
    Effect.gen(function* () {
      const bad = ApiServer.layer({ objects: [{ apiVersion: "v1", kind: "ConfigMap", metadata: here("A_") }] })
      const exit = yield* Effect.exit(Effect.provide(ApiClient, bad))
      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(Exit.isFailure(exit) && exit.cause), "create configmaps default/A_: 422 Invalid")
    })
  )
})
