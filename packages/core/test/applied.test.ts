import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ApiClient } from "../src/ApiClient.ts"
import { isApplied } from "../src/internal/applied.ts"
import { applyBody } from "../src/internal/applyBody.ts"
import * as Kind from "../src/Kind.ts"
import type { KubeObject, ObjectInput } from "../src/KubeObject.ts"

const Row = Schema.Struct({
  name: Schema.Literals(["a", "b", "c"]),
  size: Schema.optionalKey(Schema.Int),
  note: Schema.optionalKey(Schema.String)
})
class Widget extends Kind.make({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: Schema.Struct({
    size: Schema.optionalKey(Schema.Int),
    mode: Schema.optionalKey(Schema.String),
    map: Schema.optionalKey(Schema.Record(Schema.Literals(["x", "y", "z"]), Schema.optionalKey(Schema.String))),
    rows: Schema.optionalKey(Kind.listMap(Schema.Array(Row), ["name"])),
    tags: Schema.optionalKey(Kind.listSet(Schema.Array(Schema.Literals(["p", "q", "r"])))),
    list: Schema.optionalKey(Schema.Array(Schema.Struct({ v: Schema.Int })))
  })
}) {}

const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))
const word = Schema.Literals(["", "one", "two"])
const Desired = Schema.Struct({
  labels: Schema.optionalKey(Schema.Struct({ l: Schema.optionalKey(word), m: Schema.optionalKey(word) })),
  size: Schema.optionalKey(small),
  mode: Schema.optionalKey(word),
  map: Schema.optionalKey(Schema.Struct({ x: Schema.optionalKey(word), y: Schema.optionalKey(word) })),
  rows: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        name: Schema.Literals(["a", "b", "c"]),
        size: Schema.optionalKey(small),
        note: Schema.optionalKey(word)
      })
    )
  ),
  tags: Schema.optionalKey(Schema.Array(Schema.Literals(["p", "q", "r"]))),
  list: Schema.optionalKey(Schema.Array(Schema.Struct({ v: small })))
})

const desiredOf = ({ labels, rows, tags, ...spec }: typeof Desired.Type): ObjectInput =>
  applyBody({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: {
      name: "a",
      namespace: "ns1",
      ...(labels !== undefined && { labels: labels as Record<string, string> })
    },
    spec: {
      ...spec,
      ...(rows !== undefined && { rows: [...new Map(rows.map((row) => [row.name, row])).values()] }),
      ...(tags !== undefined && { tags: [...new Set(tags)] })
    }
  })

const hasEmpty = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.keys(value).length === 0 || Object.values(value).some(hasEmpty))

const ref = { namespace: "ns1", name: "a" }
const world = ApiServer.layer({
  kinds: [Kind.customResourceDefinition(Widget)],
  objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "ns1" } }]
})

describe("isApplied", () => {
  // One server for all runs: the object is deleted in each.
  it.layer(world)((it) => {
    it.effect.prop(
      "says that nothing differs exactly where the server finds an apply quiet (D28)",
      [Arbitrary.array(Arbitrary.schema(Desired), { maxLength: 3 }), Arbitrary.schema(Desired), Schema.Boolean],
      ([before, last, edited]) =>
        Effect.gen(function* () {
          const api = yield* ApiClient
          yield* Effect.ignore(api.delete(Widget, ref))
          const apply = (desired: ObjectInput, fieldManager: string) =>
            api.patch(Widget, ref, { type: "apply", body: desired, force: true }, { fieldManager })
          yield* apply(desiredOf({}), "seed")
          for (const desired of before) yield* Effect.ignore(apply(desiredOf(desired), "us"))
          if (edited)
            yield* api.patch(
              Widget,
              ref,
              { type: "merge", body: { spec: { size: 2, tags: ["p"], rows: [{ name: "a", note: "one" }] } } },
              { fieldManager: "hand" }
            )
          const live = yield* api.get(Widget, ref)
          const desired = desiredOf(last)
          const said = isApplied(live, desired, "us", undefined)
          const answer = yield* Effect.catchReason(apply(desired, "us"), "ApiError", "Invalid", () => Effect.undefined)
          // The real server, too, refuses an apply that leaves a parent empty which others do not fill: it makes it null.
          if (answer === undefined) return assert.isFalse(said)
          const quiet = answer.metadata.resourceVersion === live.metadata.resourceVersion
          if (said) {
            assert.deepStrictEqual(
              [answer.spec, answer.metadata.labels],
              [live.spec, live.metadata.labels],
              "content would have been left out"
            )
            // Ownership alone may be left out where we owned an empty collection that others have filled just so: it looks like an atomic one.
            if (!before.some((one) => hasEmpty(desiredOf(one))))
              assert.isTrue(quiet, "ownership would have been left out")
          }
          // An empty collection may be one of ours that others fill, or an atomic one that they changed: the fields do not tell, so the server is asked.
          if (quiet && !said) assert.isTrue(hasEmpty(desired), "an apply would be sent for nothing")
          if (!hasEmpty(desired))
            assert.isTrue(isApplied(answer, desired, "us", undefined), "what was just applied is applied")
        }),
      { arbitrary: { runs: 1_000 } }
    )
  })

  const stored = (fieldsV1: object, content: object) =>
    ({
      apiVersion: "v1",
      kind: "Thing",
      metadata: {
        name: "a",
        uid: "u",
        resourceVersion: "1",
        managedFields: [{ manager: "us", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 }]
      },
      ...content
    }) as any
  const desired = (content: object): ObjectInput => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "a" },
    ...content
  })

  it("knows a quantity in another form, and does not take data for one (B72)", () => {
    const fields = { "f:spec": { "f:limits": { "f:cpu": {}, "f:memory": {} } } }
    const live = stored(fields, { spec: { limits: { cpu: "1", memory: "1Gi" } } })
    assert.isTrue(isApplied(live, desired({ spec: { limits: { cpu: "1000m", memory: "1024Mi" } } }), "us", undefined))
    assert.isTrue(isApplied(live, desired({ spec: { limits: { cpu: 1, memory: "1Gi" } } }), "us", undefined))
    assert.isFalse(isApplied(live, desired({ spec: { limits: { cpu: "2", memory: "1Gi" } } }), "us", undefined))
    const data = stored({ "f:data": { "f:cpu": {} } }, { data: { cpu: "1" } })
    assert.isFalse(isApplied(data, desired({ data: { cpu: "1000m" } }), "us", undefined))
  })

  it("takes empty for absent, and a key that has a default for there (B73)", () => {
    const env = stored(
      { "f:env": { 'k:{"name":"A"}': { ".": {}, "f:name": {}, "f:value": {} } } },
      { env: [{ name: "A" }] }
    )
    assert.isTrue(isApplied(env, desired({ env: [{ name: "A", value: "" }] }), "us", undefined))
    const ports = stored(
      { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {}, "f:protocol": {} } } },
      { ports: [{ port: 80, protocol: "TCP", targetPort: 80 }] }
    )
    assert.isTrue(isApplied(ports, desired({ ports: [{ port: 80 }] }), "us", undefined))
    assert.isFalse(isApplied(ports, desired({ ports: [{ port: 81 }] }), "us", undefined))
  })

  it("compares an item that is owned whole, as an owner reference is, by its value (D28)", () => {
    const reference = { apiVersion: "v1", kind: "A", name: "a", uid: "u", controller: true, blockOwnerDeletion: true }
    const fields = { "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u"}': {} } } }
    const live = stored(fields, {})
    const bearing = (one: object): KubeObject => ({
      ...live,
      metadata: { ...live.metadata, ownerReferences: [{ uid: "v" }, one] as any }
    })
    const wanted = desired({})
    const input = { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [reference] } }
    assert.isTrue(isApplied(bearing(reference), input, "us", undefined))
    assert.isFalse(isApplied(bearing({ ...reference, controller: false }), input, "us", undefined))
    assert.isFalse(isApplied(bearing({ ...reference, uid: "w" }), input, "us", undefined))
    assert.isFalse(isApplied(live, input, "us", undefined))
  })

  it("an apply body has no empty metadata collections and no nulls (F103, F104)", () => {
    assert.deepStrictEqual(
      applyBody({
        metadata: { name: "a", labels: {}, finalizers: [], annotations: { a: "" } },
        spec: { a: null, b: { c: null, d: [null] }, e: {} }
      }),
      { metadata: { name: "a", annotations: { a: "" } }, spec: { b: { d: [null] }, e: {} } } as any
    )
  })
})
