/** What a real server says of values of built-in kinds whose types are not those of their Go structs. */
import { goType } from "./goText.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import { jsonType } from "./objectMeta.ts"
import type { Schema } from "./schema.ts"

const goOf = (schema: Schema | undefined): string | undefined => {
  if (schema === undefined) return undefined
  const { additionalProperties: rest, format, type } = schema
  if (type === "integer") return format ?? "int64"
  if (typeof rest === "object") return `map[string]${goOf(rest) ?? "string"}`
  return goStruct(schema) ?? (type === undefined ? undefined : goTypes[type])
}

/** Of the first such value in an object that was sent as JSON. */
export const typeMistake = (
  { kind, schema }: { readonly kind: string; readonly schema: Schema },
  content: JsonObject
): string | undefined => {
  for (const [key, value] of Object.entries(content)) {
    if (key === "apiVersion" || key === "kind") continue
    const found = mistakeIn(
      schema.properties?.[key],
      value,
      key,
      kind,
      `${kind}${key[0]?.toUpperCase()}${key.slice(1)}`
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** The name of the Go struct, without and with its package. */
const structOf = ({ "x-type": name }: Schema): string | undefined =>
  typeof name === "string" ? name.slice(name.lastIndexOf(".") + 1) : undefined
const goStruct = ({ "x-type": name }: Schema): string | undefined =>
  typeof name === "string" ? name.split(".").slice(-2).join(".") : undefined

const goTypes: Readonly<Record<string, string>> = { string: "string", number: "float64", boolean: "bool" }

const mistakeIn = (
  schema: Schema | undefined,
  value: unknown,
  path: string,
  owner: string,
  below: string
): string | undefined => {
  if (schema === undefined || value === null) return undefined
  if (schema["x-kubernetes-int-or-string"] === true) return undefined
  const wrong = (type: string): string => {
    const shown = typeof value === "number" && type.startsWith("int") ? `number ${value}` : jsonType(value)
    return `json: cannot unmarshal ${shown} into Go struct field ${owner}.${path} of type ${type}`
  }
  switch (schema.type) {
    case "object": {
      if (!isObject(value)) return wrong(goOf(schema) ?? below)
      for (const [key, member] of Object.entries(value)) {
        const own = schema.properties?.[key]
        const rest = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined
        const found =
          own !== undefined
            ? mistakeIn(own, member, `${path}.${key}`, structOf(schema) ?? below, `${below}${key}`)
            : mistakeIn(rest, member, path, owner, below)
        if (found !== undefined) return found
      }
      return undefined
    }
    case "array": {
      if (!isList(value)) return wrong(`[]${goOf(schema.items) ?? below}`)
      for (const item of value) {
        const found = mistakeIn(schema.items, item, path, owner, below)
        if (found !== undefined) return found
      }
      return undefined
    }
    case "integer": {
      const most = schema.format === "int32" ? 2 ** 31 - 1 : 2 ** 63
      return typeof value === "number" && Number.isInteger(value) && value <= most && value >= -most - 1
        ? undefined
        : wrong(schema.format ?? "int64")
    }
    case "string":
    case "number":
    case "boolean":
      return typeof value === schema.type ? undefined : wrong(goTypes[schema.type]!)
  }
  return undefined
}

const kinds: Readonly<Record<string, string>> = {
  "[]interface {}": "slice",
  "map[string]interface {}": "map"
}

/** Of the first such value in an object that a strategic merge patch has made: that is converted, not decoded. */
export const conversionMistake = (schema: Schema | undefined, value: unknown): string | undefined => {
  if (schema === undefined || value === null || schema["x-kubernetes-int-or-string"] === true) return undefined
  const from = goType(value)
  const kind = kinds[from] ?? from
  switch (schema.type) {
    case "object": {
      const { additionalProperties: rest, properties } = schema
      if (!isObject(value)) {
        return properties === undefined ? `cannot restore map from ${kind}` : `cannot restore struct from: ${kind}`
      }
      return firstOf(Object.entries(value), ([key, member]) =>
        conversionMistake(properties?.[key] ?? (typeof rest === "object" ? rest : undefined), member)
      )
    }
    case "array":
      return isList(value)
        ? firstOf(value, (item) => conversionMistake(schema.items, item))
        : `cannot restore slice from ${kind}`
    case "integer": {
      if (typeof value === "number" && Number.isInteger(value)) return undefined
      const to = schema.format ?? "int64"
      return typeof value === "number" ? `cannot convert ${from} to ${to}` : `unrecognized type: ${to}`
    }
    case "string":
      if (typeof value === "string") return undefined
      if (schema.format === "byte") return `cannot restore slice from ${kind}`
      return from === "int64" ? `cannot convert ${from} to string` : "unrecognized type: string"
    case "number":
    case "boolean":
      return typeof value === schema.type ? undefined : `unrecognized type: ${goTypes[schema.type]}`
  }
  return undefined
}

const firstOf = <A>(items: ReadonlyArray<A>, f: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = f(item)
    if (found !== undefined) return found
  }
  return undefined
}
