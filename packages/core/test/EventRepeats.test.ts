import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import { fromAnswer } from "../src/ApiError.ts"
import * as Controller from "../src/Controller.ts"
import * as EventPoster from "../src/EventPoster.ts"
import * as Manager from "../src/Manager.ts"
import { Temporary } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { elapse, world } from "./postingWorld.ts"
import { object } from "./settled.ts"
import { api, docs, events, quiet, ready, refTo, Scope } from "./world.ts"
import { ApiServer } from "@fixpoint/apiserver/ApiServer"

describe("what is told of one object", () => {
  it.effect(
    "another text is another Event, and a version that moved does not hide that it is the same one (X11, D18)",
    () =>
      Effect.gen(function* () {
        const client = yield* ApiClient
        const poster = yield* EventPoster.EventPoster
        let object = yield* client.create(Scope, docs)
        for (const message of ["first", "second", "first"]) {
          yield* poster.warn(object, { reason: "Full", message })
          yield* quiet
          const labels = { at: message }
          object = yield* client.patch(Scope, refTo(docs), { type: "merge", body: { metadata: { labels } } })
        }
        const server = yield* ApiServer
        assert.deepStrictEqual(
          (yield* server.objects(events)).map(({ count, message }) => [message, count]).toSorted(),
          [
            ["first", 2],
            ["second", 1]
          ]
        )
      }).pipe(Effect.provide(EventPoster.layer.pipe(Layer.provideMerge(api()))))
  )

  it.effect(
    "what was not posted when the process died is not told later: at most once, and the condition tells it (X9, D8)",
    () => {
      const failing = Controller.make({
        for: Scope,
        reconciler: Reconciler.fromEffect(Scope, () => new Temporary({ reason: "Away", message: "no answer" }))
      })
      // The status is written, and then the process is gone: nothing that it says arrives.
      const dying = Manager.layer([failing]).pipe(Layer.provide(EventPoster.layerNone))
      const next = Manager.layer([
        Controller.make({ for: Scope, reconciler: Reconciler.fromEffect(Scope, () => Effect.void) })
      ])
      return Effect.gen(function* () {
        const client = yield* ApiClient
        yield* client.create(Scope, docs)
        yield* Effect.scoped(Effect.andThen(Layer.build(dying), quiet))
        assert.strictEqual(ready(yield* client.get(Scope, refTo(docs))), "False Away")
        yield* Effect.scoped(Effect.andThen(Layer.build(next), quiet))
        assert.strictEqual(ready(yield* client.get(Scope, refTo(docs))), "True Synced")
        assert.deepStrictEqual(yield* (yield* ApiServer).objects(events), [])
      }).pipe(Effect.provide(api()))
    }
  )

  it.effect("what cannot be read is lost alone, and told once a minute (P21, P22)", () => {
    const told: Array<string> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel === "Warn") told.push(String(message))
    })
    return Effect.gen(function* () {
      const poster = yield* EventPoster.EventPoster
      const object = yield* ApiClient.use((client) => client.create(Scope, docs))
      for (let i = 0; i < 3; i++) {
        yield* poster.warn(object, { reason: "Odd", message: undefined as any })
        yield* poster.warn({ kind: "Scope" } as any, { reason: "Odd", message: "no metadata" })
      }
      yield* poster.warn(object, { reason: "Fine", message: "told" })
      yield* quiet
      assert.deepStrictEqual(
        (yield* (yield* ApiServer).objects(events)).map(({ reason }) => reason),
        ["Fine"]
      )
      assert.strictEqual(told.length, 1)
      assert.match(told[0]!, /^Failed to post an event\. It is ignored: what was said cannot be read/)
      yield* TestClock.adjust("1 minute")
      yield* poster.warn(undefined, { reason: "Odd", message: "about nobody" })
      yield* poster.warn({ kind: "Scope" } as any, { reason: "Odd", message: "no metadata" })
      assert.strictEqual(told.length, 2)
    }).pipe(Effect.provide(EventPoster.layer.pipe(Layer.provideMerge(api()))), Effect.provide(Logger.layer([logger])))
  })

  it.effect("a prefix of names that a server would refuse is made one that it takes", () =>
    Effect.gen(function* () {
      const poster = yield* EventPoster.EventPoster
      const object = yield* ApiClient.use((client) => client.create(Scope, docs))
      yield* poster.warn(object, { reason: "Fine", message: "told" })
      yield* quiet
      const [event] = yield* (yield* ApiServer).objects(events)
      assert.match(event!.metadata.name, /^a-b-50-[0-9a-f]{16}$/)
    }).pipe(
      Effect.provide(EventPoster.layer.pipe(Layer.provideMerge(api()))),
      Effect.provideService(EventPoster.Options, { namePrefix: "a/b%50/" })
    )
  )

  it.effect("a logger that throws at what cannot be read ends no pass (P22)", () =>
    Effect.gen(function* () {
      const poster = yield* EventPoster.EventPoster
      yield* poster.warn({ kind: "Scope" } as any, { reason: "Odd", message: "no metadata" })
    }).pipe(
      Effect.provide(EventPoster.layerNone),
      Effect.provide(Logger.layer([Logger.make(() => assert.fail("a logger"))]))
    )
  )

  it.effect("of two operators that say the same each counts on an Event of its own (D18)", () =>
    Effect.gen(function* () {
      const object = yield* ApiClient.use((client) => client.create(Scope, docs))
      for (const component of ["one", "other", "one", "one"]) {
        const options = Layer.succeed(EventPoster.Options, { component })
        const poster = yield* Layer.build(Layer.provide(Layer.fresh(EventPoster.layer), options))
        yield* Effect.provideContext(
          EventPoster.EventPoster.use(({ warn }) => warn(object, { reason: "Full", message: "text" })),
          poster
        )
        yield* quiet
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(
        (yield* (yield* ApiServer).objects(events))
          .map(({ count, reportingComponent }) => [reportingComponent, count])
          .toSorted(),
        [
          ["one", 3],
          ["other", 1]
        ]
      )
    }).pipe(Effect.provide(api()))
  )

  it.effect("the name of an Event has one length, however many of the same text are there (B80, D18)", () =>
    Effect.gen(function* () {
      const poster = yield* EventPoster.EventPoster
      const about = yield* ApiClient.use((client) => client.create(Scope, docs))
      for (let i = 0; i < 25; i++) {
        yield* poster.say({ _tag: "warn", about, reason: "Full", message: "text", at: i * 420_000 })
        yield* quiet
      }
      const stored = yield* (yield* ApiServer).objects(events)
      assert.lengthOf(stored, 25)
      for (const { metadata } of stored) assert.match(metadata.name, /^fixpoint-[0-9a-f]{16}$/)
    }).pipe(Effect.provide(EventPoster.layer.pipe(Layer.provideMerge(api()))))
  )

  it.effect(
    "rights that are taken away while it posts are one line, whether a repeat or a new Event meets it first (P21, B87, D17)",
    () =>
      Effect.gen(function* () {
        for (const first of ["repeat", "new"]) {
          yield* world(({ fault, poster, warnings }) =>
            Effect.gen(function* () {
              const say = (message: string) => poster.warn(object(), { reason: "Full", message })
              yield* say("a")
              yield* quiet
              fault.current = (verb) =>
                Effect.fail(fromAnswer({ verb, resource: "events" }, { code: 403, body: { message: "forbidden" } }))
              yield* say(first === "repeat" ? "a" : "b")
              yield* quiet
              for (let i = 0; i < 5; i++) yield* Effect.andThen(say("a"), say(`other ${i}`))
              yield* elapse(30_000)
              assert.strictEqual(warnings.length, 1, first)
              assert.match(warnings[0]!, /^Failed to post an event\. It is ignored.*403 Forbidden/)
            })
          )
        }
      })
  )
})
