/** What one pass of a key leaves to the next: pure values, kept in the queue beside the key and gone with it (B37). */
import type * as Condition from "../Condition.ts"
import type { KubeObject } from "../KubeObject.ts"
import * as ResourceVersion from "./resourceVersion.ts"

export interface Memory {
  readonly failures?: Failures
  readonly written?: Written
  readonly told?: Told
}

/**
 * Ready as it was last told, where the object does not say so: a write of the status failed since, which may have been done all the same, and what came of that
 * pass was not said (K20), or was said by its event alone (B53).
 */
export interface Told {
  readonly uid: string
  readonly ready: Condition.Input | undefined
}

/** Failures in a row of one object in one generation: a spec edit, a deletion or a namesake begins anew (B42, B65). */
export interface Failures {
  readonly uid: string
  readonly generation: number | undefined
  readonly deleting: boolean
  /** Only those whose retry was due count (D6, B33). */
  readonly count: number
  /** Conflicts in a row. */
  readonly conflicts: number
  /** When the first of them was. */
  readonly since: number
}

/** The outcome that was last written, for a pass that does not see it yet (D12). */
export interface Written {
  readonly uid: string
  readonly generation: number | undefined
  /** Of the object after that write. */
  readonly resourceVersion: string
  readonly ready: Condition.Input
  readonly announced: string | undefined
  /** When the message of Ready was last changed (D18). */
  readonly messageAt: number
}

export const memoryOf = (
  failures: Failures | undefined,
  written: Written | undefined,
  told: Told | undefined
): Memory | undefined =>
  failures === undefined && written === undefined && told === undefined
    ? undefined
    : {
        ...(failures !== undefined && { failures }),
        ...(written !== undefined && { written }),
        ...(told !== undefined && { told })
      }

/** Of which object the failures are counted. */
export const identityOf = (object: KubeObject | undefined): Pick<Failures, "uid" | "generation" | "deleting"> => ({
  uid: object?.metadata.uid ?? "",
  generation: object?.metadata.generation,
  deleting: object?.metadata.deletionTimestamp !== undefined
})

/** The failures before this pass that concern the object as it was read. */
export const failuresOf = (memory: Memory | undefined, object: KubeObject | undefined): Failures | undefined => {
  const failures = memory?.failures
  const identity = identityOf(object)
  return failures !== undefined &&
    failures.uid === identity.uid &&
    failures.generation === identity.generation &&
    failures.deleting === identity.deleting
    ? failures
    : undefined
}

/** What was last said of the object, also where it bears no status to tell it. */
export const saidOf = (memory: Memory | undefined, object: KubeObject | undefined): Condition.Input | undefined =>
  memory?.written?.uid === object?.metadata.uid ? memory?.written?.ready : undefined

/** What was last told of the object, where it does not say so itself. */
export const toldOf = (memory: Memory | undefined, object: KubeObject | undefined): Told | undefined =>
  memory?.told !== undefined && memory.told.uid === object?.metadata.uid ? memory.told : undefined

/** What was written and is not in the object as it was read (D12). */
export const unseenOf = (memory: Memory | undefined, object: KubeObject | undefined): Written | undefined => {
  const written = memory?.written
  if (written === undefined || object === undefined) return undefined
  const { generation, resourceVersion, uid } = object.metadata
  if (written.uid !== uid || written.generation !== generation) return undefined
  return (ResourceVersion.compare(resourceVersion, written.resourceVersion) ?? -1) >= 0 ? undefined : written
}
