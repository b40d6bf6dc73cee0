/** Structural equality of JSON values. An absent field and one that is undefined are the same; the order of fields does not matter. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  return !Array.isArray(b) && sameRecord(a as Json, b as Json, undefined)
}

export type Json = Readonly<Record<string, unknown>>

export const isRecord = (u: unknown): u is Json => typeof u === "object" && u !== null && !Array.isArray(u)

/** The same for records, leaving out some of their own fields. */
export const sameRecord = (a: Json, b: Json, except: ReadonlySet<string> | undefined): boolean => {
  for (const key in a)
    if (except?.has(key) !== true && !sameJson(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false
  for (const key in b)
    if (except?.has(key) !== true && b[key] !== undefined && (!Object.hasOwn(a, key) || a[key] === undefined))
      return false
  return true
}
