import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { compile } from "../src/internal/pattern.ts"

const matches = (pattern: string, text: string): boolean => {
  const compiled = compile(pattern)
  if ("error" in compiled) throw new Error(compiled.error)
  return compiled.test(text)
}

const errorOf = (pattern: string): string | undefined => {
  const compiled = compile(pattern)
  return "error" in compiled ? compiled.error : undefined
}

/** Pieces that are patterns each, put together in all ways. */
const Piece = Schema.Literals([
  "a",
  "b",
  "é",
  "🙂",
  ".",
  "[ab]",
  "[^a]",
  "\\d",
  "\\w",
  "\\bb",
  "a\\B",
  "^a",
  "b$",
  "",
  "(?i:A)",
  "\\.",
  "\\x61"
])
const Times = Schema.Literals(["", "*", "+", "?", "{2}", "{1,2}", "{0}", "{2,}", "*?", "+?", "??"])
const Join = Schema.Literals(["", "|"])
const Pattern = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Tuple([Piece, Times, Join, Piece, Times])), { maxLength: 4 }),
  (parts) => parts.map(([a, x, join, b, y]) => `(?:(?:${a})${x}${join}(?:${b})${y})`).join("")
)
const Text = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "A", "é", "🙂", "1", ".", "\n", " "])), { maxLength: 8 }),
  (letters) => letters.join("")
)

describe("a pattern", () => {
  it.prop(
    "finds in any text what JavaScript's engine finds",
    [Pattern, Text, Schema.Literals(["", "?", "*", "{2}"])],
    ([inner, text, times]) => {
      for (const pattern of [
        inner,
        `^${inner}$`,
        `^(${inner})${times}$`,
        `(${inner}|a)${times}`,
        `(?m)^${inner}$`,
        `(?s).${inner}`,
        `(?i)${inner}`
      ]) {
        const flags = `u${/^\(\?([ims])\)/.exec(pattern)?.[1] ?? ""}`
        const expected = new RegExp(pattern.replace(/^\(\?[ims]\)/, ""), flags).test(text)
        assert.strictEqual(matches(pattern, text), expected, `${pattern} in ${JSON.stringify(text)}`)
      }
    },
    { arbitrary: { runs: 2_000 } }
  )

  it("of one that explodes elsewhere takes its time once a letter", () => {
    const hostile = [
      ["(a+)+$", false],
      ["^(a|a)*b$", false],
      ["^(.*)*x$", false],
      ["(x+x+)+y", false],
      ["^(([a-z])+.)+[A-Z]([a-z])+$", false],
      [`${"a?".repeat(40)}${"a".repeat(40)}$`, false],
      ["(.*a){12}!", true]
    ] as const
    const started = performance.now()
    for (const [pattern, found] of hostile) {
      assert.isFalse(matches(pattern, `${"a".repeat(50)} -`) && !found, pattern)
      assert.strictEqual(matches(pattern, `${"a".repeat(20_000)}!`), found, pattern)
    }
    // Years by trying one way after another.
    assert.isBelow(performance.now() - started, 20_000)
  })

  it("that repeats more than Go repeats, or is larger or deeper than can be run, is refused", () => {
    assert.strictEqual(errorOf("a{1001}"), "error parsing regexp: invalid repeat count: `{1001}`")
    assert.strictEqual(errorOf("(((a{100}){100}){100})"), "error parsing regexp: expression too large")
    assert.strictEqual(
      errorOf(`${"(".repeat(1_001)}${")".repeat(1_001)}`),
      "error parsing regexp: expression nests too deeply"
    )
    assert.match(errorOf("(".repeat(100_000)) ?? "", /^error parsing regexp: /)
    assert.isUndefined(errorOf("a{1000}"))
  })

  it("in Go's own syntax means what Go means", () => {
    assert.isTrue(matches("(?P<x>a)[[:digit:]]", "a7"))
    assert.isTrue(matches(String.raw`\Aab\z`, "ab"))
    assert.isFalse(matches(String.raw`\Aab\z`, "abc"))
    assert.isTrue(matches(String.raw`^\pL+$`, "Añ日"))
    assert.isTrue(matches(String.raw`^[\w\-.]+/{2}[{}]$`, "a-b.c//{"))
    assert.isTrue(matches("^a{,2}$", "a{,2}"))
  })
})
