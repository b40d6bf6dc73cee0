/** From a body to an object: kind and version, metadata, unknown fields, types, nulls and defaults (F18 to F26). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { canonical, quantityMistake } from "./builtInSchemas.ts"
import type { Definition } from "./definition.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import * as ObjectMeta from "./objectMeta.ts"
import { badRequest, fieldInvalid, internal, invalid, type Refusal } from "./refusal.ts"
import type { Transaction } from "./state.ts"
import { applyDefaults, dropNulls, prune, type Schema } from "./structuralSchema.ts"

export type FieldValidation = "Ignore" | "Warn" | "Strict"

export interface DecodeOptions {
  readonly fieldValidation: FieldValidation
  /** A patched object is told of in other words than a sent one (F18, F25). */
  readonly patched: boolean
  /** An apply keeps nulls, which its type check has judged (F103), and knows no unknown fields. */
  readonly applied: boolean
  readonly duplicates: ReadonlyArray<string>
}

/** What decoding asks of a definition. */
export type Decodable = Pick<Definition, "apiVersion" | "custom" | "group" | "kind" | "rules" | "schema" | "version">

const cut = (text: string): string => (text.length > 24 ? `${text.slice(0, 24)} ...` : text)

const shownBytes = 30

/** The beginning of a body that is no object, as the server quotes it. */
const inHex = (text: string): string => {
  const bytes = [...new TextEncoder().encode(text)]
  const shown = bytes.slice(0, shownBytes).map((byte) => byte.toString(16).padStart(2, "0"))
  return `${shown.join("")}${bytes.length > shownBytes ? " ..." : ""}`
}

const checkKind = (definition: Decodable, body: JsonObject): void => {
  const { apiVersion, kind } = body
  const name = isObject(body.metadata) && typeof body.metadata.name === "string" ? body.metadata.name : ""
  if (kind === undefined || kind === "" || apiVersion === undefined || apiVersion === "") {
    if (!definition.custom && kind === undefined && apiVersion === undefined) return
    const missing = kind === undefined || kind === "" ? "Kind" : "apiVersion"
    const text = JSON.stringify(body)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): Object '${missing}' is missing in '${text}' (${cut(text)})`
    )
  }
  if (apiVersion !== definition.apiVersion) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${definition.apiVersion})`
    )
  }
  if (kind === definition.kind) return
  if (definition.custom) {
    throw invalid({ kind: String(kind), group: definition.group }, name, [
      fieldInvalid("kind", kind, `must be ${definition.kind}`)
    ])
  }
  throw badRequest(
    `${String(kind)} in version "${definition.version}" cannot be handled as a ${definition.kind}: converting (${definition.version}.${String(kind)}) to (core.${definition.kind}): unknown conversion`
  )
}

const checkPatchedKind = (definition: Decodable, body: JsonObject): void => {
  const { apiVersion, kind } = body
  const name = isObject(body.metadata) && typeof body.metadata.name === "string" ? body.metadata.name : ""
  if (apiVersion !== definition.apiVersion) {
    const group = typeof apiVersion === "string" && apiVersion.includes("/") ? apiVersion.split("/")[0]! : ""
    throw invalid({ kind: String(kind), group }, name, [
      fieldInvalid("apiVersion", apiVersion ?? "", `must be ${definition.apiVersion}`)
    ])
  }
  if (kind !== definition.kind) {
    throw invalid({ kind: String(kind), group: definition.group }, name, [
      fieldInvalid("kind", kind ?? "", `must be ${definition.kind}`)
    ])
  }
}

/** An object whose metadata may still lack a name. Throws a 400 or 422; adds warnings to the transaction. */
export const decode = (txn: Transaction, definition: Decodable, body: unknown, options: DecodeOptions): KubeObject => {
  if (!isObject(body)) {
    const text = body === undefined ? "<empty>" : inHex(JSON.stringify(body))
    const why =
      body === undefined
        ? "couldn't get version/kind; json parse error: unexpected end of JSON input"
        : `couldn't get version/kind; json parse error: json: cannot unmarshal ${ObjectMeta.jsonType(body)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`
    throw badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${why} (${text})`)
  }
  if (options.patched) checkPatchedKind(definition, body)
  else checkKind(definition, body)
  const { metadata, ...content } = body
  const meta = ObjectMeta.decode(metadata, definition.custom ? "" : "metadata.")
  const mistake = meta.mistake ?? (definition.custom ? undefined : typeMistake(definition, content))
  if (mistake !== undefined) throw undecodable(definition, body, mistake, options)
  const pruned = prune(definition.schema, content)
  tellUnknown(txn, definition, body, [...meta.unknown, ...pruned.unknown], options)
  // What a null comes to in a built-in kind depends on where it stands: `canonical` knows.
  const keepsNulls = options.applied || !definition.custom
  const known = keepsNulls ? pruned.value : dropNulls(definition.schema, pruned.value)
  const filled = fill(definition, known) as JsonObject
  // Named twice so that they come first and are ours.
  const identity = { apiVersion: definition.apiVersion, kind: definition.kind, metadata: meta.meta }
  const object = { ...identity, ...filled, ...identity } as unknown as KubeObject
  const own =
    (definition.custom ? undefined : quantityMistake(definition.schema, content)) ??
    definition.rules.undecodable?.(object)
  if (own !== undefined) throw undecodable(definition, body, own, options)
  return definition.rules.defaults?.(object) ?? object
}

/** Defaults, and on built-in kinds the one form in which Go keeps a value (F106, F107). */
const fill = ({ custom, schema }: Decodable, value: unknown): unknown =>
  custom ? applyDefaults(schema, value) : canonical(schema, applyDefaults(schema, canonical(schema, value)))

const tellUnknown = (
  txn: Transaction,
  definition: Decodable,
  body: JsonObject,
  unknown: ReadonlyArray<string>,
  options: DecodeOptions
): void => {
  if (options.fieldValidation === "Ignore" || (unknown.length === 0 && options.duplicates.length === 0)) return
  const told = [
    ...options.duplicates.map((field) => `duplicate field "${field}"`),
    ...unknown.toSorted().map((field) => `unknown field "${field}"`)
  ]
  if (options.fieldValidation === "Strict") {
    throw undecodable(definition, body, `strict decoding error: ${told.join(", ")}`, options)
  }
  txn.warnings.push(...told)
}

const undecodable = (
  definition: Decodable,
  body: JsonObject,
  mistake: string,
  { applied, patched }: DecodeOptions
): Refusal => {
  const { kind, version } = definition
  if (applied) return internal(unconvertible(definition, body, mistake))
  if (patched) return invalid({ kind: "", group: "" }, "", [fieldInvalid("patch", goText(body), mistake)])
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${mistake}`)
}

/** An apply says it as its conversion does (F97). */
const unconvertible = ({ apiVersion, kind }: Decodable, { metadata }: JsonObject, mistake: string): string => {
  const { name = "", namespace = "" } = isObject(metadata) ? metadata : {}
  const where = `${String(namespace)}/${String(name)}`
  return `failed to convert new object (${where}; ${apiVersion}, Kind=${kind}) to proper version: unable to convert unstructured object to ${apiVersion}, Kind=${kind}: ${mistake}`
}

/** JSON with sorted keys, as Go writes maps. */
const goText = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner
  )

/** Go's text of the first value of a built-in kind whose type is not the schema's. */
const typeMistake = ({ kind, schema }: Decodable, content: JsonObject): string | undefined => {
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
    const shown = typeof value === "number" && type !== "string" ? `number ${value}` : ObjectMeta.jsonType(value)
    return `json: cannot unmarshal ${shown} into Go struct field ${owner}.${path} of type ${type}`
  }
  switch (schema.type) {
    case "object": {
      if (!isObject(value)) return wrong(below)
      for (const [key, member] of Object.entries(value)) {
        const own = schema.properties?.[key]
        const rest = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined
        const found =
          own !== undefined
            ? mistakeIn(own, member, `${path}.${key}`, below, `${below}${key}`)
            : mistakeIn(rest, member, path, owner, below)
        if (found !== undefined) return found
      }
      return undefined
    }
    case "array": {
      if (!isList(value)) return wrong(`[]${below}`)
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
