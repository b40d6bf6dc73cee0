/**
 * Which schemas a CustomResourceDefinition may bear (F144, F145, F146): structural ones, with defaults that hold, in the words of the server.
 *
 * Left out: CEL rules are neither compiled nor costed; defaults inside metadata are not checked; patterns are judged as `pattern` can.
 */
import type { StatusCause } from "@fixpoint/core/ApiError"
import { equals, isObject } from "./json.ts"
import { keywordCauses } from "./schemaKeywords.ts"
import { fieldForbidden, fieldInvalid, fieldRequired } from "./refusal.ts"
import { compile } from "./pattern.ts"
import { validateAt } from "./schemaValidation.ts"
import type { Schema } from "./schema.ts"
import { prune } from "./schemaShaping.ts"

export interface CheckOptions {
  /** Where the schema stands. Default: `spec.validation.openAPIV3Schema`, as for a definition whose versions share one. */
  readonly field?: string
  /** Whether /status is served: then the root may say little. Default: not. */
  readonly status?: boolean
}

/** Every cause why the schema is refused; none if it may be served. */
export const check = (schema: Schema, options: CheckOptions = {}): ReadonlyArray<StatusCause> => {
  const field = options.field ?? "spec.validation.openAPIV3Schema"
  const rest = keywordCauses(schema, field)
  return [
    ...(options.status === true ? rootCauses(schema, field) : []),
    ...(schema.nullable === true ? [fieldForbidden(`${field}.nullable`, "nullable cannot be true at the root")] : []),
    ...(isConvertible(schema) ? shapeCauses(schema, field) : []),
    ...rest
  ]
}

const shapeCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> => {
  const structural = [...invariants(schema, "root", field), ...completeness(schema, schema, field, field)].toSorted(
    (a, b) => (`${a.field}: ${a.message}` < `${b.field}: ${b.message}` ? -1 : 1)
  )
  return structural.length > 0 ? structural : defaultCauses(schema, field, true)
}

const allowedAtRoot = [
  "Description",
  "Type",
  "Format",
  "Title",
  "Maximum",
  "ExclusiveMaximum",
  "Minimum",
  "ExclusiveMinimum",
  "MaxLength",
  "MinLength",
  "Pattern",
  "MaxItems",
  "MinItems",
  "UniqueItems",
  "MultipleOf",
  "Required",
  "Items",
  "Properties",
  "ExternalDocs",
  "Example",
  "XPreserveUnknownFields",
  "XValidations"
]

/** `x-kubernetes-list-type` is `XListType` to the server. */
const goName = (keyword: string): string =>
  keyword
    .replace("x-kubernetes-", "x-")
    .split("-")
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join("")

const rootCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> => {
  if (schema.type !== undefined && schema.type !== "object") {
    return [
      fieldInvalid(
        `${field}.type`,
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      )
    ]
  }
  const odd = Object.entries(schema).some(
    ([keyword, value]) => value !== undefined && value !== false && !allowedAtRoot.includes(goName(keyword))
  )
  return odd
    ? [
        fieldInvalid(
          field,
          schema,
          `only [${allowedAtRoot.join(" ")}] fields are allowed at the root of the schema if the status subresource is enabled`
        )
      ]
    : []
}

/** Keywords with which a schema cannot be structural at all; they are told of by `keywordCauses`. */
const unconvertible = ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"]

const isConvertible = (schema: Schema): boolean =>
  unconvertible.every((keyword) => schema[keyword] === undefined) &&
  !Array.isArray(schema.items) &&
  children(schema).every(isConvertible) &&
  [
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.not === undefined ? [] : [schema.not])
  ].every(isConvertible)

const children = (schema: Schema): ReadonlyArray<Schema> => [
  ...(isObject(schema.items) ? [schema.items] : []),
  ...Object.values(schema.properties ?? {}),
  ...(isObject(schema.additionalProperties) ? [schema.additionalProperties] : [])
]

type Level = "root" | "items" | "field"

const missingType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  items: "must not be empty for specified array items",
  field: "must not be empty for specified object fields"
}

const intOrString = [{ type: "integer" }, { type: "string" }]

const invariants = (schema: Schema, level: Level, field: string): ReadonlyArray<StatusCause> => {
  const { additionalProperties, items, properties = {}, type = "" } = schema
  const causes: Array<StatusCause> = []
  if (type === "array" && items === undefined) causes.push(fieldRequired(`${field}.items`, "must be specified"))
  if (items !== undefined) causes.push(...invariants(items, "items", `${field}.items`))
  for (const [name, own] of Object.entries(properties)) {
    causes.push(...invariants(own, "field", `${field}.properties[${name}]`))
  }
  if (additionalProperties !== undefined) {
    if (level === "root") causes.push(fieldForbidden(`${field}.additionalProperties`, "must not be used at the root"))
    if (isObject(additionalProperties)) {
      causes.push(...invariants(additionalProperties, "field", `${field}.additionalProperties`))
    }
  }
  causes.push(...extensionCauses(schema, field), ...valueCauses(schema, field), ...typeCauses(schema, level, field))
  causes.push(...metaCauses(schema, level, field))
  return causes
}

const extensionCauses = (schema: Schema, field: string): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  if (schema["x-kubernetes-int-or-string"] !== true) return causes
  for (const keyword of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"]) {
    if (schema[keyword] === true) {
      causes.push(fieldInvalid(`${field}.${keyword}`, true, "must be false if x-kubernetes-int-or-string is true"))
    }
  }
  return causes
}

const typeCauses = (schema: Schema, level: Level, field: string): ReadonlyArray<StatusCause> => {
  const { type = "" } = schema
  const embedded = schema["x-kubernetes-embedded-resource"] === true
  const preserving = schema["x-kubernetes-preserve-unknown-fields"] === true
  const causes: Array<StatusCause> = []
  if (embedded && type !== "object") {
    const why = "must be object if x-kubernetes-embedded-resource is true"
    causes.push(type === "" ? fieldRequired(`${field}.type`, why) : fieldInvalid(`${field}.type`, type, why))
  } else if (type === "" && schema["x-kubernetes-int-or-string"] !== true && !preserving) {
    causes.push(fieldRequired(`${field}.type`, missingType[level]))
  }
  if (embedded && schema.additionalProperties !== undefined) {
    causes.push(
      fieldForbidden(`${field}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set")
    )
  }
  if (level === "root" && type !== "" && type !== "object") {
    causes.push(fieldInvalid(`${field}.type`, type, "must be object at the root"))
  }
  if (embedded && !preserving && Object.keys(schema.properties ?? {}).length === 0) {
    causes.push(
      fieldRequired(
        `${field}.properties`,
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
      )
    )
  }
  return causes
}

/** Of metadata only the name may be restricted, and that at the root. */
const metaCauses = (schema: Schema, level: Level, field: string): ReadonlyArray<StatusCause> => {
  const { properties = {} } = schema
  const causes: Array<StatusCause> = []
  const checked = level === "root" || schema["x-kubernetes-embedded-resource"] === true
  for (const name of checked ? ["kind", "apiVersion"] : []) {
    const own = properties[name]
    if (own !== undefined && own.type !== "string") {
      causes.push(fieldInvalid(`${field}.properties[${name}].type`, own.type ?? "", "must be string"))
    }
  }
  const { metadata } = properties
  if (metadata === undefined) return causes
  if (checked && metadata.type !== "object") {
    causes.push(fieldInvalid(`${field}.properties[metadata].type`, metadata.type ?? "", "must be object"))
  }
  if (level !== "root") return causes
  const { default: _, properties: named = {}, type: __, ...more } = metadata
  const others = Object.keys(named).filter((name) => name !== "name" && name !== "generateName")
  if (others.length > 0 || Object.keys(more).length > 0) {
    causes.push(
      fieldForbidden(
        `${field}.properties[metadata]`,
        "must not specify anything other than name and generateName, but metadata is implicitly specified"
      )
    )
  }
  return causes
}

const valueCauses = (
  schema: Schema,
  field: string,
  skipsAnyOf = equals(schema.anyOf, intOrString)
): ReadonlyArray<StatusCause> => {
  const { allOf = [], anyOf = [], not, oneOf = [], pattern } = schema
  const causes: Array<StatusCause> = []
  if (!skipsAnyOf) anyOf.forEach((one, at) => causes.push(...nested(one, `${field}.anyOf[${at}]`)))
  allOf.forEach((one, at) =>
    causes.push(...nested(one, `${field}.allOf[${at}]`, at === 0 && equals(one.anyOf, intOrString)))
  )
  oneOf.forEach((one, at) => causes.push(...nested(one, `${field}.oneOf[${at}]`)))
  if (not !== undefined) causes.push(...nested(not, `${field}.not`))
  const compiled = pattern === undefined || pattern === "" ? undefined : compile(pattern)
  if (compiled !== undefined && "error" in compiled) {
    causes.push(
      fieldInvalid(`${field}.pattern`, pattern, `must be a valid regular expression, but isn't: ${compiled.error}`)
    )
  }
  return causes
}

/** What a schema under anyOf, allOf, oneOf or not may not say. */
const forbiddenWithin: ReadonlyArray<readonly [keyword: string, why: string]> = [
  ["type", "must be empty to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"]
]

const nested = (schema: Schema, field: string, skipsAnyOf = false): ReadonlyArray<StatusCause> => {
  const { additionalProperties, items, properties = {} } = schema
  const causes: Array<StatusCause> = [...valueCauses(schema, field, skipsAnyOf)]
  if (items !== undefined) causes.push(...nested(items, `${field}.items`))
  for (const [name, own] of Object.entries(properties)) causes.push(...nested(own, `${field}.properties[${name}]`))
  if (additionalProperties !== undefined) {
    causes.push(fieldForbidden(`${field}.additionalProperties`, "must be undefined to be structural"))
  }
  for (const [keyword, why] of forbiddenWithin) {
    const value = schema[keyword]
    const said = value !== undefined && value !== false && value !== "" && !(Array.isArray(value) && value.length === 0)
    if (said) causes.push(fieldForbidden(`${field}.${keyword}`, why))
  }
  if (properties.metadata !== undefined) {
    causes.push(fieldForbidden(`${field}.properties[metadata]`, "must not be specified in a nested context"))
  }
  return causes
}

/** What is restricted under anyOf and the like must be specified outside of it. */
const completeness = (
  restricted: Schema,
  specified: Schema | undefined,
  field: string,
  from: string
): ReadonlyArray<StatusCause> => {
  if (specified === undefined) return [fieldRequired(field, `because it is defined in ${from}`)]
  const { allOf = [], anyOf = [], not, oneOf = [] } = restricted
  const within = (one: Schema, at: string): ReadonlyArray<StatusCause> => [
    ...completeness(one, specified, field, at),
    ...(one.items === undefined ? [] : completeness(one.items, specified.items, `${field}.items`, `${at}.items`)),
    ...Object.entries(one.properties ?? {}).flatMap(([name, own]) =>
      completeness(own, specified.properties?.[name], `${field}.properties[${name}]`, `${at}.properties[${name}]`)
    )
  ]
  return [
    ...(not === undefined ? [] : within(not, `${from}.not`)),
    ...allOf.flatMap((one, at) => within(one, `${from}.allOf[${at}]`)),
    ...anyOf.flatMap((one, at) => within(one, `${from}.anyOf[${at}]`)),
    ...oneOf.flatMap((one, at) => within(one, `${from}.oneOf[${at}]`))
  ]
}

const metaNames: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"])

/** Defaults must fit their own schema, and say nothing that it does not know. */
const defaultCauses = (schema: Schema, field: string, root: boolean): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  const value = schema.default
  if (value !== undefined && value !== null) {
    const pruned = prune({ properties: { default: schema }, type: "object" }, { default: value })
    if (pruned.unknown.length > 0) causes.push(fieldInvalid(`${field}.default`, value, "must not have unknown fields"))
    causes.push(...validateAt(schema, value, `${field}.default`))
  }
  if (schema.items !== undefined) causes.push(...defaultCauses(schema.items, `${field}.items`, false))
  const meta = root || schema["x-kubernetes-embedded-resource"] === true
  for (const [name, own] of Object.entries(schema.properties ?? {})) {
    if (!meta || !metaNames.has(name)) causes.push(...defaultCauses(own, `${field}.properties[${name}]`, false))
  }
  return causes
}
