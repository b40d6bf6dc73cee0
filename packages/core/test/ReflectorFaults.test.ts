import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { ListPage } from "../src/ApiClient.ts"
import {
  after,
  assertEqual,
  bookmark,
  broken,
  events,
  expired,
  follow,
  gaps,
  isList,
  makeWorld,
  refused,
  settle,
  size
} from "./reflected.ts"
import { shown, widget } from "./widgets.ts"

const paged = { streamingList: false }

/** 1,200 widgets in pages of 500, without a server: pages are as quick to make as to read. */
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => widget(`w${i + 1}`, i + 1, { spec: { size: 1 } }))
const page = (objects: ReadonlyArray<ReturnType<typeof widget>>, from: number, version: string): ListPage => ({
  items: objects.slice(from, from + 500),
  resourceVersion: version,
  ...(from + 500 < objects.length && { continue: String(from + 500) })
})

describe("Reflector against servers that misbehave", () => {
  it.effect("streams that end at once are opened less and less often, until one lives (B6)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { health } = yield* follow(world, paged)
      yield* settle
      world.requests.length = 0
      world.between.watch = () => Stream.fromEffectDrain(Effect.sleep(5))
      yield* world.server.cutWatches()
      yield* after("60 seconds")
      assert.isBelow(world.requests.length, 20)
      const delays = gaps(world.requests.map(({ at }) => at))
      assert.isAtLeast(delays.at(-1)!, 8_000)
      assert.strictEqual(
        health().failure,
        "watch widgets.example.com in all namespaces: the server ends each watch at once"
      )
      world.between.watch = undefined
      yield* after("40 seconds")
      assert.notProperty(health(), "failure")
      world.requests.length = 0
      yield* world.server.cutWatches()
      yield* after("1 second")
      assert.lengthOf(world.requests, 1, "the stream lived: the next is opened at once")
    })
  )

  it.effect("streams that end at once with the same event each time are no progress (B6)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.between.list = () => Effect.succeed({ items: [], resourceVersion: "10" })
      world.between.watch = () => events({ type: "ADDED", object: widget("a", 12) })
      const { changes } = yield* follow(world, paged)
      yield* after("60 seconds")
      assert.isBelow(world.requests.length, 20)
      assert.lengthOf(changes, 1)
    })
  )

  it.effect.each([{ token: undefined }, { token: "fresh" }])(
    "a page token that has expired ($token): one whole list, nothing missing, nothing twice (B16)",
    ({ token }) =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        const before = many(1200)
        const now = [...before.filter(({ metadata }) => metadata.name !== "w3"), widget("w1201", 1300)]
        world.between.list = ({ continue: from, limit }, number) =>
          Effect.suspend(() => {
            if (limit === undefined) return Effect.succeed({ items: now, resourceVersion: "1301" })
            return from === undefined
              ? Effect.succeed(page(before, 0, "1200"))
              : Effect.fail(expired("list", number > 1 ? token : undefined))
          })
        world.between.watch = () => Stream.never
        const { changes, store } = yield* follow(world, paged)
        yield* after("1 second")
        assert.deepStrictEqual(shown(store.list()), shown(now))
        assert.lengthOf(changes, 1200)
        assert.deepStrictEqual(
          world.requests.map(({ options: { continue: from, limit } }) => [from, limit]),
          [
            [undefined, 500],
            ["500", 500],
            [undefined, undefined],
            [undefined, undefined]
          ]
        )
      })
  )

  it.effect("a list that breaks between its pages takes nothing away, and goes on at the page (B17)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const objects = many(1200)
      let isDown = false
      world.between.list = ({ continue: from = "0" }) =>
        isDown && from !== "0" ? Effect.fail(refused("list", 500)) : Effect.succeed(page(objects, Number(from), "1200"))
      world.between.watch = (_, number) =>
        number === 1
          ? Stream.fromEffectDrain(Effect.sleep("1 minute")).pipe(Stream.concat(Stream.fail(expired("watch"))))
          : Stream.never
      const { changes, store } = yield* follow(world, paged)
      yield* settle
      assert.lengthOf(changes.splice(0), 1200)
      isDown = true
      world.requests.length = 0
      yield* after("1 minute")
      yield* after("30 seconds")
      assert.lengthOf(store.list(), 1200)
      isDown = false
      yield* after("30 seconds")
      assert.deepStrictEqual(changes, [])
      assert.isAtMost(world.requests.filter(({ options }) => options.continue === undefined).length, 4)
      assert.isTrue(store.synced)
    })
  )

  it.effect("bookmarks are no objects, and a watch goes on from them (B18)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.between.list = () => Effect.succeed({ items: [widget("a", 9)], resourceVersion: "10" })
      world.between.watch = (_, number) =>
        number === 1 ? Stream.concat(events(bookmark("40")), Stream.fail(broken("watch"))) : Stream.never
      const { changes, store } = yield* follow(world, paged)
      yield* after("2 seconds")
      assert.deepStrictEqual([changes.length, world.requests.at(-1)?.options.resourceVersion], [1, "40"])
      assert.isTrue(store.hasSeen({ namespace: "ns1", name: "a" }, "uid-a", "40"))
    })
  )

  it.effect("a streamed list without end is given up for pages within a minute, and not tried again (B18)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.create("a", size(1))
      world.between.watch = ({ sendInitialEvents }) =>
        sendInitialEvents
          ? Stream.concat(events({ type: "ADDED", object: widget("a", 9) }, bookmark("9")), Stream.never)
          : undefined
      const { health, store } = yield* follow(world)
      yield* after("59 seconds")
      assert.isTrue(health().synced)
      yield* assertEqual(world, store)
      yield* world.server.cutWatches({ broken: true })
      yield* world.create("b", size(1))
      yield* world.server.compact()
      yield* after("10 seconds")
      yield* assertEqual(world, store)
      assert.lengthOf(
        world.requests.filter(({ options }) => options.sendInitialEvents === true),
        1
      )
    })
  )

  it.effect(
    "a server that knows no streamed lists is asked by pages at once, and nothing is said to be wrong (B18)",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        world.between.watch = ({ sendInitialEvents }) =>
          sendInitialEvents
            ? Stream.fail(refused("watch", 422, { message: "sendInitialEvents is forbidden for watch" }))
            : undefined
        const { health } = yield* follow(world)
        yield* settle
        assert.isTrue(health().synced)
        assert.notProperty(health(), "failure")
      })
  )

  it.effect("a streamed list that breaks: what came of it does not count, and the next is by pages (B17, B18)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.create("a", size(1))
      world.between.watch = (_, number) =>
        number === 1
          ? Stream.concat(events({ type: "ADDED", object: widget("ghost", 9) }), Stream.fail(broken("watch")))
          : undefined
      const { changes } = yield* follow(world)
      yield* after("1 second")
      assert.deepStrictEqual(changes, ["a:>1"])
      assert.deepStrictEqual(
        world.requests.map(({ verb }) => verb),
        ["watch", "list", "watch"]
      )
    })
  )

  it.effect("what happens while a list is streamed is in it (B18)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.between.watch = () =>
        Stream.concat(
          events(
            { type: "ADDED", object: widget("a", 9) },
            { type: "ADDED", object: widget("b", 8) },
            { type: "DELETED", object: widget("a", 11) },
            { type: "MODIFIED", object: widget("b", 12) },
            bookmark("13", true),
            { type: "ADDED", object: widget("c", 14) }
          ),
          Stream.never
        )
      const { changes, store } = yield* follow(world)
      yield* settle
      assert.deepStrictEqual(
        [changes, shown(store.list())],
        [
          ["b:>?", "c:>?"],
          ["b@12", "c@14"]
        ]
      )
    })
  )

  it.effect("Retry-After is obeyed each time, and everything is there afterwards (B19)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.create("a", size(1))
      world.between.list = (_, number) =>
        number <= 2 ? Effect.fail(refused("list", 429, "Too many requests", 7)) : undefined
      const { health, store } = yield* follow(world, paged)
      yield* after("30 seconds")
      for (const gap of gaps(world.requests.filter(isList).map(({ at }) => at))) {
        assert.isAtLeast(gap, 7_000)
        assert.isAtMost(gap, 9_000)
      }
      assert.isTrue(health().synced)
      yield* assertEqual(world, store)
    })
  )

  it.effect("50 clients cut off at once do not come back together (B20)", () =>
    Effect.gen(function* () {
      const times: Array<ReadonlyArray<number>> = []
      for (let seed = 0; seed < 50; seed++) {
        const requests = yield* Effect.gen(function* () {
          const world = yield* makeWorld()
          yield* follow(world, paged)
          yield* settle
          world.between.watch = () => Stream.fail(refused("watch", 503))
          world.between.list = () => Effect.fail(refused("list", 503))
          world.requests.length = 0
          yield* world.server.cutWatches({ broken: true })
          yield* after("60 seconds")
          return gaps(world.requests.map(({ at }) => at))
        }).pipe(Effect.scoped, Random.withSeed(`client ${seed}`))
        times.push(requests)
      }
      for (let n = 0; n < 4; n++) {
        const delays = times.map((delays) => delays[n]!)
        assert.isAtLeast(Math.max(...delays) - Math.min(...delays), 0.2 * Math.max(...delays))
      }
    })
  )

  it.effect("leaving the selector is told without deletionTimestamp, and coming back as a new object (B23, D24)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.create("a", { metadata: { labels: { app: "x" } }, ...size(1) })
      yield* world.create("b", size(1))
      const { changes, store } = yield* follow(world, { labelSelector: "app=x" })
      const gone: Array<string | undefined> = []
      store.onChange(({ next, previous }) => next === undefined && gone.push(previous?.metadata.deletionTimestamp))
      yield* settle
      yield* world.change("a", { metadata: { labels: { app: "y" } }, ...size(2) })
      yield* settle
      yield* world.change("a", { metadata: { labels: { app: "x" } }, ...size(3) })
      yield* settle
      assert.deepStrictEqual([changes, gone], [["a:>1", "a:1>", "a:>3"], [undefined]])
    })
  )

  it.effect("when healthy, nothing is asked but the renewal of the watch every 5 to 10 minutes", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* follow(world)
      yield* after("1 hour")
      assert.isAtMost(world.requests.length, 13)
      assert.isAtLeast(world.requests.length, 6)
      assert.lengthOf(world.requests.filter(isList), 1)
      for (const { options } of world.requests) {
        assert.isAtLeast(options.timeoutSeconds ?? 0, 300)
        assert.isAtMost(options.timeoutSeconds ?? 0, 600)
      }
    })
  )

  it.effect("a watch that stays silent though its server sends bookmarks is checked by a list (F57)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { changes } = yield* follow(world)
      yield* after("5 minutes")
      // The history began anew: the version is from the future, and the server says nothing.
      world.between.watch = ({ resourceVersion, sendInitialEvents, timeoutSeconds = 0 }) =>
        sendInitialEvents
          ? undefined
          : resourceVersion === undefined
            ? undefined
            : Stream.fromEffectDrain(Effect.sleep(timeoutSeconds * 1_000))
      yield* world.server.cutWatches()
      yield* world.create("a", size(1))
      yield* after("11 minutes")
      assert.deepStrictEqual(changes, ["a:>1"])
    })
  )

  it.effect(
    "a watch that fails again and again, though lists are answered, casts doubt on its version: a list follows",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        const { changes } = yield* follow(world, paged)
        yield* settle
        world.between.watch = (_, number) => (number <= 6 ? Stream.fail(refused("watch", 500)) : undefined)
        world.requests.length = 0
        yield* world.server.cutWatches()
        yield* world.create("a", size(1))
        yield* after("1 minute")
        const [least, ...whole] = world.requests.filter(isList)
        assert.deepStrictEqual(least?.options, { limit: 1 })
        assert.isAtLeast(whole.length, 1)
        assert.deepStrictEqual(changes, ["a:>1"])
      })
  )

  it.effect("an outage of minutes ends with the watch where it was, and not with a list of everything (B6, B21)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const { changes, health } = yield* follow(world, paged)
      yield* settle
      let isAway = true
      world.between.watch = () => (isAway ? Stream.fail(broken("watch")) : undefined)
      world.between.list = () => (isAway ? Effect.fail(refused("list", 503)) : undefined)
      world.requests.length = 0
      yield* world.server.cutWatches()
      yield* after("4 minutes")
      assert.property(health(), "failure")
      yield* world.create("a", size(1))
      isAway = false
      yield* after("1 minute")
      assert.deepStrictEqual(changes, ["a:>1"])
      assert.notProperty(health(), "failure")
      const lists = world.requests.filter(isList)
      assert.deepStrictEqual(
        lists.filter(({ options }) => options.limit !== 1),
        []
      )
      assert.isAtLeast(lists.length, 2)
    })
  )
})
