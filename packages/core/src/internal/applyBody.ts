/**
 * The body of an apply: without what is never quiet or never accepted. Empty labels, annotations, finalizers and ownerReferences move the version
 * of a custom resource each time (F104), nulls are refused or stored (F103).
 */
import type { ObjectInput } from "../KubeObject.ts"

const droppedIfEmpty = new Set(["labels", "annotations", "finalizers", "ownerReferences"])

const isEmptyCollection = (u: unknown): boolean =>
  typeof u === "object" && u !== null && (Array.isArray(u) ? u.length === 0 : Object.keys(u).length === 0)

const isDropped = (key: string, value: unknown): boolean =>
  value === undefined || value === null || (droppedIfEmpty.has(key) && isEmptyCollection(value))

/** What has nothing to leave out is not copied, since most passes send nothing. */
export const applyBody = (object: ObjectInput): ObjectInput => {
  const { metadata = {}, ...rest } = object
  const entries = Object.entries(metadata)
  return {
    ...(withoutNulls(rest) as ObjectInput),
    metadata: entries.some(([key, value]) => isDropped(key, value))
      ? Object.fromEntries(entries.filter(([key, value]) => !isDropped(key, value)))
      : metadata
  }
}

/** Nulls inside a list are items and stay. */
const hasNulls = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return value.some((item) => item !== null && hasNulls(item))
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key]
    if (inner === null || inner === undefined || hasNulls(inner)) return true
  }
  return false
}

const withoutNulls = (value: unknown): unknown => {
  if (!hasNulls(value)) return value
  if (Array.isArray(value)) return value.map((item) => (item === null ? item : withoutNulls(item)))
  const kept = Object.entries(value as object).filter(([, inner]) => inner !== null && inner !== undefined)
  // Entries, since an assignment to `__proto__` makes no field.
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)]))
}
