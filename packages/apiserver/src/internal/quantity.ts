/** Quantities of resources: `1000m`, `1024Mi`, `1e3`. The server stores each in one form (F106). */

const binary = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
const decimal = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]

/** What the server says of one that it cannot read. */
export const unreadable = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

const shape = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(n|u|m|k|M|G|T|P|E|[KMGTPE]i|[eE][+-]?\d+)?$/

const nano = 1_000_000_000n
const largest = 2n ** 63n - 1n

/** Digits that count; sums of millions of them would take seconds. */
const digitsMost = 200

/** With a one at the end in place of what is left out, so that a fraction rounds as the whole of it. */
const shortened = (digits: string): string =>
  digits.length <= digitsMost
    ? digits
    : `${digits.slice(0, digitsMost)}${/[1-9]/.test(digits.slice(digitsMost)) ? "1" : ""}`

/** The value in billionths, rounded up where it is finer; undefined if it is unreadable. */
const parse = (text: string): { readonly nanos: bigint; readonly suffix: string } | undefined => {
  const parts = shape.exec(text)
  if (parts === null) return undefined
  const [, sign, digits = "", suffix = ""] = parts
  const [before = "", behind = ""] = digits.split(".")
  // A whole number of so many digits is beyond all bounds however it goes on.
  const whole = before.replace(/^0+/, "").slice(0, digitsMost)
  const fraction = shortened(behind)
  let numerator = BigInt(`${whole}${fraction}` || "0") * nano
  let denominator = 10n ** BigInt(fraction.length)
  const power = binary.indexOf(suffix)
  const exponent = /^[eE](?=.)/.test(suffix) ? Number(suffix.slice(1)) : (decimal.indexOf(suffix) - 3) * 3
  // Beyond this every value is the largest, or the smallest.
  const bounded = Math.max(-60, Math.min(60, exponent))
  if (suffix !== "" && power > 0) numerator *= 1024n ** BigInt(power)
  else if (bounded >= 0) numerator *= 10n ** BigInt(bounded)
  else denominator *= 10n ** BigInt(-bounded)
  let nanos = (numerator + denominator - 1n) / denominator
  if (nanos > largest * nano) nanos = largest * nano
  return { nanos: sign === "-" ? -nanos : nanos, suffix }
}

const inBinary = (value: bigint): string => {
  let rest = value
  let power = 0
  while (power < binary.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n
    power++
  }
  return `${rest}${binary[power]}`
}

const inDecimal = (nanos: bigint, exponential: boolean): string => {
  let rest = nanos
  let step = 0
  while (step < decimal.length - 1 && rest % 1000n === 0n) {
    rest /= 1000n
    step++
  }
  const exponent = (step - 3) * 3
  return `${rest}${exponential ? (exponent === 0 ? "" : `e${exponent}`) : decimal[step]}`
}

/** The form in which the server stores it; undefined if it cannot be read. Numbers pass too. */
export const canonicalQuantity = (value: unknown): string | undefined => {
  const parsed = typeof value === "number" || typeof value === "string" ? parse(String(value).trim()) : undefined
  if (parsed === undefined) return undefined
  const { nanos, suffix } = parsed
  if (nanos === 0n) return "0"
  const whole = nanos % nano === 0n ? nanos / nano : undefined
  const small = nanos > -1024n * nano && nanos < 1024n * nano
  if (suffix.endsWith("i") && whole !== undefined && !small) return inBinary(whole)
  return inDecimal(nanos, /^[eE]./.test(suffix))
}
