/** The scale subresource: another face of one object (F140). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { ScalePaths } from "./definition.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import { fieldInvalid } from "./refusal.ts"

const parts = (path: string): ReadonlyArray<string> => path.split(".").filter((part) => part !== "")

const at = (value: unknown, path: string): unknown =>
  parts(path).reduce<unknown>((inner, part) => (isObject(inner) ? inner[part] : undefined), value)

const number = (value: unknown): number => (typeof value === "number" ? value : 0)

const texts = (value: unknown): string => (isList(value) ? value.map(String).toSorted().join(",") : "")

const requirement = ({ key, operator, values }: JsonObject): string => {
  if (operator === "Exists") return String(key)
  if (operator === "DoesNotExist") return `!${String(key)}`
  return `${String(key)} ${operator === "In" ? "in" : "notin"} (${texts(values)})`
}

/** A selector as text: custom resources write it so, built-in kinds have an object. */
const selectorOf = (value: unknown): string | undefined => {
  if (!isObject(value)) return typeof value === "string" ? value : undefined
  const { matchExpressions, matchLabels } = value
  const parts = [
    ...Object.entries(isObject(matchLabels) ? matchLabels : {}).map(([key, label]) => [key, `${key}=${String(label)}`]),
    ...(isList(matchExpressions) ? matchExpressions.filter(isObject) : []).map((each) => [each.key, requirement(each)])
  ]
  return parts
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
    .map(([, text]) => text)
    .join(",")
}

/** The Scale of an object; its metadata has no managedFields. */
export const scaleOf = (object: KubeObject, paths: ScalePaths): KubeObject => {
  const { creationTimestamp, name, namespace, resourceVersion, uid } = object.metadata
  const selector = paths.labelSelectorPath === undefined ? undefined : selectorOf(at(object, paths.labelSelectorPath))
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      uid,
      resourceVersion,
      ...(creationTimestamp !== undefined && { creationTimestamp })
    },
    spec: { replicas: number(at(object, paths.specReplicasPath)) },
    status: {
      replicas: number(at(object, paths.statusReplicasPath)),
      ...(selector !== undefined && { selector })
    }
  }
}

/** The object with the replicas of the Scale. */
export const withReplicas = (object: KubeObject, scale: JsonObject, { specReplicasPath }: ScalePaths): KubeObject => {
  const replicas = number(at(scale, ".spec.replicas"))
  const set = (value: unknown, [head, ...rest]: ReadonlyArray<string>): unknown =>
    head === undefined
      ? replicas
      : { ...(isObject(value) ? value : {}), [head]: set(isObject(value) ? value[head] : undefined, rest) }
  return set(object, parts(specReplicasPath)) as KubeObject
}

const goType = (value: unknown): string => {
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64"
  if (isList(value)) return "[]interface {}"
  return isObject(value)
    ? "map[string]interface {}"
    : value === null
      ? "<nil>"
      : typeof value === "boolean"
        ? "bool"
        : "string"
}

const goText = (value: unknown): string => {
  if (isList(value)) return `[${value.map(goText).join(" ")}]`
  if (!isObject(value)) return value === null ? "<nil>" : String(value)
  const fields = Object.keys(value).toSorted()
  return `map[${fields.map((name) => `${name}:${goText(value[name])}`).join(" ")}]`
}

/** Why the value at the path is none of the wanted type: the first on the way that is not what it should be. */
const accessError = (object: unknown, path: string, wanted: "int64" | "string"): string | undefined => {
  const names = parts(path)
  let value = object
  for (const [index, name] of names.entries()) {
    value = (value as JsonObject)[name]
    const isLast = index === names.length - 1
    const expected = isLast ? wanted : "map[string]interface{}"
    if (value === undefined || (value === null && !isLast)) return undefined
    if (isLast ? goType(value) === wanted : isObject(value)) continue
    const way = names.slice(0, index + (isLast ? 1 : 2)).map((part) => `.${part}`)
    return `${way.join("")} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${expected}`
  }
  return undefined
}

const replicaCauses = (object: KubeObject, path: string): ReadonlyArray<StatusCause> => {
  const error = accessError(object, path, "int64")
  if (error !== undefined) return [fieldInvalid(path, 0, error)]
  const replicas = number(at(object, path))
  if (replicas < 0) return [fieldInvalid(path, replicas, "should be a non-negative integer")]
  return replicas > 2_147_483_647 ? [fieldInvalid(path, replicas, "should be less than or equal to 2147483647")] : []
}

/** What a custom resource must keep to so that it has a Scale; a write to its status answers for the status alone. */
export const scaleCauses = (
  object: KubeObject,
  { labelSelectorPath, specReplicasPath, statusReplicasPath }: ScalePaths,
  subresource: string | undefined
): ReadonlyArray<StatusCause> => {
  const selector = labelSelectorPath === undefined ? undefined : accessError(object, labelSelectorPath, "string")
  return [
    ...(subresource === "status" ? [] : replicaCauses(object, specReplicasPath)),
    ...replicaCauses(object, statusReplicasPath),
    ...(selector === undefined ? [] : [fieldInvalid(labelSelectorPath!, "", selector)])
  ]
}
