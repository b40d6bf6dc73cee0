/** Patterns of schemas: Go's syntax (RE2), understood by JavaScript's engine and run by our own. */
import { machineOf, PatternFault } from "./patternMachine.ts"

const posix: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: String.raw`\x00-\x7F`,
  blank: String.raw`\t `,
  cntrl: String.raw`\x00-\x1F\x7F`,
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: String.raw`!-\/:-@\[-\x60{-~`,
  space: String.raw`\t\n\v\f\r `,
  upper: "A-Z",
  word: String.raw`0-9A-Za-z_`,
  xdigit: "0-9A-Fa-f"
}

/** What RE2 refuses and JavaScript takes. */
const unsupported = /\(\?(?:=|!|<=|<!)|\\[1-9]|\\k</

/** A test for texts, or why Go would not make one. */
type Compiled = { readonly test: (text: string) => boolean } | { readonly error: string }

/** The same pattern is asked for with each object. */
const known = new Map<string, Compiled>()
const knownMost = 500

/** The pattern compiled, or why Go would not. */
export const compile = (pattern: string): Compiled => {
  const before = known.get(pattern)
  if (before !== undefined) return before
  const compiled = compiledOf(pattern)
  if (known.size >= knownMost) known.clear()
  known.set(pattern, compiled)
  return compiled
}

const compiledOf = (pattern: string): Compiled => {
  const perl = unsupported.exec(pattern.replaceAll(/\\\\/g, "__"))
  if (perl !== null) return { error: `error parsing regexp: ${refusal(perl[0])}` }
  let source = pattern
  let flags = "u"
  const leading = /^\(\?([ims]+)\)/.exec(source)
  if (leading !== null) {
    source = source.slice(leading[0].length)
    flags += leading[1]!
  }
  source = source
    .replaceAll("(?P<", "(?<")
    .replaceAll(/\\A/g, "^")
    .replaceAll(/\\z/g, "$")
    .replaceAll(/\\p([A-Z])/g, String.raw`\p{$1}`)
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => posix[name] ?? whole)
  for (const each of [flags, flags.replace("u", "")]) {
    try {
      return { test: machineOf(new RegExp(source, each).source, each) }
    } catch (error) {
      if (error instanceof PatternFault) return { error: `error parsing regexp: ${error.message}` }
      // Without the flag for Unicode, escapes pass that mean nothing.
      continue
    }
  }
  return { error: `error parsing regexp: ${flaw(pattern)}` }
}

const refusal = (text: string): string =>
  text.startsWith("\\") ? `invalid escape sequence: \`${text}\`` : `invalid or unsupported Perl syntax: \`${text}\``

const flaw = (pattern: string): string => {
  const bare = pattern.replaceAll(/\\./g, "").replaceAll(/\[[^\]]*\]/g, "")
  const open = bare.split("(").length
  const close = bare.split(")").length
  if (bare.includes("[")) return `missing closing ]: \`${pattern.slice(pattern.indexOf("["))}\``
  if (open > close) return `missing closing ): \`${pattern}\``
  if (close > open) return `unexpected ): \`${pattern}\``
  return `invalid syntax: \`${pattern}\``
}
