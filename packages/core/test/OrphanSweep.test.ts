import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import { ApiError } from "../src/ApiError.ts"
import type { ObjectRef } from "../src/KubeObject.ts"
import * as Leadership from "../src/Leadership.ts"
import * as OrphanSweep from "../src/OrphanSweep.ts"
import { api, editor, quiet, Role } from "./world.ts"

const named = (name: string, namespace = "team"): ObjectRef => ({ namespace, name })

/** A store of records, and what a sweep over it needs. */
const store = (
  rows: Map<string, ObjectRef>,
  some: Partial<OrphanSweep.Options<any, never, any, never>> = {}
): OrphanSweep.Options<any, never, any, never> => ({
  for: Role,
  stored: Stream.suspend(() => Stream.fromIterable([...rows].map(([uid, ref]) => ({ uid, ref })))),
  orphans: "remove",
  remove: (_, uid) => Effect.sync(() => rows.delete(uid)),
  ...some
})

const created = (name: string, namespace = "team") =>
  ApiClient.use((client) => client.create(Role, { ...editor, metadata: { name, namespace } }))

/** Sweeps once, and lets its pauses go by. */
const sweptOnce = (options: OrphanSweep.Options<any, never, any, never>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.exit(OrphanSweep.once(options)))
    yield* quiet
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

const refused = (verb: string) =>
  new ApiError({ verb: "list", resource: "roles", reason: { _tag: "Unreachable", message: `no answer to ${verb}` } })

/** The API in memory, of which lists or reads are answered otherwise. */
const answering = (some: (inner: ApiClient["Service"]) => Partial<ApiClient["Service"]>) =>
  Layer.provideMerge(
    Layer.effect(
      ApiClient,
      Effect.map(ApiClient, (inner) => ({ ...inner, ...some(inner) }))
    ),
    api()
  )

/** What is logged from Warn up while the effect runs. */
const lines = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const told: Array<string> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel === "Warn" || logLevel === "Error") told.push(`${logLevel} ${String(message)}`)
    })
    return Effect.map(Effect.provide(effect, Logger.layer([logger])), (value) => ({ value, told }))
  })

describe("OrphanSweep", () => {
  it.effect(
    "a record whose object is gone, or was made anew, is removed; those of living objects stay, also of one that is going (X15)",
    () =>
      Effect.gen(function* () {
        const client = yield* ApiClient
        const kept = yield* created("kept")
        const going = yield* client.create(Role, {
          ...editor,
          metadata: { ...named("going"), finalizers: ["other.example.com/x"] } as any
        })
        yield* client.delete(Role, named("going"))
        const anew = yield* created("anew")
        const living = [kept, going, anew]
        const rows = new Map(living.map(({ metadata }) => [metadata.uid, named(metadata.name)]))
        rows.set("old", named("anew")).set("lost", named("lost"))
        const swept = yield* sweptOnce(store(rows))
        assert.deepInclude(Exit.isSuccess(swept) ? swept.value : {}, { records: 5, removed: 2 })
        assert.deepStrictEqual(
          [...rows.keys()],
          living.map(({ metadata }) => metadata.uid)
        )
      }).pipe(Effect.provide(api()))
  )

  it.effect("reporting removes nothing, and names what it found (X15)", () =>
    Effect.gen(function* () {
      const rows = new Map(Array.from({ length: 7 }, (_, i) => [`u${i}`, named(`lost-${i}`)]))
      const { told } = yield* lines(sweptOnce(store(rows, { orphans: "report" })))
      assert.strictEqual(rows.size, 7)
      assert.deepStrictEqual(told, [
        "Warn 7 of 7 records of roles.access.example.com have no object: team/lost-0 (u0), team/lost-1 (u1), team/lost-2 (u2), team/lost-3 (u3), team/lost-4 (u4), and 2 more; nothing is removed"
      ])
    }).pipe(Effect.provide(api()))
  )

  it.effect("where most records look like orphans none is removed: it is another cluster (X15)", () =>
    Effect.gen(function* () {
      const rows = new Map(Array.from({ length: 50 }, (_, i) => [`u${i}`, named(`lost-${i}`)]))
      const { told } = yield* lines(sweptOnce(store(rows)))
      assert.strictEqual(rows.size, 50)
      assert.match(
        told.join(),
        /^Error 50 of 50 records .* none is removed, since more than half are missing: is this the cluster/
      )
    }).pipe(Effect.provide(api()))
  )

  it.effect("a list or a read that fails removes nothing (X15)", () =>
    Effect.gen(function* () {
      const rows = new Map([["lost", named("lost")]])
      for (const verb of ["list", "get"]) {
        const world = answering(() => ({ [verb]: () => Effect.fail(refused(verb)) }))
        const swept = yield* Effect.provide(sweptOnce(store(rows)), world)
        assert.isTrue(Exit.isFailure(swept), verb)
        assert.strictEqual(rows.size, 1)
      }
    })
  )

  it.effect("an object that the list does not show yet is asked for by itself before its record goes (X15)", () =>
    Effect.gen(function* () {
      const young = yield* created("young")
      const rows = new Map([[young.metadata.uid, named("young")]])
      const client = yield* ApiClient
      const stale = { ...client, list: () => Effect.succeed({ items: [], resourceVersion: "1" }) }
      const swept = yield* sweptOnce(store(rows)).pipe(Effect.provideService(ApiClient, stale))
      assert.deepInclude(Exit.isSuccess(swept) ? swept.value : {}, { orphans: [], removed: 0 })
      assert.strictEqual(rows.size, 1)
    }).pipe(Effect.provide(api()))
  )

  it.effect("removals keep their pace, and only records of the namespaces are judged (X15)", () =>
    Effect.gen(function* () {
      const other = yield* created("there", "other")
      const rows = new Map([
        ["lost-1", named("lost-1")],
        ["lost-2", named("lost-2")],
        ["lost-3", named("lost-3")],
        [other.metadata.uid, named("there", "other")]
      ])
      const options = store(rows, { perMinute: 6, namespaces: ["team", "other"] })
      const fiber = yield* Effect.forkChild(OrphanSweep.once(options))
      yield* quiet
      assert.strictEqual(rows.size, 3)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(rows.size, 2)
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { removed: 3 })
    }).pipe(Effect.provide(api()))
  )

  it.effect(
    "it sweeps again and again while this process leads, whatever a sweep comes to, and ends with its scope (X15)",
    () =>
      Effect.gen(function* () {
        let sweeps = 0
        const stored = Stream.suspend(() => {
          sweeps++
          if (sweeps === 1) return Stream.fail(new Error("the database is away"))
          return sweeps === 2 ? Stream.die("broken") : Stream.empty
        })
        const options = store(new Map(), { stored, every: "10 minutes" })
        const { told } = yield* lines(
          Effect.gen(function* () {
            yield* Effect.scoped(
              Effect.andThen(
                Layer.build(OrphanSweep.layer(options)),
                Effect.andThen(quiet, TestClock.adjust("35 minutes"))
              )
            )
            yield* TestClock.adjust("1 hour")
          })
        )
        assert.strictEqual(sweeps, 3)
        assert.match(
          told[0]!,
          /^Warn the sweep for orphaned records of roles.access.example.com failed: the database is away/
        )
        assert.match(told[1]!, /^Error the sweep for orphaned records of roles.access.example.com broke/)
        const standby = Layer.build(OrphanSweep.layer(options)).pipe(
          Effect.andThen(TestClock.adjust("1 day")),
          Effect.scoped,
          Effect.provideService(Leadership.Leadership, Leadership.never)
        )
        yield* standby
        assert.strictEqual(sweeps, 3)
      }).pipe(Effect.provide(api()))
  )
})
