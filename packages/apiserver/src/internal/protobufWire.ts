/** Protocol buffers as bytes: the tags, numbers and lengths of one message. */

/** Why bytes are no message, in the words of Go's decoder where it has some. Thrown inside of the decoder, and caught at its edge. */
export class Malformed {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** A place in the bytes of a message. */
export interface Cursor {
  readonly bytes: Uint8Array
  at: number
  readonly end: number
  /** The upper half of the number that was read last. */
  high: number
  /** Of the whole body: what may still be made of it. Two bytes are an empty message, which becomes an object of some hundred. */
  readonly allowance: { left: number }
}

/** More than any object of the size that a server stores needs. */
const valuesMost = 300_000

export const cursorOf = (bytes: Uint8Array): Cursor => ({
  bytes,
  at: 0,
  end: bytes.length,
  high: 0,
  allowance: { left: valuesMost }
})

/** Takes from what may be made: a number is one, a string two, a message six. */
export const charge = ({ allowance }: Cursor, price: number): void => {
  allowance.left -= price
  if (allowance.left < 0) throw new Malformed(`a body of more than ${valuesMost} values is not taken`)
}

/** How the value behind a tag is written. */
export const varint = 0
export const fixed64 = 1
export const delimited = 2
const startGroup = 3
const endGroup = 4
const fixed32 = 5

const short = (): Malformed => new Malformed("unexpected EOF")

/** The lower 32 bits of a number of up to 64, unsigned; the upper ones are left in `high`. */
export const readNumber = (cursor: Cursor): number => {
  const { bytes, end } = cursor
  let low = 0
  let high = 0
  for (let shift = 0; shift < 64; shift += 7) {
    if (cursor.at >= end) throw short()
    const byte = bytes[cursor.at++]!
    const bits = byte & 0x7f
    if (shift < 32) low |= bits << shift
    if (shift > 28) high |= bits << (shift - 32)
    else if (shift === 28) high |= bits >> 4
    if (byte < 0x80) {
      cursor.high = high
      return low >>> 0
    }
  }
  throw new Malformed("proto: integer overflow")
}

/** A whole number of 64 bits with its sign; beyond 2^53 the nearest that there is. */
export const readLong = (cursor: Cursor): number => {
  const low = readNumber(cursor)
  return cursor.high * 0x1_0000_0000 + low
}

export const readDouble = (cursor: Cursor): number => {
  if (cursor.end - cursor.at < 8) throw short()
  const { buffer, byteOffset } = cursor.bytes
  const value = new DataView(buffer, byteOffset + cursor.at, 8).getFloat64(0, true)
  cursor.at += 8
  return value
}

/** What a length goes before, as a cursor of its own. */
export const readDelimited = (cursor: Cursor): Cursor => {
  charge(cursor, 1)
  const length = readNumber(cursor)
  if (cursor.high < 0) throw new Malformed("proto: negative length found during unmarshaling")
  const at = cursor.at
  if (cursor.high > 0 || length > cursor.end - at) throw short()
  cursor.at = at + length
  return { bytes: cursor.bytes, at, end: cursor.at, high: 0, allowance: cursor.allowance }
}

const text = new TextDecoder("utf-8", { ignoreBOM: true })

export const rest = ({ at, bytes, end }: Cursor): Uint8Array => bytes.subarray(at, end)

/** Bytes that are no UTF-8 become U+FFFD, as in Go's JSON. */
export const restAsText = (cursor: Cursor): string => (cursor.at === cursor.end ? "" : text.decode(rest(cursor)))

/** The number of the next field times 8 plus how it is written. `message` is told in errors. */
export const readTag = (cursor: Cursor, message: string): number => {
  const tag = readNumber(cursor)
  if (tag >>> 3 === 0) throw new Malformed(`proto: ${message}: illegal tag ${tag >>> 3} (wire type ${tag & 7})`)
  if ((tag & 7) === endGroup) throw new Malformed(`proto: ${message}: wiretype end group for non-group`)
  return tag
}

const skipBytes = (cursor: Cursor, count: number): void => {
  if (cursor.end - cursor.at < count) throw short()
  cursor.at += count
}

/** Goes past a value that nobody knows. */
export const skip = (cursor: Cursor, tag: number): void => {
  let groups = 0
  for (let wire = tag & 7; ; wire = readNumber(cursor) & 7) {
    switch (wire) {
      case varint:
        readNumber(cursor)
        break
      case fixed64:
        skipBytes(cursor, 8)
        break
      case delimited:
        readDelimited(cursor)
        break
      case startGroup:
        groups++
        break
      case endGroup:
        if (groups-- === 0) throw new Malformed("proto: unexpected end of group")
        break
      case fixed32:
        skipBytes(cursor, 4)
        break
      default:
        throw new Malformed(`proto: illegal wireType ${wire}`)
    }
    if (groups === 0) return
  }
}
