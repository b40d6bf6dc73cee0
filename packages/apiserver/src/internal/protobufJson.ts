/** From what was read of a message to the JSON that a Go client would have written in its place. */
import * as Base64 from "effect/encoding/Base64"
import { shapeOf } from "./http/jsonText.ts"
import { setEntry } from "./json.ts"
import { type Field, type Message, messageOf, type Values } from "./protobufMessages.ts"
import { Malformed } from "./protobufWire.ts"

/** How deep the JSON may nest (of the whole body). */
export const nestingMost = 500

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** JSON within protobuf, as it stands. */
const raw = (bytes: unknown): unknown => {
  if (bytes === undefined || (bytes as Uint8Array).length === 0) return null
  const text = utf8.decode(bytes as Uint8Array)
  if (shapeOf(text).depth > nestingMost) throw new Malformed(`exceeded max depth of ${nestingMost}`)
  try {
    return JSON.parse(text)
  } catch {
    throw new Malformed("proto: a raw value is no JSON")
  }
}

/** The seconds since 1970 of the years that a time may have. */
const [earliest, latest] = [-62_167_219_200, 253_402_300_799]

const time = ([seconds, nanos]: Values, digits: 0 | 6): string | null => {
  // Go's zero time has no fields at all; 1970 has both.
  if (seconds === undefined && nanos === undefined) return null
  const at = Number(seconds ?? 0)
  if (at < earliest || at > latest) throw new Malformed("proto: a time is not within the years 0 to 9999")
  const [whole = ""] = new Date(at * 1000).toISOString().split(".")
  if (digits === 0) return `${whole}Z`
  const part = Number(nanos ?? 0)
  if (part < 0 || part > 999_999_999) throw new Malformed("proto: the nanoseconds of a time are not within a second")
  return `${whole}.${String(Math.floor(part / 1000)).padStart(6, "0")}Z`
}

const schemas = "apiextensions.v1.JSONSchemaProps"
const schema = (values: unknown): unknown =>
  values === undefined ? null : messageJson(messageOf(schemas), values as Values)

/** Types that write JSON of their own. The fields are those of `protobufTypes.ts`. */
const own: Readonly<Record<string, (values: Values) => unknown>> = {
  "meta.v1.Time": (values) => time(values, 0),
  "meta.v1.MicroTime": (values) => time(values, 6),
  "meta.v1.FieldsV1": ([bytes]) => raw(bytes),
  "runtime.RawExtension": ([bytes]) => raw(bytes),
  "apiextensions.v1.JSON": ([bytes]) => raw(bytes),
  "resource.Quantity": ([text]) => (text === undefined || text === "" ? "0" : text),
  "intstr.IntOrString": ([type = 0, number = 0, text = ""]) => {
    if (type !== 0 && type !== 1) throw new Malformed("impossible IntOrString.Type")
    return type === 0 ? number : text
  },
  "apiextensions.v1.JSONSchemaPropsOrBool": ([allows = false, one]) => (one === undefined ? allows : schema(one)),
  "apiextensions.v1.JSONSchemaPropsOrArray": ([one, several]) =>
    several === undefined ? schema(one) : (several as ReadonlyArray<Values>).map(schema),
  "apiextensions.v1.JSONSchemaPropsOrStringArray": ([one, several]) => (several === undefined ? schema(one) : several)
}

const zeros: Readonly<Record<string, unknown>> = { s: "", b: false, i: 0, l: 0, d: 0, y: null }

const itemJson = (type: string, value: unknown): unknown => {
  switch (type) {
    case "s":
    case "b":
    case "i":
    case "l":
      return value ?? zeros[type]
    case "d":
      if (value !== undefined && !Number.isFinite(value)) throw new Malformed("proto: a number is not finite")
      return value ?? 0
    case "y":
      return value === undefined ? null : Base64.encode(value as Uint8Array)
  }
  return messageJson(messageOf(type), (value ?? []) as Values)
}

const mapJson = (type: string, entries: ReadonlyMap<string, unknown>): unknown => {
  const out: Record<string, unknown> = {}
  for (const [key, value] of entries) setEntry(out, key, itemJson(type, value))
  return out
}

/** Undefined where JSON leaves the field out. */
const fieldJson = ({ form, omitted, optional, structured, type }: Field, value: unknown): unknown => {
  if (form === "one") {
    const json = itemJson(type, value)
    if (omitted === "zero") return json ?? undefined
    return optional && !structured && (json === null || json === zeros[type]) ? undefined : json
  }
  if (value === undefined) return null
  if (form === "pointer") return itemJson(type, value)
  return form === "map"
    ? mapJson(type, value as ReadonlyMap<string, unknown>)
    : (value as ReadonlyArray<unknown>).map((item) => itemJson(type, item))
}

export const messageJson = (message: Message, values: Values): unknown => {
  const special = own[message.name]
  if (special !== undefined) return special(values)
  const { fields } = message
  // A message of one list stands for the list.
  if (fields.length === 1 && fields[0]!.name === "" && fields[0]!.form === "list")
    return fieldJson(fields[0]!, values[0])
  const out: Record<string, unknown> = {}
  for (let place = 0; place < fields.length; place++) {
    const field = fields[place]!
    const value = values[place]
    if (value === undefined && field.optional) continue
    if (field.name === "") Object.assign(out, itemJson(field.type, value))
    else {
      const json = fieldJson(field, value)
      if (json !== undefined) out[field.name] = json
    }
  }
  return out
}
