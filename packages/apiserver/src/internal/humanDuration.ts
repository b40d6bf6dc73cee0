/** How long ago, in the two or three figures that tables show: `5s`, `3m10s`, `7h5m`, `12d`, `6y335d` (F138). */
import { seconds } from "./objectMeta.ts"

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

const two = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`

/** Of milliseconds. A clock that is ahead by less than 2 s is forgiven, more is `<invalid>`. */
export const humanDuration = (millis: number): string => {
  const inSeconds = Math.trunc(millis / second)
  if (inSeconds < -1) return "<invalid>"
  if (inSeconds < 0) return "0s"
  if (inSeconds < 120) return `${inSeconds}s`
  const minutes = Math.trunc(millis / minute)
  if (minutes < 10) return two(minutes, "m", inSeconds % 60, "s")
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(millis / hour)
  if (hours < 8) return two(hours, "h", minutes % 60, "m")
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return two(days, "d", hours % 24, "h")
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? two(years, "y", days % 365, "d") : `${years}y`
}

/** From then until `now` in milliseconds since 1970. A missing time is `<unknown>`, a text that is none `<invalid>`. */
export const age = (time: unknown, now: number): string => {
  if (typeof time !== "string" || time === "" || time === "null") return "<unknown>"
  return seconds(time) === undefined ? "<invalid>" : humanDuration(now - Date.parse(time))
}
