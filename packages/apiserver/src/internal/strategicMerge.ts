/**
 * Strategic merge patches of built-in kinds: objects merge, lists merge by the keys and strategies of their schema, and directives (`$patch`,
 * `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) say what else shall happen (F83).
 *
 * Guarantees: neither operand is mutated.
 * Caveat: where a patch names a list both to merge and to delete from, a real server takes them by chance; here in the patch's order.
 */
import { goType, goValue } from "./goText.ts"
import { Draft, equals, isList, isObject, type JsonObject, mapEntries, withoutEntry } from "./json.ts"
import * as Refusal from "./refusal.ts"
import type { Schema } from "./schema.ts"

const directive = "$patch"
const retainKeys = "$retainKeys"
const deletion = "$deleteFromPrimitiveList"
const ordering = "$setElementOrder"

type List = ReadonlyArray<unknown>

const badFormat = (what: string) => Refusal.badRequest(`invalid patch format of ${what}`)
const noMergeKey = (item: unknown, key: string) =>
  Refusal.internal(`map: ${goValue(item)} does not contain declared merge key: ${key}`)
const unknownDirective = (said: unknown, item: unknown) =>
  Refusal.internal(`unknown patch type: ${goValue(said)} in map: ${goValue(item)}`)
const badType = (expected: string, value: unknown) =>
  Refusal.internal(`expected a ${expected}, but received a ${goType(value)}`)

const listType = "[]interface {}"
const mapType = "map[string]interface {}"

/** The object with the patch merged into it. Throws a refusal where a real server refuses the patch. */
export const strategicMerge = (schema: Schema, target: JsonObject, patch: unknown): JsonObject => {
  if (patch === null) return target
  if (!isObject(patch)) {
    const found = isList(patch) ? "array" : typeof patch === "boolean" ? "bool" : typeof patch
    throw Refusal.badRequest(`json: cannot unmarshal ${found} into Go value of type map[string]interface {}`)
  }
  return mergeMap(schema, target, patch)
}

/** What is left of a patch once it has been merged, which is what a real server quotes: the directives on lists are gone, and the lists with them. */
export const remainsOf = (patch: unknown): unknown => {
  if (isList(patch)) return patch.map(remainsOf)
  if (!isObject(patch)) return patch
  const gone = new Set([retainKeys])
  for (const key of Object.keys(patch)) {
    if (key.startsWith(`${ordering}/`)) gone.add(key).add(key.slice(ordering.length + 1))
  }
  return Object.fromEntries(
    Object.entries(patch).flatMap(([key, value]) => (gone.has(key) ? [] : [[key, remainsOf(value)]]))
  )
}

const mergeMap = (schema: Schema, target: JsonObject, patch: JsonObject): JsonObject => {
  if (Object.hasOwn(patch, directive)) {
    if (patch[directive] === "replace") return withoutEntry(patch, directive)
    if (patch[directive] === "delete") return {}
    throw unknownDirective(patch[directive], patch)
  }
  const draft = new Draft(retained(target, patch))
  const done = new Set([retainKeys])
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ordering)) continue
    const field = fieldOf(key, ordering, "setElementOrder list")
    done.add(key).add(field)
    const list = ordered(schema, field, draft.now, patch, order)
    if (list !== undefined) draft.set(field, list)
  }
  for (const [key, value] of Object.entries(patch)) {
    if (done.has(key)) continue
    const isDeletion = key.startsWith(deletion)
    const field = isDeletion ? fieldOf(key, deletion, "primitive list") : key
    mergeMember(schema, draft, field, value, isDeletion)
  }
  return draft.now
}

/** Of `$setElementOrder/ports`, `ports`. */
const fieldOf = (key: string, prefix: string, what: string): string => {
  if (!key.startsWith(`${prefix}/`)) throw badFormat(what)
  return key.slice(prefix.length + 1)
}

/** The members that `$retainKeys` names; everything that the patch sets must be among them. */
const retained = (target: JsonObject, patch: JsonObject): JsonObject => {
  if (!Object.hasOwn(patch, retainKeys)) return target
  const kept = patch[retainKeys]
  if (!isList(kept)) throw badFormat("retainKeys")
  const names = new Set(kept)
  for (const [key, value] of Object.entries(patch)) {
    if (key === retainKeys || value === null || key.startsWith(deletion) || key.startsWith(ordering)) continue
    if (!names.has(key)) throw badFormat("retainKeys")
  }
  return mapEntries(target, (value, key) => (names.has(key) ? value : undefined))
}

const formOf = (value: unknown): string =>
  value === null ? "null" : isList(value) ? "list" : isObject(value) ? "map" : typeof value

const mergeMember = (schema: Schema, draft: Draft, field: string, value: unknown, isDeletion: boolean): void => {
  if (value === null) return draft.delete(field)
  const present = Object.hasOwn(draft.now, field) ? draft.now[field] : undefined
  if (present === undefined || formOf(present) !== formOf(value)) {
    if (isDeletion) return
    const { keep, value: own } = withoutDirectives(withoutNulls(value))
    return keep ? draft.set(field, own) : draft.delete(field)
  }
  if (isObject(present) && isObject(value)) {
    const own = lookUp(schema, field)
    return draft.set(field, isReplaced(own) ? value : mergeMap(own, present, value))
  }
  if (isList(present) && isList(value)) {
    const own = lookUpList(schema, field)
    return draft.set(field, isMerged(own) || isDeletion ? mergeLists(own, present, value, isDeletion).list : value)
  }
  if (!equals(present, value)) draft.set(field, value)
}

const strategies = (schema: Schema): ReadonlyArray<string> =>
  String(schema["x-kubernetes-patch-strategy"] ?? "").split(",")
const isMerged = (schema: Schema): boolean => strategies(schema).includes("merge")
const isReplaced = (schema: Schema): boolean => strategies(schema).includes("replace")
const mergeKeyOf = (schema: Schema): string => String(schema["x-kubernetes-patch-merge-key"] ?? "")

const structName = (name: unknown): string => String(name).replace(/^.*\./, "")

const lookUp = ({ properties, "x-type": name }: Schema, field: string): Schema => {
  if (properties === undefined) {
    throw Refusal.internal("merging an object in json but data type is not struct, instead is: map")
  }
  const own = Object.hasOwn(properties, field) ? properties[field] : undefined
  if (own !== undefined) return own
  throw Refusal.internal(
    `unable to find api field in struct ${structName(name)} for the json field ${JSON.stringify(field)}`
  )
}

const lookUpList = (schema: Schema, field: string): Schema => {
  const own = lookUp(schema, field)
  if (own.type !== "array") throw Refusal.internal("expected slice or array type, but got: struct")
  return own
}

/** Nulls delete also where there is nothing: what a patch makes anew has none, but as items of lists. */
const withoutNulls = (value: unknown): unknown => {
  if (isList(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]]))
  )
}

interface Cleaned {
  readonly keep: boolean
  readonly value: unknown
}

/** An object with a directive says nothing where there is nothing to patch. */
const withoutDirectives = (value: unknown): Cleaned => {
  if (isList(value)) {
    const items = value.map(withoutDirectives).filter(({ keep }) => keep)
    return { keep: true, value: items.map((item) => item.value) }
  }
  if (!isObject(value)) return { keep: true, value }
  if (Object.hasOwn(value, directive)) return { keep: false, value: undefined }
  const members = Object.entries(value).map(([key, inner]) => [key, withoutDirectives(inner)] as const)
  return {
    keep: true,
    value: Object.fromEntries(members.flatMap(([key, inner]) => (inner.keep ? [[key, inner.value]] : [])))
  }
}

/** The form that all items share. */
const itemForm = (...lists: ReadonlyArray<List>): string => {
  const forms = new Set(lists.flatMap((list) => list.map(formOf)))
  const [form] = forms
  if (form === undefined) throw Refusal.internal("no elements in any of the given slices")
  if (form === "list") throw Refusal.patchRejected()
  if (forms.size > 1) throw Refusal.internal(`list element types are not identical: ${goValue(lists)}`)
  return form
}

interface Merged {
  readonly list: List
  /** The order that the live list is taken to have: a real server merges in its place, so that new items come to stand where others were deleted. */
  readonly live: List
}

const mergeLists = (schema: Schema, target: List, patch: List, isDeletion: boolean): Merged => {
  if (target.length === 0 && patch.length === 0) return { list: target, live: target }
  if (itemForm(target, patch) !== "map") {
    const gone = new Set(patch)
    if (isDeletion) return { list: target.filter((item) => !gone.has(item)), live: target }
    return { list: arranged([...new Set([...target, ...patch])], patch, target, ""), live: target }
  }
  const key = mergeKeyOf(schema)
  if (key === "") throw Refusal.internal("cannot merge lists without merge key for struct")
  const special = withSpecial(target as ReadonlyArray<JsonObject>, patch as ReadonlyArray<JsonObject>, key)
  const merged = [...special.target]
  const places = placesOf(merged, key)
  for (const item of special.patch) {
    if (!Object.hasOwn(item, key)) throw noMergeKey(item, key)
    const at = places.get(item[key])
    if (at === undefined) places.set(item[key], merged.push(item) - 1)
    else merged[at] = mergeMap(schema.items ?? {}, merged[at]!, item)
  }
  return {
    list: arranged(merged, special.patch, special.target, key),
    live: special.isReplaced ? target : merged.slice(0, target.length)
  }
}

interface Special {
  readonly target: ReadonlyArray<JsonObject>
  readonly patch: ReadonlyArray<JsonObject>
  readonly isReplaced: boolean
}

/** Does what the items with a directive say, and takes them out. */
const withSpecial = (target: ReadonlyArray<JsonObject>, patch: ReadonlyArray<JsonObject>, key: string): Special => {
  const gone = new Set<unknown>()
  let isReplaced = false
  for (const item of patch) {
    if (!Object.hasOwn(item, directive)) continue
    switch (item[directive]) {
      case "delete":
        if (!Object.hasOwn(item, key)) throw noMergeKey(item, key)
        gone.add(item[key])
        break
      case "replace":
        isReplaced = true
        break
      case "merge":
        throw Refusal.internal("merging lists cannot yet be specified in the patch")
      default:
        throw unknownDirective(item[directive], item)
    }
  }
  const plain = patch.filter((item) => !Object.hasOwn(item, directive))
  if (isReplaced) return { target: plain, patch: [], isReplaced }
  return { target: gone.size === 0 ? target : target.filter((one) => !gone.has(one[key])), patch: plain, isReplaced }
}

/** What tells an item from others: itself, or the member that is the merge key. */
const identity = (item: unknown, key: string): unknown => (key === "" ? item : isObject(item) ? item[key] : null)

/** Where each item of a list stands first; looked up, since lists may be long. */
const placesOf = (list: List, key: string): Map<unknown, number> => {
  const places = new Map<unknown, number>()
  for (const [index, item] of list.entries()) {
    const own = identity(item, key)
    if (!places.has(own)) places.set(own, index)
  }
  return places
}

/** What `order` names in its order, the rest in that of the live list, and each of the rest before the first that followed it there. */
const arranged = (merged: List, order: List, live: List, key: string): List => {
  if (key !== "") {
    for (const item of [...merged, ...order, ...live]) {
      if (!isObject(item)) throw badType(mapType, item)
      if (!Object.hasOwn(item, key)) throw noMergeKey(item, key)
    }
  }
  const inOrder = placesOf(order, key)
  const inLive = placesOf(live, key)
  const place = (places: Map<unknown, number>, item: unknown): number => places.get(identity(item, key)) ?? -1
  const by = (places: Map<unknown, number>) => (a: unknown, b: unknown) => place(places, a) - place(places, b)
  const named = merged.filter((item) => place(inOrder, item) >= 0).toSorted(by(inOrder))
  const rest = merged.filter((item) => place(inOrder, item) < 0).toSorted(by(inLive))
  const out: Array<unknown> = []
  let at = 0
  for (const item of named) {
    const before = place(inLive, item)
    const comesBefore = (one: unknown): boolean => {
      const own = place(inLive, one)
      return own >= 0 && own < before
    }
    while (at < rest.length && comesBefore(rest[at])) out.push(rest[at++])
    out.push(item)
  }
  return [...out, ...rest.slice(at)]
}

/** The list of a field that the patch puts in order; undefined if there is none. */
const ordered = (
  schema: Schema,
  field: string,
  target: JsonObject,
  patch: JsonObject,
  order: unknown
): List | undefined => {
  if (!isList(order)) throw badType(listType, order)
  const live = Object.hasOwn(target, field) ? target[field] : undefined
  const changes = Object.hasOwn(patch, field) ? patch[field] : undefined
  for (const list of [live, changes]) if (list !== undefined && !isList(list)) throw badType(listType, list)
  const own = lookUpList(schema, field)
  const key = mergeKeyOf(own)
  checkOrder((changes ?? []) as List, order, key)
  if (live === undefined && changes === undefined) return undefined
  const present = (live ?? []) as List
  const listed = (changes ?? []) as List
  itemForm(present, listed)
  if (changes === undefined) return arranged(present, order, present, key)
  if (live === undefined) return arranged(withoutDirectives(listed).value as List, order, present, key)
  const merged = isMerged(own) ? mergeLists(own, present, listed, false) : { list: listed, live: present }
  return arranged(merged.list, order, merged.live, key)
}

/** The items of the patch stand in the order that it demands. */
const checkOrder = (changes: List, order: List, key: string): void => {
  if (order.length === 0 || changes.length === 0) return
  const isPlain = (item: unknown): boolean => {
    if (key === "") return true
    if (!isObject(item)) throw badType(mapType, item)
    return !Object.hasOwn(item, directive)
  }
  const left = changes.filter(isPlain)
  let at = 0
  for (const item of order) {
    if (at === left.length) return
    for (const one of [left[at], item]) {
      if (key !== "" && !(isObject(one) && Object.hasOwn(one, key))) throw noMergeKey(one, key)
    }
    if (identity(left[at], key) === identity(item, key)) at++
  }
  if (at < left.length) {
    throw Refusal.internal(
      `The order in patch list:\n${goValue(changes)}\n doesn't match ${ordering} list:\n${goValue(order)}\n`
    )
  }
}
