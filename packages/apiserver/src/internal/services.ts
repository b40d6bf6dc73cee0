/** Services: defaults and addresses (F83, F84, F108). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindContext, KindRules } from "./definition.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import { fieldInvalid, fieldRequired } from "./refusal.ts"

const specOf = (object: KubeObject): JsonObject => (isObject(object.spec) ? object.spec : {})

const portDefaults = (port: unknown): unknown =>
  isObject(port) ? { ...port, protocol: port.protocol ?? "TCP", targetPort: port.targetPort ?? port.port } : port

const addresses = (spec: JsonObject, live: KubeObject | undefined, { draw }: KindContext): JsonObject => {
  if (spec.type === "ExternalName") return {}
  const before = live === undefined ? {} : specOf(live)
  const ip =
    spec.clusterIP !== undefined && spec.clusterIP !== "" ? spec.clusterIP : (before.clusterIP ?? address(draw.below))
  const ips = isList(spec.clusterIPs) && spec.clusterIPs.length > 0 ? spec.clusterIPs : (before.clusterIPs ?? [ip])
  return { clusterIP: ip, clusterIPs: ips }
}

/** One of 10.0.0.0/16, the ends left out. Two Services may draw the same: this model routes nothing. */
const address = (below: (bound: number) => number): string => {
  const n = 1 + below(65_534)
  return `10.0.${n >> 8}.${n & 255}`
}

const targetPortCauses = (ports: unknown): ReadonlyArray<StatusCause> => {
  if (!isList(ports)) return []
  return ports.flatMap((port, i): ReadonlyArray<StatusCause> => {
    if (!isObject(port) || typeof port.targetPort !== "string") return []
    const field = `spec.ports[${i}].targetPort`
    return /[a-z]/.test(port.targetPort)
      ? []
      : [fieldInvalid(field, port.targetPort, "must contain at least one letter (a-z)")]
  })
}

export const serviceRules: KindRules = {
  defaults: (service) => {
    const { selector, ...spec } = specOf(service)
    const type = spec.type ?? "ClusterIP"
    return {
      ...service,
      spec: {
        ...spec,
        ...(isObject(selector) && Object.keys(selector).length > 0 && { selector }),
        ...(isList(spec.ports) && { ports: spec.ports.map(portDefaults) }),
        type,
        sessionAffinity: spec.sessionAffinity ?? "None",
        ...(type !== "ExternalName" && { internalTrafficPolicy: spec.internalTrafficPolicy ?? "Cluster" })
      }
    }
  },
  prepare: (service, live, context) => {
    const spec = specOf(service)
    return {
      ...service,
      spec: {
        ...spec,
        ...addresses(spec, live, context),
        ...(spec.type !== "ExternalName" && {
          ipFamilies: spec.ipFamilies ?? ["IPv4"],
          ipFamilyPolicy: spec.ipFamilyPolicy ?? "SingleStack"
        })
      },
      status: isObject(service.status) ? service.status : { loadBalancer: {} }
    }
  },
  validate: (service, live) => {
    const spec = specOf(service)
    const before = live === undefined ? undefined : specOf(live)
    const headless = spec.clusterIP === "None"
    const portless = !isList(spec.ports) || spec.ports.length === 0
    return [
      ...(portless && !headless && spec.type !== "ExternalName" ? [fieldRequired("spec.ports")] : []),
      ...targetPortCauses(spec.ports),
      ...(before !== undefined && before.clusterIP !== undefined && before.clusterIP !== spec.clusterIP
        ? [fieldInvalid("spec.clusterIPs[0]", [spec.clusterIP], "may not change once set")]
        : [])
    ]
  }
}
