/** From an answer to its text: JSON or YAML, lists without what their items leave out (F34), events of watches once for all who read the same form. */
import * as Yaml from "yaml"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { Response } from "../request.ts"
import type { WireEvent } from "../watching.ts"
import type { Form } from "./accept.ts"

export interface Encoded {
  readonly contentType: string
  /** A short text goes out in one piece with its head. */
  readonly body: string | Buffer
}

/** As Go writes it: keys in order, lists not indented, what an older YAML would read as a date or a boolean in quotes. */
const yaml = {
  aliasDuplicateObjects: false,
  lineWidth: 0,
  compat: "yaml-1.1",
  indentSeq: false,
  sortMapEntries: true
} as const

const asText: Encoded["contentType"] = "text/plain; charset=utf-8"

interface ListBody {
  readonly apiVersion: string
  readonly items: ReadonlyArray<KubeObject>
}

/** The items go without kind and version, which stand first in what is stored: their text is cut, not copied. */
const bareList = (list: ListBody): string => {
  const { items, ...head } = list
  const texts = items.map((item) => {
    const { apiVersion, kind, ...rest } = item
    const text = JSON.stringify(item)
    const prefix = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},`
    return text.startsWith(prefix) ? `{${text.slice(prefix.length)}` : JSON.stringify(rest)
  })
  return `${JSON.stringify(head).slice(0, -1)},"items":[${texts.join(",")}]}`
}

const withoutTypes = (list: ListBody): unknown => ({
  ...list,
  items: list.items.map(({ apiVersion: _, kind: __, ...rest }) => rest)
})

/** The body of an answer. Text is sent as such. */
export const encode = (
  { bareItems, body }: Pick<Response, "body" | "bareItems">,
  { media, pretty }: Pick<Form, "media" | "pretty">
): Encoded => {
  if (typeof body === "string") return { contentType: asText, body }
  const bare = bareItems === true ? (body as ListBody) : undefined
  if (media === "application/yaml" || pretty) {
    const value = bare === undefined ? body : withoutTypes(bare)
    const text = media === "application/yaml" ? Yaml.stringify(value, yaml) : JSON.stringify(value, null, 2)
    return { contentType: media, body: text }
  }
  return { contentType: media, body: `${bare === undefined ? JSON.stringify(body) : bareList(bare)}\n` }
}

/** One line of a watch. */
const encodeEvent = (type: string, object: unknown): Buffer =>
  Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`)

/** Keeps the lines of the newest object, since all who watch it are told of it in one go. */
export const makeEventLines = (): ((event: WireEvent, form: string, shape: (object: unknown) => unknown) => Buffer) => {
  let newest: unknown
  let lines = new Map<string, Buffer>()
  return ({ object, type }, form, shape) => {
    if (object !== newest) {
      newest = object
      lines = new Map()
    }
    const key = `${type} ${form}`
    const known = lines.get(key)
    if (known !== undefined) return known
    const line = encodeEvent(type, shape(object))
    lines.set(key, line)
    return line
  }
}
