/** The metadata of objects: what may be sent, what must hold, and how texts say otherwise (F11 to F18, F114, F121, F122). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { ObjectMeta } from "@fixpoint/core/KubeObject"
import { fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from "./refusal.ts"
import { isObject, type JsonObject } from "./structuralSchema.ts"

type FieldType = "string" | "int64" | "time" | "map" | "list" | "owners" | "any"

const fields: Readonly<Record<string, FieldType>> = {
  name: "string",
  generateName: "string",
  namespace: "string",
  selfLink: "string",
  uid: "string",
  resourceVersion: "string",
  generation: "int64",
  creationTimestamp: "time",
  deletionTimestamp: "time",
  deletionGracePeriodSeconds: "int64",
  labels: "map",
  annotations: "map",
  ownerReferences: "owners",
  finalizers: "list",
  managedFields: "any"
}

const ownerFields = new Set(["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"])

/** What a Go JSON decoder calls the value. */
export const jsonType = (value: unknown): string =>
  Array.isArray(value)
    ? "array"
    : value === null
      ? "null"
      : typeof value === "object"
        ? "object"
        : typeof value === "boolean"
          ? "bool"
          : typeof value

export interface DecodedMeta {
  readonly meta: JsonObject
  /** Paths that were dropped, in order. */
  readonly unknown: ReadonlyArray<string>
  /** Go's text of the first value that has the wrong type. */
  readonly mistake: string | undefined
}

/**
 * Reads metadata as Go does: unknown fields dropped and told, null members as absent, null values of labels as "" (F18). Empty labels, annotations,
 * finalizers and owner references are left out. `prefix` is `metadata.` in texts about built-in kinds.
 */
export const decode = (value: unknown, prefix: string): DecodedMeta => {
  if (value === undefined || value === null) return { meta: {}, unknown: [], mistake: undefined }
  if (!isObject(value)) {
    return {
      meta: {},
      unknown: [],
      mistake: `json: cannot unmarshal ${jsonType(value)} into Go struct field .metadata of type v1.ObjectMeta`
    }
  }
  const meta: Record<string, unknown> = {}
  const unknown: Array<string> = []
  let mistake: string | undefined
  const wrong = (field: string, found: unknown, type: string): void => {
    mistake ??= `json: cannot unmarshal ${jsonType(found)} into Go struct field ObjectMeta.${prefix}${field} of type ${type}`
  }
  for (const [field, member] of Object.entries(value)) {
    const type = fields[field]
    if (type === undefined) {
      unknown.push(`metadata.${field}`)
      continue
    }
    if (member === null) continue
    switch (type) {
      case "string":
        if (typeof member !== "string") wrong(field, member, "string")
        else if (member !== "") meta[field] = member
        break
      case "int64":
        if (typeof member !== "number" || !Number.isInteger(member)) wrong(field, member, "int64")
        else meta[field] = member
        break
      case "time": {
        const time = typeof member === "string" ? seconds(member) : undefined
        if (typeof member !== "string") wrong(field, member, "string")
        else if (time === undefined && member !== "") {
          mistake ??= `parsing time ${JSON.stringify(member)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(member)} as "2006"`
        } else if (time !== undefined) meta[field] = time
        break
      }
      case "map":
        if (!isObject(member)) wrong(field, member, "map[string]string")
        else {
          const texts = decodeTexts(member, (found) => wrong(field, found, "string"))
          if (texts !== undefined) meta[field] = texts
        }
        break
      case "list":
        if (!Array.isArray(member)) wrong(field, member, "[]string")
        else {
          for (const text of member) if (typeof text !== "string") wrong(field, text, "string")
          if (member.length > 0) meta[field] = member
        }
        break
      case "owners":
        if (!Array.isArray(member)) wrong(field, member, "[]v1.OwnerReference")
        else {
          const owners = member.map((owner, i) => decodeOwner(owner, i, unknown, wrong))
          if (owners.length > 0) meta[field] = owners
        }
        break
      case "any":
        if (!Array.isArray(member)) wrong(field, member, "[]v1.ManagedFieldsEntry")
        else meta[field] = member
    }
  }
  return { meta, unknown, mistake }
}

/** A null is an empty text; undefined for an empty map. */
const decodeTexts = (map: JsonObject, wrong: (found: unknown) => void): JsonObject | undefined => {
  const entries = Object.entries(map)
  for (const [, text] of entries) if (text !== null && typeof text !== "string") wrong(text)
  if (entries.length === 0) return undefined
  return entries.some(([, text]) => text === null)
    ? Object.fromEntries(entries.map(([key, text]) => [key, text ?? ""]))
    : map
}

const decodeOwner = (
  owner: unknown,
  index: number,
  unknown: Array<string>,
  wrong: (field: string, found: unknown, type: string) => void
): JsonObject => {
  if (!isObject(owner)) {
    wrong("ownerReferences", owner, "v1.OwnerReference")
    return {}
  }
  const known: Record<string, unknown> = { apiVersion: "", kind: "", name: "", uid: "" }
  for (const [field, member] of Object.entries(owner)) {
    if (!ownerFields.has(field)) unknown.push(`metadata.ownerReferences[${index}].${field}`)
    else if (member !== null) {
      const type = field === "controller" || field === "blockOwnerDeletion" ? "boolean" : "string"
      if (typeof member !== type) wrong(`ownerReferences.${field}`, member, type === "boolean" ? "bool" : "string")
      else known[field] = member
    }
  }
  return known
}

/** A time in whole seconds and UTC, as metav1.Time stores it; undefined if it is none. */
export const seconds = (text: string): string | undefined => {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? undefined : timestamp(millis)
}

let lastSecond = Number.NaN
let lastTimestamp = ""

/** RFC 3339 in whole seconds. The last one is remembered: writes come many a second. */
export const timestamp = (millis: number): string => {
  const second = Math.floor(millis / 1_000)
  if (second !== lastSecond) {
    lastTimestamp = `${new Date(millis).toISOString().slice(0, 19)}Z`
    lastSecond = second
  }
  return lastTimestamp
}

const encoder = new TextEncoder()
export const bytes = (text: string): number => encoder.encode(text).length

/** Whether the text has more bytes of UTF-8; counts them only where its length leaves a doubt. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most || (text.length * 3 > most && bytes(text) > most)

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const dnsLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const qualifiedPart =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const labelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const dnsLabelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dns1035Pattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const qualifiedPattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const labelPattern = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

/** Which names a kind allows: DNS subdomains, DNS labels, RFC 1035 labels, or path segments (RBAC, and Events, F154). */
export type NameRule = "subdomain" | "label" | "dns1035" | "path"

/** Why the name does not hold; each text follows `Invalid value: "name": `. */
export const nameMistakes = (name: string, rule: NameRule): ReadonlyArray<string> => {
  const [pattern, text, most] =
    rule === "label"
      ? [dnsLabelPattern, dnsLabel, 63]
      : rule === "dns1035"
        ? [dns1035Pattern, dns1035, 63]
        : [subdomainPattern, subdomain, 253]
  if (rule === "path") {
    return name === "." || name === ".."
      ? [`may not be '${name}'`]
      : ["/", "%"].filter((c) => name.includes(c)).map((c) => `may not contain '${c}'`)
  }
  return [
    ...(name.length > most ? [`must be no more than ${most} ${most === 63 ? "bytes" : "characters"}`] : []),
    ...(pattern.test(name) ? [] : [rule === "label" && subdomainPattern.test(name) ? "must not contain dots" : text])
  ]
}

/** Why the text is no qualified name (`prefix/name`): QNAME of the facts. */
export const qualifiedMistakes = (text: string): ReadonlyArray<string> => {
  const parts = text.split("/")
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedPart} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
    ]
  }
  const mistakes: Array<string> = []
  const [prefix, name] = parts.length === 2 ? [parts[0]!, parts[1]!] : [undefined, parts[0]!]
  if (prefix === "") mistakes.push("prefix part must be non-empty")
  else if (prefix !== undefined) mistakes.push(...nameMistakes(prefix, "subdomain").map((m) => `prefix part ${m}`))
  if (name === "") mistakes.push("name part must be non-empty")
  else if (isLonger(name, 63)) mistakes.push("name part must be no more than 63 bytes")
  if (!qualifiedPattern.test(name)) mistakes.push(`name part ${qualifiedPart}`)
  return mistakes
}

export const labelValueMistakes = (value: string): ReadonlyArray<string> => [
  ...(isLonger(value, 63) ? ["must be no more than 63 bytes"] : []),
  ...(labelPattern.test(value) ? [] : [labelValue])
]

/** Of all annotations together, keys and values. */
export const annotationBytesMost = 262_144
const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"])

export interface MetaRules {
  readonly name: NameRule
  readonly custom: boolean
}

/** What is wrong with the metadata of any stored object. */
export const validate = (meta: ObjectMeta, rules: MetaRules): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  const invalid = (field: string, value: unknown, messages: ReadonlyArray<string>): void => {
    for (const message of messages) causes.push(fieldInvalid(field, value, message))
  }
  if (meta.generateName !== undefined) {
    // The base may end in a dash.
    const base = meta.generateName.replace(/-$/, "a")
    invalid(
      "metadata.generateName",
      meta.generateName,
      nameMistakes(base, rules.name)
        .slice(-1)
        .filter((m) => !m.startsWith("must be no more"))
    )
  }
  if (meta.name === undefined || meta.name === "") {
    causes.push(fieldRequired("metadata.name", "name or generateName is required"))
  } else invalid("metadata.name", meta.name, nameMistakes(meta.name, rules.name))
  for (const [key, value] of Object.entries(meta.labels ?? {})) {
    invalid("metadata.labels", key, qualifiedMistakes(key))
    invalid("metadata.labels", value, labelValueMistakes(value))
  }
  let size = 0
  for (const [key, value] of Object.entries(meta.annotations ?? {})) {
    invalid("metadata.annotations", key, qualifiedMistakes(key.toLowerCase()))
    size += key.length + value.length
  }
  if (size * 3 > annotationBytesMost && annotationBytes(meta) > annotationBytesMost)
    causes.push(fieldTooLong("metadata.annotations", annotationBytesMost))
  causes.push(...validateOwners(meta), ...validateFinalizers(meta, rules.custom))
  return causes
}

export const annotationBytes = ({ annotations = {} }: Pick<ObjectMeta, "annotations">): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + bytes(key) + bytes(value), 0)

const validateFinalizers = ({ finalizers = [] }: ObjectMeta, custom: boolean): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  for (const finalizer of finalizers) {
    for (const message of qualifiedMistakes(finalizer)) {
      causes.push(fieldInvalid("metadata.finalizers", finalizer, message))
    }
  }
  if (!custom) {
    finalizers.forEach((finalizer, i) => {
      if (!finalizer.includes("/") && !standardFinalizers.has(finalizer)) {
        causes.push(
          fieldInvalid(
            `metadata.finalizers[${i}]`,
            finalizer,
            "name is neither a standard finalizer name nor is it fully qualified"
          )
        )
      }
    })
  }
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    causes.push(
      fieldInvalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set")
    )
  }
  return causes
}

const validateOwners = ({ ownerReferences = [] }: ObjectMeta): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  let controller: string | undefined
  for (const owner of ownerReferences) {
    const parts = owner.apiVersion.split("/")
    if (parts.length > 2 || parts.at(-1) === "") {
      causes.push(fieldInvalid("metadata.ownerReferences.apiVersion", owner.apiVersion, "version must not be empty"))
    }
    for (const field of ["kind", "name", "uid"] as const) {
      if (owner[field] === "") {
        causes.push(fieldInvalid(`metadata.ownerReferences.${field}`, "", "must not be empty"))
      }
    }
    if (owner.kind === "Event" && owner.apiVersion === "v1") {
      causes.push(fieldInvalid("metadata.ownerReferences", owner, "/v1, Kind=Event is disallowed from being an owner"))
    }
    if (owner.controller === true) {
      const who = `${owner.kind}/${owner.name}`
      if (controller !== undefined) {
        causes.push(
          fieldInvalid(
            "metadata.ownerReferences",
            ownerReferences,
            `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${who}`
          )
        )
      }
      controller ??= who
    }
  }
  return causes
}

const judgedAgain = new Set(["metadata.labels", "metadata.annotations", "metadata.ownerReferences"])

/** In an update these are judged once more by each layer that looks at the change: a cause comes so often (F15). */
export const repeated = (causes: ReadonlyArray<StatusCause>, custom: boolean): ReadonlyArray<StatusCause> => {
  if (causes.length === 0) return causes
  return Array.from({ length: custom ? 2 : 3 }, () => causes.filter(({ field }) => judgedAgain.has(field ?? ""))).flat()
}

/** What may not change (IMMUT of the facts: each cause comes twice) and the finalizers that come too late (F114, twice as well). */
export const validateChange = (next: ObjectMeta, live: ObjectMeta): ReadonlyArray<StatusCause> => {
  const causes: Array<StatusCause> = []
  if (live.deletionTimestamp !== undefined) {
    const added = (next.finalizers ?? []).filter((finalizer) => !(live.finalizers ?? []).includes(finalizer))
    if (added.length > 0) {
      causes.push(
        fieldForbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((f) => JSON.stringify(f)).join(", ")}}`
        )
      )
    }
  }
  for (const field of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] as const) {
    if (next[field] !== live[field]) {
      causes.push(fieldInvalid(`metadata.${field}`, next[field] ?? null, "field is immutable"))
    }
  }
  return [...causes, ...causes]
}

/** Warnings about what is stored all the same (F17, F123). */
export const warnings = (meta: ObjectMeta, custom: boolean): ReadonlyArray<string> => {
  const told: Array<string> = []
  if (custom) {
    for (const finalizer of meta.finalizers ?? []) {
      if (finalizer.includes("/") || standardFinalizers.has(finalizer)) continue
      const path = finalizer.includes(".") ? " including a path (/)" : ""
      told.push(
        `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
      )
    }
  }
  const uids = (meta.ownerReferences ?? []).map((owner) => owner.uid)
  const twice = [...new Set(uids.filter((uid, i) => uids.indexOf(uid) !== i))]
  if (twice.length > 0) {
    told.push(
      `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${twice.join(", ")}`
    )
  }
  return told
}
