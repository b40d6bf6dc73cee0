/** JSON values: structural equality and changed copies that never touch a prototype. */

export type JsonObject = { readonly [key: string]: unknown }

export const isObject = (u: unknown): u is JsonObject => typeof u === "object" && u !== null && !Array.isArray(u)

/** As `Array.isArray`, which does not narrow read-only lists. */
export const isList = (u: unknown): u is ReadonlyArray<unknown> => Array.isArray(u)

/** Equal as JSON: the order of keys does not matter, and no key is inherited. */
export const equals = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, index) => equals(item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equals(a[key], b[key]))
}

/** An own property, also for `__proto__`, where an assignment would set the prototype. */
export const setEntry = (object: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}

/** A copy in which `key` has `value`; the object itself if it had. */
export const withEntry = (object: JsonObject, key: string, value: unknown): JsonObject => {
  if (Object.hasOwn(object, key) && object[key] === value) return object
  const out: Record<string, unknown> = { ...object }
  setEntry(out, key, value)
  return out
}

/** A copy without `key`; the object itself if it had none. */
export const withoutEntry = (object: JsonObject, key: string): JsonObject => {
  if (!Object.hasOwn(object, key)) return object
  const { ...out }: Record<string, unknown> = object
  delete out[key]
  return out
}

/** An object on its way to another, copied at the first change and no more. */
export class Draft {
  now: JsonObject
  #own: Record<string, unknown> | undefined

  constructor(object: JsonObject) {
    this.now = object
  }

  set(key: string, value: unknown): void {
    if (Object.hasOwn(this.now, key) && this.now[key] === value) return
    setEntry(this.#copy(), key, value)
  }

  delete(key: string): void {
    if (Object.hasOwn(this.now, key)) delete this.#copy()[key]
  }

  #copy(): Record<string, unknown> {
    this.#own ??= { ...this.now }
    this.now = this.#own
    return this.#own
  }
}

/** The members mapped, those for which `f` answers undefined left out; the object itself if nothing changes. */
export const mapEntries = (object: JsonObject, f: (value: unknown, key: string) => unknown): JsonObject => {
  let out: Record<string, unknown> | undefined
  const keys = Object.keys(object)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!
    const next = f(object[key], key)
    if (out === undefined && next === object[key]) continue
    if (out === undefined) {
      out = {}
      for (const before of keys.slice(0, index)) setEntry(out, before, object[before])
    }
    if (next !== undefined) setEntry(out, key, next)
  }
  return out ?? object
}

/** The elements mapped; the array itself if nothing changes. */
export const mapItems = (
  items: ReadonlyArray<unknown>,
  f: (item: unknown, index: number) => unknown
): ReadonlyArray<unknown> => {
  const out = items.map(f)
  return out.some((item, index) => item !== items[index]) ? out : items
}

/** `after` with every part that equals its place in `before` taken from there; items of lists are compared by index. */
export const reuse = (before: unknown, after: unknown): unknown => {
  if (before === after) return before
  if (isList(before) && isList(after)) {
    const out = mapItems(after, (item, at) => (at < before.length ? reuse(before[at], item) : item))
    return out.length === before.length && out.every((item, at) => item === before[at]) ? before : out
  }
  if (!isObject(before) || !isObject(after)) return after
  const out = mapEntries(after, (own, key) => (Object.hasOwn(before, key) ? reuse(before[key], own) : own))
  const keys = Object.keys(out)
  return keys.length === Object.keys(before).length &&
    keys.every((key) => Object.hasOwn(before, key) && out[key] === before[key])
    ? before
    : out
}

/** Items by what `f` says of them, in the order in which that was first said. */
export const groupBy = <A, K>(items: ReadonlyArray<A>, f: (item: A) => K): Map<K, Array<A>> => {
  const out = new Map<K, Array<A>>()
  for (const item of items) {
    const key = f(item)
    const group = out.get(key)
    if (group === undefined) out.set(key, [item])
    else group.push(item)
  }
  return out
}

/** JSON as Go writes it: without spaces, and with `<`, `>` and `&` escaped. */
export const goJson = (value: unknown): string =>
  (JSON.stringify(value) ?? "null").replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
