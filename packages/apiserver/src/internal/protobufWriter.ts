/** Protocol buffers as they are written: each function gives the bytes of one field. */

const utf8 = new TextEncoder()

export const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

/** A number from 0 up to 2^53. */
const number = (value: number): ReadonlyArray<number> => {
  const bytes: Array<number> = []
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return bytes
}

const sized = (field: number, bytes: Uint8Array): Uint8Array =>
  concat([Uint8Array.from([...number(field * 8 + 2), ...number(bytes.length)]), bytes])

export const message = (field: number, parts: ReadonlyArray<Uint8Array>): Uint8Array => sized(field, concat(parts))

export const text = (field: number, value: string): Uint8Array => sized(field, utf8.encode(value))

/** A number from 0 up to 2^53; a bool is 1. */
export const whole = (field: number, value: number): Uint8Array =>
  Uint8Array.from([...number(field * 8), ...number(value)])

export const double = (field: number, value: number): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return concat([Uint8Array.from(number(field * 8 + 1)), bytes])
}
