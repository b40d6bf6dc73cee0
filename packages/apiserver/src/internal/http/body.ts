/** From the bytes of a request to what the machine takes: JSON, YAML where the type says so and it is not JSON after all, and the protobuf of client-go. */
import * as Yaml from "yaml"
import { decodeBody } from "../protobuf.ts"
import type { Request } from "../request.ts"
import * as JsonText from "./jsonText.ts"

export interface Read {
  readonly body: Body
  /** Keys and items, about. */
  readonly parts: number
}

export type Body = Pick<Request, "body" | "bodyBytes" | "duplicates" | "unreadable">

/** YAML that is not JSON is read more slowly by far: a larger one would hold up everybody else. */
const yamlMost = 65_536

/** The same of its lines, fields and items, about. */
const yamlPartsMost = 2_048

/** Whether reading these bytes takes long for their number. */
export const isSlow = (bytes: Uint8Array, contentType: string | undefined): boolean =>
  contentType?.includes("yaml") === true && bytes.length > 1_024 && bytes[0] !== 123

// Go puts U+FFFD for bytes that are no UTF-8, and takes no byte order mark.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** Types whose bodies are read here; of others the machine says that it does not take them. */
const readable: ReadonlySet<string> = new Set([
  "application/json",
  "application/yaml",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml"
])

/** The beginning of a body as messages quote it; in hexadecimal if it is no text. */
const quoted = (bytes: Uint8Array, text: string): string => {
  // Go guesses by the first character.
  const isText = text.trimStart().startsWith("{")
  const most = isText ? 24 : 30
  const shown = isText
    ? text.slice(0, most)
    : Array.from(bytes.subarray(0, most), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return (isText ? text.length : bytes.length) > most ? `${shown} ...` : shown
}

const tooDeep = `exceeded max depth of ${JsonText.nestingMost}`
/** Of an object, in keys and items. A CRD of 1 MB has some 20,000; each costs 10 to 30 µs, for which all others wait. */
const objectPartsMost = 32_768

const tooMany = `exceeded max number of ${objectPartsMost} keys and items`

const halves = /\\u[dD][89a-fA-F]/

const refusedBody = (bytes: Uint8Array, text: string, why: string): Read => ({
  body: { bodyBytes: bytes.length, unreadable: { why, quoted: quoted(bytes, text) } },
  parts: 0
})

const fromJson = (bytes: Uint8Array, text: string, isPatch: boolean): Read => {
  const { depth, keys, parts } = JsonText.shapeOf(text)
  const refused = (why: string): Read =>
    refusedBody(
      bytes,
      text,
      isPatch ? `error decoding patch: ${why}` : `couldn't get version/kind; json parse error: ${why}`
    )
  const bodyBytes = bytes.length
  if (depth > JsonText.nestingMost) return refused(tooDeep)
  if (parts > (isPatch ? JsonText.partsMost : objectPartsMost)) return refused(tooMany)
  let body: unknown
  try {
    // Halves of characters are none, as for Go.
    body = halves.test(text)
      ? JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value))
      : JSON.parse(text)
  } catch {
    return refused(JsonText.complaint(text))
  }
  if (JsonText.countKeys(body) === keys) return { body: { body, bodyBytes }, parts }
  return { body: { body, bodyBytes, duplicates: JsonText.duplicates(text) }, parts }
}

/** Throws on what is no YAML, and on keys that are no scalars: their texts double with each that holds another. */
const plainOf = (text: string): unknown => {
  const document = Yaml.parseDocument(text, {
    schema: "core",
    prettyErrors: false,
    logLevel: "silent",
    uniqueKeys: false
  })
  const [error] = document.errors
  if (error !== undefined) throw error
  Yaml.visit(document, {
    Pair: (_, { key }) => {
      if (Yaml.isNode(key) && !Yaml.isScalar(key)) throw new Error("invalid map key")
    }
  })
  return document.toJS()
}

const fromYaml = (bytes: Uint8Array, text: string): Read => {
  const refused = (why: string): Read => refusedBody(bytes, text, why)
  if (bytes.length > yamlMost) return refused(`YAML of more than ${yamlMost} bytes is not taken, send JSON`)
  if ((text.match(/[\n,:?[{]|- /g)?.length ?? 0) > yamlPartsMost)
    return refused(`YAML of more than ${yamlPartsMost} lines, fields and items is not taken, send JSON`)
  try {
    const value = plainOf(text)
    // The way through JSON makes of it what the server would see: no dates, no shared parts, no strange keys.
    const json = JSON.stringify(value) ?? "null"
    const { depth, parts } = JsonText.shapeOf(json)
    if (depth > JsonText.nestingMost) return refused(tooDeep)
    if (parts > objectPartsMost) return refused(tooMany)
    return { body: { body: JSON.parse(json), bodyBytes: bytes.length }, parts }
  } catch (error) {
    return refused(`yaml: ${error instanceof Error ? error.message.split("\n", 1)[0]! : String(error)}`)
  }
}

const protobuf = "application/vnd.kubernetes.protobuf"

/** As client-go sends the built-in kinds. */
const fromProtobuf = (bytes: Uint8Array): Read => {
  const decoded = decodeBody(bytes)
  if (decoded._tag === "Malformed") return refusedBody(bytes, "", decoded.why)
  return { body: { body: decoded.body, bodyBytes: bytes.length }, parts: JsonText.countKeys(decoded.body) }
}

/** Reads a whole body. `contentType` as the header has it. */
export const parse = (bytes: Uint8Array, contentType: string | undefined): Read => {
  const bodyBytes = bytes.length
  const type = (contentType ?? "application/json").split(";", 1)[0]!.trim()
  if (type === protobuf && bodyBytes > 0) return fromProtobuf(bytes)
  if (bodyBytes === 0 && type.startsWith("application/apply-patch")) return { body: { body: {}, bodyBytes }, parts: 0 }
  if (bodyBytes === 0 && readable.has(type) && type.includes("patch")) return fromJson(bytes, "", true)
  if (bodyBytes === 0 || !readable.has(type)) return { body: { bodyBytes }, parts: 0 }
  const text = utf8.decode(bytes)
  const read = fromJson(bytes, text, type.includes("patch"))
  const { unreadable } = read.body
  // Clients fill the YAML types with JSON mostly.
  return unreadable !== undefined && type.endsWith("yaml") && !unreadable.why.includes("exceeded max")
    ? fromYaml(bytes, text)
    : read
}
