/** A time that a user states. */
import * as Duration from "effect/Duration"

/** In milliseconds, if it is one: finite, not below zero. `Duration` reads NaN as zero, which would be a hot loop that nobody asked for. */
export const statedMillis = (input: Duration.Input | undefined): number | undefined => {
  if (input === undefined || (typeof input === "number" && Number.isNaN(input))) return undefined
  try {
    const millis = Duration.toMillis(input)
    return Number.isFinite(millis) && millis >= 0 ? millis : undefined
  } catch {
    return undefined
  }
}
