/** What must hold of a value beyond its schema's keywords: keys of list maps and values of sets are unique, embedded resources name their kind (F97). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import { goJson, isList, isObject } from "./json.ts"
import { fieldInvalid, fieldRequired } from "./refusal.ts"
import type { Schema } from "./schema.ts"

const childField = (field: string, name: string): string => (field === "" ? name : `${field}.${name}`)

interface Visitor {
  readonly visit: (schema: Schema, value: unknown, field: string) => ReadonlyArray<StatusCause>
  /** Whether a schema itself asks for a visit. */
  readonly asks: (schema: Schema) => boolean
  /** What is known of schemas: whether they, or one below them, ask. */
  readonly known: WeakMap<Schema, boolean>
}

const isAsked = (schema: Schema, visitor: Visitor): boolean => {
  const known = visitor.known.get(schema)
  if (known !== undefined) return known
  const { additionalProperties, items, properties } = schema
  const below = [...Object.values(properties ?? {}), items, additionalProperties]
  const asked = visitor.asks(schema) || below.some((child) => isObject(child) && isAsked(child as Schema, visitor))
  visitor.known.set(schema, asked)
  return asked
}

/** Visits the objects and lists whose schemas ask for it, outermost first. */
const walk = (schema: Schema, value: unknown, field: string, visitor: Visitor): ReadonlyArray<StatusCause> => {
  if (!isAsked(schema, visitor)) return []
  const { additionalProperties, items, properties } = schema
  const causes = visitor.asks(schema) ? [...visitor.visit(schema, value, field)] : []
  if (isList(value)) {
    if (items !== undefined) {
      for (const [at, item] of value.entries()) causes.push(...walk(items, item, `${field}[${at}]`, visitor))
    }
  } else if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      if (properties !== undefined && Object.hasOwn(properties, name)) {
        causes.push(...walk(properties[name]!, child, childField(field, name), visitor))
      } else if (isObject(additionalProperties)) {
        causes.push(...walk(additionalProperties, child, `${field}[${name}]`, visitor))
      }
    }
  }
  return causes
}

const duplicate = (field: string, value: unknown): StatusCause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${typeof value === "string" ? JSON.stringify(value) : goJson(value)}`,
  field
})

/** The second of several equal ones, however many follow. */
const doubles = (values: ReadonlyArray<unknown>): ReadonlyArray<number> => {
  const seen = new Map<string, number>()
  const out: Array<number> = []
  for (const [at, value] of values.entries()) {
    const text = JSON.stringify(sorted(value))
    const times = (seen.get(text) ?? 0) + 1
    seen.set(text, times)
    if (times === 2) out.push(at)
  }
  return out
}

/** With the keys of objects in order, so that equal values have equal texts. */
const sorted = (value: unknown): unknown => {
  if (isList(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])])
  )
}

const lists: Visitor = {
  known: new WeakMap(),
  asks: (schema) => schema["x-kubernetes-list-type"] === "set" || schema["x-kubernetes-list-type"] === "map",
  visit: (schema, list, field) => {
    if (!isList(list)) return []
    if (schema["x-kubernetes-list-type"] === "map") {
      return mapCauses(schema["x-kubernetes-list-map-keys"] ?? [], list, field)
    }
    return doubles(list).map((index) => duplicate(`${field}[${index}]`, list[index]))
  }
}

/** Duplicates in sets and list maps. */
export const listCauses = (schema: Schema, value: unknown): ReadonlyArray<StatusCause> => walk(schema, value, "", lists)

const mapCauses = (
  keys: ReadonlyArray<string>,
  list: ReadonlyArray<unknown>,
  field: string
): ReadonlyArray<StatusCause> => {
  const odd = list.findIndex((item) => item !== null && !isObject(item))
  if (odd >= 0) {
    return [fieldInvalid(`${field}[${odd}]`, list[odd], "must be an object for an array of list-type map")]
  }
  const named = list.map((item) =>
    Object.fromEntries(
      keys.flatMap((key) => (isObject(item) && Object.hasOwn(item, key) ? [[key, item[key]] as const] : []))
    )
  )
  return doubles(named).map((index) => duplicate(`${field}[${index}]`, named[index]))
}

const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

const embedded: Visitor = {
  known: new WeakMap(),
  asks: (schema) => schema["x-kubernetes-embedded-resource"] === true,
  visit: (_, object, field) => {
    // The root is the request's to check.
    if (!isObject(object) || field === "") return []
    const causes: Array<StatusCause> = []
    const missing = (name: string): void => {
      if (!Object.hasOwn(object, name)) causes.push(fieldRequired(childField(field, name)))
    }
    missing("apiVersion")
    missing("kind")
    const text = (name: string, flaw: (text: string) => string | undefined): void => {
      if (!Object.hasOwn(object, name)) return
      const own = object[name]
      const problem = typeof own !== "string" ? "must be a string" : own === "" ? "must not be empty" : flaw(own)
      if (problem !== undefined) causes.push(fieldInvalid(childField(field, name), own, problem))
    }
    text("apiVersion", (own) => (own.split("/").length > 2 ? `unexpected GroupVersion string: ${own}` : undefined))
    text("kind", (own) =>
      own.length <= 63 && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(own.toLowerCase())
        ? undefined
        : `may have mixed case, but should otherwise match: ${dns1035}`
    )
    return causes
  }
}

/** What an embedded resource lacks of an object: apiVersion and kind. */
export const embeddedCauses = (schema: Schema, value: unknown): ReadonlyArray<StatusCause> =>
  walk(schema, value, "", embedded)
