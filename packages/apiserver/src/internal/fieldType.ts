/**
 * How server-side apply sees a value: as a scalar, a list or a map, each merged whole (atomic) or by parts. Compiled from a schema, as the server compiles its
 * OpenAPI documents; a node without a type is all three.
 */
import * as FieldSet from "./fieldSet.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import type { Schema } from "./schema.ts"

export type Scalar = "numeric" | "string" | "boolean" | "untyped"

export interface ListType {
  readonly atomic: boolean
  /** The keys of a list map; none for a set. */
  readonly keys: ReadonlyArray<string>
  readonly element: FieldType
}

export interface MapType {
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, { readonly type: FieldType; readonly default: unknown }>
  /** What keys hold that are not among the fields; undefined if there must be none. */
  readonly element: FieldType | undefined
}

/** A node's forms: those of them that a value may have. */
export interface FieldType {
  readonly scalar: Scalar | undefined
  readonly list: ListType | undefined
  readonly map: MapType | undefined
}

/** Of values that no schema describes and that are merged whole. */
const untyped: FieldType = {
  scalar: "untyped",
  get list(): ListType {
    return untypedList
  },
  get map(): MapType {
    return untypedMap
  }
}
const untypedList: ListType = { atomic: true, keys: [], element: untyped }
const untypedMap: MapType = { atomic: true, fields: new Map(), element: untyped }

/** Of values that no schema describes: maps are merged by keys, lists whole. */
const deduced: FieldType = {
  scalar: "untyped",
  list: untypedList,
  get map(): MapType {
    return deducedMap
  }
}
const deducedMap: MapType = { atomic: false, fields: new Map(), element: deduced }

const scalar = (of: Scalar): FieldType => ({ scalar: of, list: undefined, map: undefined })
const scalars = {
  numeric: scalar("numeric"),
  string: scalar("string"),
  boolean: scalar("boolean"),
  untyped: scalar("untyped")
}

/** By schema, apart for those below a node that preserves unknown fields: a schema may hold itself. */
const compiled = { strict: new WeakMap<Schema, FieldType>(), preserving: new WeakMap<Schema, FieldType>() }

const typeOf = (schema: Schema, preserved: boolean): FieldType => {
  // Once told to preserve, everything below lets unknown fields pass too.
  const preserve = preserved || schema["x-kubernetes-preserve-unknown-fields"] === true
  const types = preserve ? compiled.preserving : compiled.strict
  const known = types.get(schema)
  if (known !== undefined) return known
  const type = compile(schema, preserve)
  types.set(schema, type)
  return type
}

const compile = (schema: Schema, preserve: boolean): FieldType => {
  switch (schema.type) {
    case "object":
      return { scalar: undefined, list: undefined, map: mapOf(schema, preserve) }
    case "array":
      return { scalar: undefined, list: listOf(schema, preserve), map: undefined }
    case "integer":
    case "number":
      return scalars.numeric
    case "boolean":
      return scalars.boolean
    case "string":
      // A format may stand for another form of the value, such as a number.
      return schema.format === undefined || schema.format === "" || schema.format === "byte"
        ? scalars.string
        : scalars.untyped
  }
  if (schema.format === "quantity") return scalars.untyped
  return { scalar: "untyped", list: listOf(schema, preserve), map: mapOf(schema, preserve) }
}

/** Computes once, when first asked. */
const lazy = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

const listOf = (schema: Schema, preserve: boolean): ListType => {
  const how = schema["x-kubernetes-list-type"] ?? "atomic"
  const element = lazy(() => (schema.items === undefined ? untyped : typeOf(schema.items, preserve)))
  return {
    atomic: how === "atomic",
    keys: how === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [],
    get element(): FieldType {
      return element()
    }
  }
}

const mapOf = (schema: Schema, preserve: boolean): MapType => {
  const fields = lazy(() => fieldsOf(schema, preserve))
  const element = lazy(() => elementType(schema, preserve))
  return {
    atomic: schema["x-kubernetes-map-type"] === "atomic",
    get fields(): MapType["fields"] {
      return fields()
    },
    get element(): FieldType | undefined {
      return element()
    }
  }
}

const fieldsOf = (schema: Schema, preserve: boolean): MapType["fields"] => {
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      { type: typeOf(property, preserve), default: property.default }
    ])
  )
  if (schema["x-kubernetes-embedded-resource"] === true) {
    for (const [name, type] of meta) fields.set(name, { type, default: undefined })
  }
  return fields
}

const elementType = (schema: Schema, preserve: boolean): FieldType | undefined => {
  const { additionalProperties, properties = {} } = schema
  if (isObject(additionalProperties)) return typeOf(additionalProperties, preserve)
  if (additionalProperties !== undefined) return additionalProperties ? deduced : undefined
  return preserve || Object.keys(properties).length === 0 ? deduced : undefined
}

const texts: Schema = { type: "object", additionalProperties: { type: "string" } }

/** The metadata of every object: finalizers are a set, owner references a map by uid of which each is whole (F96). */
const objectMeta: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    generateName: { type: "string" },
    namespace: { type: "string" },
    selfLink: { type: "string" },
    uid: { type: "string" },
    resourceVersion: { type: "string" },
    generation: { type: "integer" },
    creationTimestamp: { type: "string", format: "date-time" },
    deletionTimestamp: { type: "string", format: "date-time" },
    deletionGracePeriodSeconds: { type: "integer" },
    labels: texts,
    annotations: texts,
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ownerReferences: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          name: { type: "string" },
          uid: { type: "string" },
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" }
        }
      }
    },
    managedFields: {
      type: "array",
      "x-kubernetes-list-type": "atomic",
      items: {
        type: "object",
        properties: {
          manager: { type: "string" },
          operation: { type: "string" },
          apiVersion: { type: "string" },
          time: { type: "string", format: "date-time" },
          fieldsType: { type: "string" },
          fieldsV1: { type: "object" },
          subresource: { type: "string" }
        }
      }
    }
  }
}

const meta: ReadonlyArray<readonly [string, FieldType]> = [
  ["apiVersion", scalars.string],
  ["kind", scalars.string],
  ["metadata", typeOf(objectMeta, false)]
]

const roots = new WeakMap<Schema, FieldType>()

/** The type of whole objects of a schema; metadata is what it is for all. Compiled once for a schema. */
export const ofObject = (schema: Schema): FieldType => {
  const known = roots.get(schema)
  if (known !== undefined) return known
  const type = typeOf({ ...schema, type: "object", "x-kubernetes-embedded-resource": true }, false)
  roots.set(schema, type)
  return type
}

/** The forms of the type that the value has; all of them for null, which fits each, and for a value that fits none. */
export const deduce = (type: FieldType, value: unknown): FieldType => {
  if (value === undefined || value === null) return type
  if (isList(value)) return type.list === undefined ? type : only(type, "list")
  if (isObject(value)) return type.map === undefined ? type : only(type, "map")
  return type.scalar === undefined ? type : only(type, "scalar")
}

const forms = ["scalar", "list", "map"] as const

const only = (type: FieldType, form: keyof FieldType): FieldType =>
  forms.every((other) => other === form || type[other] === undefined)
    ? type
    : { scalar: undefined, list: undefined, map: undefined, [form]: type[form] }

export const isSame = (a: FieldType, b: FieldType): boolean =>
  a.scalar === b.scalar && a.list === b.list && a.map === b.map

/** The type of a member of a map; undefined if it must not be. */
export const memberOf = (map: MapType, name: string): FieldType | undefined => map.fields.get(name)?.type ?? map.element

/** How an item of a list map or set is named, or why it cannot be. */
export const elementOf = (
  list: ListType,
  item: unknown
): { readonly element: FieldSet.PathElement } | { readonly error: string } => {
  if (list.atomic) return { error: "invalid indexing of non-associative list" }
  if (list.keys.length === 0) {
    if (isObject(item)) return { error: "associative list without keys has an element that's a map type" }
    if (isList(item)) return { error: "not supported: associative list with lists as elements" }
    if (item === null) return { error: "associative list without keys has an element that's an explicit null" }
    return { element: FieldSet.value(item) }
  }
  if (item === null) return { error: "associative list with keys may not have a null element" }
  if (!isObject(item)) return { error: "associative list with keys may not have non-map elements" }
  return keyed(list, item)
}

const keyed = (
  list: ListType,
  item: JsonObject
): { readonly element: FieldSet.PathElement } | { readonly error: string } => {
  const fields: Array<readonly [string, unknown]> = []
  for (const name of list.keys) {
    if (Object.hasOwn(item, name)) fields.push([name, item[name]])
    else {
      if (list.element.map === undefined) {
        return { error: `couldn't find default value for ${name}: associative list may not have non-map types` }
      }
      const known = list.element.map.fields.get(name)?.default
      if (known !== undefined && known !== null) fields.push([name, known])
    }
  }
  if (fields.length > 0) return { element: FieldSet.key(fields) }
  const keys = list.keys.map((name) => JSON.stringify(name)).join(" ")
  return {
    error: `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`
  }
}
