/**
 * Schemas of the built-in kinds, reduced from the OpenAPI documents of a real server, and the form in which such a server keeps their objects.
 *
 * Caveats: most validation of built-in kinds is written in Go and in no document. Whether a false or a 0 is kept depends on Go types that no document
 * tells: here they are.
 */
import type { Resource } from "@fixpoint/core/KubeObject"
import { definitions, kinds } from "./builtInSchemaData.ts"
import { isList, isObject, type JsonObject, mapEntries, mapItems } from "./json.ts"
import { canonicalQuantity, unreadable } from "./quantity.ts"
import type { Schema } from "./schema.ts"

/** Definitions read so far, by name; objects, so that one may hold itself. */
const read = new Map<string, Record<string, unknown>>()

const definition = (name: string): Schema | undefined => {
  const known = read.get(name)
  if (known !== undefined) return known
  const text = definitions[name]
  if (text === undefined) return undefined
  const schema: Record<string, unknown> = {}
  read.set(name, schema)
  return Object.assign(schema, { "x-type": name }, expand(JSON.parse(text) as Schema))
}

const expand = (schema: Schema): Schema => {
  const { $ref, ...own } = schema
  if (typeof $ref === "string") {
    const target = definition($ref) ?? {}
    return Object.keys(own).length === 0 ? target : { ...target, ...own }
  }
  const { additionalProperties, items, properties } = schema
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, expand(property)]))
    }),
    ...(items !== undefined && { items: expand(items) }),
    ...(isObject(additionalProperties) && { additionalProperties: expand(additionalProperties) })
  }
}

/** Undefined if the kind is not among those that the data has. The same object for the same kind. */
export const builtInSchema = (resource: Pick<Resource, "group" | "version" | "kind">): Schema | undefined => {
  const { group, kind, version } = resource
  const name = kinds[`${group === "" ? version : `${group}/${version}`} ${kind}`]
  return name === undefined ? undefined : definition(name)
}

/**
 * An object of the kind before anything is set in it: a new one is compared with this to see what its maker owns. Go's structs are never absent, and required
 * lists and pointers are null.
 */
export const builtInBlank = (resource: Pick<Resource, "group" | "version" | "kind">): JsonObject | undefined => {
  const schema = builtInSchema(resource)
  const { group, kind, version } = resource
  return schema === undefined
    ? undefined
    : { ...blank(schema), apiVersion: group === "" ? version : `${group}/${version}`, kind }
}

const blank = (schema: Schema): JsonObject =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, own]): ReadonlyArray<readonly [string, unknown]> => {
      if (own["x-pointer"] === true) return []
      if (own["x-struct"] === true || (isObject(own.default) && Object.keys(own.default).length === 0)) {
        return [[name, blank(own)]]
      }
      if (own.default === "" || own.default === 0 || own.default === false) return [[name, own.default]]
      return schema.required?.includes(name) === true ? [[name, null]] : []
    })
  )

/** What an endpoint of a built-in kind sets back, and nobody owns by it. Metadata is written by /status too, but for these (as measured). */
export const builtInResetFields = (
  resource: Pick<Resource, "group" | "kind">,
  subresource: string | undefined
): ReadonlyArray<string> => {
  if (subresource !== "status") return ["status"]
  switch (`${resource.group} ${resource.kind}`) {
    case "apps Deployment":
      return ["spec", "metadata.labels"]
    case " Pod":
      return ["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"]
    case "apiextensions.k8s.io CustomResourceDefinition":
      return ["spec", "metadata"]
  }
  return ["spec"]
}

/** Texts of which an empty one says something. */
const meaningful: ReadonlySet<string> = new Set(["storageClassName", "holderIdentity"])

/**
 * The form in which the server keeps the object: without nulls, empty texts, lists and maps (F107), and with quantities in their one form (F106). Structs that
 * are empty stay. Parts that do not change keep their reference.
 */
export const canonical = (schema: Schema, value: unknown): unknown => {
  if (schema.format === "quantity") return canonicalQuantity(value) ?? value
  if (isList(value)) {
    const { items } = schema
    return items === undefined ? value : mapItems(value, (item) => canonical(items, item))
  }
  if (!isObject(value)) return value
  const { additionalProperties, properties } = schema
  if (properties === undefined && isObject(additionalProperties)) {
    // An entry of a map stays, and is empty where it was null.
    return mapEntries(value, (entry) =>
      entry === null && additionalProperties.type === "string" ? "" : canonical(additionalProperties, entry)
    )
  }
  return mapEntries(value, (member, name) => {
    const own = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
    if (own === undefined) return member
    const next = canonical(own, member)
    return own.default === undefined && isNothing(own, next) && !meaningful.has(name) ? undefined : next
  })
}

const isNothing = (schema: Schema, value: unknown): boolean =>
  value === null ||
  (value === "" && schema["x-kubernetes-int-or-string"] !== true) ||
  (isList(value) && value.length === 0) ||
  (isObject(value) && schema.additionalProperties !== undefined && Object.keys(value).length === 0)

/** What the server says of the first quantity that it cannot read (F97). */
export const quantityMistake = (schema: Schema, value: unknown): string | undefined => {
  if (schema.format === "quantity") {
    return value === null || canonicalQuantity(value) !== undefined ? undefined : unreadable
  }
  const { additionalProperties, items, properties } = schema
  const below: ReadonlyArray<readonly [Schema | undefined, unknown]> = isList(value)
    ? value.map((item) => [items, item] as const)
    : isObject(value)
      ? Object.entries(value).map(
          ([name, member]) =>
            [
              properties !== undefined && Object.hasOwn(properties, name)
                ? properties[name]
                : isObject(additionalProperties)
                  ? additionalProperties
                  : undefined,
              member
            ] as const
        )
      : []
  for (const [own, member] of below) {
    const mistake = own === undefined ? undefined : quantityMistake(own, member)
    if (mistake !== undefined) return mistake
  }
  return undefined
}
