/**
 * What a server must have right in an object before anything behind takes it as one: that it is the object which was asked for, and that its metadata
 * has the types that are declared. Pure. An object in a namespace that nobody follows would stay in a cache for ever, for one.
 */
import { apiVersion, type KubeObject, type Resource } from "@fixpoint/core/KubeObject"

export const isRecord = (u: unknown): u is Record<string, unknown> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const isText = (u: unknown): boolean => typeof u === "string"

const isTexts = (u: unknown): boolean => {
  if (!isRecord(u)) return false
  for (const key in u) if (typeof u[key] !== "string") return false
  return true
}

/** Deeper than the fields of any schema; a cache writes these trees as text. */
const fieldsDepthMax = 100

const isShallow = (u: unknown, depth: number): boolean => {
  if (typeof u !== "object" || u === null) return true
  if (depth === 0) return false
  for (const key in u) {
    const inner = (u as Record<string, unknown>)[key]
    if (typeof inner === "object" && !isShallow(inner, depth - 1)) return false
  }
  return true
}

const isManager = (u: unknown): boolean => isRecord(u) && isShallow(u, fieldsDepthMax)

const types: Readonly<Record<string, (u: unknown) => boolean>> = {
  name: isText,
  namespace: isText,
  generateName: isText,
  uid: isText,
  resourceVersion: isText,
  generation: Number.isFinite,
  creationTimestamp: isText,
  deletionTimestamp: isText,
  deletionGracePeriodSeconds: Number.isFinite,
  labels: isTexts,
  annotations: isTexts,
  finalizers: (u) => Array.isArray(u) && u.every(isText),
  ownerReferences: (u) => Array.isArray(u) && u.every(isRecord),
  managedFields: (u) => Array.isArray(u) && u.every(isManager)
}

/** Null is absent, as in Go. */
const metadataFault = (metadata: Record<string, unknown>): string | undefined => {
  for (const field in types) {
    const value = metadata[field]
    if (value === undefined) continue
    if (value !== null) {
      if (!types[field]!(value)) return `an object with a metadata.${field} of a wrong type`
      // Reviews, which are not stored, come with a null for the time of their creation.
    } else if (field !== "creationTimestamp") delete metadata[field]
  }
  return undefined
}

const isSegment = (u: unknown): boolean => typeof u === "string" && u !== "" && !u.includes("/")

/** Where an object must be, as far as that was asked. */
export interface Place {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

const placeFault = ({ scope }: Resource, place: Place, { name, namespace }: Record<string, unknown>) => {
  if (!isSegment(name)) return "an object without a name"
  if (place.name !== undefined && name !== place.name) return "an object of another name"
  if (scope === "Cluster") return namespace === undefined ? undefined : "an object in a namespace"
  if (!isSegment(namespace)) return "an object without a namespace"
  return place.namespace !== undefined && namespace !== place.namespace ? "an object of another namespace" : undefined
}

/** Why a value is no stored object of the resource at the place; undefined if it is one. */
export const storedFault = (resource: Resource, place: Place, object: unknown): string | undefined => {
  if (!isRecord(object) || !isRecord(object.metadata)) return "not an object"
  if (object.kind !== resource.kind || object.apiVersion !== apiVersion(resource)) return "an object of another kind"
  return metadataFault(object.metadata) ?? placeFault(resource, place, object.metadata)
}

const bareFault = (object: unknown): string | undefined =>
  isRecord(object) && typeof object.kind === "string" && typeof object.apiVersion === "string"
    ? isRecord(object.metadata)
      ? metadataFault(object.metadata)
      : "not an object"
    : "not an object"

/** The same of what a create answers: reviews have no name, and some kinds answer an object of another. */
export const createdFault = (resource: Resource, name: string | undefined, object: unknown): string | undefined => {
  const fault = bareFault(object)
  if (fault !== undefined || name === undefined) return fault
  const { kind, metadata } = object as KubeObject
  return kind === resource.kind && metadata.name !== name ? "an object of another name" : undefined
}

/** The same of what a subresource answers under a kind of its own, as a Scale is. */
export const scaleFault = (place: Place, object: unknown): string | undefined => {
  const fault = bareFault(object)
  if (fault !== undefined) return fault
  const { name, namespace } = (object as KubeObject).metadata
  if (name !== place.name) return "an object of another name"
  return namespace !== undefined && namespace !== place.namespace ? "an object of another namespace" : undefined
}

/** What most deletes answer. */
export const isStatus = (body: unknown): boolean => isRecord(body) && body.kind === "Status" && isRecord(body.metadata)
