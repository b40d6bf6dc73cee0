import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as ApiServer from "../src/ApiServer.ts"
import { makeLane, makeTurns } from "../src/internal/http/fairness.ts"
import { makeInbox } from "../src/internal/http/reading.ts"
import type { Listening } from "../src/Listener.ts"
import { ask, follow, socket, until } from "./wireClient.ts"

const world = () => ApiServer.layer({ seed: 1 })
const listening = ApiServer.listen({ tls: false })

const maps = "/api/v1/namespaces/default/configmaps"
const head = ({ token }: Listening, method: string, path: string, ...headers: ReadonlyArray<string>): string =>
  [`${method} ${path} HTTP/1.1`, "Host: a", `Authorization: Bearer ${token}`, ...headers, "", ""].join("\r\n")

const works = (to: Listening) =>
  Effect.map(ask(to, "GET", "/api/v1/namespaces/default"), ({ code }) => assert.strictEqual(code, 200))

describe("sockets that misbehave", () => {
  it.live("random bytes, cut or whole, leave the server as it was", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const whole =
        head(to, "POST", maps, "Content-Type: application/json", "Content-Length: 20") + '{"metadata":{"na":1}'
      for (let round = 0; round < 300; round++) {
        const held = yield* socket(to)
        const bytes = Buffer.from(whole)
        for (let change = yield* Random.nextIntBetween(0, 8); change > 0; change--) {
          bytes[yield* Random.nextIntBetween(0, bytes.length)] = yield* Random.nextIntBetween(0, 256)
        }
        held.socket.write(bytes.subarray(0, yield* Random.nextIntBetween(1, bytes.length + 1)))
        if (yield* Random.nextBoolean) held.socket.resetAndDestroy()
        else held.socket.end()
      }
      yield* works(to)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("requests sent without waiting are answered in their order, also behind one that a hook delays", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const server = yield* ApiServer.ApiServer
      yield* server.hook({ before: (call) => (call.number === 1 ? Effect.sleep(50) : Effect.void) })
      const held = yield* socket(to)
      const names = Array.from({ length: 20 }, (_, at) => `n${at}`)
      held.socket.write(names.map((name) => head(to, "GET", `${maps}/${name}`)).join(""))
      yield* until("all are answered", () => held.heard().split("HTTP/1.1 404").length === names.length + 1)
      const told = [...held.heard().matchAll(/configmaps \\"(n\d+)\\" not found/g)].map(([, name]) => name)
      assert.deepStrictEqual(told, names)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a client that closes its side after the request is still answered", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const held = yield* socket(to)
      held.socket.end(head(to, "GET", "/api/v1/namespaces/default", "Connection: close"))
      yield* until("it is closed", held.closed)
      assert.isTrue(held.heard().startsWith("HTTP/1.1 200"))
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a body that breaks off writes nothing and keeps nothing", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const held = yield* socket(to)
      held.socket.write(head(to, "POST", maps, "Content-Type: application/json", "Content-Length: 1000000"))
      held.socket.write('{"metadata":{"name":"a"}')
      yield* Effect.sleep(20)
      held.socket.resetAndDestroy()
      yield* until("it is closed", held.closed)
      yield* works(to)
      assert.strictEqual((yield* ask(to, "GET", maps)).json.items.length, 0)
      for (let waited = 0; (yield* to.connections) > 0; waited++) {
        assert.isBelow(waited, 1_000)
        yield* Effect.sleep(5)
      }
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("methods, upgrades and heads that no client of Kubernetes sends are refused and do no harm", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const told = (bytes: string) =>
        Effect.gen(function* () {
          const held = yield* socket(to)
          held.socket.write(bytes)
          yield* until("it is answered or closed", () => held.closed() || held.heard().includes("\r\n\r\n"))
          return held.heard().split("\r\n", 1)[0]!.slice(9, 12)
        })
      assert.strictEqual(yield* told(head(to, "TRACE", maps)), "405")
      assert.strictEqual(
        yield* told(head(to, "GET", "/api/v1/namespaces/default", "Upgrade: websocket", "Connection: Upgrade")),
        "200"
      )
      assert.strictEqual(yield* told(head(to, "CONNECT", "a:1")), "")
      assert.strictEqual(yield* told(head(to, "GET", "http://elsewhere/api")), "200")
      assert.strictEqual(yield* told(head(to, "GET", maps, `X: ${"x".repeat(20_000)}`)), "431")
      assert.strictEqual(yield* told(head(to, "POST", maps, "Content-Length: 1", "Content-Length: 2")), "400")
      assert.strictEqual(yield* told("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), "400")
      yield* works(to)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a thousand open watches are all told and slow nobody down for long", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const watches = yield* Effect.forEach(Array.from({ length: 1_000 }), () => follow(to, `${maps}?watch=1`))
      yield* until("all are open", () => watches.every((watch) => watch.code() === 200))
      yield* ask(to, "POST", maps, { body: { metadata: { name: "a" } } })
      yield* until("all are told", () => watches.every((watch) => watch.lines.length === 1))
      yield* works(to)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("fairness", () => {
  it.live("long jobs are done in order, with rests where others come meanwhile, and too many are turned away", () =>
    Effect.gen(function* () {
      let now = 0
      const lane = makeLane(() => now)
      const done: Array<number> = []
      const at: Array<number> = []
      let turnedAway = 0
      for (let job = 0; job < 1_005; job++) {
        const taken = lane.run(() => {
          done.push(job)
          if (job >= 1 && job <= 4) at.push(performance.now())
          // Somebody comes during the first long job and nobody during the second.
          if (job === 1) lane.pass()
          now += job === 1 || job === 3 ? 200 : 1
        })
        if (!taken) turnedAway++
      }
      assert.deepStrictEqual(done, [0])
      assert.strictEqual(turnedAway, 4)
      yield* until("all are done", () => done.length === 1_001)
      assert.isAtLeast(at[1]! - at[0]!, 598)
      assert.isBelow(at[3]! - at[2]!, 598)
      assert.deepStrictEqual(
        done,
        [...done].sort((a, b) => a - b)
      )
    })
  )

  it.live("after a job that others have felt there is time for a hundred of them", () =>
    Effect.gen(function* () {
      let now = 0
      const lane = makeLane(() => now)
      const at: Array<number> = []
      for (const took of [50, 1]) {
        lane.run(() => {
          at.push(performance.now())
          lane.pass()
          now += took
        })
      }
      yield* until("both are done", () => at.length === 2)
      assert.isAtLeast(at[1]! - at[0]!, 598)
    })
  )

  it.live("jobs in turns are done once for many calls, in their order, and in stretches", () =>
    Effect.gen(function* () {
      let now = 0
      const turns = makeTurns(() => now++)
      const done: Array<number> = []
      const jobs = Array.from({ length: 500 }, (_, job) => () => void done.push(job))
      for (const job of [...jobs, ...jobs]) turns.soon(job)
      assert.deepStrictEqual(done, [])
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.isBelow(done.length, 500)
      yield* until("all are done", () => done.length === 500)
      assert.deepStrictEqual(
        done,
        [...done].sort((a, b) => a - b)
      )
    })
  )

  it.live("bodies on their way are bounded together: the one past the bound is asked to come again (F165)", () =>
    Effect.gen(function* () {
      const { PassThrough } = yield* Effect.promise(() => import("node:stream"))
      const inbox = makeInbox(100)
      const seen: Array<string> = []
      const send = (name: string) => {
        const incoming = Object.assign(new PassThrough(), { headers: {}, socket: new PassThrough() })
        inbox.read(
          incoming as never,
          (bytes) => seen.push(`${name} ${typeof bytes === "number" ? bytes : bytes.length}`),
          ({ code }) => seen.push(`${name} ${code}`)
        )
        return incoming
      }
      const [a, b, c] = [send("a"), send("b"), send("c")]
      a.write("x".repeat(60))
      b.write("x".repeat(60))
      yield* until("one was refused", () => seen.length === 1)
      assert.deepStrictEqual(seen, ["b 429"])
      assert.strictEqual(inbox.waiting(), 60)
      c.end("x".repeat(40))
      a.destroy()
      yield* until("the other was read", () => seen.length === 2 && inbox.waiting() === 0)
      assert.deepStrictEqual(seen, ["b 429", "c 40"])
    })
  )
})
