import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Lines from "../src/internal/lines.ts"

const runs = { arbitrary: { runs: 2_000 } }

/** What must come out, by the plainest means. */
const expected = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
    .filter((line) => line.trim() !== "")

const all = (chunks: ReadonlyArray<Buffer>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let pending: Lines.Pending | undefined
  for (const chunk of chunks) {
    const split = Lines.split(pending, chunk)
    lines.push(...split.lines)
    pending = split.pending
  }
  const rest = Lines.rest(pending)
  return rest === undefined ? lines : [...lines, rest]
}

/** Cuts bytes at the given places, taken modulo the length. */
const cut = (bytes: Buffer, at: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const places = [
    0,
    ...at.map((n) => (bytes.length === 0 ? 0 : n % bytes.length)).toSorted((a, b) => a - b),
    bytes.length
  ]
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end))
}

const Piece = Schema.Literals([
  "\n",
  "\r\n",
  "\n\n",
  "日本",
  "🙂",
  "é",
  "\u2028",
  "\r",
  "a",
  " ",
  '{"x":1}',
  "\u0000",
  "\ufeff"
])
const Text = Arbitrary.map(Arbitrary.array(Arbitrary.schema(Piece), { maxLength: 40 }), (pieces) => pieces.join(""))
const Cuts = Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 500 }))), {
  maxLength: 30
})

describe("lines", () => {
  it.prop(
    "any chunking of any text gives the same lines, and no character is broken (B10)",
    [Text, Cuts],
    ([text, cuts]) => {
      const bytes = Buffer.from(text, "utf8")
      assert.deepStrictEqual(all(cut(bytes, cuts)), expected(text))
    },
    runs
  )

  it.prop(
    "single bytes give the same lines as one chunk (B10)",
    [Text],
    ([text]) => {
      const bytes = Buffer.from(text, "utf8")
      assert.deepStrictEqual(all([...bytes].map((byte) => Buffer.from([byte]))), all([bytes]))
    },
    runs
  )

  it.prop(
    "a line that has not ended is counted in bytes, and splitting does not touch what was pending before",
    [Text, Cuts],
    ([text, cuts]) => {
      let pending: Lines.Pending | undefined
      let open = 0
      for (const chunk of cut(Buffer.from(text, "utf8"), cuts)) {
        const before = pending === undefined ? undefined : { ...pending }
        const split = Lines.split(pending, chunk)
        const end = chunk.lastIndexOf(0x0a)
        open = end === -1 ? open + chunk.length : chunk.length - end - 1
        assert.deepStrictEqual(pending, before)
        assert.strictEqual(split.pending?.bytes ?? 0, open)
        pending = split.pending
      }
    },
    runs
  )

  it("a line of 512 KiB in chunks of one byte takes linear time (B11)", () => {
    const line = Buffer.alloc(512 * 1024, "x")
    const started = performance.now()
    const lines = all([...Array(line.length).keys()].map((i) => line.subarray(i, i + 1)).concat(Buffer.from("\n")))
    assert.strictEqual(lines[0]?.length, line.length)
    // Quadratic joining would copy 137 GB; the bound only has to tell the two apart on a busy machine.
    assert.isBelow(performance.now() - started, 15_000)
  })
})
