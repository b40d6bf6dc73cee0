/**
 * Sets of the fields of objects, as server-side apply keeps them: trees in which every node may itself be a member. `FieldsV1` is their wire form.
 *
 * Guarantees: sets are values; no operation mutates one, and unchanged subtrees keep their reference. No set has a dead end: a node without children is
 * a member. The order of the wire form is the server's.
 */
import type { FieldsV1 } from "@fixpoint/core/KubeObject"
import { goJson, isList, isObject } from "./json.ts"

/**
 * One step of a path, in its wire form, which is canonical: `f:name` a field, `k:{"key":"value"}` the item of a list map, `v:"value"` that of a set,
 * `i:0` an index.
 */
export type PathElement = string

export type Path = ReadonlyArray<PathElement>

export interface FieldSet {
  readonly member: boolean
  readonly children: ReadonlyMap<PathElement, FieldSet>
}

const noChildren: ReadonlyMap<PathElement, FieldSet> = new Map()
const leaf: FieldSet = { member: true, children: noChildren }

/** The root of a set is never a member: nobody owns the whole object. */
export const empty: FieldSet = { member: false, children: noChildren }

export const isEmpty = (set: FieldSet): boolean => set.children.size === 0

export const field = (name: string): PathElement => `f:${name}`
export const index = (at: number): PathElement => `i:${at}`
export const value = (of: unknown): PathElement => `v:${goJson(of)}`
export const key = (fields: ReadonlyArray<readonly [name: string, value: unknown]>): PathElement =>
  `k:{${fields
    .toSorted(([a], [b]) => compareTexts(a, b))
    .map(([name, of]) => `${JSON.stringify(name)}:${goJson(of)}`)
    .join(",")}}`

/** How messages name a step: `.name`, `[key="value"]`, `[="value"]`, `[0]`. */
export const formatElement = (element: PathElement): string => {
  const rest = element.slice(2)
  switch (element[0]) {
    case "f":
      return `.${rest}`
    case "k":
      return `[${Object.entries(JSON.parse(rest) as object)
        .map(([name, of]) => `${name}=${formatValue(of)}`)
        .join(",")}]`
    case "v":
      return `[=${formatValue(JSON.parse(rest))}]`
  }
  return `[${rest}]`
}

const formatValue = (of: unknown): string => {
  if (isList(of)) return `[${of.map(formatValue).join(",")}]`
  if (isObject(of)) {
    return Object.entries(of)
      .map(([name, item]) => `${name}=${formatValue(item)}`)
      .join("")
  }
  return typeof of === "string" ? JSON.stringify(of) : String(of)
}

export const formatPath = (path: Path): string => path.map(formatElement).join("")

/** By code points, which is the order of bytes in UTF-8. */
const compareTexts = (a: string, b: string): number => {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left === right) continue
    // Surrogates stand for code points above all others.
    const high = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
    return high(left) - high(right)
  }
  return a.length - b.length
}

const kinds = ["f", "k", "v", "i"]
const ranks = ["number", "string", "boolean"]

const compareValues = (a: unknown, b: unknown): number => {
  if (typeof a === "number" && typeof b === "number") return a - b
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b)
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b)
  const rank = (of: unknown): number => {
    const at = ranks.indexOf(typeof of)
    return at >= 0 ? at : isList(of) ? 3 : of === null ? 5 : 4
  }
  return rank(a) - rank(b) || compareTexts(goJson(a), goJson(b))
}

const compareKeys = (a: string, b: string): number => {
  const left = Object.entries(JSON.parse(a) as object)
  const right = Object.entries(JSON.parse(b) as object)
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = compareTexts(left[at]![0], right[at]![0]) || compareValues(left[at]![1], right[at]![1])
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Fields before keys before values before indices, each by content. */
const compareElements = (a: PathElement, b: PathElement): number => {
  if (a[0] === "f" && b[0] === "f") return compareTexts(a, b)
  const order = kinds.indexOf(a[0]!) - kinds.indexOf(b[0]!)
  if (order !== 0) return order
  const left = a.slice(2)
  const right = b.slice(2)
  if (left === right) return 0
  if (a[0] === "k") return compareKeys(left, right)
  if (a[0] === "v") return compareValues(JSON.parse(left), JSON.parse(right))
  return Number(left) - Number(right)
}

const sorted = (set: FieldSet): ReadonlyArray<readonly [PathElement, FieldSet]> => {
  const children = [...set.children]
  return children.length < 2 ? children : children.sort(([a], [b]) => compareElements(a, b))
}

/** A set that grows; `done` gives what it is then. */
export class FieldSetBuilder {
  #member = false
  readonly #children = new Map<PathElement, FieldSetBuilder>()

  /** Does not insert the parents. The empty path, the whole object, is not tracked. */
  insert(path: Path, from = 0): void {
    if (from === path.length) {
      if (from > 0) this.#member = true
      return
    }
    const element = path[from]!
    let child = this.#children.get(element)
    if (child === undefined) this.#children.set(element, (child = new FieldSetBuilder()))
    child.insert(path, from + 1)
  }

  done(): FieldSet {
    if (this.#children.size === 0) return this.#member ? leaf : empty
    return {
      member: this.#member,
      children: new Map([...this.#children].map(([element, child]) => [element, child.done()]))
    }
  }
}

export const fromPaths = (paths: ReadonlyArray<Path>): FieldSet => {
  const builder = new FieldSetBuilder()
  for (const path of paths) builder.insert(path)
  return builder.done()
}

const make = (member: boolean, children: ReadonlyMap<PathElement, FieldSet>): FieldSet =>
  children.size === 0 ? (member ? leaf : empty) : { member, children }

const isDead = (set: FieldSet): boolean => !set.member && set.children.size === 0

export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  if (a === b || isDead(b)) return a
  if (isDead(a)) return b
  const children = new Map(a.children)
  for (const [element, child] of b.children) {
    const present = children.get(element)
    children.set(element, present === undefined ? child : union(present, child))
  }
  return make(a.member || b.member, children)
}

/** Members of both. */
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => {
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (other === undefined) continue
    const both = intersection(child, other)
    if (!isDead(both)) children.set(element, both)
  }
  return make(a.member && b.member, children)
}

/** Members of `a` that are not members of `b`; a child stays where only its parent is in `b`. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isDead(a) || isDead(b)) return a
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    const rest = other === undefined ? child : difference(child, other)
    if (!isDead(rest)) children.set(element, rest)
  }
  return make(a.member && !b.member, children)
}

/** As `difference`, but everything below a member of `b` goes with it. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isDead(b)) return a
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (other?.member === true) continue
    const rest = other === undefined ? child : recursiveDifference(child, other)
    if (!isDead(rest)) children.set(element, rest)
  }
  return make(a.member, children)
}

/** Every member, a node's own before those below it, as the server lists conflicts. */
export const paths = (set: FieldSet): ReadonlyArray<Path> => {
  const out: Array<Path> = []
  const go = (node: FieldSet, prefix: Path): void => {
    const children = sorted(node)
    for (const [element, child] of children) if (child.member) out.push([...prefix, element])
    for (const [element, child] of children) if (child.children.size > 0) go(child, [...prefix, element])
  }
  go(set, [])
  return out
}

/** Both ways of each pair: an entry that stays is neither read nor written again. */
const decoded = new WeakMap<object, FieldSet>()
const encoded = new WeakMap<FieldSet, FieldsV1>()

/** The same object for the same set. */
export const encode = (set: FieldSet): FieldsV1 => {
  const known = encoded.get(set)
  if (known !== undefined) return known
  const out = encodeNode(set)
  encoded.set(set, out)
  decoded.set(out, set)
  return out
}

const noFields: FieldsV1 = {}

const encodeNode = (set: FieldSet): FieldsV1 => {
  const out: Record<string, FieldsV1> = set.member ? { ".": noFields } : {}
  for (const [element, child] of sorted(set)) out[element] = child.children.size === 0 ? noFields : encodeNode(child)
  return out
}

/** Undefined if it is not in the wire form. Elements of kinds that are not known are dropped. */
export const decode = (fields: unknown): FieldSet | undefined => {
  if (!isObject(fields)) return undefined
  const known = decoded.get(fields)
  if (known !== undefined) return known
  try {
    const set = { ...decodeNode(fields), member: false }
    decoded.set(fields, set)
    return set
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const decodeNode = (fields: object): FieldSet => {
  const children = new Map<PathElement, FieldSet>()
  let member = false
  for (const [name, below] of Object.entries(fields)) {
    if (name === ".") {
      member = true
      continue
    }
    const element = canonical(name)
    if (element === undefined) continue
    const child = isObject(below) ? decodeNode(below) : leaf
    const present = children.get(element)
    children.set(element, present === undefined ? child : union(present, child))
  }
  return children.size === 0 ? leaf : { member, children }
}

const canonical = (name: string): PathElement | undefined => {
  const rest = name.slice(2)
  if (name[1] !== ":") throw new SyntaxError(`missing colon: ${name}`)
  switch (name[0]) {
    case "f":
      return name
    case "v":
      return value(JSON.parse(rest))
    case "k": {
      const fields: unknown = JSON.parse(rest)
      if (!isObject(fields)) throw new SyntaxError(`not a key: ${name}`)
      return key(Object.entries(fields))
    }
    case "i":
      if (!/^[+-]?\d+$/.test(rest)) throw new SyntaxError(`not an index: ${name}`)
      return index(Number(rest))
  }
  return undefined
}
