/**
 * The status that is applied after a pass (D7). An apply sends all fields and condition types that we own, or the server removes the missing ones;
 * so what an unfinished pass did not say is carried over from what our manager owns, and a finished one says everything anew.
 */
import * as Condition from "../Condition.ts"
import { apiVersion, type FieldsV1, type KubeObject, type ObjectInput, type Resource } from "../KubeObject.ts"
import { ownEntry } from "./applied.ts"

/** What a pass has to say. */
export interface Said {
  /** The author's fields, encoded. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly conditions: ReadonlyArray<Condition.Input>
  /** False if the pass ended early: fields and conditions that it did not say are kept as they were. */
  readonly complete: boolean
  /** Whether `observedGeneration` becomes that of the pass; else it stays as it was (K26). Default true. */
  readonly observes?: boolean
}

export interface Facts {
  readonly manager: string
  /** RFC 3339, whole seconds. */
  readonly now: string
  /** The generation that the pass saw, also if the object has moved on since (B49). */
  readonly generation: number | undefined
  /** False where the CRD keeps conditions as an atomic list: then foreign entries are sent along, guarded by the version (B51). */
  readonly conditionsAreMap: boolean
}

interface Status {
  readonly [field: string]: unknown
  readonly conditions?: ReadonlyArray<Condition.Condition>
}

const statusOf = (object: KubeObject): Status =>
  typeof object.status === "object" && object.status !== null ? (object.status as Status) : {}

const noTypes: ReadonlySet<string> = new Set()

const ownedTypes = (fields: FieldsV1 | undefined): ReadonlySet<string> => {
  const types = new Set<string>()
  for (const path of Object.keys(fields?.["f:conditions"] ?? {})) {
    if (!path.startsWith("k:")) continue
    const { type } = JSON.parse(path.slice(2)) as { readonly type?: unknown }
    if (typeof type === "string") types.add(type)
  }
  return types
}

/** The body, without a version. */
export const statusBody = (resource: Resource, live: KubeObject, said: Said, facts: Facts): ObjectInput => {
  const status = statusOf(live)
  const present = Array.isArray(status.conditions) ? status.conditions : []
  const owned = ownEntry(live, facts.manager, "status")?.fieldsV1["f:status"]
  const ours = said.complete ? noTypes : ownedTypes(owned)
  const saidTypes = new Set(said.conditions.map(({ type }) => type))
  const kept = present.filter(
    ({ type }) => saidTypes.has(type) || !facts.conditionsAreMap || (!said.complete && ours.has(type))
  )
  const carried = said.complete
    ? {}
    : Object.fromEntries(
        Object.entries(status).filter(([field]) => owned?.[`f:${field}`] !== undefined && field !== "conditions")
      )
  return {
    apiVersion: apiVersion(resource),
    kind: resource.kind,
    metadata: {
      name: live.metadata.name,
      ...(live.metadata.namespace !== undefined && { namespace: live.metadata.namespace })
    },
    status: {
      ...carried,
      ...said.fields,
      ...(facts.generation !== undefined && said.observes !== false && { observedGeneration: facts.generation }),
      conditions: Condition.merge(kept, said.conditions, facts)
    }
  }
}
