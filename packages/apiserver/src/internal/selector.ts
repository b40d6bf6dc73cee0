/** Label and field selectors in the form of URLs, read as the server reads them (F47, F48). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { labelValueMistakes, qualifiedMistakes } from "./objectMeta.ts"
import { badRequest } from "./refusal.ts"

export type Selector = (object: KubeObject) => boolean

const always: Selector = () => true

type Labels = Readonly<Record<string, string>>
type Requirement = (labels: Labels) => boolean

interface Token {
  readonly kind: "word" | "symbol" | "end"
  readonly text: string
}

const symbols = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"]

const tokens = (text: string): ReadonlyArray<Token> => {
  const found: Array<Token> = []
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at]!)) {
      at++
      continue
    }
    const symbol = symbols.find((s) => text.startsWith(s, at))
    if (symbol !== undefined) {
      found.push({ kind: "symbol", text: symbol })
      at += symbol.length
      continue
    }
    const start = at
    while (at < text.length && !/[\s=!(),<>]/.test(text[at]!)) at++
    found.push({ kind: "word", text: text.slice(start, at) })
  }
  return [...found, { kind: "end", text: "" }]
}

const unparsed = (message: string) => badRequest(`unable to parse requirement: ${message}`)
const has = (labels: Labels, key: string): boolean => Object.hasOwn(labels, key)

/** Throws a 400 if the text is no label selector. */
const labels = (text: string | undefined): Selector => {
  if (text === undefined || text.trim() === "") return always
  const all = tokens(text)
  let at = 0
  const peek = (): Token => all[at]!
  const take = (): Token => (all[at]!.kind === "end" ? all[at]! : all[at++]!)
  const requirements: Array<Requirement> = []
  for (;;) {
    const first = peek()
    if (first.kind === "word" || first.text === "!") requirements.push(requirement(take, peek))
    else if (first.kind !== "end")
      throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`)
    const next = take()
    if (next.kind === "end") break
    if (next.text !== ",") throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`)
    if (peek().kind === "end") throw badRequest(`found '', expected: identifier after ','`)
  }
  return ({ metadata }) => {
    const own = metadata.labels ?? {}
    return requirements.every((fulfils) => fulfils(own))
  }
}

const requirement = (take: () => Token, peek: () => Token): Requirement => {
  const first = take()
  const negated = first.text === "!"
  const key = negated ? take().text : first.text
  const mistakes = qualifiedMistakes(key)
  if (mistakes.length > 0) throw unparsed(`key: Invalid value: ${JSON.stringify(key)}: ${mistakes[0]!}`)
  if (negated) return (own) => !has(own, key)
  const next = peek()
  if (next.kind === "end" || next.text === ",") return (own) => has(own, key)
  const operator = take().text
  switch (operator) {
    case "=":
    case "==": {
      const [value] = checked(key, [word(take, peek)])
      return (own) => has(own, key) && own[key] === value
    }
    case "!=": {
      const [value] = checked(key, [word(take, peek)])
      return (own) => own[key] !== value || !has(own, key)
    }
    case "in": {
      const among = new Set(checked(key, list(take, peek)))
      return (own) => has(own, key) && among.has(own[key]!)
    }
    case "notin": {
      const among = new Set(checked(key, list(take, peek)))
      return (own) => !has(own, key) || !among.has(own[key]!)
    }
    case ">":
    case "<": {
      const value = word(take, peek)
      if (!/^[+-]?\d+$/.test(value)) {
        throw unparsed(
          `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`
        )
      }
      const limit = BigInt(value)
      return (own) => {
        if (!has(own, key) || !/^[+-]?\d+$/.test(own[key]!)) return false
        const actual = BigInt(own[key]!)
        return operator === ">" ? actual > limit : actual < limit
      }
    }
    default:
      throw unparsed(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`)
  }
}

/** An absent value stands for the empty one: `app=`. */
const word = (take: () => Token, peek: () => Token): string => (peek().kind === "word" ? take().text : "")

const list = (take: () => Token, peek: () => Token): ReadonlyArray<string> => {
  const open = take()
  if (open.text !== "(") throw unparsed(`found '${open.text}', expected: '('`)
  const values: Array<string> = []
  for (;;) {
    values.push(word(take, peek))
    const next = take()
    if (next.text === ")") return values
    if (next.text !== ",") throw unparsed(`found '${next.text}', expected: ',' or ')'`)
  }
}

const checked = (key: string, values: ReadonlyArray<string>): ReadonlyArray<string> => {
  values.forEach((value, i) => {
    const mistake = labelValueMistakes(value)[0]
    if (mistake !== undefined) {
      throw unparsed(`values[${i}][${key}]: Invalid value: ${JSON.stringify(value)}: ${mistake}`)
    }
  })
  return values
}

/** What a kind can be chosen by, besides name and namespace. */
export interface FieldLabels {
  readonly read: Readonly<Record<string, (object: KubeObject) => string>>
  /** Some built-in kinds say the unknown label in other words than the rest (F48). */
  readonly unknown: (label: string) => string
}

/** Throws a 400 if the text is no field selector or names a field that the kind does not offer. */
const fields = (text: string | undefined, known: FieldLabels): Selector => {
  if (text === undefined || text === "") return always
  const requirements = text
    .split(",")
    .filter((part) => part !== "")
    .map((part): Selector => {
      const match = /^([^=!]*?)(!=|==|=)(.*)$/.exec(part)
      if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`)
      const [, label, operator, value] = match as unknown as [string, string, string, string]
      const read =
        label === "metadata.name"
          ? (object: KubeObject) => object.metadata.name
          : label === "metadata.namespace"
            ? (object: KubeObject) => object.metadata.namespace ?? ""
            : Object.hasOwn(known.read, label)
              ? known.read[label]!
              : undefined
      if (read === undefined) throw badRequest(known.unknown(label))
      return operator === "!=" ? (object) => read(object) !== value : (object) => read(object) === value
    })
  return (object) => requirements.every((fulfils) => fulfils(object))
}

/** Both at once; `undefined` if they choose everything. */
export const both = (
  labelSelector: string | undefined,
  fieldSelector: string | undefined,
  known: FieldLabels
): Selector | undefined => {
  const byLabel = labels(labelSelector)
  const byField = fields(fieldSelector, known)
  if (byLabel === always && byField === always) return undefined
  return (object) => byLabel(object) && byField(object)
}
