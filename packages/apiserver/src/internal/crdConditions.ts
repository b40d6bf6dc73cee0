/** What the status of a CustomResourceDefinition says of how far it is (F130, F132, F147). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { isList, isObject, type JsonObject } from "./json.ts"

export interface Condition {
  readonly type: string
  readonly status: "True" | "False"
  readonly reason: string
  readonly message: string
}

/** Sets the conditions; the time moves only where the status does. */
export const withConditions = (crd: KubeObject, conditions: ReadonlyArray<Condition>, now: string): KubeObject => {
  const status = isObject(crd.status) ? crd.status : {}
  const before = (isList(status.conditions) ? status.conditions : []).filter(isObject)
  const set = conditions.map((condition) => {
    const same = before.find(({ status, type }) => type === condition.type && status === condition.status)
    return { ...condition, lastTransitionTime: same?.lastTransitionTime ?? now }
  })
  const changed = new Map<unknown, JsonObject>(set.map((condition) => [condition.type, condition]))
  const known = before.map((condition) => changed.get(condition.type) ?? condition)
  const added = set.filter(({ type }) => !before.some((condition) => condition.type === type))
  return { ...crd, status: { ...status, conditions: [...known, ...added] } }
}

/** Once the names are accepted, and again when the CRD serves. */
export const namesAccepted: Condition = {
  type: "NamesAccepted",
  status: "True",
  reason: "NoConflicts",
  message: "no conflicts found"
}
export const installing: Condition = {
  type: "Established",
  status: "False",
  reason: "Installing",
  message: "the initial names have been accepted"
}
export const established: Condition = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted"
}
export const notAccepted: Condition = {
  type: "Established",
  status: "False",
  reason: "NotAccepted",
  message: "not all names are accepted"
}
export const deletionInProgress: Condition = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress"
}
