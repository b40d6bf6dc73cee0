import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { formatResource } from "../src/ApiClient.ts"
import { EventPoster, layer, layerEventsV1 } from "../src/EventPoster.ts"
import { coreV1, eventsV1 } from "../src/internal/eventsApi.ts"
import type { Subject } from "../src/PostingPolicy.ts"
import { countOn, elapse, namespace, refused, world, zone } from "./postingWorld.ts"
import { object } from "./settled.ts"
import { events, quiet } from "./world.ts"

const said = { reason: "Reason", message: "text" }

/** A server that outlives posters, and what is stored on it. */
const lasting = Effect.gen(function* () {
  const server = yield* Layer.build(ApiServer.layer({ objects: [namespace("ns1")], seed: 1 }))
  const start = (poster: typeof layer) =>
    EventPoster.use((poster) => Effect.andThen(poster.warn(object(), said), elapse(1))).pipe(
      Effect.provide(poster, { local: true }),
      Effect.provideContext(server)
    )
  const counts = ApiServer.ApiServer.use(({ objects }) => objects(events)).pipe(
    Effect.map((all) => all.map(countOn)),
    Effect.provideContext(server)
  )
  return { start, counts }
})

describe.each([
  ["core/v1", layer, coreV1],
  ["events.k8s.io/v1", layerEventsV1, eventsV1]
] as const)("EventPoster through %s", (_, poster, { resource }) => {
  it.effect(
    "repeats are one Event whose count grows by patches; one that the server forgot begins anew with one (D18, B83, B85)",
    () =>
      world(
        ({ api, poster, requests, server, stored }) =>
          Effect.gen(function* () {
            for (let i = 0; i < 3; i++) {
              yield* poster.warn(object(), said)
              yield* elapse(60_000)
            }
            assert.deepStrictEqual(yield* stored, ["ns1 Warning Reason x3: text"])
            const [event] = yield* server.objects(events)
            yield* api.delete(events, { namespace: "ns1", name: event!.metadata.name })
            yield* poster.warn(object(), said)
            yield* elapse(1)
            assert.deepStrictEqual(yield* stored, ["ns1 Warning Reason x1: text"])
            assert.deepStrictEqual(yield* requests, [
              "create 201",
              "patch 200",
              "patch 200",
              "delete 200",
              "patch 404",
              "create 201"
            ])
          }),
        { poster }
      )
  )

  it.effect("a later start counts on where the earlier one ended, within six minutes (B83, D18)", () =>
    Effect.gen(function* () {
      const { counts, start } = yield* lasting
      yield* start(poster)
      yield* elapse(300_000)
      yield* start(poster)
      assert.deepStrictEqual(yield* counts, [2])
      yield* elapse(400_000)
      yield* start(poster)
      yield* start(poster)
      assert.sameMembers([...(yield* counts)], [2, 2])
    }).pipe(Effect.scoped)
  )

  it.effect("a lost answer posts no second Event, and counts nothing twice (B83)", () =>
    world(
      ({ poster, requests, server, stored }) =>
        Effect.gen(function* () {
          const lost = new Set([1, 4])
          let asked = 0
          yield* server.hook({
            after: (call) => (lost.has(++asked) ? Effect.fail(ApiServer.unreachable(call)) : Effect.void)
          })
          yield* poster.warn(object(), said)
          yield* elapse(10_000)
          assert.deepStrictEqual(yield* stored, ["ns1 Warning Reason x1: text"])
          assert.deepStrictEqual(yield* requests, ["create 201", "create 409", "patch 200"])
          yield* poster.warn(object(), said)
          yield* elapse(10_000)
          assert.deepStrictEqual(yield* stored, ["ns1 Warning Reason x2: text"])
        }),
      { poster }
    )
  )

  it.effect("what is said again while the first answer is lost is counted, once each (B83, D18)", () =>
    world(
      ({ poster, server, stored }) =>
        Effect.gen(function* () {
          let asked = 0
          yield* server.hook({
            after: (call) =>
              asked++ === 0
                ? Effect.andThen(Effect.sleep(1_000), Effect.fail(ApiServer.unreachable(call)))
                : Effect.void
          })
          for (let i = 0; i < 4; i++) {
            yield* poster.warn(object(), said)
            yield* elapse(500)
          }
          yield* elapse(10_000)
          assert.deepStrictEqual(yield* stored, ["ns1 Warning Reason x4: text"])
        }),
      { poster }
    )
  )

  it.effect("texts, reasons and names of any length and script are taken by the server (B79, B86, D19)", () =>
    world(
      ({ poster, server, warnings }) =>
        Effect.gen(function* () {
          const hostile = ["", "x".repeat(5_000), "日本🙂é".repeat(2_000), "\ud800", "\n\u0000", "a b!"]
          for (const text of hostile)
            yield* poster.event(object({ uid: text }), { type: text, reason: text, action: text, message: text })
          yield* elapse(1)
          assert.deepStrictEqual([(yield* server.objects(events)).length, warnings], [hostile.length, []])
        }),
      { poster, component: `${"c".repeat(80)}/${"n".repeat(80)}`, instance: "h".repeat(200) }
    )
  )

  it.effect("an Event about a cluster-scoped object goes where kubectl describe finds it (D20, B80)", () =>
    world(
      ({ poster, server, stored }) =>
        Effect.gen(function* () {
          yield* poster.warn(zone, said)
          yield* elapse(1)
          assert.deepStrictEqual(yield* stored, ["default Warning Reason x1: text"])
          const [event] = (yield* server.objects(events)) as ReadonlyArray<any>
          assert.isUndefined(event.involvedObject.namespace)
        }),
      { poster }
    )
  )

  const sayings = Arbitrary.array(
    Arbitrary.all([
      Arbitrary.schema(Schema.Literals(["u1", "u2", ""])),
      Arbitrary.schema(Schema.Literals(["one", "another", "x".repeat(2_000)])),
      Arbitrary.schema(Schema.Literals(["Normal", "Warning", "Debug", "Fatal"])),
      Arbitrary.schema(Schema.Literals([0, 1_000, 400_000])),
      Arbitrary.schema(Schema.Literals(["answered", "lost", "forgotten", "broken"]))
    ]),
    { minLength: 1, maxLength: 8 }
  )
  it.effect.prop(
    "whatever is said and however the server fails, nothing but create and patch of its Events is asked for (P24, D21)",
    [sayings],
    ([script]) =>
      world(
        ({ api, fault, poster, server }) =>
          Effect.gen(function* () {
            let fate = "answered"
            let deleted = 0
            fault.current = () => (fate === "broken" ? refused(500) : undefined)
            yield* server.hook({
              after: (call) => {
                if (fate !== "lost") return Effect.void
                fate = "answered"
                return Effect.fail(ApiServer.unreachable(call))
              }
            })
            yield* poster.info(object(), said)
            yield* elapse(1)
            for (const [uid, message, type, gap, next] of script) {
              fate = next
              if (next === "forgotten")
                for (const { metadata } of yield* server.objects(events)) {
                  yield* api.delete(events, { namespace: metadata.namespace, name: metadata.name })
                  deleted++
                }
              const about: Subject = uid === "" ? zone : object({ uid, name: `name-${uid}` })
              yield* poster.event(about, { type, reason: "Reason", message })
              yield* quiet
              yield* TestClock.adjust(gap)
              yield* quiet
              fate = "answered"
            }
            yield* TestClock.adjust("10 seconds")
            yield* quiet
            const log = (yield* server.log).map(({ operation }) => `${operation.verb} ${operation.resource}`)
            const own = log.filter((one) => one !== "delete events")
            assert.strictEqual(log.length - own.length, deleted)
            const name = formatResource(resource)
            for (const one of own) assert.include([`create ${name}`, `patch ${name}`], one)
            assert.include(own, `create ${name}`)
          }),
        { poster }
      ),
    { arbitrary: { runs: 1_000 }, timeout: 240_000 }
  )
})

describe("EventPoster, where the two APIs differ", () => {
  it.effect(
    "types that it does not know are Normal or Warning there, and one Event where they were two (D19, F151)",
    () =>
      world(
        ({ poster, server }) =>
          Effect.gen(function* () {
            const types = ["Normal", "Debug", "Warning", "Error", "Fatal", "Level 60", ""]
            for (const type of types) yield* poster.event(object(), { ...said, type })
            yield* elapse(1)
            yield* poster.exception(object(), new TypeError("boom"))
            yield* elapse(1)
            const told = (yield* server.objects(events)).map(
              (event) => `${event.type} ${event.reason} x${countOn(event)}`
            )
            assert.sameMembers(told, ["Normal Reason x3", "Warning Reason x4", "Warning TypeError x1"])
          }),
        { poster: layerEventsV1 }
      )
  )

  it.effect(
    "an Event bears nothing that is deprecated, and a series from the second saying on; both APIs show it (D19, F151, F156)",
    () =>
      world(
        ({ api, poster, server }) =>
          Effect.gen(function* () {
            yield* TestClock.setTime(1_000_500)
            const shown = Effect.map(
              api.list(eventsV1.resource, { namespace: "ns1" }),
              ({ items }) => items as Array<any>
            )
            yield* poster.warn(object(), said)
            yield* elapse(1)
            const [once] = yield* shown
            const { metadata, ...own } = once
            assert.deepStrictEqual(
              [metadata.namespace, own],
              [
                "ns1",
                {
                  apiVersion: "events.k8s.io/v1",
                  kind: "Event",
                  regarding: { apiVersion: "example.com/v1", kind: "Widget", name: "a", namespace: "ns1", uid: "uid1" },
                  type: "Warning",
                  reason: "Reason",
                  action: "Reason",
                  note: "text",
                  eventTime: "1970-01-01T00:16:40.500000Z",
                  deprecatedFirstTimestamp: null,
                  deprecatedLastTimestamp: null,
                  deprecatedSource: {},
                  reportingController: "fixpoint",
                  reportingInstance: "fixpoint"
                }
              ]
            )
            yield* TestClock.adjust(2_000)
            yield* poster.warn(object(), said)
            yield* elapse(1)
            assert.deepStrictEqual((yield* shown)[0].series, {
              count: 2,
              lastObservedTime: "1970-01-01T00:16:42.501000Z"
            })
            const [core] = (yield* server.objects(events)) as ReadonlyArray<any>
            assert.deepInclude(core, {
              message: "text",
              reportingComponent: "fixpoint",
              series: (yield* shown)[0].series
            })
            assert.isUndefined(core.count)
          }),
        { poster: layerEventsV1 }
      )
  )

  it.effect(
    "texts that are combined are counted on the first of them, since no text may change there (D18, F155)",
    () =>
      Effect.gen(function* () {
        const texts = (poster: typeof layer) =>
          world(
            ({ poster, stored, warnings }) =>
              Effect.gen(function* () {
                for (let i = 0; i < 15; i++) {
                  yield* poster.warn(object(), { ...said, message: `text ${i}` })
                  yield* elapse(10)
                }
                assert.deepStrictEqual(warnings, [])
                return (yield* stored).filter((text) => text.includes("combined"))
              }),
            { poster }
          )
        const combined = "ns1 Warning Reason x5: (combined from similar events): text"
        assert.deepStrictEqual(yield* texts(layerEventsV1), [`${combined} 10`])
        assert.deepStrictEqual(yield* texts(layer), [`${combined} 14`])
      })
  )

  it.effect(
    "after a change of the Layer a repeat begins an Event of its own, on which it goes on counting (B83, F156)",
    () =>
      Effect.gen(function* () {
        const { counts, start } = yield* lasting
        const counted: Array<string> = []
        for (const poster of [layer, layerEventsV1, layerEventsV1, layer]) {
          yield* start(poster)
          counted.push([...(yield* counts)].sort().join())
        }
        assert.deepStrictEqual(counted, ["1", "1,1", "1,2", "2,2"])
      }).pipe(Effect.scoped)
  )
})
