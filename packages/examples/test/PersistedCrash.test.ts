import { ApiServer, unreachable } from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import type { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Effect from "effect/Effect"
import { Role, Scope } from "../src/access/kinds.ts"
import { vanish } from "./persistedStory.ts"
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
  start,
  startWith,
  told,
  world
} from "./persistedWorld.ts"
import { inTime } from "./world.ts"

type Acts = Effect.Effect<unknown, ApiError, ApiClient>

interface Scenario {
  /** What is so, and persisted, before. One after another, the operator at rest between them. */
  readonly given: ReadonlyArray<Acts>
  /** What a user does then, while no operator runs. */
  readonly user: Acts
}

const taken: ReadonlyArray<Acts> = [
  Effect.andThen(createScope("docs"), createScope("wiki")),
  createRole("editor", { externalName: "editors" }),
  createRole("writer", { scope: "wiki", externalName: "editors" })
]

const scenarios: Readonly<Record<string, Scenario>> = {
  "the first persistence": {
    given: [],
    user: Effect.all([createScope("docs"), createRole("editor"), createRole("stray", { scope: "nowhere" })])
  },
  "an edit that gives a name to another Role": {
    given: taken,
    user: edit(Role, "editor", { externalName: "chiefs", rules: [] })
  },
  "the deletion of a Role, whose name another gets": { given: taken, user: remove(Role, "editor") },
  "the deletion of a Scope, which takes rows with it": { given: taken, user: remove(Scope, "docs") },
  "the replacement of a record of an earlier Role": {
    given: [Effect.andThen(createScope("docs"), createRole("editor"))],
    user: Effect.andThen(vanish(Role, "editor"), createRole("editor", { rules: [] }))
  }
}

/** Before: the call or statement does not reach its system. After: it was done, and the operator never learns of it. */
type Moment = "before" | "after"

/** Answers what is told and stored in the end, and how many calls and statements there were to die at. */
const life = ({ given, user }: Scenario, point: number, moment: Moment) => {
  const trouble = noTrouble()
  let isWatching = false
  let isDead = false
  let seen = 0
  /** Whether it dies now, before or after what it does. */
  const dies = (): boolean => isWatching && ++seen === point
  trouble.hits = () => {
    if (isDead) return true
    if (!dies()) return false
    isDead = true
    return moment === "before" ? true : "lost"
  }
  return Effect.gen(function* () {
    const server = yield* ApiServer
    const begun = yield* start
    yield* Effect.forEach(given, (acts) => Effect.andThen(acts, quiet(begun)))
    yield* begun.stop
    yield* user
    const last = new Set<number>()
    yield* server.hook({
      before: (call) => {
        if (isDead) return Effect.fail(unreachable(call))
        // Of what only reads there are many, and nothing is lost with them.
        if (["list", "watch", "discover", "get"].includes(call.operation.verb) || !dies()) return Effect.void
        isDead = moment === "before"
        if (isDead) return Effect.fail(unreachable(call))
        last.add(call.number)
        return Effect.void
      },
      after: (call) => {
        if (!last.delete(call.number)) return Effect.void
        isDead = true
        return Effect.fail(unreachable(call))
      }
    })
    isWatching = true
    const mortal = yield* startWith("1 millis")
    yield* quiet(mortal)
    isWatching = false
    yield* inTime(mortal.stop)
    isDead = false
    const next = yield* start
    yield* quiet(next)
    yield* pass(next, 10)
    return { end: [...(yield* told), ...(yield* rows), ...(yield* disagreements)], seen }
  }).pipe(Effect.scoped, Effect.provide(world(embedded(trouble)), { local: true }))
}

describe.each(Object.entries(scenarios))(
  "the operator in persisted mode dies during %s",
  { timeout: 600_000 },
  (_, scenario) => {
    it.effect("at whichever call or statement, done or not: the next one comes to the same rows and objects", () =>
      Effect.gen(function* () {
        const { end, seen: points } = yield* life(scenario, Infinity, "before")
        assert.isAbove(points, 5)
        for (let point = 1; point <= points; point++)
          for (const moment of ["before", "after"] as const)
            assert.deepStrictEqual((yield* life(scenario, point, moment)).end, end, `${moment} ${point} of ${points}`)
      })
    )
  }
)
