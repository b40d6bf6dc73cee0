/** Get and list: versions, pages and selectors (F34, F35, F39 to F48). Objects are answered as they are stored, not copied. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { StatusCause } from "@fixpoint/core/ApiError"
import { keyOf, type Definition } from "./definition.ts"
import * as History from "./history.ts"
import * as Refusal from "./refusal.ts"
import type { Request, Response } from "./request.ts"
import * as Selectors from "./selector.ts"
import * as SortedMap from "./sortedMap.ts"
import { find, stored, type State } from "./state.ts"

/** The largest version that the server can read. */
const versionText = /^\d+$/

const parseFailure = (text: string): string =>
  `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`

/** The version that a read asks for; 0 if none. A get or watch says a bad one by 500, a list by 400 (F40). */
export const versionOf = (text: string | undefined, verb: "get" | "list"): number => {
  if (text === undefined || text === "") return 0
  if (versionText.test(text)) return Number(text)
  throw verb === "get"
    ? Refusal.internal(parseFailure(text))
    : Refusal.badRequest(`invalid resource version: ${parseFailure(text)}`)
}

const checkFuture = (state: State, rv: number): void => {
  if (rv > state.rv) throw Refusal.tooLargeVersion(rv, state.rv)
}

export const get = (
  state: State,
  definition: Definition,
  namespace: string | undefined,
  request: Request
): Response => {
  const name = request.name!
  checkFuture(state, versionOf(request.query.resourceVersion, "get"))
  const object = find(state, definition.resource, keyOf(namespace, name))
  if (object === undefined) throw Refusal.notFound(definition, name)
  return { code: 200, body: definition.fromStorage(object), warnings: [] }
}

/** Throws a 422 where the options of a list or watch do not go together (F39, F59, F67). */
export const checkListOptions = (query: Request["query"], watch: boolean): void => {
  const { resourceVersion = "", resourceVersionMatch: match = "", sendInitialEvents: initial } = query
  const causes: Array<StatusCause> = []
  const forbid = (field: string, text: string): void => {
    causes.push(Refusal.fieldForbidden(field, text))
  }
  const field = "resourceVersionMatch"
  if (watch) {
    if (initial === undefined) {
      if (match !== "")
        forbid(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
    } else {
      if (match !== "NotOlderThan") {
        forbid(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
      }
      if (match !== "" && match !== "NotOlderThan") {
        causes.push(Refusal.fieldUnsupported(field, match, ["NotOlderThan"]))
      }
    }
  } else {
    if (initial !== undefined) forbid("sendInitialEvents", "sendInitialEvents is forbidden for list")
    if (match !== "") {
      if (resourceVersion === "") {
        forbid(field, "resourceVersionMatch is forbidden unless resourceVersion is provided")
      }
      if ((query.continue ?? "") !== "") {
        forbid(field, "resourceVersionMatch is forbidden when continue is provided")
      }
      if (match !== "Exact" && match !== "NotOlderThan") {
        causes.push(Refusal.fieldUnsupported(field, match, ["Exact", "NotOlderThan", ""]))
      }
      if (match === "Exact" && resourceVersion === "0") {
        forbid(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
      }
    }
  }
  if (causes.length > 0) throw Refusal.invalid({ kind: "ListOptions", group: "meta.k8s.io" }, "", causes)
}

interface Token {
  /** -1 for the newest version, after an expiry (F45). */
  readonly rv: number
  /** The key from which the page begins, without the namespace of the list. */
  readonly start: string
}

const encodeToken = ({ rv, start }: Token): string => base64url(JSON.stringify({ v: "meta.k8s.io/v1", rv, start }))

const decodeToken = (text: string): Token => {
  const bad = (why: string) => Refusal.badRequest(`invalid continue token: continue key is not valid: ${why}`)
  let value: unknown
  try {
    value = JSON.parse(unbase64url(text))
  } catch {
    throw bad("invalid character looking for beginning of value")
  }
  const token = value as { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown } | null
  if (token === null || token.v !== "meta.k8s.io/v1") throw bad("server does not recognize this encoded version")
  if (typeof token.rv !== "number" || typeof token.start !== "string" || token.start === "" || token.rv === 0) {
    throw bad("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
  }
  return { rv: token.rv, start: token.start }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** Unpadded. */
const base64url = (text: string): string => {
  const data = new TextEncoder().encode(text)
  let out = ""
  for (let i = 0; i < data.length; i += 3) {
    const [a = 0, b = 0, c = 0] = [data[i], data[i + 1], data[i + 2]]
    out += alphabet[a >> 2]! + alphabet[((a & 3) << 4) | (b >> 4)]!
    if (i + 1 < data.length) out += alphabet[((b & 15) << 2) | (c >> 6)]!
    if (i + 2 < data.length) out += alphabet[c & 63]!
  }
  return out
}

const unbase64url = (text: string): string => {
  const out: Array<number> = []
  let bits = 0
  let count = 0
  for (const letter of text) {
    const value = alphabet.indexOf(letter)
    if (value < 0) throw new Error("not base64url")
    bits = ((bits << 6) | value) & 0xffff
    count += 6
    if (count >= 8) {
      count -= 8
      out.push((bits >> count) & 255)
    }
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(out))
}

const limitOf = (text: string | undefined): number => {
  if (text === undefined || text === "") return 0
  if (!/^-?\d+$/.test(text))
    throw Refusal.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Math.max(0, Number(text))
}

/** Which list: from which key, as of which version (undefined: the newest), how long (0: whole). */
interface Plan {
  readonly from: string
  readonly as: number | undefined
  readonly limit: number
}

const plan = (state: State, definition: Definition, prefix: string, { query }: Request): Plan => {
  checkListOptions(query, false)
  const said = query.resourceVersion ?? ""
  const rv = versionOf(said, "list")
  const limit = limitOf(query.limit)
  limitOf(query.timeoutSeconds)
  const token = query.continue ?? ""
  if (token !== "") {
    const { rv: as, start } = decodeToken(token)
    if (rv !== 0) throw Refusal.badRequest("specifying resource version is not allowed when using continue")
    const from = prefix + start.slice(1)
    if (as < 0) return { from, as: undefined, limit }
    if (as < stored(state, definition.resource).history.since) {
      throw Refusal.expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        encodeToken({ rv: -1, start })
      )
    }
    return { from, as, limit }
  }
  checkFuture(state, rv)
  if (query.resourceVersionMatch === "Exact" || (limit > 0 && rv > 0 && query.resourceVersionMatch === undefined)) {
    if (rv < stored(state, definition.resource).history.since) {
      throw Refusal.expired("The resourceVersion for the provided list is too old.")
    }
    return { from: prefix, as: rv, limit }
  }
  // From the watch cache a list is never cut (F42).
  return { from: prefix, as: undefined, limit: said === "0" ? 0 : limit }
}

const objectsAt = (state: State, definition: Definition, as: number | undefined): SortedMap.SortedMap<KubeObject> => {
  const { history, objects } = stored(state, definition.resource)
  return as === undefined || as >= state.rv ? objects : History.rewind(history, objects, as)
}

export const list = (
  state: State,
  definition: Definition,
  namespace: string | undefined,
  request: Request
): Response => {
  const { query } = request
  const selector = Selectors.both(query.labelSelector, query.fieldSelector, definition.fieldLabels)
  const prefix = namespace === undefined ? "" : `${namespace}/`
  const { as, from, limit } = plan(state, definition, prefix, request)
  const rv = as ?? state.rv
  const objects = objectsAt(state, definition, as)
  const items: Array<KubeObject> = []
  let next: string | undefined
  let lastKey = ""
  let remaining = 0
  SortedMap.visitFrom(objects, from, (object, key) => {
    if (!key.startsWith(prefix)) return false
    if (limit > 0 && items.length === limit) {
      // Only objects that are left matter now; with a selector nobody counts them.
      next ??= lastKey
      remaining++
      return selector === undefined
    }
    lastKey = key
    const shown = definition.fromStorage(object)
    if (selector === undefined || selector(shown)) items.push(shown)
    return true
  })
  const token = next === undefined ? undefined : encodeToken({ rv, start: `/${next.slice(prefix.length)}\u0000` })
  const { apiVersion, custom, listKind: kind } = definition
  const remainingItemCount = token !== undefined && selector === undefined ? { remainingItemCount: remaining } : {}
  const resourceVersion = String(rv)
  return {
    code: 200,
    // In the order of the real server: by name where nothing is known of the kind, else as its type has the fields.
    body: custom
      ? { apiVersion, items, kind, metadata: { continue: token ?? "", ...remainingItemCount, resourceVersion } }
      : {
          kind,
          apiVersion,
          metadata: { resourceVersion, ...(token !== undefined && { continue: token }), ...remainingItemCount },
          items
        },
    warnings: [],
    bareItems: !custom
  }
}
