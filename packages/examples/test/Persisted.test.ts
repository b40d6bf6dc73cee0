import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { outage, stories } from "./persistedStory.ts"
import {
  createRole,
  createScope,
  disagreements,
  edit,
  embedded,
  noTrouble,
  quiet,
  remove,
  start,
  told,
  world
} from "./persistedWorld.ts"
import { Role, Scope } from "../src/access/kinds.ts"

// The first of them starts the database, which takes seconds of CPU.
describe("the access operator in persisted mode, in memory", { timeout: 240_000 }, () => {
  for (const [name, story] of Object.entries(stories))
    it.effect(name, () => story.pipe(Effect.provide(world(embedded(noTrouble())))))

  it.effect("a database that is down for a minute is told once of each object, and then all is as it should be", () => {
    const trouble = noTrouble()
    const set = (isDown: boolean) => Effect.sync(() => void (trouble.isDown = isDown))
    return outage({ down: set(true), up: set(false) }, "the database: connect ECONNREFUSED").pipe(
      Effect.provide(world(embedded(trouble)))
    )
  })

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
    const rest = Effect.andThen(TestClock.adjust("20 seconds"), quiet(operator))
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
