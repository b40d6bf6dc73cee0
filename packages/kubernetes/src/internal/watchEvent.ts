/** Reads one line of a watch, pure. Whatever is not an event of the protocol is told apart, never handed on as data (B1, B12). */
import type { WatchEvent } from "@fixpoint/core/ApiClient"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import { isRecord, storedFault } from "./stored.ts"

export type Line =
  | { readonly _tag: "Event"; readonly event: WatchEvent }
  /** An ERROR event and the HTTP code that it stands for (F55). */
  | { readonly _tag: "Error"; readonly code: number; readonly status: unknown }
  | { readonly _tag: "Malformed"; readonly message: string }

const malformed = (message: string): Line => ({ _tag: "Malformed", message })

const initialEventsEnd = "k8s.io/initial-events-end"

const bookmark = (object: unknown): Line => {
  const metadata = isRecord(object) ? object.metadata : undefined
  if (!isRecord(metadata) || typeof metadata.resourceVersion !== "string" || metadata.resourceVersion === "") {
    return malformed("a BOOKMARK without resourceVersion")
  }
  const annotations = isRecord(metadata.annotations) ? metadata.annotations : {}
  return {
    _tag: "Event",
    event: {
      type: "BOOKMARK",
      resourceVersion: metadata.resourceVersion,
      initialEventsEnd: annotations[initialEventsEnd] === "true"
    }
  }
}

/** What is watched. */
export interface Watched {
  readonly resource: Resource
  readonly namespace: string | undefined
}

const changed = (type: "ADDED" | "MODIFIED" | "DELETED", { namespace, resource }: Watched, object: unknown): Line => {
  const fault = storedFault(resource, { namespace }, object)
  if (fault !== undefined) return malformed(`an event ${type} of ${fault}`)
  const stored = object as KubeObject
  // The position of the watch follows it.
  if (stored.metadata.resourceVersion === undefined) return malformed(`an event ${type} of an object without a version`)
  return { _tag: "Event", event: { type, object: stored } }
}

const errorCode = (status: unknown): number => {
  if (!isRecord(status)) return 500
  if (Number.isInteger(status.code) && Number(status.code) >= 400 && Number(status.code) < 600)
    return Number(status.code)
  return status.reason === "Expired" || status.reason === "Gone" ? 410 : 500
}

/** The meaning of a line. Texts of failures name what is wrong and never quote the line: it may hold a Secret. */
export const parse = (line: string, watched: Watched): Line => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return malformed("a line that is not JSON")
  }
  if (!isRecord(value) || typeof value.type !== "string") return malformed("a line without a type")
  switch (value.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return changed(value.type, watched, value.object)
    case "BOOKMARK":
      return bookmark(value.object)
    case "ERROR":
      return { _tag: "Error", code: errorCode(value.object), status: value.object }
    default:
      return malformed("an event of an unknown type")
  }
}
