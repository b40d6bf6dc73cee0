/** PriorityClasses and NetworkPolicies: what a server fills in. Nobody heeds them. */
import type { KindRules } from "./definition.ts"
import { isList, isObject } from "./json.ts"

export const priorityClassRules: KindRules = {
  defaults: (one) => ({ ...one, preemptionPolicy: one.preemptionPolicy ?? "PreemptLowerPriority" })
}

/** Where it does not say what it is about, it is about what comes in, and about what goes out if it says anything of that. */
export const networkPolicyRules: KindRules = {
  defaults: (policy) => {
    const { spec } = policy
    if (!isObject(spec) || (isList(spec.policyTypes) && spec.policyTypes.length > 0)) return policy
    const isOut = isList(spec.egress) && spec.egress.length > 0
    return { ...policy, spec: { ...spec, policyTypes: ["Ingress", ...(isOut ? ["Egress"] : [])] } }
  }
}
