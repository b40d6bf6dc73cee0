/** All that a server knows, as one value. A step answers a new one that shares all that did not change; none is ever changed in place. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { Definition } from "./definition.ts"
import * as History from "./history.ts"
import type { Draw } from "./random.ts"
import * as SortedMap from "./sortedMap.ts"

export interface Stored {
  readonly objects: SortedMap.SortedMap<KubeObject>
  readonly history: History.History
}

/** Where a dependent lives. */
export interface Place {
  readonly resource: string
  readonly key: string
}

export interface State {
  /** The one counter of versions (F2). */
  readonly rv: number
  readonly stored: SortedMap.SortedMap<Stored>
  /** By `group/version/plural`. */
  readonly served: SortedMap.SortedMap<Definition>
  /** By `apiVersion/kind`: what owner references name. */
  readonly kinds: SortedMap.SortedMap<Definition>
  /** By resource: the definition of the storage version. */
  readonly storage: SortedMap.SortedMap<Definition>
  /** By `uid of the owner/resource/key`: the objects that name it as their owner. */
  readonly dependents: SortedMap.SortedMap<Place>
  /** When namespaces under deletion are emptied (F129), in milliseconds since 1970, by name. */
  readonly due: SortedMap.SortedMap<number>
}

export const empty: State = {
  rv: 1,
  stored: SortedMap.empty(),
  served: SortedMap.empty(),
  kinds: SortedMap.empty(),
  storage: SortedMap.empty(),
  dependents: SortedMap.empty(),
  due: SortedMap.empty()
}

/** A step under way: the state so far, and what watches shall hear of it, in order. */
export interface Transaction {
  state: State
  readonly changes: Array<History.Change>
  /** Resources whose watches end cleanly (F68, F69), after the changes so far. */
  readonly ended: Array<string>
  readonly warnings: Array<string>
  /** Milliseconds since 1970. */
  readonly now: number
  /** The same, as objects bear it. */
  readonly time: string
  readonly draw: Draw
}

const nothing: Stored = { objects: SortedMap.empty(), history: History.make(0) }

export const stored = (state: State, resource: string): Stored => SortedMap.get(state.stored, resource) ?? nothing

export const find = (state: State, resource: string, key: string): KubeObject | undefined =>
  SortedMap.get(stored(state, resource).objects, key)

export const definitionAt = (state: State, group: string, version: string, plural: string): Definition | undefined =>
  SortedMap.get(state.served, `${group}/${version}/${plural}`)

export const definitionOfKind = (state: State, apiVersion: string, kind: string): Definition | undefined =>
  SortedMap.get(state.kinds, `${apiVersion}/${kind}`)

export const storageOf = (state: State, resource: string): Definition => {
  const definition = SortedMap.get(state.storage, resource)
  if (definition === undefined) throw new Error(`nothing is stored under ${resource}`)
  return definition
}

/** The objects that name this uid as an owner. */
export const dependentsOf = (state: State, uid: string): ReadonlyArray<Place> =>
  SortedMap.valuesWithPrefix(state.dependents, `${uid}/`)

/** Adds or replaces definitions. The caches of their resources begin now, so that older versions are too old for a watch (F55, F69). */
export const serve = (state: State, definitions: ReadonlyArray<Definition>, storage: Definition): State => ({
  ...state,
  served: definitions.reduce((map, d) => SortedMap.set(map, `${d.group}/${d.version}/${d.plural}`, d), state.served),
  kinds: definitions.reduce((map, d) => SortedMap.set(map, `${d.apiVersion}/${d.kind}`, d), state.kinds),
  storage: SortedMap.set(state.storage, storage.resource, storage),
  stored: SortedMap.set(state.stored, storage.resource, {
    objects: stored(state, storage.resource).objects,
    history: History.make(state.rv)
  })
})

/** Serves these definitions no longer; their objects stay until `forgetResource`. */
export const unserve = (state: State, definitions: ReadonlyArray<Definition>): State => ({
  ...state,
  served: definitions.reduce((map, d) => SortedMap.remove(map, `${d.group}/${d.version}/${d.plural}`), state.served),
  kinds: definitions.reduce((map, d) => SortedMap.remove(map, `${d.apiVersion}/${d.kind}`), state.kinds)
})

export const forgetResource = (state: State, resource: string): State => ({
  ...state,
  storage: SortedMap.remove(state.storage, resource),
  stored: SortedMap.remove(state.stored, resource)
})

const indexOwners = (
  dependents: State["dependents"],
  place: Place,
  previous: KubeObject | undefined,
  next: KubeObject | undefined
): State["dependents"] => {
  const before = previous?.metadata.ownerReferences
  const after = next?.metadata.ownerReferences
  if (before === after) return dependents
  const entry = (uid: string): string => `${uid}/${place.resource}/${place.key}`
  const without = (before ?? []).reduce((map, owner) => SortedMap.remove(map, entry(owner.uid)), dependents)
  return (after ?? []).reduce((map, owner) => SortedMap.set(map, entry(owner.uid), place), without)
}

/** The object with another version, the rest as it is. */
export const withVersion = (object: KubeObject, rv: number): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(rv) }
})

/**
 * Stores an object under the next version, which the answer bears, or removes it if `object` is undefined: the answer is then what DELETED shows,
 * the object as last stored with the version of the deletion (F61, F62).
 */
export const commit = (
  txn: Transaction,
  resource: string,
  key: string,
  object: KubeObject | undefined,
  previous: KubeObject | undefined
): KubeObject => {
  const { state } = txn
  const rv = state.rv + 1
  const { history, objects } = stored(state, resource)
  const shown = withVersion(object ?? previous!, rv)
  const change: History.Change = {
    resource,
    key,
    rv,
    at: txn.now,
    type: object === undefined ? "DELETED" : previous === undefined ? "ADDED" : "MODIFIED",
    object: shown,
    previous
  }
  txn.changes.push(change)
  txn.state = {
    ...state,
    rv,
    stored: SortedMap.set(state.stored, resource, {
      objects: object === undefined ? SortedMap.remove(objects, key) : SortedMap.set(objects, key, shown),
      history: History.append(history, change)
    }),
    dependents: indexOwners(state.dependents, { resource, key }, previous, object)
  }
  return shown
}
