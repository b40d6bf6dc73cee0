/**
 * The body of an apply: without what is never quiet or never accepted. Empty labels, annotations, finalizers and ownerReferences move the version
 * of a custom resource each time (F104), nulls are refused or stored (F103).
 */
import type { ObjectInput } from "../KubeObject.ts"

const droppedIfEmpty = new Set(["labels", "annotations", "finalizers", "ownerReferences"])

const isEmptyCollection = (u: unknown): boolean =>
  typeof u === "object" && u !== null && (Array.isArray(u) ? u.length === 0 : Object.keys(u).length === 0)

export const applyBody = (object: ObjectInput): ObjectInput => {
  const { metadata, ...rest } = object
  return {
    ...(withoutNulls(rest) as ObjectInput),
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).filter(
        ([key, value]) =>
          value !== undefined && value !== null && !(droppedIfEmpty.has(key) && isEmptyCollection(value))
      )
    )
  }
}

// Nulls inside a list are items and stay.
const withoutNulls = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item) => (item === null ? item : withoutNulls(item)))
  const kept = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined)
  // Entries, since an assignment to `__proto__` makes no field.
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)]))
}
