import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { outage, stories } from "./persistedStory.ts"
import {
  createRole,
  createScope,
  disagreements,
  edit,
  embedded,
  noTrouble,
  pass,
  quiet,
  remove,
  rows,
  said,
  start,
  told,
  world
} from "./persistedWorld.ts"
import { memory } from "./world.ts"
import { Role, Scope } from "../src/access/kinds.ts"
import * as Database from "../src/access/persisted/Database.ts"

// The first of them starts the database, which takes seconds of CPU.
describe("the access operator in persisted mode, in memory", { timeout: 600_000 }, () => {
  for (const [name, story] of Object.entries(stories))
    it.effect(name, () => story.pipe(Effect.provide(world(embedded(noTrouble())))))

  it.effect("a database that is down for a minute is told once of each object, and then all is as it should be", () => {
    const trouble = noTrouble()
    const set = (isDown: boolean) => Effect.sync(() => void (trouble.isDown = isDown))
    return outage({ down: set(true), up: set(false) }, "the database: connect ECONNREFUSED").pipe(
      Effect.provide(world(embedded(trouble)))
    )
  })

  it.effect("a database in a folder has its rows after a restart, and nothing is written or told anew (K14)", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "fixpoint-records-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const life = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        effect.pipe(Effect.scoped, Effect.provide(Database.layerEmbedded(join(folder, "data")), { local: true }))
      const first = yield* life(
        Effect.gen(function* () {
          const operator = yield* start
          yield* createScope("docs")
          yield* createRole("editor")
          yield* quiet(operator)
          return [yield* rows, yield* said]
        })
      )
      assert.strictEqual(first[0]!.length, 2)
      const second = life(
        Effect.gen(function* () {
          const before = yield* rows
          const operator = yield* start
          yield* quiet(operator)
          assert.deepStrictEqual([before, yield* rows], [first[0], first[0]])
          return [before, yield* said]
        })
      )
      assert.deepStrictEqual(yield* second, first)
    }).pipe(Effect.provide(memory()))
  )

  it.effect.each([true, "lost"] as const)(
    "whichever statement fails, unheard or after it was done, rows and objects agree in the end: %s",
    (kind) =>
      Effect.gen(function* () {
        // As many runs as there are statements: each time the next one is hit.
        let statements = Infinity
        for (let hit = 0; hit < statements; hit++) statements = yield* hitLife(kind, hit)
        assert.isAbove(statements, 20)
      })
  )
})

/** The statements of the operator alone. */
const hitLife = (kind: true | "lost", hit: number) => {
  const trouble = noTrouble()
  let seen = 0
  const life = Effect.gen(function* () {
    trouble.hits = () => seen++ === hit && kind
    const operator = yield* start
    const rest = pass(operator, 20)
    yield* createScope("docs")
    yield* createRole("editor", { externalName: "editors" })
    yield* quiet(operator)
    yield* rest
    yield* createRole("writer", { externalName: "editors" })
    yield* quiet(operator)
    yield* edit(Role, "editor", { externalName: "chiefs" })
    yield* quiet(operator)
    yield* remove(Role, "editor")
    yield* quiet(operator)
    yield* rest
    trouble.hits = () => false
    assert.deepStrictEqual(yield* told, ["Scope docs: True Synced", "Role writer: True Synced"], `at ${hit}`)
    assert.deepStrictEqual(yield* disagreements, [], `at ${hit}`)
    trouble.hits = () => seen++ === hit && kind
    yield* remove(Scope, "docs")
    yield* quiet(operator)
    yield* rest
    trouble.hits = () => false
    assert.deepStrictEqual(yield* told, ["Role writer: False ScopeNotFound"], `at ${hit}`)
    assert.deepStrictEqual(yield* disagreements, [], `at ${hit}`)
    return seen
  })
  return life.pipe(Effect.scoped, Effect.provide(world(embedded(trouble)), { local: true }))
}
