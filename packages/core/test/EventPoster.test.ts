import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { EventPoster, kopf as kopfOptions, layerMemory, layerNone, Recorded } from "../src/EventPoster.ts"
import { kopf, PostingPolicy, standard } from "../src/PostingPolicy.ts"
import { elapse, type Fault, refused, world, zone } from "./postingWorld.ts"
import { object } from "./settled.ts"
import { events } from "./world.ts"

const said = { reason: "Reason", message: "text" }

describe("EventPoster", () => {
  it.effect(
    "an Event lies beside its object and bears the time of the saying, not of the posting (P11, P13, B80, D17)",
    () =>
      world(({ poster, server, stored }) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(1_000_500)
          yield* server.hook({ before: () => Effect.sleep(4_000) })
          yield* poster.warn(object(), said)
          yield* elapse(5_000)
          assert.deepStrictEqual(yield* stored, ["ns1 Warning Reason x1: text"])
          const [event] = (yield* server.objects(events)) as ReadonlyArray<any>
          assert.deepInclude(event, {
            eventTime: "1970-01-01T00:16:40.500000Z",
            lastTimestamp: "1970-01-01T00:16:40Z",
            action: "Reason"
          })
          assert.deepInclude(event.involvedObject, { kind: "Widget", name: "a", namespace: "ns1", uid: "uid1" })
          assert.deepInclude(event, { reportingComponent: "fixpoint", reportingInstance: "fixpoint" })
        })
      )
  )

  it.effect("one in cluster scope is told of in default, or where kopf tells of it (D20, B80)", () =>
    world(({ poster, server, stored }) =>
      Effect.gen(function* () {
        yield* poster.info(zone, said)
        yield* Effect.provideService(poster.info(zone, { ...said, reason: "Kopf" }), PostingPolicy, kopf)
        yield* elapse(1)
        assert.sameMembers([...(yield* stored)], ["default Normal Reason x1: text", "operators Normal Kopf x1: text"])
        const involved = ((yield* server.objects(events)) as ReadonlyArray<any>).map(
          (event) => event.involvedObject.namespace
        )
        assert.sameMembers(involved, [undefined, "operators"])
      })
    )
  )

  it.effect("one that takes over from kopf posts under its names what kopf posts by default (P9, P11, P13)", () =>
    world(
      ({ poster, server }) =>
        Effect.gen(function* () {
          const quietly = { inPass: true, housekeeping: false, passesLogger: true, besideWarning: false } as const
          yield* Effect.provideService(
            Effect.all([
              poster.info(zone, said),
              poster.say({ _tag: "log", about: zone, level: "Error", message: "logged", ...quietly }),
              poster.event(zone, { ...said, type: "Debug", reason: "Whatever" })
            ]),
            PostingPolicy,
            kopf
          )
          yield* elapse(1)
          const stored = (yield* server.objects(events)) as ReadonlyArray<any>
          assert.sameMembers(
            stored.map(({ reason, type }) => `${type} ${reason}`),
            ["Normal Reason", "Debug Whatever"]
          )
          for (const event of stored) {
            assert.match(event.metadata.name, /^kopf-event-/)
            assert.deepInclude(event, { reportingComponent: "kopf", reportingInstance: "dev" })
            assert.deepStrictEqual(event.source, { component: "kopf" })
            assert.deepStrictEqual(
              [event.metadata.namespace, event.involvedObject.namespace],
              ["operators", "operators"]
            )
          }
        }),
      kopfOptions
    )
  )

  it.effect("the policy of the caller decides, its asymmetries included (P1, P2, P3, P4, D15)", () =>
    world(({ poster, stored }) =>
      Effect.gen(function* () {
        const off = { ...standard, enabled: false }
        yield* Effect.provideService(
          Effect.all([
            poster.event(object(), { type: "Normal", ...said }),
            poster.info(object(), said),
            poster.warn(object(), said),
            poster.exception(object(), new Error("boom"))
          ]),
          PostingPolicy,
          off
        )
        yield* poster.exception([object(), [object({ name: "b", uid: "uid2" })]], new TypeError("boom"), {
          message: "while"
        })
        yield* elapse(1)
        assert.sameMembers(
          [...(yield* stored)],
          ["ns1 Warning Reason x1: text", "ns1 Error TypeError x1: while boom", "ns1 Error TypeError x1: while boom"]
        )
      })
    )
  )

  it.effect(
    "saying takes no time and never fails, whatever the server does: refused, broken or silent (P18, P21, P22, B87)",
    () =>
      Effect.forEach(
        [
          [() => refused(403), { waiting: 0, dropped: 40 }],
          [() => refused(500), { waiting: 40, dropped: 0 }],
          [() => Effect.never, { waiting: 40, dropped: 0 }],
          [() => Effect.die(new Error("a bug in the client")), { waiting: 0, dropped: 40 }]
        ] as ReadonlyArray<readonly [Fault, { readonly waiting: number; readonly dropped: number }]>,
        ([broken, left]) =>
          world(({ end, fault, poster, stored }) =>
            Effect.gen(function* () {
              fault.current = broken
              for (let i = 0; i < 40; i++) yield* poster.warn(object({ uid: `u${i}` }), said)
              yield* elapse(120_000)
              assert.deepStrictEqual(yield* stored, [])
              const { dropped, inFlight, waiting } = yield* poster.stats
              assert.deepStrictEqual({ dropped, waiting: waiting + inFlight }, left)
              yield* Effect.all([end, elapse(5_000)], { concurrency: 2 })
            })
          ),
        { discard: true }
      )
  )

  it.effect(
    "a namespace that refuses is told of once and asked again once a minute, not once an Event (P20, B81, B87, D17)",
    () =>
      world(({ fault, poster, stored, warnings }) =>
        Effect.gen(function* () {
          let asked = 0
          fault.current = (_, namespace) =>
            namespace === "ns1"
              ? Effect.andThen(
                  Effect.sync(() => asked++),
                  refused(403)
                )
              : undefined
          for (let i = 0; i < 120; i++) {
            yield* poster.warn(object({ uid: `u${i}` }), said)
            yield* poster.warn(object({ uid: `v${i}`, namespace: "ns2" }), said)
            yield* elapse(1_000)
          }
          assert.strictEqual(asked, 2)
          assert.deepStrictEqual([warnings.length, (yield* stored).length], [1, 120])
          assert.match(warnings[0]!, /^Failed to post an event\..* 403 Forbidden/)
          assert.strictEqual((yield* poster.stats).dropped, 120)
          fault.current = () => undefined
          yield* elapse(60_000)
          yield* poster.warn(object({ uid: "after" }), said)
          yield* elapse(1)
          assert.strictEqual((yield* stored).filter((line) => line.startsWith("ns1")).length, 1)
        })
      )
  )

  it.effect(
    "an object whose namespace is going or gone disturbs nothing, and its Event with the old uid is dropped (B81, B82)",
    () =>
      world(({ fault, poster, warnings }) =>
        Effect.gen(function* () {
          const body = { details: { causes: [{ reason: "NamespaceTerminating" }] } }
          fault.current = (_, namespace) => (namespace === "ns1" ? refused(403, body) : undefined)
          yield* poster.info(object(), { reason: "Deleted", message: "Deleted it" })
          yield* poster.info(object({ namespace: "gone" }), { reason: "Deleted", message: "Deleted it" })
          yield* elapse(10_000)
          assert.strictEqual(warnings.length, 1)
          assert.match(warnings[0]!, /NamespaceTerminating/)
          assert.deepInclude(yield* poster.stats, { waiting: 0, inFlight: 0, dropped: 2 })
        })
      )
  )

  it.effect("where default refuses, cluster-scoped Events go to the operator's own namespace, told once (D20)", () =>
    world(({ fault, poster, stored, warnings }) =>
      Effect.gen(function* () {
        fault.current = (_, namespace) => (namespace === "default" ? refused(403) : undefined)
        for (let i = 0; i < 5; i++) {
          yield* poster.warn({ ...zone, metadata: { name: "z", uid: `z${i}` } }, said)
          yield* elapse(1)
        }
        assert.deepStrictEqual(
          yield* stored,
          Array.from({ length: 5 }, () => "operators Warning Reason x1: text")
        )
        assert.strictEqual(warnings.length, 1)
      })
    )
  )

  it.effect(
    "while the server is away Events wait, Normals give way to Warnings, and what gave way is counted and told once (B84, B87, D17)",
    () =>
      world(
        ({ fault, poster, stored, warnings }) =>
          Effect.gen(function* () {
            fault.current = () => Effect.never
            for (let i = 0; i < 60; i++) {
              yield* poster.info(object({ uid: `n${i}` }), said)
              if (i < 10) yield* poster.warn(object({ uid: `w${i}` }), said)
            }
            yield* elapse(1)
            assert.deepStrictEqual(yield* poster.stats, { waiting: 18, inFlight: 2, dropped: 50 })
            fault.current = () => undefined
            yield* elapse(30_000)
            assert.deepStrictEqual(warnings, [
              "50 events were dropped because more than 20 waited to be posted: the oldest, Normals first"
            ])
            assert.strictEqual((yield* stored).filter((line) => line.includes("Warning")).length, 10)
          }),
        { capacity: 20, concurrency: 2 }
      )
  )

  it.effect("Retry-After is kept, and a server error is tried again (D4, B19)", () =>
    world(({ fault, poster, requests }) =>
      Effect.gen(function* () {
        let asked = 0
        fault.current = () => (asked++ === 0 ? refused(429, {}, 7) : asked === 2 ? refused(500) : undefined)
        yield* poster.warn(object(), said)
        yield* elapse(6_999)
        assert.strictEqual(asked, 1)
        yield* elapse(1)
        assert.strictEqual(asked, 2)
        yield* elapse(2_000)
        assert.deepStrictEqual([asked, yield* requests], [3, ["create 201"]])
      })
    )
  )

  it.effect(
    "the end waits for what is said and not posted, within its grace, and tells what is lost (P23, B92, D17)",
    () =>
      Effect.gen(function* () {
        yield* world(({ end, fault, poster, stored, warnings }) =>
          Effect.gen(function* () {
            fault.current = () => Effect.sleep(1_000)
            for (let i = 0; i < 20; i++) yield* poster.warn(object({ uid: `u${i}` }), said)
            yield* Effect.all([end, elapse(4_000)], { concurrency: 2 })
            assert.deepStrictEqual([(yield* stored).length, warnings], [20, []])
          })
        )
        yield* world(({ end, fault, poster, warnings }) =>
          Effect.gen(function* () {
            fault.current = () => Effect.never
            for (let i = 0; i < 20; i++) yield* poster.warn(object({ uid: `u${i}` }), said)
            yield* Effect.all([end, elapse(5_000)], { concurrency: 2 })
            assert.deepStrictEqual(warnings, ["20 events were not posted in time and are lost"])
          })
        )
      })
  )
})

describe("EventPoster, without a server", () => {
  it.effect("in memory it keeps what was decided, in order (D15)", () =>
    Effect.gen(function* () {
      const poster = yield* EventPoster
      yield* poster.say({ _tag: "info", about: [object(), zone], reason: "A", message: "a", at: 5 })
      yield* Effect.provideService(poster.info(object(), said), PostingPolicy, { ...standard, enabled: false })
      yield* poster.warn(zone, said)
      const recorded = yield* Recorded
      assert.deepStrictEqual(
        (yield* recorded.said).map(({ about, at, reason, type }) => [about.metadata.name, type, reason, at]),
        [
          ["a", "Normal", "A", 5],
          ["z", "Normal", "A", 5],
          ["z", "Warning", "Reason", 0]
        ]
      )
      yield* recorded.clear
      assert.deepStrictEqual(yield* recorded.said, [])
    }).pipe(Effect.provide(layerMemory))
  )

  it.effect("none posts nothing", () =>
    Effect.gen(function* () {
      yield* (yield* EventPoster).warn(object(), said)
      assert.deepStrictEqual(Option.fromNullishOr((yield* (yield* EventPoster).stats).waiting), Option.some(0))
    }).pipe(Effect.provide(layerNone))
  )
})
