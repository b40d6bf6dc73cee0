/** Looks at the demo's namespace, the operator's queues, the registry and the database: what the screen shows and the acts expect. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as Manager from "@fixpoint/core/Manager"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConfigMap, Role, Scope } from "../kinds.ts"
import { fieldManager } from "../operator.ts"
import type { DatabaseError } from "../persisted/Database.ts"
import { Registry, type RegistryError } from "../Registry.ts"
import { Records } from "./records.ts"
import { duration, titleOf, type View } from "./view.ts"
import { Ground } from "./world.ts"

const events: Resource = { group: "", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" }

/** Counts the passes of the Manager that is given it as `OnSettled`. */
export interface Tally {
  passes: number
}

/** By the version of their last change: decimals, compared by length first. */
const inOrder = (a: KubeObject, b: KubeObject): number => {
  const [left, right] = [a.metadata.resourceVersion, b.metadata.resourceVersion]
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0)
}

const isOurs = (event: KubeObject): boolean =>
  event.reportingComponent === fieldManager || (event.source as any)?.component === fieldManager

/** `roles: 1 ready, 2 waiting for a timer`. */
const queueText = ({ controller, queue }: Effect.Success<Manager.Manager["Service"]["queues"]>[number]): string =>
  [
    `${controller}: ${queue.ready} ready`,
    `${queue.processing.length} running`,
    ...queue.next.slice(0, 3).map(({ inMillis, key }) => `${key} in ${duration(inMillis)}`)
  ].join(", ")

/** What may keep one from looking. */
export type LookError = ApiError | RegistryError | DatabaseError

/** One look. Of several requests, so it may show a moment that never was; whoever waits for something looks again. */
export const look = (tally: Tally): Effect.Effect<View, LookError, ApiClient | Ground | Manager.Manager | Registry> =>
  Effect.gen(function* () {
    const { namespace } = yield* Ground
    const api = yield* ApiClient
    const manager = yield* Manager.Manager
    const registry = yield* Registry
    const records = yield* Records
    const list = (resource: Resource) => Effect.map(api.list(resource, { namespace }), ({ items }) => items)
    const [scopes, roles, configMaps, said] = yield* Effect.all([Scope, Role, ConfigMap, events].map(list), {
      concurrency: "unbounded"
    })
    const next = new Map<string, number>()
    for (const [kind, objects] of [
      [Scope, scopes],
      [Role, roles]
    ] as const)
      for (const object of objects ?? []) {
        const millis = yield* manager.nextOf(kind, object.metadata)
        if (millis !== undefined) next.set(titleOf(object), millis)
      }
    return {
      scopes: scopes ?? [],
      roles: roles ?? [],
      // Every namespace of a real cluster has one with its authority.
      configMaps: (configMaps ?? []).filter(({ metadata }) => metadata.name !== "kube-root-ca.crt"),
      events: (said ?? []).filter(isOurs).sort(inOrder),
      ...(records !== undefined && { records: yield* records.rows(namespace) }),
      registered: [...(yield* registry.entries).values()].sort(),
      next,
      queues: (yield* manager.queues).map(queueText),
      passes: tally.passes
    }
  })

/** The object as it is now; none if it is not there. */
export const find = (resource: Resource, name: string) =>
  Effect.gen(function* () {
    const { namespace } = yield* Ground
    const api = yield* ApiClient
    return yield* Effect.catchReason(
      Effect.asSome(api.get(resource, { namespace, name })),
      "ApiError",
      "NotFound",
      () => Effect.succeed(Option.none<KubeObject>())
    )
  })
