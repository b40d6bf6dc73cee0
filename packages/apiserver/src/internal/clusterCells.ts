/** What tables print of everything around workloads: configuration, networks, access, leases and events. */
import {
  type Cells,
  ageOf,
  ingressPoints,
  isSet,
  join,
  labels,
  nameOf,
  number,
  object,
  objects,
  or,
  selector,
  size,
  text,
  texts
} from "./cells.ts"
import { age } from "./humanDuration.ts"
import type { JsonObject } from "./json.ts"

export const namespace: Cells = (one, now) => [nameOf(one), text(object(one.status).phase), ageOf(one, now)]

export const configMap: Cells = (one, now) => [nameOf(one), size(one.data) + size(one.binaryData), ageOf(one, now)]

export const secret: Cells = (one, now) => [nameOf(one), text(one.type), size(one.data), ageOf(one, now)]

export const serviceAccount: Cells = (one, now) => [nameOf(one), ageOf(one, now)]

const externalAddress = ({ externalIPs, externalName, type }: JsonObject, status: unknown): string => {
  const own = texts(externalIPs)
  switch (type) {
    case "ClusterIP":
    case "NodePort":
      return join(own) || "<none>"
    case "LoadBalancer": {
      const balanced = ingressPoints(status)
      return join([...(balanced === "" ? [] : [balanced]), ...own]) || "<pending>"
    }
    case "ExternalName":
      return text(externalName)
  }
  return "<unknown>"
}

export const service: Cells = (one, now) => {
  const spec = object(one.spec)
  const ports = objects(spec.ports).map(
    ({ nodePort, port, protocol }) =>
      `${number(port)}${number(nodePort) > 0 ? `:${number(nodePort)}` : ""}/${text(protocol)}`
  )
  const addresses = texts(spec.clusterIPs)
  return [
    nameOf(one),
    text(spec.type),
    addresses.length === 0 ? "<none>" : addresses[0],
    externalAddress(spec, one.status),
    join(ports) || "<none>",
    ageOf(one, now),
    labels(spec.selector)
  ]
}

const hostsMost = 3

/** Rules without a host take no place; that there are more is told only once there are three hosts. */
const hosts = (rules: ReadonlyArray<JsonObject>): string => {
  const shown: Array<string> = []
  let isMore = false
  for (const rule of rules) {
    if (shown.length === hostsMost) isMore = true
    if (!isMore && text(rule.host) !== "") shown.push(text(rule.host))
  }
  if (shown.length === 0) return "*"
  return `${join(shown)}${isMore ? ` + ${rules.length - hostsMost} more...` : ""}`
}

export const ingress: Cells = (one, now) => {
  const { ingressClassName, rules, tls } = object(one.spec)
  return [
    nameOf(one),
    isSet(ingressClassName) ? text(ingressClassName) : "<none>",
    hosts(objects(rules)),
    ingressPoints(one.status),
    objects(tls).length === 0 ? "80" : "80, 443",
    ageOf(one, now)
  ]
}

export const networkPolicy: Cells = (one, now) => [
  nameOf(one),
  selector(object(one.spec).podSelector) || "<none>",
  ageOf(one, now)
]

/** Of a RoleBinding or a ClusterRoleBinding. */
export const binding: Cells = (one, now) => {
  const { kind, name } = object(one.roleRef)
  const subjects = (of: string): ReadonlyArray<JsonObject> => objects(one.subjects).filter((each) => each.kind === of)
  const names = (of: string): string =>
    subjects(of)
      .map((each) => text(each.name))
      .join(", ")
  return [
    nameOf(one),
    `${text(kind)}/${text(name)}`,
    ageOf(one, now),
    names("User"),
    names("Group"),
    subjects("ServiceAccount")
      .map((each) => `${text(each.namespace)}/${text(each.name)}`)
      .join(", ")
  ]
}

/** What is used of each resource, once somebody counts: limits in a column of their own. */
export const resourceQuota: Cells = (quota, now) => {
  const { hard, used } = object(quota.status)
  const names = Object.keys(object(hard)).toSorted()
  const shown = (isLimit: boolean): string =>
    names
      .filter((name) => name.startsWith("limits.") === isLimit)
      .map((name) => `${name}: ${text(object(used)[name]) || "0"}/${text(object(hard)[name])}`)
      .join(", ")
  return [nameOf(quota), shown(false), shown(true), ageOf(quota, now)]
}

export const priorityClass: Cells = (one, now) => [
  nameOf(one),
  number(one.value),
  one.globalDefault === true,
  ageOf(one, now),
  text(one.preemptionPolicy)
]

export const lease: Cells = (one, now) => [nameOf(one), text(object(one.spec).holderIdentity), ageOf(one, now)]

/** Of an Event in the core form. */
export const event: Cells = (one, now) => {
  const { fieldPath, kind, name } = object(one.involvedObject)
  const { component, host } = object(one.source)
  const first = isSet(one.firstTimestamp) ? age(one.firstTimestamp, now) : age(one.eventTime, now)
  const last = isSet(one.lastTimestamp) ? age(one.lastTimestamp, now) : first
  const target = text(kind).toLowerCase()
  const reporter = [or(component, text(one.reportingComponent)), or(host, text(one.reportingInstance))]
  const series = isSet(one.series) ? object(one.series) : undefined
  return [
    series === undefined ? last : age(series.lastObservedTime, now),
    text(one.type),
    text(one.reason),
    text(name) === "" ? target : `${target}/${text(name)}`,
    text(fieldPath),
    reporter[1] === "" ? reporter[0] : reporter.join(", "),
    text(one.message).trim(),
    first,
    series === undefined ? number(one.count) || 1 : number(series.count),
    nameOf(one)
  ]
}
