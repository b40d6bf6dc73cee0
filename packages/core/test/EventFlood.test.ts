import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import * as Controller from "../src/Controller.ts"
import * as Event from "../src/Event.ts"
import * as Kind from "../src/Kind.ts"
import * as Manager from "../src/Manager.ts"
import { Temporary } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { countOf, type Course, type Flood, flooding, River, river, toldOf } from "./eventFlood.ts"
import { events, quiet } from "./world.ts"

const server = () =>
  ApiServer.layer({
    kinds: [Kind.customResourceDefinition(River)],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }, river("team")]
  })

/** In steps, so that requests get on between. */
const elapse = (total: Duration.Input) =>
  Effect.gen(function* () {
    yield* quiet
    const step = 10_000
    for (let left = Duration.toMillis(total); left > 0; left -= step) {
      yield* TestClock.adjust(Math.min(step, left))
      yield* quiet
    }
  })

/** Runs a Manager from its start to its orderly end, for so long. */
const run = (flood: Flood, course: Course, time: Duration.Input) =>
  elapse(time).pipe(Effect.provide(Layer.fresh(Manager.layer([flooding(flood, course)]))), Effect.andThen(quiet))

/** The same until the flood is over, in so many minutes; in more where the machine is so busy that the test clock does not wait for it. */
const runOut = (flood: Flood, course: Course, minutes: number) =>
  Effect.gen(function* () {
    let over = minutes
    yield* elapse(Duration.minutes(minutes))
    for (; flood.passes < flood.end && over < 10 * minutes; over++) yield* elapse("1 minute")
    yield* elapse("1 minute")
    return over
  }).pipe(Effect.provide(Layer.fresh(Manager.layer([flooding(flood, course)]))))

const requests = (of: string) =>
  Effect.map(
    ApiServer.ApiServer.use(({ log }) => log),
    (log) => log.filter(({ code, operation }) => `${operation.verb} ${operation.resource} ${code}` === of).length
  )

const ready = Effect.map(
  ApiClient.use((api) => api.get(River, { namespace: "team", name: "rhine" })),
  ({ status }) => (status as any).conditions.find((one: any) => one.type === "Ready")
)

const inWorld = <A, E>(test: Effect.Effect<A, E, ApiServer.ApiServer | ApiClient>) =>
  test.pipe(Effect.provide(server()), Effect.provide(Logger.layer([])))

const same = () => "the dyke is broken"
const other = (pass: number) => `the dyke is broken in ${pass} places`

describe("floods of events, on a whole Manager", () => {
  it.effect(
    "10,000 failing passes with one text are one Event that counts them, and one write of the status (B83, D18)",
    () =>
      inWorld(
        Effect.gen(function* () {
          const flood = { passes: 0, end: 10_000 }
          yield* runOut(flood, { every: "1 second", text: same }, 170)
          assert.strictEqual(flood.passes, 10_000)
          assert.deepStrictEqual(yield* toldOf("team"), [
            { reason: "ReconcileFailed", message: "reconciling failed: the dyke is broken", count: 10_000 }
          ])
          assert.strictEqual(yield* requests("create events 201"), 1)
          assert.strictEqual(yield* requests("apply rivers.flood.example.com/status 200"), 1)
        })
      ),
    300_000
  )

  for (const [time, every, minutes] of [
    ["five minutes", "30 millis", 5],
    ["forty minutes", "240 millis", 40]
  ] as const)
    it.effect(
      `10,000 failing passes with another text each within ${time} are at most 12 Events that count them all, and one rewrite a minute of the condition's message alone (D18)`,
      () =>
        inWorld(
          Effect.gen(function* () {
            const flood = { passes: 0, end: 10_000 }
            const over = yield* runOut(flood, { every, text: other }, minutes)
            assert.strictEqual(flood.passes, 10_000)
            const told = yield* toldOf("team")
            assert.isAtMost(told.length, 12)
            assert.strictEqual(countOf(told), 10_000)
            assert.deepInclude(
              told.map(({ message }) => message),
              "(combined from similar events): reconciling failed: the dyke is broken in 10000 places"
            )
            const writes = yield* requests("apply rivers.flood.example.com/status 200")
            assert.isTrue(writes >= minutes && writes <= 1 + over, `${writes} writes of the status`)
            const { lastTransitionTime, reason, status } = yield* ready
            assert.deepStrictEqual(
              { lastTransitionTime, reason, status },
              { lastTransitionTime: "1970-01-01T00:00:00Z", reason: "ReconcileFailed", status: "False" }
            )
          })
        ),
      300_000
    )

  it.effect("forty Warnings for forty reasons within a minute on one object are all there (B84)", () =>
    inWorld(
      Effect.gen(function* () {
        const flood = { passes: 0, end: 40 }
        yield* run(flood, { every: "1 second", warns: (pass) => `Reason${pass}` }, "1 minute")
        const told = (yield* toldOf("team")).filter(({ message }) => message === "it rises")
        assert.sameMembers(
          told.map(({ count, reason }) => `${reason} x${count}`),
          Array.from({ length: 40 }, (_, i) => `Reason${i + 1} x1`)
        )
      })
    )
  )

  it.effect("a restart in the midst of a flood goes on counting on the same Event, and loses none (B83, P23)", () =>
    inWorld(
      Effect.gen(function* () {
        const flood = { passes: 0, end: 1_200 }
        for (const seconds of [400, 200, 1_200])
          yield* run(flood, { every: "1 second", text: same }, `${seconds} seconds`)
        assert.strictEqual(flood.passes, 1_200)
        assert.deepStrictEqual(
          (yield* toldOf("team")).map(({ count }) => count),
          [1_200]
        )
      })
    )
  )

  it.effect("a restart in a flood of texts forgets which were said: ten more Events at most (D18)", () =>
    inWorld(
      Effect.gen(function* () {
        const flood = { passes: 0, end: 600 }
        yield* run(flood, { every: "1 second", text: other }, "5 minutes")
        yield* run(flood, { every: "1 second", text: other }, "10 minutes")
        assert.strictEqual(flood.passes, 600)
        const told = yield* toldOf("team")
        assert.strictEqual(told.length, 21)
        assert.strictEqual(countOf(told), 600)
      })
    )
  )

  it.effect("an Event that the server forgets in the midst of a flood comes again, counting from then (B85)", () =>
    inWorld(
      Effect.gen(function* () {
        const flood = { passes: 0, end: 800 }
        let before = 0
        yield* Effect.gen(function* () {
          yield* elapse("400 seconds")
          before = flood.passes
          const api = yield* ApiClient
          const [event] = (yield* api.list(events, { namespace: "team" })).items
          yield* api.delete(events, { namespace: "team", name: event!.metadata.name })
          yield* elapse("1 hour")
        }).pipe(Effect.provide(Manager.layer([flooding(flood, { every: "1 second", text: same })])))
        assert.isTrue(before > 300 && before < 500, `${before} passes before`)
        assert.deepStrictEqual(
          (yield* toldOf("team")).map(({ count }) => count),
          [800 - before]
        )
      })
    )
  )

  it.effect("the flood of one object keeps no Warning of another waiting, however slow the server (B84)", () =>
    inWorld(
      Effect.gen(function* () {
        let passes = 0
        const controller = Controller.make({
          for: River,
          reconciler: Reconciler.fromEffect(River, (object) =>
            object.metadata.name === "elbe"
              ? Event.warn({ reason: "Low", message: "it dries up" })
              : Effect.suspend(() => new Temporary({ message: other(++passes), delay: "20 millis" }))
          )
        })
        const server = yield* ApiServer.ApiServer
        let slow = true
        yield* server.hook({
          before: ({ operation }) => (slow && operation.resource === "events" ? Effect.sleep(400) : Effect.void)
        })
        yield* Effect.gen(function* () {
          yield* elapse("20 seconds")
          const elbe = river("team")
          yield* ApiClient.use((api) => api.create(River, { ...elbe, metadata: { ...elbe.metadata, name: "elbe" } }))
          yield* elapse("2 seconds")
          const said = passes
          const low = (yield* server.objects(events)).filter(({ reason }) => reason === "Low")
          // Nobody moves the clock at the end.
          slow = false
          yield* elapse("1 second")
          assert.deepStrictEqual([low.length, said > 500], [1, true], `${said} passes`)
        }).pipe(Effect.provide(Manager.layer([controller])))
      }).pipe(Effect.scoped)
    )
  )
})
