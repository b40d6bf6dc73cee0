import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as Credentials from "../src/Credentials.ts"
import * as InCluster from "../src/internal/inCluster.ts"
import { KubernetesError } from "../src/KubernetesError.ts"
import { makeCertificate } from "@fixpoint/apiserver/Certificate"
import { clientOf, configMap, configMaps, json, serve } from "./scriptedServer.ts"

const broken = new KubernetesError({ reason: "NoCredentials", message: "the file is away" })

/** A source that gives what the test says, and counts. */
const scripted = (renewIntervalMillis = 0) => {
  const state = { token: "t1", fails: false, loads: 0, renews: 0 }
  const source: Credentials.Source = {
    server: "https://127.0.0.1:1",
    namespace: "default",
    renewIntervalMillis,
    load: (renew) =>
      Effect.suspend(() => {
        state.loads++
        if (renew) state.renews++
        return state.fails
          ? Effect.fail(broken)
          : Effect.succeed({ headers: { authorization: state.token }, tls: { ca: Buffer.from("ca") } })
      })
  }
  return { state, source }
}

const silent = Effect.provide(Logger.layer([]))

describe("Credentials", () => {
  it.effect("are read again each minute, and are the same value while nothing in them changes (B22)", () =>
    Effect.gen(function* () {
      const { source, state } = scripted()
      const credentials = yield* Credentials.make(source)
      const first = yield* credentials.current
      yield* TestClock.adjust("59 seconds")
      yield* credentials.current
      assert.strictEqual(state.loads, 1)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* credentials.current, first)
      assert.strictEqual(state.loads, 2)
      state.token = "t2"
      yield* TestClock.adjust("61 seconds")
      const next = yield* credentials.current
      assert.strictEqual(next.headers.authorization, "t2")
      assert.strictEqual(next.tls, first.tls)
    })
  )

  it.effect("stay as they were while they cannot be read, which is tried each 5 s and told once a minute (B22)", () =>
    Effect.gen(function* () {
      const { source, state } = scripted()
      const credentials = yield* Credentials.make(source)
      const first = yield* credentials.current
      state.fails = true
      const told: Array<string> = []
      const logger = Logger.make(({ message }) => void told.push(String(message)))
      const loads = state.loads
      for (let second = 0; second < 140; second++) {
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Effect.provide(credentials.current, Logger.layer([logger])), first)
      }
      assert.strictEqual(state.loads - loads, 17)
      const line = "the credentials for https://127.0.0.1:1 stay as they were: the file is away; trying again"
      assert.deepStrictEqual(told, [line, line])
      state.fails = false
      state.token = "t2"
      yield* TestClock.adjust("5 seconds")
      const { headers } = yield* Effect.provide(credentials.current, Logger.layer([logger]))
      assert.strictEqual(headers.authorization, "t2")
      assert.strictEqual(told.at(-1), "the credentials for https://127.0.0.1:1 were read again")
    })
  )

  it.effect("a first load that fails is the caller's failure", () =>
    Effect.gen(function* () {
      const { source, state } = scripted()
      state.fails = true
      assert.strictEqual(yield* Effect.flip(Credentials.make(source)), broken)
    })
  )

  it.effect("many refusals at once cause one load (B22)", () =>
    Effect.gen(function* () {
      const { source, state } = scripted()
      const credentials = yield* Credentials.make(source)
      const old = yield* credentials.current
      state.token = "t2"
      const renewed = yield* Effect.forEach(Array.from({ length: 50 }), () => credentials.renew(old), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(renewed).size, 1)
      assert.strictEqual(renewed[0]?.headers.authorization, "t2")
      assert.strictEqual(state.renews, 1)
    })
  )

  it.effect("a plugin is not run for each refusal, but once in its interval", () =>
    Effect.gen(function* () {
      const { source, state } = scripted(5_000)
      const credentials = yield* Credentials.make(source)
      const held = yield* credentials.current
      for (let i = 0; i < 20; i++) yield* credentials.renew(held)
      assert.strictEqual(state.renews, 0)
      yield* TestClock.adjust("5 seconds")
      for (let i = 0; i < 20; i++) yield* credentials.renew(held)
      assert.strictEqual(state.renews, 1)
    }).pipe(silent)
  )
})

const folderOf = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "fixpoint-account-"))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

describe("a Pod's credentials", () => {
  it("an IPv6 host stands in brackets", () => {
    assert.strictEqual(InCluster.serverUrl({ host: "fd00::1", port: "443" }), "https://[fd00::1]:443")
    assert.strictEqual(InCluster.serverUrl({ host: "10.0.0.1", port: "6443" }), "https://10.0.0.1:6443")
  })

  it.live(
    "a rotated token is read at the first refusal, and the request done with it; so is a new authority (B22)",
    () =>
      Effect.gen(function* () {
        const certificate = makeCertificate("one")
        let wanted = "t1"
        const server = yield* serve((asked, response) => {
          if (asked.headers.authorization !== `Bearer ${wanted}`) {
            json(response, 401, { kind: "Status", message: "Unauthorized", reason: "Unauthorized", code: 401 })
          } else if (asked.url.includes("watch")) response.writeHead(200, { "content-type": "application/json" }).end()
          else json(response, 200, configMap("a"))
        }, certificate)
        const folder = yield* folderOf({ token: "t1\n", "ca.crt": certificate.cert, namespace: "operators\n" })
        const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.port) }
        const api = yield* clientOf({}, { env, home: "/nonexistent", folder })
        const get = api.get(configMaps, { namespace: "team", name: "a" })
        yield* get
        wanted = "t2"
        writeFileSync(join(folder, "token"), "t2")
        yield* get
        assert.strictEqual(server.asked.length, 3)
        yield* get
        assert.strictEqual(server.asked.length, 4)

        wanted = "t3"
        writeFileSync(join(folder, "token"), "t3")
        yield* Stream.runDrain(api.watch(configMaps))
        assert.strictEqual(server.asked.length, 6)

        // The old token still in the file: one refusal, no second try with the same.
        wanted = "t4"
        const refused = yield* Effect.flip(get)
        assert.strictEqual(refused.reason._tag, "Unauthorized")
        assert.strictEqual(server.asked.length, 7)

        // Half-written: empty for a moment.
        writeFileSync(join(folder, "token"), "")
        setTimeout(() => writeFileSync(join(folder, "token"), "t4"), 80)
        yield* get
        assert.strictEqual(server.asked.length, 9)
      })
  )

  it.live("a file that stays empty, away or half a certificate is told by its path (B22)", () =>
    Effect.gen(function* () {
      const { cert } = makeCertificate("one")
      const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "1" }
      const failure = (files: Readonly<Record<string, string>>) =>
        Effect.gen(function* () {
          const folder = yield* folderOf(files)
          const error = yield* Effect.flip(clientOf({}, { env, home: "/nonexistent", folder }))
          assert.strictEqual(error.reason, "NoCredentials")
          return error.message.replace(folder, "F")
        })
      assert.strictEqual(yield* failure({ token: "", "ca.crt": cert }), "F/token is empty")
      assert.strictEqual(
        yield* failure({ "ca.crt": cert }),
        "cannot read F/token of the service account: there is no such file (ENOENT); is automountServiceAccountToken off?"
      )
      assert.strictEqual(
        yield* failure({ token: "t", "ca.crt": cert.slice(0, 100) }),
        "F/ca.crt is not a whole PEM file"
      )
    })
  )

  it.live("a new authority in the file is trusted after a minute, without a restart (B22)", () =>
    Effect.gen(function* () {
      const [one, two] = [makeCertificate("one"), makeCertificate("two")]
      const folder = yield* folderOf({ token: "t", "ca.crt": one.cert })
      const source = yield* InCluster.source({ host: "127.0.0.1", port: "1", folder })
      const first = yield* source.load(false)
      writeFileSync(join(folder, "ca.crt"), one.cert + two.cert)
      const second = yield* source.load(false)
      assert.strictEqual(first.tls.ca, one.cert)
      assert.strictEqual(second.tls.ca, one.cert + two.cert)
      assert.strictEqual(source.namespace, "default")
    })
  )
})
