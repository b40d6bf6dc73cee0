/** The RBAC rules that a set of controllers needs: exactly what the engine asks of the server for what they declare. */
import type * as Controller from "../Controller.ts"
import type { Resource } from "../KubeObject.ts"
import { coreV1, eventsV1 } from "./eventsApi.ts"
import { kindsOf } from "./informers.ts"

/** A rule of `rbac.authorization.k8s.io/v1`. */
export interface PolicyRule {
  readonly apiGroups: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<string>
}

export interface RbacOptions {
  /**
   * Through which API the operator posts Events: `core` by `EventPoster.layer`, `events.k8s.io` by `EventPoster.layerEventsV1`, `none` by
   * `EventPoster.layerNone`. Default `core`.
   */
  readonly events?: "core" | "events.k8s.io" | "none"
}

/** Each posting of an Event is one of these (D18, D21). */
export const postingVerbs = ["create", "patch"]
const resources = { core: coreV1.resource, "events.k8s.io": eventsV1.resource }

const order = ["get", "list", "watch", "create", "update", "patch", "delete"]
/** `get` serves the read that stands in when a cache lags. */
const reading = ["get", "list", "watch"]
/** An apply that creates needs `create` too. */
const writing = ["create", "patch", "delete"]

/** Rules of one group with equal verbs become one; groups, resources and verbs come in a fixed order. */
export const rulesOf = (
  controllers: ReadonlyArray<Controller.Any>,
  { events = "core" }: RbacOptions
): ReadonlyArray<PolicyRule> => {
  const granted = new Map<string, { readonly group: string; readonly resource: string; readonly verbs: Set<string> }>()
  const grant = (
    { group, plural }: Pick<Resource, "group" | "plural">,
    verbs: ReadonlyArray<string>,
    subresource?: string
  ) => {
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`
    const key = `${group} ${resource}`
    const entry = granted.get(key) ?? { group, resource, verbs: new Set<string>() }
    for (const verb of verbs) entry.verbs.add(verb)
    granted.set(key, entry)
  }
  for (const controller of controllers) {
    const kind = controller.for
    for (const read of kindsOf(controller)) grant(read, reading)
    for (const written of [...controller.owns, ...controller.writes]) grant(written, writing)
    if (kind.hasStatus) grant(kind, ["patch"], controller.noStatusSubresource ? undefined : "status")
    if (controller.reconciler.finalizers.length > 0) grant(kind, ["patch"])
    // An owner reference that blocks the owner's deletion is admitted only to those who may set the owner's finalizers, where that is enforced.
    if (controller.owns.length + controller.writes.length > 0) grant(kind, ["update"], "finalizers")
  }
  if (controllers.length > 0 && events !== "none") grant(resources[events], postingVerbs)

  const rules = new Map<string, { group: string; resources: Array<string>; verbs: ReadonlyArray<string> }>()
  for (const { group, resource, verbs } of granted.values()) {
    const sorted = order.filter((verb) => verbs.has(verb))
    const key = `${group} ${sorted.join()}`
    const rule = rules.get(key) ?? { group, resources: [], verbs: sorted }
    rule.resources.push(resource)
    rules.set(key, rule)
  }
  return [...rules.values()]
    .map(({ group, resources, verbs }) => ({ apiGroups: [group], resources: resources.sort(), verbs }))
    .sort((a, b) => compare(a.apiGroups[0]!, b.apiGroups[0]!) || compare(a.resources[0]!, b.resources[0]!))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
