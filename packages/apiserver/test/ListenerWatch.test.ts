import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ApiServer from "../src/ApiServer.ts"
import { configMaps, group, widgetCrd } from "./fixtures.ts"
import { ask, follow, type Followed, socket, until } from "./wireClient.ts"

const world = () => ApiServer.layer({ kinds: [widgetCrd()], seed: 1 })
const listening = ApiServer.listen({ tls: false })

const maps = "/api/v1/namespaces/default/configmaps"
const cm = (name: string, data: object = { a: "1" }) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data
})

const brief = ({ lines }: Followed): ReadonlyArray<string> =>
  lines.map(({ object, type }) => `${type} ${object.metadata?.name ?? object.message}`)

const opened = (watch: Followed) => until("the watch is open", () => watch.code() !== undefined)

describe("a watch over HTTP", () => {
  it.live(
    "lines are the events in order, beginning with what is there, by each form of the path (F54, F60, F61, F64)",
    () =>
      Effect.gen(function* () {
        const to = yield* listening
        yield* ask(to, "POST", maps, { body: cm("a") })
        const forms = [
          `${maps}?watch=1`,
          `${maps}?watch=true`,
          `${maps}?watch`,
          "/api/v1/watch/namespaces/default/configmaps",
          "/api/v1/watch/configmaps"
        ]
        const watches = yield* Effect.forEach(forms, (path) => follow(to, path))
        const one = yield* follow(to, "/api/v1/watch/namespaces/default/configmaps/a")
        for (const watch of [...watches, one]) yield* opened(watch)
        const made = yield* ask(to, "POST", maps, { body: cm("b") })
        yield* ask(to, "PUT", `${maps}/a`, { body: cm("a", { a: "2" }) })
        yield* ask(to, "DELETE", `${maps}/b`)
        const all = ["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]
        for (const watch of watches) {
          yield* until("all is told", () => watch.lines.length === all.length)
          assert.deepStrictEqual(brief(watch), all)
          assert.deepStrictEqual(watch.lines[1].object, made.json)
        }
        assert.deepStrictEqual(brief(one), ["ADDED a", "MODIFIED a"])
        assert.strictEqual((yield* ask(to, "GET", `${maps}/a?watch=1`)).json.kind, "ConfigMap")
      }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a version too old is 200 and one ERROR line, a bad selector is refused before the stream (F55, F58)", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const server = yield* ApiServer.ApiServer
      yield* ask(to, "POST", maps, { body: cm("a") })
      yield* server.compact(configMaps)
      const watch = yield* follow(to, `${maps}?watch=1&resourceVersion=1`)
      yield* until("the watch has ended", () => watch.end() === "clean")
      assert.strictEqual(watch.code(), 200)
      assert.deepStrictEqual(
        watch.lines.map(({ object, type }) => [type, object.code, object.reason]),
        [["ERROR", 410, "Expired"]]
      )
      assert.strictEqual((yield* ask(to, "GET", `${maps}?watch=1&labelSelector=a+b`)).code, 400)
      assert.strictEqual((yield* ask(to, "GET", "/apis/nope.io/v1/things?watch=1")).code, 404)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("it ends cleanly after its seconds, and with its kind (F65, F68)", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const short = yield* follow(to, `${maps}?watch=1&timeoutSeconds=1`)
      const gone = yield* follow(to, `/apis/${group}/v1/widgets?watch=1`)
      for (const watch of [short, gone]) yield* opened(watch)
      assert.strictEqual(short.end(), "open")
      yield* ask(to, "DELETE", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`)
      yield* until("both have ended", () => short.end() === "clean" && gone.end() === "clean")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("initial events end with a marked bookmark (F67)", () =>
    Effect.gen(function* () {
      const to = yield* listening
      yield* ask(to, "POST", maps, { body: cm("a") })
      const query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
      const watch = yield* follow(to, `${maps}?${query}`)
      yield* until("the bookmark has come", () => watch.lines.length === 2)
      assert.strictEqual(watch.lines[1].type, "BOOKMARK")
      assert.strictEqual(watch.lines[1].object.metadata.annotations["k8s.io/initial-events-end"], "true")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live(
    "each event of a Table is a Table of one row, the first alone with columns, also for a late reader (F58)",
    () =>
      Effect.gen(function* () {
        const to = yield* listening
        const accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
        const early = yield* follow(to, `${maps}?watch=1`, { headers: { accept } })
        yield* opened(early)
        yield* ask(to, "POST", maps, { body: cm("a") })
        yield* until("the first has come", () => early.lines.length === 1)
        const late = yield* follow(to, `${maps}?watch=1`, { headers: { accept } })
        yield* opened(late)
        yield* ask(to, "POST", maps, { body: cm("b") })
        for (const watch of [early, late]) {
          yield* until("both have come", () => watch.lines.length === 2)
          assert.deepStrictEqual(
            watch.lines.map(({ object, type }) => [
              type,
              object.kind,
              object.columnDefinitions !== null,
              object.rows[0].cells[0]
            ]),
            [
              ["ADDED", "Table", true, "a"],
              ["ADDED", "Table", false, "b"]
            ]
          )
        }
      }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("cut watches end cleanly or break as the cut says, and one whose client goes away is forgotten", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const server = yield* ApiServer.ApiServer
      const clean = yield* follow(to, `${maps}?watch=1`)
      yield* opened(clean)
      yield* server.cutWatches({ resource: configMaps })
      yield* until("it has ended", () => clean.end() === "clean")
      const broken = yield* follow(to, `${maps}?watch=1`)
      yield* opened(broken)
      yield* server.cutWatches({ broken: true })
      yield* until("it has broken", () => broken.end() === "broken")
      const left = yield* follow(to, `${maps}?watch=1`)
      yield* opened(left)
      assert.strictEqual(yield* server.watches, 1)
      left.request.destroy()
      for (let waited = 0; (yield* server.watches) > 0; waited++) {
        assert.isBelow(waited, 1_000)
        yield* Effect.sleep(5)
      }
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a reader that never reads is ended, and what waited for it is let go", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const server = yield* ApiServer.ApiServer
      const lazy = yield* socket(to)
      lazy.socket.pause()
      lazy.socket.write(`GET ${maps}?watch=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${to.token}\r\n\r\n`)
      const eager = yield* follow(to, `${maps}?watch=1`)
      for (let waited = 0; (yield* server.watches) < 2; waited++) {
        assert.isBelow(waited, 1_000)
        yield* Effect.sleep(5)
      }
      let count = 0
      while ((yield* server.watches) === 2) {
        assert.isBelow(count, 200)
        yield* ask(to, "POST", maps, { body: cm(`m${count++}`, { a: "x".repeat(500_000) }) })
      }
      // 8 MiB wait at most, beside what the kernel takes.
      assert.isAbove(count, 16)
      yield* until("the other has all", () => eager.lines.length === count)
      assert.strictEqual(eager.end(), "open")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})
