/** Deletion: preconditions, finalizers, propagation, collections (F8, F62, F111 to F119, F128, F147). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { keyOf, type Definition } from "./definition.ts"
import { isObject, type JsonObject } from "./json.ts"
import * as Refusal from "./refusal.ts"
import type { Request, Response } from "./request.ts"
import { commit, find, stored, type Transaction } from "./state.ts"
import * as SortedMap from "./sortedMap.ts"
import type { Selector } from "./selector.ts"

export type Propagation = "Background" | "Foreground" | "Orphan"

export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagation?: Propagation
  readonly dryRun: boolean
}

const propagations = ["Foreground", "Background", "Orphan", "nil"]

const invalidOption = (cause: Parameters<typeof Refusal.invalidOptions>[1]) =>
  Refusal.invalidOptions("DeleteOptions", cause)

const bodyOf = ({ body }: Request): JsonObject => {
  if (body === undefined || body === null) return {}
  if (!isObject(body)) {
    throw Refusal.badRequest("couldn't get version/kind; json parse error: json: cannot unmarshal into Go value")
  }
  if (body.kind !== undefined && body.kind !== "DeleteOptions") {
    throw Refusal.badRequest(
      `no kind ${JSON.stringify(body.kind)} is registered for version ${JSON.stringify(body.apiVersion ?? "v1")} in scheme "pkg/runtime/scheme.go:111"`
    )
  }
  return body
}

const seconds = (text: string | undefined): void => {
  if (text !== undefined && !/^-?\d+$/.test(text)) {
    throw Refusal.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  }
}

/** From the body and the query (F117). */
const options = (request: Request): DeleteOptions => {
  const body = bodyOf(request)
  const { query } = request
  seconds(query.gracePeriodSeconds)
  const grace = body.gracePeriodSeconds
  if (grace !== undefined && grace !== null && typeof grace !== "number") {
    throw Refusal.badRequest(
      `json: cannot unmarshal ${typeof grace} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`
    )
  }
  const preconditions = isObject(body.preconditions) ? body.preconditions : {}
  const propagation = body.propagationPolicy ?? query.propagationPolicy
  const orphan =
    body.orphanDependents ?? (query.orphanDependents === undefined ? undefined : query.orphanDependents === "true")
  if (propagation !== undefined && orphan !== undefined) {
    throw invalidOption(
      Refusal.fieldInvalid(
        "propagationPolicy",
        propagation,
        "orphanDependents and deletionPropagation cannot be both set"
      )
    )
  }
  if (propagation !== undefined && !propagations.slice(0, 3).includes(String(propagation))) {
    throw invalidOption(Refusal.fieldUnsupported("propagationPolicy", propagation, propagations))
  }
  const dryRun = Array.isArray(body.dryRun) ? body.dryRun : query.dryRun === undefined ? [] : [query.dryRun]
  if (dryRun.some((value) => value !== "All")) throw invalidOption(Refusal.fieldUnsupported("dryRun", dryRun, ["All"]))
  const chosen = (propagation ?? (orphan === true ? "Orphan" : undefined)) as Propagation | undefined
  return {
    ...(typeof preconditions.uid === "string" && { uid: preconditions.uid }),
    ...(typeof preconditions.resourceVersion === "string" && { resourceVersion: preconditions.resourceVersion }),
    ...(chosen !== undefined && { propagation: chosen }),
    dryRun: dryRun.length > 0
  }
}

/** Whether nothing holds an object under deletion any longer. */
export const isOver = ({ resource }: Definition, { metadata, spec }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  !(resource === "namespaces" && isObject(spec) && Array.isArray(spec.finalizers) && spec.finalizers.length > 0)

/** Ends the object at once. */
export const remove = (txn: Transaction, definition: Definition, key: string, live: KubeObject): KubeObject =>
  commit(txn, definition.resource, key, undefined, live)

const checkPreconditions = (
  definition: Definition,
  live: KubeObject,
  { resourceVersion, uid }: DeleteOptions
): void => {
  const { metadata } = live
  if (uid !== undefined && uid !== metadata.uid) {
    throw Refusal.precondition(
      definition,
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw Refusal.precondition(
      definition,
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`
    )
  }
}

/** The object with the finalizers that hold it while its dependents are seen to (F119). An unsaid policy leaves those that are there. */
const withPropagation = (live: KubeObject, propagation: Propagation | undefined): KubeObject => {
  if (propagation === undefined) return live
  const present = live.metadata.finalizers ?? []
  const own = propagation === "Orphan" ? "orphan" : propagation === "Foreground" ? "foregroundDeletion" : undefined
  const kept = present.filter(
    (finalizer) => finalizer === own || (finalizer !== "orphan" && finalizer !== "foregroundDeletion")
  )
  const finalizers = own === undefined || kept.includes(own) ? kept : [...kept, own]
  return finalizers.length === present.length && finalizers.every((finalizer, i) => finalizer === present[i])
    ? live
    : withFinalizers(live, finalizers)
}

/** The list is left out if it is empty. */
export const withFinalizers = (object: KubeObject, finalizers: ReadonlyArray<string>): KubeObject => {
  const { finalizers: _, ...meta } = object.metadata
  return { ...object, metadata: finalizers.length === 0 ? meta : { ...meta, finalizers } }
}

export interface Deleted {
  /** As the deletion left it: last stored, or marked. */
  readonly object: KubeObject
  readonly gone: boolean
}

/** Deletes the object, or marks it and lets its finalizers hold it. */
export const begin = (
  txn: Transaction,
  definition: Definition,
  key: string,
  live: KubeObject,
  { dryRun, propagation }: Pick<DeleteOptions, "dryRun" | "propagation">
): Deleted => {
  const held = withPropagation(live, propagation)
  const marked = live.metadata.deletionTimestamp === undefined ? mark(txn, definition, held) : held
  if (isOver(definition, marked)) {
    const removed = dryRun ? live : remove(txn, definition, key, live)
    // A Pod that runs nowhere goes at once, and is answered as if it had been given time (F111).
    return { object: definition.resource === "pods" ? marked : removed, gone: true }
  }
  if (marked === live || dryRun) return { object: marked, gone: false }
  return { object: commit(txn, definition.resource, key, marked, live), gone: false }
}

const mark = (txn: Transaction, { generation, rules, resource }: Definition, live: KubeObject): KubeObject => {
  const now = txn.time
  const marked: KubeObject = {
    ...live,
    metadata: {
      ...live.metadata,
      deletionTimestamp: now,
      // Namespaces and CRDs have deletions of their own, which know no grace (F128, F147).
      ...(rules.beginDeletion === undefined && { deletionGracePeriodSeconds: 0 }),
      ...(generation !== "none" &&
        resource !== "customresourcedefinitions.apiextensions.k8s.io" && {
          generation: (live.metadata.generation ?? 0) + 1
        })
    }
  }
  return rules.beginDeletion?.(marked, { now, draw: txn.draw }) ?? marked
}

export const one = (
  txn: Transaction,
  definition: Definition,
  namespace: string | undefined,
  request: Request
): Response => {
  const name = request.name!
  const said = options(request)
  const key = keyOf(namespace, name)
  const why = definition.rules.undeletable?.(name)
  if (why !== undefined) throw Refusal.forbidden(definition, name, why)
  const live = find(txn.state, definition.resource, key)
  if (live === undefined) throw Refusal.notFound(definition, name)
  checkPreconditions(definition, live, said)
  const { gone, object } = begin(txn, definition, key, live, said)
  const body =
    gone && !definition.answersDeleted
      ? {
          kind: "Status",
          apiVersion: "v1",
          metadata: {},
          status: "Success",
          details: {
            name,
            ...(definition.group !== "" && { group: definition.group }),
            kind: definition.plural,
            uid: live.metadata.uid
          }
        }
      : definition.fromStorage(object)
  return { code: 200, body, warnings: txn.warnings }
}

/** Deletes what the selector chooses, in order; answers it as it was (F118). */
export const collection = (
  txn: Transaction,
  definition: Definition,
  namespace: string | undefined,
  request: Request,
  selector: Selector | undefined
): Response => {
  const said = options(request)
  const { objects } = stored(txn.state, definition.resource)
  const all = namespace === undefined ? SortedMap.values(objects) : SortedMap.valuesWithPrefix(objects, `${namespace}/`)
  const chosen = all.map(definition.fromStorage).filter((object) => selector === undefined || selector(object))
  for (const { metadata } of chosen) {
    const key = keyOf(metadata.namespace, metadata.name)
    const live = find(txn.state, definition.resource, key)
    if (live === undefined) continue
    checkPreconditions(definition, live, said)
    begin(txn, definition, key, live, said)
  }
  return {
    code: 200,
    body: {
      kind: definition.listKind,
      apiVersion: definition.apiVersion,
      metadata: { resourceVersion: String(txn.state.rv) },
      items: chosen
    },
    warnings: txn.warnings,
    bareItems: !definition.custom
  }
}
