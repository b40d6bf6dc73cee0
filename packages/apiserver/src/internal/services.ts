/** Services: defaults, addresses and ports (F83, F84, F108). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindContext, KindRules } from "./definition.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import { fieldInvalid, fieldRequired } from "./refusal.ts"

const specOf = (object: KubeObject): JsonObject => (isObject(object.spec) ? object.spec : {})

const portDefaults = (port: unknown): unknown =>
  isObject(port) ? { ...port, protocol: port.protocol ?? "TCP", targetPort: port.targetPort ?? port.port } : port

/** What a Service of the type says of traffic from outside, if any can come. */
const outside = (spec: JsonObject, type: unknown): JsonObject => ({
  ...((type === "NodePort" || type === "LoadBalancer" || (isList(spec.externalIPs) && spec.externalIPs.length > 0)) && {
    externalTrafficPolicy: spec.externalTrafficPolicy ?? "Cluster"
  }),
  ...(type === "LoadBalancer" && { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true }),
  ...(spec.sessionAffinity === "ClientIP" && {
    sessionAffinityConfig: spec.sessionAffinityConfig ?? { clientIP: { timeoutSeconds: 10_800 } }
  })
})

const nodePorts = { first: 30_000, count: 2_768 } as const

/** A port of its own on every node, where the type has such. Two Services may draw the same: this model routes nothing. */
const withNodePorts = (spec: JsonObject, live: KubeObject | undefined, { draw }: KindContext): JsonObject => {
  const { allocateLoadBalancerNodePorts, ports, type } = spec
  const has = type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false)
  if (!has || !isList(ports)) return spec
  const before = live === undefined ? [] : specOf(live).ports
  const known = (port: JsonObject): unknown =>
    (isList(before) ? before.filter(isObject) : []).find(
      (one) => one.port === port.port && one.protocol === port.protocol
    )?.nodePort
  return {
    ...spec,
    ports: ports.map((port) =>
      isObject(port) && (port.nodePort === undefined || port.nodePort === 0)
        ? { ...port, nodePort: known(port) ?? nodePorts.first + draw.below(nodePorts.count) }
        : port
    )
  }
}

/** An address of a load balancer is one of its own, unless it says otherwise. */
const withModes = (status: unknown): unknown => {
  const { loadBalancer } = isObject(status) ? status : {}
  if (!isObject(loadBalancer) || !isList(loadBalancer.ingress)) return status
  const ingress = loadBalancer.ingress.map((point) =>
    isObject(point) && typeof point.ip === "string" ? { ...point, ipMode: point.ipMode ?? "VIP" } : point
  )
  return { ...(status as JsonObject), loadBalancer: { ...loadBalancer, ingress } }
}

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

const isPort = (value: unknown): boolean => typeof value !== "number" || (value >= 1 && value <= 65_535)

const portCauses = (ports: unknown): ReadonlyArray<StatusCause> => {
  if (!isList(ports)) return []
  return ports.flatMap((port, i): ReadonlyArray<StatusCause> => {
    if (!isObject(port)) return []
    const at = `spec.ports[${i}]`
    const outOf = (field: "port" | "targetPort"): ReadonlyArray<StatusCause> =>
      isPort(port[field] ?? 0)
        ? []
        : [fieldInvalid(`${at}.${field}`, port[field] ?? 0, "must be between 1 and 65535, inclusive")]
    const isNameless = ports.length > 1 && (port.name === undefined || port.name === "")
    const { targetPort } = port
    return [
      ...(isNameless ? [fieldRequired(`${at}.name`)] : []),
      ...outOf("port"),
      ...outOf("targetPort"),
      ...(typeof targetPort === "string" && !/[a-z]/.test(targetPort)
        ? [fieldInvalid(`${at}.targetPort`, targetPort, "must contain at least one letter (a-z)")]
        : [])
    ]
  })
}

export const serviceRules: KindRules = {
  defaults: (service) => {
    const { selector, ...spec } = specOf(service)
    const type = spec.type ?? "ClusterIP"
    return {
      ...service,
      ...(service.status !== undefined && { status: withModes(service.status) }),
      spec: {
        ...spec,
        ...(isObject(selector) && Object.keys(selector).length > 0 && { selector }),
        ...(isList(spec.ports) && { ports: spec.ports.map(portDefaults) }),
        type,
        sessionAffinity: spec.sessionAffinity ?? "None",
        ...outside(spec, type),
        ...(type !== "ExternalName" && { internalTrafficPolicy: spec.internalTrafficPolicy ?? "Cluster" })
      }
    }
  },
  prepare: (service, live, context) => {
    const spec = withNodePorts(specOf(service), live, context)
    // Without a selector nobody knows which families its endpoints will have.
    const isOpen = spec.clusterIP === "None" && spec.selector === undefined
    return {
      ...service,
      spec: {
        ...spec,
        ...addresses(spec, live, context),
        ...(spec.type !== "ExternalName" && {
          ipFamilies: spec.ipFamilies ?? (isOpen ? ["IPv4", "IPv6"] : ["IPv4"]),
          ipFamilyPolicy: spec.ipFamilyPolicy ?? (isOpen ? "RequireDualStack" : "SingleStack")
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
      ...portCauses(spec.ports),
      ...(before !== undefined && before.clusterIP !== undefined && before.clusterIP !== spec.clusterIP
        ? [fieldInvalid("spec.clusterIPs[0]", [spec.clusterIP], "may not change once set")]
        : [])
    ]
  }
}
