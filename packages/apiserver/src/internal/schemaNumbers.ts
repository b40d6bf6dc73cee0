/** Numbers against their bounds, as Go holds and writes them. */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { Schema } from "./schema.ts"
import { failed, fieldOf, general, join, type Outcome, passed, type Place } from "./schemaOutcome.ts"

/** Whether the number has a place in the type; the texts for boundaries are the same. */
const range = (what: string, value: number, type: string, format: string, place: Place): Outcome => {
  const limit = format === "int32" ? 2 ** 31 : 2 ** 63
  const fits =
    type === "integer"
      ? Number.isInteger(value) && value < limit && value >= -limit
      : format !== "float" || Math.abs(value) <= 3.4028234663852886e38
  if (fits) return passed
  const suffix = format === "" ? "(default format)" : `with format ${format}`
  return failed(general(place, `${what} value must be of type ${type} ${suffix} in ${place.path}`))
}

/** Whether Go holds the number as an integer. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63

/** A number as Go's `%v`: a float of a million or more has an exponent. */
const goNumber = (value: number, int: boolean): string => {
  if (int || value === 0) return String(value)
  const exponent = Math.floor(Math.log10(Math.abs(value)))
  if (exponent >= -4 && exponent < 6) return String(value)
  const [digits, power = "0"] = value.toExponential().split("e")
  return `${digits}e${power.startsWith("-") ? "-" : "+"}${power.slice(1).padStart(2, "0")}`
}

/** Go's reading of a whole number, with its tolerance and its bounds. */
const isWhole = (value: number): boolean => {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const near = Math.trunc(value)
  return value === near || Math.abs(value - near) / (Math.abs(value) + Math.abs(near)) < 1e-9
}

const invalidNumber = (place: Place, value: number, message: string): StatusCause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${goNumber(value, isInt64(value))}: ${message}`,
  field: fieldOf(place)
})

const multiples = (factor: number, value: number, place: Place): Outcome => {
  // Of an integer the server takes the whole part of the factor.
  const int = isInt64(value)
  const own = int ? Math.trunc(factor) : factor
  if (own <= 0) {
    return failed(
      invalidNumber(place, own, `factor MultipleOf declared for ${place.path} must be positive: ${goNumber(own, int)}`)
    )
  }
  const times = own < 1 ? (1 / own) * value : value / own
  return (int ? Number.isInteger(times) : isWhole(times))
    ? passed
    : failed(invalidNumber(place, value, `${place.path} in body should be a multiple of ${goNumber(own, int)}`))
}

export const ofNumber = (
  schema: Schema,
  types: ReadonlyArray<string>,
  format: string,
  value: number,
  place: Place
): Outcome => {
  const [only] = types
  const type = types.length === 1 && (only === "integer" || only === "number") ? only : ""
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf } = schema
  const int = isInt64(value)
  const outcomes = [range("Checked", value, type, format, place)]
  if (multipleOf !== undefined) {
    outcomes.push(range("MultipleOf", multipleOf, type, format, place), multiples(multipleOf, value, place))
  }
  const bound = (what: string, limit: number, exclusive: boolean, sign: 1 | -1, words: string): void => {
    // The server compares integers with the whole part of a limit.
    const own = int ? Math.trunc(limit) : limit
    const beyond = (value - own) * sign
    outcomes.push(range(what, limit, type, format, place))
    if (beyond > 0 || (exclusive && beyond === 0)) {
      const text = `should be ${words}${exclusive ? "" : " or equal to"} ${goNumber(own, int)}`
      outcomes.push(failed(invalidNumber(place, value, `${place.path} in body ${text}`)))
    }
  }
  if (minimum !== undefined) bound("Minimum boundary", minimum, exclusiveMinimum === true, -1, "greater than")
  if (maximum !== undefined) bound("Maximum boundary", maximum, exclusiveMaximum === true, 1, "less than")
  return join(outcomes, 1)
}
