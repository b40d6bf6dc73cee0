/** Reads one line of a watch, pure. Whatever is not an event of the protocol is told apart, never handed on as data (B1, B12). */
import type { WatchEvent } from "@fixpoint/core/ApiClient"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { isRecord } from "./answer.ts"

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

const isStored = (object: unknown): object is KubeObject =>
  isRecord(object) &&
  typeof object.apiVersion === "string" &&
  typeof object.kind === "string" &&
  isRecord(object.metadata) &&
  typeof object.metadata.name === "string" &&
  typeof object.metadata.resourceVersion === "string"

const errorCode = (status: unknown): number => {
  if (!isRecord(status)) return 500
  if (typeof status.code === "number" && status.code >= 400) return status.code
  return status.reason === "Expired" || status.reason === "Gone" ? 410 : 500
}

/** The meaning of a line. Texts of failures name what is wrong and never quote the line: it may hold a Secret. */
export const parse = (line: string): Line => {
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
      return isStored(value.object)
        ? { _tag: "Event", event: { type: value.type, object: value.object } }
        : malformed(`an event ${value.type} without an object`)
    case "BOOKMARK":
      return bookmark(value.object)
    case "ERROR":
      return { _tag: "Error", code: errorCode(value.object), status: value.object }
    default:
      return malformed("an event of an unknown type")
  }
}
