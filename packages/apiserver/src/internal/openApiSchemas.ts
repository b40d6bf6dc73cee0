/** How the schema of a custom kind is published: with the fields that every object has, and in the words that clients read. */
import type { Definition } from "./definition.ts"
import { equals, isObject, type JsonObject } from "./json.ts"
import { refTo } from "./openApiPaths.ts"
import type { Schema } from "./schema.ts"

const conventions = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

const text = (description: string): JsonObject => ({ description, type: "string" })

const apiVersion = text(
  `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. ${conventions}#resources`
)
const kind = text(
  `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. ${conventions}#types-kinds`
)
const embeddedApiVersion = text(
  `apiVersion defines the versioned schema of this representation of an object. ${conventions}#resources`
)
const embeddedKind = text(
  `kind is a string value representing the type of this object. In CamelCase. ${conventions}#types-kinds`
)

const described = (description: string, schema: string): JsonObject => ({ description, allOf: [refTo(schema)] })

const metadata = described(
  `Standard object's metadata. ${conventions}#metadata`,
  "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)
const listMetadata = described(
  `Standard list metadata. ${conventions}#types-kinds`,
  "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
)

/** Published as they are, unless they say nothing. */
const plainKeywords = [
  "title",
  "description",
  "type",
  "format",
  "default",
  "nullable",
  "enum",
  "required",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "multipleOf",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "maxProperties",
  "minProperties",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations"
]

const saysNothing = (value: unknown, keyword: string): boolean =>
  value === undefined ||
  value === null ||
  (keyword !== "default" && (value === false || value === "" || (Array.isArray(value) && value.length === 0)))

const mapSchemas = (schemas: Readonly<Record<string, Schema>>): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, publish(schema)]))

const either: ReadonlyArray<Schema> = [{ type: "integer" }, { type: "string" }]

/** A value of two types says so in words that every client understands. */
const unfolded = (schema: Schema): Schema => {
  const { allOf = [], anyOf = [] } = schema
  if (schema["x-kubernetes-int-or-string"] !== true) return schema
  if (equals(anyOf, either) || equals(allOf[0], { anyOf: either })) return schema
  return anyOf.length === 0 ? { ...schema, anyOf: either } : { ...schema, allOf: [{ anyOf: either }, ...allOf] }
}

const embedded = (schema: JsonObject): JsonObject => {
  if (schema["x-kubernetes-embedded-resource"] !== true) return schema
  const required = (schema.required ?? []) as ReadonlyArray<string>
  return {
    ...schema,
    properties: {
      ...(schema.properties as JsonObject | undefined),
      apiVersion: embeddedApiVersion,
      kind: embeddedKind,
      metadata
    },
    required: [...required, ...["kind", "apiVersion"].filter((name) => !required.includes(name))]
  }
}

const publish = (own: Schema): JsonObject => {
  const schema = unfolded(own)
  const { additionalProperties, items, not, properties } = schema
  const out: Record<string, unknown> = {}
  for (const keyword of plainKeywords) {
    if (!saysNothing(schema[keyword], keyword)) out[keyword] = schema[keyword]
  }
  for (const keyword of ["allOf", "anyOf", "oneOf"] as const) {
    const branches = schema[keyword]
    if (branches !== undefined && branches.length > 0) out[keyword] = branches.map(publish)
  }
  if (properties !== undefined && Object.keys(properties).length > 0) out.properties = mapSchemas(properties)
  if (items !== undefined) out.items = publish(items)
  if (not !== undefined) out.not = publish(not)
  if (additionalProperties !== undefined) {
    out.additionalProperties = isObject(additionalProperties) ? publish(additionalProperties) : additionalProperties
  }
  return embedded(out)
}

/** `com.example.facts.v1.Widget`. */
export const schemaName = ({ group, kind, version }: Pick<Definition, "group" | "kind" | "version">): string =>
  [...group.split(".").toReversed(), version, kind].join(".")

/** The schemas of a custom kind and of its list, by name. */
export const customSchemas = (definition: Definition): Readonly<Record<string, JsonObject>> => {
  const { group, kind: own, listKind, plural, schema, version } = definition
  const name = schemaName(definition)
  const { properties, ...rest } = publish(schema)
  const of = (one: string): JsonObject => ({
    "x-kubernetes-group-version-kind": [{ group, kind: one, version }]
  })
  return {
    [name]: {
      ...rest,
      properties: { ...(properties as JsonObject | undefined), apiVersion, kind, metadata },
      ...of(own)
    },
    [schemaName({ group, version, kind: listKind })]: {
      description: `${listKind} is a list of ${own}`,
      type: "object",
      required: ["items"],
      properties: {
        apiVersion,
        items: { description: `List of ${plural}. ${conventions}`, type: "array", items: refTo(name) },
        kind,
        metadata: listMetadata
      },
      ...of(listKind)
    }
  }
}
