/**
 * Which manager owns which fields of an object: server-side apply, and the tracking of every other write.
 */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject, ManagedFieldsEntry, ObjectInput } from "@fixpoint/core/KubeObject"
import type { Schema } from "./structuralSchema.ts"

interface Common {
  /** Of the whole object. Metadata need not be in it. */
  readonly schema: Schema
  readonly manager: string
  readonly apiVersion: string
  readonly subresource?: string
  /** RFC 3339 in whole seconds. */
  readonly now: string
  /** Paths that this endpoint resets, and so nobody owns by it: `["status"]` on main, `["metadata", "spec"]` on /status. Default: none. */
  readonly resetFields?: ReadonlyArray<string>
  /** The schema of another version in which a manager may have written. Default: `schema` for every version. */
  readonly schemaOf?: (apiVersion: string) => Schema | undefined
}

export interface ApplyInput extends Common {
  readonly live: KubeObject | undefined
  readonly applied: ObjectInput
  readonly force: boolean
}

export type Applied =
  /** `changed` is false if the apply leaves both object and ownership as they are, times aside. */
  | { readonly _tag: "Applied"; readonly object: ObjectInput; readonly changed: boolean }
  /** 409 (F91). */
  | { readonly _tag: "Conflicts"; readonly causes: ReadonlyArray<StatusCause>; readonly message: string }
  /** 500 without a reason (F97). */
  | { readonly _tag: "TypeError"; readonly message: string }

export const apply = (input: ApplyInput): Applied => ({
  _tag: "Applied",
  object: input.applied,
  changed: true
})

export interface UpdateInput extends Common {
  /** Undefined on create. */
  readonly live: KubeObject | undefined
  readonly next: ObjectInput
}

/** Undefined if nobody owns anything. */
export const update = (input: UpdateInput): ReadonlyArray<ManagedFieldsEntry> | undefined =>
  input.live?.metadata.managedFields
