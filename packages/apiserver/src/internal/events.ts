/** Events: one object in two forms, and limits that depend on the form and on eventTime (F148 to F156). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindRules } from "./definition.ts"
import { equals, isObject, type JsonObject } from "./json.ts"
import { microMistake, microTime } from "./microTime.ts"
import { isLonger, qualifiedMistakes, seconds } from "./objectMeta.ts"
import { fieldInvalid, fieldRequired } from "./refusal.ts"

const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"]

export const coreFields: Readonly<Record<string, string>> = {
  ...Object.fromEntries(involved.map((field) => [`involvedObject.${field}`, `involvedObject.${field}`])),
  reason: "reason",
  reportingComponent: "reportingComponent",
  source: "source.component",
  type: "type"
}

export const newFields: Readonly<Record<string, string>> = {
  ...Object.fromEntries(involved.map((field) => [`regarding.${field}`, `regarding.${field}`])),
  reason: "reason",
  reportingController: "reportingController",
  type: "type"
}

/** The names that differ, core first. */
const renamed = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"]
] as const

const rename = (event: KubeObject, apiVersion: string, from: 0 | 1): KubeObject => {
  if (event.apiVersion === apiVersion) return event
  const names = new Map<string, string>(renamed.map((pair) => [pair[from], pair[from === 0 ? 1 : 0]]))
  const out: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(event)) out[names.get(field) ?? field] = value
  return { ...out, apiVersion } as KubeObject
}

/** Everything that the core form always bears (F156). */
const complete = (event: KubeObject): KubeObject => ({
  ...event,
  involvedObject: event.involvedObject ?? {},
  source: event.source ?? {},
  firstTimestamp: event.firstTimestamp ?? null,
  lastTimestamp: event.lastTimestamp ?? null,
  eventTime: event.eventTime ?? null,
  reportingComponent: event.reportingComponent ?? "",
  reportingInstance: event.reportingInstance ?? "",
  ...(isObject(event.series) && {
    series: { ...event.series, lastObservedTime: event.series.lastObservedTime ?? null }
  })
})

export const toCore = (event: KubeObject): KubeObject => complete(rename(event, "v1", 1))

export const fromCore = (event: KubeObject): KubeObject => {
  const renamedEvent = rename(event, "events.k8s.io/v1", 0)
  return Object.fromEntries(
    Object.entries(renamedEvent).filter(
      ([field, value]) => !((field === "reportingController" || field === "reportingInstance") && value === "")
    )
  ) as unknown as KubeObject
}

const text = (u: unknown): string => (typeof u === "string" ? u : "")

const limited = (event: JsonObject, field: string, most: number): ReadonlyArray<StatusCause> =>
  isLonger(text(event[field]), most) ? [fieldInvalid(field, "", `can have at most ${most} characters`)] : []

const required = (event: JsonObject, field: string): ReadonlyArray<StatusCause> =>
  text(event[field]) === "" ? [fieldRequired(field)] : []

/** With eventTime (F149, F150). Judged in the core form. */
const timed = (event: KubeObject, reporter: string): ReadonlyArray<StatusCause> => {
  const component = text(event.reportingComponent)
  return [
    ...(component === "" ? [fieldRequired(reporter)] : []),
    ...qualifiedMistakes(component).map((mistake) => fieldInvalid(reporter, component, mistake)),
    ...required(event, "reportingInstance"),
    ...limited(event, "reportingInstance", 128),
    ...required(event, "action"),
    ...limited(event, "action", 128),
    ...required(event, "reason"),
    ...limited(event, "reason", 128),
    ...limited(event, "message", 1024)
  ]
}

/** What only events.k8s.io demands (F151). */
const strict = (event: KubeObject): ReadonlyArray<StatusCause> => {
  const unset = (field: string, isUnset: boolean): ReadonlyArray<StatusCause> =>
    isUnset ? [] : [fieldInvalid(field, "", "needs to be unset")]
  const type = text(event.type)
  return [
    ...seriesCauses(event),
    ...(event.eventTime === null ? [fieldRequired("eventTime")] : []),
    ...(type === "Normal" || type === "Warning" ? [] : [fieldInvalid("type", "", `has invalid value: ${type}`)]),
    ...unset("firstTimestamp", event.firstTimestamp === null),
    ...unset("lastTimestamp", event.lastTimestamp === null),
    ...unset("count", event.count === undefined || event.count === 0),
    ...unset("source", isObject(event.source) && Object.keys(event.source).length === 0)
  ]
}

const seriesCauses = ({ series }: KubeObject): ReadonlyArray<StatusCause> => {
  if (!isObject(series)) return []
  return [
    ...(typeof series.count === "number" && series.count >= 2
      ? []
      : [fieldInvalid("series.count", "", "should be at least 2")]),
    ...(series.lastObservedTime === undefined || series.lastObservedTime === null
      ? [fieldRequired("series.lastObservedTime")]
      : [])
  ]
}

/** In the core form a wrong namespace of the object is told of under either API by its core name (F152). */
const namespaceCauses = (event: KubeObject, isTimed: boolean): ReadonlyArray<StatusCause> => {
  const own = event.metadata.namespace ?? ""
  const said = isObject(event.involvedObject) ? text(event.involvedObject.namespace) : ""
  const cause = [fieldInvalid("involvedObject.namespace", said, "does not match event.namespace")]
  if (said === "") {
    return own === "default" || (isTimed && own === "kube-system") ? [] : cause
  }
  return isTimed || said === own ? [] : cause
}

/** By events.k8s.io only the series may change (F155). A real server tells of the reason twice. */
const immutable = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "reason",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingController",
  "reportingInstance"
]

const valueOf = (event: KubeObject, field: string): unknown =>
  event[field === "reportingController" ? "reportingComponent" : field] ?? null

/** Of a change through events.k8s.io. */
const changed = (event: KubeObject, live: KubeObject): ReadonlyArray<StatusCause> => [
  ...(equals(event.series, live.series) ? [] : seriesCauses(event)),
  ...immutable
    .filter((field) => !equals(valueOf(event, field), valueOf(live, field)))
    .map((field) => fieldInvalid(field, valueOf(event, field), "field is immutable"))
]

export const rules: KindRules = {
  undecodable: (event) => {
    const { series } = event
    return microMistake(event.eventTime) ?? (isObject(series) ? microMistake(series.lastObservedTime) : undefined)
  },
  defaults: (event) => {
    const times: Record<string, unknown> = {}
    if (typeof event.eventTime === "string") times.eventTime = microTime(event.eventTime)
    for (const field of ["firstTimestamp", "lastTimestamp", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"]) {
      const value = event[field]
      if (typeof value === "string") times[field] = seconds(value) ?? value
    }
    return { ...event, ...times }
  },
  prepare: (event) => toCore(event),
  validate: (event, live, { version }) => {
    const isNewer = version === "events.k8s.io/v1"
    const isTimed = event.eventTime !== null
    return [
      ...namespaceCauses(event, isTimed),
      ...(isTimed ? timed(event, isNewer ? "reportingController" : "reportingComponent") : []),
      ...(isNewer ? (live === undefined ? strict(event) : changed(event, live)) : [])
    ]
  }
}
