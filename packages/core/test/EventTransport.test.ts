import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import { ApiError } from "../src/ApiError.ts"
import { EventPoster, layer, Options } from "../src/EventPoster.ts"
import { elapse, type Fault, refused, world } from "./postingWorld.ts"
import { object } from "./settled.ts"
import { quiet } from "./world.ts"

/** Everything that can run over a client of one's own has run. */
const settled = Effect.repeat(Effect.yieldNow, { times: 30 })

const said = { reason: "Reason", message: "text" }

const unreachable: Fault = () =>
  Effect.fail(
    new ApiError({ verb: "create", resource: "events", reason: { _tag: "Unreachable", message: "connection refused" } })
  )

/** A server that holds each request for half a minute and answers nothing. */
const silent: Fault = () => Effect.andThen(Effect.sleep(30_000), Effect.never)

/** Without what the test clock says of a crowd that is posted in one step. */
const told = (warnings: ReadonlyArray<string>) => warnings.filter((line) => !line.includes("test clock"))

/** In steps of ten seconds: for long times in which little happens. */
const elapseLong = (millis: number) =>
  Effect.repeat(Effect.andThen(TestClock.adjust(10_000), quiet), { times: Math.ceil(millis / 10_000) - 1 })

/** The grace, in steps of a tenth of a second: what is posted in it takes turns of the scheduler, which no step waits for. */
const elapseGrace = Effect.repeat(Effect.andThen(TestClock.adjust(100), quiet), { times: 49 })

/** Each metric of events by its attributes, as numbers. */
const metrics = Effect.map(Metric.snapshot, (all) =>
  Object.fromEntries(
    all
      .filter(({ id }) => id.startsWith("fixpoint_events_"))
      .map(({ attributes, id, state }) => {
        const tags = Object.values(attributes ?? {}).join()
        const { count, value } = state as { readonly count?: number; readonly value?: number }
        return [`${id.replace("fixpoint_events_", "")}${tags === "" ? "" : ` ${tags}`}`, Number(count ?? value)]
      })
  )
)

/** With metrics of its own. */
const measured = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

describe("EventPoster, in an outage of ten minutes", () => {
  const outages: ReadonlyArray<readonly [name: string, Fault, apiReason: string]> = [
    ["answers 500", () => refused(500), "ServerError"],
    ["hangs for half a minute", silent, "Unreachable"],
    ["is not there", unreachable, "Unreachable"],
    ["answers 401", () => refused(401), "Unauthorized"]
  ]
  for (const [name, broken, apiReason] of outages)
    it.effect(
      `a server that ${name} is told once, at most a thousand wait, no Warning is lost, and posting resumes by itself (D17, P18, P20, P21, B84, B87)`,
      () =>
        measured(
          world(({ annotations, fault, poster, stored, warnings }) =>
            Effect.gen(function* () {
              fault.current = broken
              for (let round = 0; round < 60; round++) {
                for (let i = 0; i < 20; i++) yield* poster.info(object({ uid: `n${round}.${i}` }), said)
                for (let i = 0; i < 2; i++) yield* poster.warn(object({ uid: `w${round}.${i}` }), said)
                yield* elapseLong(10_000)
                const { inFlight, waiting } = yield* poster.stats
                assert.isAtMost(waiting, 1_000)
                assert.isAtMost(inFlight, 8)
              }
              assert.strictEqual(warnings.length, 1)
              assert.match(warnings[0]!, /^Failed to post an event/)
              assert.deepInclude(annotations[0], { apiReason, reason: "Reason", object: "Widget ns1/a" })
              fault.current = () => undefined
              yield* elapseLong(90_000)
              const { dropped, inFlight, waiting } = yield* poster.stats
              assert.deepStrictEqual([waiting, inFlight, told(warnings).length], [0, 0, 1])
              const all = yield* stored
              assert.strictEqual(all.length + dropped, 60 * 22)
              assert.strictEqual(all.filter((line) => line.includes("Warning")).length, 120)
              assert.isAtLeast(all.length, 1_000)
              assert.deepStrictEqual(yield* metrics, { posted: all.length, "dropped overflow": dropped, waiting: 0 })
            })
          )
        )
    )

  it.effect(
    "where no namespace takes Events, the log has four lines at most, and each namespace is asked once a minute (P20, B87, D17)",
    () =>
      measured(
        world(({ fault, poster, warnings }) =>
          Effect.gen(function* () {
            let asked = 0
            fault.current = () =>
              Effect.andThen(
                Effect.sync(() => asked++),
                refused(403)
              )
            for (let round = 0; round < 10; round++) {
              for (let i = 0; i < 100; i++) yield* poster.warn(object({ uid: `u${i}`, namespace: `ns${i}` }), said)
              yield* elapseLong(10_000)
            }
            assert.strictEqual(asked, 200)
            assert.strictEqual(warnings.length, 4)
            assert.deepStrictEqual(yield* metrics, { "dropped refused": 1_000, waiting: 0 })
          })
        )
      )
  )

  it.effect("one at a time tries, after pauses that grow from a second to a minute (D17, P20)", () =>
    world(({ end, fault, poster }) =>
      Effect.gen(function* () {
        const asked: Array<number> = []
        fault.current = () =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            asked.push(now / 1_000)
            return refused(500)
          })
        for (let i = 0; i < 20; i++) yield* poster.warn(object({ uid: `u${i}` }), said)
        yield* elapse(185_000)
        assert.deepStrictEqual(asked, [0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 7, 15, 31, 63, 123, 183])
        yield* Effect.all([end, elapse(5_000)], { concurrency: 2 })
      })
    )
  )

  it.effect("a wall clock that is set back by an hour makes no pause longer", () =>
    world(({ fault, poster, stored }) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(10_000_000)
        fault.current = unreachable
        yield* poster.warn(object(), said)
        yield* elapse(70_000)
        fault.current = () => undefined
        yield* TestClock.setTime(6_400_000)
        yield* elapse(60_000)
        yield* poster.warn(object({ uid: "uid2" }), said)
        yield* elapse(1)
        assert.strictEqual((yield* stored).length, 2)
      })
    )
  )
})

describe("EventPoster, at its end", () => {
  const crowd = (poster: EventPoster["Service"]) =>
    Effect.forEach(Array.from({ length: 500 }), (_, i) => poster.warn(object({ uid: `u${i}` }), said), {
      discard: true
    })

  it.effect(
    "five hundred that wait are all posted within the grace, in the middle of the pause of an outage too (P23, D17)",
    () =>
      world(({ end, fault, poster, stored, warnings }) =>
        Effect.gen(function* () {
          fault.current = unreachable
          yield* crowd(poster)
          yield* elapse(70_000)
          fault.current = () => undefined
          yield* Effect.all([end, elapseGrace], { concurrency: 2 })
          assert.deepStrictEqual([(yield* stored).length, told(warnings).length], [500, 1])
        })
      )
  )

  it.effect("they are posted too where the server comes back during the grace (P23, D17)", () =>
    world(({ end, fault, poster, stored, warnings }) =>
      Effect.gen(function* () {
        fault.current = unreachable
        yield* crowd(poster)
        yield* elapse(5_000)
        const heal = Effect.andThen(
          Effect.sleep(2_000),
          Effect.sync(() => (fault.current = () => undefined))
        )
        yield* Effect.all([end, heal, elapseGrace], { concurrency: 3 })
        assert.deepStrictEqual([(yield* stored).length, told(warnings)], [500, []])
      })
    )
  )

  it.effect("what is left after the grace is counted as dropped, and told in one line (P23, D17)", () =>
    measured(
      world(({ end, fault, poster, warnings }) =>
        Effect.gen(function* () {
          fault.current = unreachable
          yield* crowd(poster)
          yield* Effect.all([end, elapseGrace], { concurrency: 2 })
          yield* poster.warn(object({ uid: "late" }), said)
          assert.deepStrictEqual(warnings, [
            "500 events were not posted in time and are lost: create events: Unreachable: connection refused"
          ])
          assert.deepStrictEqual(yield* poster.stats, { waiting: 0, inFlight: 0, dropped: 501 })
          assert.deepStrictEqual(yield* metrics, { "dropped shutdown": 501 })
        })
      )
    )
  )

  it.effect(
    "an operator that is interrupted, as by SIGTERM, waits for what it said like one that ends (P23, D17)",
    () =>
      Effect.gen(function* () {
        let posted = 0
        const create = () =>
          Effect.andThen(
            Effect.sleep(100),
            Effect.sync(() => posted++)
          )
        const api = Layer.succeed(ApiClient, { create, patch: create } as unknown as ApiClient["Service"])
        const operator = yield* EventPoster.use((poster) =>
          Effect.forEach(Array.from({ length: 100 }), (_, i) => poster.warn(object({ uid: `u${i}` }), said))
        ).pipe(Effect.andThen(Effect.never), Effect.provide(Layer.provide(layer, api)), Effect.forkChild)
        yield* quiet
        yield* Effect.all([Fiber.interrupt(operator), elapseGrace], { concurrency: 2 })
        assert.strictEqual(posted, 100)
      })
  )
})

describe("EventPoster, beside faults of the program", () => {
  /** A poster over a client that answers as `create` does. */
  const over = <A, E>(
    create: () => Effect.Effect<any, ApiError>,
    logger: Logger.Logger<unknown, unknown>,
    body: (poster: EventPoster["Service"]) => Effect.Effect<A, E>
  ) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const api = { create, patch: create } as unknown as ApiClient["Service"]
      const context = yield* Layer.buildWithScope(
        Layer.provide(layer, Layer.merge(Layer.succeed(ApiClient, api), Logger.layer([logger]))),
        scope
      )
      const result = yield* Effect.provideContext(EventPoster.use(body), context)
      yield* Effect.all([Scope.close(scope, Exit.void), elapse(6_000)], { concurrency: 2 })
      return result
    })

  const answers: ReadonlyArray<readonly [name: string, () => Effect.Effect<any, ApiError>]> = [
    [
      "throws",
      () => {
        throw new Error("boom")
      }
    ],
    ["dies", () => Effect.die("boom")],
    ["interrupts itself", () => Effect.interrupt],
    ["fails with what is no ApiError", () => Effect.fail("boom" as unknown as ApiError)],
    [
      "fails with an error that cannot be read",
      () => Effect.fail(new ApiError({ verb: "create", resource: "events", reason: { _tag: "Invalid" } as any }))
    ]
  ]
  for (const [name, create] of answers)
    it.effect(`a client that ${name} costs the Event alone, and a line a minute (P22, D17)`, () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        let isBroken = true
        const logger = Logger.make(({ logLevel, message }) => {
          if (logLevel === "Warn") lines.push(String(Array.isArray(message) ? message[0] : message))
        })
        yield* over(
          () => (isBroken ? create() : Effect.succeed({})),
          logger,
          (poster) =>
            Effect.gen(function* () {
              for (let i = 0; i < 30; i++) yield* poster.warn(object({ uid: `u${i}` }), said)
              yield* elapse(5_000)
              assert.deepStrictEqual(yield* poster.stats, { waiting: 0, inFlight: 0, dropped: 30 })
              isBroken = false
              yield* poster.warn(object(), said)
              yield* elapse(1)
              assert.deepStrictEqual(yield* poster.stats, { waiting: 0, inFlight: 0, dropped: 30 })
            })
        )
        assert.deepStrictEqual(lines, ["Failed to post an event. It is ignored"])
      })
    )

  it.effect("a logger that throws stops no posting", () =>
    Effect.gen(function* () {
      let posts = 0
      const logger = Logger.make(() => {
        throw new Error("disk full")
      })
      yield* over(
        () => (posts++ < 13 ? refused(500) : Effect.succeed({})),
        logger,
        (poster) =>
          Effect.gen(function* () {
            for (let i = 0; i < 30; i++) yield* poster.warn(object({ uid: `u${i}` }), said)
            yield* elapse(200_000)
            assert.deepStrictEqual(yield* poster.stats, { waiting: 0, inFlight: 0, dropped: 0 })
          })
      )
    })
  )

  it.effect("an object that throws where it is read costs its own Event, and whoever says it nothing (P22, D17)", () =>
    world(({ poster, stored }) =>
      Effect.gen(function* () {
        const trap = {
          apiVersion: "v1",
          kind: "Trap",
          metadata: {
            name: "t",
            namespace: "ns1",
            get uid(): string {
              throw new Error("boom")
            }
          }
        }
        const exit = yield* Effect.exit(poster.warn([trap, object()], said))
        yield* elapse(1)
        assert.isTrue(Exit.isSuccess(exit), Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
        yield* poster.warn(object(), said)
        yield* elapse(1)
        assert.isAtLeast((yield* stored).length, 1)
      })
    )
  )
})

describe("EventPoster, whatever the server does", () => {
  const Act = Schema.Struct({
    act: Schema.Literals(["say", "say", "crowd", "server", "elapse", "elapse"]),
    uid: Schema.Literals(["u1", "u2", "u3", "u4", "u5", "u6"]),
    isWarning: Schema.Boolean,
    server: Schema.Literals(["fine", "500", "429", "silent", "refuses", "gone", "invalid", "bug", "poison"]),
    millis: Schema.Literals([1, 1_000, 10_000, 100_000])
  })
  const answers: Readonly<Record<(typeof Act.Type)["server"], (name: string) => Effect.Effect<unknown, ApiError>>> = {
    fine: () => Effect.void,
    "500": () => refused(500),
    "429": () => refused(429, {}, 30),
    silent: () => Effect.never,
    refuses: () => refused(403),
    gone: () => refused(404),
    invalid: () => refused(422, { details: { name: "e" } }),
    bug: () => Effect.die("bug"),
    poison: (name) => (name < "fixpoint-8" ? refused(500) : Effect.void)
  }

  it.effect.prop(
    "once it is well all that waits is posted, with no further saying, and each saying is posted or counted as dropped (D17, P18, P20, P22, B87)",
    [Arbitrary.array(Arbitrary.schema(Act), { maxLength: 20 })],
    ([acts]) =>
      measured(
        Effect.gen(function* () {
          let server: (typeof Act.Type)["server"] = "fine"
          const scope = yield* Scope.make()
          const create = (_: unknown, { metadata }: any) => Effect.suspend(() => answers[server](metadata.name))
          const patch = (_: unknown, { name }: any) => Effect.suspend(() => answers[server](name))
          const api = { create, patch } as unknown as ApiClient["Service"]
          const context = yield* Layer.buildWithScope(
            Layer.provide(
              layer,
              Layer.mergeAll(
                Layer.succeed(ApiClient, api),
                Layer.succeed(Options, { capacity: 5, concurrency: 2 }),
                Logger.layer([])
              )
            ),
            scope
          )
          const poster = yield* Effect.provideContext(EventPoster, context)
          let sayings = 0
          const say = (uid: string, isWarning: boolean) => {
            sayings++
            return isWarning ? poster.warn(object({ uid }), said) : poster.info(object({ uid }), said)
          }
          for (const { act, isWarning, millis, server: next, uid } of acts) {
            if (act === "say") yield* say(uid, isWarning)
            else if (act === "crowd") for (let i = 0; i < 8; i++) yield* say(`${uid}.${sayings}`, isWarning)
            else if (act === "server") server = next
            else yield* Effect.andThen(TestClock.adjust(millis), settled)
            const { inFlight, waiting } = yield* poster.stats
            assert.isAtMost(waiting, 5)
            assert.isAtMost(inFlight, 2)
          }
          server = "fine"
          for (let i = 0; i < 12; i++) yield* Effect.andThen(TestClock.adjust(10_000), settled)
          const { dropped, inFlight, waiting } = yield* poster.stats
          assert.deepStrictEqual([waiting, inFlight], [0, 0])
          assert.strictEqual(((yield* metrics).posted ?? 0) + dropped, sayings)
          yield* Scope.close(scope, Exit.void)
        })
      ),
    { arbitrary: { runs: 1_000 }, timeout: 240_000 }
  )
})

describe("EventPoster, in numbers", () => {
  it.effect(
    "posts and drops are counted by their cause, without what the pass of the caller is marked with (B84, B87)",
    () =>
      measured(
        world(
          ({ fault, poster }) =>
            Effect.gen(function* () {
              const say = (namespace: string, uid: string) =>
                Effect.provideService(poster.warn(object({ namespace, uid }), said), Metric.CurrentMetricAttributes, {
                  pass: "7"
                })
              fault.current = (_, namespace) =>
                ({
                  refusing: refused(403),
                  odd: refused(422),
                  buggy: Effect.die("bug"),
                  stuck: refused(500)
                })[namespace ?? ""]
              for (const namespace of ["ns1", "ns1", "refusing", "odd", "buggy", "gone", "stuck"])
                yield* say(namespace, "u")
              for (let i = 0; i < 10; i++) {
                yield* elapse(1_000)
                yield* say("ns2", `u${i}`)
              }
              yield* elapse(5_000)
              fault.current = () => Effect.never
              for (let i = 0; i < 40; i++) yield* say("ns1", `v${i}`)
              assert.deepStrictEqual(yield* metrics, {
                posted: 12,
                waiting: 30,
                "dropped refused": 1,
                "dropped invalid": 1,
                "dropped defect": 1,
                "dropped gone": 1,
                "dropped failed": 1,
                "dropped overflow": 10
              })
              fault.current = () => undefined
              yield* elapse(30_000)
            }),
          { capacity: 30 }
        )
      )
  )
})
