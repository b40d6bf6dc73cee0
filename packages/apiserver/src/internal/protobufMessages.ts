/** The messages that are known, and what one holds while it is read. */
import { kinds, messages } from "./protobufTypes.ts"

/** One value, one that may be absent, a list, or a map by strings. */
export type Form = "one" | "pointer" | "list" | "map"

export interface Field {
  /** In JSON. Empty: its fields are those of the message around it. */
  readonly name: string
  /** When JSON leaves it out: never, where it is empty, where it is zero. */
  readonly omitted: "never" | "empty" | "zero"
  readonly form: Form
  /** `s`, `b`, `i`, `l`, `d`, `y`, or the name of a message. */
  readonly type: string
  /** The type is a message. */
  readonly structured: boolean
  /** JSON has nothing where nothing was read. */
  readonly optional: boolean
}

export interface Message {
  readonly name: string
  /** In the order of JSON. */
  readonly fields: ReadonlyArray<Field>
  /** The place in `fields` of a field of this number. */
  readonly places: ReadonlyMap<number, number>
}

/**
 * What has been read of a message, by the place of the field: a scalar, bytes, another message's values, a list of those, or a Map. Undefined where
 * nothing was.
 */
export type Values = Array<unknown>

const fieldOf = (text: string): readonly [number, Field] => {
  const [, name = "", flags = "", number = "", form = "", type = ""] = /^([^:?]*)(\?*):(\d+):(\*|\[\]|\{\}|)(.+)$/.exec(
    text
  )!
  const structured = type.length > 1
  return [
    Number(number),
    {
      name,
      omitted: flags === "??" ? "zero" : flags === "?" ? "empty" : "never",
      form: form === "*" ? "pointer" : form === "[]" ? "list" : form === "{}" ? "map" : "one",
      type,
      structured,
      // A struct is never empty, not even one without fields.
      optional: flags === "??" || (flags === "?" && (form !== "" || !structured))
    }
  ]
}

const known = new Map<string, Message>()

/** A line for each entry: the key up to the last space of `keys` many, then what it stands for. */
const read = (text: string, keys: 1 | 2): ReadonlyMap<string, string> =>
  new Map(
    text
      .trim()
      .split("\n")
      .map((line) => {
        const words = line.split(" ")
        return [words.slice(0, keys).join(" "), words.slice(keys).join(" ")]
      })
  )

let texts: ReadonlyMap<string, string> | undefined
let names: ReadonlyMap<string, string> | undefined

/** The name of the message of a kind; options and statuses are registered in every group version. */
export const messageNameOf = (apiVersion: string, kind: string): string | undefined => {
  if (kind === "DeleteOptions" || kind === "Status") return `meta.v1.${kind}`
  names ??= read(kinds, 2)
  return names.get(`${apiVersion} ${kind}`)
}

/** The message of this name, which must be among those of the data. */
export const messageOf = (name: string): Message => {
  const found = known.get(name)
  if (found !== undefined) return found
  texts ??= read(messages, 1)
  const text = texts.get(name)
  if (text === undefined) throw new Error(`there is no message ${name}`)
  const entries = text === "" ? [] : text.split(" ").map(fieldOf)
  const message: Message = {
    name,
    fields: entries.map(([, field]) => field),
    places: new Map(entries.map(([number], place) => [number, place]))
  }
  known.set(name, message)
  return message
}
