/** What the types of fields say of values and of sets: what does not fit, which fields a value has, and how an old set fits a new schema. */
import * as FieldSet from "./fieldSet.ts"
import { deduce, elementOf, type FieldType, type ListType, type MapType, memberOf } from "./fieldType.ts"
import { groupBy, isList, isObject } from "./json.ts"

interface Misfit {
  readonly path: string
  readonly message: string
}

/**
 * Why a value does not fit its type, in the server's words; undefined if it does. Lists may bear an item twice only where `duplicates` allows it: live objects may,
 * applied ones may not (F97).
 */
export const misfits = (type: FieldType, value: unknown, duplicates: boolean): string | undefined => {
  if (isFit(type, value, duplicates)) return undefined
  const found = [...fits(type, value, "", duplicates)]
  if (found.length === 0) return undefined
  const lines = found.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`))
  return lines.length === 1 ? lines[0] : ["errors:", ...lines.map((line) => `  ${line}`)].join("\n")
}

/** Whether `fits` finds nothing, without the paths that only a message needs: nearly every value fits. */
const isFit = (type: FieldType, value: unknown, duplicates: boolean): boolean => {
  if (value === null) return true
  const { list, map, scalar } = type
  if (isObject(value) && map !== undefined) {
    for (const name of Object.keys(value)) {
      const member = memberOf(map, name)
      if (member === undefined || !isFit(member, value[name], duplicates)) return false
    }
    return true
  }
  if (isList(value) && list !== undefined) return areFit(list, value, duplicates)
  return typeof value !== "object" && scalar !== undefined && scalarFits(scalar, value) === undefined
}

const areFit = (list: ListType, value: ReadonlyArray<unknown>, duplicates: boolean): boolean => {
  const seen = new Set<FieldSet.PathElement>()
  return value.every((item) => {
    if (!list.atomic) {
      const named = elementOf(list, item)
      if ("error" in named || (!duplicates && seen.has(named.element))) return false
      seen.add(named.element)
    }
    return isFit(list.element, item, duplicates)
  })
}

function* fits(type: FieldType, value: unknown, path: string, duplicates: boolean): Generator<Misfit> {
  const { list, map, scalar } = deduce(type, value)
  if (value === null) return
  if (map !== undefined) {
    if (isObject(value)) yield* memberFits(map, value, path, duplicates)
    else yield { path, message: `expected map, got &{${goPlain(value)}}` }
  } else if (scalar !== undefined) {
    const expected = scalarFits(scalar, value)
    if (expected !== undefined) yield { path, message: expected }
  } else if (list !== undefined) {
    if (isList(value)) yield* itemFits(list, value, path, duplicates)
    else yield { path, message: `expected list, got &{${goPlain(value)}}` }
  }
}

function* memberFits(map: MapType, value: object, path: string, duplicates: boolean): Generator<Misfit> {
  for (const [name, child] of Object.entries(value)) {
    const type = memberOf(map, name)
    const at = `${path}${FieldSet.formatElement(FieldSet.field(name))}`
    if (type === undefined) {
      // The server stops at the first such member.
      yield { path: at, message: "field not declared in schema" }
      return
    }
    yield* fits(type, child, at, duplicates)
  }
}

function* itemFits(
  list: ListType,
  value: ReadonlyArray<unknown>,
  path: string,
  duplicates: boolean
): Generator<Misfit> {
  const seen = new Set<FieldSet.PathElement>()
  for (let at = 0; at < value.length; at++) {
    const item = value[at]
    const named = list.atomic ? { element: FieldSet.index(at) } : elementOf(list, item)
    if ("error" in named) {
      yield { path, message: `element ${at}: ${named.error}` }
      return
    }
    const element = FieldSet.formatElement(named.element)
    if (!duplicates && !list.atomic && seen.has(named.element)) {
      yield { path, message: `duplicate entries for key ${element}` }
    }
    seen.add(named.element)
    yield* fits(list.element, item, `${path}${element}`, duplicates)
  }
}

const scalarFits = (scalar: string, value: unknown): string | undefined => {
  switch (scalar) {
    case "numeric":
      return typeof value === "number" ? undefined : `expected numeric (int or float), got ${goTypeName(value)}`
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goPlain(value)}}`
  }
  return typeof value === "object" ? `expected any scalar, got &{${goPlain(value)}}` : undefined
}

const goTypeName = (value: unknown): string =>
  isList(value) ? "[]interface {}" : isObject(value) ? "map[string]interface {}" : goScalarName(value)

const goScalarName = (value: unknown): string =>
  typeof value === "number"
    ? Number.isInteger(value)
      ? "int64"
      : "float64"
    : value === true || value === false
      ? "bool"
      : typeof value

/** As Go's `%v`. */
const goPlain = (value: unknown): string => {
  if (isList(value)) return `[${value.map(goPlain).join(" ")}]`
  if (isObject(value)) {
    return `map[${Object.keys(value)
      .sort()
      .map((name) => `${name}:${goPlain(value[name])}`)
      .join(" ")}]`
  }
  return value === null ? "<nil>" : String(value)
}

/** As Go's `%#v`. */
const goSyntax = (value: unknown): string => {
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`
  if (isObject(value)) {
    return `map[string]interface {}{${Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${goSyntax(value[name])}`)
      .join(", ")}}`
  }
  return value === null ? "interface {}(nil)" : typeof value === "string" ? JSON.stringify(value) : String(value)
}

/** The fields that a value has, which an apply of it owns: leaves, items, keys of maps, and whole whatever is atomic. */
export const fieldsOf = (type: FieldType, value: unknown): FieldSet.FieldSet => {
  const builder = new FieldSet.FieldSetBuilder()
  collect(type, value, [], builder)
  return builder.done()
}

const collect = (type: FieldType, value: unknown, path: FieldSet.Path, out: FieldSet.FieldSetBuilder): void => {
  const { list, map, scalar } = deduce(type, value)
  if (map !== undefined) {
    if (map.atomic) out.insert(path)
    else if (isObject(value)) collectMembers(map, value, path, out)
  } else if (scalar !== undefined) out.insert(path)
  else if (list !== undefined) {
    if (list.atomic) out.insert(path)
    else if (isList(value)) collectItems(list, value, path, out)
  }
}

const collectMembers = (map: MapType, value: object, path: FieldSet.Path, out: FieldSet.FieldSetBuilder): void => {
  for (const [name, child] of Object.entries(value)) {
    const type = memberOf(map, name)
    if (type === undefined) continue
    const at = [...path, FieldSet.field(name)]
    collect(type, child, at, out)
    if (child === null || (isObject(child) && Object.keys(child).length === 0) || !map.fields.has(name)) out.insert(at)
  }
}

const collectItems = (
  list: ListType,
  value: ReadonlyArray<unknown>,
  path: FieldSet.Path,
  out: FieldSet.FieldSetBuilder
): void => {
  const byElement = groupBy(value, (item) => {
    const named = elementOf(list, item)
    return "error" in named ? undefined : named.element
  })
  for (const [element, items] of byElement) {
    if (element === undefined) continue
    const at = [...path, element]
    // Items that occur twice are owned whole.
    if (items.length === 1) collect(list.element, items[0], at, out)
    out.insert(at)
  }
}

/** Also the named fields above members, which sets leave out: of `a.b.c`, `a` if it is a named field, but not `b` if it is a key of a map. */
export const withNamedFields = (set: FieldSet.FieldSet, type: FieldType | undefined): FieldSet.FieldSet => {
  const children = new Map<FieldSet.PathElement, FieldSet.FieldSet>()
  for (const [element, child] of set.children) {
    if (child.children.size === 0) {
      children.set(element, child)
      continue
    }
    const name = element.startsWith("f:") ? element.slice(2) : undefined
    const below =
      name === undefined
        ? element.startsWith("k:")
          ? type?.list?.element
          : undefined
        : type?.map === undefined
          ? undefined
          : memberOf(type.map, name)
    const named = name !== undefined && type?.map?.fields.has(name) === true
    const inner = withNamedFields(child, below)
    children.set(element, { member: child.member || named, children: inner.children })
  }
  return { member: set.member, children }
}

/** Sets with the last type that had nothing to change in them: an entry is asked at every write, and schemas change seldom. */
const fitting = new WeakMap<FieldSet.FieldSet, FieldType>()

/**
 * Fits a set to a schema that has changed since: what is atomic now is owned whole by whoever owned a part of it. The set itself if nothing is to be done.
 */
export const reconcile = (set: FieldSet.FieldSet, type: FieldType): FieldSet.FieldSet => {
  if (fitting.get(set) === type) return set
  const whole: Array<FieldSet.Path> = []
  visit(type, set, [], false, whole)
  if (whole.length === 0) {
    fitting.set(set, type)
    return set
  }
  const atomic = FieldSet.fromPaths(whole)
  return FieldSet.union(FieldSet.recursiveDifference(set, atomic), atomic)
}

const visit = (
  type: FieldType,
  set: FieldSet.FieldSet,
  path: FieldSet.Path,
  owned: boolean,
  whole: Array<FieldSet.Path>
): void => {
  const { list, map, scalar } = type
  const atomic = map !== undefined ? map.atomic : scalar === undefined && list?.atomic === true
  if (map !== undefined && isFree(map)) return
  if (!owned && atomic) {
    if (path.length > 0 && (list !== undefined || set.children.size > 0)) whole.push(path)
    return
  }
  for (const [element, child] of set.children) {
    const name = element.startsWith("f:") ? element.slice(2) : undefined
    const below =
      map !== undefined
        ? name === undefined
          ? map.element
          : memberOf(map, name)
        : scalar === undefined
          ? list?.element
          : undefined
    if (below !== undefined) visit(below, child, [...path, element], child.member && child.children.size === 0, whole)
  }
}

/** A map of which no schema says anything. */
const isFree = (map: MapType): boolean => map.fields.size === 0 && map.element?.scalar === "untyped"
