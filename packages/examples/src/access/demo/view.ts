/** What the demo sees of the cluster at one moment, and what a row of its table says of an object. Pure. */
import * as Condition from "@fixpoint/core/Condition"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { RecordRow } from "./records.ts"

/** All of one namespace. */
export interface View {
  readonly scopes: ReadonlyArray<KubeObject>
  readonly roles: ReadonlyArray<KubeObject>
  readonly configMaps: ReadonlyArray<KubeObject>
  /** Of the operator, the oldest first. */
  readonly events: ReadonlyArray<KubeObject>
  /** In persisted mode: the rows of the database. */
  readonly records?: ReadonlyArray<RecordRow>
  /** Names in the registry outside of the cluster. */
  readonly registered: ReadonlyArray<string>
  /** `Role editor` to the milliseconds until it comes by itself. */
  readonly next: ReadonlyMap<string, number>
  /** One line a controller: what its queue holds. */
  readonly queues: ReadonlyArray<string>
  /** Settled since the start. */
  readonly passes: number
}

export const empty: View = {
  scopes: [],
  roles: [],
  configMaps: [],
  events: [],
  registered: [],
  next: new Map(),
  queues: [],
  passes: 0
}

/** `Role editor`. */
export const titleOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`

export const named = (objects: ReadonlyArray<KubeObject>, name: string): KubeObject | undefined =>
  objects.find(({ metadata }) => metadata.name === name)

const statusOf = (object: KubeObject | undefined): Readonly<Record<string, any>> =>
  typeof object?.status === "object" && object.status !== null ? object.status : {}

export const readyOf = (object: KubeObject | undefined): Condition.Condition | undefined =>
  Condition.find(statusOf(object).conditions, "Ready")

/** A field of the object's own status. */
export const told = (object: KubeObject | undefined, field: string): unknown => statusOf(object)[field]

export const dataOf = (configMap: KubeObject | undefined): Readonly<Record<string, string>> =>
  (configMap?.data ?? {}) as Readonly<Record<string, string>>

/** Every object with its version: two views with the same text show the same state. */
export const fingerprint = ({ configMaps, roles, scopes }: View): string =>
  [...scopes, ...roles, ...configMaps]
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
    .join("\n")

/** A line of the table of objects. */
export interface Row {
  readonly kind: string
  readonly name: string
  readonly ready: string
  readonly reason: string
  readonly message: string
  /** When it comes by itself. */
  readonly next: string
}

/** `9m58s`, `12s`, `0.4s`. */
export const duration = (millis: number): string => {
  if (millis < 950) return `${(Math.max(0, millis) / 1000).toFixed(1)}s`
  const seconds = Math.round(millis / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`
}

const counted = (count: unknown, noun: string): string => `${String(count)} ${noun}${count === 1 ? "" : "s"}`

const contentOf = (object: KubeObject): string => {
  if (object.kind === "Scope") return `roles: ${told(object, "roles") ?? "not counted"}`
  if (object.kind === "ConfigMap") return `for ${Object.keys(dataOf(object)).sort().join(", ") || "nobody"}`
  const { members, rules } = statusOf(object)
  if (rules === undefined) return ""
  return `${counted(rules, "rule")}${members === undefined ? "" : ` for ${counted(members, "member")}`}`
}

const rowOf = (view: View, object: KubeObject): Row => {
  const ready = readyOf(object)
  const next = view.next.get(titleOf(object))
  const isDeleting = object.metadata.deletionTimestamp !== undefined
  return {
    kind: object.kind,
    name: object.metadata.name,
    ready: ready?.status ?? "",
    reason: isDeleting ? "Deleting" : (ready?.reason ?? ""),
    message: ready?.message || contentOf(object),
    next: object.kind === "ConfigMap" ? "with its Role" : next === undefined ? "on a change" : `in ${duration(next)}`
  }
}

export const rowsOf = (view: View): ReadonlyArray<Row> =>
  [...view.scopes, ...view.roles, ...view.configMaps].map((object) => rowOf(view, object))

export interface EventRow {
  readonly type: string
  readonly reason: string
  readonly about: string
  readonly message: string
}

/** A core/v1 Event as a line. */
export const eventRowOf = (event: KubeObject): EventRow => {
  const { count, involvedObject, message, reason, type } = event as Readonly<Record<string, any>>
  return {
    type: type ?? "",
    reason: reason ?? "",
    about: `${involvedObject?.kind ?? ""} ${involvedObject?.name ?? ""}`,
    message: `${message ?? ""}${count > 1 ? ` (${count} times)` : ""}`
  }
}
