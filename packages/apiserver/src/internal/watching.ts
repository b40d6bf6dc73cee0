/** Watches: what one begins with, and what it makes of each change (F54 to F69). */
import type { Status } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { keyOf, type Definition } from "./definition.ts"
import * as History from "./history.ts"
import { checkListOptions, versionOf } from "./listing.ts"
import * as Refusal from "./refusal.ts"
import type { Request } from "./request.ts"
import * as Selectors from "./selector.ts"
import * as SortedMap from "./sortedMap.ts"
import { stored, type State, withVersion } from "./state.ts"

/** One line of a watch. */
export type WireEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly object: Bookmark }
  | { readonly type: "ERROR"; readonly object: Status }

/** Bears nothing but its kind and version (F66), and an annotation at the end of the initial events (F67). */
export interface Bookmark {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly resourceVersion: string
    readonly annotations?: Readonly<Record<string, string>>
  }
}

export interface Watch {
  readonly definition: Definition
  /** What comes at once. An ERROR is the last of all. */
  readonly initial: ReadonlyArray<WireEvent>
  readonly failed: boolean
  /** Changes up to this version have been told; a watch from the future waits for it (F57). */
  readonly from: number
  readonly event: (change: History.Change) => WireEvent | undefined
  readonly bookmarks: boolean
  readonly timeoutSeconds: number | undefined
}

export const bookmark = ({ apiVersion, kind }: Definition, rv: number, initialEventsEnd = false): WireEvent => ({
  type: "BOOKMARK",
  object: {
    apiVersion,
    kind,
    metadata: {
      resourceVersion: String(rv),
      ...(initialEventsEnd && { annotations: { "k8s.io/initial-events-end": "true" } })
    }
  }
})

/** Entering the selection is ADDED, leaving it DELETED with the old content and the new version (F63). */
const eventOf = (
  { fromStorage }: Definition,
  chosen: (object: KubeObject, key: string) => boolean,
  { key, object, previous, rv, type }: History.Change
): WireEvent | undefined => {
  const before = previous === undefined ? undefined : fromStorage(previous)
  const after = fromStorage(object)
  const was = before !== undefined && chosen(before, key)
  const is = type !== "DELETED" && chosen(after, key)
  if (is) return { type: was ? "MODIFIED" : "ADDED", object: after }
  if (!was) return undefined
  return { type: "DELETED", object: type === "DELETED" ? after : withVersion(before, rv) }
}

const error = (refusal: Refusal.Refusal): WireEvent => ({ type: "ERROR", object: refusal.body as Status })

const timeoutOf = (text: string | undefined): number | undefined => {
  if (text === undefined || text === "") return undefined
  if (!/^-?\d+$/.test(text))
    throw Refusal.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text) > 0 ? Number(text) : undefined
}

const flag = (text: string | undefined): boolean => text === "true" || text === "1" || text === ""

/** Throws a Refusal where the request is refused before the stream begins. */
export const open = (
  state: State,
  definition: Definition,
  namespace: string | undefined,
  { query }: Request
): Watch => {
  checkListOptions(query, true)
  const selector = Selectors.both(query.labelSelector, query.fieldSelector, definition.fieldLabels)
  const rv = versionOf(query.resourceVersion, "get")
  const prefix = namespace === undefined ? "" : keyOf(namespace, "")
  const chosen = (object: KubeObject, key: string): boolean =>
    key.startsWith(prefix) && (selector === undefined || selector(object))
  const event = (change: History.Change): WireEvent | undefined => eventOf(definition, chosen, change)
  const base = {
    definition,
    event,
    bookmarks: flag(query.allowWatchBookmarks),
    timeoutSeconds: timeoutOf(query.timeoutSeconds)
  }
  const { history, objects } = stored(state, definition.resource)
  const initial = query.sendInitialEvents
  const failed = (refusal: Refusal.Refusal): Watch => ({
    ...base,
    initial: [error(refusal)],
    failed: true,
    from: state.rv
  })
  if (initial === "true" ? true : initial === undefined && rv === 0) {
    if (rv > state.rv) return failed(Refusal.tooLargeVersion(rv, state.rv))
    const present: Array<WireEvent> = []
    SortedMap.visitFrom(objects, prefix, (object, key) => {
      if (!key.startsWith(prefix)) return false
      const shown = definition.fromStorage(object)
      if (selector === undefined || selector(shown)) present.push({ type: "ADDED", object: shown })
      return true
    })
    if (initial === "true" && base.bookmarks) present.push(bookmark(definition, state.rv, true))
    return { ...base, initial: present, failed: false, from: state.rv }
  }
  if (rv !== 0 && rv < history.since) {
    return failed(Refusal.expired(`too old resource version: ${rv} (${history.since})`))
  }
  const since = rv === 0 ? state.rv : rv
  const missed = History.after(history, since).flatMap((change) => event(change) ?? [])
  return { ...base, initial: missed, failed: false, from: Math.max(since, state.rv) }
}
