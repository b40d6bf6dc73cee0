import { assert, describe, it } from "@effect/vitest"
import * as EffectSchema from "effect/Schema"
import { builtInBlank, builtInSchema, canonical, quantityMistake } from "../src/internal/builtInSchemas.ts"
import { equals } from "../src/internal/json.ts"
import { canonicalQuantity } from "../src/internal/quantity.ts"
import { applyDefaults, check, dropNulls, prune, type Schema, validate } from "../src/internal/structuralSchema.ts"
import { refusedSchemas } from "./schemaCorpus.ts"
import { Random, schema, value } from "./specimen.ts"

type Json = any

const runs = { arbitrary: { runs: 2_000 } }
const seed: [typeof EffectSchema.Int, typeof EffectSchema.Int, typeof EffectSchema.Int] = [
  EffectSchema.Int,
  EffectSchema.Int,
  EffectSchema.Int
]
const randomOf = ([a, b, c]: readonly [number, number, number]): Random =>
  new Random((a + 200) * 1_000_003 + (b + 200) * 1_009 + c)

const frozen = <A>(own: A): A => {
  if (typeof own === "object" && own !== null) {
    Object.freeze(own)
    for (const child of Object.values(own)) frozen(child)
  }
  return own
}

/** An object of the specimen's kind, with nulls, wrong types and unknown fields. */
const object = (random: Random): Json =>
  frozen({
    apiVersion: "specimen.example.com/v1",
    kind: "Specimen",
    metadata: { name: "s", labels: { a: "b" } },
    spec: value({ ...schema.properties!.spec!, default: undefined }, random, { density: 0.4, mischief: 0.1 })
  })

const spec = (properties: Readonly<Record<string, Schema>>, more: Partial<Schema> = {}): Schema => ({
  type: "object",
  properties: { spec: { type: "object", properties, ...more } }
})

describe("pruning", () => {
  it.prop(
    "what is pruned is pruned once, and then keeps its reference",
    seed,
    (s) => {
      const once = prune(schema, object(randomOf(s)))
      const twice = prune(schema, once.value)
      return twice.value === once.value && twice.unknown.length === 0
    },
    runs
  )

  it.prop(
    "nothing is unknown if and only if the object itself comes back",
    seed,
    (s) => {
      const own = object(randomOf(s))
      const pruned = prune(schema, own)
      return (pruned.unknown.length === 0) === (pruned.value === own)
    },
    runs
  )

  it("tells the paths of what it drops, and leaves metadata alone (F25)", () => {
    const own = {
      nope: 1,
      metadata: { nope: 1 },
      spec: { nope: 1, rows: [{ k: "a", nope: 1 }], boxes: { x: { nope: 1 } }, free: { anything: { goes: 1 } } }
    }
    assert.deepStrictEqual(prune(schema, own), {
      value: {
        metadata: { nope: 1 },
        spec: { rows: [{ k: "a" }], boxes: { x: {} }, free: { anything: { goes: 1 } } }
      },
      unknown: ["nope", "spec.boxes.x.nope", "spec.nope", "spec.rows[0].nope"]
    })
  })

  it("prunes what a preserving node names, but keeps what it does not", () => {
    const preserving = spec({
      a: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        properties: { b: { type: "object", properties: {} } }
      }
    })
    assert.deepStrictEqual(prune(preserving, { spec: { a: { b: { gone: 1 }, c: { kept: 1 } } } }).value, {
      spec: { a: { b: {}, c: { kept: 1 } } }
    })
  })

  it("leaves the kind of an embedded resource alone", () => {
    const embedding = spec({
      e: { type: "object", "x-kubernetes-embedded-resource": true, properties: { x: { type: "string" } } }
    })
    const own = { spec: { e: { apiVersion: "v1", kind: "K", metadata: { name: "n" }, x: "1" } } }
    assert.strictEqual(prune(embedding, own).value, own)
  })

  it("__proto__ is an unknown field like any other", () => {
    const pruned = prune(
      schema,
      JSON.parse('{"spec": {"__proto__": {"polluted": true}, "labels": {"__proto__": "x"}}}')
    )
    assert.deepStrictEqual(pruned.unknown, ["spec.__proto__"])
    assert.isTrue(Object.hasOwn((pruned.value as Json).spec.labels, "__proto__"))
    assert.isUndefined(({} as Json).polluted)
  })
})

describe("defaults", () => {
  it.prop(
    "what is filled in is filled in once, and then keeps its reference (F135)",
    seed,
    (s) => {
      const once = applyDefaults(schema, object(randomOf(s)))
      return applyDefaults(schema, once) === once
    },
    runs
  )

  it.prop(
    "nulls that are dropped are dropped once, and then the rest keeps its reference (F135)",
    seed,
    (s) => {
      const once = dropNulls(schema, object(randomOf(s)))
      return dropNulls(schema, once) === once
    },
    runs
  )

  it.prop(
    "parts without anything to fill in keep their reference",
    seed,
    (s) => {
      const own = object(randomOf(s))
      const filled = applyDefaults(schema, own) as Json
      if (typeof own.spec !== "object" || own.spec === null || Array.isArray(own.spec)) return true
      return Object.keys(own.spec).every(
        (name) => !equals(own.spec[name], filled.spec[name]) || own.spec[name] === filled.spec[name]
      )
    },
    runs
  )

  it("no missing parent is made (F135)", () => {
    assert.deepStrictEqual(applyDefaults(schema, { metadata: {} }), { metadata: {} })
    assert.deepStrictEqual(applyDefaults(schema, { spec: {} }), {
      spec: { mode: "a", filled: "f", made: { deep: 7 } }
    })
  })

  it("a null gives way to the default unless it may be null, and is dropped where there is none (F103, F135)", () => {
    const own = { spec: { mode: null, filled: null, maybe: null, size: null, made: { deep: null } } }
    assert.deepStrictEqual(applyDefaults(schema, dropNulls(schema, own)), {
      spec: { mode: "a", filled: null, maybe: null, made: { deep: 7 } }
    })
  })

  it("items and entries of maps are filled in, but none are made", () => {
    const own = { spec: { mode: "b", filled: "x", made: {}, rows: [{ k: "a" }], boxes: { x: {} } } }
    assert.deepStrictEqual(applyDefaults(schema, own), {
      spec: { mode: "b", filled: "x", made: { deep: 7 }, rows: [{ k: "a", n: 1 }], boxes: { x: { b: 1 } } }
    })
  })
})

const skipped = {
  reason: "FieldValueInvalid",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
  field: "<nil>"
}

describe("validation", () => {
  it.prop(
    "what a schema makes without mischief is valid",
    seed,
    (s) => {
      const random = randomOf(s)
      const own = value({ ...schema.properties!.spec!, default: undefined }, random, { density: 0.5, mischief: 0 })
      return validate(schema, { spec: own }).length === 0
    },
    runs
  )

  it.prop(
    "an object that has not changed is never refused (F136)",
    seed,
    (s) => {
      const own = object(randomOf(s))
      return validate(schema, own, own).length === 0
    },
    runs
  )

  it.each([
    [
      { type: "integer" },
      "x",
      ["FieldValueTypeInvalid", 'Invalid value: "string": spec.a in body must be of type integer: "string"']
    ],
    [
      { type: "integer", maximum: 100 },
      101,
      ["FieldValueInvalid", "Invalid value: 101: spec.a in body should be less than or equal to 100"]
    ],
    [
      { type: "string", enum: ["a", "b"] },
      "c",
      ["FieldValueNotSupported", 'Unsupported value: "c": supported values: "a", "b"']
    ],
    [
      { type: "string", maxLength: 10 },
      "abcdefghijk",
      ["FieldValueTooLong", "Too long: may not be more than 10 bytes"]
    ],
    [
      { type: "string", minLength: 1 },
      "",
      ["FieldValueInvalid", 'Invalid value: "": spec.a in body should be at least 1 chars long']
    ],
    [
      { type: "string", pattern: "^[a-z]+$" },
      "A",
      ["FieldValueInvalid", "Invalid value: \"A\": spec.a in body should match '^[a-z]+$'"]
    ],
    [
      { type: "string", format: "date-time" },
      "yesterday",
      ["FieldValueTypeInvalid", 'Invalid value: "yesterday": spec.a in body must be of type date-time: "yesterday"']
    ],
    [
      { "x-kubernetes-int-or-string": true },
      1.5,
      ["FieldValueTypeInvalid", 'Invalid value: "number": spec.a in body must be of type integer,string: "number"']
    ],
    [
      { type: "array", maxItems: 1, items: { type: "string" } },
      ["a", "b"],
      ["FieldValueTooMany", "Too many: 2: must have at most 1 item"]
    ]
  ] as ReadonlyArray<readonly [Schema, unknown, readonly [string, string]]>)(
    "%j refuses %j in the server's words (F133)",
    (own, given, [reason, message]) => {
      assert.deepStrictEqual(validate(spec({ a: own }), { spec: { a: given } }), [{ reason, message, field: "spec.a" }])
    }
  )

  it("says that rules were skipped only where there are rules, and after the kinds of causes that skip them (F133)", () => {
    const ruled = spec(
      { a: { type: "integer", maximum: 1 }, b: { type: "string" } },
      { "x-kubernetes-validations": [{ rule: "true" }] }
    )
    const reasons = (given: Json): ReadonlyArray<string | undefined> =>
      validate(ruled, { spec: given }).map(({ field }) => field)
    assert.deepStrictEqual(reasons({ a: 2 }), ["spec.a"])
    assert.deepStrictEqual(reasons({ b: 2 }), ["spec.b", "<nil>"])
    const found = [{ reason: "FieldValueRequired", message: "Required value", field: "metadata.name" }]
    assert.deepStrictEqual(validate(ruled, {}, undefined, { found }), [...found, skipped])
  })

  it("a missing required field and a duplicate are told where they stand (F97, F100)", () => {
    assert.deepStrictEqual(
      validate(schema, { spec: { rows: [{}, { k: "a" }, { k: "a" }] }, status: { conditions: [{ type: "x" }] } }),
      [
        { reason: "FieldValueRequired", message: "Required value", field: "spec.rows[0].k" },
        { reason: "FieldValueRequired", message: "Required value", field: "status.conditions[0].status" },
        { reason: "FieldValueDuplicate", message: 'Duplicate value: {"k":"a"}', field: "spec.rows[2]" }
      ]
    )
    assert.deepStrictEqual(validate(schema, { status: { count: -1 } }, {}, { subresource: "status" }), [
      {
        reason: "FieldValueInvalid",
        message: "Invalid value: -1: count in body should be greater than or equal to 0",
        field: "status.count"
      }
    ])
  })
})

describe("schemas that may be served", () => {
  it("a sound schema is served", () => {
    assert.deepStrictEqual(check(schema, { status: true }), [])
  })

  it.each([
    [
      "no type",
      ".properties[spec].properties[a].type",
      "Required value: must not be empty for specified object fields"
    ],
    ["list without items", ".properties[spec].properties[a].items", "Required value: must be specified"],
    ["reference", ".properties[spec].properties[a].$ref", "Forbidden: $ref is not supported"],
    [
      "default with unknown fields",
      ".properties[spec].properties[a].default",
      'Invalid value: {"z":1}: must not have unknown fields'
    ],
    [
      "default of another type",
      ".properties[spec].properties[a].default",
      'Invalid value: "integer":  in body must be of type string: "integer"'
    ],
    ["type within anyOf", ".properties[spec].properties[a].anyOf[0].type", "Forbidden: must be empty to be structural"],
    [
      "set of objects",
      ".properties[spec].properties[a].items.x-kubernetes-map-type",
      "Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"
    ],
    [
      "map list without keys",
      ".properties[spec].properties[a].x-kubernetes-list-map-keys",
      "Required value: must not be empty if x-kubernetes-list-type is map"
    ]
  ] as const)("%s is refused in the server's words (F144, F145)", (name, field, message) => {
    const causes = check(refusedSchemas[name]!)
    assert.deepStrictEqual(
      causes.map((cause) => [cause.field, cause.message]),
      [[`spec.validation.openAPIV3Schema${field}`, message]]
    )
  })
})

describe("built-in kinds", () => {
  const deployment = builtInSchema({ group: "apps", version: "v1", kind: "Deployment" })!

  it("have a schema each, and the same one each time", () => {
    for (const [group, version, kind] of [
      ["", "v1", "ConfigMap"],
      ["", "v1", "Secret"],
      ["", "v1", "Service"],
      ["apps", "v1", "Deployment"],
      ["", "v1", "Namespace"],
      ["", "v1", "Event"],
      ["events.k8s.io", "v1", "Event"],
      ["coordination.k8s.io", "v1", "Lease"],
      ["", "v1", "ServiceAccount"],
      ["apiextensions.k8s.io", "v1", "CustomResourceDefinition"]
    ] as const) {
      const own = builtInSchema({ group, version, kind })
      assert.strictEqual(own?.type, "object", kind)
      assert.strictEqual(builtInSchema({ group, version, kind }), own)
      assert.strictEqual(builtInBlank({ group, version, kind })?.kind, kind)
    }
    assert.isUndefined(builtInSchema({ group: "", version: "v2", kind: "ConfigMap" }))
  })

  it.each([
    ["1000m", "1"],
    ["1024Mi", "1Gi"],
    ["1000Ki", "1000Ki"],
    ["0.5", "500m"],
    ["1.5Gi", "1536Mi"],
    ["0.1Ki", "102400m"],
    ["1Ki", "1Ki"],
    ["1000", "1k"],
    ["1e3", "1e3"],
    ["-1.5", "-1500m"],
    ["0", "0"],
    ["0.0000000001", "1n"],
    [0.25, "250m"],
    [1, "1"],
    ["1x", undefined],
    ["", undefined],
    [null, undefined]
  ])("the quantity %j is stored as %j (F106)", (given, stored) => {
    assert.strictEqual(canonicalQuantity(given), stored)
  })

  it("objects are kept without nulls and what is empty, and with quantities in one form (F106, F107)", () => {
    const containers = (container: Json): Json => ({ spec: { template: { spec: { containers: [container] } } } })
    const own = containers({
      name: "c",
      args: [],
      command: null,
      resources: { limits: { cpu: "1000m" } },
      env: [{ name: "E", value: "" }]
    })
    assert.deepStrictEqual(
      canonical(deployment, own),
      containers({ name: "c", resources: { limits: { cpu: "1" } }, env: [{ name: "E" }] })
    )
    const kept = containers({ name: "c", resources: {}, securityContext: {} })
    assert.strictEqual(canonical(deployment, kept), kept)
    const configMap = builtInSchema({ group: "", version: "v1", kind: "ConfigMap" })!
    assert.deepStrictEqual(canonical(configMap, { data: { a: "", b: null }, binaryData: {} }), {
      data: { a: "", b: "" }
    })
  })

  it("an unreadable quantity is told (F97)", () => {
    const own = { spec: { template: { spec: { containers: [{ name: "c", resources: { limits: { cpu: "1x" } } }] } } } }
    assert.strictEqual(
      quantityMistake(deployment, own),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )
  })
})
