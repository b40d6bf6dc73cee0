import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Kind from "../src/Kind.ts"
import type { KubeObject } from "../src/KubeObject.ts"

class Widget extends Kind.make({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: Schema.Struct({
    size: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
    mode: Schema.optionalKey(Schema.Literals(["a", "b"])),
    note: Schema.NullOr(Schema.String),
    port: Schema.Union([Schema.Int, Schema.String]),
    any: Schema.optionalKey(Schema.Unknown),
    ratio: Schema.optionalKey(Schema.Finite),
    code: Schema.optionalKey(Schema.String.check(Schema.isMinLength(2), Schema.isPattern(/^[a-z]+$/u))),
    rows: Kind.listMap(Schema.Array(Schema.Struct({ name: Schema.String })), ["name"]),
    tags: Schema.optionalKey(Kind.listSet(Schema.Array(Schema.String))),
    labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  }),
  status: Schema.Struct({ size: Schema.Int })
}) {}

const stored = (content: object): KubeObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "a", namespace: "ns1", uid: "u", resourceVersion: "1", generation: 1 },
  ...content
})
const spec = { size: 1, note: null, port: "http", rows: [] }

describe("Kind", () => {
  it("says the schema of its CRD with list types, bounds and a status subresource", () => {
    const crd = Kind.customResourceDefinition(Widget) as any
    assert.strictEqual(crd.metadata.name, "widgets.example.com")
    assert.deepStrictEqual(crd.spec.versions[0].subresources, { status: {} })
    const schema = crd.spec.versions[0].schema.openAPIV3Schema
    assert.deepStrictEqual(schema.required, ["spec"])
    assert.deepStrictEqual(schema.properties.spec.required, ["size", "note", "port", "rows"])
    assert.deepStrictEqual(schema.properties.spec.properties, {
      size: { type: "integer", format: "int64", minimum: 0, maximum: 100 },
      mode: { type: "string", enum: ["a", "b"] },
      note: { type: "string", nullable: true },
      port: { "x-kubernetes-int-or-string": true },
      any: { "x-kubernetes-preserve-unknown-fields": true },
      ratio: { type: "number" },
      // UTF-16 units against code points: half of the bound is what is safe to demand.
      code: { type: "string", minLength: 1, pattern: "^[a-z]+$" },
      rows: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: { type: "object", required: ["name"], properties: { name: { type: "string" } } }
      },
      tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      labels: { type: "object", additionalProperties: { type: "string" } }
    })
    const status = schema.properties.status
    assert.isUndefined(status.required, "the first write of a status may hold a condition alone")
    assert.strictEqual(status.properties.conditions["x-kubernetes-list-type"], "map")
    assert.deepStrictEqual(status.properties.conditions["x-kubernetes-list-map-keys"], ["type"])
  })

  it("takes a struct without fields for an object", () => {
    const kind = Kind.make({
      group: "example.com",
      version: "v1",
      kind: "K",
      scope: "Cluster",
      spec: Schema.Struct({})
    })
    assert.deepStrictEqual((Kind.structuralSchema(kind) as any).properties.spec, { type: "object" })
  })

  it("has no null type and no additionalProperties beside properties anywhere in its CRD (C12)", () => {
    const walk = (node: any): void => {
      if (typeof node !== "object" || node === null) return
      assert.notStrictEqual(node.type, "null")
      assert.isFalse(Array.isArray(node.type), "a union of types")
      assert.isFalse(node.properties !== undefined && node.additionalProperties !== undefined)
      Object.values(node).forEach(walk)
    }
    walk(Kind.structuralSchema(Widget))
  })

  it("refuses what a CRD cannot hold, with the path and the mend (C12)", () => {
    const refusal = (field: Schema.Codec<any, any>): string => {
      const kind = Kind.make({ group: "g", version: "v1", kind: "K", scope: "Cluster", spec: Schema.Struct({ field }) })
      try {
        Kind.structuralSchema(kind)
        return "accepted"
      } catch (error) {
        return String(error)
      }
    }
    assert.strictEqual(
      refusal(Schema.Tuple([Schema.String])),
      "UnstructuralSchema: spec.field: a CRD cannot hold a tuple: use a struct with named fields"
    )
    assert.include(
      refusal(Schema.Number),
      "spec.field: a CRD cannot hold NaN and Infinity: use Schema.Finite or Schema.Int"
    )
    assert.include(
      refusal(Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])),
      "spec.field: a CRD cannot hold a union of shapes"
    )
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree: Schema.Codec<Tree> = Schema.Struct({
      children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
    })
    assert.include(refusal(Tree), "a CRD cannot hold a recursive type")
  })

  it("has no status of ours for kinds of Kubernetes itself, whose controllers write it", () => {
    const spec = Schema.Struct({ replicas: Schema.Int })
    const has = (group: string) =>
      Kind.make({ group, version: "v1", kind: "Deployment", scope: "Namespaced", spec }).hasStatus
    assert.deepStrictEqual(["apps", "", "networking.k8s.io", "example.com"].map(has), [false, false, false, true])
  })

  it("guesses plurals as Kubernetes does", () => {
    const plural = (kind: string) => Kind.make({ group: "g", version: "v1", kind, scope: "Cluster" }).plural
    assert.deepStrictEqual(["Policy", "Ingress", "Gateway", "Endpoints", "Box", "Role"].map(plural), [
      "policies",
      "ingresses",
      "gateways",
      "endpoints",
      "boxes",
      "roles"
    ])
  })

  it("reads and writes what JSON has no word for in the form that its CRD says", () => {
    const dated = Kind.make({
      group: "example.com",
      version: "v1",
      kind: "Dated",
      scope: "Namespaced",
      spec: Schema.Struct({ at: Schema.Date, big: Schema.BigInt, maybe: Schema.optional(Schema.String) }),
      status: Schema.Struct({ seen: Schema.Date })
    })
    const fields = (Kind.structuralSchema(dated) as any).properties.spec.properties
    assert.deepStrictEqual([fields.at.type, fields.big.type, fields.maybe.nullable], ["string", "string", true])
    const spec = { at: "2026-01-01T00:00:00.000Z", big: "12345678901234567890" }
    const object = Result.getOrThrow(Kind.decode(dated, { ...stored({ spec }), kind: "Dated" }))
    assert.deepStrictEqual(object.spec, { at: new Date(spec.at), big: 12345678901234567890n })
    assert.deepStrictEqual(Kind.encode(dated, { ...object, metadata: { name: "a" } }).spec as object, spec)
    assert.deepStrictEqual(Kind.encodeStatus(dated, { seen: new Date(spec.at) }), { seen: spec.at })
    assert.isTrue(
      Result.isSuccess(Kind.decode(dated, { ...stored({ spec: { ...spec, maybe: null } }), kind: "Dated" }))
    )
  })

  it("tells a malformed object on one line that says where and what (K7)", () => {
    const result = Kind.decode(Widget, stored({ spec: { ...spec, size: "big" } }))
    assert.isTrue(Result.isFailure(result))
    if (Result.isFailure(result)) {
      assert.match(result.failure.message, /^Widget ns1\/a is malformed: .*size/)
      assert.notInclude(result.failure.message, "\n")
    }
    assert.isTrue(Result.isFailure(Kind.decode(Widget, stored({}))), "no spec at all")
  })

  it("leaves out the status fields of an older version that do not fit any more", () => {
    const result = Kind.decode(Widget, stored({ spec, status: { size: "1Gi", observedGeneration: 3 } }))
    assert.deepStrictEqual(Result.getOrThrow(result).status as object, { observedGeneration: 3 })
  })

  it.effect.prop(
    "what it encodes it decodes again, for any content (1,000 runs)",
    [Kind.arbitrary(Widget, { name: "a", namespace: "ns1" })],
    ([object]) =>
      Effect.sync(() => {
        const decoded = Result.getOrThrow(Kind.decode(Widget, stored(object as object)))
        const { metadata: _, ...encoded } = Kind.encode(Widget, { ...decoded, metadata: { name: "a" } })
        const { metadata: __, ...sent } = object
        assert.deepStrictEqual(encoded, sent)
      }),
    { arbitrary: { runs: 1_000 } }
  )
})
