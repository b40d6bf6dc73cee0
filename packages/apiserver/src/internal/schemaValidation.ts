/**
 * Validation of custom resources against structural schemas, with the server's texts, reasons and order of checks (F97, F100, F103, F133, F136).
 *
 * Left out: CEL rules are not run; the metadata of embedded resources is not looked into.
 * Caveats: integers from 2^63 are told as such, those above 2^53 are not exact; patterns run by JavaScript's engine (see `pattern`).
 */
import type { StatusCause } from "@fixpoint/core/ApiError"
import { formatOf } from "./formats.ts"
import { equals, isList, isObject, type JsonObject } from "./json.ts"
import { compile } from "./pattern.ts"
import { fieldInvalid, fieldRequired, fieldsSkipped, fieldUnsupported } from "./refusal.ts"
import { ofNumber } from "./schemaNumbers.ts"
import {
  correlate,
  failed,
  fieldOf,
  general,
  invalid,
  join,
  type Outcome,
  passed,
  type Place,
  wrongType
} from "./schemaOutcome.ts"
import { embeddedCauses, listCauses } from "./schemaInvariants.ts"
import type { Schema } from "./schema.ts"

export interface ValidationOptions {
  /** Only `status` is validated, as a write to /status does. */
  readonly subresource?: "status"
  /** What was found before, of metadata: it comes first, and counts for whether rules were skipped. */
  readonly found?: ReadonlyArray<StatusCause>
  /** What else was found: it comes before doubles in lists. */
  readonly further?: ReadonlyArray<StatusCause>
}

/**
 * Every cause why the value is refused, with SKIP as the last where CEL rules would not be run. `old` is the object before the write: what was wrong in it
 * already, and has not changed, is let pass (F136).
 */
export const validate = (
  schema: Schema,
  value: unknown,
  old?: unknown,
  options: ValidationOptions = {}
): ReadonlyArray<StatusCause> => {
  const causes = [
    ...(options.found ?? []),
    ...(options.subresource === "status" ? validateStatus(schema, value, old) : validateWhole(schema, value, old)),
    ...(options.further ?? []),
    ...(old === undefined || listCauses(schema, old).length === 0 ? listCauses(schema, value) : [])
  ]
  return causes.some(({ reason }) => blocking.has(reason ?? "")) && hasRules(schema)
    ? [...causes, fieldsSkipped]
    : causes
}

/** After these the server does not run CEL rules. */
const blocking: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid"
])

/** Whether the schema has CEL rules anywhere. */
export const hasRules = (schema: Schema): boolean =>
  (schema["x-kubernetes-validations"]?.length ?? 0) > 0 ||
  Object.values(schema.properties ?? {}).some(hasRules) ||
  (schema.items !== undefined && hasRules(schema.items)) ||
  (isObject(schema.additionalProperties) && hasRules(schema.additionalProperties)) ||
  (schema.allOf ?? []).some(hasRules)

/** A value against one schema alone, its causes below `field`: what is asked of a default. */
export const validateAt = (schema: Schema, value: unknown, field: string): ReadonlyArray<StatusCause> =>
  node(schema, value, { path: "", prefix: field, old: undefined }).causes

const validateWhole = (schema: Schema, value: unknown, old: unknown): ReadonlyArray<StatusCause> => [
  ...node(schema, value, { path: "", prefix: "", old: correlate(old) }).causes,
  ...embeddedCauses(schema, value)
]

const validateStatus = (schema: Schema, value: unknown, old: unknown): ReadonlyArray<StatusCause> => {
  const status = schema.properties?.status
  if (status === undefined || !isObject(value) || !Object.hasOwn(value, "status")) return []
  // To the server an absent status was null, so that a null one has not changed.
  const before = isObject(old) ? (old.status ?? null) : undefined
  return node(status, value.status, { path: "", prefix: "status", old: correlate(before) }).causes
}

/** A value at a place of its own: failures that were there before and have not changed are let pass. */
const node = (schema: Schema, value: unknown, place: Place): Outcome => {
  if (place.old !== undefined && place.old.value === value && place.counted !== true) return passed
  const outcome = against(schema, value, place)
  return outcome.causes.length > 0 && place.old !== undefined && isSame(schema, value, place.old.value)
    ? { causes: [], matches: outcome.matches }
    : outcome
}

/** As equal, but items of list maps may have changed places. */
const isSame = (schema: Schema, value: unknown, old: unknown): boolean => {
  if (schema["x-kubernetes-list-type"] !== "map" || !isList(value) || !isList(old)) return equals(value, old)
  return (
    value.length === old.length &&
    value.every((item) => {
      const before = itemBefore(schema, item, old)
      return before !== undefined && equals(item, before.value)
    })
  )
}

const itemBefore = (schema: Schema, item: unknown, old: unknown): Place["old"] => {
  if (schema["x-kubernetes-list-type"] !== "map" || !isList(old) || !isObject(item)) return undefined
  const keys = schema["x-kubernetes-list-map-keys"] ?? []
  return correlate(old.find((other) => isObject(other) && keys.every((key) => equals(other[key], item[key]))))
}

const typesOf = (schema: Schema): ReadonlyArray<string> =>
  schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : schema.type === undefined ? [] : [schema.type]

/** The server forgets formats that it does not know for the type. */
const formatFor = (schema: Schema, types: ReadonlyArray<string>): string => {
  const format = schema.format ?? ""
  const [only] = types
  if (types.length !== 1 || only === "string") return formatOf(format) === undefined ? "" : format
  if (only === "integer") return format === "int32" || format === "int64" ? format : ""
  if (only === "number") return format === "float" || format === "double" ? format : ""
  return ""
}

/** What Go calls the value: JSON type, and format of numbers. */
const kindOf = (value: unknown): { readonly type: string; readonly format: string } => {
  if (typeof value === "number") {
    return Number.isInteger(value) && Math.abs(value) < 2 ** 63
      ? { type: "integer", format: "int64" }
      : { type: "number", format: "float64" }
  }
  return { type: isList(value) ? "array" : typeof value, format: "" }
}

const against = (schema: Schema, value: unknown, place: Place): Outcome => {
  const types = typesOf(schema)
  const format = formatFor(schema, types)
  const typed = types.length > 0 || format !== ""
  if (value === null) {
    return join([
      types.length > 0 && schema.nullable !== true
        ? wrongType(place, types.join(","), "null")
        : { ...passed, matches: 1 },
      enumerated(schema, value, place)
    ])
  }
  const outcomes = [alternatives(schema, value, place), enumerated(schema, value, place)]
  if (typed) outcomes.unshift(ofType(types, format, value, place))
  const at = outcomes.length - 1
  if (typeof value === "string") {
    outcomes.splice(at, 0, ofText(schema, value, place))
    if (format !== "") outcomes.splice(at + 1, 0, ofFormat(format, value, place))
  } else if (typeof value === "number") outcomes.splice(at, 0, ofNumber(schema, types, format, value, place))
  else if (isList(value)) outcomes.splice(at, 0, ofList(schema, value, place))
  else if (isObject(value)) outcomes.push(ofObject(schema, value, place))
  return join(outcomes, outcomes.length + 1)
}

const ofType = (types: ReadonlyArray<string>, format: string, value: unknown, place: Place): Outcome => {
  const kind = kindOf(value)
  const numeric = types.includes("number") || types.includes("integer")
  const fits = types.includes(kind.type) || (kind.type === "integer" && types.includes("number"))
  const textual = typeof value === "string" || isList(value)
  if (!textual && format !== "" && !fits && kind.format !== format) return wrongType(place, format, kind.format)
  if (!numeric && format !== "" && textual) return { ...passed, matches: 1 }
  return fits ? { ...passed, matches: 1 } : wrongType(place, types.join(","), kind.type)
}

const enumerated = (schema: Schema, value: unknown, place: Place): Outcome => {
  const allowed = schema.enum ?? []
  if (allowed.length === 0 || (value !== null && allowed.some((one) => equals(one, value)))) return passed
  return failed(
    fieldUnsupported(
      fieldOf(place),
      value,
      allowed.map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
    )
  )
}

const ofText = (schema: Schema, value: string, place: Place): Outcome => {
  const { maxLength, minLength, pattern } = schema
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length
  if (maxLength !== undefined && length > maxLength) {
    return failed({
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${maxLength} ${maxLength === 1 ? "byte" : "bytes"}`,
      field: fieldOf(place)
    })
  }
  if (minLength !== undefined && length < minLength) {
    return failed(invalid(place, value, `should be at least ${minLength} chars long`))
  }
  if (pattern === undefined || pattern === "") return passed
  const compiled = compile(pattern)
  if ("error" in compiled) {
    return failed(invalid(place, value, `should match '${pattern}, but pattern is invalid: ${compiled.error}'`))
  }
  return compiled.test(value) ? passed : failed(invalid(place, value, `should match '${pattern}'`))
}

const ofFormat = (format: string, value: string, place: Place): Outcome =>
  formatOf(format)?.(value) === false ? wrongType(place, format, value) : passed

const tooMany = (place: Place, actual: number, most: number): StatusCause => ({
  reason: "FieldValueTooMany",
  message: `Too many: ${actual}: must have at most ${most} ${most === 1 ? "item" : "items"}`,
  field: fieldOf(place)
})

const ofList = (schema: Schema, value: ReadonlyArray<unknown>, place: Place): Outcome => {
  const { items, maxItems, minItems } = schema
  const outcomes: Array<Outcome> = []
  if (items !== undefined) {
    for (const [at, item] of value.entries()) {
      const old = itemBefore(schema, item, place.old?.value)
      outcomes.push(node(items, item, { ...place, path: `${place.path}[${at}]`, old }))
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    outcomes.push(failed(invalid(place, value.length, `should have at least ${minItems} items`)))
  }
  if (maxItems !== undefined && value.length > maxItems) outcomes.push(failed(tooMany(place, value.length, maxItems)))
  return join(outcomes, 1)
}

const ofObject = (schema: Schema, value: JsonObject, place: Place): Outcome => {
  const { additionalProperties, maxProperties, minProperties, properties = {}, required } = schema
  const outcomes: Array<Outcome> = []
  const names = Object.keys(value)
  if (minProperties !== undefined && names.length < minProperties) {
    outcomes.push(failed(invalid(place, names.length, `should have at least ${minProperties} properties`)))
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    outcomes.push(failed(tooMany(place, names.length, maxProperties)))
  }
  const child = (own: Schema, name: string, path: string): Outcome => {
    const before = place.old?.value
    const apart = place.path === "" && place.prefix === "" && (name === "apiVersion" || name === "kind")
    const old = isObject(before) && Object.hasOwn(before, name) && !apart ? { value: before[name] } : undefined
    return node(own, value[name], { ...place, path, old })
  }
  for (const name of names) {
    if (Object.hasOwn(properties, name)) continue
    if (additionalProperties === false) {
      outcomes.push(failed(fieldInvalid(fieldOf(place), name, `${place.path}.${name} in body is a forbidden property`)))
    } else if (isObject(additionalProperties)) {
      outcomes.push(child(additionalProperties, name, `${place.path}.${name}`))
    }
  }
  for (const [name, own] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name)) continue
    outcomes.push(child(own, name, place.path === "" ? name : `${place.path}.${name}`))
  }
  for (const name of required ?? []) {
    if (!Object.hasOwn(value, name)) outcomes.push(failed(fieldRequired(fieldOf(place, `${place.path}.${name}`))))
  }
  return join(outcomes)
}

const alternatives = (schema: Schema, value: unknown, at: Place): Outcome => {
  const { allOf = [], anyOf = [], not, oneOf = [] } = schema
  if (allOf.length + anyOf.length + oneOf.length === 0 && not === undefined) return { ...passed, matches: 1 }
  const place = { ...at, counted: true }
  const name = JSON.stringify(place.path)
  const outcomes: Array<Outcome> = []
  if (anyOf.length > 0) {
    const tried = anyOf.map((one) => against(one, value, place))
    const first = tried.find(isValid)
    if (first === undefined) {
      outcomes.push(failed(general(place, `${name} must validate at least one schema (anyOf)`)), nearest(tried))
    } else outcomes.push(first)
  }
  if (oneOf.length > 0) {
    const tried = oneOf.map((one) => against(one, value, place))
    const valid = tried.filter(isValid)
    if (valid.length === 1) outcomes.push(valid[0]!)
    else {
      const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`
      outcomes.push(failed(general(place, `${name} must validate one and only one schema (oneOf). ${found}`)))
      if (valid.length === 0) outcomes.push(nearest(tried))
    }
  }
  if (allOf.length > 0) {
    const tried = allOf.map((one) => against(one, value, place))
    outcomes.push(...tried)
    if (!tried.every(isValid)) {
      const none = tried.some(isValid) ? "" : ". None validated"
      outcomes.push(failed(general(place, `${name} must validate all the schemas (allOf)${none}`)))
    }
  }
  if (not !== undefined && isValid(against(not, value, place))) {
    outcomes.push(failed(general(place, `${name} must not validate the schema (not)`)))
  }
  return join(outcomes, 1)
}

const isValid = (outcome: Outcome): boolean => outcome.causes.length === 0

const nearest = (outcomes: ReadonlyArray<Outcome>): Outcome =>
  outcomes.reduce((best, one) => (one.matches > best.matches ? one : best))
