/** Every verb of the client against servers that break the rules of HTTP, TLS and Kubernetes, on loopback. */
import { brotliCompressSync, gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import type { ApiClient } from "@fixpoint/core/ApiClient"
import { type ApiError, isApiError } from "@fixpoint/core/ApiError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import {
  answer,
  type Attack,
  type Chance,
  chanceOf,
  chunk,
  chunkedHead,
  type Hostile,
  lastChunk,
  serveRaw
} from "./hostileServer.ts"
import { clientOf, configMap, configMaps } from "./scriptedServer.ts"

const token = "s3cr3t-t0ken-of-the-operator"
const ref = { namespace: "team", name: "a" }

type Api = ApiClient["Service"]

const verbs: Readonly<Record<string, (api: Api) => Effect.Effect<unknown, ApiError>>> = {
  get: (api) => api.get(configMaps, ref),
  list: (api) => api.list(configMaps, { namespace: "team", limit: 2 }),
  watch: (api) => Stream.runDrain(api.watch(configMaps, { namespace: "team", timeoutSeconds: 1 })),
  create: (api) => api.create(configMaps, { metadata: ref }),
  replace: (api) => api.replace(configMaps, ref, { metadata: ref }),
  merge: (api) => api.patch(configMaps, ref, { type: "merge", body: {} }),
  json: (api) => api.patch(configMaps, ref, { type: "json", body: [] }),
  status: (api) => api.patch(configMaps, ref, { type: "apply", body: {}, force: true }, { subresource: "status" }),
  scale: (api) => api.patch(configMaps, ref, { type: "merge", body: {} }, { subresource: "scale" }),
  delete: (api) => api.delete(configMaps, ref),
  deleteCollection: (api) => api.deleteCollection(configMaps, { namespace: "team" }),
  discover: (api) => api.discover(configMaps),
  schema: (api) => api.schema(configMaps)
}

/** How long the client waits: an answer that comes must not be missed on a busy machine, one that never comes must be given up soon. */
const patient = "10 seconds"
const hasty = "400 millis"

const clientFor = (server: Hostile, limit: typeof patient | typeof hasty) =>
  clientOf({ server: server.url, token: Redacted.make(token), requestTimeout: limit, idleLimit: limit })

/** One line, no token, and of our own class whatever happened. */
const isProper = (what: string, exit: Exit.Exit<unknown, ApiError>): ApiError | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (!isApiError(error)) throw new Error(`${what} died: ${Cause.pretty(exit.cause)}`)
  const shown = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`
  assert.notInclude(shown, token, what)
  assert.notMatch(error.message, /[\p{Cc}\u2028\u2029]/u, what)
  assert.isBelow(error.message.length, 1_200, what)
  return error
}

/** 64 MiB in 64 KiB. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
const stored = JSON.stringify(configMap("a"))
const secretOf = (text: string): string => /authorization: ([^\r]*)/i.exec(text)?.[1] ?? ""

/** What the server sends and then ends, and the reason that the client must give for it where it is the same for all verbs. */
const attacks: ReadonlyArray<readonly [what: string, attack: Attack, reason?: RegExp]> = [
  ["a reset", ({ socket }) => void socket.resetAndDestroy(), /^Unreachable.*reset/],
  ["an end before a word", ({ socket }) => void socket.end(), /^Unreachable.*closed/],
  ["half a status line", ({ socket }) => void socket.end("HTTP/1.1 200 O"), /^Unreachable/],
  ["no HTTP", ({ write }) => write("SSH-2.0-OpenSSH_9.6\r\n\r\n"), /^Unreachable.*HTTP\/1\.1/],
  ["HTTP/2", ({ write }) => write("HTTP/2 200 OK\r\n\r\n"), /^Unreachable.*HTTP\/1\.1/],
  ["a code of one digit more", ({ write }) => write("HTTP/1.1 2000 OK\r\n\r\n"), /^Unreachable.*HTTP\/1\.1/],
  ["a code of zero", ({ write }) => write("HTTP/1.1 000 OK\r\ncontent-length: 0\r\n\r\n"), /^Unreachable/],
  ["a code that nobody knows", ({ write }) => write(answer("", 699)), /^ServerError/],
  [
    "a switch of protocols",
    ({ write }) => write("HTTP/1.1 101 S\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n{}"),
    /^Unrea/
  ],
  ["a negative length", ({ write }) => write("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}"), /^Unreachable/],
  [
    "two lengths",
    ({ write }) => write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 40\r\n\r\n${stored}`),
    /^Unreachable/
  ],
  ["a length that is too short", ({ write }) => write(`HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n${stored}`)],
  [
    "a length that is too long",
    ({ socket, write }) => {
      write(`HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${stored}`)
      socket.end()
    },
    /^Unreachable/
  ],
  [
    "a length beyond all numbers",
    ({ write }) => write(`HTTP/1.1 200 OK\r\ncontent-length: ${"9".repeat(40)}\r\n\r\n{`),
    /^Unre/
  ],
  [
    "a length and chunks",
    ({ write }) =>
      write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
    /^Unreachable/
  ],
  ["a chunk without a size", ({ write }) => write(`${chunkedHead}ZZ\r\n{}\r\n0\r\n\r\n`), /^Unreachable/],
  ["a negative chunk", ({ write }) => write(`${chunkedHead}-2\r\n{}\r\n0\r\n\r\n`), /^Unreachable/],
  ["a chunk beyond all numbers", ({ write }) => write(`${chunkedHead}${"F".repeat(40)}\r\n{}`), /^Unreachable/],
  [
    "a chunk's extension of a megabyte",
    ({ write }) => write(`${chunkedHead}2;${"x".repeat(1e6)}\r\n[]\r\n${lastChunk}`)
  ],
  [
    "trailers without end",
    ({ write }) => write(`${chunkedHead}2\r\n{}\r\n0\r\n${"x: y\r\n".repeat(20_000)}\r\n`),
    /^Unreachable/
  ],
  [
    "a header of a megabyte",
    ({ write }) => write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(1e6)}\r\n\r\n`),
    /^Unreachable.*headers/
  ],
  ["20,000 headers", ({ write }) => write(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}\r\n`), /^Unreachable/],
  [
    "a header with NUL",
    ({ write }) => write("HTTP/1.1 200 OK\r\nx\0y: z\r\ncontent-length: 0\r\n\r\n"),
    /^Unreachable/
  ],
  [
    "headers named like what all objects have",
    ({ write }) => write(answer("[]", 200, "__proto__: x\r\nconstructor: y\r\ncontent-type: application/json\r\n"))
  ],
  [
    "compression that nobody asked for",
    ({ write }) => write(answer(brotliCompressSync(stored), 200, "content-encoding: br\r\n")),
    /^Malf/
  ],
  ["a bomb of compression", ({ write }) => write(answer(bomb, 200, "content-encoding: gzip\r\n")), /^Malformed/],
  [
    "a page of HTML",
    ({ write }) => write(answer("<html>sign in</html>", 200, "content-type: text/html\r\n")),
    /^Malformed.*html/
  ],
  ["a page of HTML as an error", ({ write }) => write(answer("<html>bad gateway</html>", 502)), /^ServerError.*502$/],
  ["nothing under 204", ({ write }) => write("HTTP/1.1 204 N\r\n\r\n"), /^Malformed/],
  ["a redirect", ({ write }) => write(answer("", 307, "location: http://127.0.0.1:1/\r\n")), /^Malformed.*redirects/],
  ["a byte order mark", ({ write }) => write(answer(`\ufeff${stored}`)), /^Malformed/],
  ["the beginning of JSON", ({ write }) => write(answer(stored.slice(0, -5)))],
  ["a number", ({ write }) => write(answer("1e400"))],
  ["null in place of JSON", ({ write }) => write(answer("null"))],
  ["an empty array", ({ write }) => write(answer("[]"))],
  ["an empty object", ({ write }) => write(answer("{}"))],
  ["JSON nested 100,000 deep", ({ write }) => write(answer(`${"[".repeat(100_000)}${"]".repeat(100_000)}`))],
  [
    "the request sent back as an error",
    ({ text, write }) => write(answer(text, 500)),
    /^ServerError.*authorization: Bearer \*\*\*/
  ],
  [
    "the token sent back in a Status",
    ({ text, write }) =>
      write(
        answer(
          JSON.stringify({
            kind: "Status",
            message: `who is ${secretOf(text)}?`,
            details: { causes: [{ message: secretOf(text), field: "x" }] }
          }),
          422
        )
      ),
    /^Invalid.*who is Bearer \*\*\*\?/
  ],
  [
    "the token sent back as the type",
    ({ text, write }) => write(answer("{", 200, `content-type: text/${secretOf(text)}\r\n`)),
    /^Malformed.*text\/Bearer \*\*\*/
  ],
  [
    "the token sent back under a code that is no error",
    ({ text, write }) => write(answer(text, 302, `location: http://x/${secretOf(text)}\r\n`)),
    /^Malformed/
  ],
  [
    "a Status of a megabyte",
    ({ write }) => write(answer(JSON.stringify({ message: "m".repeat(3e6) }), 500)),
    /^ServerError/
  ],
  ["a wait of a billion seconds", ({ write }) => write(answer("", 429, "retry-after: 1e9\r\n")), /^TooManyRequests/],
  [
    "two answers to one request",
    ({ write }) => write(Buffer.concat([answer("{", 500), answer(stored)])),
    /^ServerError/
  ]
]

/** What never comes to an end: the client must give it up by itself. */
const endless: ReadonlyArray<readonly [what: string, attack: Attack]> = [
  ["early hints for ever", ({ repeat }) => repeat(5, () => "HTTP/1.1 103 E\r\nlink: x\r\n\r\n".repeat(200))],
  ["a head that drips", ({ repeat }) => repeat(20, (i) => "HTTP/1.1 200 OK\r\nx: yyyyyyyyyyyyyyyy"[i] ?? "y")],
  [
    "a body that stops",
    ({ write }) => write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{")
  ]
]

const check = (what: string, attack: Attack, reason: RegExp | undefined, limit: typeof patient | typeof hasty) =>
  Effect.gen(function* () {
    const server = yield* serveRaw(attack)
    const api = yield* clientFor(server, limit)
    yield* Effect.forEach(
      Object.entries(verbs),
      ([verb, run]) =>
        Effect.gen(function* () {
          const exit = yield* Effect.exit(run(api)).pipe(
            Effect.timeoutOrElse({
              duration: "45 seconds",
              orElse: () => Effect.die(new Error(`${verb} hangs at ${what}`))
            })
          )
          const error = isProper(`${verb} at ${what}`, exit)
          if (reason === undefined) return
          if (error === undefined) return assert.fail(`${verb} took ${what} for an answer`)
          assert.match(`${error.reason._tag}: ${error.message}`, reason, verb)
        }),
      { concurrency: "unbounded" }
    )
  })

describe("each verb", () => {
  it.live.each(attacks)("at %s gives an error of one line without the token, in time", ([what, attack, reason]) =>
    check(what, attack, reason, patient)
  )

  it.live.each(endless)(
    "at %s gives an error of one line without the token, and waits no longer than it should",
    ([what, attack]) => check(what, attack, /^Unreachable/, hasty)
  )

  it.live("at random bytes gives an error, in 60 seeds", () =>
    Effect.forEach(
      Array.from({ length: 60 }, (_, seed) => seed),
      (seed) => check(`random bytes of seed ${seed}`, randomBytes(chanceOf(seed)), undefined, hasty),
      { concurrency: 6 }
    )
  )

  it.live("at a well-formed answer around anything gives an error or what was asked for, in 100 seeds", () =>
    Effect.forEach(
      Array.from({ length: 100 }, (_, seed) => seed),
      (seed) =>
        Effect.gen(function* () {
          const chance = chanceOf(1_000 + seed)
          const server = yield* serveRaw(({ write }) =>
            write(answer(wrongJson(chance), chance.pick([200, 200, 201, 400, 409, 410, 422, 429, 500])))
          )
          const api = yield* clientFor(server, patient)
          for (const [verb, run] of Object.entries(verbs)) {
            const exit = yield* Effect.exit(run(api))
            isProper(`${verb} of seed ${seed}`, exit)
            if (Exit.isSuccess(exit)) properAnswer(verb, exit.value)
          }
        }),
      { concurrency: 6, discard: true }
    )
  )
})

/** Bytes, or the beginning of an answer with something broken in it. */
const randomBytes =
  (chance: Chance): Attack =>
  ({ socket, write }) => {
    const good = Buffer.concat([Buffer.from(chunkedHead), chunk(stored), Buffer.from(lastChunk)])
    const bytes = chance.int(2) === 0 ? chance.bytes(1 + chance.int(300)) : Buffer.from(good)
    if (bytes.length === good.length)
      for (let i = 0; i < 1 + chance.int(5); i++) bytes[chance.int(bytes.length)] = chance.int(256)
    write(bytes)
    if (chance.int(2) === 0) socket.end()
  }

/** JSON that is nearly what was asked for. */
const wrongJson = (chance: Chance): string => {
  const odd = (): unknown =>
    chance.pick<() => unknown>([
      () => null,
      () => 5,
      () => "",
      () => [],
      () => ({}),
      () => [null],
      () => "a",
      () => configMap("a"),
      () => ({ metadata: null })
    ])()
  const body: unknown = chance.pick<() => unknown>([
    odd,
    () => ({ ...configMap("a"), metadata: odd() }),
    () => ({
      ...configMap("a"),
      metadata: { ...configMap("a").metadata, [chance.pick(Object.keys(configMap("a").metadata))]: odd() }
    }),
    () => ({ ...configMap("a"), kind: odd() }),
    () => configMap(chance.pick(["a", "b"])),
    () => ({ kind: "Status", metadata: odd(), message: odd(), details: odd(), code: odd() }),
    () => ({ metadata: odd(), items: odd() }),
    () => ({ metadata: { resourceVersion: odd(), continue: odd() }, items: [configMap("a"), odd()] }),
    () => ({ type: chance.pick(["ADDED", "ERROR", "BOOKMARK", 5, "X"]), object: odd() }),
    () => ({ resources: odd() }),
    () => ({ resources: [odd(), { name: "configmaps", verbs: odd(), namespaced: odd() }] }),
    () => ({ paths: { "api/v1": odd() } })
  ])()
  const text = JSON.stringify(body)
  return chance.int(5) === 0
    ? text.replace('"metadata":{', '"__proto__":{"polluted":true},"metadata":{"uid":"x",')
    : text
}

const properAnswer = (verb: string, value: unknown): void => {
  assert.isUndefined(({} as { polluted?: unknown }).polluted)
  if (["get", "replace", "merge", "json", "status"].includes(verb)) {
    const { metadata } = value as { metadata: { name: string; namespace: string } }
    assert.deepStrictEqual([metadata.name, metadata.namespace], ["a", "team"], verb)
  }
}
