/** The server that is posted to, a proxy before it for the faults, and what is made and found there past the proxy. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Kind from "@fixpoint/core/Kind"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import type { KubernetesError } from "@fixpoint/kubernetes/KubernetesError"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Widget } from "../../src/widget/kinds.ts"
import { type ChildError, start } from "./children.ts"
import type { ByPass, Site } from "./orders.ts"

const core = { group: "", version: "v1" } as const
const namespaces: Resource = { ...core, kind: "Namespace", plural: "namespaces", scope: "Cluster" }
const events: Resource = { ...core, kind: "Event", plural: "events", scope: "Namespaced" }
const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}

type Address = Pick<ControlPlane.Connection, "ca" | "token" | "url">

export interface World {
  readonly proxy: FaultProxy.FaultProxy
  /** A namespace with objects that nobody reconciles yet, and how its operator reaches it: through the proxy. */
  readonly settle: (namespace: string, poster: Site["poster"], objects: ByPass<number>) => Effect.Effect<Site, ApiError>
  readonly eventsIn: (namespace: string) => Effect.Effect<ReadonlyArray<KubeObject>, ApiError>
}

const make = (address: Address): Effect.Effect<World, ApiError, ApiClient | Scope.Scope> =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const proxy = yield* FaultProxy.make(address)
    yield* Effect.retry(api.list(Widget), { schedule: Schedule.spaced("200 millis"), times: 100 })
    return {
      proxy,
      settle: (namespace, poster, objects) =>
        Effect.gen(function* () {
          yield* api.create(namespaces, { metadata: { name: namespace } })
          for (const kind of ["steady", "changing"] as const)
            for (let i = 0; i < objects[kind]; i++)
              yield* api.create(Widget, { metadata: { namespace, name: `${kind}-${i}` }, spec: { size: i } })
          const { ca, url } = proxy
          return { url, ca, token: address.token, namespace, poster, objects }
        }),
      eventsIn: (namespace) => Effect.map(api.list(events, { namespace }), ({ items }) => items)
    }
  })

const clientOf = ({ ca, token, url }: Address): Layer.Layer<ApiClient, KubernetesError> =>
  Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })

type Failure = ApiError | KubernetesError | ChildError | ControlPlane.ControlPlaneError

/** Our listener, in a process of its own. */
export const inMemory: Effect.Effect<World, Failure, Scope.Scope> = Effect.gen(function* () {
  const { first } = yield* start("listenerChild.ts")
  const context = yield* Layer.build(clientOf(first as Address))
  return yield* Effect.provideContext(make(first as Address), context)
})

/** kube-apiserver and etcd from the folder that KUBEBUILDER_ASSETS names. */
export const real: Effect.Effect<World, Failure, Scope.Scope> = Effect.gen(function* () {
  const address = Context.get(yield* Layer.build(ControlPlane.layer()), ControlPlane.ControlPlane)
  const context = yield* Layer.build(clientOf(address))
  const install = ApiClient.use((api) => api.create(definitions, Kind.customResourceDefinition(Widget)))
  return yield* Effect.provideContext(Effect.andThen(install, make(address)), context)
})
