/** Pods: what a server makes of them beside their schema, up to the first status. Nobody schedules or runs them. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindRules } from "./definition.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
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
    if (live !== undefined || !isObject(pod.spec)) return pod
    const { spec } = pod
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
  }
}
