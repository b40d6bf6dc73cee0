/** The formats of texts that a schema may ask for, as the server reads them. Unknown formats, and those of other types, are ignored by it (F146). */

const isDate = (text: string): boolean => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number]
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1]!
}

const isDateTime = (text: string): boolean => {
  const [date, time] = text.toLowerCase().split("t")
  if (date === undefined || time === undefined || !isDate(date)) return false
  const parts = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time)
  return parts !== null && parts[1]! <= "23" && parts[2]! <= "59" && parts[3]! <= "59"
}

const isDuration = (text: string): boolean =>
  /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text) ||
  /\d+\s*(?:ns|nano|us|µs|micro|ms|milli|s\b|sec|m\b|min|h\b|hr|hour|d\b|day|w\b|week)/i.test(text)

/** Leading zeros pass, as they did in old versions of Go. */
const isDotted = (text: string): boolean => {
  const parts = text.split(".")
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255)
}

const isColoned = (text: string): boolean => {
  if (!text.includes(":")) return false
  const halves = text.split("::")
  if (halves.length > 2) return false
  let groups = 0
  for (const [at, half] of halves.entries()) {
    const parts = half === "" ? [] : half.split(":")
    for (const [index, part] of parts.entries()) {
      const last = at === halves.length - 1 && index === parts.length - 1
      if (/^[0-9a-f]{1,4}$/i.test(part)) groups++
      else if (last && isDotted(part)) groups += 2
      else return false
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8
}

const isIp = (text: string): boolean => isDotted(text) || isColoned(text)

const isCidr = (text: string): boolean => {
  const [ip, bits, ...rest] = text.split("/")
  if (ip === undefined || bits === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false
  return isDotted(ip) ? Number(bits) <= 32 : isColoned(ip) && Number(bits) <= 128
}

const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u

const bytes = (text: string): number => new TextEncoder().encode(text).length

const isHostname = (text: string): boolean =>
  bytes(text) <= 255 && text.split(".").every((part) => bytes(part) <= 63) && hostname.test(text)

const uuid = (version: string): RegExp => new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?[0-9a-f]{12}$`, "i")

const isIsbn10 = (text: string): boolean => {
  const digits = text.replaceAll(/[\s-]/g, "")
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  return [...digits].reduce((sum, digit, at) => sum + (at + 1) * (digit === "X" ? 10 : Number(digit)), 0) % 11 === 0
}

const isIsbn13 = (text: string): boolean => {
  const digits = text.replaceAll(/[\s-]/g, "")
  return (
    /^\d{13}$/.test(digits) &&
    [...digits].reduce((sum, digit, at) => sum + (at % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0
  )
}

const creditCard =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/

const isCreditCard = (text: string): boolean => {
  const digits = text.replaceAll(/\D/g, "")
  if (!creditCard.test(digits)) return false
  const sum = [...digits].toReversed().reduce((total, digit, at) => {
    const value = at % 2 === 0 ? Number(digit) : Number(digit) * 2
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

const like =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text)

const channel = String.raw`\s*(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*`
const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"

/** By name without hyphens. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: like(/^[0-9a-fA-F]{24}$/),
  uri: like(/^(?:\/|[a-z][a-z0-9+.-]*:)[^\s]*$/i),
  email: like(/^(?:[^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/),
  hostname: isHostname,
  ipv4: (text) => isIp(text) && text.includes("."),
  ipv6: isColoned,
  cidr: isCidr,
  mac: like(
    /^(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}(?:(?:[0-9a-f]{2}\1){2}|(?:[0-9a-f]{2}\1){14})?[0-9a-f]{2}$|^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?$/i
  ),
  uuid: like(uuid("[0-9a-f]{4}-?[0-9a-f]{4}")),
  uuid3: like(uuid("3[0-9a-f]{3}-?[0-9a-f]{4}")),
  uuid4: like(uuid("4[0-9a-f]{3}-?[89ab][0-9a-f]{3}")),
  uuid5: like(uuid("5[0-9a-f]{3}-?[89ab][0-9a-f]{3}")),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: like(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: like(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: like(new RegExp(`^rgb\\(${channel},${channel},${channel}\\)$`)),
  byte: like(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && new RegExp(`^${label}$`).test(text),
  k8slongname: (text) => text.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`).test(text)
}

/** How texts of the format are told; undefined if the server knows no such format. */
export const formatOf = (name: string): ((text: string) => boolean) | undefined => {
  const normalized = name.replaceAll("-", "")
  return Object.hasOwn(formats, normalized) ? formats[normalized] : undefined
}
