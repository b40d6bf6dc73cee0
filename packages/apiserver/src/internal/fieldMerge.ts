/** Values merged, pruned and compared by the types of their fields, as server-side apply does. All of them must fit their types (see `misfits`). */
import * as FieldSet from "./fieldSet.ts"
import { deduce, elementOf, type FieldType, isSame, type ListType, type MapType, memberOf } from "./fieldType.ts"
import { equals, groupBy, isList, isObject, type JsonObject, setEntry } from "./json.ts"

const elementIn = (list: ListType, item: unknown): FieldSet.PathElement => {
  const named = elementOf(list, item)
  // Unreachable for what fits its type; the index keeps such an item apart from all others.
  return "error" in named ? FieldSet.index(-1) : named.element
}

/**
 * The live value with what is applied merged into it; undefined is an absent value. Applied items come in their order, the others keep theirs between them
 * (F96). Parts that do not change keep their reference.
 */
export const merge = (type: FieldType, live: unknown, applied: unknown): unknown => {
  if (applied === undefined) return live
  if (live === undefined) return applied
  const { list, map, scalar } = deduce(type, applied)
  const leaf = (): unknown => (equals(live, applied) ? live : applied)
  if (map !== undefined) {
    const left = isObject(live) ? live : undefined
    const right = isObject(applied) ? applied : undefined
    if (map.atomic || (isBare(left) && isBare(right))) return leaf()
    return mergeMembers(map, left ?? {}, right ?? {})
  }
  if (scalar !== undefined || list === undefined) return leaf()
  const left = isList(live) ? live : []
  const right = isList(applied) ? applied : []
  if (list.atomic || (left.length === 0 && right.length === 0)) return leaf()
  const out = mergeItems(list, left, right)
  return out.length === left.length && out.every((item, at) => item === left[at]) ? live : out
}

const isBare = (object: JsonObject | undefined): boolean => object === undefined || Object.keys(object).length === 0

const mergeMembers = (map: MapType, left: JsonObject, right: JsonObject): JsonObject => {
  let out: Record<string, unknown> | undefined
  for (const [name, value] of Object.entries(right)) {
    const type = memberOf(map, name)
    const present = Object.hasOwn(left, name) ? left[name] : undefined
    const merged = type === undefined ? value : merge(type, present, value)
    if (merged === present) continue
    out ??= { ...left }
    setEntry(out, name, merged)
  }
  return out ?? left
}

/** Keeps the order of the applied items; a live one that is not applied stays before the next shared one that it preceded. */
const mergeItems = (
  list: ListType,
  left: ReadonlyArray<unknown>,
  right: ReadonlyArray<unknown>
): ReadonlyArray<unknown> => {
  const lefts = left.map((item) => elementIn(list, item))
  const rights = right.map((item) => elementIn(list, item))
  const live = new Map<FieldSet.PathElement, unknown>()
  // An item that is there twice is not merged with the applied one.
  lefts.forEach((element, at) => live.set(element, live.has(element) ? null : left[at]))
  const applied = new Map(rights.map((element, at) => [element, right[at]]))
  const shared = rights.filter((element) => live.has(element))
  const merged = new Set<FieldSet.PathElement>()
  const out: Array<unknown> = []
  const take = (element: FieldSet.PathElement): void => {
    merged.add(element)
    out.push(merge(list.element, live.get(element), applied.get(element)))
  }
  let next = shared.shift()
  let l = 0
  let r = 0
  while (l < lefts.length || r < rights.length) {
    const element = lefts[l]
    if (element !== undefined && r < rights.length) {
      if (element === rights[r]) {
        take(element)
        l++
        r++
        next = shared.shift()
        continue
      }
      if (applied.has(element) && next !== undefined && next !== element) {
        l++
        continue
      }
    }
    if (element !== undefined) {
      if (!applied.has(element)) {
        out.push(left[l])
        l++
        continue
      }
      if (merged.has(element)) l++
    }
    const from = rights[r]
    if (from !== undefined) {
      take(from)
      r++
      if (next === from) next = shared.shift()
    }
  }
  return out
}

/** The value without the members of the set. A map or list of which nothing is left becomes null, as on the server. */
export const remove = (type: FieldType, value: unknown, gone: FieldSet.FieldSet): unknown => {
  const { list, map, scalar } = deduce(type, value)
  if (map !== undefined) {
    if (!isObject(value) || map.atomic || isBare(value)) return null
    return removeMembers(map, value, gone)
  }
  if (scalar !== undefined || list === undefined) return value
  if (!isList(value) || list.atomic || value.length === 0) return null
  return removeItems(list, value, gone)
}

const removeMembers = (map: MapType, value: JsonObject, gone: FieldSet.FieldSet): unknown => {
  const out: Record<string, unknown> = {}
  let changed = false
  for (const [name, child] of Object.entries(value)) {
    const set = gone.children.get(FieldSet.field(name))
    const type = memberOf(map, name)
    if (set?.member === true) changed = true
    else if (set === undefined || type === undefined) setEntry(out, name, child)
    else {
      const rest = remove(type, child, set)
      if (rest !== child) changed = true
      setEntry(out, name, rest)
    }
  }
  if (!changed) return value
  return Object.keys(out).length === 0 ? null : out
}

const removeItems = (list: ListType, value: ReadonlyArray<unknown>, gone: FieldSet.FieldSet): unknown => {
  const out: Array<unknown> = []
  for (const item of value) {
    const set = gone.children.get(elementIn(list, item))
    if (set?.member === true) continue
    out.push(set === undefined ? item : remove(list.element, item, set))
  }
  if (out.length === value.length && out.every((item, at) => item === value[at])) return value
  return out.length === 0 ? null : out
}

/** The fields in which two values differ. */
export interface Comparison {
  readonly added: FieldSet.FieldSet
  readonly modified: FieldSet.FieldSet
  readonly removed: FieldSet.FieldSet
}

export const compare = (type: FieldType, before: unknown, after: unknown): Comparison => {
  const found: Found = {
    added: new FieldSet.FieldSetBuilder(),
    modified: new FieldSet.FieldSetBuilder(),
    removed: new FieldSet.FieldSetBuilder()
  }
  compareValues(type, before, after, [], found)
  return { added: found.added.done(), modified: found.modified.done(), removed: found.removed.done() }
}

interface Found {
  readonly added: FieldSet.FieldSetBuilder
  readonly modified: FieldSet.FieldSetBuilder
  readonly removed: FieldSet.FieldSetBuilder
}

const compareValues = (type: FieldType, before: unknown, after: unknown, path: FieldSet.Path, found: Found): void => {
  if (before === after) return
  const left = deduce(type, before)
  const right = deduce(type, after)
  let leaf: boolean
  if (after === undefined) leaf = compareAs(left, before, after, path, found)
  else {
    // A value that took another form is compared in both: as what it was, and as what it is.
    if (before !== undefined && !isSame(left, right)) compareAs(left, before, after, path, found)
    leaf = compareAs(right, before, after, path, found)
  }
  if (leaf) return
  if (before === undefined) found.added.insert(path)
  else if (after === undefined) found.removed.insert(path)
}

/** True if the value was compared whole. */
const compareAs = (type: FieldType, before: unknown, after: unknown, path: FieldSet.Path, found: Found): boolean => {
  const { list, map, scalar } = type
  const whole = (): true => {
    if (before === undefined) found.added.insert(path)
    else if (after === undefined) found.removed.insert(path)
    else if (!equals(before, after)) found.modified.insert(path)
    return true
  }
  if (map !== undefined) {
    const left = isObject(before) ? before : undefined
    const right = isObject(after) ? after : undefined
    if (map.atomic || (isBare(left) && isBare(right))) return whole()
    compareMembers(map, left ?? {}, right ?? {}, path, found)
    return false
  }
  if (scalar !== undefined || list === undefined) return whole()
  const left = isList(before) ? before : []
  const right = isList(after) ? after : []
  if (list.atomic || (left.length === 0 && right.length === 0)) return whole()
  compareItems(list, left, right, path, found)
  return false
}

const compareMembers = (map: MapType, left: JsonObject, right: JsonObject, path: FieldSet.Path, found: Found): void => {
  const member = (name: string, before: unknown, after: unknown): void => {
    if (before === after) return
    const type = memberOf(map, name)
    if (type !== undefined) compareValues(type, before, after, [...path, FieldSet.field(name)], found)
  }
  for (const name of Object.keys(left)) member(name, left[name], Object.hasOwn(right, name) ? right[name] : undefined)
  for (const name of Object.keys(right)) if (!Object.hasOwn(left, name)) member(name, undefined, right[name])
}

const compareItems = (
  list: ListType,
  left: ReadonlyArray<unknown>,
  right: ReadonlyArray<unknown>,
  path: FieldSet.Path,
  found: Found
): void => {
  const lefts = groupBy(left, (item) => elementIn(list, item))
  const rights = groupBy(right, (item) => elementIn(list, item))
  for (const element of new Set([...lefts.keys(), ...rights.keys()])) {
    const before = lefts.get(element) ?? []
    const after = rights.get(element) ?? []
    const at = [...path, element]
    if (before.length <= 1 && after.length <= 1) compareValues(list.element, before[0], after[0], at, found)
    // An item that is there twice is owned whole.
    else if (before.length >= 2 && after.length >= 2) {
      if (!equals(before, after)) found.modified.insert(at)
    } else if (before.length >= 2) {
      if (after.length > 0) compareValues(list.element, undefined, after[0], at, found)
      found.removed.insert(at)
    } else {
      if (before.length > 0) compareValues(list.element, before[0], undefined, at, found)
      found.added.insert(at)
    }
  }
}
