/**
 * Objects as the API server stores them: plain JSON with metadata, not decoded by any schema. Caches and clients handle these; a reconciler gets
 * them decoded by its `Kind`.
 */
import type { OwnerReference } from "./OwnerReference.ts"

export type Scope = "Namespaced" | "Cluster"

/** The metadata of a stored object. Times are RFC 3339 text in whole seconds; `resourceVersion` is opaque text, in practice a decimal. */
export interface ObjectMeta {
  readonly name: string
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string
  readonly generateName?: string
  readonly uid: string
  readonly resourceVersion: string
  /** Absent on kinds that count no generations, such as ConfigMap (F9). */
  readonly generation?: number
  readonly creationTimestamp?: string
  /** Set while the object waits for its finalizers. May lie in the future by the grace period (B71). */
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: ReadonlyArray<string>
  readonly ownerReferences?: ReadonlyArray<OwnerReference>
  readonly managedFields?: ReadonlyArray<ManagedFieldsEntry>
}

/** Which fields one manager owns, as server-side apply keeps it (F30). */
export interface ManagedFieldsEntry {
  readonly manager: string
  readonly operation: "Apply" | "Update"
  readonly apiVersion: string
  /** Absent on an entry that only added ownership (F31). */
  readonly time?: string
  readonly fieldsType: "FieldsV1"
  readonly fieldsV1: FieldsV1
  readonly subresource?: string
}

/** A tree of owned fields: `f:name`, `k:{"key":"value"}`, `v:"value"`, `.` */
export interface FieldsV1 {
  readonly [path: string]: FieldsV1
}

/** Any stored object. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** What is sent to make or change an object: the server fills in the rest. */
export interface ObjectInput {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: Partial<ObjectMeta>
  readonly [field: string]: unknown
}

/** Names one object of a kind that is known from the context; `namespace` is undefined for cluster-scoped kinds. */
export interface ObjectRef {
  readonly namespace: string | undefined
  readonly name: string
}

/** Where objects of one kind live in the API. A `Kind` is one; a plain value serves for kinds that have no Schema. */
export interface Resource {
  /** `""` is the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The plural, as in URLs. */
  readonly plural: string
  readonly scope: Scope
}

/** `v1`, or `group/version`. */
export const apiVersion = (resource: Pick<Resource, "group" | "version">): string =>
  resource.group === "" ? resource.version : `${resource.group}/${resource.version}`

/** The reference to an object. */
export const ref = (object: {
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string }
}): ObjectRef => ({
  namespace: object.metadata.namespace,
  name: object.metadata.name
})

/** `namespace/name`, or `name` alone in cluster scope: how logs and messages name an object. */
export const formatRef = (ref: ObjectRef): string =>
  ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`

/** `Role[team/editor:4b825dc6]`: an object in a text that tells it from its namesakes (K8). */
export const displayName = ({ kind, metadata }: KubeObject): string =>
  `${kind}[${formatRef({ namespace: metadata.namespace, name: metadata.name })}:${metadata.uid}]`

/** The field of an object that is the user's to write, by name: everything but what names, describes or reports. */
export const isContent = (field: string): boolean =>
  field !== "apiVersion" && field !== "kind" && field !== "metadata" && field !== "status"
