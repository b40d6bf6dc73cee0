/** What the keywords of a CustomResourceDefinition's schema may say, node by node (F144, F145). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import { isObject } from "./json.ts"
import { fieldForbidden, fieldInvalid, fieldRequired, fieldUnsupported } from "./refusal.ts"
import type { Schema } from "./schema.ts"

interface Context {
  /** Why no default may be here. */
  readonly noDefault: string | undefined
  readonly insideMeta: boolean
}

export const keywordCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> =>
  node(schema, field, { noDefault: undefined, insideMeta: false }, true)

const metaNames: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

const node = (schema: Schema, field: string, context: Context, root = false): ReadonlyArray<StatusCause> => {
  const { additionalProperties, allOf = [], anyOf = [], items, not, oneOf = [], properties = {} } = schema
  const causes = [...plainCauses(schema, field, context)]
  if (additionalProperties !== undefined) {
    if (Object.keys(properties).length > 0 && additionalProperties !== true) {
      causes.push(
        fieldForbidden(`${field}.additionalProperties`, "additionalProperties and properties are mutual exclusive")
      )
    }
    if (isObject(additionalProperties)) {
      const noDefault = context.insideMeta
        ? "inside additionalProperties applying to object metadata"
        : context.noDefault
      causes.push(...node(additionalProperties, `${field}.additionalProperties`, { ...context, noDefault }))
    }
  }
  for (const [name, own] of Object.entries(properties)) {
    const meta = (root || schema["x-kubernetes-embedded-resource"] === true) && metaNames.has(name)
    const below = meta ? { insideMeta: true, noDefault: root ? `in top-level ${name}` : context.noDefault } : context
    causes.push(...node(own, `${field}.properties[${name}]`, below))
  }
  if (not !== undefined) causes.push(...node(not, `${field}.not`, context))
  allOf.forEach((one, at) => causes.push(...node(one, `${field}.allOf[${at}]`, context)))
  oneOf.forEach((one, at) => causes.push(...node(one, `${field}.oneOf[${at}]`, context)))
  anyOf.forEach((one, at) => causes.push(...node(one, `${field}.anyOf[${at}]`, context)))
  if (isObject(items)) causes.push(...node(items, `${field}.items`, context))
  causes.push(...extensionCauses(schema, field), ...listCauses(schema, field), ...mapListCauses(schema, field))
  causes.push(...ruleCauses(schema, field))
  return causes
}

const types = ["array", "boolean", "integer", "number", "object", "string"]

/** Keywords of JSON Schema that are not supported. */
const refused = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]

const plainCauses = (schema: Schema, field: string, context: Context): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  const type: string | undefined = schema.type
  if (type !== undefined && !types.includes(type)) {
    causes.push(fieldUnsupported(`${field}.type`, type, types))
  }
  if (schema.default !== undefined && context.noDefault !== undefined) {
    causes.push(fieldForbidden(`${field}.default`, `must not be set ${context.noDefault}`))
  }
  for (const keyword of refused) {
    if (schema[keyword] !== undefined) causes.push(fieldForbidden(`${field}.${keyword}`, `${keyword} is not supported`))
  }
  if (type === "null") {
    causes.push(fieldForbidden(`${field}.type`, "type cannot be set to null, use nullable as an alternative"))
  }
  if (Array.isArray(schema.items)) {
    causes.push(fieldForbidden(`${field}.items`, "items must be a schema object and not an array"))
  }
  if (context.insideMeta && schema["x-kubernetes-embedded-resource"] === true) {
    causes.push(fieldForbidden(`${field}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"))
  }
  if (schema.uniqueItems === true) {
    causes.push(
      fieldForbidden(
        `${field}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
      )
    )
  }
  return causes
}

/** Missing or wrong types where a keyword demands one. */
const mustBe = (schema: Schema, field: string, type: string, keyword: string): ReadonlyArray<StatusCause> => {
  const why = `must be ${type} if ${keyword} is specified`
  if (schema.type === undefined) return [fieldRequired(`${field}.type`, why)]
  return schema.type === type ? [] : [fieldInvalid(`${field}.type`, schema.type, why)]
}

const extensionCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    causes.push(fieldInvalid(`${field}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"))
  }
  const mapType: string | undefined = schema["x-kubernetes-map-type"]
  if (mapType !== undefined) {
    causes.push(...mustBe(schema, field, "object", "x-kubernetes-map-type"))
    if (mapType !== "atomic" && mapType !== "granular") {
      causes.push(fieldUnsupported(`${field}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]))
    }
  }
  return causes
}

const listCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> => {
  const { items } = schema
  const listType: string | undefined = schema["x-kubernetes-list-type"]
  if (listType === undefined) return []
  const causes: Array<StatusCause> = [...mustBe(schema, field, "array", "x-kubernetes-list-type")]
  if (causes.length === 0 && listType === "set" && isObject(items)) {
    const why = "must be atomic as item of a list with x-kubernetes-list-type=set"
    const inner = items["x-kubernetes-list-type"]
    if (items.type === "array" && inner !== undefined && inner !== "atomic") {
      causes.push(fieldInvalid(`${field}.items.x-kubernetes-list-type`, inner, why))
    }
    if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
      causes.push(fieldInvalid(`${field}.items.x-kubernetes-map-type`, inner ?? null, why))
    }
  }
  if (!["atomic", "set", "map"].includes(listType)) {
    causes.push(fieldUnsupported(`${field}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]))
  }
  return causes
}

const mapListCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> => {
  const { items } = schema
  const listType = schema["x-kubernetes-list-type"]
  const keys = schema["x-kubernetes-list-map-keys"] ?? []
  const causes: Array<StatusCause> = []
  if (keys.length > 0 && listType !== "map") {
    const why = "must be map if x-kubernetes-list-map-keys is non-empty"
    const at = `${field}.x-kubernetes-list-type`
    causes.push(listType === undefined ? fieldRequired(at, why) : fieldInvalid(at, listType, why))
  }
  if (listType === "map") {
    if (keys.length === 0) {
      causes.push(
        fieldRequired(`${field}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map")
      )
    }
    if (items === undefined) {
      causes.push(fieldRequired(`${field}.items`, "must have a schema if x-kubernetes-list-type is map"))
    } else if (items.type !== "object") {
      const why = "must be object if parent array's x-kubernetes-list-type is map"
      causes.push(fieldInvalid(`${field}.items.type`, items.type ?? "", why))
    } else causes.push(...keyCauses(items, keys, field))
  }
  if (listType === "map" || listType === "set") {
    if (items?.nullable === true) {
      causes.push(
        fieldForbidden(`${field}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`)
      )
    }
    if (listType === "map" && items !== undefined) causes.push(...keyValueCauses(items, keys, field))
  }
  return causes
}

const keyCauses = (items: Schema, keys: ReadonlyArray<string>, field: string): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  const at = `${field}.x-kubernetes-list-map-keys`
  for (const [index, key] of keys.entries()) {
    const own = items.properties?.[key]
    if (own === undefined) causes.push(fieldInvalid(at, keys, "entries must all be names of item properties"))
    else if (own.type === "array" || own.type === "object") {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      causes.push(fieldInvalid(`${field}.items.properties[${key}].type`, items.type, why))
    }
    if (keys.indexOf(key) < index) causes.push(fieldInvalid(at, keys, "must not contain duplicate entries"))
  }
  return causes
}

/** A key must always have a value. */
const keyValueCauses = (items: Schema, keys: ReadonlyArray<string>, field: string): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  for (const key of keys) {
    const own = items.properties?.[key]
    if (own === undefined) continue
    const at = `${field}.items.properties[${key}]`
    if (items.required?.includes(key) !== true && own.default === undefined) {
      causes.push(
        fieldRequired(
          `${at}.default`,
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
        )
      )
    }
    if (own.nullable === true) {
      causes.push(
        fieldForbidden(`${at}.nullable`, "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
      )
    }
  }
  return causes
}

/** What can be said of CEL rules without compiling them. */
const ruleCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> =>
  (schema["x-kubernetes-validations"] ?? []).flatMap((rule, index) => {
    const at = `${field}.x-kubernetes-validations[${index}]`
    const message = typeof rule.message === "string" ? rule.message : ""
    if (typeof rule.rule !== "string" || rule.rule.trim() === "") {
      return [fieldRequired(`${at}.rule`, "rule is not specified")]
    }
    if (message !== "" && message.trim() === "") {
      return [fieldInvalid(`${at}.message`, message, "must be non-empty if specified")]
    }
    if (/[\n\r]/.test(message.trim())) return [fieldInvalid(`${at}.message`, message, "must not contain line breaks")]
    return /[\n\r]/.test(rule.rule.trim()) && message.trim() === ""
      ? [fieldRequired(`${at}.message`, "message must be specified if rule contains line breaks")]
      : []
  })
