/**
 * Merge patches (RFC 7396) and JSON patches (RFC 6902) as the API server does them (F80, F81, F82).
 *
 * Guarantees: neither operand is mutated; parts that a patch does not touch keep their reference; a patch that changes nothing answers the target
 * itself; `__proto__` and `constructor` are keys like any other. A container is copied once, however many operations change it.
 * Caveat: JSON that was parsed no longer tells `1.0` from `1`, which a `test` of the real server does (F80).
 *
 * `effect/JsonPatch` does not serve: it has no `test`, `move` and `copy`, refuses negative indices and a `replace` of a missing member (F81), and throws.
 */
import type { JsonPatchOperation } from "@fixpoint/core/ApiClient"
import { Draft, equals, isList, isObject, type JsonObject, mapEntries, setEntry } from "./json.ts"

/** A patched value, or the 400 that says why the body is no patch. */
export type MergePatched =
  | { readonly _tag: "Patched"; readonly value: unknown }
  | { readonly _tag: "BadRequest"; readonly message: string }

/** `Rejected` is the bare 422 that does not tell a failed `test` from a bad path (F80). */
export type JsonPatched = MergePatched | { readonly _tag: "Rejected" }

/** No more than this many bytes are copied by the `copy` operations of one patch: the server's limit of a body. */
const copyLimit = 3 * 1024 * 1024

const goType = (u: unknown): string =>
  isList(u) ? "array" : u === null ? "null" : typeof u === "boolean" ? "bool" : typeof u

const badRequest = (message: string): { readonly _tag: "BadRequest"; readonly message: string } => ({
  _tag: "BadRequest",
  message
})

/**
 * Null deletes, objects merge, everything else replaces. Nulls are dropped from objects that the patch makes anew, and kept as elements of lists (F82).
 * A body that is not an object is a `BadRequest`.
 */
export const mergePatch = (target: unknown, patch: unknown): MergePatched => {
  if (patch === null) return badRequest("Invalid JSON Patch")
  if (!isObject(patch)) {
    return badRequest(
      `error decoding patch: json: cannot unmarshal ${goType(patch)} into Go value of type map[string]interface {}`
    )
  }
  return { _tag: "Patched", value: isObject(target) ? mergeObjects(target, patch) : withoutNulls(patch) }
}

const mergeObjects = (target: JsonObject, patch: JsonObject): JsonObject => {
  const draft = new Draft(target)
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) {
      draft.delete(key)
      continue
    }
    const current = Object.hasOwn(target, key) ? target[key] : undefined
    const next =
      isObject(current) && isObject(value)
        ? mergeObjects(current, value)
        : // The server leaves nulls in a list that replaces an object, and only there.
          isObject(current)
          ? value
          : withoutNulls(value)
    // An equal value keeps the reference, so that a patch without effect is seen at once.
    if (!equals(current, next)) draft.set(key, next)
  }
  return draft.now
}

const withoutNulls = (value: unknown): unknown => {
  if (isList(value)) {
    const out = value.map((item) => (item === null ? null : withoutNulls(item)))
    return out.some((item, index) => item !== value[index]) ? out : value
  }
  return isObject(value) ? mapEntries(value, (own) => (own === null ? undefined : withoutNulls(own))) : value
}

/**
 * Applies the operations in order, all or none. `replace` of a missing member adds it, an index of -1 counts from the end (F81), a `test` of null holds
 * for a missing member (F80).
 */
export const jsonPatch = (target: unknown, operations: unknown): JsonPatched => {
  if (operations === null) return { _tag: "Patched", value: target }
  const malformed = badOperations(operations)
  if (malformed !== undefined) return badRequest(`error decoding patch: ${malformed}`)
  try {
    const value = applyAll(target, operations as ReadonlyArray<Partial<Record<string, unknown>> | null>)
    return value === undefined || isDeeper(value.value, depthMost)
      ? { _tag: "Rejected" }
      : { _tag: "Patched", value: value.value }
  } catch (error) {
    // Parts that were moved into each other are deeper than the stack.
    if (error instanceof RangeError) return { _tag: "Rejected" }
    throw error
  }
}

/** How deep a patched value may nest: bodies nest 500 deep at most, but parts of them can be put into each other. */
const depthMost = 1_000

const isDeeper = (value: unknown, most: number): boolean =>
  isContainer(value) && (most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1)))

const applyAll = (target: unknown, operations: ReadonlyArray<Partial<Record<string, unknown>> | null>) => {
  const copies: Copies = new WeakSet()
  let value = target
  let copied = 0
  for (const operation of operations) {
    const done = applyOperation(value, operation ?? {}, copies)
    if (done === undefined) return undefined
    copied += done.copied
    if (copied > copyLimit) return undefined
    value = done.value
  }
  return { value }
}

const badOperations = (operations: unknown): string | undefined => {
  if (!isList(operations)) {
    return `json: cannot unmarshal ${goType(operations)} into Go value of type []handlers.jsonPatchOp`
  }
  for (const operation of operations) {
    if (operation === null) continue
    if (!isObject(operation)) {
      return `json: cannot unmarshal ${goType(operation)} into Go value of type handlers.jsonPatchOp`
    }
    for (const field of ["op", "path", "from"]) {
      const value = operation[field]
      if (value !== undefined && value !== null && typeof value !== "string") {
        return `json: cannot unmarshal ${goType(value)} into Go struct field jsonPatchOp.${field} of type string`
      }
    }
  }
  return undefined
}

type Step = { readonly value: unknown; readonly copied: number }
const step = (value: unknown): Step => ({ value, copied: 0 })

const text = (u: unknown): string | undefined => (typeof u === "string" ? u : undefined)

/** The containers that this patch has made, and may change. */
type Copies = WeakSet<object>

/** One that may be changed: a copy, or the copy that it is. */
const ownObject = (copies: Copies, object: JsonObject): Record<string, unknown> => {
  if (copies.has(object)) return object
  const copy = { ...object }
  copies.add(copy)
  return copy
}

const ownList = (copies: Copies, list: ReadonlyArray<unknown>): Array<unknown> => {
  if (copies.has(list)) return list as Array<unknown>
  const copy = [...list]
  copies.add(copy)
  return copy
}

const withEntry = (copies: Copies, object: JsonObject, key: string, value: unknown): JsonObject => {
  if (Object.hasOwn(object, key) && object[key] === value) return object
  const own = ownObject(copies, object)
  setEntry(own, key, value)
  return own
}

const withItem = (copies: Copies, list: ReadonlyArray<unknown>, index: number, value: unknown) => {
  const own = ownList(copies, list)
  own[index] = value
  return own
}

/** Undefined where the server would reject. */
const applyOperation = (
  target: unknown,
  operation: Partial<Record<string, unknown>>,
  copies: Copies
): Step | undefined => {
  const path = text(operation.path)
  const from = text(operation.from)
  // A missing value is a null one.
  const value = operation.value === undefined ? null : operation.value
  if (path === undefined) return undefined
  switch (operation.op as JsonPatchOperation["op"] | undefined) {
    case "add":
      return add(copies, target, path, value)
    case "remove":
      return edit(copies, target, path, remove)
    case "replace":
      if (path === "") return isObject(value) || isList(value) ? step(value) : undefined
      return edit(copies, target, path, (copies, parent, key) => replace(copies, parent, key, value))
    case "test":
      return test(target, path, value) ? step(target) : undefined
    case "move": {
      const moved = from === undefined ? undefined : read(target, from)
      if (from === undefined || moved === undefined) return undefined
      const without = edit(copies, target, from, remove)
      return without === undefined ? undefined : add(copies, without.value, path, moved.value)
    }
    case "copy": {
      const source = from === undefined ? undefined : read(target, from)
      if (source === undefined) return undefined
      // What stands in two places must not change in both.
      const added = add(copies, target, path, structuredClone(source.value))
      return added === undefined
        ? undefined
        : { value: added.value, copied: (JSON.stringify(source.value) ?? "").length }
    }
  }
  return undefined
}

const test = (target: unknown, path: string, value: unknown): boolean => {
  if (path === "") return equals(target, value)
  const found = read(target, path)
  return found !== undefined && equals(found.value, value)
}

const add = (copies: Copies, target: unknown, path: string, value: unknown): Step | undefined =>
  edit(copies, target, path, (copies, parent, key) => {
    if (!isList(parent)) return withEntry(copies, parent, key, value)
    const index = key === "-" ? parent.length : indexIn(key, parent.length + 1)
    if (index === undefined) return undefined
    const own = ownList(copies, parent)
    own.splice(index, 0, value)
    return own
  })

const remove = (copies: Copies, parent: Container, key: string): Container | undefined => {
  if (!isList(parent)) {
    if (!Object.hasOwn(parent, key)) return undefined
    const own = ownObject(copies, parent)
    delete own[key]
    return own
  }
  const index = indexIn(key, parent.length)
  if (index === undefined) return undefined
  const own = ownList(copies, parent)
  own.splice(index, 1)
  return own
}

const replace = (copies: Copies, parent: Container, key: string, value: unknown): Container | undefined => {
  if (!isList(parent)) {
    return Object.hasOwn(parent, key) && equals(parent[key], value) ? parent : withEntry(copies, parent, key, value)
  }
  const index = indexIn(key, parent.length)
  if (index === undefined) return undefined
  return equals(parent[index], value) ? parent : withItem(copies, parent, index, value)
}

type Container = JsonObject | ReadonlyArray<unknown>
const isContainer = (u: unknown): u is Container => typeof u === "object" && u !== null

/** Go's reading of an index: a sign and leading zeros pass, a negative one counts from the end. */
const indexIn = (key: string, length: number): number | undefined => {
  if (!/^[+-]?\d+$/.test(key)) return undefined
  const index = Number(key)
  const from = index < 0 ? index + length : index
  return from >= 0 && from < length ? from : undefined
}

/** The keys of a pointer. The server ignores what stands before the first slash, and refuses a pointer without one. */
const tokens = (path: string): ReadonlyArray<string> | undefined => {
  const parts = path.split("/")
  return parts.length < 2
    ? undefined
    : parts.slice(1).map((part) => part.replaceAll(/~[01]/g, (escape) => (escape === "~1" ? "/" : "~")))
}

const child = (parent: Container, key: string): { readonly value: unknown } | undefined => {
  if (!isList(parent)) return { value: Object.hasOwn(parent, key) ? (parent as JsonObject)[key] : null }
  const index = indexIn(key, parent.length)
  return index === undefined ? undefined : { value: parent[index] }
}

/** What stands at the path: null for a missing member of an object, undefined for a missing parent or index. */
const read = (target: unknown, path: string): { readonly value: unknown } | undefined => {
  let found: { readonly value: unknown } | undefined = { value: target }
  for (const key of tokens(path) ?? [undefined]) {
    if (key === undefined || found === undefined || !isContainer(found.value)) return undefined
    found = child(found.value, key)
  }
  return found
}

const edit = (
  copies: Copies,
  target: unknown,
  path: string,
  change: (copies: Copies, parent: Container, key: string) => Container | undefined
): Step | undefined => {
  const keys = tokens(path)
  if (keys === undefined) return undefined
  const go = (node: unknown, at: number): Container | undefined => {
    if (!isContainer(node)) return undefined
    const key = keys[at]!
    if (at === keys.length - 1) return change(copies, node, key)
    const below = child(node, key)
    const next = below === undefined ? undefined : go(below.value, at + 1)
    if (below === undefined || next === undefined) return undefined
    if (next === below.value) return node
    return isList(node)
      ? withItem(copies, node, indexIn(key, node.length)!, next)
      : withEntry(copies, node as JsonObject, key, next)
  }
  const value = go(target, 0)
  return value === undefined ? undefined : step(value)
}
