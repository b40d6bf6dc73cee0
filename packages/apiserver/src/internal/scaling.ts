/** The scale subresource: another face of one object (F140). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { selector } from "./cells.ts"
import type { ScalePaths } from "./definition.ts"
import { goType, goValue } from "./goText.ts"
import { isObject, type JsonObject } from "./json.ts"
import { badRequest, fieldInvalid } from "./refusal.ts"
import type { Schema } from "./schema.ts"

const parts = (path: string): ReadonlyArray<string> => path.split(".").filter((part) => part !== "")

const at = (value: unknown, path: string): unknown =>
  parts(path).reduce<unknown>((inner, part) => (isObject(inner) ? inner[part] : undefined), value)

const number = (value: unknown): number => (typeof value === "number" ? value : 0)

/** A selector as text: custom resources write it so, built-in kinds have an object. */
const selectorOf = (value: unknown): string | undefined =>
  isObject(value) ? selector(value) : typeof value === "string" ? value : undefined

const numbers: Schema = { type: "object", properties: { replicas: { type: "integer", format: "int32" } } }

/** Of a Scale, as far as patches need it. */
export const scaleSchema: Schema = {
  type: "object",
  "x-type": "io.k8s.api.autoscaling.v1.Scale",
  properties: { metadata: { type: "object", properties: {} }, spec: numbers, status: numbers }
}

/** Stands for replicas that are not set while a Scale is patched; nobody may set this number. */
export const unset = -2_147_483_648

export const hasReplicas = (object: KubeObject, { specReplicasPath }: ScalePaths): boolean =>
  typeof at(object, specReplicasPath) === "number"

/** The Scale of an object; its metadata has no managedFields. `missing` are the replicas of one that has none. */
export const scaleOf = (object: KubeObject, paths: ScalePaths, missing = 0): KubeObject => {
  const { creationTimestamp, name, namespace, resourceVersion, uid } = object.metadata
  const shown = paths.labelSelectorPath === undefined ? undefined : selectorOf(at(object, paths.labelSelectorPath))
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
    spec: { replicas: hasReplicas(object, paths) ? number(at(object, paths.specReplicasPath)) : missing },
    status: {
      replicas: number(at(object, paths.statusReplicasPath)),
      ...(shown !== undefined && { selector: shown })
    }
  }
}

/** The object with the replicas of the Scale. */
export const withReplicas = (object: KubeObject, scale: JsonObject, { specReplicasPath }: ScalePaths): KubeObject => {
  const replicas = number(at(scale, ".spec.replicas"))
  if (replicas === unset) throw badRequest(`the spec replicas field "${specReplicasPath}" cannot be empty`)
  const set = (value: unknown, [head, ...rest]: ReadonlyArray<string>): unknown =>
    head === undefined
      ? replicas
      : { ...(isObject(value) ? value : {}), [head]: set(isObject(value) ? value[head] : undefined, rest) }
  return set(object, parts(specReplicasPath)) as KubeObject
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
    return `${way.join("")} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected ${expected}`
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
