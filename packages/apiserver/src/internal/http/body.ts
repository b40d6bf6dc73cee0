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
export const yamlMost = 131_072

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
  const isText = !text.includes("\uFFFD")
  const most = isText ? 24 : 30
  const shown = isText
    ? text.slice(0, most)
    : Array.from(bytes.subarray(0, most), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return (isText ? text.length : bytes.length) > most ? `${shown} ...` : shown
}

const tooDeep = `exceeded max depth of ${JsonText.nestingMost}`
const tooMany = `exceeded max number of ${JsonText.partsMost} keys and items`

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
  if (parts > JsonText.partsMost) return refused(tooMany)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return refused(JsonText.complaint(text))
  }
  if (JsonText.countKeys(body) === keys) return { body: { body, bodyBytes }, parts }
  return { body: { body, bodyBytes, duplicates: JsonText.duplicates(text) }, parts }
}

const fromYaml = (bytes: Uint8Array, text: string): Read => {
  const refused = (why: string): Read => refusedBody(bytes, text, why)
  if (bytes.length > yamlMost) return refused(`YAML of more than ${yamlMost} bytes is not taken, send JSON`)
  try {
    const value: unknown = Yaml.parse(text, {
      schema: "core",
      prettyErrors: false,
      logLevel: "silent",
      uniqueKeys: false
    })
    // The way through JSON makes of it what the server would see: no dates, no shared parts, no strange keys.
    const json = JSON.stringify(value) ?? "null"
    const { depth, parts } = JsonText.shapeOf(json)
    if (depth > JsonText.nestingMost) return refused(tooDeep)
    if (parts > JsonText.partsMost) return refused(tooMany)
    return { body: { body: JSON.parse(json), bodyBytes: bytes.length }, parts }
  } catch (error) {
    return refused(`yaml: ${error instanceof Error ? error.message.split("\n", 1)[0]! : String(error)}`)
  }
}

const protobuf = "application/vnd.kubernetes.protobuf"

/** As client-go sends the built-in kinds. */
const fromProtobuf = (bytes: Uint8Array): Read => {
  const decoded = decodeBody(bytes)
  if (decoded._tag === "Malformed") return refusedBody(bytes, "\uFFFD", decoded.why)
  return { body: { body: decoded.body, bodyBytes: bytes.length }, parts: JsonText.countKeys(decoded.body) }
}

/** Reads a whole body. `contentType` as the header has it. */
export const parse = (bytes: Uint8Array, contentType: string | undefined): Read => {
  const bodyBytes = bytes.length
  const type = (contentType ?? "application/json").split(";", 1)[0]!.trim()
  if (type === protobuf && bodyBytes > 0) return fromProtobuf(bytes)
  if (bodyBytes === 0 || !readable.has(type)) return { body: { bodyBytes }, parts: 0 }
  const text = utf8.decode(bytes)
  const read = fromJson(bytes, text, type.includes("patch"))
  const { unreadable } = read.body
  // Clients fill the YAML types with JSON mostly.
  return unreadable !== undefined && type.endsWith("yaml") && !unreadable.why.includes("exceeded max")
    ? fromYaml(bytes, text)
    : read
}
