/**
 * Bodies that Go clients write as protobuf: `k8s` and a zero byte, then an envelope that names the kind, then the message of the kind. What comes out is what the
 * same client would have written as JSON.
 *
 * Guarantees: no bytes make it throw or loop; what is read is no deeper than JSON bodies may be.
 * Caveats: whole numbers beyond 2^53 lose their last digits, as in JSON; an empty list is as good as none.
 */
import { isObject, type JsonObject } from "./json.ts"
import { messageJson, nestingMost } from "./protobufJson.ts"
import { type Field, type Message, messageNameOf, messageOf, type Values } from "./protobufMessages.ts"
import * as Wire from "./protobufWire.ts"

export interface Kind {
  readonly apiVersion: string
  readonly kind: string
}

export type Decoded =
  | { readonly _tag: "Decoded"; readonly body: JsonObject }
  /** Why there is no object, in Go's words. `kind` is what the body calls itself, where that was still read. */
  | { readonly _tag: "Malformed"; readonly why: string; readonly kind?: Kind }

const wireTypes: Readonly<Record<string, number>> = { b: Wire.varint, i: Wire.varint, l: Wire.varint, d: Wire.fixed64 }

const expect = (tag: number, wire: number, field: string): void => {
  if ((tag & 7) !== wire) throw new Wire.Malformed(`proto: wrong wireType = ${tag & 7} for field ${field}`)
}

const readScalar = (cursor: Wire.Cursor, type: string): unknown => {
  Wire.charge(cursor, 1)
  switch (type) {
    case "b":
      return Wire.readNumber(cursor) !== 0 || cursor.high !== 0
    case "i":
      return Wire.readNumber(cursor) | 0
    case "l":
      return Wire.readLong(cursor)
    case "d":
      return Wire.readDouble(cursor)
    case "s":
      return Wire.restAsText(Wire.readDelimited(cursor))
    default:
      return Wire.rest(Wire.readDelimited(cursor))
  }
}

/** `before` is what was read of the same value: the parts of a message may come one after another. */
const readValue = (cursor: Wire.Cursor, { structured, type }: Field, before: unknown, depth: number): unknown => {
  if (!structured) return readScalar(cursor, type)
  const values = (before ?? []) as Values
  readMessage(Wire.readDelimited(cursor), messageOf(type), values, depth)
  return values
}

const readList = (cursor: Wire.Cursor, tag: number, field: Field, list: Array<unknown>, depth: number): void => {
  const wire = wireTypes[field.type] ?? Wire.delimited
  if (wire !== Wire.delimited && (tag & 7) === Wire.delimited) {
    const packed = Wire.readDelimited(cursor)
    while (packed.at < packed.end) list.push(readScalar(packed, field.type))
    return
  }
  expect(tag, wire, field.name)
  list.push(readValue(cursor, field, undefined, depth))
}

const readEntry = (cursor: Wire.Cursor, field: Field, map: Map<string, unknown>, depth: number): void => {
  const entry = Wire.readDelimited(cursor)
  let key = ""
  let value: unknown = field.type === "y" ? new Uint8Array(0) : undefined
  while (entry.at < entry.end) {
    const tag = Wire.readTag(entry, field.name)
    if (tag >>> 3 === 1) {
      expect(tag, Wire.delimited, field.name)
      key = Wire.restAsText(Wire.readDelimited(entry))
    } else if (tag >>> 3 === 2) {
      expect(tag, wireTypes[field.type] ?? Wire.delimited, field.name)
      value = readValue(entry, field, value, depth)
    } else Wire.skip(entry, tag)
  }
  map.set(key, value)
}

/** Reads to the end of the cursor. Each object, list and map is one deeper. */
const readMessage = (cursor: Wire.Cursor, message: Message, values: Values, depth: number): void => {
  if (depth > nestingMost) throw new Wire.Malformed(`exceeded max depth of ${nestingMost}`)
  Wire.charge(cursor, 5)
  while (cursor.at < cursor.end) {
    const tag = Wire.readTag(cursor, message.name)
    const place = message.places.get(tag >>> 3)
    if (place === undefined) {
      Wire.skip(cursor, tag)
      continue
    }
    const field = message.fields[place]!
    if (field.form === "list") {
      readList(cursor, tag, field, (values[place] ??= []) as Array<unknown>, depth + 2)
    } else if (field.form === "map") {
      expect(tag, Wire.delimited, field.name)
      readEntry(cursor, field, (values[place] ??= new Map()) as Map<string, unknown>, depth + 2)
    } else {
      expect(tag, wireTypes[field.type] ?? Wire.delimited, field.name)
      values[place] = readValue(cursor, field, values[place], depth + 1)
    }
  }
}

const magic = [0x6b, 0x38, 0x73, 0x00]

interface Envelope {
  readonly kind: Kind | undefined
  readonly raw: Wire.Cursor
}

const open = (bytes: Uint8Array): Envelope => {
  if (magic.some((byte, at) => bytes[at] !== byte)) {
    throw new Wire.Malformed("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
  }
  if (bytes.length === magic.length) throw new Wire.Malformed("empty body")
  const cursor = Wire.cursorOf(bytes.subarray(magic.length))
  let raw = Wire.cursorOf(new Uint8Array(0))
  const names = ["", ""]
  while (cursor.at < cursor.end) {
    const tag = Wire.readTag(cursor, "Unknown")
    const number = tag >>> 3
    if (number > 2) {
      Wire.skip(cursor, tag)
      continue
    }
    expect(tag, Wire.delimited, number === 1 ? "TypeMeta" : "Raw")
    const inner = Wire.readDelimited(cursor)
    if (number === 2) raw = inner
    else {
      while (inner.at < inner.end) {
        const own = Wire.readTag(inner, "TypeMeta")
        if (own >>> 3 > 2) Wire.skip(inner, own)
        else {
          expect(own, Wire.delimited, own >>> 3 === 1 ? "APIVersion" : "Kind")
          names[(own >>> 3) - 1] = Wire.restAsText(Wire.readDelimited(inner))
        }
      }
    }
  }
  const [apiVersion = "", kind = ""] = names
  return { kind: apiVersion === "" && kind === "" ? undefined : { apiVersion, kind }, raw }
}

const malformed = (error: unknown, kind?: Kind): Decoded => {
  if (!(error instanceof Wire.Malformed)) throw error
  return { _tag: "Malformed", why: error.why, ...(kind !== undefined && { kind }) }
}

/** The object in a body. `expected` is the kind of one that names none, as the server knows it by the path. */
export const decodeBody = (bytes: Uint8Array, expected?: Kind): Decoded => {
  let envelope: Envelope
  try {
    envelope = open(bytes)
  } catch (error) {
    return malformed(error)
  }
  const kind = envelope.kind ?? expected ?? { apiVersion: "", kind: "" }
  try {
    const name = messageNameOf(kind.apiVersion, kind.kind)
    if (name === undefined) {
      throw new Wire.Malformed(`no kind "${kind.kind}" is registered for version "${kind.apiVersion}"`)
    }
    const message = messageOf(name)
    const values: Values = []
    readMessage(envelope.raw, message, values, 1)
    const object = messageJson(message, values)
    return { _tag: "Decoded", body: { apiVersion: kind.apiVersion, kind: kind.kind, ...(isObject(object) && object) } }
  } catch (error) {
    return malformed(error, kind)
  }
}
