import type { ServerResponse } from "node:http"
import { createRequire } from "node:module"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Undici from "undici"
import * as Credentials from "../src/Credentials.ts"
import * as Transport from "../src/Transport.ts"
import { makeCertificate } from "@fixpoint/apiserver/Certificate"
import { json, serve, serveProxy, until } from "./scriptedServer.ts"

const transportTo = (server: string, access: Credentials.Access, options?: Transport.TransportOptions) =>
  Effect.flatMap(Credentials.make(Credentials.fixed({ server, namespace: "default", access })), (credentials) =>
    Transport.make(credentials, options)
  )

const get = { method: "GET", path: "/x" } as const

describe("Transport", () => {
  it.live("a refused connection is told with its address and cause", () =>
    Effect.gen(function* () {
      // A port that was just free.
      const port = yield* Effect.scoped(
        Effect.map(
          serve(() => {}),
          (server) => server.port
        )
      )
      const transport = yield* transportTo(`http://127.0.0.1:${port}`, { headers: {}, tls: {} })
      const error = yield* Effect.flip(transport.request(get))
      assert.instanceOf(error, Transport.TransportError)
      assert.strictEqual(
        error.message,
        `http://127.0.0.1:${port}: the connection was refused: is the API server running there? (ECONNREFUSED)`
      )
    })
  )

  it.live("after an outage the same client works again: refused and broken connections leave nothing behind", () =>
    Effect.gen(function* () {
      const answer = (_: unknown, response: ServerResponse) => json(response, 200, {})
      const before = yield* Scope.make()
      const { port, url } = yield* Scope.provide(serve(answer), before)
      const transport = yield* transportTo(url, { headers: {}, tls: {} }, { connections: 4 })
      const ask = Effect.forEach(Array.from({ length: 20 }), () => Effect.exit(transport.request(get)), {
        concurrency: "unbounded"
      })
      assert.isTrue((yield* ask).every(Exit.isSuccess))
      yield* Scope.close(before, Exit.void)
      for (let i = 0; i < 5; i++) assert.isTrue((yield* ask).every(Exit.isFailure))
      yield* serve(answer, undefined, port)
      assert.isTrue((yield* ask).every(Exit.isSuccess))
    })
  )

  it.live("a server signed by another authority is not talked to, and the cause is told", () =>
    Effect.gen(function* () {
      const [ours, theirs] = [makeCertificate("ours"), makeCertificate("theirs")]
      const server = yield* serve((_, response) => json(response, 200, {}), theirs)
      const transport = yield* transportTo(server.url, { headers: { authorization: "secret" }, tls: { ca: ours.cert } })
      const error = yield* Effect.flip(transport.request(get))
      const [text = "", code] = error.message.split(" (")
      assert.strictEqual(
        text,
        `${server.url}: the server's certificate is not signed by the configured authority: give the CA of this cluster as certificate-authority`
      )
      assert.match(code ?? "", /^\w*SELF_SIGNED_CERT\w*\)$/)
      assert.deepStrictEqual(server.asked, [])
    })
  )

  it.live("a server whose certificate is for another name is not talked to, unless that name is configured", () =>
    Effect.gen(function* () {
      const certificate = makeCertificate("one")
      const server = yield* serve((_, response) => json(response, 200, {}), certificate)
      const wrong = yield* transportTo(server.url, { headers: {}, tls: { ca: certificate.cert, servername: "other" } })
      assert.include((yield* Effect.flip(wrong.request(get))).message, "the server's certificate is for another name")
      const right = yield* transportTo(server.url, {
        headers: {},
        tls: { ca: certificate.cert, servername: "localhost" }
      })
      assert.strictEqual((yield* right.request(get)).code, 200)
    })
  )

  it.live("plain HTTP spoken to a TLS port, and TLS to a plain one, are told", () =>
    Effect.gen(function* () {
      const tls = yield* serve(() => {}, makeCertificate("one"))
      const plain = yield* serve(() => {})
      const one = yield* transportTo(`http://127.0.0.1:${tls.port}`, { headers: {}, tls: {} })
      const two = yield* transportTo(`https://127.0.0.1:${plain.port}`, { headers: {}, tls: {} })
      assert.match((yield* Effect.flip(one.request(get))).message, /closed before|HTTP\/1.1/)
      assert.match((yield* Effect.flip(two.request(get))).message, /no TLS is spoken on this port|closed before|reset/)
    })
  )

  it.live("a proxy is gone through, by a tunnel for TLS and for plain HTTP without one", () =>
    Effect.gen(function* () {
      const certificate = makeCertificate("one")
      for (const target of [
        yield* serve((_, response) => json(response, 200, {}), certificate),
        yield* serve((_, response) => json(response, 200, {}))
      ]) {
        const proxy = yield* serveProxy
        const transport = yield* Transport.make({
          server: target.url,
          namespace: "default",
          proxy: proxy.url,
          current: Effect.succeed({ headers: { authorization: "secret" }, tls: { ca: certificate.cert } }),
          renew: Effect.succeed
        })
        assert.strictEqual((yield* transport.request(get)).code, 200)
        const { code } = yield* transport.stream(get)
        assert.strictEqual(code, 200)
        assert.strictEqual(target.asked.length, 2)
        assert.strictEqual(proxy.passed(), 2)
      }
    })
  )

  it.live("a kubeconfig's insecure-skip-tls-verify accepts any server, and nothing else does", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => json(response, 200, {}), makeCertificate("one"))
      const trusting = yield* transportTo(server.url, { headers: {}, tls: { rejectUnauthorized: false } })
      assert.strictEqual((yield* trusting.request(get)).code, 200)
      const plain = yield* transportTo(server.url, { headers: {}, tls: {} })
      assert.include((yield* Effect.flip(plain.request(get))).message, "not signed by the configured authority")
    })
  )

  it.live("TLS connections are kept between requests", () =>
    Effect.gen(function* () {
      const certificate = makeCertificate("one")
      const server = yield* serve((_, response) => json(response, 200, {}), certificate)
      const transport = yield* transportTo(server.url, { headers: {}, tls: { ca: certificate.cert } })
      for (let i = 0; i < 50; i++) yield* transport.request(get)
      // The next request starts while undici still closes the books of the last.
      assert.isAtMost(server.connections(), 2)
      yield* Effect.forEach(Array.from({ length: 300 }), () => transport.request(get), { concurrency: 100 })
      assert.isAtMost(server.connections(), 16)
    })
  )

  it.live("a new authority takes new connections, and what runs on old ones ends well", () =>
    Effect.gen(function* () {
      const [one, two] = [makeCertificate("one"), makeCertificate("two")]
      let finish = () => {}
      const server = yield* serve((asked, response) => {
        if (asked.url === "/slow") finish = () => json(response, 200, {})
        else json(response, 200, {})
      }, one)
      let access: Credentials.Access = { headers: {}, tls: { ca: one.cert } }
      const transport = yield* Transport.make({
        server: server.url,
        namespace: "default",
        current: Effect.sync(() => access),
        renew: () => Effect.sync(() => access)
      })
      const slow = yield* Effect.forkScoped(transport.request({ method: "GET", path: "/slow" }))
      yield* until("the slow one arrives", () => server.asked.length === 1)
      access = { headers: {}, tls: { ca: one.cert + two.cert } }
      assert.strictEqual((yield* transport.request(get)).code, 200)
      assert.strictEqual(server.connections(), 2)
      finish()
      assert.strictEqual((yield* Fiber.join(slow)).code, 200)
      yield* until("the old connection closes", () => server.open() === 1)
    })
  )

  it.live("closing its scope ends what runs and closes all connections", () =>
    Effect.gen(function* () {
      const server = yield* serve(() => {})
      const scope = yield* Effect.scope
      const asking = yield* Effect.gen(function* () {
        const transport = yield* transportTo(server.url, { headers: {}, tls: {} })
        const fiber = yield* Effect.forkIn(Effect.flip(transport.request(get)), scope)
        yield* until("the request arrives", () => server.asked.length === 1)
        return fiber
      }).pipe(Effect.scoped)
      assert.strictEqual(
        (yield* Fiber.join(asking)).message,
        `${server.url}: the client was closed (UND_ERR_DESTROYED)`
      )
      yield* until("the socket closes", () => server.open() === 0)
    })
  )

  it("the parts of undici that are loaded are undici's own", () => {
    const load = createRequire(import.meta.url)
    assert.strictEqual(load("undici/lib/dispatcher/pool.js"), Undici.Pool)
    assert.strictEqual(load("undici/lib/dispatcher/proxy-agent.js"), Undici.ProxyAgent)
  })
})
