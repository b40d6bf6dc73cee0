import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import { type ApiError, fromAnswer } from "../src/ApiError.ts"
import {
  EventPoster,
  kopf as kopfOptions,
  layer,
  layerMemory,
  layerNone,
  Options,
  Recorded
} from "../src/EventPoster.ts"
import { coreV1 } from "../src/internal/eventsApi.ts"
import { OwnNamespace } from "../src/OwnNamespace.ts"
import { kopf, PostingPolicy, standard } from "../src/PostingPolicy.ts"
import { object } from "./settled.ts"

const events = coreV1.resource
const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })
const zone = { apiVersion: "example.com/v1", kind: "Zone", metadata: { name: "z", uid: "uid9" } }

/** Everything that can run has run; the clock stands still. */
const quiet = Effect.repeat(Effect.yieldNow, { times: 200 })

const elapse = (millis: number) =>
  Effect.gen(function* () {
    yield* quiet
    for (let left = millis; left > 0; left -= 1_000) {
      yield* TestClock.adjust(Math.min(left, 1_000))
      yield* quiet
    }
  })

/** What a request of Events meets before the server; undefined: nothing. */
type Fault = (verb: "create" | "patch", namespace: string | undefined) => Effect.Effect<void, ApiError> | undefined

const refused = (code: number, body: unknown = {}, retryAfterSeconds?: number): Effect.Effect<never, ApiError> =>
  Effect.fail(
    fromAnswer(
      { verb: "create", resource: "events" },
      { code, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
    )
  )

/** The server behind a way on which `fault` lies. */
const faulty = (fault: { current: Fault }) =>
  Layer.effect(
    ApiClient,
    Effect.map(ApiClient, (inner) => {
      const through = <A>(
        verb: "create" | "patch",
        namespace: string | undefined,
        request: Effect.Effect<A, ApiError>
      ): Effect.Effect<A, ApiError> =>
        Effect.suspend(() => Effect.andThen(fault.current(verb, namespace) ?? Effect.void, request))
      return ApiClient.of({
        ...inner,
        create: (resource, input, options) =>
          through("create", input.metadata?.namespace, inner.create(resource, input, options)),
        patch: (resource, ref, patch, options) =>
          through("patch", ref.namespace, inner.patch(resource, ref, patch, options))
      })
    })
  )

interface World {
  /** What lies before the server; may be changed. */
  readonly fault: { current: Fault }
  readonly poster: EventPoster["Service"]
  readonly api: ApiClient["Service"]
  readonly server: ApiServer.ApiServer["Service"]
  /** Warnings that were logged. */
  readonly warnings: ReadonlyArray<string>
  /** What is stored, as `namespace Type Reason xN: message`. */
  readonly stored: Effect.Effect<ReadonlyArray<string>>
  /** `create 201`, `patch 404` ... of events, in order. */
  readonly requests: Effect.Effect<ReadonlyArray<string>>
  readonly end: Effect.Effect<void>
}

/** A poster over a server in memory; `body` runs on the test clock. */
const world = <A, E>(
  body: (world: World) => Effect.Effect<A, E, Scope.Scope>,
  options: Options & { readonly ownNamespace?: string } = {}
) =>
  Effect.gen(function* () {
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push((Array.isArray(message) ? message : [message]).map(String).join(" "))
    })
    const scope = yield* Scope.make()
    const settings = Layer.mergeAll(
      Layer.succeed(Options, options),
      Layer.succeed(OwnNamespace, options.ownNamespace ?? "operators"),
      Logger.layer([logger])
    )
    const fault: { current: Fault } = { current: () => undefined }
    const server = ApiServer.layer({ objects: ["ns1", "ns2", "operators"].map(namespace), seed: 1 })
    const context = yield* Layer.buildWithScope(
      Layer.provideMerge(layer, Layer.provideMerge(faulty(fault), Layer.merge(server, settings))),
      scope
    )
    return yield* Effect.gen(function* () {
      const server = yield* ApiServer.ApiServer
      const result = yield* body({
        fault,
        poster: yield* EventPoster,
        api: yield* ApiClient,
        server,
        warnings,
        stored: Effect.map(server.objects(events), (all) =>
          all.map(
            (event: any) =>
              `${event.metadata.namespace} ${event.type} ${event.reason} x${event.count}: ${event.message}`
          )
        ),
        requests: Effect.map(server.log, (log) =>
          log
            .filter(({ operation }) => operation.resource === "events")
            .map(({ code, operation }) => `${operation.verb} ${code}`)
        ),
        end: Scope.close(scope, Exit.void)
      })
      yield* Scope.close(scope, Exit.void)
      return result
    }).pipe(Effect.provideContext(context))
  }).pipe(Effect.scoped)

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
    "repeats are one Event whose count grows by patches; one that the server forgot begins anew with one (D18, B83, B85)",
    () =>
      world(({ api, poster, requests, server, stored }) =>
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
        })
      )
  )

  it.effect("a later start counts on where the earlier one ended, within six minutes (B83, D18)", () =>
    Effect.gen(function* () {
      const server = yield* Layer.build(ApiServer.layer({ objects: [namespace("ns1")], seed: 1 }))
      const start = EventPoster.use((poster) => Effect.andThen(poster.warn(object(), said), elapse(1))).pipe(
        Effect.provide(layer, { local: true }),
        Effect.provideContext(server)
      )
      const counts = Effect.map(
        Effect.provideContext(
          ApiServer.ApiServer.use(({ objects }) => objects(events)),
          server
        ),
        (all) => all.map((event: any) => event.count)
      )
      yield* start
      yield* elapse(300_000)
      yield* start
      assert.deepStrictEqual(yield* counts, [2])
      yield* elapse(400_000)
      yield* start
      assert.sameMembers([...(yield* counts)], [2, 1])
    }).pipe(Effect.scoped)
  )

  it.effect("a lost answer posts no second Event", () =>
    world(({ poster, server, stored }) =>
      Effect.gen(function* () {
        let lost = 0
        yield* server.hook({ after: (call) => (lost++ === 0 ? Effect.fail(ApiServer.unreachable(call)) : Effect.void) })
        yield* poster.warn(object(), said)
        yield* elapse(10_000)
        assert.deepStrictEqual(yield* stored, ["ns1 Warning Reason x1: text"])
      })
    )
  )

  it.effect(
    "saying takes no time and never fails, whatever the server does: refused, broken or silent (P18, P21, P22, B87)",
    () =>
      Effect.forEach(
        [
          () => refused(403),
          () => refused(500),
          () => Effect.never,
          () => Effect.die(new Error("a bug in the client"))
        ] as ReadonlyArray<Fault>,
        (broken) =>
          world(({ fault, poster, stored }) =>
            Effect.gen(function* () {
              fault.current = broken
              for (let i = 0; i < 40; i++) yield* poster.warn(object({ uid: `u${i}` }), said)
              yield* elapse(300_000)
              assert.deepStrictEqual(yield* stored, [])
              assert.deepInclude(yield* poster.stats, { waiting: 0, inFlight: 0, dropped: 40 })
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
            assert.deepStrictEqual(warnings, [
              "too many events wait to be posted: the oldest are dropped, Normals first"
            ])
            fault.current = () => undefined
            yield* elapse(30_000)
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
      { component: `${"c".repeat(80)}/${"n".repeat(80)}`, instance: "h".repeat(200) }
    )
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
