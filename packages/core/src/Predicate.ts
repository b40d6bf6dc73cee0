/**
 * Which changes of an object wake its key. A change is judged against what the key's last pass read, not against the event before (D27): the echo of our
 * own status write wakes nothing, and a foreign change that came in the same version, or in the answer of one of our writes, still does.
 *
 * An object that came, went or became another one of the same name wakes its key whatever the predicate says (B24): see `wakes`.
 */
import { isContent, type KubeObject } from "./KubeObject.ts"
import { sameJson } from "./internal/sameJson.ts"

/** What a predicate looks at: both are present and have the same uid. */
export interface Facts {
  /** The object as the key's last pass read it. */
  readonly seen: KubeObject
  /** As it is now. */
  readonly next: KubeObject
  /** The finalizers that the controller itself adds and takes away. */
  readonly ownFinalizers?: ReadonlyArray<string>
}

/** True if the difference is worth a pass. */
export type Predicate = (facts: Facts) => boolean

/** Spec, deletion, labels, annotations or foreign finalizers differ, or somebody took our finalizer from a living object. Status changes do not count. The default. */
export const standard: Predicate = (facts) => {
  const { next, ownFinalizers = [], seen } = facts
  return (
    specOnly(facts) ||
    !sameJson(seen.metadata.labels ?? {}, next.metadata.labels ?? {}) ||
    !sameJson(seen.metadata.annotations ?? {}, next.metadata.annotations ?? {}) ||
    !sameJson(foreign(seen, ownFinalizers), foreign(next, ownFinalizers)) ||
    wasRobbed(facts)
  )
}

/** Every new version, our own writes too: a controller that writes a status in each pass runs until nothing differs. */
export const anyChange: Predicate = ({ next, seen }) => seen.metadata.resourceVersion !== next.metadata.resourceVersion

/** Only the spec, and the beginning of deletion. Of a kind that counts no generations (F9), all content that is not status. */
export const specOnly: Predicate = ({ next, seen }) =>
  seen.metadata.generation !== next.metadata.generation ||
  seen.metadata.deletionTimestamp !== next.metadata.deletionTimestamp ||
  (next.metadata.generation === undefined && !sameContent(seen, next))

/** Whether what is known now wakes a key whose last pass read `seen`. Undefined stands for an absent object. */
export const wakes = (
  predicate: Predicate,
  facts: {
    readonly seen: KubeObject | undefined
    readonly next: KubeObject | undefined
    readonly ownFinalizers?: ReadonlyArray<string>
  }
): boolean => {
  const { next, ownFinalizers = [], seen } = facts
  if (seen === next) return false
  if (seen === undefined || next === undefined || seen.metadata.uid !== next.metadata.uid) return true
  return predicate({ seen, next, ownFinalizers })
}

// Their order means nothing to anybody.
const foreign = ({ metadata }: KubeObject, ownFinalizers: ReadonlyArray<string>): ReadonlyArray<string> =>
  (metadata.finalizers ?? []).filter((finalizer) => !ownFinalizers.includes(finalizer)).sort()

const wasRobbed = ({ next, ownFinalizers = [], seen }: Facts): boolean =>
  next.metadata.deletionTimestamp === undefined &&
  ownFinalizers.some(
    (name) => seen.metadata.finalizers?.includes(name) === true && next.metadata.finalizers?.includes(name) !== true
  )

const sameContent = (a: KubeObject, b: KubeObject): boolean => {
  for (const field of new Set([...Object.keys(a), ...Object.keys(b)]))
    if (isContent(field) && !sameJson(a[field], b[field])) return false
  return true
}
