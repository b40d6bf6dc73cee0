import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import type { WatchEvent, WatchOptions } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import { FieldManager } from "@fixpoint/core/FieldManager"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type * as Kubernetes from "../src/Kubernetes.ts"
import { type Answer, type Asked, clientOf, configMap, configMaps, json, serve, until } from "./scriptedServer.ts"

const roles: Resource = {
  group: "access.example.com",
  version: "v1",
  kind: "Role",
  plural: "roles",
  scope: "Namespaced"
}
const zones: Resource = { group: "access.example.com", version: "v1", kind: "Zone", plural: "zones", scope: "Cluster" }
const editor = { namespace: "team", name: "editor" }

const expired = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "too old resource version: 1 (401)",
  reason: "Expired",
  code: 410
}

/** A client of a server that answers so. */
const against = (answer: Answer, options: Kubernetes.Options = {}) =>
  Effect.gen(function* () {
    const server = yield* serve(answer)
    const api = yield* clientOf({ server: server.url, ...options })
    return { server, api }
  })

const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`
const added = (name: string, version = "1"): string => line("ADDED", configMap(name, version))

/** What a watch of a scripted body emits, and how it ends. */
const watched = (answer: Answer, options: Kubernetes.Options = {}, watch: WatchOptions = {}) =>
  Effect.gen(function* () {
    const { api, server } = yield* against(answer, options)
    const events: Array<WatchEvent> = []
    const exit = yield* api.watch(configMaps, { namespace: "team", ...watch }).pipe(
      Stream.runForEach((event) => Effect.sync(() => events.push(event))),
      Effect.exit
    )
    return { events, exit, server }
  })

const failureOf = (exit: Exit.Exit<unknown, ApiError>): ApiError => {
  if (Exit.isSuccess(exit)) throw new Error("it succeeded")
  return Option.getOrThrow(Cause.findErrorOption(exit.cause))
}

const namesOf = (events: ReadonlyArray<WatchEvent>): ReadonlyArray<string> =>
  events.map((event) => (event.type === "BOOKMARK" ? "BOOKMARK" : `${event.type} ${event.object.metadata.name}`))

const body =
  (...parts: ReadonlyArray<string | Buffer>): Answer =>
  (_, response) => {
    response.writeHead(200, { "content-type": "application/json" })
    for (const part of parts) response.write(part)
    response.end()
  }

describe("a watch", () => {
  it.live("an ERROR event fails as Expired and is never handed on as an object (B1, F55)", () =>
    Effect.gen(function* () {
      const { events, exit } = yield* watched(body(added("a"), line("ERROR", expired)))
      assert.deepStrictEqual(namesOf(events), ["ADDED a"])
      assert.strictEqual(failureOf(exit).message, "watch configmaps: 410 Expired: too old resource version: 1 (401)")
    })
  )

  it.live("a 410 at connect fails as Expired, with a Status, without a body, and with one in plain text (B2)", () =>
    Effect.gen(function* () {
      for (const text of [JSON.stringify(expired), "", "gone"]) {
        const { events, exit } = yield* watched((_, response) => void response.writeHead(410).end(text))
        assert.deepStrictEqual(events, [])
        assert.strictEqual(failureOf(exit).reason._tag, "Expired")
      }
    })
  )

  it.live("an ERROR event of another code keeps its code, and one without a code is a server error", () =>
    Effect.gen(function* () {
      const of = (status: unknown) =>
        Effect.map(watched(body(line("ERROR", status))), ({ exit }) => failureOf(exit).reason._tag)
      assert.strictEqual(yield* of({ ...expired, code: 504, reason: "Timeout" }), "ServerTimeout")
      assert.strictEqual(yield* of({ kind: "Status", message: "x" }), "ServerError")
      assert.strictEqual(yield* of({ kind: "Status", reason: "Gone" }), "Expired")
      assert.strictEqual(yield* of(undefined), "ServerError")
    })
  )

  it.live("characters cut between chunks, CRLF, blank lines and events cut after a brace come out exact (B10)", () =>
    Effect.gen(function* () {
      const strange = { annotations: { note: "日本🙂é\u2028" } }
      const first = Buffer.from(line("MODIFIED", configMap("a", "2", strange)))
      const rest = `${added("b").trimEnd()}\r\n\n\r\n${added("c").slice(0, 1)}`
      const { events, exit } = yield* watched((_, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.socket?.setNoDelay(true)
        for (const byte of first) response.write(Buffer.from([byte]))
        response.write(rest)
        setTimeout(() => response.end(added("c").slice(1)), 50)
      })
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(namesOf(events), ["MODIFIED a", "ADDED b", "ADDED c"])
      assert.deepStrictEqual((events[0] as { object: KubeObject }).object, configMap("a", "2", strange))
    })
  )

  it.live("an object of 1.4 MB in chunks of 1 KB is joined once, and the next event comes after it (B11)", () =>
    Effect.gen(function* () {
      const large = Buffer.from(line("ADDED", { ...configMap("large"), data: { x: "é".repeat(700_000) } }))
      const started = performance.now()
      const { events } = yield* watched((_, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        for (let at = 0; at < large.length; at += 1024) response.write(large.subarray(at, at + 1024))
        response.end(added("b"))
      })
      assert.deepStrictEqual(namesOf(events), ["ADDED large", "ADDED b"])
      assert.isBelow(performance.now() - started, 10_000)
    })
  )

  const broken: ReadonlyArray<readonly [what: string, answer: Answer, tag: "Malformed" | "Unreachable"]> = [
    ["half a line, then the end", body(added("a"), added("b").slice(0, 30)), "Unreachable"],
    [
      "half a line, then FIN without the end of the body",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write(added("a"))
        response.write(added("b").slice(0, 30), () => response.socket?.end())
      },
      "Unreachable"
    ],
    [
      "a reset",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.write(added("a"), () => setTimeout(() => response.socket?.resetAndDestroy(), 50))
      },
      "Unreachable"
    ],
    ["a line without a type", body(added("a"), "{}\n", added("b")), "Malformed"],
    ["an unknown type", body(added("a"), line("FOO", configMap("b")), added("c")), "Malformed"],
    ["an object without a name", body(added("a"), line("ADDED", { metadata: {} }), added("c")), "Malformed"],
    ["an event without an object", body(added("a"), line("ADDED", undefined)), "Malformed"],
    ["a bookmark without a version", body(added("a"), line("BOOKMARK", { metadata: {} })), "Malformed"],
    ["a page of HTML that calls itself JSON", body(added("a"), "<html>\n<body>down</body>\n"), "Malformed"],
    ["HTML without a line's end", body(added("a"), "<html>"), "Malformed"]
  ]
  it.live.each(broken)("%s fails and emits nothing of it (B12)", ([, answer, tag]) =>
    Effect.gen(function* () {
      const { events, exit } = yield* watched(answer)
      assert.deepStrictEqual(namesOf(events), ["ADDED a"])
      assert.strictEqual(failureOf(exit).reason._tag, tag)
    })
  )

  it.live("a page of HTML under 200 is told by its type, and not quoted (B12)", () =>
    Effect.gen(function* () {
      const { exit } = yield* watched(
        (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>secret</html>")
      )
      assert.strictEqual(failureOf(exit).message, "watch configmaps: Malformed: a watch answered with text/html")
    })
  )

  it.live("a last event without its line's end counts, a clean end is a success", () =>
    Effect.gen(function* () {
      const { events, exit } = yield* watched(body(added("a"), added("b").trimEnd()))
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(namesOf(events), ["ADDED a", "ADDED b"])
    })
  )

  it.live("bookmarks are no objects, and tell the end of the initial events (F66, F67)", () =>
    Effect.gen(function* () {
      const end = { annotations: { "k8s.io/initial-events-end": "true" } }
      const { events } = yield* watched(
        body(
          line("BOOKMARK", { kind: "ConfigMap", metadata: { resourceVersion: "7", ...end } }),
          line("BOOKMARK", { metadata: { resourceVersion: "8" } })
        )
      )
      assert.deepStrictEqual(events, [
        { type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: true },
        { type: "BOOKMARK", resourceVersion: "8", initialEventsEnd: false }
      ])
    })
  )

  it.live(
    "asks for bookmarks always, for initial events with the match they need, and ends between 300 and 600 s (F67)",
    () =>
      Effect.gen(function* () {
        const { api, server } = yield* against(body())
        const seconds = new Set<number>()
        for (let seed = 0; seed < 30; seed++) {
          yield* Stream.runDrain(
            api.watch(configMaps, { namespace: "team", resourceVersion: "5", labelSelector: "app in (a,b)" })
          ).pipe(Random.withSeed(seed))
        }
        for (const { url } of server.asked) {
          const query = new URL(url, server.url).searchParams
          const timeout = Number(query.get("timeoutSeconds"))
          assert.isTrue(timeout >= 300 && timeout <= 600, url)
          seconds.add(timeout)
          query.delete("timeoutSeconds")
          assert.strictEqual(
            query.toString(),
            "watch=true&allowWatchBookmarks=true&labelSelector=app+in+%28a%2Cb%29&resourceVersion=5"
          )
        }
        assert.isAbove(seconds.size, 10)
        yield* Stream.runDrain(api.watch(zones, { namespace: "ignored", sendInitialEvents: true, timeoutSeconds: 9 }))
        assert.strictEqual(
          server.asked.at(-1)?.url,
          "/apis/access.example.com/v1/zones?watch=true&allowWatchBookmarks=true&timeoutSeconds=9&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        )
      })
  )

  it.live("a reader that is slow holds the server back instead of filling the memory", () =>
    Effect.gen(function* () {
      let written = 0
      const { api } = yield* against((_, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        const chunk = line("ADDED", { ...configMap("a"), data: { x: "x".repeat(64 * 1024) } })
        const more = () => {
          while (written < 200 * 1024 * 1024) {
            written += chunk.length
            if (!response.write(chunk)) return void response.once("drain", more)
          }
        }
        more()
      })
      const reading = yield* Stream.runForEach(api.watch(configMaps), () => Effect.never).pipe(Effect.forkScoped)
      let atRest = 0
      for (let looks = 0; looks < 60; looks++) {
        yield* Effect.sleep("500 millis")
        if (written > 0 && written === atRest) break
        atRest = written
      }
      assert.strictEqual(written, atRest)
      assert.isBelow(written, 32 * 1024 * 1024)
      yield* Fiber.interrupt(reading)
    })
  )

  it.live("interrupting it closes its socket, also before the server has answered", () =>
    Effect.gen(function* () {
      for (const answers of [true, false]) {
        const { api, server } = yield* against((_, response) => {
          if (answers) response.writeHead(200, { "content-type": "application/json" }).write(added("a"))
        })
        const reading = yield* Stream.runDrain(api.watch(configMaps)).pipe(Effect.forkScoped)
        yield* until("the watch arrives", () => server.asked.length === 1 && server.open() === 1)
        yield* Fiber.interrupt(reading)
        yield* until("the socket closes", () => server.open() === 0)
      }
    })
  )

  it.live("leaving it early closes its socket", () =>
    Effect.gen(function* () {
      const { api, server } = yield* against(
        (_, response) =>
          void response.writeHead(200, { "content-type": "application/json" }).write(added("a") + added("b"))
      )
      const events = yield* Stream.runCollect(Stream.take(api.watch(configMaps), 1))
      assert.strictEqual(events.length, 1)
      yield* until("the socket closes", () => server.open() === 0)
    })
  )
})

/** They wait more than they work, so they wait together. */
describe("a limit of time", { concurrent: true }, () => {
  it.live("a connection that falls silent is given up after the idle limit, and its socket closed (B5)", () =>
    Effect.gen(function* () {
      const { events, exit, server } = yield* watched(
        (_, response) => void response.writeHead(200, { "content-type": "application/json" }).write(added("a")),
        { idleLimit: "1500 millis" }
      )
      assert.deepStrictEqual(namesOf(events), ["ADDED a"])
      assert.strictEqual(failureOf(exit).message, `watch configmaps: Unreachable: ${server.url}: no byte in 1.5 s`)
      yield* until("the socket closes", () => server.open() === 0)
    })
  )

  it.live("a server that never answers is given up after the request's limit (B5)", () =>
    Effect.gen(function* () {
      const { exit, server } = yield* watched(() => {}, { requestTimeout: "300 millis" })
      // On a busy machine the limit of the whole request may strike first.
      assert.match(failureOf(exit).message, /^watch configmaps: Unreachable: .*: no answer (in time|within 0\.6 s)/)
      assert.include(failureOf(exit).message, server.url)
    })
  )

  it.live("a quiet one whose bookmarks come in time is not cut (B5)", () =>
    Effect.gen(function* () {
      const { events, exit } = yield* watched(
        (_, response) => {
          response.writeHead(200, { "content-type": "application/json" })
          let beats = 0
          const timer = setInterval(() => {
            response.write(line("BOOKMARK", { metadata: { resourceVersion: String(++beats) } }))
            if (beats < 24) return
            clearInterval(timer)
            response.end()
          }, 200)
        },
        { idleLimit: "4 seconds", requestTimeout: "2 seconds" }
      )
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(events.length, 24)
    })
  )

  const endless: ReadonlyArray<readonly [what: string, everyMillis: number, text: string]> = [
    ["a server that stops reading its own clock", 500, line("BOOKMARK", { metadata: { resourceVersion: "1" } })],
    ["a body that drips for ever", 50, " "]
  ]
  it.live.each(endless)("%s is not followed long beyond the seconds asked for (B5)", ([, everyMillis, text]) =>
    Effect.gen(function* () {
      const started = performance.now()
      // The grace of 10 s is what this test takes.
      const { exit } = yield* watched(
        (_, response) => {
          response.writeHead(200, { "content-type": "application/json" })
          const timer = setInterval(() => response.write(text), everyMillis)
          response.on("close", () => clearInterval(timer))
        },
        {},
        { timeoutSeconds: 1 }
      )
      assert.match(failureOf(exit).message, /not ended after the 1 s asked for$/)
      assert.isBelow(performance.now() - started, 30_000)
    })
  )

  it.live("a request is given up when no answer comes, and its socket closed (B5)", () =>
    Effect.gen(function* () {
      const { api, server } = yield* against(() => {}, { requestTimeout: "300 millis" })
      const error = yield* Effect.flip(api.list(configMaps))
      assert.match(error.message, /^list configmaps: Unreachable: http:.*: no answer (in time|within 0\.6 s)/)
      assert.include(error.message, server.url)
      yield* until("the socket closes", () => server.open() === 0)
    })
  )

  it.live("a request is given up when an answer trickles for ever", () =>
    Effect.gen(function* () {
      const { api, server } = yield* against(
        (_, response) => {
          response.writeHead(200, { "content-type": "application/json" })
          const timer = setInterval(() => response.write(" "), 100)
          response.on("close", () => clearInterval(timer))
        },
        { requestTimeout: "2 seconds" }
      )
      const error = yield* Effect.flip(api.get(configMaps, editor))
      assert.strictEqual(error.message, `get configmaps team/editor: Unreachable: ${server.url}: no answer within 4 s`)
      yield* until("the socket closes", () => server.open() === 0)
    })
  )
})

describe("a request", () => {
  it.live("interrupting it closes its socket", () =>
    Effect.gen(function* () {
      const { api, server } = yield* against(() => {})
      const asking = yield* Effect.forkScoped(api.get(configMaps, editor))
      yield* until("the request arrives", () => server.asked.length === 1)
      yield* Fiber.interrupt(asking)
      yield* until("the socket closes", () => server.open() === 0)
    })
  )

  it.live("one that is interrupted while it waits for a connection is never sent", () =>
    Effect.gen(function* () {
      let free = () => {}
      const { api, server } = yield* against(
        (asked, response) => {
          const answer = () => json(response, 200, configMap(asked.url.split("/").at(-1)!))
          if (server.asked.length === 1) free = answer
          else answer()
        },
        { connections: 1 }
      )
      const first = yield* Effect.forkScoped(api.get(configMaps, editor))
      yield* until("the first request arrives", () => server.asked.length === 1)
      const second = yield* Effect.forkScoped(api.delete(configMaps, editor))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(second)
      free()
      yield* Fiber.join(first)
      yield* api.get(configMaps, { namespace: "team", name: "other" })
      assert.deepStrictEqual(
        server.asked.map(({ method }) => method),
        ["GET", "GET"]
      )
    })
  )

  it.live("a hundred open watches starve no request, and requests share their connections", () =>
    Effect.gen(function* () {
      const { api, server } = yield* against((asked, response) => {
        if (asked.url.includes("watch=true")) {
          response.writeHead(200, { "content-type": "application/json" }).write(added("a"))
        } else setTimeout(() => json(response, 200, configMap("editor")), 1)
      })
      yield* Effect.forEach(Array.from({ length: 100 }), () =>
        Effect.forkScoped(Stream.runDrain(api.watch(configMaps)))
      )
      yield* until("all watches are open", () => server.open() === 100)
      yield* Effect.forEach(Array.from({ length: 500 }), () => api.get(configMaps, editor), { concurrency: 64 })
      yield* Effect.forEach(Array.from({ length: 50 }), () => api.get(configMaps, editor))
      assert.isAtMost(server.connections(), 116)
    })
  )

  it.live("a list of 30 MB is read whole (B11)", () =>
    Effect.gen(function* () {
      const items = Array.from({ length: 3_000 }, (_, i) => ({ ...configMap(`c${i}`), data: { x: "é".repeat(5_000) } }))
      const { api } = yield* against((_, response) =>
        json(response, 200, { metadata: { resourceVersion: "9", continue: "" }, items })
      )
      const page = yield* api.list(configMaps)
      assert.strictEqual(page.items.length, 3_000)
      assert.deepStrictEqual(page.items[2_999], items[2_999])
    })
  )

  it.live("items of lists get apiVersion and kind, and an empty token is none (F34, F43)", () =>
    Effect.gen(function* () {
      const bare = { metadata: configMap("a").metadata }
      const pages = [
        { metadata: { resourceVersion: "9", continue: "" }, items: [bare] },
        { metadata: { resourceVersion: "9", continue: "t", remainingItemCount: 3 }, items: null }
      ]
      const sizes = pages.map((page) => JSON.stringify(page).length)
      const { api } = yield* against((_, response) => json(response, 200, pages.shift()))
      assert.deepStrictEqual(yield* api.list(configMaps), {
        items: [{ ...bare, apiVersion: "v1", kind: "ConfigMap" }],
        resourceVersion: "9",
        bytes: sizes[0]
      } as never)
      assert.deepStrictEqual(yield* api.list(configMaps), {
        items: [],
        resourceVersion: "9",
        bytes: sizes[1]!,
        continue: "t",
        remainingItemCount: 3
      })
    })
  )

  it.live("lists may come gzipped and nothing else is asked for so; what cannot be unpacked is no list", () =>
    Effect.gen(function* () {
      const list = { metadata: { resourceVersion: "9" }, items: [configMap("a")] }
      const asked: Array<unknown> = []
      const bodies = [gzipSync(JSON.stringify(list)), gzipSync(JSON.stringify(list)).subarray(0, -20)]
      const { api } = yield* against((request, response) => {
        asked.push(request.headers["accept-encoding"])
        if (request.url!.includes("configmaps/a")) return json(response, 200, configMap("a"))
        response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bodies.shift())
      })
      const { items } = yield* api.list(configMaps)
      assert.deepStrictEqual(items, [configMap("a")])
      yield* api.get(configMaps, { namespace: "team", name: "a" })
      const error = yield* Effect.flip(api.list(configMaps))
      assert.strictEqual(error.reason._tag, "Malformed")
      assert.deepStrictEqual(asked, ["gzip", undefined, "gzip"])
    })
  )

  const refusals: ReadonlyArray<
    readonly [what: string, answer: Answer, tag: string, millis: number | undefined, message: string]
  > = [
    [
      "a 429 in plain text with Retry-After (F165, B19)",
      (_, response) =>
        void response
          .writeHead(429, { "content-type": "text/plain", "retry-after": "7" })
          .end("Too many requests, please try again later.\n"),
      "TooManyRequests",
      7_000,
      "get configmaps team/editor: 429 TooManyRequests: Too many requests, please try again later."
    ],
    [
      "a 504 Status without kind that says it is text (F166)",
      (_, response) =>
        void response
          .writeHead(504, { "content-type": "text/plain" })
          .end(
            JSON.stringify({ metadata: {}, status: "Failure", message: "Timeout: slow", reason: "Timeout", code: 504 })
          ),
      "ServerTimeout",
      undefined,
      "get configmaps team/editor: 504 ServerTimeout: Timeout: slow"
    ],
    [
      "a Retry-After with a date, by the server's own clock (B19)",
      (_, response) =>
        void response
          .writeHead(503, { date: "Wed, 21 Oct 2015 07:28:00 GMT", "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT" })
          .end(),
      "ServerError",
      30_000,
      "get configmaps team/editor: 503 ServerError: the server answered 503"
    ],
    [
      "a proxy's page of HTML, which is not quoted",
      (_, response) => void response.writeHead(502, { "content-type": "text/html" }).end("<html>\n<p>bad</p>"),
      "ServerError",
      undefined,
      "get configmaps team/editor: 502 ServerError: the server answered 502"
    ],
    [
      "the word of a TLS port, to which plain HTTP was spoken",
      (_, response) => void response.writeHead(400).end("Client sent an HTTP request to an HTTPS server.\n"),
      "Unreachable",
      undefined,
      "get configmaps team/editor: Unreachable: ORIGIN: TLS is spoken on this port: write https:// in the server's URL"
    ],
    [
      "a redirect, which is not followed",
      (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "Malformed",
      undefined,
      "get configmaps team/editor: Malformed: an answer 302; redirects are not followed"
    ],
    [
      "HTML under 200",
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      "Malformed",
      undefined,
      "get configmaps team/editor: Malformed: an answer 200 that is not JSON (text/html)"
    ],
    [
      "JSON that is no object",
      (_, response) => json(response, 200, { hello: 1 }),
      "Malformed",
      undefined,
      "get configmaps team/editor: Malformed: not an object"
    ],
    [
      "an answer cut midway",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" })
        response.write("{", () => response.socket?.end())
      },
      "Unreachable",
      undefined,
      ""
    ]
  ]
  it.live.each(refusals)("%s is told in one line", ([, answer, tag, millis, message]) =>
    Effect.gen(function* () {
      const { api, server } = yield* against(answer)
      const error = yield* Effect.flip(api.get(configMaps, editor))
      assert.strictEqual(error.reason._tag, tag)
      assert.strictEqual("retryAfterMillis" in error.reason ? error.reason.retryAfterMillis : undefined, millis)
      if (message !== "") assert.strictEqual(error.message, message.replace("ORIGIN", server.url))
    })
  )

  it.live("no failure shows a token, a header or what was sent", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<Answer> = [
        (_, response) => void response.writeHead(401).end("{}"),
        (_, response) => void response.writeHead(500).end(),
        (_, response) => void response.socket?.destroy(),
        (_, response) => void response.socket?.end("garbage that is no HTTP\r\n\r\n"),
        (_, response) => void response.writeHead(200).end("{"),
        () => {}
      ]
      for (const answer of answers) {
        const { api } = yield* against(answer, {
          token: Redacted.make("s3cr3t-token"),
          requestTimeout: "200 millis"
        })
        const error = yield* Effect.flip(
          api.create(configMaps, { metadata: { name: "editor", namespace: "team" }, data: { password: "hunter2" } })
        )
        const shown = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`
        assert.notMatch(shown, /s3cr3t|hunter2|authorization|bearer/i)
        assert.match(error.message, /^create configmaps team\/editor: .+/)
        assert.notInclude(error.message, "\n")
      }
    })
  )

  it.live("a warning of the server is logged once (F25)", () =>
    Effect.gen(function* () {
      const { api } = yield* against((_, response) =>
        json(response, 200, configMap("editor"), {
          ["warning" as string]: ['299 - "unknown field \\"spec.nope\\""', '299 - "a, b"']
        })
      )
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      yield* Effect.forEach([1, 2, 3], () => api.get(configMaps, editor)).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(lines, [
        'the API server warns at get configmaps team/editor: unknown field "spec.nope"',
        "the API server warns at get configmaps team/editor: a, b"
      ])
    })
  )
})

describe("what is sent", () => {
  const role = { metadata: { name: "editor", namespace: "team" }, spec: { scope: "x" } }
  const typedRole = { apiVersion: "access.example.com/v1", kind: "Role", ...role }
  const path = "/apis/access.example.com/v1/namespaces/team/roles"

  type Api = Effect.Success<ReturnType<typeof clientOf>>
  const table: ReadonlyArray<
    readonly [
      what: string,
      run: (api: Api) => Effect.Effect<unknown, ApiError>,
      request: string,
      type: string | undefined,
      body: unknown
    ]
  > = [
    [
      "get",
      (api) => api.get(roles, editor, { resourceVersion: "0" }),
      `GET ${path}/editor?resourceVersion=0`,
      undefined,
      undefined
    ],
    [
      "get in cluster scope",
      (api) => api.get(zones, { namespace: undefined, name: "a:b" }),
      "GET /apis/access.example.com/v1/zones/a%3Ab",
      undefined,
      undefined
    ],
    [
      "list",
      (api) =>
        api.list(configMaps, {
          limit: 5,
          continue: "a=",
          labelSelector: "a=b",
          resourceVersion: "7",
          resourceVersionMatch: "Exact"
        }),
      "GET /api/v1/configmaps?labelSelector=a%3Db&limit=5&continue=a%3D&resourceVersion=7&resourceVersionMatch=Exact",
      undefined,
      undefined
    ],
    [
      "create",
      (api) => api.create(roles, role, { dryRun: true, fieldValidation: "Strict" }),
      `POST ${path}?fieldManager=me&dryRun=All&fieldValidation=Strict`,
      "application/json",
      typedRole
    ],
    [
      "create in cluster scope, whatever namespace the object names",
      (api) => api.create(zones, { metadata: { name: "z", namespace: "x" } }),
      "POST /apis/access.example.com/v1/zones?fieldManager=me",
      "application/json",
      { apiVersion: "access.example.com/v1", kind: "Zone", metadata: { name: "z", namespace: "x" } }
    ],
    [
      "replace",
      (api) => api.replace(roles, editor, role, { fieldManager: "other" }),
      `PUT ${path}/editor?fieldManager=other`,
      "application/json",
      typedRole
    ],
    [
      "replace of the status",
      (api) => api.replace(roles, editor, role, { subresource: "status" }),
      `PUT ${path}/editor/status?fieldManager=me`,
      "application/json",
      typedRole
    ],
    [
      "merge patch",
      (api) => api.patch(roles, editor, { type: "merge", body: { spec: { scope: null } } }),
      `PATCH ${path}/editor?fieldManager=me`,
      "application/merge-patch+json",
      { spec: { scope: null } }
    ],
    [
      "JSON patch",
      (api) => api.patch(roles, editor, { type: "json", body: [{ op: "remove", path: "/spec" }] }),
      `PATCH ${path}/editor?fieldManager=me`,
      "application/json-patch+json",
      [{ op: "remove", path: "/spec" }]
    ],
    [
      "apply",
      (api) => api.patch(roles, editor, { type: "apply", body: { spec: {} } }),
      `PATCH ${path}/editor?fieldManager=me`,
      "application/apply-patch+yaml",
      { apiVersion: "access.example.com/v1", kind: "Role", spec: {} }
    ],
    [
      "forced apply on the status",
      (api) =>
        api.patch(roles, editor, { type: "apply", body: { status: {} }, force: true }, { subresource: "status" }),
      `PATCH ${path}/editor/status?fieldManager=me&force=true`,
      "application/apply-patch+yaml",
      { apiVersion: "access.example.com/v1", kind: "Role", status: {} }
    ],
    [
      "merge patch of the scale",
      (api) => api.patch(roles, editor, { type: "merge", body: { spec: { replicas: 2 } } }, { subresource: "scale" }),
      `PATCH ${path}/editor/scale?fieldManager=me`,
      "application/merge-patch+json",
      { spec: { replicas: 2 } }
    ],
    [
      "delete",
      (api) =>
        api.delete(roles, editor, {
          preconditions: { uid: "u" },
          propagationPolicy: "Foreground",
          gracePeriodSeconds: 0,
          dryRun: true
        }),
      `DELETE ${path}/editor`,
      "application/json",
      {
        apiVersion: "v1",
        kind: "DeleteOptions",
        preconditions: { uid: "u" },
        propagationPolicy: "Foreground",
        gracePeriodSeconds: 0,
        dryRun: ["All"]
      }
    ]
  ]
  /** Something that the client takes for an answer. */
  const answerTo = ({ text, url }: Asked): object => {
    if (url.includes("limit")) return { metadata: { resourceVersion: "1" }, items: [] }
    if (text.includes("DeleteOptions")) return { kind: "Status", apiVersion: "v1", metadata: {} }
    const zone = url.includes("/zones")
    const name = zone ? (url.includes("a%3Ab") ? "a:b" : "z") : "editor"
    return {
      apiVersion: "access.example.com/v1",
      kind: zone ? "Zone" : "Role",
      metadata: { name, ...(!zone && { namespace: "team" }), uid: "u", resourceVersion: "1" }
    }
  }
  it.live.each(table)("%s", ([, run, request, type, sent]) =>
    Effect.gen(function* () {
      const { api, server } = yield* against((asked, response) => json(response, 200, answerTo(asked)))
      yield* run(api).pipe(Effect.provideService(FieldManager, "me"))
      const [asked] = server.asked
      assert.strictEqual(`${asked?.method} ${asked?.url}`, request)
      assert.strictEqual(asked?.headers["content-type"], type)
      assert.strictEqual(asked?.headers["user-agent"], "fixpoint")
      assert.deepStrictEqual(asked?.text === "" ? undefined : JSON.parse(asked?.text ?? ""), sent)
    })
  )

  it.live("deletecollection keeps its selectors, or it would delete everything", () =>
    Effect.gen(function* () {
      const { api, server } = yield* against((_, response) =>
        json(response, 200, { metadata: { resourceVersion: "1" }, items: [configMap("a")] })
      )
      const gone = yield* api.deleteCollection(configMaps, {
        namespace: "team",
        labelSelector: "a=b",
        fieldSelector: "metadata.name!=x"
      })
      assert.deepStrictEqual(
        gone.map(({ metadata }) => metadata.name),
        ["a"]
      )
      assert.strictEqual(
        server.asked[0]?.url,
        "/api/v1/namespaces/team/configmaps?labelSelector=a%3Db&fieldSelector=metadata.name!%3Dx"
      )
      assert.deepStrictEqual(JSON.parse(server.asked[0]?.text ?? ""), { apiVersion: "v1", kind: "DeleteOptions" })
    })
  )

  it.live("an empty or climbing name or namespace is never sent: a delete would be one of the whole collection", () =>
    Effect.gen(function* () {
      const { api, server } = yield* against((_, response) => json(response, 200, configMap("a")))
      for (const name of ["", ".", "..", "a/b", "a%2Fb", "a\ud800"]) {
        for (const ref of [
          { namespace: "team", name },
          { namespace: name, name: "a" }
        ]) {
          const error = yield* Effect.flip(api.delete(configMaps, ref))
          assert.strictEqual(error.reason._tag, "BadRequest")
          assert.match(error.message, /not sent: the name(space)? (is empty|is not Unicode|may not)/)
        }
        yield* Effect.flip(api.get(configMaps, { namespace: "team", name }))
        yield* Effect.flip(api.replace(configMaps, { namespace: "team", name }, {}))
        yield* Effect.flip(api.patch(configMaps, { namespace: "team", name }, { type: "merge", body: {} }))
        yield* Effect.flip(api.list(configMaps, { namespace: name }))
        yield* Effect.flip(api.deleteCollection(configMaps, { namespace: name }))
        yield* Effect.flip(api.create(configMaps, { metadata: { name: "a", namespace: name } }))
        yield* Effect.flip(Stream.runDrain(api.watch(configMaps, { namespace: name })))
      }
      assert.deepStrictEqual(server.asked, [])
    })
  )

  it.live("a path before the API of a gateway is kept, also before the OpenAPI document", () =>
    Effect.gen(function* () {
      const server = yield* serve((asked, response) => {
        if (asked.url.endsWith("/openapi/v3")) {
          json(response, 200, { paths: { "api/v1": { serverRelativeURL: "/openapi/v3/api/v1?hash=1" } } })
        } else json(response, 200, {})
      })
      const api = yield* clientOf({ server: `${server.url}/k8s/clusters/c-1/` })
      assert.deepStrictEqual(yield* api.schema(configMaps), Option.none())
      assert.deepStrictEqual(
        server.asked.map(({ url }) => url),
        ["/k8s/clusters/c-1/openapi/v3", "/k8s/clusters/c-1/openapi/v3/api/v1?hash=1"]
      )
    })
  )
})
