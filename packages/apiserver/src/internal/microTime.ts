/** metav1.MicroTime: exactly six fraction digits (F153, F157). */

const layout = "2006-01-02T15:04:05.000000Z07:00"

/** In the order in which Go reads a layout: what the text must go on with, and what Go calls it. */
const parts: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\d{4}/, "2006"],
  [/^-/, "-"],
  [/^\d\d/, "01"],
  [/^-/, "-"],
  [/^\d\d/, "02"],
  [/^T/, "T"],
  [/^\d\d/, "15"],
  [/^:/, ":"],
  [/^\d\d/, "04"],
  [/^:/, ":"],
  [/^\d\d/, "05"],
  [/^[.,]\d{6}/, ".000000"],
  [/^(Z|[+-]\d\d:\d\d)$/, "Z07:00"]
]

/** Go's text if the value is no such time; a missing one and null are fine. */
export const microMistake = (value: unknown): string | undefined => {
  if (typeof value !== "string") return undefined
  let rest = value
  for (const [pattern, name] of parts) {
    const match = pattern.exec(rest)
    if (match === null) {
      return `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(name)}`
    }
    rest = rest.slice(match[0].length)
  }
  return undefined
}

/** In UTC, the microseconds kept. */
export const microTime = (value: string): string => {
  const text = value.replace(",", ".")
  if (text.endsWith("Z")) return text
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? text : `${new Date(millis).toISOString().slice(0, 19)}${text.slice(19, 26)}Z`
}
