/** Which rules of a `FaultProxy` a request meets. Pure. */
import type { Match, Rule } from "../FaultProxy.ts"

/** What a rule may look at. */
export interface Request {
  readonly method: string
  /** Without its query. */
  readonly path: string
  /** Without the question mark; empty if there is none. */
  readonly query: string
  readonly watch: boolean
  readonly body: string
}

/** A rule with what it has met so far. */
export interface Armed {
  readonly rule: Rule
  readonly met: number
}

export const requestOf = (method: string, target: string, body: string): Request => {
  const mark = target.indexOf("?")
  const query = mark === -1 ? "" : target.slice(mark + 1)
  const watch = new URLSearchParams(query).get("watch")
  return {
    method,
    path: mark === -1 ? target : target.slice(0, mark),
    query,
    watch: watch === "true" || watch === "1",
    body
  }
}

// A pattern that is sticky or global remembers where it stopped: the search of a text does not.
const has = (text: string, pattern: RegExp | undefined): boolean => pattern === undefined || text.search(pattern) !== -1

const matches = ({ body, method, path, query, watch }: Match, request: Request): boolean =>
  (method === undefined || method === request.method) &&
  (watch === undefined || watch === request.watch) &&
  has(request.path, path) &&
  has(request.query, query) &&
  has(request.body, body)

/** The rules that the request meets, in their order, and what is left of all: a rule that has done its last is forgotten. */
export const claim = (
  armed: ReadonlyArray<Armed>,
  request: Request
): { readonly claimed: ReadonlyArray<Rule>; readonly armed: ReadonlyArray<Armed> } => {
  const claimed: Array<Rule> = []
  const left: Array<Armed> = []
  for (const one of armed) {
    const { rule } = one
    if (!matches(rule.match, request)) {
      left.push(one)
      continue
    }
    const first = rule.nth ?? 1
    const last = first + (rule.times ?? 1) - 1
    const met = one.met + 1
    if (met >= first) claimed.push(rule)
    if (met < last) left.push({ rule, met })
  }
  return { claimed, armed: left }
}
