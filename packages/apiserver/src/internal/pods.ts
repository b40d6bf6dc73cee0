/** Pods: what a server makes of them beside their schema, up to the first status. Nobody schedules or runs them. */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindRules } from "./definition.ts"
import { equals, isList, isObject, type JsonObject } from "./json.ts"
import { fieldForbidden, fieldInvalid } from "./refusal.ts"
import { podRules } from "./workloads.ts"

const objects = (value: unknown): ReadonlyArray<JsonObject> => (isList(value) ? value.filter(isObject) : [])

const object = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** What is limited is asked for too, if nothing else is said. */
const withRequests = (container: unknown): unknown => {
  const { limits, requests } = object(object(container).resources)
  if (!isObject(container) || !isObject(limits)) return container
  return { ...container, resources: { ...object(container.resources), requests: { ...limits, ...object(requests) } } }
}

const map = (value: unknown, change: (item: unknown) => unknown): unknown => (isList(value) ? value.map(change) : value)

const withDefaults = (pod: KubeObject): KubeObject => {
  const { spec } = pod
  if (!isObject(spec)) return pod
  const { containers, initContainers } = spec
  return {
    ...pod,
    spec: {
      enableServiceLinks: true,
      ...spec,
      ...(containers !== undefined && { containers: map(containers, withRequests) }),
      ...(initContainers !== undefined && { initContainers: map(initContainers, withRequests) })
    }
  }
}

const counted = ["cpu", "memory"]

/** By what its containers ask for and are limited to. */
const qualityOf = (spec: JsonObject): string => {
  const all = [...objects(spec.containers), ...objects(spec.initContainers)].map(({ resources }) => {
    const { limits, requests } = object(resources)
    return counted.map((name) => [object(limits)[name], object(requests)[name]])
  })
  if (all.flat(2).every((value) => value === undefined || value === "0")) return "BestEffort"
  const isGuaranteed = all.flat().every(([limit, request]) => limit !== undefined && limit === request)
  return isGuaranteed ? "Guaranteed" : "Burstable"
}

/** How long a Pod stays on a node that is in trouble. */
const troubles = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]

const withTolerations = (tolerations: unknown): ReadonlyArray<unknown> => {
  const own = objects(tolerations)
  const bears = (trouble: string): boolean =>
    own.some(
      ({ effect, key, operator }) =>
        (key === trouble || (key === undefined && operator === "Exists")) &&
        (effect === "NoExecute" || effect === undefined)
    )
  return [
    ...own,
    ...troubles
      .filter((trouble) => !bears(trouble))
      .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }))
  ]
}

const common = podRules([], ["lastProbeTime", "lastTransitionTime"])

/** Priority classes are not looked up. */
export const podKindRules: KindRules = {
  defaults: (pod) => withDefaults(common.defaults!(pod)),
  prepare: (pod, live) => {
    if (!isObject(pod.spec)) return pod
    const { spec } = pod
    if (live !== undefined) {
      const { preemptionPolicy, priority } = object(live.spec)
      const before = {
        ...(priority !== undefined && { priority }),
        ...(preemptionPolicy !== undefined && { preemptionPolicy })
      }
      return { ...pod, spec: { ...before, ...spec, tolerations: withTolerations(spec.tolerations) } }
    }
    return {
      ...pod,
      spec: {
        ...spec,
        ...(spec.priorityClassName === undefined && {
          priority: spec.priority ?? 0,
          preemptionPolicy: spec.preemptionPolicy ?? "PreemptLowerPriority"
        }),
        tolerations: withTolerations(spec.tolerations)
      },
      status: { phase: "Pending", qosClass: qualityOf(spec) }
    }
  },
  validate: (pod, live, request) => [
    ...common.validate!(pod, live, request),
    ...(live === undefined ? [] : changeCauses(object(pod.spec), object(live.spec)))
  ]
}

const others =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

const lists = ["containers", "initContainers"]

/** Of a Pod that is there only images, the deadline, gates and further tolerations change. A real server shows the difference besides. */
const changeCauses = (spec: JsonObject, before: JsonObject): ReadonlyArray<StatusCause> => {
  for (const list of lists) {
    if (objects(spec[list]).length !== objects(before[list]).length) {
      return [fieldForbidden(`spec.${list}`, "pod updates may not add or remove containers")]
    }
  }
  const masked = lists.reduce<JsonObject>(
    (rest, list) => ({
      ...rest,
      [list]: objects(spec[list]).map((one, at) => ({ ...one, image: objects(before[list])[at]?.image }))
    }),
    { ...spec, activeDeadlineSeconds: 0, schedulingGates: [], tolerations: [] }
  )
  const known = { ...before, activeDeadlineSeconds: 0, schedulingGates: [], tolerations: [] }
  const isSame = equals(masked, { ...known, ...Object.fromEntries(lists.map((list) => [list, objects(before[list])])) })
  return [...deadlineCauses(spec, before), ...(isSame ? [] : [fieldForbidden("spec", others)])]
}

/** It may only come nearer. */
const deadlineCauses = (spec: JsonObject, before: JsonObject): ReadonlyArray<StatusCause> => {
  const { activeDeadlineSeconds: now } = spec
  const { activeDeadlineSeconds: then } = before
  const field = "spec.activeDeadlineSeconds"
  if (typeof then !== "number") return []
  if (typeof now !== "number")
    return [fieldInvalid(field, null, "must not update from a positive integer to nil value")]
  return then < now ? [fieldInvalid(field, now, "must be less than or equal to previous value")] : []
}
