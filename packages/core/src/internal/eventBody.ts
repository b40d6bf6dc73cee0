/**
 * The parts of an Event that both APIs share (see `eventsApi.ts`), within the limits that the server holds them to: bytes, not characters, and in core/v1 only
 * because `eventTime` is set (F148, F149, P16). Pure; whatever is said, a real server takes it (B79, B80, B86).
 */
import type { PostingPolicy, Subject } from "../PostingPolicy.ts"
import { cutEnd, cutMiddle } from "./text.ts"

/** Where an Event lives, and which namespace it says its object has; `undefined` for the empty one. */
export interface Place {
  readonly namespace: string
  readonly involved: string | undefined
}

/**
 * The object's own namespace. For one in cluster scope: `default` with none said, the only form that `kubectl describe` shows, or the operator's own
 * (D20, F152, P13).
 */
export const placeOf = (
  about: Subject,
  clusterScoped: PostingPolicy["clusterScopedEvents"],
  ownNamespace: string
): Place => {
  const { namespace } = about.metadata
  if (namespace !== undefined && namespace !== "") return { namespace, involved: namespace }
  if (clusterScoped === "describable") return { namespace: "default", involved: undefined }
  const own = ownNamespace === "" ? "default" : ownNamespace
  return { namespace: own, involved: own }
}

/** Who reports. */
export interface Reporter {
  /** A qualified name: a name of at most 63 bytes, with a prefix or without (F150). */
  readonly component: string
  /** At most 128 bytes. */
  readonly instance: string
}

const edges = /^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g

/** A reporter that the server takes, made from any names (B86). */
export const reporterFrom = (component: string, instance: string): Reporter => {
  const slash = component.indexOf("/")
  const name = component
    .slice(slash + 1)
    .replace(/[^-A-Za-z0-9_.]+/g, "-")
    .replace(edges, "")
    .slice(0, 63)
    .replace(edges, "")
  const prefix = component
    .slice(0, Math.max(0, slash))
    .toLowerCase()
    .split(".")
    .map((label) =>
      label
        .replace(/[^-a-z0-9]+/g, "-")
        .slice(0, 63)
        .replace(edges, "")
    )
    .filter((label) => label !== "")
    .join(".")
    .slice(0, 253)
    .replace(edges, "")
  const qualified = `${prefix === "" ? "" : `${prefix}/`}${name === "" ? "fixpoint" : name}`
  return { component: qualified, instance: cutEnd(instance, 128) || cutEnd(qualified, 128) }
}

/** The times that a server reads: years of four digits, from the second after the one that Go takes for no time at all. */
const firstTime = -62_135_596_799_000
const lastTime = 253_402_300_799_999

const iso = (millis: number): string => new Date(millis >= firstTime && millis <= lastTime ? millis : 0).toISOString()

/** Exactly six digits of a second's fraction: any other number of them is refused (P17, F153). */
export const microTime = (millis: number): string => iso(millis).replace("Z", "000Z")

/** In whole seconds. */
export const wholeTime = (millis: number): string => iso(millis).replace(/\.\d+Z$/, "Z")

/** What an Event says, beside whom it is about. */
export interface Words {
  readonly type: string
  readonly reason: string
  readonly action: string
  readonly message: string
}

/** Cut to what a server takes. An empty reason is refused, so it gets a word (F149). */
export const fitted = ({ action, message, reason, type }: Words): Words => {
  const word = cutEnd(reason, 128) || "Unspecified"
  return {
    type: wordOr(type, "Normal"),
    reason: word,
    action: cutEnd(action, 128) || word,
    message: cutMiddle(message, 1_024)
  }
}

const wordOr = (text: string, otherwise: string): string => cutEnd(text, 128) || otherwise
