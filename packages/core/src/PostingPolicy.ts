/**
 * Which event calls become Events. `decide` is pure and keeps kopf's asymmetries on purpose (P1-P10, D15): `event` ignores the level, `warn` ignores
 * `enabled`, and a log record must pass six gates where people count four. What a pass says of itself, before any policy, the `Reporting` decides; what
 * is logged in it, the `EventLogger` makes into calls.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as LogLevel from "effect/LogLevel"
import { chain } from "./ReconcileError.ts"

/** Whom an event is about: any object, or what is left of one that is gone. Without a uid `kubectl describe` shows it with none. */
export interface Subject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

/** One object, any nesting of lists of them, or none: then nothing is posted, and it is no error (P5). Of more than 10,000 lists and objects the rest is passed over. */
export type About = Subject | undefined | ReadonlyArray<About>

/** A level by name, or as a number on the scale of syslog-like loggers: Debug 10, Info 20, Warn 30, Error 40, Fatal 50. */
export type Level = LogLevel.LogLevel | number

interface Call {
  readonly about: About
  /** When it was said, in milliseconds since 1970; stamped by the poster if absent (D17). */
  readonly at?: number
}

interface Explicit extends Call {
  /** A CamelCase word for programs; cut to 128 bytes. */
  readonly reason: string
  /** For people; cut in the middle to 1,024 bytes (D19). */
  readonly message: string
}

/** What someone said about an object, before any policy has judged it. */
export type EventCall =
  /** Type and reason are free text (P1). */
  | (Explicit & { readonly _tag: "event"; readonly type: string; readonly action?: string })
  | (Explicit & { readonly _tag: "info" })
  | (Explicit & { readonly _tag: "warn" })
  /** Reason and text default to those of the error (P4). */
  | (Call & {
      readonly _tag: "exception"
      readonly error?: unknown
      readonly reason?: string
      readonly message?: string
    })
  | LogCall

/** A log record, as the mirroring logger sees it (P6). */
export interface LogCall extends Call {
  readonly _tag: "log"
  readonly level: Level
  /** The formatted message, with the trace of what was logged beside it (P8). */
  readonly message: string
  /** Whether it was logged inside a pass, where the settings are known. */
  readonly inPass: boolean
  /** The engine's own book-keeping: never posted (P7). */
  readonly housekeeping: boolean
  /** Whether the logger's own level and filters let it through. */
  readonly passesLogger: boolean
  /** Whether the same pass says the same by an explicit Warning (D16). */
  readonly besideWarning: boolean
}

/** What is posted about one object. */
export interface Said {
  readonly about: Subject
  readonly type: string
  readonly reason: string
  readonly action: string
  readonly message: string
  readonly at: number | undefined
}

/** How many Events one object may fill with one (type, reason), so that a failure that repeats itself floods nobody (D18). */
export interface Budgets {
  /** What is said again within this time of the last is counted on the same Event. Zero: each saying is an Event of its own. Default 6 minutes. */
  readonly repeatsWithin: Duration.Input
  /** So many different texts have Events of their own; while there are more, the further ones share one Event, which keeps the latest. Default 10. */
  readonly textsMax: number
  /** How long a text counts as one of them after it was last said. Default 10 minutes. */
  readonly textsWithin: Duration.Input
}

/** Every saying is an Event of its own, as in kopf (P11). Only the queue of the poster bounds them. */
export const unbudgeted: Budgets = { repeatsWithin: 0, textsMax: Infinity, textsWithin: 0 }

export interface PostingPolicy {
  /** Default true. */
  readonly enabled: boolean
  /** The least level that is posted, for `info`, `warn`, `exception` and log records. Default `Info`. */
  readonly level: Level
  /** Whether log records of a pass are posted too. Default false. */
  readonly loggers: boolean
  /** Whether the log line of a failure is posted beside the explicit Warning of the same pass (D16). Default false. */
  readonly besideWarning: boolean
  /**
   * Where Events about cluster-scoped objects go (D20). `describable`: into `default` with an empty `involvedObject.namespace`, the only form that
   * `kubectl describe` shows. `operator-namespace`: into the operator's own namespace, where it does not.
   */
  readonly clusterScopedEvents: "describable" | "operator-namespace"
  /** Default: the values named at each budget (D18). */
  readonly budgets: Budgets
}

/** Posted: what is said explicitly. Not posted: what is logged (D16). */
export const standard: PostingPolicy = {
  enabled: true,
  level: "Info",
  loggers: false,
  besideWarning: false,
  clusterScopedEvents: "describable",
  budgets: { repeatsWithin: "6 minutes", textsMax: 10, textsWithin: "10 minutes" }
}

/** What kopf does by default: no counting of repeats, its duplicates and its place of cluster-scoped Events included (P9, P11, P13, D16, D20). */
export const kopf: PostingPolicy = {
  ...standard,
  besideWarning: true,
  clusterScopedEvents: "operator-namespace",
  budgets: unbudgeted
}

/** The policy in force. Default: `standard`. */
export const PostingPolicy = Context.Reference<PostingPolicy>("@fixpoint/core/PostingPolicy", {
  defaultValue: () => standard
})

const severities: Readonly<Record<LogLevel.LogLevel, number>> = {
  All: -Infinity,
  Trace: 5,
  Debug: 10,
  Info: 20,
  Warn: 30,
  Error: 40,
  Fatal: 50,
  None: Infinity
}

const severity = (level: Level): number => (typeof level === "number" ? level : severities[level])

/** The type of the Event of a log record (P8). */
const typeOfLevel = (level: Level): string => {
  const at = severity(level)
  if (at <= 10) return "Debug"
  if (at <= 20) return "Normal"
  if (at <= 30) return "Warning"
  if (at <= 40) return "Error"
  return at <= 50 ? "Fatal" : typeof level === "number" ? `Level ${level}` : level
}

const isList = (about: About): about is ReadonlyArray<About> => Array.isArray(about)

/** No more of the object than an Event names: what waits to be posted, or is counted on, must not keep whole objects in memory. */
const subjectOf = ({ apiVersion, kind, metadata: { name, namespace, uid } }: Subject): Subject => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) }
})

/** Lists and objects that one call may stand for; a list that holds lists that hold it twice over would have no end. */
const visitsMax = 10_000

/** As often as they stand in it; a list inside of itself is passed over (P5). */
const subjects = (about: About): ReadonlyArray<Subject> => {
  const found: Array<Subject> = []
  const open = new Set<About>()
  let visits = 0
  const visit = (one: About): void => {
    if (one === undefined || one === null || open.has(one) || ++visits > visitsMax) return
    if (isList(one)) {
      open.add(one)
      one.forEach(visit)
      open.delete(one)
    }
    // An Event about an Event would be told of by the next one, for ever (P15).
    else if (one.kind !== "Event" || one.apiVersion !== "v1") found.push(subjectOf(one))
  }
  visit(about)
  return found
}

const property = (value: unknown, key: string): unknown => {
  try {
    return (value as any)?.[key]
  } catch {
    return undefined
  }
}

/** The name of an error's class, or its tag; `NoneType` if there is no error (P4). */
const classOf = (given: unknown): string => {
  const error = Cause.isCause(given) ? Cause.squash(given) : given
  if (error === undefined || error === null) return "NoneType"
  for (const name of [
    property(error, "_tag"),
    property(property(error, "constructor"), "name"),
    property(error, "name")
  ])
    if (typeof name === "string" && name !== "") return name
  return "Error"
}

/** The text of an error, or of the first of its causes that has one, with what was being done; else its name. */
const textOf = (error: unknown): string => {
  if (error === undefined || error === null) return ""
  if (typeof error !== "object") return String(error)
  try {
    const operation = property(error, "operation")
    for (const value of chain(error)) {
      const message = property(value, "message")
      if (typeof message !== "string" || message === "") continue
      return typeof operation === "string" && operation !== "" ? `${operation} failed: ${message}` : message
    }
  } catch {
    // A proxy that was revoked: it has no text.
  }
  return classOf(error)
}

/** What the call says, if the policy lets it pass. */
const judge = (policy: PostingPolicy, call: EventCall): Omit<Said, "about" | "at" | "action"> | undefined => {
  const passes = (level: Level): boolean => severity(level) >= severity(policy.level)
  switch (call._tag) {
    case "event":
      return policy.enabled ? { type: call.type, reason: call.reason, message: call.message } : undefined
    case "info":
      return policy.enabled && passes("Info")
        ? { type: "Normal", reason: call.reason, message: call.message }
        : undefined
    case "warn":
      return passes("Warn") ? { type: "Warning", reason: call.reason, message: call.message } : undefined
    case "exception": {
      if (!policy.enabled || !passes("Error")) return undefined
      const message = [call.message ?? "", textOf(call.error)].filter((text) => text !== "").join(" ")
      return { type: "Error", reason: call.reason || classOf(call.error), message }
    }
    case "log":
      return policy.enabled &&
        policy.loggers &&
        passes(call.level) &&
        call.inPass &&
        call.passesLogger &&
        !call.housekeeping &&
        (policy.besideWarning || !call.besideWarning)
        ? { type: typeOfLevel(call.level), reason: "Logging", message: call.message }
        : undefined
  }
}

/**
 * What is posted of a call: one entry an object, none if the policy is against it or there is no object. Throws only at what slips past the types, and at
 * lists nested some thousands deep: the poster catches it. The action of an Event is its
 * reason unless the call names one.
 */
export const decide = (policy: PostingPolicy, call: EventCall): ReadonlyArray<Said> => {
  const said = judge(policy, call)
  if (said === undefined) return []
  const action = call._tag === "event" && call.action !== undefined ? call.action : said.reason
  return subjects(call.about).map((about) => ({ about, ...said, action, at: call.at }))
}
