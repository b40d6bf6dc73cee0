/** Leases (F157, F158). */
import type { KindRules } from "./definition.ts"
import { isObject } from "./json.ts"
import { microMistake, microTime } from "./microTime.ts"
import { fieldInvalid } from "./refusal.ts"

const times = ["renewTime", "acquireTime"] as const

export const leaseRules: KindRules = {
  undecodable: ({ spec }) => {
    if (!isObject(spec)) return undefined
    for (const field of times) {
      const mistake = microMistake(spec[field])
      if (mistake !== undefined) return mistake
    }
    return undefined
  },
  defaults: (lease) => {
    // What belongs to coordinated leader election is dropped, as by a server without that feature.
    const { preferredHolder: _, strategy: __, ...spec } = isObject(lease.spec) ? lease.spec : {}
    const inUtc = times.flatMap((field) => {
      const time = spec[field]
      return typeof time === "string" ? [[field, microTime(time)] as const] : []
    })
    return { ...lease, spec: { ...spec, ...Object.fromEntries(inUtc) } }
  },
  validate: ({ spec }) => {
    if (!isObject(spec)) return []
    const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec
    return [
      ...(typeof duration === "number" && duration <= 0
        ? [fieldInvalid("spec.leaseDurationSeconds", duration, "must be greater than 0")]
        : []),
      ...(typeof transitions === "number" && transitions < 0
        ? [fieldInvalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
        : [])
    ]
  }
}
