/** Reads what servers answer, pure: error bodies, Retry-After, objects and lists. */
import type { Discovered, ListPage } from "@fixpoint/core/ApiClient"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import { apiVersion } from "@fixpoint/core/KubeObject"
import * as Option from "effect/Option"

export const isRecord = (u: unknown): u is Record<string, unknown> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** One value of a header that may be sent several times. */
export const headerOf = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  name: string
): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value : value?.[0]
}

/** Parsed JSON, or none. */
export const parseJson = (text: string): Option.Option<unknown> => {
  try {
    return Option.some(JSON.parse(text))
  } catch {
    return Option.none()
  }
}

/**
 * The body of an answer with an error code, for `ApiError.fromAnswer`. A Status may come as text/plain (F166), an error as plain text (F36, F165);
 * a page of HTML is a proxy's and says nothing that fits one line.
 */
export const errorBody = (text: string): unknown => {
  const start = text.trimStart()
  if (start.startsWith("{")) return Option.getOrElse(parseJson(text), () => text)
  return start.startsWith("<") ? undefined : text
}

/** A day: what a server may make us wait at most, so that a wrong clock or value stops nobody for ever. */
const longestWaitSeconds = 86_400

/** Retry-After in seconds: a number, or an HTTP date judged by the server's own Date header, else by `nowMillis` (B19). */
export const retryAfterSeconds = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  nowMillis: number
): number | undefined => {
  const value = headerOf(headers, "retry-after")?.trim()
  if (value === undefined || value === "") return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.min(longestWaitSeconds, Math.max(0, seconds))
  const until = Date.parse(value)
  if (Number.isNaN(until)) return undefined
  const date = Date.parse(headerOf(headers, "date") ?? "")
  return Math.min(longestWaitSeconds, Math.max(0, Math.ceil((until - (Number.isNaN(date) ? nowMillis : date)) / 1_000)))
}

/** Anything with metadata, kind and apiVersion: a stored object, a review, a Status. */
export const asObject = (body: unknown): Option.Option<KubeObject> =>
  isRecord(body) && typeof body.kind === "string" && typeof body.apiVersion === "string" && isRecord(body.metadata)
    ? Option.some(body as unknown as KubeObject)
    : Option.none()

/** Items are given apiVersion and kind where the server leaves them out (F34). */
const asItems = (resource: Resource, list: Record<string, unknown>): Option.Option<ReadonlyArray<KubeObject>> => {
  // Go writes an empty list as null in places.
  const items: unknown = list.items ?? []
  if (!Array.isArray(items)) return Option.none()
  const version = apiVersion(resource)
  for (const item of items) {
    if (!isRecord(item) || !isRecord(item.metadata)) return Option.none()
    if (typeof item.apiVersion !== "string") item.apiVersion = version
    if (typeof item.kind !== "string") item.kind = resource.kind
  }
  return Option.some(items)
}

/** A page of a list. */
export const asPage = (resource: Resource, body: unknown): Option.Option<ListPage> => {
  if (!isRecord(body) || !isRecord(body.metadata) || typeof body.metadata.resourceVersion !== "string") {
    return Option.none()
  }
  const { continue: next, remainingItemCount, resourceVersion } = body.metadata
  return Option.map(asItems(resource, body), (items) => ({
    items,
    resourceVersion,
    ...(typeof next === "string" && next !== "" && { continue: next }),
    ...(typeof remainingItemCount === "number" && { remainingItemCount })
  }))
}

/** What a DELETE of a collection answers: a list (F118), which need not bear a version, or from other servers a Status. */
export const asDeleted = (resource: Resource, body: unknown): Option.Option<ReadonlyArray<KubeObject>> => {
  if (!isRecord(body)) return Option.none()
  return body.kind === "Status" ? Option.some([]) : asItems(resource, body)
}

const texts = (u: unknown): ReadonlyArray<string> =>
  Array.isArray(u) ? u.filter((x): x is string => typeof x === "string") : []

/** One resource out of an APIResourceList (F168). The outer none: not such a list; the inner: not in it. */
export const asDiscovered = (plural: string, body: unknown): Option.Option<Option.Option<Discovered>> => {
  if (!isRecord(body) || !Array.isArray(body.resources)) return Option.none()
  const named = body.resources.filter(isRecord)
  const found = named.find((one) => one.name === plural)
  if (found === undefined) return Option.some(Option.none())
  const prefix = `${plural}/`
  return Option.some(
    Option.some({
      plural,
      singular: typeof found.singularName === "string" ? found.singularName : "",
      kind: typeof found.kind === "string" ? found.kind : "",
      namespaced: found.namespaced === true,
      verbs: texts(found.verbs),
      subresources: named.flatMap(({ name }) =>
        typeof name === "string" && name.startsWith(prefix) ? [name.slice(prefix.length)] : []
      )
    })
  )
}
