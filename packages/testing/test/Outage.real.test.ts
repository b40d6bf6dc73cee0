import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import { Controller, Kind, Manager, Reconciler } from "@fixpoint/core"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

class Widget extends Kind.make({
  group: "outage.example.com",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: Schema.Struct({ size: Schema.Int }),
  status: Schema.Struct({ size: Schema.Int })
}) {}

const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}
const widgets = Controller.make({
  for: Widget,
  reconciler: Reconciler.for(Widget).pipe(Reconciler.status(({ object }) => ({ size: object.spec.size })))
})

/** Tries until it succeeds, for a minute. */
const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { schedule: Schedule.spaced("100 millis"), times: 600 })

const widget = (name: string, size: number) => ({ metadata: { name, namespace: "default" }, spec: { size } })
const reaches = (name: string, size: number) =>
  soon(
    Effect.flatMap(
      ApiClient.use((api) => api.get(Widget, { namespace: "default", name })),
      (object: KubeObject) => ((object.status as any)?.size === size ? Effect.void : Effect.fail("not yet"))
    )
  )

describe.runIf(ControlPlane.available())("an operator on a real API server", () => {
  it.live(
    "goes on by itself after its server was killed and started again, and misses nothing that happened meanwhile (B7, B8)",
    () =>
      Effect.gen(function* () {
        const { kubeconfig } = yield* ControlPlane.ControlPlane
        const server = yield* ControlPlane.ApiServerProcess
        yield* Effect.gen(function* () {
          const api = yield* ApiClient
          yield* api.create(crds, Kind.customResourceDefinition(Widget))
          yield* Effect.gen(function* () {
            yield* soon(api.create(Widget, widget("a", 1)))
            yield* reaches("a", 1)
            yield* server.stop()
            yield* Effect.sleep("2 seconds")
            const down = yield* Manager.Manager.use((manager) => manager.health)
            assert.isTrue(down.problems.length > 0 || down.ready, "a short outage is not yet a reason to be unready")
            yield* server.start
            yield* soon(api.create(Widget, widget("b", 2)))
            yield* soon(
              api.patch(Widget, { namespace: "default", name: "a" }, { type: "merge", body: { spec: { size: 3 } } })
            )
            yield* reaches("b", 2)
            yield* reaches("a", 3)
            yield* soon(
              Effect.flatMap(
                Manager.Manager.use((manager) => manager.health),
                ({ ready }) => (ready ? Effect.void : Effect.fail("not ready yet"))
              )
            )
          }).pipe(Effect.provide(Manager.layer([widgets])))
        }).pipe(Effect.provide(Kubernetes.layerWith({ kubeconfig })))
      }).pipe(Effect.scoped, Effect.provide(ControlPlane.layer()), Effect.provide(Logger.layer([]))),
    120_000
  )
})
