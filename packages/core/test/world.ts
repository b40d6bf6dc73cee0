/** A world for tests of the Manager: two kinds, an API in memory, and controllers that run while the body does. */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ApiClient } from "../src/ApiClient.ts"
import type * as Controller from "../src/Controller.ts"
import * as Kind from "../src/Kind.ts"
import type { KubeObject, ObjectInput, ObjectRef } from "../src/KubeObject.ts"
import * as Manager from "../src/Manager.ts"

export class Scope extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Scope",
  scope: "Namespaced",
  spec: Schema.Struct({ members: Schema.Array(Schema.String) }),
  status: Schema.Struct({ members: Schema.Int })
}) {}

export class Role extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Role",
  scope: "Namespaced",
  spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) }),
  status: Schema.Struct({ rules: Schema.Int })
}) {}

export class ConfigMap extends Kind.make({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  fields: { data: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) }
}) {}

export const events = { group: "", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" } as const
export const namespaces = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster"
} as const
export const crds = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
} as const

export const refTo = (object: ObjectInput): ObjectRef => ({
  namespace: object.metadata?.namespace,
  name: object.metadata?.name ?? ""
})

export const editor: ObjectInput = {
  apiVersion: "access.example.com/v1",
  kind: "Role",
  metadata: { namespace: "team", name: "editor" },
  spec: { scope: "docs", rules: ["read", "write"] }
}

export const docs: ObjectInput = {
  apiVersion: "access.example.com/v1",
  kind: "Scope",
  metadata: { namespace: "team", name: "docs" },
  spec: { members: ["ann"] }
}

/** Every runnable fiber has run, the clock stands still. */
export const quiet = Effect.repeat(Effect.yieldNow, { times: 300 })

export const api = (options: ApiServer.Options = {}) =>
  ApiServer.layer({
    kinds: [Kind.customResourceDefinition(Role), Kind.customResourceDefinition(Scope)],
    objects: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } }
    ],
    ...options
  })

/** Tells what a watch tells only after a while, in order. */
export const lagging = (millis: number) =>
  Layer.effect(
    ApiClient,
    Effect.map(ApiClient, (inner) => ({
      ...inner,
      watch: (resource: any, options: any) =>
        inner.watch(resource, options).pipe(Stream.tap(() => Effect.sleep(millis)))
    }))
  )

export interface World {
  readonly api: ApiClient["Service"]
  readonly server: ApiServer.ApiServer["Service"]
  /** A line for each settled pass. */
  readonly log: Array<string>
}

export const line = ({ kind, message, outcome, reason, ref }: Manager.Settled): string =>
  `${kind.kind} ${ref.name}: ${outcome} ${reason}${message === "" ? "" : ` (${message})`}`

/** Runs the controllers in a world of their own while the body runs. */
export const running = <const C extends ReadonlyArray<Controller.Any>, E>(
  controllers: C,
  body: (world: World) => Effect.Effect<void, E, any>,
  options: { readonly world?: Layer.Layer<any, any>; readonly grace?: Manager.Options } = {}
): Effect.Effect<void, any> => {
  const log: Array<string> = []
  const manager = Manager.layer(controllers, options.grace).pipe(
    Layer.provide(Layer.succeed(Manager.OnSettled, (settled) => void log.push(line(settled))))
  ) as Layer.Layer<any, any, any>
  return Effect.gen(function* () {
    yield* quiet
    yield* body({ api: yield* ApiClient, server: yield* ApiServer.ApiServer, log })
    // A pass that still runs would wait for a clock that nobody moves any more.
    yield* quiet
  }).pipe(Effect.scoped, Effect.provide(manager), Effect.provide(options.world ?? api())) as Effect.Effect<void, any>
}

export const ready = (object: KubeObject): string => {
  const condition = (object.status as any)?.conditions?.find((one: any) => one.type === "Ready")
  return condition === undefined ? "none" : `${condition.status} ${condition.reason}`
}
