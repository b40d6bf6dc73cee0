/** What must hold of the access operator's world, each check a pure function from what was observed to the lines that say what is wrong. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { cleanup } from "../src/access/role.ts"
import { type RegistryCall, registeredBy } from "./registryFile.ts"
import { type Act, rulesOf, type RoleWish, spoilt, type Wish } from "./wishes.ts"

/** All of one namespace, and the calls to the registry. */
export interface Observed {
  readonly roles: ReadonlyArray<KubeObject>
  readonly scopes: ReadonlyArray<KubeObject>
  readonly configMaps: ReadonlyArray<KubeObject>
  readonly events: ReadonlyArray<KubeObject>
  readonly calls: ReadonlyArray<RegistryCall>
}

const statusOf = (object: KubeObject): Readonly<Record<string, any>> => (object.status ?? {}) as Record<string, any>

const conditionOf = (object: KubeObject): Readonly<Record<string, any>> | undefined =>
  statusOf(object).conditions?.find((one: { type: string }) => one.type === "Ready")

const readyOf = (object: KubeObject): string => {
  const ready = conditionOf(object)
  return ready === undefined ? "no condition" : `${ready.status} ${ready.reason}`
}

/** Whether Ready is told for the spec as it is now. */
const isCurrent = (object: KubeObject): boolean =>
  statusOf(object).observedGeneration === object.metadata.generation &&
  conditionOf(object)?.observedGeneration === object.metadata.generation

const isHeld = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(cleanup) === true

const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

const ownerOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid

const named = (all: ReadonlyArray<KubeObject>, name: string): KubeObject | undefined =>
  all.find(({ metadata }) => metadata.name === name)

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const sorted = (record: object): object => Object.fromEntries(Object.entries(record).toSorted())

/** A line for each way in which the objects are not yet, or no longer, what is wished for; none where the operator has done its work. */
export const unmet = (wish: Wish, observed: Observed): ReadonlyArray<string> => {
  const { calls, roles, scopes } = observed
  const registered = registeredBy(calls)
  return [
    ...roles
      .filter(({ metadata }) => !wish.roles.has(metadata.name))
      .map(({ metadata }) => `Role ${metadata.name} is still there`),
    ...[...wish.roles].flatMap(([name, role]) => unmetRole(name, role, wish, observed, registered)),
    ...[...wish.scopes].flatMap(([name]) => {
      const count = [...wish.roles.values()].filter((role) => role.scope === name).length
      const scope = named(scopes, name)
      if (scope === undefined) return [`Scope ${name} is not there`]
      const said = `${readyOf(scope)} ${statusOf(scope).roles} ${isCurrent(scope)}`
      return said === `True Synced ${count} true` ? [] : [`Scope ${name} says ${said}, not ${count}`]
    })
  ]
}

const unmetRole = (
  name: string,
  wish: RoleWish,
  { scopes }: Wish,
  { configMaps, roles }: Observed,
  registered: ReadonlyMap<string, string>
): ReadonlyArray<string> => {
  const role = named(roles, name)
  if (role === undefined || isDeleting(role)) return [`Role ${name} is not there`]
  const faults: Array<string> = []
  const demand = (what: string, is: unknown, wanted: unknown): void => {
    if (!same(is, wanted)) faults.push(`Role ${name}: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`)
  }
  const members = scopes.get(wish.scope)
  demand("its finalizers", role.metadata.finalizers, [cleanup])
  demand("Ready", readyOf(role), members === undefined ? "False ScopeNotFound" : "True Synced")
  demand("Ready for its generation", isCurrent(role), true)
  demand("status.scope", statusOf(role).scope, wish.scope)
  if (members === undefined) return faults
  const config = named(configMaps, `${name}-rules`)
  demand("status.members", statusOf(role).members, members.length)
  demand("status.rules", statusOf(role).rules, wish.rules.length)
  demand("its owner of the ConfigMap", config === undefined ? undefined : ownerOf(config), role.metadata.uid)
  demand("the label of the ConfigMap", config?.metadata.labels, { "access.example.com/scope": wish.scope })
  const wanted = Object.fromEntries(members.map((member) => [member, rulesOf(wish)]))
  // An entry that was spoilt and is wanted no more before anybody mended it is now the spoiler's.
  const data = Object.entries((config?.data ?? {}) as Record<string, string>).filter(
    ([member, text]) => member in wanted || text !== spoilt
  )
  demand("the ConfigMap", sorted(Object.fromEntries(data)), sorted(wanted))
  demand("its registration", registered.get(role.metadata.uid), name)
  return faults
}

/** ConfigMaps whose Role is gone: the garbage collector takes them in its time. */
export const orphans = ({ configMaps, roles }: Observed): ReadonlyArray<string> => {
  const uids = new Set(roles.map(({ metadata }) => metadata.uid))
  return configMaps
    .filter((config) => ownerOf(config) !== undefined && !uids.has(ownerOf(config)!))
    .map(({ metadata }) => `ConfigMap ${metadata.name} has no Role any more`)
}

/**
 * What must never be so, in the middle of all work neither: something outside without a Role that is held for its clean-up (K11), a child of a Role that is
 * not, a Ready of which its child knows nothing (B44), an event that the condition gives the lie. `touched`: Roles whose ConfigMaps others have changed.
 */
export const contradictions = (observed: Observed, touched: ReadonlySet<string>): ReadonlyArray<string> => {
  const { calls, configMaps, events, roles } = observed
  const byUid = new Map(roles.map((role) => [role.metadata.uid, role]))
  const registered = registeredBy(calls)
  return [
    ...[...registered].flatMap(([uid, name]) => {
      const role = byUid.get(uid)
      return role !== undefined && isHeld(role) ? [] : [`${name} is registered, and no Role is held for its clean-up`]
    }),
    ...configMaps.flatMap((config) => {
      const role = byUid.get(ownerOf(config) ?? "")
      return role === undefined || isHeld(role) || isDeleting(role)
        ? []
        : [`ConfigMap ${config.metadata.name} was made before its Role was held`]
    }),
    ...roles.flatMap((role) => (touched.has(role.metadata.name) ? [] : falseReady(role, configMaps, registered))),
    ...roles.flatMap((role) => events.flatMap((event) => falseEvent(role, event)))
  ]
}

/** A True for this generation is of a pass that came to its end. */
const falseReady = (
  role: KubeObject,
  configMaps: ReadonlyArray<KubeObject>,
  registered: ReadonlyMap<string, string>
): ReadonlyArray<string> => {
  if (conditionOf(role)?.status !== "True" || !isCurrent(role) || isDeleting(role)) return []
  const { name, uid } = role.metadata
  const spec = role.spec as unknown as RoleWish
  const config = named(configMaps, `${name}-rules`)
  const texts = Object.values((config?.data ?? {}) as Record<string, string>)
  const holds =
    config?.metadata.labels?.["access.example.com/scope"] === spec.scope &&
    texts.length > 0 &&
    texts.every((text) => text === rulesOf(spec))
  return [
    ...(holds ? [] : [`Role ${name} is Ready, and its ConfigMap is not: ${JSON.stringify(config?.data)}`]),
    ...(registered.has(uid) ? [] : [`Role ${name} is Ready, and is not registered`])
  ]
}

/** Times are in whole seconds. A failure may have been told while its status could not be written (B53), and contradicts nothing. */
const falseEvent = (role: KubeObject, event: KubeObject): ReadonlyArray<string> => {
  const ready = conditionOf(role)
  const { involvedObject, lastTimestamp, message, reason, type } = event as Readonly<Record<string, any>>
  if (reason === "ReconcileFailed") return []
  if (involvedObject.uid !== role.metadata.uid || ready === undefined || isDeleting(role)) return []
  const isLater = Date.parse(lastTimestamp) > Date.parse(ready.lastTransitionTime)
  const isTrue = (type === "Normal") === (ready.status === "True")
  return isLater && !isTrue
    ? [
        `${type} "${message}" of ${lastTimestamp}, and Role ${role.metadata.name} is ${readyOf(role)} since ${ready.lastTransitionTime}`
      ]
    : []
}

/** What was done or told more often than there was reason to; `acts`: all that users did. */
export const repeated = ({ calls, events }: Observed, acts: ReadonlyArray<Act>): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const uids = new Map<string, string>()
  for (const { name, uid } of calls) if (name !== "") uids.set(uid, name)
  for (const [uid, name] of uids) {
    const did = calls.filter((call) => call.uid === uid && call.did).map(({ call }) => call)
    if (did.length > 2 || did[0] !== "register" || (did.length === 2 && did[1] !== "release"))
      faults.push(`${name} was registered anew: ${did.join(", ")}`)
  }
  const told = new Map<string, { readonly role: string; readonly text: string; count: number }>()
  for (const event of events) {
    const { count, involvedObject, message, reason } = event as Readonly<Record<string, any>>
    if (involvedObject.kind !== "Role") continue
    const parts = reason === "Reconciled" ? String(message).split(", ") : [String(reason)]
    for (const text of parts) {
      const key = `${involvedObject.uid} ${text}`
      const before = told.get(key)?.count ?? 0
      told.set(key, { role: involvedObject.name, text, count: before + (count ?? 1) })
    }
  }
  for (const { count, role, text } of told.values()) {
    const most = reasonsFor(role, text, acts)
    if (count > most)
      faults.push(`"${text}" was told ${count} times of Role ${role}, for which there were ${most} reasons`)
  }
  return faults
}

/** How often that may be told of one Role. */
const reasonsFor = (role: string, text: string, acts: ReadonlyArray<Act>): number => {
  const ofRole = acts.filter((act) => "name" in act && act.name === role)
  const changes = ofRole.filter((act) => act.do === "set role").length
  const scopes = new Set(ofRole.flatMap((act) => (act.do === "set role" ? [act.wish.scope] : [])))
  const ofScopes = acts.filter(
    (act) => (act.do === "set scope" || act.do === "remove scope") && scopes.has(act.name)
  ).length
  if (text.startsWith("created ConfigMap")) return 1 + ofRole.filter((act) => act.do === "drop").length
  if (text.startsWith("registered") || text.startsWith("released")) return 1
  if (text.startsWith("updated ConfigMap"))
    return changes + ofScopes + ofRole.filter((act) => act.do === "spoil").length
  return changes + ofScopes
}
