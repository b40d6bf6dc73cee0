/**
 * Splits a stream of bytes into lines, pure. A line ends at byte 0x0A and nowhere else (a raw U+2028 is content), characters may be cut anywhere
 * between chunks (B10), and a long line in many chunks costs linear time (B11): its pieces hang in a list until its end is there. Small pieces are
 * joined before, since each costs a hundred bytes beside its content.
 */

/** The beginning of a line whose end has not come: its latest piece, and those before. */
export interface Pending {
  readonly piece: Buffer
  readonly before: Pending | undefined
  /** Of all pieces together. */
  readonly bytes: number
}

export interface Split {
  /** Whole lines without their end, a CR before it and blank ones left out. */
  readonly lines: ReadonlyArray<string>
  readonly pending: Pending | undefined
}

const newline = 0x0a
const carriageReturn = 0x0d

/** A piece of so many bytes is left alone. */
const largePiece = 4_096

const add = (pending: Pending | undefined, piece: Buffer): Pending | undefined => {
  if (piece.length === 0) return pending
  const bytes = piece.length + (pending?.bytes ?? 0)
  let last = piece
  let before = pending
  // Only with what is not longer, so that a byte is copied a dozen times at most.
  while (before !== undefined && last.length < largePiece && before.piece.length <= last.length) {
    last = Buffer.concat([before.piece, last])
    before = before.before
  }
  return { piece: last, before, bytes }
}

const join = (pending: Pending): Buffer => {
  if (pending.before === undefined) return pending.piece
  const whole = Buffer.allocUnsafe(pending.bytes)
  for (let at: Pending | undefined = pending; at !== undefined; at = at.before) {
    at.piece.copy(whole, at.bytes - at.piece.length)
  }
  return whole
}

const text = (bytes: Buffer, start: number, end: number): string =>
  bytes.toString("utf8", start, end > start && bytes[end - 1] === carriageReturn ? end - 1 : end)

/** The next chunk. */
export const split = (pending: Pending | undefined, chunk: Buffer): Split => {
  let end = chunk.indexOf(newline)
  if (end === -1) return { lines: [], pending: add(pending, chunk) }
  const lines: Array<string> = []
  const take = (line: string): void => {
    if (line.trim() !== "") lines.push(line)
  }
  let start = 0
  if (pending !== undefined) {
    const whole = join({ piece: chunk.subarray(0, end), before: pending, bytes: pending.bytes + end })
    take(text(whole, 0, whole.length))
    start = end + 1
    end = chunk.indexOf(newline, start)
  }
  while (end !== -1) {
    take(text(chunk, start, end))
    start = end + 1
    end = chunk.indexOf(newline, start)
  }
  return { lines, pending: add(undefined, chunk.subarray(start)) }
}

/** What is left when the stream has ended: a last line without its end, or undefined. */
export const rest = (pending: Pending | undefined): string | undefined => {
  if (pending === undefined) return undefined
  const whole = join(pending)
  const line = text(whole, 0, whole.length)
  return line.trim() === "" ? undefined : line
}
