/**
 * Values brought into the shape of their schema: pruned, without nulls, with defaults.
 *
 * Guarantees: nothing is mutated; a part that does not change keeps its reference, and so does the whole.
 */
import { isList, isObject, type JsonObject, mapEntries, mapItems, setEntry } from "./json.ts"
import type { Schema } from "./schema.ts"

const metaFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

/** The schema of the values of a map, true where the schema has none to say, undefined where no further key is known. */
const additional = (schema: Schema): Schema | true | undefined =>
  isObject(schema.additionalProperties)
    ? schema.additionalProperties
    : schema.additionalProperties === undefined
      ? undefined
      : true

const property = (schema: Schema, key: string): Schema | undefined =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined

/**
 * Drops what the schema does not name. `unknown` has the paths of what went, such as `spec.rows[0].nope`, sorted. apiVersion, kind and metadata of the root
 * and of embedded resources are left alone.
 */
export const prune = (
  schema: Schema,
  value: unknown
): { readonly value: unknown; readonly unknown: ReadonlyArray<string> } => {
  const unknown: Array<string> = []
  const root =
    schema["x-kubernetes-embedded-resource"] === true ? schema : { ...schema, "x-kubernetes-embedded-resource": true }
  const out = pruneValue(root, value, "", unknown)
  return { value: out, unknown: unknown.sort() }
}

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`)

const pruneValue = (
  schema: Schema | undefined,
  value: unknown,
  path: string,
  unknown: Array<string>,
  preserved = false
): unknown => {
  const preserve = preserved || schema?.["x-kubernetes-preserve-unknown-fields"] === true
  if (isList(value)) {
    return mapItems(value, (item, index) =>
      // Lists below a preserving node go on preserving; objects named in it do not.
      pruneValue(schema?.items, item, `${path}[${index}]`, unknown, preserve)
    )
  }
  if (!isObject(value)) return value
  if (schema === undefined && preserve) return value
  return mapEntries(value, (child, key) => {
    if (schema?.["x-kubernetes-embedded-resource"] === true && metaFields.has(key)) return child
    const at = schema === undefined ? undefined : (property(schema, key) ?? additional(schema))
    if (at !== undefined) return pruneValue(at === true ? undefined : at, child, join(path, key), unknown)
    if (preserve) return child
    if (!metaFields.has(key) || path !== "") unknown.push(join(path, key))
    return undefined
  })
}

/**
 * Fills in defaults where a parent is present: none is made (F135). A null that is not nullable gives way to the default (F82, F103); `dropNulls` drops those without
 * one first, as every write but an apply does (F135).
 */
export const applyDefaults = (schema: Schema, value: unknown): unknown => {
  if (isList(value)) {
    const { items } = schema
    return items === undefined ? value : mapItems(value, (item) => applyDefaults(items, nullDefault(items, item)))
  }
  if (!isObject(value)) return value
  const filled = addMissing(schema, value)
  return mapEntries(filled, (child, key) => {
    const own = property(schema, key)
    if (own !== undefined) return applyDefaults(own, child)
    const rest = additional(schema)
    return rest === undefined || rest === true ? child : applyDefaults(rest, nullDefault(rest, child))
  })
}

const nullDefault = (schema: Schema, value: unknown): unknown =>
  value === null && schema.nullable !== true ? (schema.default ?? null) : value

const addMissing = (schema: Schema, value: JsonObject): JsonObject => {
  if (schema.properties === undefined) return value
  let out: Record<string, unknown> | undefined
  for (const key of Object.keys(schema.properties)) {
    const own = schema.properties[key]!
    if (own.default === undefined || own.default === null) continue
    if (Object.hasOwn(value, key) && (value[key] !== null || own.nullable === true)) continue
    if (out === undefined) {
      out = {}
      for (const present of Object.keys(value)) setEntry(out, present, value[present])
    }
    setEntry(out, key, own.default)
  }
  return out ?? value
}

/** Drops the nulls of fields that are neither nullable nor defaulted: what every write but an apply does before defaulting (F103, F135). */
export const dropNulls = (schema: Schema, value: unknown): unknown => {
  if (isList(value)) {
    const { items } = schema
    return items === undefined ? value : mapItems(value, (item) => dropNulls(items, item))
  }
  if (!isObject(value)) return value
  return mapEntries(value, (child, key) => {
    const own = property(schema, key)
    const at = own ?? additional(schema)
    if (at === undefined || at === true) return child
    if (child === null && at.nullable !== true && (at.default === undefined || at.default === null)) return undefined
    return dropNulls(at, child)
  })
}
