/** Deployments: what may not change (F83); they are stored only, no controller makes Pods of them. PersistentVolumeClaims: what protects them (F111). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindRules } from "./definition.ts"
import { equals, isList, isObject, type JsonObject } from "./json.ts"
import { podSpecCauses, restartCauses, selectorCauses } from "./podValidation.ts"
import { fieldForbidden, fieldInvalid, fieldRequired } from "./refusal.ts"

/** An image without a tag, or with the tag latest, is always pulled. */
const pullPolicy = (image: unknown): string => {
  const name = typeof image === "string" ? image.slice(image.lastIndexOf("/") + 1) : ""
  return name.includes("@") || (name.includes(":") && !name.endsWith(":latest")) ? "IfNotPresent" : "Always"
}

const withPullPolicy = (container: unknown): unknown =>
  isObject(container) && container.imagePullPolicy === undefined
    ? { ...container, imagePullPolicy: pullPolicy(container.image) }
    : container

/** A volume of no type is an empty one. */
const withType = (volume: unknown): unknown =>
  isObject(volume) && Object.keys(volume).every((key) => key === "name") ? { ...volume, emptyDir: {} } : volume

const podDefaults = (spec: JsonObject): JsonObject => ({
  ...spec,
  ...(isList(spec.volumes) && { volumes: spec.volumes.map(withType) }),
  ...(isList(spec.containers) && { containers: spec.containers.map(withPullPolicy) }),
  ...(isList(spec.initContainers) && { initContainers: spec.initContainers.map(withPullPolicy) })
})

const inside = (value: unknown, [head, ...rest]: ReadonlyArray<string>): unknown => {
  if (!isObject(value)) return value
  return head === undefined ? podDefaults(value) : { ...value, [head]: inside(value[head], rest) }
}

/** Times that Go writes as null where a condition has none. */
const withTimes = (status: unknown, times: ReadonlyArray<string>): unknown => {
  if (!isObject(status) || !isList(status.conditions)) return status
  const conditions = status.conditions.map((condition) =>
    isObject(condition) ? { ...Object.fromEntries(times.map((time) => [time, null])), ...condition } : condition
  )
  return { ...status, conditions }
}

/** Kinds that hold the spec of a Pod at this path in their own spec, and whose conditions have these times. Those of templates run for ever, unless they end. */
export const podRules = (
  path: ReadonlyArray<string>,
  times: ReadonlyArray<string> = ["lastTransitionTime"],
  ends = false
): KindRules => ({
  validate: ({ spec }, _, { subresource }) => {
    if (subresource === "status") return []
    const field = ["spec", ...path].join(".")
    const own = path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), spec)
    return [...podSpecCauses(own, field), ...(path.length === 0 ? [] : restartCauses(own, field, ends))]
  },
  defaults: (object) =>
    ({
      ...object,
      spec: inside(object.spec, path),
      ...(object.status !== undefined && { status: withTimes(object.status, times) })
    }) as KubeObject
})

const rules = podRules(["template", "spec"], ["lastTransitionTime", "lastUpdateTime"])

/** A rolling update is by quarters where it does not say otherwise. */
const withStrategy = (deployment: KubeObject): KubeObject => {
  const { spec } = deployment
  if (!isObject(spec) || !isObject(spec.strategy) || spec.strategy.type !== "RollingUpdate") return deployment
  const rollingUpdate = isObject(spec.strategy.rollingUpdate) ? spec.strategy.rollingUpdate : {}
  const filled = { maxUnavailable: "25%", maxSurge: "25%", ...rollingUpdate }
  return { ...deployment, spec: { ...spec, strategy: { ...spec.strategy, rollingUpdate: filled } } }
}

export const deploymentRules: KindRules = {
  ...rules,
  defaults: (deployment) => withStrategy(rules.defaults!(deployment)),
  prepare: (deployment) => (isObject(deployment.status) ? deployment : { ...deployment, status: {} }),
  validate: (deployment, live, request) => [
    ...selectingCauses(deployment, live, request, () => rules.validate!(deployment, live, request)),
    ...strategyCauses(deployment.spec)
  ]
}

/** What lies between is told after what the selector must hold, and before that it may not change. */
const selectingCauses = (
  { spec }: KubeObject,
  live: KubeObject | undefined,
  { subresource }: { readonly subresource: string | undefined },
  between: () => ReadonlyArray<StatusCause>
): ReadonlyArray<StatusCause> => {
  if (subresource === "status") return []
  const { selector } = isObject(spec) ? spec : {}
  const before = isObject(live?.spec) ? live.spec.selector : undefined
  return [
    ...(isObject(selector) ? [] : [fieldRequired("spec.selector")]),
    ...(isObject(selector) && Object.keys(selector).length === 0
      ? [fieldInvalid("spec.selector", selector, "empty selector is invalid for deployment")]
      : selectorCauses(spec)),
    ...between(),
    ...(before !== undefined && !equals(before, selector)
      ? [fieldInvalid("spec.selector", selector ?? null, "field is immutable")]
      : [])
  ]
}

const strategyCauses = (spec: unknown): ReadonlyArray<StatusCause> => {
  const { strategy } = isObject(spec) ? spec : {}
  return isObject(strategy) && strategy.type === "Recreate" && strategy.rollingUpdate !== undefined
    ? [fieldForbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")]
    : []
}

const replicated = podRules(["template", "spec"])

/** Of ReplicaSets and StatefulSets. */
export const replicaRules: KindRules = {
  ...replicated,
  validate: (set, live, request) => selectingCauses(set, live, request, () => replicated.validate!(set, live, request))
}

const templateGeneration = "deprecated.daemonset.template.generation"

const daemon = podRules(["template", "spec"])

/** An old annotation counts the changes of the template. */
export const daemonSetRules: KindRules = {
  ...daemon,
  defaults: (set) => {
    const filled = daemon.defaults!(set)
    return {
      ...filled,
      metadata: { ...filled.metadata, annotations: { [templateGeneration]: "1", ...filled.metadata.annotations } }
    }
  },
  validate: (set, live, request) => [
    ...(request.subresource === "status" ? [] : selectorCauses(set.spec)),
    ...daemon.validate!(set, live, request)
  ],
  prepare: (set, live) => {
    if (live === undefined) return set
    const before = Number(live.metadata.annotations?.[templateGeneration] ?? 1)
    const isSame = equals(templateOf(set), templateOf(live))
    const annotations = { ...set.metadata.annotations, [templateGeneration]: String(isSame ? before : before + 1) }
    return { ...set, metadata: { ...set.metadata, annotations } }
  }
}

const templateOf = ({ spec }: KubeObject): unknown => (isObject(spec) ? spec.template : undefined)

const protection = "kubernetes.io/pvc-protection"

export const persistentVolumeClaimRules: KindRules = {
  prepare: (claim, live) => {
    const { finalizers = [] } = claim.metadata
    if (live !== undefined || finalizers.includes(protection)) return claim
    return { ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers, protection] } }
  }
}
