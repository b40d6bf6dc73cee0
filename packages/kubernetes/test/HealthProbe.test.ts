import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Manager from "@fixpoint/core/Manager"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HealthProbe from "../src/HealthProbe.ts"

const health = (phase: Manager.Health["phase"], ...problems: ReadonlyArray<string>): Manager.Health => ({
  phase,
  ready: phase === "running" && problems.length === 0,
  problems
})

describe("what the probe answers", () => {
  const codes = (...all: ReadonlyArray<Manager.Health>) =>
    ["/livez", "/healthz", "/readyz"].map((path) => HealthProbe.answer({ method: "GET", path }, all).code)

  it("a Manager that starts, drains or is cut off is alive and not ready: to kill it would not help (D23)", () => {
    assert.deepStrictEqual(codes(), [200, 200, 503])
    assert.deepStrictEqual(codes(health("starting", "list roles: 403")), [200, 200, 503])
    assert.deepStrictEqual(codes(health("draining")), [200, 200, 503])
    assert.deepStrictEqual(codes(health("running", "watch roles: refused")), [200, 200, 503])
    assert.deepStrictEqual(codes(health("running")), [200, 200, 200])
  })

  it("a Manager that has stopped is dead", () => {
    assert.deepStrictEqual(codes(health("stopped")), [503, 503, 503])
  })

  it("of two Managers the one that is worse off counts", () => {
    assert.deepStrictEqual(codes(health("running"), health("starting", "a")), [200, 200, 503])
    const { phase, problems } = HealthProbe.answer({ method: "GET", path: "/readyz" }, [
      health("running", "b"),
      health("starting", "a")
    ])
    assert.deepStrictEqual([phase, problems], ["starting", ["b", "a"]])
  })

  it("anything but reading the three paths is refused", () => {
    assert.strictEqual(HealthProbe.answer({ method: "GET", path: "/" }, []).code, 404)
    assert.strictEqual(HealthProbe.answer({ method: "POST", path: "/readyz" }, []).code, 405)
    assert.strictEqual(HealthProbe.answer({ method: "HEAD", path: "/livez" }, []).code, 200)
  })
})

/** A port that was free a moment ago. */
const freePort = Effect.callback<number>((resume) => {
  const server = http.createServer()
  server.listen(0, () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

const ask = (port: number, path: string, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    return { code: answer.status, text: await answer.text() }
  })

describe("the probe over HTTP", () => {
  it.live("tells what keeps a Manager from being ready, in lines or as JSON (B25)", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* ask(port, "/readyz"), { code: 503, text: "not ready: starting\n" })
        let now = health("starting", "list roles in all namespaces: 403 Forbidden")
        const tell = yield* Manager.OnStart
        tell({ health: Effect.sync(() => now), queues: Effect.succeed([]), nextOf: () => Effect.succeed(undefined) })
        assert.deepStrictEqual(yield* ask(port, "/readyz?verbose"), {
          code: 503,
          text: "not ready: starting\nlist roles in all namespaces: 403 Forbidden\n"
        })
        const { text } = yield* ask(port, "/readyz", { accept: "application/json" })
        assert.deepStrictEqual(JSON.parse(text), {
          ok: false,
          phase: "starting",
          problems: ["list roles in all namespaces: 403 Forbidden"]
        })
        now = health("running")
        assert.deepStrictEqual(yield* ask(port, "/readyz"), { code: 200, text: "ok: running\n" })
        assert.strictEqual((yield* ask(port, "/")).code, 404)
      }).pipe(Effect.provide(HealthProbe.layer({ port, host: "127.0.0.1" })))
      const gone = yield* Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/livez`).then(
          () => "there",
          () => "gone"
        )
      )
      assert.strictEqual(gone, "gone")
    })
  )

  it.live.each([
    ["a port that is taken", (port: number) => ({ port }), /another program listens there: .*EADDRINUSE/],
    ["an address of another machine", () => ({ port: 0, host: "192.0.2.1" }), /no such address.*EADDRNOTAVAIL/],
    ["a port that is none", () => ({ port: 99_999 }), /cannot listen on all addresses, port 99999: /]
  ] as const)("says in one line why it cannot listen: %s", ([, options, expected]) =>
    Effect.gen(function* () {
      const port = yield* freePort
      const first = yield* Layer.build(HealthProbe.layer({ port }))
      assert.isDefined(first)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(HealthProbe.layer(options(port)))))
      assert.instanceOf(error, HealthProbe.HealthProbeError)
      assert.match(error.message, expected)
      assert.notInclude(error.message, "\n")
    }).pipe(Effect.scoped)
  )
})
