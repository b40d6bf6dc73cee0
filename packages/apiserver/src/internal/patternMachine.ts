/**
 * Patterns matched in time that grows with the text and not with its powers, as Go matches them: all ways through the pattern are followed side by side.
 * JavaScript's engine tries one after another, and `(a+)+$` takes it years for fifty letters. Pure.
 */

/** A pattern that JavaScript takes, in pieces: what matches one character, and how those follow each other. */
type Node =
  | { readonly _tag: "One"; readonly matches: (code: number) => boolean }
  | { readonly _tag: "Edge"; readonly kind: Edge }
  | { readonly _tag: "All" | "Either"; readonly parts: ReadonlyArray<Node> }
  | { readonly _tag: "Repeat"; readonly node: Node; readonly min: number; readonly max: number }

/** Where nothing is read but a place must be reached. */
type Edge = "start" | "end" | "line start" | "line end" | "word" | "no word"

/** Why Go would not take it. */
export class PatternFault {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** As Go has it. */
const repeatMost = 1_000
const nestingMost = 1_000
/** Steps of one program; Go takes more, and then takes its time. */
const programMost = 10_000
/** Steps through all states for one text, about a second; a text that needs more does not match. */
const stepsMost = 100_000_000

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)

/** What one atom, in JavaScript's own syntax, says of a character; asked once for each of ASCII. */
const matcherOf = (atom: string, flags: string): ((code: number) => boolean) => {
  const pattern = new RegExp(`^(?:${atom})$`, flags.replace("m", ""))
  const known = new Uint8Array(128)
  return (code) => {
    if (code >= 128) return pattern.test(String.fromCodePoint(code))
    if (known[code] === 0) known[code] = pattern.test(String.fromCodePoint(code)) ? 1 : 2
    return known[code] === 1
  }
}

const escapeForm = /\\(?:p\{[^}]*\}|P\{[^}]*\}|u\{[^}]*\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[^])/y
const classForm = /\[(?:\\[^]|[^\]\\])*\]/y
const repeatForm = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y
const groupForm = /\((?:\?(?:<\w+>|(?:([a-z]*)(?:-([a-z]*))?):))?/y

class Parser {
  at = 0
  depth = 0
  readonly source: string
  constructor(source: string) {
    this.source = source
  }

  /** What the form finds here; the place is behind it then. */
  take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.at
    const found = form.exec(this.source)
    if (found === null) return undefined
    this.at += found[0].length
    return found
  }

  either(flags: string): Node {
    if (++this.depth > nestingMost) throw new PatternFault("expression nests too deeply")
    const parts = [this.all(flags)]
    while (this.source[this.at] === "|") {
      this.at++
      parts.push(this.all(flags))
    }
    this.depth--
    return parts.length === 1 ? parts[0]! : { _tag: "Either", parts }
  }

  all(flags: string): Node {
    const parts: Array<Node> = []
    while (this.at < this.source.length && this.source[this.at] !== "|" && this.source[this.at] !== ")")
      parts.push(this.repeated(flags))
    return { _tag: "All", parts }
  }

  repeated(flags: string): Node {
    let node = this.atom(flags)
    for (let found = this.take(repeatForm); found !== undefined; found = this.take(repeatForm)) {
      const [text, least, more, most] = found
      const min = least === undefined ? (text[0] === "+" ? 1 : 0) : Number(least)
      const open = least === undefined ? text[0] !== "?" : more !== undefined && most === ""
      const max = open ? Infinity : least === undefined ? 1 : more === undefined ? min : Number(most)
      if (min > repeatMost || (max > repeatMost && max !== Infinity))
        throw new PatternFault(`invalid repeat count: \`${text}\``)
      node = { _tag: "Repeat", node, min, max }
    }
    return node
  }

  atom(flags: string): Node {
    const letter = this.source[this.at]
    const lines = flags.includes("m")
    switch (letter) {
      case "(":
        return this.group(flags)
      case "^":
        this.at++
        return { _tag: "Edge", kind: lines ? "line start" : "start" }
      case "$":
        this.at++
        return { _tag: "Edge", kind: lines ? "line end" : "end" }
      case "[":
        return { _tag: "One", matches: matcherOf(this.take(classForm)![0], flags) }
      case "\\": {
        const atom = this.take(escapeForm)![0]
        if (atom === "\\b" || atom === "\\B") return { _tag: "Edge", kind: atom === "\\b" ? "word" : "no word" }
        return { _tag: "One", matches: matcherOf(atom, flags) }
      }
    }
    const code = this.source.codePointAt(this.at)!
    const own = String.fromCodePoint(code)
    const size = flags.includes("u") ? own.length : 1
    const text = this.source.slice(this.at, this.at + size)
    this.at += size
    if (text === "." || flags.includes("i"))
      return { _tag: "One", matches: matcherOf(text === "{" ? "\\{" : text, flags) }
    const wanted = size === own.length ? code : text.charCodeAt(0)
    return { _tag: "One", matches: (code) => code === wanted }
  }

  group(flags: string): Node {
    const [, on = "", off = ""] = this.take(groupForm)!
    const inner = [...new Set(flags + on)].filter((flag) => !off.includes(flag)).join("")
    const node = this.either(inner)
    // The closing one.
    this.at++
    return node
  }
}

const oneOp = 0
const splitOp = 1
const jumpOp = 2
const edgeOp = 3
const matchOp = 4

/** A program as columns: what a step does, and where it goes on. */
class Program {
  readonly ops: Array<number> = []
  readonly to: Array<number> = []
  readonly or: Array<number> = []
  readonly ones: Array<(code: number) => boolean> = []
  readonly edges: Array<Edge> = []

  add(op: number, to = 0, or = 0): number {
    if (this.ops.length >= programMost) throw new PatternFault("expression too large")
    this.to.push(to)
    this.or.push(or)
    return this.ops.push(op) - 1
  }

  emit(node: Node): void {
    switch (node._tag) {
      case "One":
        this.add(oneOp, this.ones.push(node.matches) - 1)
        return
      case "Edge":
        this.add(edgeOp, this.edges.push(node.kind) - 1)
        return
      case "All":
        for (const part of node.parts) this.emit(part)
        return
      case "Either": {
        const jumps: Array<number> = []
        for (const [i, part] of node.parts.entries()) {
          const isLast = i === node.parts.length - 1
          const split = isLast ? -1 : this.add(splitOp)
          if (!isLast) this.to[split] = split + 1
          this.emit(part)
          if (isLast) continue
          jumps.push(this.add(jumpOp))
          this.or[split] = this.ops.length
        }
        for (const jump of jumps) this.to[jump] = this.ops.length
        return
      }
      case "Repeat":
        this.repeat(node.node, node.min, node.max)
    }
  }

  repeat(node: Node, min: number, max: number): void {
    for (let i = 0; i < min; i++) this.emit(node)
    if (max === Infinity) {
      const split = this.add(splitOp)
      this.to[split] = split + 1
      this.emit(node)
      this.add(jumpOp, split)
      this.or[split] = this.ops.length
      return
    }
    const splits: Array<number> = []
    for (let i = min; i < max; i++) {
      const split = this.add(splitOp)
      this.to[split] = split + 1
      splits.push(split)
      this.emit(node)
    }
    for (const split of splits) this.or[split] = this.ops.length
  }
}

/** Before the first character and behind the last. */
const nothing = -1

const isAt = (edge: Edge, before: number, after: number): boolean => {
  switch (edge) {
    case "start":
      return before === nothing
    case "end":
      return after === nothing
    case "line start":
      return before === nothing || before === 10
    case "line end":
      return after === nothing || after === 10
    case "word":
      return isWord(before) !== isWord(after)
    case "no word":
      return isWord(before) === isWord(after)
  }
}

/** The steps of a program that are reached at one place of the text. */
class Reached {
  readonly steps: Array<number> = []
  count = 0
  matched = false
  private readonly seen: Uint32Array
  private round = 0
  private readonly program: Program

  constructor(program: Program) {
    this.program = program
    this.seen = new Uint32Array(program.ops.length)
  }

  clear(): void {
    this.count = 0
    this.round++
  }

  /** Follows what reads nothing. */
  reach(from: number, before: number, after: number): void {
    const { edges, ops, or, to } = this.program
    const todo = [from]
    for (let step = todo.pop(); step !== undefined; step = todo.pop()) {
      if (this.seen[step] === this.round) continue
      this.seen[step] = this.round
      switch (ops[step]) {
        case oneOp:
          this.steps[this.count++] = step
          break
        case splitOp:
          todo.push(or[step]!, to[step]!)
          break
        case jumpOp:
          todo.push(to[step]!)
          break
        case edgeOp:
          if (isAt(edges[to[step]!]!, before, after)) todo.push(step + 1)
          break
        default:
          this.matched = true
      }
    }
  }
}

const testOf = (program: Program, isUnicode: boolean): ((text: string) => boolean) => {
  const codeAt = (text: string, at: number): number =>
    at >= text.length ? nothing : isUnicode ? text.codePointAt(at)! : text.charCodeAt(at)
  return (text) => {
    let [now, then] = [new Reached(program), new Reached(program)]
    now.clear()
    let before = nothing
    let steps = 0
    for (let at = 0; ;) {
      const code = codeAt(text, at)
      now.reach(0, before, code)
      if (now.matched) return true
      if (code === nothing || steps > stepsMost) return false
      const next = at + (code > 0xffff ? 2 : 1)
      const after = codeAt(text, next)
      then.clear()
      for (let i = 0; i < now.count; i++) {
        const step = now.steps[i]!
        if (program.ones[program.to[step]!]!(code)) then.reach(step + 1, code, after)
      }
      steps += now.count + 1
      if (then.matched) return true
      ;[now, then] = [then, now]
      before = code
      at = next
    }
  }
}

/** A test for texts. `source` and `flags` must be such that JavaScript takes them, without what looks around or back. Throws a PatternFault. */
export const machineOf = (source: string, flags: string): ((text: string) => boolean) => {
  const program = new Program()
  program.emit(new Parser(source).either(flags))
  program.add(matchOp)
  return testOf(program, flags.includes("u"))
}
