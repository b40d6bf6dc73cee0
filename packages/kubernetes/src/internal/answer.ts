/** Reads what servers answer, pure: error bodies, Retry-After, objects and lists. */
import type { Discovered, ListPage } from "@fixpoint/core/ApiClient"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import { apiVersion } from "@fixpoint/core/KubeObject"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { isRecord, storedFault } from "./stored.ts"

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

/** What an answer says, or what it is instead of that. */
export type Read<A> = Result.Result<A, string>

const notList = Result.fail("not a list")

/** Items are given apiVersion and kind where the server leaves them out (F34). */
const asItems = (
  resource: Resource,
  namespace: string | undefined,
  list: Record<string, unknown>
): Read<ReadonlyArray<KubeObject>> => {
  // Go writes an empty list as null in places.
  const items: unknown = list.items ?? []
  if (!Array.isArray(items)) return notList
  const version = apiVersion(resource)
  for (const item of items) {
    if (!isRecord(item)) return notList
    item.apiVersion ??= version
    item.kind ??= resource.kind
    const fault = storedFault(resource, { namespace }, item)
    if (fault !== undefined) return Result.fail(`a list with ${fault}`)
  }
  return Result.succeed(items)
}

/** A page of a list of one namespace, or of all. */
export const asPage = (
  resource: Resource,
  namespace: string | undefined,
  body: unknown,
  bytes?: number
): Read<ListPage> => {
  if (!isRecord(body) || !isRecord(body.metadata) || typeof body.metadata.resourceVersion !== "string") return notList
  const { continue: next, remainingItemCount, resourceVersion } = body.metadata
  // Without its rest a list would tell that the rest is gone.
  if (typeof (next ?? "") !== "string") return Result.fail("a list whose token is no text")
  return Result.map(asItems(resource, namespace, body), (items) => ({
    items,
    resourceVersion,
    ...(bytes !== undefined && { bytes }),
    ...(typeof next === "string" && next !== "" && { continue: next }),
    ...(typeof remainingItemCount === "number" && { remainingItemCount })
  }))
}

/** What a DELETE of a collection answers: a list (F118), which need not bear a version, or from other servers a Status. */
export const asDeleted = (
  resource: Resource,
  namespace: string | undefined,
  body: unknown
): Read<ReadonlyArray<KubeObject>> => {
  if (!isRecord(body)) return notList
  return body.kind === "Status" ? Result.succeed([]) : asItems(resource, namespace, body)
}

const texts = (u: unknown): ReadonlyArray<string> =>
  Array.isArray(u) ? u.filter((x): x is string => typeof x === "string") : []

/** One resource out of an APIResourceList (F168), none if it is not in it. */
export const asDiscovered = (plural: string, body: unknown): Read<Option.Option<Discovered>> => {
  if (!isRecord(body) || !Array.isArray(body.resources)) return Result.fail("not a list of resources")
  const named = body.resources.filter(isRecord)
  const found = named.find((one) => one.name === plural)
  if (found === undefined) return Result.succeed(Option.none())
  const prefix = `${plural}/`
  return Result.succeed(
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
