/** Values as Go prints them into messages and cells. */
import { isList, isObject, type JsonObject } from "./json.ts"

/** Go's shortest form: an exponent has two digits at least, and begins where a fraction has four zeros. */
export const goNumber = (value: number): string => {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value)
  const exponential = value.toExponential()
  const exponent = Number(exponential.slice(exponential.indexOf("e") + 1))
  if (exponent >= -4 && exponent < 21) return String(value)
  return exponential.replace(/e([+-])(\d)$/, "e$10$2")
}

const byKey = (object: JsonObject): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** The same value with its keys in order, in which Go writes maps. */
export const sorted = (value: unknown): unknown => {
  if (isList(value)) return value.map(sorted)
  return isObject(value) ? Object.fromEntries(byKey(value).map(([key, inner]) => [key, sorted(inner)])) : value
}

/** By `%v`: `map[a:1 b:[x <nil>]]`. */
export const goValue = (value: unknown): string => {
  if (value === null || value === undefined) return "<nil>"
  if (isList(value)) return `[${value.map(goValue).join(" ")}]`
  if (isObject(value))
    return `map[${byKey(value)
      .map(([key, inner]) => `${key}:${goValue(inner)}`)
      .join(" ")}]`
  return typeof value === "number" ? goNumber(value) : String(value)
}

/** The type of a value that was decoded from JSON, as `%T` names it. */
export const goType = (value: unknown): string => {
  if (value === null) return "<nil>"
  if (isList(value)) return "[]interface {}"
  if (isObject(value)) return "map[string]interface {}"
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64"
  return typeof value === "boolean" ? "bool" : "string"
}
