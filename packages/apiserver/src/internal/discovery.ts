/**
 * What the server serves, as discovery clients ask for it: group by group, or all at once (`APIGroupDiscoveryList`).
 *
 * Assumption: the order of groups is that of a 1.36 server; custom groups follow, by name.
 */
import { virtualResources } from "./accessReviews.ts"
import type { Definition } from "./definition.ts"
import { groupBy, type JsonObject } from "./json.ts"
import { compareVersions } from "./kubeVersion.ts"
import * as SortedMap from "./sortedMap.ts"
import type { State } from "./state.ts"

/** A resource or subresource as both forms of discovery need it. */
interface Entry {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: ReadonlyArray<string>
  readonly shortNames: ReadonlyArray<string>
  readonly categories: ReadonlyArray<string>
  readonly subresources: ReadonlyArray<Subresource>
}

interface Subresource {
  readonly name: string
  /** Of the kind that it takes, where that is another than the resource's. */
  readonly group?: string
  readonly version?: string
  readonly kind: string
}

/** One version of a group. */
export interface GroupVersion {
  readonly group: string
  readonly version: string
  readonly custom: boolean
  readonly entries: ReadonlyArray<Entry>
}

interface Group {
  readonly name: string
  /** The preferred version first. */
  readonly versions: readonly [GroupVersion, ...Array<GroupVersion>]
}

/** As a server orders them. A group that is not served takes no place. */
const builtInGroups: ReadonlyArray<string> = [
  "",
  "apiregistration.k8s.io",
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
  "resource.k8s.io",
  "flowcontrol.apiserver.k8s.io"
]

/** Of a server without any custom kind. */
export const isBuiltInGroup = (group: string): boolean => builtInGroups.includes(group)

const rank = (group: string): number => {
  const at = builtInGroups.indexOf(group)
  return at < 0 ? builtInGroups.length : at
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const subresourcesOf = ({ custom, hasStatus, kind, scale }: Definition): ReadonlyArray<Subresource> => {
  const status = hasStatus ? [{ name: "status", kind }] : []
  const scales = scale === undefined ? [] : [{ name: "scale", group: "autoscaling", version: "v1", kind: "Scale" }]
  return custom ? [...status, ...scales] : [...scales, ...status]
}

/** A kind under deletion is read and deleted, no more. */
const writes: ReadonlySet<string> = new Set(["create", "patch", "update"])

const entryOf = (definition: Definition): Entry => ({
  ...definition,
  verbs: definition.terminating ? definition.verbs.filter((verb) => !writes.has(verb)) : definition.verbs,
  subresources: subresourcesOf(definition)
})

const nothing = { shortNames: [], categories: [], subresources: [] }

/** Every group with its versions, in the order of discovery. */
const groupsOf = (state: State): ReadonlyArray<Group> => {
  const found = [
    ...SortedMap.values(state.served).map((definition) => ({ ...definition, entry: entryOf(definition) })),
    ...virtualResources.map((one) => ({ ...one, custom: false, entry: { ...one, ...nothing } }))
  ]
  return [...groupBy(found, ({ group }) => group)]
    .map(([name, members]): Group => {
      const versions = [...groupBy(members, ({ version }) => version)].map(([version, own]): GroupVersion => ({
        group: name,
        version,
        custom: own[0]!.custom,
        entries: own.map(({ entry }) => entry).toSorted((a, b) => compareTexts(a.plural, b.plural))
      }))
      const [first, ...others] = versions.toSorted((a, b) => compareVersions(a.version, b.version))
      return { name, versions: [first!, ...others] }
    })
    .toSorted((a, b) => rank(a.name) - rank(b.name) || compareTexts(a.name, b.name))
}

/** Every version of every group, in the order of discovery. */
export const groupVersionsOf = (state: State): ReadonlyArray<GroupVersion> =>
  groupsOf(state).flatMap(({ versions }) => versions)

export const apiVersionOf = ({ group, version }: Pick<GroupVersion, "group" | "version">): string =>
  group === "" ? version : `${group}/${version}`

/** `address` is where this server is reached, `host:port`. */
export const apiVersions = (address: string): JsonObject => ({
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }]
})

const groupBody = ({ name, versions }: Group): JsonObject => {
  const [preferredVersion, ...others] = versions.map((one) => ({
    groupVersion: apiVersionOf(one),
    version: one.version
  }))
  return { name, versions: [preferredVersion, ...others], preferredVersion }
}

/** The least of the names under which the versions of a group are registered, `v1.apps`: this document orders custom groups by it. */
const registration = ({ name, versions }: Group): string =>
  versions.map(({ version }) => `${version}.${name}`).toSorted(compareTexts)[0]!

export const apiGroupList = (state: State): JsonObject => ({
  kind: "APIGroupList",
  apiVersion: "v1",
  groups: groupsOf(state)
    .filter(({ name }) => name !== "")
    .toSorted((a, b) => rank(a.name) - rank(b.name) || compareTexts(registration(a), registration(b)))
    .map(groupBody)
})

export const apiGroup = (state: State, name: string): JsonObject | undefined => {
  const group = groupsOf(state).find((one) => one.name === name)
  return group === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...groupBody(group) }
}

const subresourceVerbs = ["get", "patch", "update"]

const named = ({ categories, shortNames }: Entry): JsonObject => ({
  ...(shortNames.length > 0 && { shortNames }),
  ...(categories.length > 0 && { categories })
})

const resourcesOf = (entry: Entry): ReadonlyArray<JsonObject> => [
  {
    name: entry.plural,
    singularName: entry.singular,
    namespaced: entry.namespaced,
    kind: entry.kind,
    verbs: entry.verbs,
    ...named(entry)
  },
  ...entry.subresources.map(({ name, ...taken }) => ({
    name: `${entry.plural}/${name}`,
    singularName: "",
    namespaced: entry.namespaced,
    ...taken,
    verbs: subresourceVerbs
  }))
]

export const apiResourceList = (state: State, group: string, version: string): JsonObject | undefined => {
  const found = groupVersionsOf(state).find((one) => one.group === group && one.version === version)
  return found === undefined
    ? undefined
    : {
        kind: "APIResourceList",
        ...(group !== "" && { apiVersion: "v1" }),
        groupVersion: apiVersionOf(found),
        resources: found.entries.flatMap(resourcesOf)
      }
}

const aggregatedEntry = ({ custom, group, version }: GroupVersion, entry: Entry): JsonObject => {
  // Built-in kinds are those of the group version that lists them, and say so by nothing.
  const own = custom ? { group, version } : { group: "", version: "" }
  return {
    resource: entry.plural,
    responseKind: { ...own, kind: entry.kind },
    scope: entry.namespaced ? "Namespaced" : "Cluster",
    singularResource: entry.singular,
    verbs: entry.verbs,
    ...named(entry),
    ...(entry.subresources.length > 0 && {
      subresources: entry.subresources.map(({ name, ...taken }) => ({
        subresource: name,
        responseKind: { ...own, ...taken },
        verbs: subresourceVerbs
      }))
    })
  }
}

/** `core`: of the group that `/api` leads to, else of all that `/apis` leads to. */
export const aggregated = (state: State, core: boolean): JsonObject => ({
  kind: "APIGroupDiscoveryList",
  apiVersion: "apidiscovery.k8s.io/v2",
  metadata: {},
  items: groupsOf(state)
    .filter(({ name }) => (name === "") === core)
    .map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map((one) => ({
        version: one.version,
        resources: one.entries.map((entry) => aggregatedEntry(one, entry)),
        freshness: "Current"
      }))
    }))
})
