/** Patterns of schemas: Go's syntax (RE2) run by JavaScript's engine. */

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

/** The pattern compiled, or why Go would not. */
export const compile = (pattern: string): { readonly test: (text: string) => boolean } | { readonly error: string } => {
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
      const compiled = new RegExp(source, each)
      return { test: (text) => compiled.test(text) }
    } catch {
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
