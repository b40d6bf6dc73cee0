/** Texts from anywhere, made fit for fields that hold so many UTF-8 bytes. Pure; work is bounded by the limit, not by the text. */

const lead = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const trail = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

const bytesOf = (unit: number): number => (unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3)

/** UTF-8 bytes; a lone surrogate counts as the three of U+FFFD. */
export const byteLength = (text: string): number => {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (lead(unit) && trail(text.charCodeAt(i + 1))) {
      bytes += 4
      i++
    } else bytes += bytesOf(unit)
  }
  return bytes
}

/** Replaces lone surrogates, which UTF-8 cannot hold: the server would store something else than was sent, and differ for ever. */
export const wellFormed = (text: string): string =>
  // Almost no text has any, and the first search costs a tenth of the second.
  /[\ud800-\udfff]/.test(text) ? text.replace(/\p{Surrogate}/gu, "\uFFFD") : text

/** The longest beginning of whole characters within so many bytes. */
const head = (text: string, limit: number): string => {
  let bytes = 0
  let i = 0
  while (i < text.length) {
    const pair = lead(text.charCodeAt(i)) && trail(text.charCodeAt(i + 1))
    bytes += pair ? 4 : bytesOf(text.charCodeAt(i))
    if (bytes > limit) break
    i += pair ? 2 : 1
  }
  return text.slice(0, i)
}

/** The longest end of whole characters within so many bytes. */
const tail = (text: string, limit: number): string => {
  let bytes = 0
  let i = text.length
  while (i > 0) {
    const pair = trail(text.charCodeAt(i - 1)) && lead(text.charCodeAt(i - 2))
    bytes += pair ? 4 : bytesOf(text.charCodeAt(i - 1))
    if (bytes > limit) break
    i -= pair ? 2 : 1
  }
  return text.slice(i)
}

/** Whether it takes more bytes than that; never looks further than needed. */
const isLonger = (text: string, limit: number): boolean =>
  text.length > limit || (text.length * 3 > limit && byteLength(text) > limit)

/** Cuts the middle out: 511 bytes, `...` and 510 bytes for a limit of 1,024, at the edges of characters (P12, D19). */
export const cutMiddle = (text: string, limit: number): string => {
  if (!isLonger(text, limit)) return wellFormed(text)
  const room = Math.max(0, limit - 3)
  const first = Math.ceil(room / 2)
  return wellFormed(`${head(text, first)}...${tail(text, room - first)}`).slice(0, limit)
}

/** Cuts the end off. */
export const cutEnd = (text: string, limit: number): string =>
  wellFormed(isLonger(text, limit) ? head(text, limit) : text)
