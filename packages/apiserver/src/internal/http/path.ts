/** From the target of an HTTP request to what it means, as kube-apiserver reads it. */
import type { Request } from "../request.ts"

/** A collection, an object or a subresource of one. */
export interface ResourceTarget {
  readonly _tag: "Resource"
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
  /** The old form `/api/v1/watch/...` (F64). */
  readonly watched: boolean
}

export type Target = ResourceTarget | { readonly _tag: "Other" }

export interface Url {
  /** Decoded, without slashes at its end. */
  readonly path: string
  /** Of a key that occurs twice the first value. Without prototype. */
  readonly query: Request["query"]
  readonly target: Target
}

/** Undefined where the bytes behind a `%` are none, or none of UTF-8. */
const decode = (text: string): string | undefined => {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Pairs that cannot be decoded are left out, as Go leaves them out. */
const parseQuery = (text: string): Request["query"] => {
  const out: Record<string, string> = Object.create(null) as Record<string, string>
  if (text === "") return out
  for (const pair of text.split("&")) {
    if (pair === "" || pair.includes(";")) continue
    const at = pair.indexOf("=")
    const key = decode((at < 0 ? pair : pair.slice(0, at)).replaceAll("+", " "))
    const value = at < 0 ? "" : decode(pair.slice(at + 1).replaceAll("+", " "))
    if (key !== undefined && value !== undefined && !(key in out)) out[key] = value
  }
  return out
}

/** Below a namespace these are no plurals but subresources of the namespace itself. */
const ofNamespaces: ReadonlySet<string> = new Set(["status", "finalize"])

const targetOf = (segments: ReadonlyArray<string>): Target => {
  const [root, ...below] = segments
  if (root !== "api" && root !== "apis") return { _tag: "Other" }
  const [group = "", version = "", ...rest] = root === "api" ? ["", ...below] : below
  const watched = rest[0] === "watch" && rest.length > 1
  let parts = watched ? rest.slice(1) : rest
  let namespace: string | undefined
  if (parts[0] === "namespaces" && parts.length > 2 && !ofNamespaces.has(parts[2]!)) {
    // An empty one is all of them (F167).
    namespace = parts[1] === "" ? undefined : parts[1]
    parts = parts.slice(2)
  }
  const [plural, name, ...deeper] = parts
  if (plural === undefined) return { _tag: "Other" }
  const subresource = deeper.length === 0 ? undefined : deeper.join("/")
  return { _tag: "Resource", group, version, plural, namespace, name, subresource, watched }
}

/** Undefined if the path is not one: Go's HTTP server answers 400 then, without asking anybody. */
export const parseUrl = (target: string): Url | undefined => {
  // As a client of a proxy would ask.
  const url = target.replace(/^https?:\/\/[^/?#]*(?=\/)/i, "")
  const mark = url.indexOf("?")
  const decoded = decode(mark < 0 ? url : url.slice(0, mark))
  if (decoded === undefined || decoded[0] !== "/") return undefined
  let end = decoded.length
  while (end > 1 && decoded[end - 1] === "/") end--
  const path = decoded.slice(0, end)
  return {
    path,
    query: parseQuery(mark < 0 ? "" : url.slice(mark + 1)),
    target: targetOf(path.slice(1).split("/"))
  }
}
