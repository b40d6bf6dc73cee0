/**
 * The older OpenAPI, of everything at once: kubectl reads it where the newer one does not tell what a request may take, and Go clients from before that always.
 *
 * Caveat: it has the schemas alone, no paths: kubectl of 1.26 and older takes no `--dry-run=server` for that.
 */
import { isObject, type JsonObject } from "./json.ts"
import type { OpenApiData } from "./openApi.ts"
import { customSchemas } from "./openApiSchemas.ts"
import * as Writer from "./protobufWriter.ts"
import * as SortedMap from "./sortedMap.ts"
import type { State } from "./state.ts"

const mapMembers = (object: unknown, f: (member: JsonObject) => JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object as JsonObject).map(([name, member]) => [name, f(member as JsonObject)]))

const isNullable = (schema: unknown): boolean => isObject(schema) && schema.nullable === true

const unknownFields = "x-kubernetes-preserve-unknown-fields"

/** What stays required: what is never null. An embedded object of unknown fields requires nothing that it was not told to. */
const requiredOf = (schema: JsonObject): ReadonlyArray<string> => {
  const { additionalProperties, properties, required } = schema
  if (isNullable(additionalProperties)) return []
  const added = schema[unknownFields] === true && schema["x-kubernetes-embedded-resource"] === true
  return ((required ?? []) as ReadonlyArray<string>).filter(
    (name) =>
      !(isObject(properties) && isNullable(properties[name])) && !(added && (name === "kind" || name === "apiVersion"))
  )
}

/** A schema in the older words: without defaults, alternatives and nulls, of which it knows none. */
const older = (schema: JsonObject): JsonObject => {
  const {
    additionalProperties,
    allOf,
    anyOf: _a,
    default: _d,
    items,
    not: _n,
    nullable,
    oneOf,
    properties,
    ...rest
  } = schema
  const out: Record<string, unknown> = { ...rest }
  const required = requiredOf(schema)
  if (required.length > 0) out.required = required
  else delete out.required
  const [only] = (allOf ?? []) as ReadonlyArray<JsonObject>
  const ref = rest.$ref ?? only?.$ref
  if (typeof ref === "string") out.$ref = ref.replace("#/components/schemas/", "#/definitions/")
  // Text or a number: as text.
  if (oneOf !== undefined && rest.type === undefined && rest[unknownFields] === undefined) out.type = "string"
  if (additionalProperties !== undefined) {
    out.additionalProperties = isObject(additionalProperties) ? older(additionalProperties) : additionalProperties
  }
  const open = nullable === true || rest[unknownFields] === true
  if (!open && items !== undefined) out.items = older(items as JsonObject)
  if (!open && properties !== undefined) out.properties = mapMembers(properties, older)
  const shapeless =
    out.type === "array" ? out.items === undefined : out.type === "object" && rest[unknownFields] === true
  if (nullable === true || shapeless) delete out.type
  return out
}

const kinds = "x-kubernetes-group-version-kind"

/** Every schema by name. */
const definitionsOf = (state: State, data: OpenApiData): JsonObject => {
  const custom = SortedMap.values(state.served)
    .filter((definition) => definition.custom)
    .flatMap((definition) => Object.entries(customSchemas(definition)))
    // Where anything goes nothing is told, or clients would refuse the rest.
    .map(([name, schema]) => [
      name,
      schema[unknownFields] === true ? { type: "object", [kinds]: schema[kinds] } : older(schema)
    ])
  return { ...mapMembers(data.definitions, older), ...Object.fromEntries(custom) }
}

/** As JSON. */
export const document = (state: State, data: OpenApiData): JsonObject => ({
  swagger: "2.0",
  info: { title: "Kubernetes", version: data.release.replace(/^v(\d+\.\d+)\..*$/, "$1") },
  paths: {},
  definitions: definitionsOf(state, data)
})

/** JSON is YAML, in which these values are written. */
const yaml = (value: unknown): Uint8Array => Writer.text(2, JSON.stringify(value))

const numbers: ReadonlyArray<readonly [string, number]> = [
  ["maxLength", 11],
  ["minLength", 12],
  ["maxItems", 14],
  ["minItems", 15],
  ["maxProperties", 17],
  ["minProperties", 18]
]
const texts: ReadonlyArray<readonly [string, number]> = [
  ["$ref", 1],
  ["format", 2],
  ["title", 3],
  ["description", 4],
  ["pattern", 13]
]
const doubles: ReadonlyArray<readonly [string, number]> = [
  ["multipleOf", 6],
  ["maximum", 7],
  ["minimum", 9]
]
const flags: ReadonlyArray<readonly [string, number]> = [
  ["exclusiveMaximum", 8],
  ["exclusiveMinimum", 10],
  ["uniqueItems", 16]
]

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const named = (members: unknown): ReadonlyArray<Uint8Array> =>
  Object.entries((members ?? {}) as JsonObject).map(([name, schema]) =>
    Writer.message(1, [Writer.text(1, name), Writer.message(2, schemaParts(schema as JsonObject))])
  )

/** The fields of gnostic's `openapi.v2.Schema`. */
const schemaParts = (schema: JsonObject): ReadonlyArray<Uint8Array> => {
  const { additionalProperties, enum: values, items, properties, required, type } = schema
  return [
    ...texts.flatMap(([key, field]) => (schema[key] === undefined ? [] : [Writer.text(field, schema[key] as string)])),
    ...doubles.flatMap(([key, field]) =>
      schema[key] === undefined ? [] : [Writer.double(field, schema[key] as number)]
    ),
    ...flags.flatMap(([key, field]) => (schema[key] === true ? [Writer.whole(field, 1)] : [])),
    ...numbers.flatMap(([key, field]) =>
      schema[key] === undefined ? [] : [Writer.whole(field, schema[key] as number)]
    ),
    ...listOf(required).map((name) => Writer.text(19, name as string)),
    ...listOf(values).map((value) => Writer.message(20, [yaml(value)])),
    ...(isObject(additionalProperties)
      ? [Writer.message(21, [Writer.message(1, schemaParts(additionalProperties))])]
      : []),
    ...(additionalProperties === true ? [Writer.message(21, [Writer.whole(2, 1)])] : []),
    ...(typeof type === "string" ? [Writer.message(22, [Writer.text(1, type)])] : []),
    ...(isObject(items) ? [Writer.message(23, [Writer.message(1, schemaParts(items))])] : []),
    ...(isObject(properties) ? [Writer.message(25, named(properties))] : []),
    ...Object.entries(schema)
      .filter(([key]) => key.startsWith("x-"))
      .map(([key, value]) => Writer.message(31, [Writer.text(1, key), Writer.message(2, [yaml(value)])]))
  ]
}

/** As gnostic's `openapi.v2.Document`, the one form that Go clients ask for. */
export const binary = (state: State, data: OpenApiData): Uint8Array => {
  const { definitions, info, swagger } = document(state, data) as { [key: string]: any }
  return Writer.concat([
    Writer.text(1, swagger),
    Writer.message(2, [Writer.text(1, info.title), Writer.text(2, info.version)]),
    Writer.message(8, []),
    Writer.message(9, named(definitions))
  ])
}
