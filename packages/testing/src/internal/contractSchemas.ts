/** Schemas: what they check, fill in, drop and refuse; and how kinds and schemas are found. */
import assert from "node:assert/strict"
import type { JsonSchema } from "@fixpoint/core/ApiClient"
import type { ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Case, cases, cause, eventually, isLater, refusedAs, rv, same } from "./contractBench.ts"
import { configMaps, definition, gadgets, group, widgets, zones } from "./contractKinds.ts"

const withSpec = (resource: Resource, spec: object): ObjectInput => definition(resource, { spec }) as ObjectInput

export const schemas: ReadonlyArray<Case> = cases("definitions", {
  "types, limits, enums, patterns and formats are checked, each in its words (F133)": function* (b) {
    const wrong: ReadonlyArray<readonly [Record<string, unknown>, string, string, string]> = [
      [
        { size: "x" },
        "spec.size",
        `Invalid value: "string": spec.size in body must be of type integer: "string"`,
        "FieldValueTypeInvalid"
      ],
      [
        { size: 101 },
        "spec.size",
        "Invalid value: 101: spec.size in body should be less than or equal to 100",
        "FieldValueInvalid"
      ],
      [
        { size: -1 },
        "spec.size",
        "Invalid value: -1: spec.size in body should be greater than or equal to 0",
        "FieldValueInvalid"
      ],
      [{ mode: "c" }, "spec.mode", `Unsupported value: "c": supported values: "a", "b"`, "FieldValueNotSupported"],
      [{ name: "abcdefghijk" }, "spec.name", "Too long: may not be more than 10 bytes", "FieldValueTooLong"],
      [
        { name: "A" },
        "spec.name",
        `Invalid value: "A": spec.name in body should match '^[a-z]+$'`,
        "FieldValueInvalid"
      ],
      [{ rows: [{ v: "1" }] }, "spec.rows[0].k", "Required value", "FieldValueRequired"],
      [
        { when: "yesterday" },
        "spec.when",
        `Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"`,
        "FieldValueTypeInvalid"
      ],
      [
        { port: 1.5 },
        "spec.port",
        `Invalid value: "number": spec.port in body must be of type integer,string: "number"`,
        "FieldValueTypeInvalid"
      ],
      [
        { map: { a: 1 } },
        "spec.map.a",
        `Invalid value: "integer": spec.map.a in body must be of type string: "integer"`,
        "FieldValueTypeInvalid"
      ],
      [
        { atomic: [1] },
        "spec.atomic[0]",
        `Invalid value: "integer": spec.atomic[0] in body must be of type string: "integer"`,
        "FieldValueTypeInvalid"
      ],
      [
        { nested: "x" },
        "spec.nested",
        `Invalid value: "string": spec.nested in body must be of type object: "string"`,
        "FieldValueTypeInvalid"
      ]
    ]
    for (const [spec, field, message, reason] of wrong) {
      yield* refusedAs(b.create(b.widget("a", spec)), {
        _tag: "Invalid",
        code: 422,
        message: `Widget.${group} "a" is invalid: ${field}: ${message}`,
        causes: [cause(field, message, reason)]
      })
    }
  },

  "what fits is stored as it is sent (F133)": function* (b) {
    const spec = {
      port: "a",
      when: "2020-01-01T00:00:00.123456+02:00",
      free: { any: [{ x: 1 }], nil: null },
      map: { a: "1" },
      atomicMap: {},
      rows: [],
      size: 0
    }
    const made = yield* b.create(b.widget("a", spec))
    same(made.spec, { ...spec, mode: "a", nestedDefault: { deep: 7 }, plainDefault: "d" })
    same(((yield* b.create(b.widget("b", { port: 1 }))).spec as any).port, 1)
  },

  "defaults fill an empty spec, and make none (F135)": function* (b) {
    const empty = yield* b.create(b.widget("a", {}))
    same(empty.spec, { mode: "a", nestedDefault: { deep: 7 }, plainDefault: "d" })
    same("spec" in (yield* b.create(b.widget("b"))), false)
  },

  "pruning leaves what a free field holds (F25, F135)": function* (b) {
    const made = yield* b.create({ ...b.widget("a", { free: { x: { y: 1 } }, nope: 1 }), other: 1 })
    same(
      [Object.keys(made).sort(), (made.spec as any).free, (made.spec as any).nope],
      [["apiVersion", "kind", "metadata", "spec"], { x: { y: 1 } }, undefined]
    )
  },

  "a schema that is not structural is refused (F144, F145)": function* (b) {
    const resource: Resource = { ...widgets, group: `${b.unique}.example.com`, kind: "Bad", plural: "bads" }
    const text = { type: "string" }
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{}, /properties\[a\]\.type: Required value: must not be empty for specified object fields/],
      [{ type: "array" }, /properties\[a\]\.items: Required value: must be specified/],
      [
        { type: "object", properties: { b: text }, additionalProperties: text },
        /properties\[a\]\.additionalProperties: Forbidden/
      ],
      [{ type: "string", default: 1 }, /properties\[a\]\.default: Invalid value/],
      [
        { type: "array", "x-kubernetes-list-type": "map", items: { type: "object", properties: { k: text } } },
        /must not be empty if x-kubernetes-list-type is map/
      ],
      [
        {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k"],
          items: { type: "object", properties: { k: text } }
        },
        /this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property/
      ],
      [
        {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["z"],
          items: { type: "object", required: ["z"], properties: { k: text } }
        },
        /entries must all be names of item properties/
      ],
      [
        { type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } },
        /must be atomic as item of a list with x-kubernetes-list-type=set/
      ]
    ]
    for (const [schema, message] of wrong) {
      const body = withSpec(resource, { type: "object", properties: { a: schema } })
      yield* refusedAs(b.create(body, { dryRun: true }), { _tag: "Invalid", code: 422, message, causes: "any" })
    }
  },

  "a definition's name and versions must fit (F146)": function* (b) {
    const resource: Resource = { ...widgets, group: `${b.unique}.example.com`, kind: "Bad", plural: "bads" }
    const base = definition(resource)
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ ...base, metadata: { name: `x.${resource.group}` } }, /must be spec.names.plural\+"."\+spec.group/],
      [
        { ...base, spec: { ...base.spec, versions: base.spec.versions.map((one) => ({ ...one, storage: false })) } },
        /must have exactly one version marked as storage version/
      ],
      [
        { ...base, spec: { ...base.spec, scope: "Nope" } },
        /spec.scope: Unsupported value: "Nope": supported values: "Cluster", "Namespaced"/
      ]
    ]
    for (const [body, message] of wrong) {
      yield* refusedAs(b.create(body as ObjectInput, { dryRun: true }), {
        _tag: "Invalid",
        code: 422,
        message,
        causes: "any"
      })
    }
  }
})

const property = (schema: JsonSchema, ...path: ReadonlyArray<string>): any =>
  path.reduce<any>((node, name) => node?.properties?.[name], schema)

export const discovery: ReadonlyArray<Case> = cases("discovery", {
  "a served kind is found with its verbs, scope and subresources (F168)": function* (b) {
    const found = yield* eventually(Effect.map(b.api.discover(widgets), Option.getOrThrow))
    same(
      { ...found, verbs: [...found.verbs].sort() },
      {
        plural: "widgets",
        singular: "widget",
        kind: "Widget",
        namespaced: true,
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        subresources: ["status"]
      }
    )
    const others = yield* Effect.forEach([gadgets, zones, configMaps], (resource) => b.api.discover(resource))
    same(others.map(Option.map((one) => [one.kind, one.namespaced, one.subresources])), [
      Option.some(["Gadget", true, []]),
      Option.some(["Zone", false, ["status"]]),
      Option.some(["ConfigMap", true, []])
    ])
  },

  "what is not served is not found, without an error (F168)": function* (b) {
    const absent = [
      { ...widgets, plural: "nopes" },
      { ...widgets, version: "v9" },
      { ...widgets, group: "nope.example.com" }
    ]
    same(
      yield* Effect.forEach(absent, (resource) => b.api.discover(resource)),
      absent.map(() => Option.none())
    )
  },

  "a schema keeps its list types, and a built-in kind has one too (F170)": function* (b) {
    const schema = yield* eventually(Effect.map(b.api.schema(widgets), Option.getOrThrow))
    const rows = property(schema, "spec", "rows")
    same([rows["x-kubernetes-list-type"], rows["x-kubernetes-list-map-keys"]], ["map", ["k"]])
    same(property(schema, "status", "conditions")["x-kubernetes-list-type"], "map")
    same(property(schema, "spec", "mode").default, "a")
    assert.ok(Option.isSome(yield* b.api.schema(configMaps)))
    same(yield* b.api.schema({ ...widgets, kind: "Nope" }), Option.none())
  },

  "a list and a get agree, and versions only grow (F2)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    const page = yield* b.list(widgets)
    same(page.items, [made])
    assert.ok(!isLater(page.resourceVersion, rv(made)))
  }
})
