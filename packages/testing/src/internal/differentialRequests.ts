/** The requests that two servers are compared by: drawn from small tables, so that they meet the same few objects often. */
import type { JsonPatchOperation } from "@fixpoint/core/ApiClient"
import type { Resource } from "@fixpoint/core/KubeObject"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { configMaps, deployments, gadgets, leases, secrets, widgets } from "./contractKinds.ts"

type Fields = Readonly<Record<string, unknown>>

/** Which value of an object's uid or version a request bears: none, the newest that was answered, the first, or one of nobody. */
export type Guard = "none" | "now" | "old" | "wrong"

export const verbs = [
  "get",
  "list",
  "list by label",
  "create",
  "replace",
  "edit",
  "edit status",
  "merge",
  "merge status",
  "json",
  "apply",
  "force",
  "apply status",
  "delete",
  "delete guarded",
  "delete collection"
] as const

/** One request; a verb uses the fields that it knows. */
export interface Request {
  readonly verb: (typeof verbs)[number]
  readonly resource: Resource
  readonly name: string
  readonly manager: string
  /** Built-in kinds make of it what they can: see `Differential`. */
  readonly spec: Fields | undefined
  readonly status: Fields
  readonly metadata: Fields
  readonly operations: ReadonlyArray<JsonPatchOperation>
  readonly uid: Guard
  readonly version: Guard
  readonly dryRun: boolean
}

/** One of the table, shrinking to its first. A value listed twice comes twice as often. */
const pick = <const A>(...table: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: table.length - 1 }))),
    (index) => table[index] as A
  )

const absent = undefined

/** An object without the fields that were drawn absent. */
const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent))

const fields = (tables: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>>): Arbitrary.Arbitrary<Fields> =>
  Arbitrary.map(Arbitrary.all(tables), present)

const often = <const A>(...table: ReadonlyArray<A>): Arbitrary.Arbitrary<A | undefined> =>
  pick<A | undefined>(absent, absent, absent, ...table)

/** What a schema refuses, or what is rare. One in four specs has one of these. */
const odd = pick<Fields>(
  ...Array.from({ length: 33 }, () => ({})),
  { size: 101 },
  { size: "x" },
  { size: null },
  { mode: "c" },
  { map: { y: 1 } },
  { rows: [{ k: "a" }, { k: "a" }] },
  { rows: [{ v: "1" }] },
  { rows: null },
  { set: ["x", "x"] },
  { nope: 1 },
  { nested: null }
)

const spec = Arbitrary.map(
  Arbitrary.all([
    fields({
      size: often(1, 2, 3),
      mode: often("a", "b"),
      map: often({}, { x: "1" }, { x: "2", y: "1" }, { y: "1" }, { x: null }),
      rows: often<unknown>(
        [],
        [{ k: "a" }],
        [{ k: "a", v: "1" }, { k: "b" }],
        [{ k: "b", v: "2" }, { k: "a" }],
        [{ k: "c", w: "1" }, { k: "b" }]
      ),
      set: often<unknown>([], ["x"], ["y", "x"], ["z"]),
      atomic: often<unknown>([], ["p"], ["q", "p"]),
      atomicMap: often({ a: "1" }, { b: "1" }),
      nested: often({}, { x: "1" }, { deep: 1 }, { deep: null }),
      free: often<unknown>({}, { a: { b: 1 } }, { a: 1 }, { a: null, l: [null, {}] }),
      maybe: often(null, "s"),
      plainDefault: often(null, "d", "e")
    }),
    odd
  ]),
  ([usual, rare]): Fields => ({ ...usual, ...rare })
)

const condition = (type: string, status: string) => ({ type, status })

const status = fields({
  phase: pick<unknown>(absent, "p", "q", "p", "q", null),
  count: pick<unknown>(absent, absent, absent, absent, 1, 1, 2, -1, "x"),
  conditions: pick<unknown>(
    absent,
    absent,
    [],
    [condition("Ready", "True")],
    [condition("Ready", "False"), condition("Synced", "True")],
    [condition("Synced", "False")],
    [condition("Synced", "True")],
    [{ type: "Ready" }]
  )
})

const metadata = fields({
  labels: pick<unknown>(
    ...Array.from({ length: 8 }, () => absent),
    { l: "1" },
    { l: "1", m: "1" },
    { l: "2", m: "1" },
    { m: "2" },
    { l: null },
    { "a b": "1" }
  ),
  annotations: pick<unknown>(absent, absent, absent, absent, { n: "1" }, { n: "2", o: "1" }, { n: null }),
  finalizers: pick<unknown>(
    ...Array.from({ length: 6 }, () => absent),
    ["x.io/a"],
    ["x.io/b"],
    ["x.io/a", "x.io/b"],
    [],
    null
  )
})

const operations = pick<ReadonlyArray<JsonPatchOperation>>(
  [],
  [{ op: "add", path: "/spec/size", value: 2 }],
  [{ op: "remove", path: "/spec/size" }],
  [
    { op: "test", path: "/spec/size", value: 1 },
    { op: "replace", path: "/spec/size", value: 3 }
  ],
  [{ op: "replace", path: "/spec", value: { map: { x: "9" } } }],
  [{ op: "remove", path: "/spec/mode" }],
  [{ op: "add", path: "/spec/atomic/-", value: "z" }],
  [{ op: "add", path: "/spec/rows/0", value: { k: "z" } }],
  [{ op: "remove", path: "/spec/rows/0" }],
  [{ op: "add", path: "/data", value: { x: "9" } }],
  [{ op: "remove", path: "/data/x" }],
  [{ op: "add", path: "/metadata/labels", value: { l: "9" } }],
  [{ op: "remove", path: "/metadata/labels" }],
  [{ op: "remove", path: "/metadata/finalizers/0" }],
  [{ op: "remove", path: "/metadata/finalizers" }],
  [{ op: "add", path: "/metadata/finalizers/-", value: "x.io/c" }],
  [{ op: "move", from: "/spec/map", path: "/spec/atomicMap" }],
  [{ op: "copy", from: "/spec/atomic", path: "/spec/set" }]
)

/** A single request. */
export const request: Arbitrary.Arbitrary<Request> = Arbitrary.all({
  verb: pick(
    ...verbs,
    ...(["apply", "apply", "apply", "merge", "merge", "json", "force", "apply status", "edit", "edit status"] as const)
  ),
  resource: pick(widgets, widgets, widgets, widgets, configMaps, configMaps, gadgets, deployments, secrets, leases),
  name: pick("a", "a", "a", "a", "b"),
  manager: pick("m1", "m1", "m2", "m3"),
  spec: Arbitrary.flatMap(pick(true, true, true, true, true, true, false), (some) => (some ? spec : pick(absent))),
  status,
  metadata,
  operations,
  uid: pick<Guard>(...Array.from({ length: 7 }, () => "none" as const), "now", "now", "old", "wrong"),
  version: pick<Guard>(...Array.from({ length: 7 }, () => "none" as const), "now", "now", "old", "wrong"),
  dryRun: pick(false, false, false, false, false, false, false, false, true)
})
