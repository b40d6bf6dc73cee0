/**
 * The paths of printer columns, `.status.conditions[?(@.type=="Ready")].status`, as client-go reads them: fields, indices, slices, unions, wildcards,
 * descent and filters. Ranges (`{range}`) mean nothing within one action.
 *
 * Caveat: the members of an object come in their order here, where Go takes them by chance.
 */
import { isList, isObject } from "./json.ts"

type Node =
  | { readonly _tag: "Field"; readonly name: string }
  | { readonly _tag: "Value"; readonly value: string | number | boolean }
  | { readonly _tag: "Wildcard" }
  | { readonly _tag: "Descent" }
  | { readonly _tag: "Slice"; readonly from?: number; readonly to?: number; readonly step?: number }
  | { readonly _tag: "Union"; readonly paths: ReadonlyArray<JsonPath> }
  | { readonly _tag: "Filter"; readonly left: JsonPath; readonly operator: string; readonly right: JsonPath }

export type JsonPath = ReadonlyArray<Node>

const field = /^(?:\\[^]|[^\s.,[\]$@{}\\])*/
const number = /^[+-]?[\d.]*/
const index = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/
const comparison = /^([^!<>=]+)([!<>=]+)(.+?)$/

/** What the text says; undefined if it is no path. */
export const parse = (text: string): JsonPath | undefined => {
  const nodes: Array<Node> = []
  let rest = text
  while (rest !== "") {
    const taken = take(rest, nodes)
    if (taken === undefined) return undefined
    nodes.push(...taken.nodes)
    rest = rest.slice(taken.length)
  }
  return nodes
}

interface Taken {
  readonly nodes: ReadonlyArray<Node>
  readonly length: number
}

/** The next piece of the text. */
const take = (text: string, before: ReadonlyArray<Node>): Taken | undefined => {
  if (text.startsWith("[?(")) return takeFilter(text)
  if (text.startsWith("..")) {
    if (before.at(-1)?._tag === "Descent") return undefined
    const name = /^[\p{L}\p{Nd}_]/u.test(text.slice(2)) ? field.exec(text.slice(2))![0] : ""
    return {
      nodes: [{ _tag: "Descent" }, ...(name === "" ? [] : [{ _tag: "Field", name } as const])],
      length: 2 + name.length
    }
  }
  const [first = ""] = text
  if (first === " " || first === "@" || first === "$") return { nodes: [], length: 1 }
  if (first === "[") return takeIndex(text)
  if (first === '"' || first === "'") return takeQuoted(text, first)
  if (first === ".") {
    const [name] = field.exec(text.slice(1))!
    return {
      nodes: [name === "*" ? { _tag: "Wildcard" } : { _tag: "Field", name: name.replaceAll("\\", "") }],
      length: 1 + name.length
    }
  }
  if (/[+\-\p{Nd}]/u.test(first)) {
    const [digits] = number.exec(text)!
    const value = Number(digits)
    return digits === "" || Number.isNaN(value)
      ? undefined
      : { nodes: [{ _tag: "Value", value }], length: digits.length }
  }
  const [word] = field.exec(text)!
  return word === "true" || word === "false"
    ? { nodes: [{ _tag: "Value", value: word === "true" }], length: word.length }
    : undefined
}

const takeQuoted = (text: string, quote: string): Taken | undefined => {
  let end = 1
  while (end < text.length && (text[end] !== quote || text[end - 1] === "\\")) end++
  if (end >= text.length) return undefined
  const value = text.slice(1, end).replaceAll(/\\(.)/g, "$1")
  return { nodes: [{ _tag: "Value", value }], length: end + 1 }
}

const takeIndex = (text: string): Taken | undefined => {
  const end = text.indexOf("]")
  if (end < 0) return undefined
  const inner = text.slice(1, end)
  const parts = inner.split(",")
  if (parts.length > 1) {
    const paths = parts.map((part) => parse(`[${part.trim()}]`))
    return paths.every((path) => path !== undefined)
      ? { nodes: [{ _tag: "Union", paths }], length: end + 1 }
      : undefined
  }
  const quoted = /^'([^']*)'$/.exec(inner)
  if (quoted !== null) {
    const path = parse(`.${quoted[1]}`)
    return path === undefined ? undefined : { nodes: path, length: end + 1 }
  }
  const found = index.exec(inner === "*" ? ":" : inner)
  if (found === null || found[1] === "-") return undefined
  const [from, to, step] = [found[1], found[2], found[3]].map((part) =>
    part === undefined || part === "" ? undefined : Number(part)
  )
  // One index is a slice of one; it counts from the end where it is negative.
  const single = found[2] === undefined
  return {
    nodes: [
      {
        _tag: "Slice",
        from: from ?? 0,
        ...(single ? (from === -1 ? {} : { to: (from ?? 0) + 1 }) : to !== undefined && { to }),
        ...(step !== undefined && { step })
      }
    ],
    length: end + 1
  }
}

const takeFilter = (text: string): Taken | undefined => {
  let quote = ""
  let end = 3
  while (end < text.length && (quote !== "" || text[end] !== ")")) {
    const letter = text[end]!
    if (quote === "" && (letter === '"' || letter === "'")) quote = letter
    else if (letter === quote && text[end - 1] !== "\\") quote = ""
    end++
  }
  if (text[end + 1] !== "]") return undefined
  const inner = text.slice(3, end)
  const [, left = inner, operator = "exists", right = ""] = comparison.exec(inner) ?? []
  const [leftPath, rightPath] = [parse(left), parse(right)]
  if (leftPath === undefined || rightPath === undefined) return undefined
  return { nodes: [{ _tag: "Filter", left: leftPath, operator, right: rightPath }], length: end + 2 }
}

/** The values that the path leads to; undefined where the server would find an error, such as an index of what is no list. */
export const evaluate = (path: JsonPath, value: unknown): ReadonlyArray<unknown> | undefined => {
  let values: ReadonlyArray<unknown> | undefined = [value]
  for (const node of path) {
    values = step(node, values)
    if (values === undefined) return undefined
  }
  return values
}

const children = (value: unknown): ReadonlyArray<unknown> =>
  isList(value) ? value : isObject(value) ? Object.values(value) : typeof value === "string" ? [...value] : []

const descend = (value: unknown): ReadonlyArray<unknown> => {
  const below = isObject(value) || isList(value) ? children(value) : []
  return below.length === 0 ? [] : [value, ...below.flatMap(descend)]
}

const step = (node: Node, values: ReadonlyArray<unknown>): ReadonlyArray<unknown> | undefined => {
  switch (node._tag) {
    case "Field":
      return values.flatMap((value) => (isObject(value) && Object.hasOwn(value, node.name) ? [value[node.name]] : []))
    case "Value":
      return [node.value]
    case "Wildcard":
      return values.flatMap(children)
    case "Descent":
      return values.flatMap(descend)
    case "Slice":
      return all(values, (value) => slice(node, value))
    case "Union":
      return all(node.paths, (path) => evaluate(path, values.length === 1 ? values[0] : values))
    case "Filter":
      return all(values, (value) => (isList(value) ? all(value, (item) => filter(node, item)) : undefined))
  }
}

const all = <A>(
  items: ReadonlyArray<A>,
  f: (item: A) => ReadonlyArray<unknown> | undefined
): ReadonlyArray<unknown> | undefined => {
  const out: Array<unknown> = []
  for (const item of items) {
    const found = f(item)
    if (found === undefined) return undefined
    out.push(...found)
  }
  return out
}

const slice = (
  { from = 0, step: by = 1, to }: { readonly from?: number; readonly to?: number; readonly step?: number },
  value: unknown
): ReadonlyArray<unknown> | undefined => {
  if (value === null || value === undefined) return []
  if (!isList(value)) return undefined
  const start = from < 0 ? from + value.length : from
  const end = to === undefined ? value.length : to < 0 ? to + value.length : to
  if (start === end) return []
  if (start < 0 || start >= value.length || end < 0 || end > value.length || start > end || by <= 0) return undefined
  return value.slice(start, end).filter((_, at) => at % by === 0)
}

const filter = (
  { left, operator, right }: { readonly left: JsonPath; readonly operator: string; readonly right: JsonPath },
  item: unknown
): ReadonlyArray<unknown> | undefined => {
  const lefts = evaluate(left, item)
  if (operator === "exists") return lefts !== undefined && lefts.length > 0 ? [item] : []
  if (lefts === undefined || lefts.length > 1) return undefined
  if (lefts.length === 0) return []
  const rights = evaluate(right, item)
  if (rights === undefined || rights.length > 1) return undefined
  if (rights.length === 0) return []
  const holds = compare(lefts[0], operator, rights[0])
  return holds === undefined ? undefined : holds ? [item] : []
}

/** Go compares only values of one kind, and tells whole numbers from others. */
const kindOf = (value: unknown): string =>
  typeof value === "number" ? (Number.isInteger(value) ? "int" : "float") : typeof value

const compare = (left: unknown, operator: string, right: unknown): boolean | undefined => {
  const kind = kindOf(left)
  if (kind !== kindOf(right) || kind === "object") return undefined
  if (operator === "==") return left === right
  if (operator === "!=") return left !== right
  if (kind === "boolean") return undefined
  const [a, b] = [left as string | number, right as string | number]
  switch (operator) {
    case "<":
      return a < b
    case "<=":
      return a <= b
    case ">":
      return a > b
    case ">=":
      return a >= b
  }
  return undefined
}
