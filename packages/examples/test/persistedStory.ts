/** What a user may do to Scopes and Roles in persisted mode, and what must come of it: the same on every database. */
import { assert } from "@effect/vitest"
import { ApiServer } from "@fixpoint/apiserver/ApiServer"
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { Role, Scope as AccessScope } from "../src/access/kinds.ts"
import {
  createRole,
  createScope,
  disagreements,
  edit,
  messageOf,
  pass,
  quiet,
  remove,
  rows,
  said,
  start,
  told
} from "./persistedWorld.ts"
import { at } from "./world.ts"

type Story = Effect.Effect<void, unknown, ApiClient | ApiServer | SqlClient.SqlClient | Scope.Scope>

const agree = Effect.flatMap(disagreements, (faults) => Effect.sync(() => assert.deepStrictEqual(faults, [])))

/** Takes the finalizers off by hand and deletes: the operator never hears of it. */
export const vanish = (kind: typeof Role | typeof AccessScope, name: string) =>
  ApiClient.use((api) =>
    Effect.andThen(
      api.patch(kind, at(name), { type: "merge", body: { metadata: { finalizers: [] } } }, { fieldManager: "user" }),
      api.delete(kind, at(name))
    )
  )

export const stories: Readonly<Record<string, Story>> = {
  "a Role whose Scope has no row waits without a retry, and the Scope's reconciler wakes it (K18, K22)": Effect.gen(
    function* () {
      const operator = yield* start
      yield* createRole("editor")
      yield* quiet(operator)
      assert.deepStrictEqual(yield* told, ["Role editor: False ScopeNotFound"])
      assert.strictEqual(yield* messageOf("editor"), "Scope team/docs is not in the database yet")
      yield* pass(operator, 5)
      assert.deepStrictEqual([operator.passes.length, yield* rows], [1, []])
      yield* createScope("docs")
      yield* quiet(operator)
      assert.deepStrictEqual(yield* told, ["Scope docs: True Synced", "Role editor: True Synced"])
      assert.deepStrictEqual(yield* rows, ["Scope docs of ada, grace", "Role editor as editor in docs, for articles"])
      assert.deepStrictEqual(yield* said, ["Normal Created Scope docs (1)", "Warning ScopeNotFound Role editor (1)"])
      const { status } = yield* ApiClient.use((api) => api.get(AccessScope, at("docs")))
      assert.strictEqual((status as any).roles, 1)
      yield* agree
    }
  ),

  "an edit changes the row, a move changes the counts of both Scopes, and the row goes with the Role (K13, K30)":
    Effect.gen(function* () {
      const operator = yield* start
      yield* createScope("docs")
      yield* createScope("wiki", [])
      yield* createRole("editor")
      yield* quiet(operator)
      yield* edit(Role, "editor", { scope: "wiki", rules: [], externalName: "the-editor" })
      yield* quiet(operator)
      assert.include(yield* rows, "Role editor as the-editor in wiki, for ")
      const counts = ApiClient.use((api) =>
        Effect.forEach(["docs", "wiki"], (name) =>
          Effect.map(api.get(AccessScope, at(name)), ({ status }) => (status as any).roles)
        )
      )
      assert.deepStrictEqual(yield* counts, [0, 1])
      yield* edit(Role, "editor", { scope: "nowhere" })
      yield* quiet(operator)
      assert.deepStrictEqual(yield* rows, ["Scope docs of ada, grace", "Scope wiki of "])
      assert.deepStrictEqual(yield* counts, [0, 0])
      yield* edit(Role, "editor", { scope: "wiki" })
      yield* quiet(operator)
      assert.deepStrictEqual(yield* counts, [0, 1])
      yield* remove(Role, "editor")
      yield* quiet(operator)
      assert.deepStrictEqual(yield* told, ["Scope docs: True Synced", "Scope wiki: True Synced"])
      assert.deepStrictEqual(yield* rows, ["Scope docs of ada, grace", "Scope wiki of "])
      assert.deepStrictEqual(yield* counts, [0, 0])
      assert.includeMembers(
        [...(yield* said)],
        ["Normal Created Role editor (1)", "Normal Updated Role editor (2)", "Normal Deleted Role editor (1)"]
      )
    }),

  "of two Roles that want one external name one has it, the other tells who, and gets it when it is given up (K24, X18)":
    Effect.gen(function* () {
      const operator = yield* start
      yield* createScope("docs")
      yield* createScope("wiki")
      yield* createRole("first", { externalName: "editors" })
      yield* quiet(operator)
      yield* createRole("second", { scope: "wiki", externalName: "editors" })
      yield* createRole("third", { scope: "wiki", externalName: "editors" })
      yield* quiet(operator)
      assert.deepStrictEqual((yield* told).slice(2), [
        "Role first: True Synced",
        "Role second: False NameTaken",
        "Role third: False NameTaken"
      ])
      assert.strictEqual(yield* messageOf("second"), "the external name editors belongs to Role team/first")
      const before = operator.passes.length
      yield* pass(operator, 5)
      assert.strictEqual(operator.passes.length, before)
      // Who waits for a Scope waits for no name: nobody goes on waking it.
      yield* remove(AccessScope, "wiki")
      yield* edit(Role, "first", { externalName: "others" })
      yield* quiet(operator)
      const alone = operator.passes.length
      yield* pass(operator, 5)
      assert.strictEqual(operator.passes.length, alone)
      yield* edit(Role, "first", { externalName: "editors" })
      yield* quiet(operator)
      yield* createScope("wiki")
      yield* quiet(operator)
      // Renamed, the name is free: one of the two gets it, and nobody else is told anything.
      yield* edit(Role, "first", { externalName: "chiefs" })
      yield* quiet(operator)
      const after = yield* told
      assert.sameMembers(
        after.slice(3).map((line) => line.split(": ")[1]!),
        ["True Synced", "False NameTaken"]
      )
      const winner = after.find((line) => /(second|third): True/.test(line))!.split(/[ :]/)[1]!
      const loser = winner === "second" ? "third" : "second"
      assert.strictEqual(yield* messageOf(loser), `the external name editors belongs to Role team/${winner}`)
      yield* remove(Role, winner)
      yield* quiet(operator)
      assert.include(yield* told, `Role ${loser}: True Synced`)
      assert.include((yield* rows).join("\n"), `Role ${loser} as editors`)
      yield* agree
    }),

  "a Scope that goes takes the rows of its Roles with it, who wait for the next one, and free their names": Effect.gen(
    function* () {
      const operator = yield* start
      yield* createScope("docs")
      yield* createScope("wiki")
      yield* createRole("editor", { externalName: "editors" })
      yield* quiet(operator)
      yield* createRole("writer", { scope: "wiki", externalName: "editors" })
      yield* quiet(operator)
      yield* remove(AccessScope, "docs")
      yield* quiet(operator)
      assert.deepStrictEqual(yield* told, [
        "Scope wiki: True Synced",
        "Role editor: False ScopeNotFound",
        "Role writer: True Synced"
      ])
      yield* agree
      yield* createScope("docs")
      yield* quiet(operator)
      assert.include(yield* told, "Role editor: False NameTaken")
      yield* remove(Role, "writer")
      yield* quiet(operator)
      assert.include(yield* told, "Role editor: True Synced")
      yield* agree
    }
  ),

  "the row of an object that was made anew while nobody looked is replaced (K27, K32)": Effect.gen(function* () {
    const operator = yield* start
    yield* createScope("docs")
    yield* createRole("editor")
    yield* createRole("writer")
    yield* quiet(operator)
    yield* operator.stop
    yield* vanish(Role, "editor")
    yield* vanish(AccessScope, "docs")
    yield* createScope("docs", ["eve"])
    yield* createRole("editor", { rules: [] })
    const next = yield* start
    yield* pass(next, 16)
    assert.deepStrictEqual(yield* told, [
      "Scope docs: True Synced",
      "Role editor: True Synced",
      "Role writer: True Synced"
    ])
    assert.deepStrictEqual(yield* rows, [
      "Scope docs of eve",
      "Role editor as editor in docs, for ",
      "Role writer as writer in docs, for articles"
    ])
    yield* agree
  }),

  "the row of a Role that is gone for good gives its external name to the next who asks (K32)": Effect.gen(
    function* () {
      const operator = yield* start
      yield* createScope("docs")
      yield* createRole("first", { externalName: "editors" })
      yield* quiet(operator)
      yield* operator.stop
      yield* vanish(Role, "first")
      yield* createRole("second", { externalName: "editors" })
      const next = yield* start
      yield* pass(next, 16)
      assert.deepStrictEqual(yield* rows, ["Scope docs of ada, grace", "Role second as editors in docs, for articles"])
      assert.include(yield* said, "Normal Created Role second (1)")
      yield* agree
    }
  ),

  "a restart writes nothing and tells nothing of objects that are as they were (K14)": Effect.gen(function* () {
    const operator = yield* start
    const server = yield* ApiServer
    yield* createScope("docs")
    yield* createRole("editor")
    yield* createRole("stray", { scope: "nowhere" })
    yield* createRole("twin", { externalName: "editor" })
    yield* quiet(operator)
    yield* operator.stop
    const before = [yield* rows, yield* said, yield* told]
    const versions = Effect.map(Effect.forEach([AccessScope, Role], server.objects), (all) =>
      all.flat().map(({ metadata }) => metadata.resourceVersion)
    )
    const written = yield* versions
    const next = yield* start
    yield* pass(next, 2)
    assert.isAtLeast(next.passes.length, 4)
    assert.deepStrictEqual([yield* rows, yield* said, yield* told], before)
    assert.deepStrictEqual(yield* versions, written)
  }),

  "a row that is changed or deleted by hand is put right within minutes": Effect.gen(function* () {
    const operator = yield* start
    const sql = yield* SqlClient.SqlClient
    yield* createScope("docs")
    yield* createRole("editor")
    yield* createRole("writer")
    yield* quiet(operator)
    const before = yield* rows
    yield* sql`delete from roles where name = 'editor'`
    yield* sql`update roles set external_name = 'anything' where name = 'writer'`
    yield* pass(operator, 12 * 60)
    assert.deepStrictEqual(yield* rows, before)
  })
}

/** How a test takes the database away and gives it back. */
export interface Outage {
  readonly down: Effect.Effect<void>
  readonly up: Effect.Effect<void>
}

/** A minute without the database, while a user works on; `text` is what is told of each object meanwhile. */
export const outage = ({ down, up }: Outage, text: string): Story =>
  Effect.gen(function* () {
    const operator = yield* start
    yield* createScope("docs")
    yield* quiet(operator)
    yield* createRole("editor")
    yield* createRole("writer")
    yield* quiet(operator)
    yield* down
    yield* edit(AccessScope, "docs", { members: ["eve"] })
    yield* edit(Role, "editor", { rules: [] })
    yield* remove(Role, "writer")
    yield* createRole("late")
    yield* pass(operator, 60)
    assert.deepStrictEqual(yield* told, [
      "Scope docs: False PersistFailed",
      "Role editor: False PersistFailed",
      "Role late: False PersistFailed",
      "Role writer: False DeleteFailed"
    ])
    assert.strictEqual(yield* messageOf("late"), `persisting the object failed: ${text}`)
    const warnings = (yield* said).filter((line) => line.startsWith("Warning"))
    assert.deepStrictEqual(warnings, [
      "Warning DeleteFailed Role writer (1)",
      "Warning PersistFailed Role editor (1)",
      "Warning PersistFailed Role late (1)",
      "Warning PersistFailed Scope docs (1)"
    ])
    // Waits grow: far from a try each second.
    const tries = operator.passes.filter((line) => line === "Role late: Temporary PersistFailed").length
    assert.isAtLeast(tries, 2)
    assert.isAtMost(tries, 15)
    yield* up
    yield* pass(operator, 180)
    assert.deepStrictEqual(yield* told, [
      "Scope docs: True Synced",
      "Role editor: True Synced",
      "Role late: True Synced"
    ])
    assert.deepStrictEqual(yield* rows, [
      "Scope docs of eve",
      "Role editor as editor in docs, for ",
      "Role late as late in docs, for articles"
    ])
    assert.include(yield* said, "Normal Created Role late (1)")
    yield* agree
  })
