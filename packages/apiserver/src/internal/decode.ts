/** From a body to an object: kind and version, metadata, unknown fields, types, nulls and defaults (F18 to F26). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { canonical, quantityMistake } from "./builtInSchemas.ts"
import type { Definition } from "./definition.ts"
import { goValue, sorted } from "./goText.ts"
import { isObject, type JsonObject } from "./json.ts"
import * as ObjectMeta from "./objectMeta.ts"
import { badRequest, fieldInvalid, internal, invalid, type Refusal } from "./refusal.ts"
import type { Transaction } from "./state.ts"
import { applyDefaults, dropNulls, prune } from "./structuralSchema.ts"
import { conversionMistake, typeMistake } from "./typeMistakes.ts"

export type FieldValidation = "Ignore" | "Warn" | "Strict"

export interface DecodeOptions {
  readonly fieldValidation: FieldValidation
  /** A patched object is told of in other words than a sent one (F18, F25). */
  readonly patched: boolean
  /** The strategic merge patch, which is quoted instead of the object: that was never JSON again. */
  readonly strategic?: unknown
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
  if (options.strategic !== undefined) {
    // It keeps its Go type, whatever it says it is.
  } else if (options.patched) checkPatchedKind(definition, body)
  else checkKind(definition, body)
  const { metadata, ...content } = body
  const meta = ObjectMeta.decode(metadata, definition.custom ? "" : "metadata.")
  const mistake =
    meta.mistake ??
    (definition.custom
      ? undefined
      : options.strategic === undefined
        ? typeMistake(definition, content)
        : conversionMistake(definition.schema, content))
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
  { applied, patched, strategic }: DecodeOptions
): Refusal => {
  const { kind, version } = definition
  const about = (shown: string): Refusal =>
    invalid({ kind: "", group: "" }, "", [fieldInvalid("patch", shown, mistake)])
  if (strategic !== undefined) return about(goValue(strategic))
  if (applied) return internal(unconvertible(definition, body, mistake))
  if (patched)
    return invalid({ kind: "", group: "" }, "", [fieldInvalid("patch", JSON.stringify(sorted(body)), mistake)])
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${mistake}`)
}

/** An apply says it as its conversion does (F97). */
const unconvertible = ({ apiVersion, kind }: Decodable, { metadata }: JsonObject, mistake: string): string => {
  const { name = "", namespace = "" } = isObject(metadata) ? metadata : {}
  const where = `${String(namespace)}/${String(name)}`
  return `failed to convert new object (${where}; ${apiVersion}, Kind=${kind}) to proper version: unable to convert unstructured object to ${apiVersion}, Kind=${kind}: ${mistake}`
}
