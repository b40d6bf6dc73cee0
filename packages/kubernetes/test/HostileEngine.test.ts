/** A whole Manager against a server that is hostile for a while and then sane. */
import { assert, describe, it } from "@effect/vitest"
import * as Controller from "@fixpoint/core/Controller"
import * as Kind from "@fixpoint/core/Kind"
import * as Manager from "@fixpoint/core/Manager"
import * as Reconciler from "@fixpoint/core/Reconciler"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Kubernetes from "../src/Kubernetes.ts"
import { answer, type Attack, type Chance, chanceOf, chunk, chunkedHead, lastChunk, serveRaw } from "./hostileServer.ts"

class Role extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Role",
  scope: "Namespaced",
  spec: Schema.Struct({ rules: Schema.Array(Schema.String), more: Schema.optionalKey(Schema.Json) })
}) {}

const token = "s3cr3t-t0ken-of-the-operator"

const role = (name: string, resourceVersion: string, more: object = {}) => ({
  apiVersion: "access.example.com/v1",
  kind: "Role",
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion, generation: 1 },
  spec: { rules: ["read"] },
  ...more
})

const line = (type: string, object: unknown): Buffer => chunk(`${JSON.stringify({ type, object })}\n`)
const bookmark = (resourceVersion: string, more: object = {}): Buffer =>
  line("BOOKMARK", { metadata: { resourceVersion, ...more } })
const listEnd = { annotations: { "k8s.io/initial-events-end": "true" } }

/** A server that does what it should, with these objects in it. */
const sane =
  (...objects: ReadonlyArray<string>): Attack =>
  ({ text, url, write }) => {
    if (url.includes("watch=true")) {
      write(chunkedHead)
      if (!url.includes("sendInitialEvents")) return
      for (const object of objects) write(chunk(`{"type":"ADDED","object":${object}}\n`))
      write(bookmark("100", listEnd))
    } else if (text.startsWith("PATCH")) {
      const name = /roles\/([^/?]+)/.exec(url)?.[1] ?? ""
      write(answer(JSON.stringify(role(name, "101", { status: {} }))))
    } else if (url.includes("/roles")) {
      write(answer(`{"metadata":{"resourceVersion":"100"},"items":[${objects.join(",")}]}`))
    } else if (url === "/apis/access.example.com/v1") {
      const resources = ["roles", "roles/status"].map((name) => ({ name, kind: "Role", namespaced: true, verbs: [] }))
      write(answer(JSON.stringify({ resources })))
    } else write(answer("{}", 404))
  }

/** Does one of many bad things at each request. */
const hostile =
  (chance: Chance): Attack =>
  (visit) => {
    const { socket, text, write } = visit
    const item = JSON.stringify(role("a", "5"))
    const attacks: ReadonlyArray<() => void> = [
      () => void socket.resetAndDestroy(),
      () => void socket.end(),
      () => write(chance.bytes(200)),
      () => write(answer("<html>", 200, "content-type: text/html\r\n")),
      () => write(answer(text, 500)),
      () => write(answer("", 429, "retry-after: 1\r\n")),
      () => write(answer("null")),
      () => write(answer(`{"metadata":{"resourceVersion":"5","continue":"again"},"items":[${item}]}`)),
      () => write(answer(`{"metadata":{"resourceVersion":5},"items":[${item}]}`)),
      () => write(answer(JSON.stringify({ metadata: { resourceVersion: "5" }, items: [{ metadata: null }] }))),
      () => write(Buffer.concat([Buffer.from(chunkedHead), chunk("{"), Buffer.from(lastChunk)])),
      () => write(Buffer.concat([Buffer.from(chunkedHead), line("ERROR", { code: 410, message: "gone" })])),
      () =>
        write(Buffer.concat([Buffer.from(chunkedHead), line("ADDED", role("a", "6")), line("ERROR", { code: 410 })])),
      () => write(Buffer.concat([Buffer.from(chunkedHead), line("ADDED", { ...role("a", "6"), kind: "Secret" })])),
      () => write(Buffer.concat([Buffer.from(chunkedHead), bookmark("7"), Buffer.from(lastChunk)])),
      () =>
        write(Buffer.concat([Buffer.from(chunkedHead), line("DELETED", role("never", "9")), Buffer.from(lastChunk)])),
      () => write(answer(JSON.stringify({ kind: "Status", code: 410, reason: "Expired" }), 410)),
      () => write(answer(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`))
    ]
    chance.pick(attacks)()
  }

/** A running Manager of one controller for Role, what it logged, and the names of the objects that it brought to an end. */
const operating = (url: string) =>
  Effect.gen(function* () {
    const settled: Array<string> = []
    const logs: Array<string> = []
    const api = Kubernetes.layerWith({
      server: url,
      token: Redacted.make(token),
      requestTimeout: "500 millis",
      idleLimit: "20 seconds"
    })
    const manager = Manager.layer([Controller.make({ for: Role, reconciler: Reconciler.for(Role) })], { grace: 0 })
    const context = yield* Layer.build(
      manager.pipe(
        Layer.provide(api),
        Layer.provide(
          Layer.mergeAll(
            Layer.succeed(Manager.OnSettled, (one) => void settled.push(`${one.ref.name} ${one.outcome}`)),
            Logger.layer([Logger.make(({ message }) => void logs.push(JSON.stringify(message)))])
          )
        )
      )
    )
    return { health: Context.get(context, Manager.Manager).health, settled, logs }
  })

/** Polls until it holds, for about a minute and a half at most. */
const eventually = (what: string, holds: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let i = 0; i < 1_800; i++) {
      if (yield* holds) return
      yield* Effect.sleep("50 millis")
    }
    return yield* Effect.die(new Error(`did not happen within 90 s: ${what}`))
  })

const isTold = (logs: ReadonlyArray<string>): void => {
  for (const log of logs) assert.notInclude(log, token)
}

describe("a Manager", () => {
  const seeds = Array.from({ length: 24 }, (_, seed) => seed)

  it.live(
    "asks a hostile server a few times a second at most, says what is wrong, and does its work once the server is sane, in 24 seeds (B7, B8, D23)",
    () =>
      Effect.forEach(
        seeds,
        (seed) =>
          Effect.gen(function* () {
            const server = yield* serveRaw(hostile(chanceOf(seed)))
            const { health, logs, settled } = yield* operating(server.url)
            const started = performance.now()
            yield* Effect.sleep("3 seconds")
            yield* eventually(
              `seed ${seed} has asked`,
              Effect.sync(() => server.visits() > 2)
            )
            const asked = server.visits()
            const seconds = (performance.now() - started) / 1_000
            assert.isBelow(asked / seconds, 20, `requests of seed ${seed}: ${server.lines.join(", ")}`)
            const { problems } = yield* health
            for (const problem of problems) {
              assert.match(problem, /^(list|watch|discover) /)
              assert.notMatch(problem, /\n/)
              assert.notInclude(problem, token)
            }
            server.become(sane(JSON.stringify(role("good", "100"))))
            yield* eventually(
              `seed ${seed} is ready`,
              Effect.map(health, ({ ready }) => ready && settled.some((one) => one.startsWith("good ")))
            )
            assert.deepStrictEqual((yield* health).problems, [])
            isTold(logs)
          }).pipe(Effect.scoped),
        { concurrency: 12, discard: true }
      ),
    240_000
  )

  it.live(
    "an object that is nested 20,000 deep, or has fields of `__proto__`, does not keep the others from their passes",
    () =>
      Effect.gen(function* () {
        const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`
        const objects = [
          JSON.stringify(role("deep", "98", { spec: { rules: [], more: "HERE" } })).replace('"HERE"', deep),
          JSON.stringify(role("odd", "99", { spec: "HERE", status: "HERE" })).replaceAll(
            '"HERE"',
            '{"rules":["r"],"__proto__":{"rules":5},"constructor":{"prototype":{"polluted":1}}}'
          ),
          JSON.stringify(role("__proto__", "97")),
          JSON.stringify(role("constructor", "96")),
          JSON.stringify(role("good", "100"))
        ]
        const server = yield* serveRaw(sane(...objects))
        const { health, settled } = yield* operating(server.url)
        const names = ["good", "odd", "__proto__", "constructor", "deep"]
        yield* eventually(
          "all have had a pass",
          Effect.sync(() => names.every((name) => settled.some((one) => one.startsWith(`${name} `))))
        )
        const ends = new Map(settled.map((one) => one.split(" ") as [string, string]))
        for (const name of ["good", "odd", "__proto__", "constructor"])
          assert.include(["changed", "unchanged"], ends.get(name), name)
        assert.isTrue((yield* health).ready)
        assert.isUndefined(({} as { polluted?: unknown }).polluted)
        const asked = server.visits()
        yield* Effect.sleep("1 second")
        assert.isBelow(server.visits() - asked, 20)
      }),
    240_000
  )
})
