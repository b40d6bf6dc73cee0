/** What tables print of workloads, and of what watches over them. */
import {
  type Cells,
  ageOf,
  conditionOf,
  containers,
  isDeleting,
  isSet,
  join,
  labels,
  nameOf,
  number,
  object,
  objects,
  or,
  podSpec,
  selector,
  text,
  texts
} from "./cells.ts"
import { age, humanDuration } from "./humanDuration.ts"
import type { JsonObject } from "./json.ts"

export const deployment: Cells = (one, now) => {
  const spec = object(one.spec)
  const status = object(one.status)
  return [
    nameOf(one),
    `${number(status.readyReplicas)}/${number(spec.replicas)}`,
    number(status.updatedReplicas),
    number(status.availableReplicas),
    ageOf(one, now),
    ...containers(spec.template),
    selector(spec.selector)
  ]
}

const orNone = (shown: string): string => shown || "<none>"

export const replicaSet: Cells = (one, now) => {
  const spec = object(one.spec)
  const status = object(one.status)
  return [
    nameOf(one),
    number(spec.replicas),
    number(status.replicas),
    number(status.readyReplicas),
    ageOf(one, now),
    ...containers(spec.template),
    orNone(selector(spec.selector))
  ]
}

export const statefulSet: Cells = (one, now) => {
  const spec = object(one.spec)
  return [
    nameOf(one),
    `${number(object(one.status).readyReplicas)}/${number(spec.replicas)}`,
    ageOf(one, now),
    ...containers(spec.template)
  ]
}

export const daemonSet: Cells = (one, now) => {
  const spec = object(one.spec)
  const status = object(one.status)
  return [
    nameOf(one),
    number(status.desiredNumberScheduled),
    number(status.currentNumberScheduled),
    number(status.numberReady),
    number(status.updatedNumberScheduled),
    number(status.numberAvailable),
    labels(podSpec(spec.template).nodeSelector),
    ageOf(one, now),
    ...containers(spec.template),
    orNone(selector(spec.selector))
  ]
}

/** The first that is true says what the Job is at. */
const jobStatus = (conditions: unknown, isDeleting: boolean): string => {
  const is = (type: string): boolean => conditionOf(conditions, type) === "True"
  if (is("Complete")) return "Complete"
  if (is("Failed")) return "Failed"
  if (isDeleting) return "Terminating"
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(is) ?? "Running"
}

const jobCompletions = ({ completions, parallelism }: JsonObject, succeeded: number): string => {
  if (isSet(completions)) return `${succeeded}/${number(completions)}`
  return number(parallelism) > 1 ? `${succeeded}/1 of ${number(parallelism)}` : `${succeeded}/1`
}

export const job: Cells = (one, now) => {
  const spec = object(one.spec)
  const { completionTime, conditions, startTime, succeeded } = object(one.status)
  const end = typeof completionTime === "string" ? Date.parse(completionTime) : now
  return [
    nameOf(one),
    jobStatus(conditions, isDeleting(one)),
    jobCompletions(spec, number(succeeded)),
    typeof startTime === "string" ? humanDuration(end - Date.parse(startTime)) : "",
    ageOf(one, now),
    ...containers(spec.template),
    orNone(selector(spec.selector))
  ]
}

export const cronJob: Cells = (one, now) => {
  const spec = object(one.spec)
  const { active, lastScheduleTime } = object(one.status)
  const jobSpec = object(object(spec.jobTemplate).spec)
  return [
    nameOf(one),
    text(spec.schedule),
    isSet(spec.timeZone) ? text(spec.timeZone) : "<none>",
    isSet(spec.suspend) ? (spec.suspend === true ? "True" : "False") : "<unset>",
    objects(active).length,
    isSet(lastScheduleTime) ? age(lastScheduleTime, now) : "<none>",
    ageOf(one, now),
    ...containers(jobSpec.template),
    orNone(selector(jobSpec.selector))
  ]
}

export const podDisruptionBudget: Cells = (one, now) => {
  const { maxUnavailable, minAvailable } = object(one.spec)
  const shown = (u: unknown): string => (isSet(u) ? String(u) : "N/A")
  return [
    nameOf(one),
    shown(minAvailable),
    shown(maxUnavailable),
    number(object(one.status).disruptionsAllowed),
    ageOf(one, now)
  ]
}

/** Where the metric of each type stands in a spec or status. */
const metricFields: Readonly<Record<string, string>> = {
  External: "external",
  Pods: "pods",
  Object: "object",
  Resource: "resource",
  ContainerResource: "containerResource"
}

const percent = (u: unknown): string | undefined => (isSet(u) ? `${number(u)}%` : undefined)

/** What Go prints of a quantity, also of one that is not there. */
const quantity = (u: unknown): string => (isSet(u) ? String(u) : "<nil>")

const metric = (spec: JsonObject, status: JsonObject | undefined): string => {
  const field = metricFields[text(spec.type)]
  if (field === undefined) return "<unknown type>"
  const { name, target } = object(spec[field])
  const { averageUtilization, averageValue, value } = object(target)
  const isMeasured = isSet(status?.[field])
  const current = object(object(status?.[field]).current)
  if (field === "pods") {
    return `${isMeasured ? quantity(current.averageValue) : "<unknown>"}/${quantity(averageValue)}`
  }
  if (field === "external" || field === "object") {
    if (!isSet(averageValue)) return `${isMeasured ? quantity(current.value) : "<unknown>"}/${quantity(value)}`
    return `${isSet(current.averageValue) ? quantity(current.averageValue) : "<unknown>"}/${quantity(averageValue)} (avg)`
  }
  const shown = isSet(averageValue)
    ? `${isMeasured ? quantity(current.averageValue) : "<unknown>"}/${quantity(averageValue)}`
    : `${percent(current.averageUtilization) ?? "<unknown>"}/${percent(averageUtilization) ?? "<auto>"}`
  return `${text(name)}: ${shown}`
}

const metricsMost = 2

const metrics = (specs: ReadonlyArray<JsonObject>, statuses: ReadonlyArray<JsonObject>): string => {
  if (specs.length === 0) return "<none>"
  const shown = specs.map((spec, at) => metric(spec, statuses[at])).slice(0, metricsMost)
  return `${shown.join(", ")}${specs.length > metricsMost ? ` + ${specs.length - metricsMost} more...` : ""}`
}

export const horizontalPodAutoscaler: Cells = (one, now) => {
  const spec = object(one.spec)
  const { currentMetrics, currentReplicas } = object(one.status)
  const { kind, name } = object(spec.scaleTargetRef)
  return [
    nameOf(one),
    `${text(kind)}/${text(name)}`,
    metrics(objects(spec.metrics), objects(currentMetrics)),
    isSet(spec.minReplicas) ? String(number(spec.minReplicas)) : "<unset>",
    number(spec.maxReplicas),
    number(currentReplicas),
    ageOf(one, now)
  ]
}

const modes = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"]
] as const

export const persistentVolumeClaim: Cells = (one, now) => {
  const spec = object(one.spec)
  const { accessModes, capacity, phase } = object(one.status)
  const isBound = text(spec.volumeName) !== ""
  const legacyClass = one.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"]
  return [
    nameOf(one),
    isDeleting(one) ? "Terminating" : text(phase),
    text(spec.volumeName),
    isBound ? or(object(capacity).storage, "0") : "",
    isBound ? join(modes.flatMap(([mode, short]) => (texts(accessModes).includes(mode) ? [short] : []))) : "",
    legacyClass ?? text(spec.storageClassName),
    isSet(spec.volumeAttributesClassName) ? text(spec.volumeAttributesClassName) : "<unset>",
    ageOf(one, now),
    isSet(spec.volumeMode) ? text(spec.volumeMode) : "<unset>"
  ]
}
