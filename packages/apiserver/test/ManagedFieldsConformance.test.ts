/**
 * The engines against a real API server: random sequences of creates, applies, replaces and patches of one object, by several managers, on main and /status.
 * Before each request the engines say what the server will answer, from what it has stored; object, managed fields and refusals must agree.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { equals } from "../src/internal/json.ts"
import * as ManagedFields from "../src/internal/managedFields.ts"
import { decode, encode } from "../src/internal/managers.ts"
import { jsonPatch, mergePatch } from "../src/internal/patch.ts"
import { applyDefaults, dropNulls, prune, validate } from "../src/internal/structuralSchema.ts"
import * as RealServer from "./realServer.ts"
import { apiVersion, definition, metadata, Random, schema, value } from "./specimen.ts"

type Json = any

interface Operation {
  readonly verb: "create" | "apply" | "replace" | "merge" | "json"
  readonly subresource?: "status"
  readonly manager: string
  readonly force?: boolean
  readonly body: Json
}

interface Expected {
  readonly code: number
  /** Of a 2xx: the whole object. */
  readonly object?: Json
  readonly message?: string
  readonly causes?: ReadonlyArray<{ readonly field?: string; readonly message?: string; readonly reason?: string }>
}

const resetOf = { main: ["status"], status: ["metadata", "spec"] }

const common = (operation: Operation, now: string) => ({
  schema,
  apiVersion,
  manager: operation.manager,
  now,
  resetFields: resetOf[operation.subresource ?? "main"],
  ...(operation.subresource !== undefined && { subresource: operation.subresource })
})

/** The server reads metadata into its own form, in which there are no empty maps and lists. */
const isEmpty = (own: Json): boolean => typeof own === "object" && own !== null && Object.keys(own).length === 0

const withoutEmptyMetadata = (object: Json): Json => ({
  ...object,
  metadata: Object.fromEntries(Object.entries(object.metadata as object).filter(([, own]) => !isEmpty(own)))
})

/** A body as it is read, except that of an apply. */
const admit = (object: unknown): Json =>
  withoutEmptyMetadata(applyDefaults(schema, dropNulls(schema, prune(schema, object).value)))

/** Sets back what the endpoint does not write, then validates. */
const settle = (live: Json, next: Json, subresource: "status" | undefined): Expected => {
  const { status: sent, ...rest } = next
  const kept = subresource === "status" ? undefined : live?.status
  const status = subresource === "status" ? sent : kept
  const base =
    subresource === "status"
      ? { ...live, metadata: { ...live.metadata, managedFields: next.metadata.managedFields } }
      : rest
  const { status: _, ...bare } = base
  const object = status === undefined ? bare : { ...bare, status }
  if (live !== undefined && ManagedFields.equalButTimes(live, object)) return { code: 200, object: live }
  const causes = validate(schema, object, live, subresource === undefined ? {} : { subresource })
  // What is stored is read again, as a body is.
  return causes.length > 0 ? { code: 422, causes } : { code: live === undefined ? 201 : 200, object: admit(object) }
}

const expected = (live: Json, operation: Operation, now: string): Expected => {
  const { body, subresource, verb } = operation
  if (verb === "apply") {
    const result = ManagedFields.apply({
      ...common(operation, now),
      live,
      applied: body,
      force: operation.force === true
    })
    switch (result._tag) {
      case "Applied":
        return settle(live, result.object, subresource)
      case "Conflicts":
        return { code: 409, message: result.message, causes: result.causes }
      case "TypeError":
        return { code: 500, message: result.message }
    }
  }
  const patched =
    verb === "merge"
      ? mergePatch(live, body)
      : verb === "json"
        ? jsonPatch(live, body)
        : { _tag: "Patched" as const, value: body }
  if (patched._tag !== "Patched") return { code: patched._tag === "Rejected" ? 422 : 400 }
  const next = admit(patched.value)
  const managedFields = ManagedFields.update({ ...common(operation, now), live, next })
  return settle(live, ManagedFields.withManagedFields(next, managedFields), subresource)
}

const few = ["m1", "m2", "m3"]
/** More than there are entries for. */
const many = Array.from({ length: 16 }, (_, at) => `u${at}`)

const draw = (random: Random, live: Json, managers: ReadonlyArray<string>): Operation => {
  const subresource = live !== undefined && random.chance(0.25) ? ("status" as const) : undefined
  const verb =
    live === undefined
      ? random.pick(["create", "apply"] as const)
      : random.pick(["apply", "apply", "apply", "merge", "replace", "json"] as const)
  const habits = { density: random.pick([0.15, 0.4, 0.7]), mischief: random.pick([0, 0, 0.05]) }
  const manager = random.pick(managers)
  const part = subresource ?? "spec"
  const head = { apiVersion, kind: "Specimen" }
  const meta = random.chance(0.4) ? metadata(random, { density: 0.4, mischief: 0 }) : {}
  const content = random.chance(0.9)
    ? { [part]: value({ ...schema.properties![part]!, default: undefined }, random, habits) }
    : {}
  const shared = { manager, ...(subresource !== undefined && { subresource }) }
  switch (verb) {
    case "create":
      return { verb, manager, body: { ...head, metadata: { ...meta, name: "s" }, ...content } }
    case "apply":
      return {
        verb,
        ...shared,
        force: random.chance(0.3),
        body: { ...head, metadata: { ...meta, name: "s" }, ...content }
      }
    case "merge":
      return { verb, ...shared, body: { metadata: meta, ...content } }
    case "json": {
      const path = random.pick(["size", "name", "rows", "set", "labels", "nested"])
      const own = schema.properties!.spec!.properties![path]!
      return {
        verb,
        ...shared,
        body: random.chance(0.7)
          ? [{ op: "add", path: `/spec/${path}`, value: value(own, random, habits) }]
          : [{ op: "remove", path: `/spec/${path}` }]
      }
    }
    case "replace": {
      const { managedFields: _, ...present } = live.metadata
      const replaced = random.chance(0.5) ? { ...live, ...content } : { ...head, ...content }
      return {
        verb,
        ...shared,
        body: {
          ...replaced,
          metadata: random.chance(0.5)
            ? { ...present, ...meta }
            : { name: "s", resourceVersion: present.resourceVersion, ...meta }
        }
      }
    }
  }
}

const perform = (server: RealServer.RealServer, list: string, operation: Operation) => {
  const path = `${list}/s${operation.subresource === undefined ? "" : `/${operation.subresource}`}?fieldManager=${operation.manager}`
  switch (operation.verb) {
    case "create":
      return server.request("POST", `${list}?fieldManager=${operation.manager}`, operation.body)
    case "replace":
      return server.request("PUT", path, operation.body)
    case "apply":
      return server.request("PATCH", `${path}${operation.force === true ? "&force=true" : ""}`, operation.body, {
        contentType: RealServer.apply
      })
    case "merge":
      return server.request("PATCH", path, operation.body, { contentType: RealServer.merge })
    case "json":
      return server.request("PATCH", path, operation.body, { contentType: RealServer.json })
  }
}

const sent = ["uid", "resourceVersion", "creationTimestamp", "generation", "namespace", "managedFields"]

/** What must agree of an object: everything but what the server sets. Empty metadata is not stored (F104). */
const comparable = (object: Json): Json => {
  const { metadata: own, ...rest } = withoutEmptyMetadata(object)
  return { ...rest, metadata: Object.fromEntries(Object.entries(own).filter(([name]) => !sent.includes(name))) }
}

const entries = (object: Json): ReadonlyArray<Json> => object.metadata.managedFields ?? []

const sorted = (causes: ReadonlyArray<unknown> | undefined): ReadonlyArray<string> =>
  (causes ?? []).map((cause) => JSON.stringify(cause)).toSorted()

/** The server walks maps in any order, and stops at the first field that it does not know: only the start of such a text is certain. */
const certain = (message: string): ReadonlyArray<string> =>
  message.includes("field not declared") ? [message.slice(0, message.indexOf("): "))] : message.split("\n").toSorted()

const agree = (real: unknown, ours: unknown): void =>
  assert.isTrue(equals(real, ours), `the server: ${JSON.stringify(real)}\nours: ${JSON.stringify(ours)}`)

const compareAnswers = (ours: Expected, real: RealServer.Answer): void => {
  assert.strictEqual(real.code, ours.code, `${JSON.stringify(real.body)}\nours ${JSON.stringify(ours)}`)
  if (ours.object === undefined) {
    if (ours.message !== undefined) assert.deepStrictEqual(certain(real.body.message), certain(ours.message))
    if (ours.causes !== undefined) assert.deepStrictEqual(sorted(real.body.details.causes), sorted(ours.causes))
    return
  }
  agree(comparable(real.body), comparable(ours.object))
  agree(entries(real.body), entries(ours.object))
  assert.deepStrictEqual(
    encode(decode(entries(real.body))!) ?? [],
    entries(real.body),
    "entries keep their form and order"
  )
}

/** The seconds in which the server may have written, the last first: on a busy machine a request takes several. */
const secondsOf = (from: number, to: number): ReadonlyArray<string> => {
  const [first, last] = [Math.floor(from / 1_000), Math.floor(to / 1_000)]
  return Array.from(
    { length: last - first + 1 },
    (_, back) => `${new Date((last - back) * 1_000).toISOString().slice(0, 19)}Z`
  )
}

/** Throws what disagrees, for the last of the times if for all of them. */
const check = (live: Json, operation: Operation, real: RealServer.Answer, times: ReadonlyArray<string>): void => {
  const before = JSON.stringify([live, operation])
  for (const [at, now] of times.entries()) {
    const ours = expected(live, operation, now)
    assert.strictEqual(JSON.stringify([live, operation]), before, "an input was mutated")
    try {
      compareAnswers(ours, real)
      return
    } catch (error) {
      if (at === times.length - 1) throw error
    }
  }
}

/** Sends one request and holds the answer to ours; what is stored then. `told` says where in an object's life this is. */
const advance = (server: RealServer.RealServer, list: string, live: Json, operation: Operation, told: string) =>
  Effect.gen(function* () {
    const from = Date.now()
    const real = yield* perform(server, list, operation)
    const to = Date.now()
    try {
      check(live, operation, real, secondsOf(from, to))
    } catch (error) {
      const stored = live === undefined ? "nothing" : JSON.stringify(live)
      throw new Error(`${told}: ${JSON.stringify(operation)}\nstored: ${stored}\n${String(error)}`, { cause: error })
    }
    const now = yield* server.request("GET", `${list}/s`)
    if (real.code < 300) assert.isTrue(equals(now.body, real.body), "the answer is what is stored")
    return now.code === 200 ? now.body : undefined
  })

const home = (server: RealServer.RealServer, namespace: string) =>
  Effect.as(
    server.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } }),
    `/apis/${apiVersion}/namespaces/${namespace}/specimens`
  )

/** One object's life, from a seed. */
const run = (server: RealServer.RealServer, seed: number, steps: number, managers: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const random = new Random(seed)
    const list = yield* home(server, `n${seed}`)
    let live: Json
    for (let step = 0; step < steps; step++) {
      live = yield* advance(server, list, live, draw(random, live, managers), `SEED=${seed} SEEDS=1, step ${step}`)
    }
  })

/** `SEED` and `SEEDS` in the environment choose the lives. */
const first = Number(process.env.SEED ?? 1)
const seeds = Number(process.env.SEEDS ?? 30)

/** With the specimen. */
const serving = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* RealServer.serve(RealServer.make(yield* ControlPlane.ControlPlane), definition)
  })
).pipe(Layer.provideMerge(ControlPlane.layer()))

describe.runIf(ControlPlane.available())("the engines and a real API server", () => {
  layer(serving, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect(
      "agree on random writes by several managers (F30, F31, F32, F82, F86, F91, F92, F93, F95, F96, F97, F98, F99, F103, F133, F135, F136)",
      () =>
        Effect.gen(function* () {
          const server = RealServer.make(yield* ControlPlane.ControlPlane)
          for (let seed = first; seed < first + seeds; seed++) yield* run(server, seed, 25, few)
          // More managers than there are entries for: the oldest become ancient changes.
          for (let seed = first; seed < first + Math.ceil(seeds / 10); seed++) {
            yield* run(server, 100_000 + seed, 60, many)
          }
        }),
      { timeout: 600_000 }
    )

    it.effect(
      "agree that what is applied empty, and so given up to its last, is there again by the next apply, and quiet then (F86, F91, F92, F93)",
      () =>
        Effect.gen(function* () {
          const server = RealServer.make(yield* ControlPlane.ControlPlane)
          const list = yield* home(server, "refilled")
          const full = { set: ["x"], rows: [{ k: "a", tags: ["x"] }], free: { p: { r: 1 } } }
          const empty = { set: [], rows: [{ k: "a", tags: [] }], free: { p: {} } }
          const requests = [
            ["create", "u1", { free: { p: {} } }],
            ["apply", "m2", full],
            ["apply", "m2", empty],
            // The map is u1's as it was, which it was not any more.
            ["apply", "m2", empty],
            ["force", "m2", empty],
            ["apply", "m2", empty]
          ] as const
          const stored: Array<Json> = []
          for (const [how, manager, spec] of requests) {
            const body = { apiVersion, kind: "Specimen", metadata: { name: "s" }, spec }
            const operation = {
              verb: how === "create" ? how : ("apply" as const),
              manager,
              force: how === "force",
              body
            }
            stored.push(yield* advance(server, list, stored.at(-1), operation, `request ${stored.length}`))
          }
          const [, , once, refused, forced, again] = stored
          const refillable = ({ spec: { free, rows, set } }: Json) => [set, rows[0].tags, free.p]
          assert.deepStrictEqual(refillable(once), [undefined, undefined, null])
          assert.deepStrictEqual(refused, once)
          assert.deepStrictEqual(refillable(forced), [[], [], {}])
          assert.deepStrictEqual(again, forced)
        })
    )
  })
})
