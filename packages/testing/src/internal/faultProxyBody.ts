/** Finds in the bytes of an answer, as they come, where rules of a `FaultProxy` take effect. Pure. */
import type { Rule } from "../FaultProxy.ts"

/** What is known of a body of which some has been relayed. */
export interface Body {
  /** Bytes. */
  readonly relayed: number
  /** Lines that have ended. */
  readonly lines: number
  /** The beginning of a line that a rule may want to see whole. */
  readonly held: Buffer
  /** The rules that still wait for their place. */
  readonly waiting: ReadonlyArray<Rule>
}

/** What is to be done next: relay bytes, or follow a rule. */
export type Part =
  | { readonly _tag: "Bytes"; readonly bytes: Buffer }
  | { readonly _tag: "Reached"; readonly rule: Rule }

/** A longer line is relayed unseen, so that memory is bounded. */
const lineMax = 4 * 1024 * 1024

const nothing = Buffer.alloc(0)
const newline = 0x0a

export const begin = (rules: ReadonlyArray<Rule>): Body => ({
  relayed: 0,
  lines: 0,
  held: nothing,
  waiting: rules.filter(({ at }) => typeof at === "object")
})

/** Inside the first character of several bytes, else half way. */
const middleOf = (line: Buffer): number => {
  const character = line.findIndex((byte) => byte >= 0xc0)
  return character === -1 ? Math.floor(line.length / 2) : character + 1
}

/** Where in the line the rule takes effect. */
const placeIn = ({ at }: Rule, line: Buffer, { lines, relayed }: Body): number | undefined => {
  if (typeof at !== "object") return undefined
  if ("afterBytes" in at)
    return at.afterBytes - relayed <= line.length ? Math.max(0, at.afterBytes - relayed) : undefined
  const { insideLine } = at
  const isMeant =
    typeof insideLine === "number" ? insideLine === lines + 1 : line.toString("utf8").search(insideLine) !== -1
  return isMeant ? middleOf(line) : undefined
}

const relay = (body: Body, line: Buffer, parts: Array<Part>): Body => {
  const places = body.waiting
    .map((rule) => ({ rule, place: placeIn(rule, line, body) }))
    .filter((one): one is { rule: Rule; place: number } => one.place !== undefined)
    .toSorted((a, b) => a.place - b.place)
  let done = 0
  const upTo = (end: number): void => {
    if (end > done) parts.push({ _tag: "Bytes", bytes: line.subarray(done, end) })
    done = Math.max(done, end)
  }
  for (const { place, rule } of places) {
    upTo(place)
    parts.push({ _tag: "Reached", rule })
  }
  upTo(line.length)
  return {
    ...body,
    relayed: body.relayed + line.length,
    lines: body.lines + (line.at(-1) === newline ? 1 : 0),
    waiting:
      places.length === 0 ? body.waiting : body.waiting.filter((rule) => !places.some((one) => one.rule === rule))
  }
}

const looksAtLines = ({ waiting }: Body): boolean =>
  waiting.some(({ at }) => typeof at === "object" && "insideLine" in at)

/** The next chunk. */
export const take = (body: Body, chunk: Buffer): { readonly body: Body; readonly parts: ReadonlyArray<Part> } => {
  const parts: Array<Part> = []
  let next: Body = { ...body, held: nothing }
  let rest = body.held.length === 0 ? chunk : Buffer.concat([body.held, chunk])
  while (rest.length > 0 && looksAtLines(next)) {
    const end = rest.indexOf(newline) + 1
    if (end === 0 && rest.length <= lineMax) return { body: { ...next, held: rest }, parts }
    const line = end === 0 ? rest : rest.subarray(0, end)
    next = relay(next, line, parts)
    rest = rest.subarray(line.length)
  }
  if (rest.length > 0) next = relay(next, rest, parts)
  return { body: next, parts }
}

/** What was held of a last line without an end. */
export const finish = (body: Body): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  if (body.held.length > 0) relay(body, body.held, parts)
  return parts
}
