/** A time that a user states. */
import * as Duration from "effect/Duration"

/** In milliseconds, if it is one: finite and above zero. A pass that came back at once, each time, would be a hot loop; `Duration` reads NaN as zero, too. */
export const statedMillis = (input: Duration.Input | undefined): number | undefined => {
  if (input === undefined || (typeof input === "number" && Number.isNaN(input))) return undefined
  try {
    const millis = Duration.toMillis(input)
    return Number.isFinite(millis) && millis > 0 ? millis : undefined
  } catch {
    return undefined
  }
}
