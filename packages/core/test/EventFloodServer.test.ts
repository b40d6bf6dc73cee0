import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { ApiClient } from "../src/ApiClient.ts"
import * as Manager from "../src/Manager.ts"
import { countOf, type Course, type Flood, flooding, River, river, toldOf } from "./eventFlood.ts"
import { kubectl, ownNamespace, real, served, until } from "./realServer.ts"
import { events } from "./world.ts"

/** Requests that an operator sends. */
interface Requests {
  status: number
  events: number
}

const none = (): Requests => ({ status: 0, events: 0 })

/** Counts what is written on its way, which is long for Events: so the repeats of a flood are counted, and its requests are few. */
const counting = (requests: Requests) =>
  Layer.effect(
    ApiClient,
    Effect.map(ApiClient, (api) =>
      ApiClient.of({
        ...api,
        patch: (resource, ref, patch, options) => {
          const patched = api.patch(resource, ref, patch, options)
          requests[resource.plural === River.plural ? "status" : "events"]++
          return resource.plural === River.plural ? patched : Effect.delay(patched, "100 millis")
        }
      })
    )
  )

/** Runs a Manager until it holds, and to its orderly end. */
const run = <E, R>(flood: Flood, course: Course, holds: Effect.Effect<boolean, E, R>, requests = none()) =>
  until(holds).pipe(
    Effect.provide(Layer.fresh(Manager.layer([flooding(flood, course)])).pipe(Layer.provide(counting(requests))))
  )

const over = (flood: Flood) => Effect.sync(() => flood.passes >= flood.end)

/** A namespace of one's own with the object in it. */
const flooded = Effect.gen(function* () {
  const namespace = yield* ownNamespace("flood-")
  yield* ApiClient.use((api) => api.create(River, river(namespace)))
  return namespace
})

const prepared = Layer.mergeAll(Layer.effectDiscard(served(River)), Logger.layer([])).pipe(Layer.provideMerge(real))

const same = () => "the dyke is broken"
/** Texts that must be cut, and differ at their ends alone. */
const other = (pass: number) => `the dyke is broken${" ä🙂".repeat(1_000)} in ${pass} places`

describe.skipIf(!ControlPlane.available())("floods of events, before a real API server", () => {
  layer(prepared, { excludeTestServices: true, timeout: 120_000 })((it) => {
    it.effect(
      "10,000 failing passes with one text are one Event that counts them, as kubectl describe shows, and one write of the status (B83, D18)",
      () =>
        Effect.gen(function* () {
          const namespace = yield* flooded
          const flood = { passes: 0, end: 10_000 }
          const requests = none()
          yield* run(flood, { namespace, every: "1 millis", text: same }, over(flood), requests)
          assert.deepStrictEqual(yield* toldOf(namespace), [
            { reason: "ReconcileFailed", message: "reconciling failed: the dyke is broken", count: 10_000 }
          ])
          assert.match(
            yield* kubectl(["-n", namespace, "describe", "river", "rhine"]),
            /Warning +ReconcileFailed +\S+ \(x10000 over \S+\) +fixpoint +reconciling failed: the dyke is broken\n/
          )
          assert.strictEqual(requests.status, 1)
          assert.isBelow(requests.events, 10_000)
        }).pipe(Effect.scoped),
      300_000
    )

    it.effect(
      "failing passes with another long text each are at most 12 Events that count them all, and one rewrite a minute of the condition's message alone (D18)",
      () =>
        Effect.gen(function* () {
          const namespace = yield* flooded
          const flood = { passes: 0, end: 500 }
          const requests = none()
          const start = yield* Clock.currentTimeMillis
          yield* run(flood, { namespace, every: "1 millis", text: other }, over(flood), requests)
          const told = yield* toldOf(namespace)
          assert.isAtMost(told.length, 12)
          assert.strictEqual(countOf(told), 500)
          assert.isTrue(
            told.some(
              ({ message }) =>
                message.startsWith("(combined from similar events): reconciling failed: the dyke is broken ä🙂") &&
                message.endsWith("🙂 in 500 places")
            )
          )
          assert.isAtMost(requests.status, 1 + ((yield* Clock.currentTimeMillis) - start) / 60_000)
        }).pipe(Effect.scoped),
      120_000
    )

    it.effect(
      "forty Warnings for forty reasons within a minute on one object are all there (B84)",
      () =>
        Effect.gen(function* () {
          const namespace = yield* flooded
          const flood = { passes: 0, end: 40 }
          yield* run(flood, { namespace, every: "1 millis", warns: (pass) => `Reason${pass}` }, over(flood))
          const told = (yield* toldOf(namespace)).filter(({ message }) => message === "it rises")
          assert.sameMembers(
            told.map(({ count, reason }) => `${reason} x${count}`),
            Array.from({ length: 40 }, (_, i) => `Reason${i + 1} x1`)
          )
        }).pipe(Effect.scoped),
      120_000
    )

    it.effect(
      "a restart in the midst of a flood goes on counting on the same Event; when the server forgets that, another counts from then (B83, B85, P23)",
      () =>
        Effect.gen(function* () {
          const namespace = yield* flooded
          const api = yield* ApiClient
          const flood = { passes: 0, end: 400 }
          const course = { namespace, every: "5 millis", text: same } as const
          const counts = Effect.map(toldOf(namespace), (told) => told.map(({ count }) => count))
          yield* run(
            flood,
            course,
            Effect.sync(() => flood.passes >= 100)
          )
          assert.deepStrictEqual(yield* counts, [flood.passes])
          yield* run(
            flood,
            course,
            Effect.sync(() => flood.passes >= 200)
          )
          assert.deepStrictEqual(yield* counts, [flood.passes])
          let counted = 0
          let after = 0
          const forgotten = Effect.gen(function* () {
            if (flood.passes >= 300 && after === 0) {
              const [event] = (yield* api.list(events, { namespace })).items
              yield* api.delete(events, { namespace, name: event!.metadata.name })
              counted = event!.count as number
              after = flood.passes
            }
            return flood.passes >= flood.end
          })
          yield* run(flood, course, forgotten)
          const [count, ...others] = yield* counts
          assert.deepStrictEqual(others, [])
          // What was said when it was deleted, and was not on it yet, may have come to either.
          assert.isTrue(
            count! >= flood.passes - after && count! <= flood.passes - counted,
            `${count} of ${flood.passes} after ${counted} to ${after}`
          )
        }).pipe(Effect.scoped),
      120_000
    )
  })
})
