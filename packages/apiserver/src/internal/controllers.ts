/**
 * What the control plane does of itself after each request: establishing and removing custom resources (F68, F69, F130, F147), collecting garbage by
 * owner references (F120, F124, F125) and emptying namespaces (F129). Real controllers do it some milliseconds later; here it is part of the step, so that
 * nothing is ever seen half done, and its writes have the same order and each their own version.
 */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { OwnerReference } from "@fixpoint/core/OwnerReference"
import * as CrdConditions from "./crdConditions.ts"
import * as Crd from "./customResources.ts"
import { keyOf, type Definition } from "./definition.ts"
import * as Deleting from "./deleting.ts"
import type { Change } from "./history.ts"
import { equals, isObject } from "./json.ts"
import * as Namespaces from "./namespaces.ts"
import * as SortedMap from "./sortedMap.ts"
import {
  commit,
  definitionOfKind,
  dependentsOf,
  find,
  forgetResource,
  serve,
  storageOf,
  stored,
  type Transaction,
  unserve
} from "./state.ts"

/** Follows every change of the transaction, and those that this makes, until nothing is left to do. */
export const settle = (txn: Transaction): void => {
  for (let i = 0; i < txn.changes.length; i++) react(txn, txn.changes[i]!)
}

const react = (txn: Transaction, change: Change): void => {
  const { object, previous, resource, type } = change
  if (resource === Crd.crdResource) followCrd(txn, change)
  else if (resource === "namespaces") followNamespace(txn, change)
  const { metadata } = object
  if (type === "DELETED") {
    for (const place of dependentsOf(txn.state, metadata.uid)) judge(txn, place.resource, place.key)
    for (const owner of metadata.ownerReferences ?? []) awaken(txn, owner, metadata.namespace)
    if (metadata.namespace !== undefined) continueEmptying(txn, metadata.namespace)
    finishCrd(txn, resource)
    return
  }
  if (metadata.deletionTimestamp !== undefined) {
    finalize(txn, resource, change.key)
    // A child under deletion that blocked its owner before may block it no longer, or still: only its end tells.
  }
  if (metadata.ownerReferences !== undefined && metadata.ownerReferences !== previous?.metadata.ownerReferences) {
    judge(txn, resource, change.key)
  }
}

// Garbage

type Standing = "solid" | "absent" | "waiting" | "unknown"

/** Whether the owner lives. An owner that waits for its dependents to go is no reason to stay. */
const standing = (txn: Transaction, owner: OwnerReference, dependent: KubeObject): Standing => {
  const definition = definitionOfKind(txn.state, owner.apiVersion, owner.kind)
  if (definition === undefined) return "unknown"
  const { namespace } = dependent.metadata
  if (definition.namespaced && namespace === undefined) return "unknown"
  const found = find(txn.state, definition.resource, keyOf(definition.namespaced ? namespace : undefined, owner.name))
  if (found === undefined || found.metadata.uid !== owner.uid) return "absent"
  const { deletionTimestamp, finalizers = [] } = found.metadata
  return deletionTimestamp !== undefined && finalizers.includes("foregroundDeletion") ? "waiting" : "solid"
}

/** Deletes a dependent that no living owner keeps; takes dead owners' references from one that is kept (F124). */
const judge = (txn: Transaction, resource: string, key: string): void => {
  const object = find(txn.state, resource, key)
  const owners = object?.metadata.ownerReferences
  if (object === undefined || owners === undefined) return
  reportMisplaced(txn, object, owners)
  const standings = owners.map((owner) => standing(txn, owner, object))
  if (standings.includes("unknown")) return
  if (standings.includes("solid")) {
    if (standings.every((s) => s === "solid")) return
    const kept = owners.filter((_, i) => standings[i] === "solid")
    commit(txn, resource, key, withOwners(object, kept), object)
    return
  }
  if (object.metadata.deletionTimestamp !== undefined) return
  const finalizers = object.metadata.finalizers ?? []
  const propagation = finalizers.includes("orphan")
    ? "Orphan"
    : standings.includes("waiting") && dependentsOf(txn.state, object.metadata.uid).length > 0
      ? "Foreground"
      : finalizers.includes("foregroundDeletion")
        ? "Foreground"
        : "Background"
  Deleting.begin(txn, storageOf(txn.state, resource), key, object, { dryRun: false, propagation })
}

const withOwners = (object: KubeObject, owners: ReadonlyArray<OwnerReference>): KubeObject => {
  const { ownerReferences: _, ...meta } = object.metadata
  return { ...object, metadata: owners.length === 0 ? meta : { ...meta, ownerReferences: owners } }
}

/** An Event where an owner can not be where the reference says (F125). */
const reportMisplaced = (txn: Transaction, dependent: KubeObject, owners: ReadonlyArray<OwnerReference>): void => {
  const { namespace } = dependent.metadata
  for (const owner of owners) {
    const definition = definitionOfKind(txn.state, owner.apiVersion, owner.kind)
    if (definition === undefined || !definition.namespaced) continue
    if (namespace !== undefined && !livesElsewhere(txn, definition, owner, namespace)) continue
    const where = namespace === undefined ? "" : ` in namespace ${JSON.stringify(namespace)}`
    warnAbout(
      txn,
      dependent,
      `ownerRef [${owner.apiVersion}/${owner.kind}, namespace: ${namespace ?? ""}, name: ${owner.name}, uid: ${owner.uid}] does not exist${where}`
    )
  }
}

const livesElsewhere = (
  txn: Transaction,
  { resource }: Definition,
  owner: OwnerReference,
  namespace: string
): boolean => {
  let elsewhere = false
  if (find(txn.state, resource, keyOf(namespace, owner.name))?.metadata.uid === owner.uid) return false
  SortedMap.visitFrom(stored(txn.state, resource).objects, "", ({ metadata }) => {
    elsewhere = metadata.uid === owner.uid && metadata.namespace !== namespace
    return !elsewhere
  })
  return elsewhere
}

const warnAbout = (txn: Transaction, { apiVersion, kind, metadata }: KubeObject, message: string): void => {
  const namespace = metadata.namespace ?? "default"
  const home = find(txn.state, "namespaces", namespace)
  if (home === undefined || home.metadata.deletionTimestamp !== undefined) return
  const now = txn.time
  const name = `${metadata.name}.${txn.draw.uid().replaceAll("-", "").slice(0, 16)}`
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace, uid: txn.draw.uid(), creationTimestamp: now },
    involvedObject: {
      kind,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      name: metadata.name,
      uid: metadata.uid,
      apiVersion,
      resourceVersion: metadata.resourceVersion
    },
    reason: "OwnerRefInvalidNamespace",
    message,
    source: { component: "garbage-collector-controller" },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
    type: "Warning",
    eventTime: null,
    reportingComponent: "garbage-collector-controller",
    reportingInstance: ""
  }
  commit(txn, "events", keyOf(namespace, name), event as unknown as KubeObject, undefined)
}

/** Sees to the dependents of an object under deletion that waits for them (F119, F120). */
const finalize = (txn: Transaction, resource: string, key: string): void => {
  const object = find(txn.state, resource, key)
  if (object === undefined || object.metadata.deletionTimestamp === undefined) return
  const { finalizers = [], uid } = object.metadata
  if (finalizers.includes("orphan")) {
    for (const place of dependentsOf(txn.state, uid)) {
      const dependent = find(txn.state, place.resource, place.key)
      const owners = dependent?.metadata.ownerReferences
      if (dependent === undefined || owners === undefined) continue
      const kept = withOwners(
        dependent,
        owners.filter((owner) => owner.uid !== uid)
      )
      commit(txn, place.resource, place.key, kept, dependent)
    }
    release(txn, resource, key, "orphan")
  } else if (finalizers.includes("foregroundDeletion")) {
    for (const place of dependentsOf(txn.state, uid)) judge(txn, place.resource, place.key)
    const blocked = dependentsOf(txn.state, uid).some((place) =>
      find(txn.state, place.resource, place.key)?.metadata.ownerReferences?.some(
        (owner) => owner.uid === uid && owner.blockOwnerDeletion === true
      )
    )
    if (!blocked) release(txn, resource, key, "foregroundDeletion")
  }
}

/** Takes one finalizer away, which ends the object if it was the last. */
const release = (txn: Transaction, resource: string, key: string, finalizer: string): void => {
  const object = find(txn.state, resource, key)
  if (object === undefined) return
  const definition = storageOf(txn.state, resource)
  const kept = (object.metadata.finalizers ?? []).filter((own) => own !== finalizer)
  if (kept.length === object.metadata.finalizers?.length) return
  const next = Deleting.withFinalizers(object, kept)
  if (Deleting.isOver(definition, next)) Deleting.remove(txn, definition, key, object)
  else commit(txn, resource, key, next, object)
}

/** An owner may have waited for this one. */
const awaken = (txn: Transaction, owner: OwnerReference, namespace: string | undefined): void => {
  const definition = definitionOfKind(txn.state, owner.apiVersion, owner.kind)
  if (definition === undefined) return
  finalize(txn, definition.resource, keyOf(definition.namespaced ? namespace : undefined, owner.name))
}

// Custom resources

const followCrd = (txn: Transaction, { key, object, previous, type }: Change): void => {
  if (type === "DELETED") return
  const now = txn.time
  if (object.metadata.deletionTimestamp !== undefined) {
    if (previous?.metadata.deletionTimestamp === undefined) beginRemoval(txn, key)
    return
  }
  if (previous !== undefined && equals(previous.spec, object.spec)) return
  const others = SortedMap.values(stored(txn.state, Crd.crdResource).objects)
  const conflict = Crd.nameConflict(object, others)
  const put = (next: KubeObject): void => {
    const current = find(txn.state, Crd.crdResource, key)!
    if (!equals(next, current)) commit(txn, Crd.crdResource, key, next, current)
  }
  if (conflict !== undefined) {
    const isServed = isEstablished(object)
    put(CrdConditions.withConditions(object, isServed ? [conflict] : [conflict, CrdConditions.notAccepted], now))
    return
  }
  const status = isObject(object.status) ? object.status : {}
  const named: KubeObject = { ...object, status: { ...status, acceptedNames: acceptedNames(object) } }
  if (isEstablished(object)) {
    put(CrdConditions.withConditions(named, [CrdConditions.namesAccepted], now))
  } else {
    put(CrdConditions.withConditions(named, [CrdConditions.namesAccepted, CrdConditions.installing], now))
    const accepted = find(txn.state, Crd.crdResource, key)!
    put(CrdConditions.withConditions(accepted, [CrdConditions.namesAccepted, CrdConditions.established], now))
  }
  serveCrd(txn, object, previous)
}

const isEstablished = ({ status }: KubeObject): boolean =>
  isObject(status) &&
  Array.isArray(status.conditions) &&
  status.conditions.some((c) => isObject(c) && c.type === "Established" && c.status === "True")

const acceptedNames = (crd: KubeObject): unknown => {
  const { categories, kind, listKind, plural, shortNames, singular } = Crd.namesOf(crd)
  return {
    plural,
    singular,
    ...(shortNames.length > 0 && { shortNames }),
    kind,
    listKind,
    ...(categories.length > 0 && { categories })
  }
}

/** Serves what the CRD says now. Stored objects take the form of the new schema at once: the real server does so when they are read (F135). */
const serveCrd = (txn: Transaction, crd: KubeObject, previous: KubeObject | undefined): void => {
  const served = Crd.definitionsOf(crd)
  if (served === undefined) return
  const before = previous === undefined ? undefined : Crd.definitionsOf(previous)
  const { resource, schema, storageVersion } = served.storage
  const without = before === undefined ? txn.state : unserve(txn.state, before.served)
  const { history, objects } = stored(without, resource)
  const converted = SortedMap.mapValues(objects, (object) => Crd.convert(object, schema, storageVersion))
  txn.state = serve(
    { ...without, stored: SortedMap.set(without.stored, resource, { history, objects: converted }) },
    served.served,
    served.storage
  )
  if (before !== undefined) txn.ended.push(resource)
}

const beginRemoval = (txn: Transaction, key: string): void => {
  const crd = find(txn.state, Crd.crdResource, key)!
  const resource = Crd.storedUnder(crd)
  if (SortedMap.get(txn.state.storage, resource) === undefined) {
    release(txn, Crd.crdResource, key, Crd.cleanupFinalizer)
    return
  }
  const now = txn.time
  commit(txn, Crd.crdResource, key, CrdConditions.withConditions(crd, [CrdConditions.deletionInProgress], now), crd)
  const served = Crd.definitionsOf(crd)!
  const { history, objects } = stored(txn.state, resource)
  const state = serve(txn.state, served.served, served.storage)
  // Watches go on until the last object is gone.
  txn.state = { ...state, stored: SortedMap.set(state.stored, resource, { history, objects }) }
  for (const object of SortedMap.values(objects)) {
    const own = keyOf(object.metadata.namespace, object.metadata.name)
    Deleting.begin(txn, served.storage, own, object, { dryRun: false })
  }
  finishCrd(txn, resource)
}

/** Ends a CRD under deletion when the last of its objects has gone (F147). */
const finishCrd = (txn: Transaction, resource: string): void => {
  const definition = SortedMap.get(txn.state.storage, resource)
  if (definition === undefined || !definition.terminating) return
  if (stored(txn.state, resource).objects.size > 0) return
  const crd = find(txn.state, Crd.crdResource, resource)
  txn.ended.push(resource)
  if (crd !== undefined) {
    txn.state = unserve(txn.state, Crd.definitionsOf(crd)?.served ?? [])
    txn.state = forgetResource(txn.state, resource)
    release(txn, Crd.crdResource, resource, Crd.cleanupFinalizer)
  }
}

// Namespaces

const followNamespace = (txn: Transaction, { key, object, previous, type }: Change): void => {
  if (type === "DELETED") {
    txn.state = { ...txn.state, due: SortedMap.remove(txn.state.due, key) }
  } else if (object.metadata.deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined) {
    txn.state = {
      ...txn.state,
      due: SortedMap.set(txn.state.due, key, txn.now + Namespaces.emptiedAfterMillis)
    }
  }
}

/** Does what has become due. Follow it by `settle`. */
export const tick = (txn: Transaction): void => {
  for (const [name, due] of entries(txn.state.due)) {
    if (due > txn.now) continue
    txn.state = { ...txn.state, due: SortedMap.remove(txn.state.due, name) }
    emptyNamespace(txn, name)
  }
}

const entries = (map: SortedMap.SortedMap<number>): ReadonlyArray<readonly [string, number]> =>
  map.leaves.flatMap((leaf) => leaf.keys.map((key, i) => [key, leaf.values[i]!] as const))

/** When there is something to do next, if ever. */
export const nextDue = (due: SortedMap.SortedMap<number>): number | undefined => {
  let least: number | undefined
  for (const time of SortedMap.values(due)) least = least === undefined || time < least ? time : least
  return least
}

const continueEmptying = (txn: Transaction, name: string): void => {
  const namespace = find(txn.state, "namespaces", name)
  if (namespace?.metadata.deletionTimestamp === undefined) return
  if (SortedMap.get(txn.state.due, name) === undefined) emptyNamespace(txn, name)
}

const emptyNamespace = (txn: Transaction, name: string): void => {
  const prefix = keyOf(name, "")
  for (const definition of SortedMap.values(txn.state.storage)) {
    if (!definition.namespaced) continue
    for (const object of SortedMap.valuesWithPrefix(stored(txn.state, definition.resource).objects, prefix)) {
      if (object.metadata.deletionTimestamp !== undefined) continue
      const key = keyOf(name, object.metadata.name)
      // Others of the namespace may have gone with one before.
      if (find(txn.state, definition.resource, key) !== object) continue
      Deleting.begin(txn, definition, key, object, { dryRun: false, propagation: "Background" })
    }
  }
  const namespace = find(txn.state, "namespaces", name)
  if (namespace === undefined) return
  const remaining = remainingIn(txn, prefix)
  if (remaining.length === 0) {
    const spec = isObject(namespace.spec) ? namespace.spec : {}
    const freed = { ...namespace, spec: { ...spec, finalizers: [] } }
    const definition = storageOf(txn.state, "namespaces")
    if (Deleting.isOver(definition, freed)) Deleting.remove(txn, definition, name, namespace)
    else if (!equals(freed, namespace)) commit(txn, "namespaces", name, freed, namespace)
    return
  }
  const told = Namespaces.remainingConditions(namespace, remaining, txn.time)
  if (!equals(told, namespace)) commit(txn, "namespaces", name, told, namespace)
}

const remainingIn = (txn: Transaction, prefix: string): ReadonlyArray<Namespaces.Remaining> =>
  SortedMap.values(txn.state.storage).flatMap((definition) => {
    if (!definition.namespaced) return []
    const left = SortedMap.valuesWithPrefix(stored(txn.state, definition.resource).objects, prefix)
    if (left.length === 0) return []
    return [
      {
        resource: `${definition.plural}.${definition.group}`,
        count: left.length,
        finalizers: left.flatMap((object) => object.metadata.finalizers ?? [])
      }
    ]
  })
