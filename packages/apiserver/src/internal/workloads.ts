/** Deployments: what may not change (F83); they are stored only, no controller makes Pods of them. PersistentVolumeClaims: what protects them (F111). */
import type { KindRules } from "./definition.ts"
import { equals, isObject } from "./json.ts"
import { fieldInvalid, fieldRequired } from "./refusal.ts"

export const deploymentRules: KindRules = {
  prepare: (deployment) => (isObject(deployment.status) ? deployment : { ...deployment, status: {} }),
  validate: ({ spec }, live) => {
    if (!isObject(spec) || !isObject(spec.selector)) return [fieldRequired("spec.selector")]
    const { selector, template } = spec
    const labels =
      isObject(template) && isObject(template.metadata) && isObject(template.metadata.labels)
        ? template.metadata.labels
        : {}
    const matches = isObject(selector.matchLabels)
      ? Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value)
      : true
    const before = isObject(live?.spec) ? live.spec.selector : undefined
    return [
      ...(matches
        ? []
        : [fieldInvalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")]),
      ...(before !== undefined && !equals(before, selector)
        ? [fieldInvalid("spec.selector", selector, "field is immutable")]
        : [])
    ]
  }
}

const protection = "kubernetes.io/pvc-protection"

export const persistentVolumeClaimRules: KindRules = {
  prepare: (claim, live) => {
    const { finalizers = [] } = claim.metadata
    if (live !== undefined || finalizers.includes(protection)) return claim
    return { ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers, protection] } }
  }
}
