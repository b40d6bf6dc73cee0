/** The part of the contract of persisted resources that is about waking, starting and stopping. */
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type Case, created } from "./persistedStage.ts"

export const wakeCases: ReadonlyArray<Case> = [
  {
    name: "a wake for a name that does not exist does nothing at all (K6, K34)",
    play: ({ comes, create, enqueue, passes, queue, records, rest }) =>
      Effect.gen(function* () {
        yield* enqueue("nobody")
        yield* rest
        assert.strictEqual(yield* queue, "ready 0, processing 0, delayed 0, backing off 0")
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced" })
        yield* comes("nobody", { ready: "gone", told: [] })
        assert.deepStrictEqual(records.asked, ["put editor"])
        assert.notInclude(
          passes.map(({ ref }) => ref.name),
          "nobody"
        )
      })
  },
  {
    name: "2,048 keys woken from 8 fibers while the only worker is stuck wait for nobody, and an object woken last is served afterwards (K33)",
    play: ({ comes, create, enqueue, holds, records, wake }) =>
      Effect.gen(function* () {
        yield* create("last")
        yield* comes("last", { ready: "True Synced" })
        const gate = yield* Deferred.make<void>()
        records.scripts.put = ({ name }) => (name?.endsWith("/stuck") === true ? Deferred.await(gate) : Effect.void)
        yield* create("stuck")
        yield* holds(() => records.asked.includes("put stuck"), "it is not stuck")
        const fibers = Array.from({ length: 8 }, (_, i) =>
          Effect.forEach(
            Array.from({ length: 256 }, (_, j) => `nobody-${i}-${j}`),
            enqueue,
            { discard: true }
          )
        )
        const before = yield* Clock.currentTimeMillis
        let done = 0
        for (const fiber of fibers)
          yield* Effect.forkChild(
            Effect.andThen(
              fiber,
              Effect.sync(() => void done++)
            )
          )
        yield* holds(() => done === fibers.length, "they wait")
        assert.isBelow((yield* Clock.currentTimeMillis) - before, 5_000)
        yield* enqueue("last")
        const served = records.asked.filter((one) => one === "put last").length
        yield* Deferred.succeed(gate, undefined)
        yield* comes("stuck", { ready: "True Synced" })
        yield* holds(() => records.asked.filter((one) => one === "put last").length === served + 1, "it is not served")
        yield* wake("last")
      })
  },
  {
    name: "however many wakes come during a pass, exactly one more follows, and none runs beside it (K35)",
    workers: 4,
    play: ({ comes, create, enqueue, holds, records, rest }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced" })
        const gate = yield* Deferred.make<void>()
        let running = 0
        let most = 0
        records.scripts.put = () =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Deferred.await(gate)
            running--
          })
        yield* enqueue("editor")
        yield* holds(() => running === 1, "no pass")
        for (let i = 0; i < 20; i++) yield* enqueue("editor")
        yield* Deferred.succeed(gate, undefined)
        yield* rest
        yield* holds(() => records.asked.length >= 3, "no further pass")
        yield* rest
        assert.deepStrictEqual([records.asked.length, most], [3, 1])
      })
  },
  {
    name: "a resync wakes what its filters choose, and nothing else, and answers how many those are (K37)",
    play: ({ comes, create, holds, namespace, records, rest, resync }) =>
      Effect.gen(function* () {
        for (const [name, team] of [
          ["one", "a"],
          ["two", "a"],
          ["other", "b"]
        ] as const) {
          yield* create(name, { metadata: { name, labels: { team } } })
          yield* comes(name, { ready: "True Synced" })
        }
        const before = records.asked.length
        assert.strictEqual(yield* resync({ namespace, labels: { team: "a" } }), 2)
        yield* holds(() => records.asked.length === before + 2, "two are not woken")
        yield* rest
        assert.sameMembers(records.asked.slice(before), ["put one", "put two"])
      })
  },
  {
    name: "after the stop a wake is dropped and a resync fails; the next start says nothing again of what it finds as it was (K14, K36, D14)",
    play: ({ comes, create, enqueue, namespace, records, rest, resync, start, stop }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced", told: [created] })
        yield* stop
        yield* enqueue("editor")
        assert.deepInclude(yield* Effect.flip(resync({ namespace })), { _tag: "ManagerStopped" })
        yield* rest
        assert.deepStrictEqual(records.asked, ["put editor"])
        yield* start
        yield* comes("editor", { ready: "True Synced", told: [created] })
        assert.deepStrictEqual(records.asked, ["put editor", "put editor"])
      })
  }
]
