/** The operator as a process whose connections and whose server fail it, on a real control plane. */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { atRest, outage, relists, stalled } from "./disturbances.ts"
import { direct, install } from "./livingWorld.ts"

/** Its own, since its API server is stopped. */
const cluster = Layer.effectDiscard(install).pipe(
  Layer.provideMerge(direct),
  Layer.provideMerge(ControlPlane.layer({ controllers: true })),
  Layer.merge(Logger.layer([]))
)

describe.runIf(ControlPlane.available())("an operator on a real cluster", () => {
  layer(cluster, { timeout: 60_000, excludeTestServices: true })("of its own", (it) => {
    describe("behind bad connections", () => {
      it.effect.each(["FIN", "RST"] as const)(
        "whose watches end by %s goes on where they were, and misses nothing that happens meanwhile (B3, B7)",
        (how) =>
          Effect.gen(function* () {
            const world = yield* atRest(`cut-${how.toLowerCase()}`, 101)
            const [cut] = yield* Effect.all([world.proxy.cutWatches(how), Effect.forEach(world.acts, world.act)], {
              concurrency: "unbounded"
            })
            assert.strictEqual(cut, 3)
            yield* world.rests
            const log = yield* world.proxy.log
            assert.deepStrictEqual(relists(log), [])
            assert.isAtMost(log.filter(({ watch }) => watch).length, 6)
          }).pipe(Effect.scoped),
        120_000
      )

      it.effect.each(["FIN", "RST"] as const)(
        "whose watch is cut by %s inside a character takes no half of a line, and goes on before it (B10, B12)",
        (how) =>
          Effect.gen(function* () {
            const { act, operator, proxy, rests } = yield* atRest(`torn-${how.toLowerCase()}`, 102)
            // Watches that are opened from now on.
            yield* proxy.add({
              match: { watch: true, path: /\/roles$/ },
              at: { insideLine: /日本/ },
              deeds: [FaultProxy.delay(50), FaultProxy.cut(how)]
            })
            yield* proxy.cutWatches("FIN")
            yield* Effect.sleep("1 second")
            yield* proxy.clearLog
            const rules = [{ resource: "日本の本", verbs: ["read"] }]
            yield* act({ do: "set role", name: "library", wish: { scope: "docs", rules } })
            yield* rests
            const log = yield* proxy.log
            assert.deepStrictEqual(relists(log), [])
            assert.isAtLeast(log.filter(({ path, watch }) => watch && path.endsWith("/roles")).length, 1, "it was torn")
            assert.notInclude(operator.output(), "\uFFFD")
          }).pipe(Effect.scoped),
        120_000
      )

      it.effect(
        "whose watches are half-open notices by their silence, and goes on without a list (B5)",
        () =>
          Effect.gen(function* () {
            const world = yield* atRest("half-open", 103, { idleLimit: 3_000 })
            const came = yield* stalled(world)
            // One may just be renewed, since servers say nothing for a minute.
            assert.isAtLeast(came.watches, 1)
            assert.strictEqual(came.relists, 0)
            assert.isAtMost(came.restMillis, 60_000)
            assert.match(world.operator.output(), /no byte in 3 s/)
          }).pipe(Effect.scoped),
        120_000
      )

      it.effect(
        "whose answers are lost, refused, late or never there does all that is wished for, and nothing twice (B5, B19, B62)",
        () =>
          Effect.gen(function* () {
            const { act, acts, operator, proxy, rests } = yield* atRest("lost", 104, { requestTimeout: 3_000 })
            const path = (path: RegExp) => ({ match: { path }, times: 2 })
            const lost = { at: "answer", deeds: [FaultProxy.cut("RST")] } as const
            const refused = (code: number, seconds?: number) =>
              ({ nth: 3, at: "request", deeds: [FaultProxy.answer(code, seconds)] }) as const
            for (const one of [/\/configmaps\//, /\/status$/, /\/events/, /\/roles\/[^/]+$/]) {
              yield* proxy.add({ ...path(one), ...lost })
              yield* proxy.add({ ...path(one), ...refused(503) })
              yield* proxy.add({ ...path(one), ...refused(429, 1), nth: 5 })
              yield* proxy.add({ ...path(one), nth: 6, at: "answer", deeds: [FaultProxy.delay(1_500)] })
              yield* proxy.add({ ...path(one), nth: 7, times: 1, at: "answer", deeds: [FaultProxy.stall] })
            }
            yield* Effect.forEach(acts, act)
            yield* rests
            assert.notMatch(operator.output(), /internal error| broke/)
          }).pipe(Effect.scoped),
        120_000
      )

      it.effect(
        "that cannot reach its server for a while goes on with its watches where they were, and lists nothing anew (B6, B7)",
        () =>
          Effect.gen(function* () {
            const { act, acts, operator, proxy, rests } = yield* atRest("unreachable", 105)
            yield* proxy.add({ match: {}, times: Infinity, at: "request", deeds: [FaultProxy.cut("RST")] })
            yield* proxy.cutWatches("RST")
            yield* Effect.forEach(acts, (one) => Effect.delay(act(one), "500 millis"))
            const asked = yield* proxy.log
            const lines = asked.map(({ method, path, watch }) => `${watch ? "watch" : method} ${path}`)
            // Each watch tries after 0.5 s, 1 s, 2 s and so on, and so does an event that waits to be posted.
            assert.isAtMost(asked.filter(({ watch }) => watch).length, 3 * 8, lines.join("\n"))
            assert.isAtMost(asked.filter(({ watch }) => !watch).length, 8, lines.join("\n"))
            yield* proxy.heal
            yield* proxy.clearLog
            yield* rests
            assert.deepStrictEqual(relists(yield* proxy.log), [], operator.output())
          }).pipe(Effect.scoped),
        120_000
      )
    })

    it.effect(
      "outlives an outage of its server, tells it in few lines, comes back by itself, and lists each kind once at most (B6, B7, B21)",
      () =>
        Effect.gen(function* () {
          const world = yield* atRest("outage", 106)
          const came = yield* outage(world, 12)
          assert.isAtLeast(came.lines, 1)
          // Three kinds, each with a try after 0.5 s, 1 s, 2 s and so on.
          assert.isAtMost(came.lines, 3 * 7, world.operator.output())
          assert.isAtMost(came.requests, 3 * 7)
          // A server that starts has no history, so a version of before may be too old for it.
          assert.isAtMost(came.relists, 3)
        }).pipe(Effect.scoped),
      180_000
    )
  })
})
