/** What a hostile server may do with connections, redirects, TLS and the events of a watch. */
import { type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import type { WatchEvent, WatchOptions } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { makeCertificate } from "@fixpoint/apiserver/Certificate"
import { answer, type Attack, chanceOf, chunk, chunkedHead, lastChunk, serveRaw } from "./hostileServer.ts"
import { clientOf, configMap, configMaps, until } from "./scriptedServer.ts"

const ref = { namespace: "team", name: "a" }
/** For what never comes. */
const hasty = { requestTimeout: "400 millis", idleLimit: "400 millis" } as const
/** For what comes, however late on a busy machine. */
const patient = { requestTimeout: "10 seconds", idleLimit: "10 seconds" } as const

const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`
const added = (name: string, version = "1"): string => line("ADDED", configMap(name, version))

const stream =
  (...parts: ReadonlyArray<string | Buffer>): Attack =>
  ({ write }) => {
    write(chunkedHead)
    for (const part of parts) write(chunk(part))
    write(lastChunk)
  }

/** What a watch emits before it ends, and how it ends; undefined if cleanly. */
const watched = (attack: Attack, options: WatchOptions = { namespace: "team" }) =>
  Effect.gen(function* () {
    const server = yield* serveRaw(attack)
    const api = yield* clientOf({ server: server.url, ...patient })
    const events: Array<WatchEvent> = []
    const error = yield* api.watch(configMaps, options).pipe(
      Stream.runForEach((event) => Effect.sync(() => events.push(event))),
      Effect.match({ onSuccess: () => undefined, onFailure: (error: ApiError) => error.message })
    )
    return { events, error, server }
  })

describe("a connection", () => {
  it.live("a redirect to another server is not followed, and that server never sees the token", () =>
    Effect.gen(function* () {
      const other = yield* serveRaw(({ write }) => write(answer(JSON.stringify(configMap("a")))))
      for (const code of [301, 302, 303, 307, 308]) {
        const server = yield* serveRaw(({ write }) => write(answer("", code, `location: ${other.url}/\r\n`)))
        const api = yield* clientOf({ server: server.url, token: Redacted.make("tok3n"), ...patient })
        for (const ask of [
          api.get(configMaps, ref),
          api.create(configMaps, { metadata: ref }),
          Stream.runDrain(api.watch(configMaps))
        ]) {
          const error = yield* Effect.flip(ask)
          assert.include(error.message, `Malformed: an answer ${code}; redirects are not followed`)
        }
      }
      assert.strictEqual(other.visits(), 0)
    })
  )

  it.live("what a server says before it is asked is no answer to anything", () =>
    Effect.gen(function* () {
      const server = yield* serveRaw(({ write }) => write(answer(JSON.stringify(configMap("a", "2")))), {
        onConnection: (socket) => void socket.write(answer(JSON.stringify(configMap("a", "1"))))
      })
      const api = yield* clientOf({ server: server.url, ...patient })
      const versions: Array<string> = []
      for (let i = 0; i < 20; i++) {
        const exit = yield* Effect.match(api.get(configMaps, ref), {
          onSuccess: ({ metadata }) => metadata.resourceVersion,
          onFailure: ({ reason }) => reason._tag
        })
        versions.push(exit)
      }
      assert.notInclude(versions, "Malformed")
      yield* until("no connection is left over", () => server.open() <= 1)
    })
  )

  it.live("a second answer that nobody asked for does not answer the next request", () =>
    Effect.gen(function* () {
      const server = yield* serveRaw(({ nth, url, write }) => {
        const name = url.split("/").at(-1)!
        write(answer(JSON.stringify(configMap(name, String(nth)))))
        setTimeout(() => write(answer(JSON.stringify(configMap("forged", "99")))), 5)
      })
      const api = yield* clientOf({ server: server.url, ...patient, connections: 1 })
      for (const name of ["a", "b", "c", "d", "e"]) {
        const found = yield* Effect.match(api.get(configMaps, { namespace: "team", name }), {
          onSuccess: ({ metadata }) => metadata.name,
          onFailure: ({ reason }) => reason._tag
        })
        assert.include([name, "Unreachable", "Malformed"], found)
        yield* Effect.sleep("20 millis")
      }
    })
  )

  it.live("a handshake that stalls, breaks or is cut is told, and leaves no socket open", () =>
    Effect.gen(function* () {
      const chance = chanceOf(7)
      const stalls = yield* serveRaw(() => {})
      const breaks: ReadonlyArray<(socket: Socket) => void> = [
        (socket) => void socket.once("data", () => socket.write(chance.bytes(200))),
        (socket) => void socket.once("data", () => socket.resetAndDestroy()),
        (socket) => void socket.once("data", () => socket.end()),
        // A record of TLS that says nothing.
        (socket) => void socket.once("data", () => socket.write(Buffer.from([22, 3, 3, 0, 0])))
      ]
      const servers = [stalls]
      for (const onConnection of breaks) servers.push(yield* serveRaw(() => {}, { onConnection }))
      for (const server of servers) {
        const api = yield* clientOf({
          server: server.url.replace("http:", "https:"),
          token: Redacted.make("tok3n"),
          ...hasty
        })
        const error = yield* Effect.flip(api.get(configMaps, ref))
        assert.match(
          error.message,
          /^get configmaps team\/a: Unreachable: https:.*(TLS|reset|closed|in time|within 0\.8 s)/
        )
        yield* until("its socket closes", () => server.open() === 0)
      }
    })
  )

  it.live("the same attacks over TLS end in the same errors", () =>
    Effect.gen(function* () {
      const certificate = makeCertificate("hostile")
      const cases: ReadonlyArray<readonly [attack: Attack, message: RegExp, limits?: typeof hasty]> = [
        [({ socket }) => void socket.destroy(), /Unreachable.*closed|reset/],
        [({ write }) => write("garbage\r\n\r\n"), /Unreachable.*HTTP\/1\.1/],
        [({ write }) => write(answer("{", 200)), /Malformed|ended inside an event/],
        [({ repeat }) => repeat(10, () => "HTTP/1.1 103 E\r\n\r\n"), /Unreachable/, hasty],
        [({ text, write }) => write(answer(text, 500)), /ServerError.*Bearer \*\*\*/]
      ]
      for (const [attack, message, limits = patient] of cases) {
        const server = yield* serveRaw(attack, { certificate })
        const api = yield* clientOf({
          server: server.url,
          ca: certificate.cert,
          token: Redacted.make("tok3n"),
          ...limits
        })
        assert.match((yield* Effect.flip(api.get(configMaps, ref))).message, message)
        assert.match((yield* Effect.flip(Stream.runDrain(api.watch(configMaps)))).message, message)
      }
    })
  )
})

describe("the events of a hostile watch", () => {
  const odd: ReadonlyArray<readonly [what: string, sent: string | Buffer, message: RegExp]> = [
    ["another kind", line("ADDED", { ...configMap("b"), kind: "Secret" }), /ADDED of an object of another kind$/],
    ["another namespace", line("MODIFIED", configMap("b", "2", { namespace: "x" })), /of another namespace$/],
    ["no metadata", line("DELETED", { apiVersion: "v1", kind: "ConfigMap" }), /DELETED of not an object$/],
    [
      "a version that is a number",
      line("ADDED", configMap("b", 2 as never)),
      /metadata\.resourceVersion of a wrong type$/
    ],
    [
      "labels that are a list",
      line("ADDED", configMap("b", "2", { labels: ["x"] })),
      /metadata\.labels of a wrong type$/
    ],
    [
      "a generation of 1e400",
      line("ADDED", configMap("b", "2", { generation: "INF" })).replace('"INF"', "1e400"),
      /generation/
    ],
    ["a name with a slash", line("ADDED", configMap("../b", "2")), /without a name$/],
    ["an unknown type", line("GONE", configMap("b", "2")), /an event of an unknown type$/],
    ["a type of `__proto__`", line("__proto__", configMap("b", "2")), /an event of an unknown type$/],
    ["a bookmark without a version", line("BOOKMARK", { metadata: { resourceVersion: "" } }), /a BOOKMARK without/],
    ["garbage under ERROR", line("ERROR", [[["x"]]]), /500 ServerError: the server answered 500$/],
    ["a code of 1e400 under ERROR", '{"type":"ERROR","object":{"code":1e400,"message":"m"}}\n', /500 ServerError: m$/],
    ["a code below all errors", line("ERROR", { code: 200, reason: "Expired", message: "m" }), /410 Expired: m$/],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0x7b, 0x0a]), /a line that is not JSON$/],
    ["a byte order mark", `\ufeff${added("b")}`, /a line that is not JSON$/],
    ["JSON nested 100,000 deep", `${"[".repeat(100_000)}${"]".repeat(100_000)}\n`, /a line without a type$/]
  ]
  it.live.each(odd)("%s ends it with an error, after what came before", ([, sent, message]) =>
    Effect.gen(function* () {
      const { error, events } = yield* watched(stream(added("a"), sent, added("c")))
      assert.deepStrictEqual(
        events.map((event) => event.type !== "BOOKMARK" && event.object.metadata.name),
        ["a"]
      )
      assert.match(error ?? "it ended cleanly", message)
    })
  )

  it.live("ten thousand events in one burst, cut at random places, come out whole and in order", () =>
    Effect.gen(function* () {
      const chance = chanceOf(11)
      const all = Buffer.from(Array.from({ length: 10_000 }, (_, i) => added(`日本-${i}`, String(i))).join(""))
      const { error, events } = yield* watched(({ write }) => {
        write(chunkedHead)
        for (let at = 0; at < all.length;) {
          const end = at + 1 + chance.int(5_000)
          write(chunk(all.subarray(at, end)))
          at = end
        }
        write(lastChunk)
      })
      assert.isUndefined(error)
      assert.deepStrictEqual(
        events.map((event) => event.type !== "BOOKMARK" && event.object.metadata.name),
        Array.from({ length: 10_000 }, (_, i) => `日本-${i}`)
      )
    })
  )

  it.live("deletions of what was never there, and events in any order, are handed on as they came", () =>
    Effect.gen(function* () {
      const { error, events } = yield* watched(
        stream(line("DELETED", configMap("never", "9")), added("a", "7"), line("MODIFIED", configMap("a", "3")))
      )
      assert.isUndefined(error)
      assert.deepStrictEqual(
        events.map((event) => event.type),
        ["DELETED", "ADDED", "MODIFIED"]
      )
    })
  )

  it.live("one that sends nothing but line ends emits nothing and costs no memory", () =>
    Effect.gen(function* () {
      const { error, events } = yield* watched(stream(...Array.from({ length: 200 }, () => "\n".repeat(60_000))))
      assert.deepStrictEqual(events, [])
      assert.isUndefined(error)
    })
  )
})
