/** JSON as text: how deep it nests, which keys occur twice in one object (F26), and what Go says of a text that is none (F21). */

/** How deep a body may nest. The real server takes 10,000; nobody needs more than a few dozen, and our stack has an end. */
export const nestingMost = 500

/** The index behind the string that begins at `at`; -1 if it has no end. */
const afterString = (text: string, at: number): number => {
  let end = at + 1
  while (true) {
    end = text.indexOf('"', end)
    if (end < 0) return -1
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++
    end++
    if (slashes % 2 === 0) return end
  }
}

/** How many keys and items are counted: a JSON patch of 10,000 operations has some 40,000. */
export const partsMost = 65_536

export interface Shape {
  readonly depth: number
  /** Of all objects together, also where a key occurs twice. */
  readonly keys: number
  /** Keys and items, about. */
  readonly parts: number
}

/** The text need not be JSON. Depth beyond `nestingMost` and parts beyond `partsMost` are not followed. */
export const shapeOf = (text: string): Shape => {
  let depth = 0
  let deepest = 0
  let keys = 0
  let parts = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 34: {
        const end = afterString(text, at)
        if (end < 0) return { depth: deepest, keys, parts }
        at = end - 1
        break
      }
      case 58:
        keys++
        break
      case 44:
        if (++parts > partsMost) return { depth: deepest, keys, parts }
        break
      case 91:
      case 123:
        parts++
        if (++depth > deepest) deepest = depth
        if (depth > nestingMost) return { depth, keys, parts }
        break
      case 93:
      case 125:
        depth--
    }
  }
  return { depth: deepest, keys, parts }
}

/** How many keys the objects of a value have. */
export const countKeys = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item)
    return count
  }
  for (const key in value) count += 1 + countKeys((value as Record<string, unknown>)[key])
  return count
}

/** Reads a text that is known to be JSON. */
class Reader {
  at = 0
  readonly text: string
  readonly found: Array<string> = []
  constructor(text: string) {
    this.text = text
  }
  skip(): number {
    while (/[\s,:]/.test(this.text[this.at] ?? "")) this.at++
    return this.text.charCodeAt(this.at)
  }
  string(): string {
    const end = afterString(this.text, this.at)
    const value = JSON.parse(this.text.slice(this.at, end)) as string
    this.at = end
    return value
  }
  value(path: string): void {
    const code = this.skip()
    if (code === 34) this.string()
    else if (code === 123) this.members(path)
    else if (code === 91) {
      this.at++
      for (let index = 0; this.skip() !== 93; index++) this.value(`${path}[${index}]`)
      this.at++
    } else while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at]!)) this.at++
  }
  members(path: string): void {
    this.at++
    const keys = new Set<string>()
    while (this.skip() !== 125) {
      const key = this.string()
      const own = path === "" ? key : `${path}.${key}`
      if (keys.has(key)) this.found.push(own)
      keys.add(key)
      this.value(own)
    }
    this.at++
  }
}

/** The paths of keys that occur again in their object. `text` must be JSON, and not nest beyond `nestingMost`. */
export const duplicates = (text: string): ReadonlyArray<string> => {
  const reader = new Reader(text)
  reader.value("")
  return reader.found
}

const shownChar = (char: string): string => (char === "'" ? `'\\''` : char === '"' ? `'"'` : `'${escaped(char)}'`)

const escaped = (char: string): string => {
  const code = char.codePointAt(0)!
  const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" }
  if (named[char] !== undefined) return named[char]
  return code < 32 || code === 127 ? `\\x${code.toString(16).padStart(2, "0")}` : char
}

const literals: Readonly<Record<string, string>> = { t: "true", f: "false", n: "null" }

/** Follows the text as Go's scanner does, up to the first character that does not fit. */
class Scanner {
  at = 0
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  fail(where: string): never {
    const char = this.text[this.at]
    if (char === undefined) throw new Error("unexpected end of JSON input")
    throw new Error(`invalid character ${shownChar(char)} ${where}`)
  }
  skip(): string {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? "")) this.at++
    return this.text[this.at] ?? ""
  }
  value(): void {
    const char = this.skip()
    if (char === "{") this.list("}", true)
    else if (char === "[") this.list("]", false)
    else if (char === '"') this.string()
    else if (literals[char] !== undefined) this.literal(literals[char])
    else if (/[-0-9]/.test(char)) this.number()
    else this.fail("looking for beginning of value")
  }
  literal(word: string): void {
    for (let i = 0; i < word.length; i++, this.at++) {
      // The end counts as a space here.
      if (this.at === this.text.length)
        throw new Error(`invalid character ' ' in literal ${word} (expecting '${word[i]!}')`)
      if (this.text[this.at] !== word[i]) this.fail(`in literal ${word} (expecting ${shownChar(word[i]!)})`)
    }
  }
  number(): void {
    const found = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(this.text.slice(this.at, this.at + 400))
    if (found === null) {
      this.at++
      this.fail("in numeric literal")
    }
    this.at += found[0].length
  }
  string(): void {
    for (this.at++; ; this.at++) {
      const char = this.text[this.at]
      if (char === undefined || char < " ") this.fail("in string literal")
      if (char === '"') break
      if (char !== "\\") continue
      this.at++
      const next = this.text[this.at]
      if (next === "u") {
        for (let i = 0; i < 4; i++) {
          this.at++
          if (!/^[\da-fA-F]$/.test(this.text[this.at] ?? "")) this.fail("in \\u hexadecimal character escape")
        }
      } else if (next === undefined || !'"\\/bfnrt'.includes(next)) this.fail("in string escape code")
    }
    this.at++
  }
  list(end: string, keyed: boolean): void {
    this.at++
    if (this.skip() === end) {
      this.at++
      return
    }
    while (true) {
      if (keyed) {
        if (this.skip() !== '"') this.fail("looking for beginning of object key string")
        this.string()
        if (this.skip() !== ":") this.fail("after object key")
        this.at++
      }
      this.value()
      const char = this.skip()
      this.at++
      if (char === end) return
      if (char === ",") continue
      this.at--
      this.fail(keyed ? "after object key:value pair" : "after array element")
    }
  }
}

/** What Go says of a text that is not JSON, which must not nest beyond `nestingMost` (F21). */
export const complaint = (text: string): string => {
  const scanner = new Scanner(text)
  try {
    scanner.value()
    if (scanner.skip() !== "") scanner.fail("after top-level value")
  } catch (error) {
    return (error as Error).message
  }
  return "unexpected end of JSON input"
}
