/** Says that an object belongs to another: the garbage collector deletes it after its last owner (C8). */
import type { KubeObject } from "./KubeObject.ts"

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  /** At most one owner is the controller (F121). */
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** The reference that makes `owner` the controller of an object. */
export const controller = (
  owner: Pick<KubeObject, "apiVersion" | "kind"> & {
    readonly metadata: { readonly name: string; readonly uid: string }
  }
): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true
})
