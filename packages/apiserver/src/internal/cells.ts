/** Parts of objects as the cells of tables show them: labels, selectors, containers, and what is missing. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { age } from "./humanDuration.ts"
import { isList, isObject, type JsonObject } from "./json.ts"

/** The cells of an object at `now` in milliseconds since 1970, in the order of the kind's columns. */
export type Cells = (object: KubeObject, now: number) => ReadonlyArray<unknown>

export const object = (u: unknown): JsonObject => (isObject(u) ? u : {})
export const objects = (u: unknown): ReadonlyArray<JsonObject> => (isList(u) ? u.map(object) : [])
export const text = (u: unknown): string => (typeof u === "string" ? u : "")
export const texts = (u: unknown): ReadonlyArray<string> => (isList(u) ? u.map(text) : [])
export const number = (u: unknown): number => (typeof u === "number" ? u : 0)
export const size = (u: unknown): number => Object.keys(object(u)).length
export const join = (items: ReadonlyArray<string>): string => items.join(",")

/** The text, or what stands for none. */
export const or = (u: unknown, missing: string): string => text(u) || missing

export const isSet = (u: unknown): boolean => u !== undefined && u !== null

export const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ""

export const ageOf = ({ metadata }: KubeObject, now: number): string => age(metadata.creationTimestamp, now)

export const isDeleting = ({ metadata }: KubeObject): boolean => isSet(metadata.deletionTimestamp)

/** The status of the first condition of the type; empty if there is none. */
export const conditionOf = (conditions: unknown, type: string): string =>
  text(objects(conditions).find((condition) => condition.type === type)?.status)

/** `a=b,c=d`, in order. */
export const labels = (map: unknown): string => {
  const pairs = Object.entries(object(map)).map(([name, value]) => `${name}=${text(value)}`)
  return join(pairs.toSorted()) || "<none>"
}

const requirement = ({ key, operator, values }: JsonObject): string => {
  const list = `(${join(texts(values).toSorted())})`
  switch (operator) {
    case "In":
      return `${text(key)} in ${list}`
    case "NotIn":
      return `${text(key)} notin ${list}`
    case "Exists":
      return text(key)
  }
  return `!${text(key)}`
}

/** A label selector as one writes it; empty if it chooses everything. */
export const selector = (of: unknown): string => {
  const { matchExpressions, matchLabels } = object(of)
  const requirements = [
    ...Object.entries(object(matchLabels)).map(([key, value]) => [key, `${key}=${text(value)}`] as const),
    ...objects(matchExpressions).map((one) => [text(one.key), requirement(one)] as const)
  ]
  return join(requirements.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, shown]) => shown))
}

export const podSpec = (template: unknown): JsonObject => object(object(template).spec)

/** Names and images of the containers of a template. */
export const containers = (template: unknown): readonly [names: string, images: string] => {
  const all = objects(podSpec(template).containers)
  return [join(all.map(({ name }) => text(name))), join(all.map(({ image }) => text(image)))]
}

/** Addresses of a load balancer's points, each once and in order. */
export const ingressPoints = (status: unknown): string => {
  const points = objects(object(object(status).loadBalancer).ingress).map(
    ({ hostname, ip }) => text(ip) || text(hostname)
  )
  return join([...new Set(points.filter((point) => point !== ""))].toSorted())
}
