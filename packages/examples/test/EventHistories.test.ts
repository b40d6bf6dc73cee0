/** One operator, five ways to tell of it: only Layers differ. `histories` holds what the API server keeps as Events under each. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { ApiServer } from "@fixpoint/apiserver/ApiServer"
import { assert, describe, expect, it } from "@effect/vitest"
import * as EventPoster from "@fixpoint/core/EventPoster"
import type * as PostingPolicy from "@fixpoint/core/PostingPolicy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { policies } from "../src/access/policies.ts"
import { type Act, lastOf, livedInMemory, restart, tally } from "./eventHistory.ts"
import { memory } from "./world.ts"

type Name = keyof typeof policies
const names = Object.keys(policies) as ReadonlyArray<Name>

const requestsForEvents = ApiServer.use(({ log }) =>
  Effect.map(log, (entries) => entries.filter(({ operation }) => operation.resource.startsWith("events")))
)

const source = readFileSync(fileURLToPath(new URL("../src/access/policies.ts", import.meta.url)), "utf8")

/** The Layers of a policy as they are written in `policies.ts`. */
const layersOf = (name: Name): string => {
  const entry = new RegExp(String.raw`\n((?:  /\*\*(?:[^*]|\*(?!/))*\*/\n)  ${name}: [^]*?)(?:,\n\n|\n\} )`).exec(
    source
  )
  assert.isNotNull(entry, name)
  return entry![1]!
}

const columns = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = rows.reduce<ReadonlyArray<number>>(
    (widths, row) => row.map((cell, i) => Math.max(cell.length, widths[i] ?? 0)),
    []
  )
  return rows.map(
    (row) => `  ${row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join("  ")}`
  )
}

const page = (name: Name, acts: ReadonlyArray<Act>): string => {
  const all = acts.flatMap(({ told }) => told)
  const lines = columns(
    all.map(({ count, message, namespace, object, reason, reporter, type }) => [
      type,
      reason,
      object,
      `x${count}`,
      `in ${namespace}`,
      `by ${reporter}`,
      message
    ])
  )
  let at = 0
  const parts = acts.map(({ title, told }) => {
    const own = lines.slice(at, (at += told.length))
    return [`${title}:`, ...(own.length === 0 ? ["  nothing"] : own)].join("\n")
  })
  const held = lastOf(acts)
  return [
    `The Events that the API server holds of one life of the access operator's objects under policies.${name},`,
    "act by act: those that came, and those whose count grew, as they stood at its end.",
    "",
    layersOf(name),
    "",
    parts.join("\n\n"),
    "",
    `In the end: ${held.length} Events, said ${held.reduce((sum, { count }) => sum + count, 0)} times.`,
    ""
  ].join("\n")
}

const saidInWords = (said: ReadonlyArray<PostingPolicy.Said>) =>
  tally(
    said.map(({ about, message, reason, type }) => ({
      type,
      reason,
      message,
      object: `${about.kind} ${about.metadata.name}`,
      count: 1
    }))
  )

describe.each(names)("the access operator under policies.%s", (name) => {
  it.effect(
    "tells its life as recorded, and the recorder that posts nothing was told the very same (D2, D16, D18, P8, P11)",
    () =>
      Effect.gen(function* () {
        const { acts } = yield* livedInMemory(policies[name]).pipe(Effect.provide(memory()))
        yield* Effect.promise(() => expect(page(name, acts)).toMatchFileSnapshot(`histories/${name}.txt`))
        if (name === "none") return
        const said = yield* Effect.gen(function* () {
          yield* livedInMemory(
            Layer.merge(policies[name], Layer.succeedContext(yield* Effect.context<EventPoster.EventPoster>()))
          )
          assert.deepStrictEqual(yield* requestsForEvents, [])
          return yield* EventPoster.Recorded.use(({ said }) => said)
        }).pipe(Effect.provide([EventPoster.layerMemory, memory()]))
        assert.deepStrictEqual(saidInWords(said), tally(lastOf(acts)))
      })
  )

  it.effect("a start on objects at rest says nothing of them (D2)", () =>
    Effect.gen(function* () {
      const { acts, steady } = yield* livedInMemory(policies[name]).pipe(Effect.provide(memory()))
      assert.sameMembers(steady, [
        "Role editor: unchanged Synced",
        "Role reviewer: unchanged Synced",
        "Scope docs: unchanged Synced"
      ])
      assert.deepStrictEqual(acts.find(({ title }) => title === restart)?.told, [])
    })
  )
})

it.effect("Events bear the names that the Options of a policy give them, by which a cluster's filters go (P9)", () =>
  Effect.gen(function* () {
    for (const [policy, prefix] of [
      [policies.standard, "fixpoint-"],
      [policies.kopf, "kopf-event-"]
    ] as const) {
      const { acts } = yield* livedInMemory(policy).pipe(Effect.provide(memory()))
      const strays = lastOf(acts).filter(({ name }) => !name.startsWith(prefix))
      assert.deepStrictEqual(strays, [])
    }
  })
)

it.effect("where no Event is wanted, no request for one is made", () =>
  Effect.gen(function* () {
    const { acts } = yield* livedInMemory(policies.none)
    assert.deepStrictEqual(lastOf(acts), [])
    assert.deepStrictEqual(yield* requestsForEvents, [])
  }).pipe(Effect.provide(memory()))
)
