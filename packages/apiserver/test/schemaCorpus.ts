/** Schemas with one flaw each, a schema with every keyword, and values for it. */
import type { Schema } from "../src/internal/structuralSchema.ts"

type Json = any

const text: Schema = { type: "string" }

const spec = (a: Json, more: Json = {}): Schema => ({
  type: "object",
  properties: { spec: { type: "object", properties: { a, ...more } } }
})

const root = (more: Json): Schema => ({
  type: "object",
  properties: { spec: { type: "object", properties: { a: text } } },
  ...more
})

const listMap = (more: Json, items: Json = {}): Json => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
  items: { type: "object", required: ["k"], properties: { k: text, v: text }, ...items },
  ...more
})

export const refusedSchemas: Readonly<Record<string, Schema>> = {
  fine: spec(text),
  "no type": spec({}),
  "no type at the root": { properties: { spec: text } },
  "root of another type": { type: "array", items: text },
  "nullable root": root({ nullable: true }),
  "list without items": spec({ type: "array" }),
  "items without a type": spec({ type: "array", items: {} }),
  "items as a list": spec({ type: "array", items: [text] }),
  "both kinds of properties": spec({ type: "object", properties: { x: text }, additionalProperties: text }),
  "any further property": spec({ type: "object", properties: { x: text }, additionalProperties: true }),
  "no further property": spec({ type: "object", properties: { x: text }, additionalProperties: false }),
  "no property at all": spec({ type: "object", additionalProperties: false }),
  "map at the root": { type: "object", additionalProperties: text },
  "unique items": spec({ type: "array", items: text, uniqueItems: true }),
  reference: spec({ $ref: "#/x" }),
  id: spec({ type: "string", id: "x" }),
  "pattern properties": spec({ type: "object", patternProperties: { x: text } }),
  dependencies: spec({ type: "object", dependencies: { x: ["y"] } }),
  "another type": spec({ type: "date" }),
  "type null": spec({ type: "null" }),
  "default of another type": spec({ type: "string", default: 1 }),
  "default out of bounds": spec({ type: "integer", default: 5, maximum: 3 }),
  "default with unknown fields": spec({ type: "object", properties: { x: text }, default: { z: 1 } }),
  "default that misses a field": spec({ type: "object", required: ["x"], properties: { x: text }, default: {} }),
  "default in metadata": root({
    properties: { metadata: { type: "object", properties: { name: { type: "string", default: "x" } } }, spec: text }
  }),
  "type within anyOf": spec({ type: "string", anyOf: [{ type: "string" }] }),
  "much within anyOf": spec({
    type: "object",
    properties: { x: text },
    anyOf: [
      { title: "t", description: "d", nullable: true, default: {}, properties: { x: { minLength: 1 } } },
      { additionalProperties: { minLength: 1 } }
    ]
  }),
  "field only within allOf": spec({
    type: "object",
    properties: { x: text },
    allOf: [{ properties: { y: { minLength: 1 } } }]
  }),
  "items only within not": spec({ type: "object", properties: { x: text }, not: { items: { minLength: 1 } } }),
  "metadata within oneOf": spec({
    type: "object",
    properties: { metadata: { type: "object" } },
    oneOf: [{ properties: { metadata: { minProperties: 1 } } }]
  }),
  "int or string by anyOf": spec({
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "integer" }, { type: "string" }]
  }),
  "int or string by allOf": spec({
    "x-kubernetes-int-or-string": true,
    allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "^x" }]
  }),
  "int or string with a type": spec({ type: "string", "x-kubernetes-int-or-string": true }),
  "int or string that preserves": spec({
    "x-kubernetes-int-or-string": true,
    "x-kubernetes-preserve-unknown-fields": true
  }),
  "int or string that embeds": spec({ "x-kubernetes-int-or-string": true, "x-kubernetes-embedded-resource": true }),
  "bad pattern": spec({ type: "string", pattern: "(" }),
  "pattern that looks ahead": spec({ type: "string", pattern: "^(?=x)" }),
  "preserve false": spec({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  "preserve without a type": spec({ "x-kubernetes-preserve-unknown-fields": true }),
  "embedded without properties": spec({ type: "object", "x-kubernetes-embedded-resource": true }),
  "embedded without a type": spec({
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true
  }),
  "embedded map": spec({ type: "object", "x-kubernetes-embedded-resource": true, additionalProperties: text }),
  "embedded with a wrong kind": spec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    properties: { kind: { type: "integer" }, x: text }
  }),
  "embedded and preserving": spec({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true
  }),
  "metadata with a label": root({
    properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } }
  }),
  "metadata with a name": root({
    properties: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 } } } }
  }),
  "metadata of another type": root({ properties: { metadata: { type: "string" } } }),
  "kind of another type": root({ properties: { kind: { type: "integer" }, apiVersion: { type: "object" } } }),
  "map list": spec(listMap({})),
  "map list without keys": spec(listMap({ "x-kubernetes-list-map-keys": [] })),
  "map list with an unknown key": spec(listMap({ "x-kubernetes-list-map-keys": ["z"] })),
  "map list with a key twice": spec(listMap({ "x-kubernetes-list-map-keys": ["k", "k"] })),
  "map list with an optional key": spec(listMap({}, { required: [] })),
  "map list with a defaulted key": spec(
    listMap({}, { required: [], properties: { k: { type: "string", default: "x" } } })
  ),
  "map list with a nullable key": spec(listMap({}, { properties: { k: { type: "string", nullable: true } } })),
  "map list with a key that is a list": spec(listMap({}, { properties: { k: { type: "array", items: text } } })),
  "map list of texts": spec(listMap({ items: text })),
  "map list of nullable items": spec(listMap({}, { nullable: true })),
  "map list that is no list": spec({
    type: "object",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"]
  }),
  "list type without a type": spec({
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-list-type": "atomic"
  }),
  "another list type": spec({ type: "array", items: text, "x-kubernetes-list-type": "bag" }),
  "keys without a list type": spec({
    type: "array",
    items: { type: "object", properties: { k: text } },
    "x-kubernetes-list-map-keys": ["k"]
  }),
  "keys of a set": spec({
    type: "array",
    items: text,
    "x-kubernetes-list-type": "set",
    "x-kubernetes-list-map-keys": ["k"]
  }),
  "set of objects": spec({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "set" }),
  "set of atomic objects": spec({
    type: "array",
    items: { type: "object", "x-kubernetes-map-type": "atomic" },
    "x-kubernetes-list-type": "set"
  }),
  "set of sets": spec({
    type: "array",
    items: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    "x-kubernetes-list-type": "set"
  }),
  "another map type": spec({ type: "object", "x-kubernetes-map-type": "loose" }),
  "map type of a text": spec({ type: "string", "x-kubernetes-map-type": "atomic" }),
  "unknown format": spec({ type: "string", format: "nope" }),
  "rule without text": spec({ type: "string", "x-kubernetes-validations": [{ rule: " " }] })
}

/** Without CEL rules, so that no cause tells of skipped ones. */
export const rich: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      maxProperties: 4,
      properties: {
        text: { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z]*$" },
        one: { type: "string", maxLength: 1 },
        whole: { type: "integer", minimum: 0, maximum: 10, multipleOf: 2 },
        open: { type: "integer", exclusiveMinimum: true, minimum: 0, exclusiveMaximum: true, maximum: 10 },
        small: { type: "integer", format: "int32" },
        large: { type: "integer", format: "int64" },
        real: { type: "number", minimum: 0.5, maximum: 1.5 },
        float: { type: "number", format: "float" },
        flag: { type: "boolean" },
        port: { "x-kubernetes-int-or-string": true },
        maybe: { type: "string", nullable: true, enum: ["a", "b"] },
        choice: { type: "integer", enum: [1, 2] },
        when: { type: "string", format: "date-time" },
        day: { type: "string", format: "date" },
        span: { type: "string", format: "duration" },
        ip: { type: "string", format: "ipv4" },
        ip6: { type: "string", format: "ipv6" },
        net: { type: "string", format: "cidr" },
        mac: { type: "string", format: "mac" },
        id: { type: "string", format: "uuid" },
        link: { type: "string", format: "uri" },
        mail: { type: "string", format: "email" },
        host: { type: "string", format: "hostname" },
        bytes: { type: "string", format: "byte" },
        odd: { type: "string", format: "nope" },
        list: { type: "array", minItems: 1, maxItems: 2, items: text },
        single: { type: "array", maxItems: 1, items: { type: "object", required: ["x"], properties: { x: text } } },
        map: { type: "object", minProperties: 1, maxProperties: 1, additionalProperties: { type: "integer" } },
        closed: { type: "object", additionalProperties: false },
        any: { type: "string", anyOf: [{ minLength: 3 }, { pattern: "^x" }] },
        exactly: { type: "string", oneOf: [{ minLength: 3 }, { pattern: "^x" }] },
        all: { type: "string", allOf: [{ minLength: 3 }, { pattern: "^x" }] },
        not: { type: "string", not: { pattern: "^x" } },
        either: {
          type: "object",
          properties: { a: text, b: text },
          oneOf: [{ required: ["a"] }, { required: ["b"] }]
        },
        rows: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k", "l"],
          items: { type: "object", required: ["k"], properties: { k: text, l: { type: "integer", default: 1 } } }
        },
        set: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" },
        embedded: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true
        }
      }
    }
  }
}

/** Values of `spec`. Unless a flaw is wanted in combination, each has one field. */
export const validated: ReadonlyArray<Json> = [
  "text",
  7,
  [],
  null,
  { text: "" },
  { text: "abcde" },
  { text: "AB" },
  { text: "ab\u{1F600}" },
  { text: 1 },
  { text: ["a"] },
  { text: {} },
  { one: "ab" },
  { whole: 11 },
  { whole: -2 },
  { whole: 3 },
  { whole: 1.5 },
  { whole: "1" },
  { whole: true },
  { whole: 1e20 },
  { open: 0 },
  { open: 10 },
  { open: 5 },
  { small: 2_147_483_648 },
  { small: -2_147_483_649 },
  { small: 1.5 },
  { large: 1e19 },
  { large: "x" },
  { large: true },
  { real: 0.25 },
  { real: 2 },
  { real: 1 },
  { real: 1_234_567.5 },
  { real: -1e-7 },
  { real: "1" },
  { float: 1e39 },
  { flag: "true" },
  { flag: 0 },
  { port: 1.5 },
  { port: true },
  { port: {} },
  { port: "a" },
  { maybe: null },
  { maybe: "c" },
  { maybe: 1 },
  { choice: 3 },
  { choice: "1" },
  { when: "yesterday" },
  { when: "2020-01-01T00:00:00Z" },
  { when: "2020-02-30T00:00:00Z" },
  { when: "2020-01-01t24:00:00z" },
  { when: "2020-01-01T00:00:00.123+02:00" },
  { when: ["x"] },
  { when: 5 },
  { day: "2020-02-29" },
  { day: "2021-02-29" },
  { span: "1h30m" },
  { span: "5 days" },
  { span: "soon" },
  { ip: "1.2.3.4" },
  { ip: "1.2.3.400" },
  { ip: "::1" },
  { ip6: "::1" },
  { ip6: "1::2::3" },
  { ip6: "fe80::1.2.3.4" },
  { net: "10.0.0.0/8" },
  { net: "10.0.0.0/33" },
  { mac: "00:11:22:33:44:55" },
  { mac: "00:11" },
  { id: "2923da10-e000-4000-8000-000000000000" },
  { id: "x" },
  { link: "https://x/y" },
  { link: "x y" },
  { mail: "a@b" },
  { mail: "a" },
  { host: "a.b" },
  { host: "a_b!" },
  { bytes: "eA==" },
  { bytes: "eA=" },
  { odd: "anything" },
  { list: [] },
  { list: ["a", "b", "c"] },
  { list: [1, "b"] },
  { list: {} },
  { single: [{}, {}] },
  { single: [{ x: 1 }] },
  { single: ["x"] },
  { map: {} },
  { map: { a: 1, b: 2 } },
  { map: { a: "x" } },
  { map: { a: { b: 1 } } },
  { closed: {} },
  { closed: { a: 1 } },
  { any: "ab" },
  { any: "xy" },
  { exactly: "xyz" },
  { exactly: "ab" },
  { exactly: "abc" },
  { all: "ab" },
  { all: "xy" },
  { all: "xyz" },
  { not: "x" },
  { either: { a: "1", b: "2" } },
  { either: {} },
  { either: { b: "2" } },
  { rows: [{ k: "a" }, { k: "a" }] },
  { rows: [{ k: "a" }, { k: "a", l: 2 }, { k: "a", l: 1 }, { k: "a" }] },
  { rows: [{ l: 1 }] },
  { rows: ["x"] },
  { set: [1, 2, 1, 1, 2] },
  { embedded: {} },
  { embedded: { apiVersion: "v1", kind: "X", metadata: { name: "a" }, more: 1 } },
  { embedded: { apiVersion: "a/b/c", kind: "a b" } },
  { embedded: { apiVersion: "", kind: "K" } },
  { text: 1, whole: "x", list: [1], map: { a: "b" } },
  { text: "ab", one: "a", whole: 2, open: 1, small: 1 }
]
