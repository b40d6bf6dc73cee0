/** A cluster in memory with the operator's kinds, and a way to start the operator in it, to let it come to rest, and to compare what came of it. */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import type { ApiClient } from "@fixpoint/core/ApiClient"
import { FieldManager } from "@fixpoint/core/FieldManager"
import type { KubeObject, ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import * as Manager from "@fixpoint/core/Manager"
import type { Wakes } from "@fixpoint/core/Wake"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ConfigMap, Role, Scope as AccessScope } from "../src/access/kinds.ts"
import { definitions } from "../src/access/manifests.ts"
import { fieldManager, roles, rolesByFunction, scopes } from "../src/access/operator.ts"
import { Registry } from "../src/access/Registry.ts"

export const namespace = "team"
export const at = (name: string) => ({ namespace, name })

export const events: Resource = { group: "", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" }

export const roleManifest = (name: string, spec: object = {}): ObjectInput => ({
  apiVersion: "access.example.com/v1",
  kind: "Role",
  metadata: { namespace, name },
  spec: { scope: "docs", rules: [{ resource: "articles", verbs: ["read", "write"] }], ...spec }
})

export const scopeManifest = (name: string, members: ReadonlyArray<string> = ["ada", "grace"]): ObjectInput => ({
  apiVersion: "access.example.com/v1",
  kind: "Scope",
  metadata: { namespace, name },
  spec: { members }
})

/** A new one for each call. */
export const memory = (): Layer.Layer<ApiClient | ApiServer.ApiServer | Registry> =>
  Layer.merge(
    ApiServer.layer({
      kinds: definitions,
      objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }],
      seed: 1
    }),
    Layer.fresh(Registry.layerMemory)
  )

export const forms = { "the pipeline": [roles, scopes], "the function": [rolesByFunction, scopes] } as const
export type Form = readonly [typeof roles | typeof rolesByFunction, typeof scopes]

export interface Operator {
  /** One line for each settled pass. */
  readonly passes: Array<string>
  readonly wakes: Context.Context<
    Wakes<"access.example.com/Role"> | Wakes<"access.example.com/Scope"> | Manager.Manager
  >
  readonly stop: Effect.Effect<void>
}

/** Starts the operator; it runs until it is stopped, or the test's scope ends. */
export const start = (
  controllers: Form = forms["the pipeline"],
  grace: "1 millis" | "30 seconds" = "30 seconds"
): Effect.Effect<Operator, Manager.ManagerError, ApiClient | Registry | Scope.Scope> =>
  Effect.gen(function* () {
    const passes: Array<string> = []
    const scope = yield* Scope.fork(yield* Effect.scope)
    const operator = Manager.layer(controllers, { grace }).pipe(
      Layer.provide(
        Layer.succeed(Manager.OnSettled, ({ kind, outcome, reason, ref }) => {
          passes.push(`${kind.kind} ${ref.name}: ${outcome} ${reason}`)
        })
      ),
      Layer.provide(Layer.succeed(FieldManager, fieldManager))
    )
    const wakes = yield* Layer.buildWithScope(operator, scope)
    return { passes, wakes, stop: Scope.close(scope, Exit.void) }
  })

/** Every fiber that can run has run; the clock stands still. */
export const quiet: Effect.Effect<void, never, ApiServer.ApiServer> = Effect.gen(function* () {
  const server = yield* ApiServer.ApiServer
  const requests = Effect.map(server.log, (log) => log.length)
  for (let before = -1, now = yield* requests, still = 0; still < 2; before = now, now = yield* requests) {
    still = now === before ? still + 1 : 0
    yield* Effect.repeat(Effect.yieldNow, { times: 100 })
  }
})

/** Runs an effect that may wait for timers: the clock goes on until it has ended, for an hour at most. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    for (let seconds = 0; seconds < 3_600; seconds += 5) {
      yield* Effect.repeat(Effect.yieldNow, { times: 100 })
      if (fiber.pollUnsafe() !== undefined) break
      yield* TestClock.adjust("5 seconds")
    }
    return yield* Fiber.join(fiber)
  })

const uids = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g
const times = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Without what differs from run to run: uids, versions, times, and the order of managers, which is that of their times. */
const timeless = (value: unknown, key?: string): unknown => {
  if (Array.isArray(value)) {
    const inner = value.map((one) => timeless(one))
    return key === "managedFields" ? inner.sort((a: any, b: any) => (a.manager < b.manager ? -1 : 1)) : inner
  }
  if (typeof value === "string") return times.test(value) ? "a time" : value
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !["uid", "resourceVersion", "time"].includes(key))
      .map(([key, inner]) => [key.replace(uids, "a uid"), timeless(inner, key)])
  )
}

/**
 * All objects that the operator reads or writes, managed fields too, and what stands outside of the cluster: what must not depend on how it came about, nor on
 * the cluster.
 */
export const stateOf = (objects: ReadonlyArray<KubeObject>, registered: Iterable<string>) => ({
  objects: objects.filter(({ metadata }) => metadata.name !== "kube-root-ca.crt").map((object) => timeless(object)),
  registered: [...registered].sort()
})

/** Behind the API of the cluster in memory. */
export const state = Effect.gen(function* () {
  const server = yield* ApiServer.ApiServer
  const registry = yield* Registry
  const objects = (yield* Effect.forEach([AccessScope, Role, ConfigMap], server.objects)).flat()
  return stateOf(objects, (yield* registry.entries).values())
})

export const eventTexts = Effect.gen(function* () {
  const server = yield* ApiServer.ApiServer
  return (yield* server.objects(events)).map((event) => {
    const { count, involvedObject, message, reason, type } = event as Readonly<Record<string, any>>
    return `${type} ${reason} ${involvedObject.kind} ${involvedObject.name}: ${message} (${count})`
  })
})

/** What was asked of the server since `clearLog`, but the watches, which are renewed. */
export const requests = Effect.gen(function* () {
  const server = yield* ApiServer.ApiServer
  return (yield* server.log)
    .filter(({ operation }) => operation.verb !== "watch")
    .map(({ code, operation }) => `${operation.verb} ${operation.resource} ${operation.ref?.name ?? ""} ${code}`)
})

export const ready = (object: KubeObject): string => {
  const found = (object.status as any)?.conditions?.find((one: any) => one.type === "Ready")
  return found === undefined ? "none" : `${found.status} ${found.reason}`
}
