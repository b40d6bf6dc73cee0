/** Namespaces: their phase, their own finalizer, and their end (F126 to F129). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { KindRules } from "./definition.ts"
import { isObject } from "./json.ts"

/** There from the start. */
export const initialNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"]

const undeletable = new Set(["default", "kube-system", "kube-public"])

/** A namespace is emptied this long after its DELETE (F129). */
export const emptiedAfterMillis = 5_000

const label = "kubernetes.io/metadata.name"

export const namespaceRules: KindRules = {
  prepare: (namespace, live) => {
    const spec = isObject(namespace.spec) ? namespace.spec : {}
    const named = { ...namespace.metadata.labels, [label]: namespace.metadata.name }
    const labelled =
      namespace.metadata.labels?.[label] === namespace.metadata.name
        ? namespace
        : { ...namespace, metadata: { ...namespace.metadata, labels: named } }
    if (live === undefined) {
      return { ...labelled, spec: { ...spec, finalizers: ["kubernetes"] }, status: { phase: "Active" } }
    }
    const { spec: before } = live
    return { ...labelled, ...(before !== undefined && { spec: before }) }
  },
  undeletable: (name) => (undeletable.has(name) ? "this namespace may not be deleted" : undefined),
  beginDeletion: (namespace) => ({
    ...namespace,
    status: { ...(isObject(namespace.status) ? namespace.status : {}), phase: "Terminating" }
  })
}

export interface Remaining {
  /** `configmaps.`, `widgets.facts.example.com`. */
  readonly resource: string
  readonly count: number
  readonly finalizers: ReadonlyArray<string>
}

/** What a namespace says while objects with finalizers are left in it (F129). */
export const remainingConditions = (
  namespace: KubeObject,
  remaining: ReadonlyArray<Remaining>,
  now: string
): KubeObject => {
  const status = isObject(namespace.status) ? namespace.status : {}
  const before = Array.isArray(status.conditions) ? (status.conditions as ReadonlyArray<unknown>) : []
  const held = new Map<string, number>()
  for (const { count, finalizers } of remaining) {
    for (const finalizer of new Set(finalizers)) held.set(finalizer, (held.get(finalizer) ?? 0) + count)
  }
  const condition = (type: string, status: "True" | "False", reason: string, message: string): unknown => {
    const same = before.find((c) => isObject(c) && c.type === type && c.status === status)
    const since = isObject(same) ? same.lastTransitionTime : now
    return { type, status, lastTransitionTime: since, reason, message }
  }
  const some = remaining.length > 0
  const conditions = [
    condition(
      "NamespaceDeletionDiscoveryFailure",
      "False",
      "ResourcesDiscovered",
      "All resources successfully discovered"
    ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      "False",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed"
    ),
    condition(
      "NamespaceDeletionContentFailure",
      "False",
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization"
    ),
    some
      ? condition(
          "NamespaceContentRemaining",
          "True",
          "SomeResourcesRemain",
          `Some resources are remaining: ${remaining.map((r) => `${r.resource} has ${r.count} resource instances`).join(", ")}`
        )
      : condition("NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"),
    held.size > 0
      ? condition(
          "NamespaceFinalizersRemaining",
          "True",
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${[...held].map(([f, n]) => `${f} in ${n} resource instances`).join(", ")}`
        )
      : condition(
          "NamespaceFinalizersRemaining",
          "False",
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished"
        )
  ]
  return { ...namespace, status: { ...status, conditions } }
}
