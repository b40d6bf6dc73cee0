import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import {
  after,
  assertEqual,
  bookmark,
  broken,
  crd,
  events,
  expired,
  follow,
  gaps,
  isList,
  makeWorld,
  type Request,
  refused,
  settle,
  size,
  type World
} from "./reflected.ts"
import * as Complaints from "../src/internal/complaints.ts"
import { shown, widget, widgets } from "./widgets.ts"

const gadgets = { ...widgets, kind: "Gadget", plural: "gadgets" }

/** Versions that watches went on from, but for streamed lists. */
const resumed = (world: World): ReadonlyArray<string | undefined> =>
  world.requests.filter(isResume).map(({ options }) => options.resourceVersion)

const isResume = (request: Request): boolean => request.verb === "watch" && !isList(request)

describe.each([
  { mode: "streamed lists", options: {} },
  { mode: "lists by pages", options: { streamingList: false, pageSize: 2 } }
])("Reflector with $mode", ({ options }) => {
  it.effect("follows what is made, changed and deleted", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      for (const name of ["a", "b", "c"]) yield* world.create(name, size(1))
      const { changes, health, store } = yield* follow(world, options)
      assert.isFalse(health().synced)
      yield* settle
      yield* store.awaitSynced
      assert.isTrue(health().synced)
      assert.notProperty(health(), "failure")
      yield* world.create("d", size(1))
      yield* world.change("a", size(2))
      yield* world.remove("b")
      yield* settle
      assert.deepStrictEqual(changes, ["a:>1", "b:>1", "c:>1", "d:>1", "a:1>2", "b:1>"])
    })
  )

  it.effect(
    "a version that is too old leads to one list, is never watched again, and wakes nothing that is unchanged (B1)",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        yield* world.create("a", size(1))
        const { changes } = yield* follow(world, options)
        yield* settle
        world.requests.length = 0
        world.between.watch = (_, number) => (number === 1 ? Stream.fail(expired("watch")) : undefined)
        yield* world.server.cutWatches()
        yield* world.create("b", size(1))
        yield* after("10 seconds")
        assert.deepStrictEqual(changes, ["a:>1", "b:>1"])
        assert.lengthOf(world.requests.filter(isList), 1)
        const versions = resumed(world)
        assert.lengthOf(new Set(versions), versions.length)
      })
  )

  it.effect("410 at each connect: another list each time, at growing delays (B2)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { health } = yield* follow(world, options)
      yield* settle
      world.requests.length = 0
      // Also the lists must be by pages: a streamed one would go on as the watch.
      world.between.watch = ({ sendInitialEvents }) =>
        sendInitialEvents ? Stream.fail(refused("watch", 400)) : Stream.fail(expired("watch"))
      yield* world.server.cutWatches()
      for (let i = 0; i < 20; i++) {
        yield* world.create(`w${i}`)
        yield* after("1 second")
      }
      const versions = resumed(world)
      assert.lengthOf(new Set(versions), versions.length, "no version is watched twice")
      assert.isAtLeast(versions.length, 3)
      assert.isAtMost(versions.length, 8)
      assert.match(health().failure ?? "", /^watch widgets.example.com in all namespaces: 410 Expired: /)
    })
  )

  it.effect("what was deleted while the connection was cut leaves the cache, once (B3)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.create("a", size(1))
      yield* world.create("b", size(1))
      const { changes, store } = yield* follow(world, options)
      yield* settle
      world.between.watch = () => Stream.fail(broken("watch"))
      world.between.list = () => Effect.fail(broken("list"))
      yield* world.server.cutWatches({ broken: true })
      yield* world.remove("a")
      yield* world.server.compact()
      yield* after("1 minute")
      world.between.watch = undefined
      world.between.list = undefined
      yield* after("1 minute")
      assert.deepStrictEqual(changes, ["a:>1", "b:>1", "a:1>"])
      yield* assertEqual(world, store)
    })
  )

  it.effect("500 times made, deleted and cut off: nothing is left but one watch (B4)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { store } = yield* follow(world, options)
      yield* settle
      for (let i = 0; i < 500; i++) {
        yield* world.create(`w${i}`)
        if (i % 2 === 0) yield* settle
        yield* world.remove(`w${i}`)
        yield* world.server.cutWatches({ broken: i % 3 === 0 })
        if (i % 7 === 0) yield* world.server.compact()
        yield* after("1 second")
        assert.isAtMost(yield* world.server.watches, 1)
      }
      yield* after("1 minute")
      assert.deepStrictEqual(store.sizes(), { objects: 0, overlays: 0, waiting: 0, indexed: 0 })
      assert.strictEqual(yield* world.server.watches, 1)
    })
  )

  it.effect("whatever a list fails with, it is tried again and the failure is told (B7)", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const world = yield* makeWorld()
      const answers = [broken("list"), refused("list", 500), refused("list", 503), refused("list", 504), broken("list")]
      yield* Effect.provide(
        Effect.gen(function* () {
          const { health, store } = yield* follow(world, options)
          yield* settle
          world.between.list = (_, number) => {
            const answer = answers[number - 1]
            return answer === undefined ? undefined : Effect.fail(answer)
          }
          world.between.watch = ({ sendInitialEvents }) =>
            sendInitialEvents ? Stream.fail(broken("watch")) : undefined
          world.requests.length = 0
          yield* world.server.cutWatches({ broken: true })
          yield* world.create("a")
          yield* world.server.compact()
          yield* after("1 second")
          yield* after("1 second")
          assert.match(health().failure ?? "", /^(list|watch) widgets.example.com in all namespaces: /)
          yield* after("2 minutes")
          yield* assertEqual(world, store)
          assert.notProperty(health(), "failure")
        }),
        Logger.layer([
          Logger.make(({ logLevel, message }) => void (logLevel === "Warn" && lines.push(String(message))))
        ])
      )
      for (const text of ["no answer from the API server", "500 ServerError", "503 ServerError", "504 ServerTimeout"])
        assert.isTrue(
          lines.some((line) => line.includes(text) && line.endsWith("; trying again")),
          `${text} in ${lines.join("\n")}`
        )
    })
  )

  it.effect("a fault that lasts is told once a minute, and one that two have is told once", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const told = Logger.layer([
        Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${[message].flat().join(" ")}`))
      ])
      yield* Effect.gen(function* () {
        const world = yield* makeWorld([crd("Widget", "widgets"), crd("Gadget", "gadgets")])
        world.between.list = () => Effect.fail(broken("list"))
        world.between.watch = () => Stream.fail(broken("watch"))
        const complaints = Complaints.make()
        yield* follow(world, { ...options, complaints })
        yield* follow(world, { ...options, resource: gadgets, complaints })
        yield* after("30 seconds")
        assert.deepStrictEqual(lines, ["Warn no answer from the API server: the connection was reset; trying again"])
        yield* after("4 minutes")
        assert.isAtLeast(lines.length, 3)
        assert.isAtMost(lines.length, 6)
        for (const line of lines.slice(1))
          assert.match(
            line,
            /^Warn no answer from the API server: the connection was reset; trying again, for \d+ s now$/
          )
        lines.length = 0
        world.between.list = undefined
        world.between.watch = undefined
        yield* after("1 minute")
        assert.sameMembers(lines, [
          "Info watching widgets.example.com in all namespaces again",
          "Info watching gadgets.example.com in all namespaces again"
        ])
        world.between.list = () => Effect.fail(broken("list"))
        world.between.watch = () => Stream.fail(broken("watch"))
        lines.length = 0
        yield* world.server.cutWatches({ broken: true })
        yield* after("10 seconds")
        assert.include(lines, "Warn no answer from the API server: the connection was reset; trying again")
      }).pipe(Effect.provide(told))
    })
  )

  it.effect("a server that is not there at start is waited for (B8)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.between.list = () => Effect.fail(broken("list"))
      world.between.watch = () => Stream.fail(broken("watch"))
      const { changes, health } = yield* follow(world, options)
      yield* after("20 seconds")
      assert.isFalse(health().synced)
      assert.match(health().failure ?? "", /Unreachable: the connection was reset/)
      world.between.list = undefined
      world.between.watch = undefined
      yield* after("30 seconds")
      yield* world.create("a", size(1))
      yield* settle
      assert.deepStrictEqual([health().synced, changes], [true, ["a:>1"]])
    })
  )

  it.effect("the list succeeded and the first watch is refused: it is opened again (B8)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.between.watch = (_, number) => (number <= 2 ? Stream.fail(broken("watch")) : undefined)
      const { changes } = yield* follow(world, options)
      yield* after("5 seconds")
      yield* world.create("a", size(1))
      yield* settle
      assert.deepStrictEqual(changes, ["a:>1"])
    })
  )

  it.effect("a listener that throws, or a client that dies, stops nothing for good (B9)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { health, store } = yield* follow(world, options)
      yield* settle
      const end = store.onChange(() => {
        throw new Error("the listener broke")
      })
      yield* world.create("a", size(1))
      yield* settle
      assert.strictEqual(health().failure, "watch widgets.example.com in all namespaces: the listener broke")
      end()
      world.between.watch = () => Stream.die(new Error("the client broke"))
      yield* after("3 seconds")
      world.between.watch = () => Stream.fromEffect(Effect.interrupt)
      yield* after("10 seconds")
      world.between.watch = undefined
      yield* after("1 minute")
      yield* world.create("b", size(1))
      yield* settle
      yield* assertEqual(world, store)
      assert.notProperty(health(), "failure")
    })
  )

  it.effect("a line that is no event ends the stream, which goes on after the last good one (B12)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { changes, store } = yield* follow(world, options)
      yield* settle
      world.requests.length = 0
      world.between.watch = (_, number) =>
        number === 1
          ? Stream.concat(
              events({ type: "ADDED", object: widget("x", 900, size(9)) }),
              Stream.fail(broken("watch", "Malformed"))
            )
          : undefined
      yield* world.server.cutWatches()
      yield* after("3 seconds")
      assert.strictEqual(resumed(world).at(-1), "900")
      assert.deepStrictEqual([changes, shown(store.list())], [["x:>9"], ["x@900"]])
    })
  )

  it.effect("a list asks for nothing older than what was seen, and an older answer is refused (B14)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.create("a", size(1))
      const { changes, health, store } = yield* follow(world, options)
      yield* settle
      yield* world.change("a", size(2))
      yield* settle
      const newest = yield* world.server.resourceVersion
      const lagging = widget("a", 2, size(1))
      world.requests.length = 0
      world.between.list = () => Effect.succeed({ items: [lagging], resourceVersion: "3" })
      world.between.watch = ({ sendInitialEvents }) =>
        sendInitialEvents
          ? events({ type: "ADDED", object: lagging }, bookmark("3", true))
          : Stream.fail(expired("watch"))
      yield* world.server.cutWatches({ broken: true })
      yield* after("20 seconds")
      const lists = world.requests.filter(isList)
      assert.isAtLeast(lists.length, 3)
      for (const list of lists) assert.strictEqual(list.options.resourceVersion, newest)
      assert.match(
        health().failure ?? "",
        new RegExp(`answered version 3 though not older than ${newest} was asked for`)
      )
      assert.deepStrictEqual(changes, ["a:>1", "a:1>2"])
      world.between.list = undefined
      world.between.watch = undefined
      yield* after("1 minute")
      assert.deepStrictEqual(changes, ["a:>1", "a:1>2"])
      yield* assertEqual(world, store)
      assert.notProperty(health(), "failure")
    })
  )

  it.effect("a server whose history began anew is followed from there (B14, F41)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.between.watch = ({ resourceVersion }, number) =>
        number === 1
          ? Stream.concat(
              events({ type: "ADDED", object: widget("x", 99_000_000, size(9)) }, bookmark("99000000", true)),
              Stream.fail(broken("watch"))
            )
          : resourceVersion === "99000000"
            ? Stream.fail(expired("watch"))
            : undefined
      world.between.list = ({ resourceVersion }, number) =>
        number === 1 && options.streamingList === false
          ? Effect.succeed({ items: [widget("x", 99_000_000, size(9))], resourceVersion: "99000000" })
          : resourceVersion === "99000000"
            ? Effect.fail(
                refused("list", 504, {
                  reason: "Timeout",
                  message: "Timeout: Too large resource version: 99000000, current: 411",
                  details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] }
                })
              )
            : undefined
      yield* world.create("a", size(1))
      const { changes, store } = yield* follow(world, options)
      yield* after("1 minute")
      assert.deepStrictEqual(changes, ["x:>9", "x:9>", "a:>1"])
      yield* world.create("b", size(1))
      yield* settle
      yield* assertEqual(world, store)
    })
  )

  it.effect("a relist of many wakes only what changed, and clean ends wake nothing (B15)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      for (let i = 0; i < 200; i++) yield* world.create(`w${i}`, size(1))
      const { changes, store } = yield* follow(world, { ...options, pageSize: 50 })
      yield* settle
      assert.lengthOf(changes.splice(0), 200)
      yield* world.server.cutWatches({ broken: true })
      yield* world.change("w7", size(2))
      yield* world.server.compact()
      yield* after("1 minute")
      for (let i = 0; i < 5; i++) {
        yield* world.server.cutWatches()
        yield* after("10 seconds")
      }
      assert.deepStrictEqual(changes, ["w7:1>2"])
      yield* assertEqual(world, store)
    })
  )

  it.effect(
    "a long outage: delays grow to a cap, health says since when, and what happened meanwhile is there within one cap (B21)",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        yield* world.create("a", size(1))
        yield* world.create("b", size(1))
        const { changes, health } = yield* follow(world, options)
        yield* settle
        world.requests.length = 0
        world.between.list = () => Effect.fail(broken("list"))
        world.between.watch = () => Stream.fail(broken("watch"))
        yield* world.server.cutWatches({ broken: true })
        yield* settle
        const since = health().since
        yield* after("15 minutes")
        yield* world.remove("a")
        yield* world.change("b", size(2))
        yield* world.create("c", size(1))
        yield* world.server.compact()
        yield* after("15 minutes")
        assert.strictEqual(health().since, since)
        assert.match(health().failure ?? "", /Unreachable/)
        const delays = gaps(world.requests.map(({ at }) => at))
        assert.isAtMost(Math.max(...delays), 30_000)
        assert.isAtMost(world.requests.length, 150)
        assert.lengthOf(changes.splice(0), 2)
        world.between.list = undefined
        world.between.watch = undefined
        yield* after("32 seconds")
        assert.sameMembers(changes, ["a:1>", "b:1>2", "c:>1"])
        yield* after("6 seconds")
        assert.notProperty(health(), "failure")
        assert.isAbove(health().since, since)
      })
  )

  it.effect("a refused token is tried again soon (B22)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { changes } = yield* follow(world, options)
      yield* settle
      world.requests.length = 0
      world.between.watch = (_, number) => (number === 1 ? Stream.fail(refused("watch", 401)) : undefined)
      yield* world.server.cutWatches()
      yield* world.create("a", size(1))
      yield* after("2 seconds")
      assert.deepStrictEqual(changes, ["a:>1"])
      assert.lengthOf(world.requests, 2)
    })
  )

  it.effect("a kind that is not served yet: not synced and told so; found when it is there (B25)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld([])
      const { changes, health } = yield* follow(world, options)
      yield* after("60 seconds")
      assert.deepInclude(health(), {
        synced: false,
        failure:
          "list widgets.example.com in all namespaces: 404 NotFound: 404 page not found; Widget is not served in example.com/v1: install its CRD with that version"
      })
      assert.isAtMost(world.requests.length, 8)
      yield* world.install(crd("Widget", "widgets"))
      yield* after("5 seconds")
      yield* world.create("a", size(1))
      yield* after("30 seconds")
      assert.deepStrictEqual([changes, health().synced], [["a:>1"], true])
    })
  )

  it.effect(
    "a kind whose CRD is taken away: its objects go, another kind is not disturbed, and it comes back (B26)",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld([crd("Widget", "widgets"), crd("Gadget", "gadgets")])
        for (const name of ["a", "b", "c"]) yield* world.create(name, size(1))
        const widgetsOnes = yield* follow(world, options)
        const others = yield* follow(world, { ...options, resource: gadgets })
        yield* settle
        widgetsOnes.changes.length = 0
        yield* world.uninstall("widgets")
        yield* after("2 minutes")
        assert.sameMembers(widgetsOnes.changes.splice(0), ["a:1>", "b:1>", "c:1>"])
        assert.match(widgetsOnes.health().failure ?? "", /404 NotFound: .*Widget is not served in example.com\/v1/)
        assert.isAtMost(world.requests.filter(({ resource }) => resource === "widgets.example.com").length, 15)
        assert.lengthOf(
          world.requests.filter(({ resource }) => resource === "gadgets.example.com"),
          options.streamingList === false ? 2 : 1
        )
        assert.notProperty(others.health(), "failure")
        yield* world.install(crd("Widget", "widgets"))
        yield* world.create("d", size(1))
        yield* after("1 minute")
        assert.deepStrictEqual(widgetsOnes.changes, ["d:>1"])
      })
  )

  it.effect("a kind that cannot be listed does not keep another from being followed (B27)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld([crd("Widget", "widgets"), crd("Gadget", "gadgets")])
      const fails = (resource: typeof widgets) => resource.plural === "gadgets"
      world.between.list = (_, __, resource) => (fails(resource) ? Effect.fail(refused("list", 500)) : undefined)
      world.between.watch = (_, __, resource) => (fails(resource) ? Stream.fail(refused("watch", 500)) : undefined)
      const good = yield* follow(world, options)
      const bad = yield* follow(world, { ...options, resource: gadgets })
      yield* world.create("a", size(1))
      yield* after("5 seconds")
      assert.deepStrictEqual([good.changes, good.health().synced, bad.health().synced], [["a:>1"], true, false])
      assert.match(bad.health().failure ?? "", /500 ServerError/)
      world.between.list = undefined
      world.between.watch = undefined
      yield* after("30 seconds")
      assert.isTrue(bad.health().synced)
    })
  )

  it.effect("a missing right is told at once with verb, resource, scope and mend, and asked for slowly (B28)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const message = `widgets.example.com is forbidden: User "u" cannot list resource "widgets" in API group "example.com" at the cluster scope`
      world.between.list = () => Effect.fail(refused("list", 403, { reason: "Forbidden", message }))
      world.between.watch = () => Stream.fail(refused("watch", 403, { reason: "Forbidden", message }))
      const { health } = yield* follow(world, options)
      yield* after("10 seconds")
      assert.deepInclude(health(), {
        synced: false,
        failure: `list widgets.example.com in all namespaces: 403 Forbidden: ${message}; grant this account list and watch on widgets.example.com in the whole cluster: Controller.rbac prints the rules`
      })
      yield* after("2 minutes")
      assert.isAtMost(world.requests.length, 10)
      world.between.list = undefined
      world.between.watch = undefined
      yield* after("30 seconds")
      assert.isTrue(health().synced)
    })
  )

  it.effect("with namespaces given, nothing else is ever asked for (B28)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { changes, health } = yield* follow(world, { ...options, namespaces: ["ns1"] })
      yield* settle
      yield* world.create("a", size(1))
      yield* world.create("b", { metadata: { namespace: "ns2" }, ...size(1) })
      yield* world.server.compact()
      yield* world.server.cutWatches({ broken: true })
      yield* after("10 minutes")
      assert.deepStrictEqual(changes, ["a:>1"])
      for (const { options } of world.requests) assert.strictEqual(options.namespace, "ns1")
      world.between.watch = () => Stream.fail(broken("watch"))
      yield* world.server.cutWatches()
      yield* after("1 second")
      assert.match(health().failure ?? "", /^watch widgets.example.com in namespace ns1: Unreachable/)
    })
  )

  it.effect("the end of its scope ends its watch and asks nothing more", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* follow(world, options)
          yield* settle
          assert.strictEqual(yield* world.server.watches, 1)
        })
      )
      assert.strictEqual(yield* world.server.watches, 0)
      world.requests.length = 0
      yield* after("1 hour")
      assert.lengthOf(world.requests, 0)
    })
  )
})
