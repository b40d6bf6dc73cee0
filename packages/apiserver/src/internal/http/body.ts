/** From the bytes of a request to what the machine takes: JSON, or YAML where the type says so and it is not JSON after all. */
import * as Yaml from "yaml"
import type { Request } from "../request.ts"
import * as JsonText from "./jsonText.ts"

export type Body = Pick<Request, "body" | "bodyBytes" | "duplicates" | "unreadable">

/** YAML that is not JSON is read more slowly by far: a larger one would hold up everybody else. */
export const yamlMost = 262_144

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

const fromJson = (bytes: Uint8Array, text: string): Body => {
  const { depth, keys } = JsonText.shapeOf(text)
  const refused = (why: string): Body => ({
    bodyBytes: bytes.length,
    unreadable: { why, quoted: quoted(bytes, text) }
  })
  if (depth > JsonText.nestingMost) return refused(`exceeded max depth of ${JsonText.nestingMost}`)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return refused(JsonText.complaint(text))
  }
  if (JsonText.countKeys(body) === keys) return { body, bodyBytes: bytes.length }
  return { body, bodyBytes: bytes.length, duplicates: JsonText.duplicates(text) }
}

const fromYaml = (bytes: Uint8Array, text: string): Body => {
  const refused = (why: string): Body => ({ bodyBytes: bytes.length, unreadable: { why, quoted: quoted(bytes, text) } })
  if (bytes.length > yamlMost) return refused(`YAML of more than ${yamlMost} bytes is not taken, send JSON`)
  try {
    const value: unknown = Yaml.parse(text, {
      schema: "core",
      prettyErrors: false,
      logLevel: "silent",
      uniqueKeys: false
    })
    // The way through JSON makes of it what the server would see: no dates, no shared parts, no strange keys.
    const { depth } = JsonText.shapeOf(JSON.stringify(value) ?? "")
    if (depth > JsonText.nestingMost) return refused(`exceeded max depth of ${JsonText.nestingMost}`)
    return { body: JSON.parse(JSON.stringify(value) ?? "null"), bodyBytes: bytes.length }
  } catch (error) {
    return refused(`yaml: ${error instanceof Error ? error.message.split("\n", 1)[0]! : String(error)}`)
  }
}

/** Reads a whole body. `contentType` as the header has it. */
export const parse = (bytes: Uint8Array, contentType: string | undefined): Body => {
  if (bytes.length === 0) return { bodyBytes: 0 }
  const type = (contentType ?? "application/json").split(";", 1)[0]!.trim()
  if (!readable.has(type)) return { bodyBytes: bytes.length }
  const text = utf8.decode(bytes)
  const read = fromJson(bytes, text)
  // Clients fill the YAML types with JSON mostly.
  return read.unreadable !== undefined && type.endsWith("yaml") && !read.unreadable.why.startsWith("exceeded")
    ? fromYaml(bytes, text)
    : read
}
