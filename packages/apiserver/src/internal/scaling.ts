/** The scale subresource: another face of one object (F140). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { ScalePaths } from "./definition.ts"
import { isObject, type JsonObject } from "./json.ts"

const parts = (path: string): ReadonlyArray<string> => path.split(".").filter((part) => part !== "")

const at = (value: unknown, path: string): unknown =>
  parts(path).reduce<unknown>((inner, part) => (isObject(inner) ? inner[part] : undefined), value)

const number = (value: unknown): number => (typeof value === "number" ? value : 0)

/** The Scale of an object; its metadata has no managedFields. */
export const scaleOf = (object: KubeObject, paths: ScalePaths): KubeObject => {
  const { creationTimestamp, name, namespace, resourceVersion, uid } = object.metadata
  const selector = paths.labelSelectorPath === undefined ? undefined : at(object, paths.labelSelectorPath)
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
      ...(typeof selector === "string" && { selector })
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
