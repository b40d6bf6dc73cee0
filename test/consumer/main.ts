/** What a user's project does with the packed packages: it compiles without skipLibCheck, runs an operator in memory, and prints what came of it. */
import { ApiServer } from "@fixpoint/apiserver"
import { ApiClient, Controller, Kind, Manager, Reconciler, Temporary } from "@fixpoint/core"
import * as ApiClientModule from "@fixpoint/core/ApiClient"
import { Kubernetes } from "@fixpoint/kubernetes"
import { ControlPlane } from "@fixpoint/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

if (ApiClient.ApiClient !== ApiClientModule.ApiClient)
  throw new Error("the barrel and the sub-path give two ApiClients")

class Site extends Kind.make({
  group: "example.com",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: Schema.Struct({ pages: Schema.Int }),
  status: Schema.Struct({ pages: Schema.Int })
}) {}

class ConfigMap extends Kind.make({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  fields: { data: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) }
}) {}

const sites = Controller.make({
  for: Site,
  owns: [ConfigMap],
  reconciler: Reconciler.for(Site).pipe(
    Reconciler.child("config", ConfigMap, ({ object }) => ({
      metadata: { name: object.metadata.name },
      data: { pages: String(object.spec.pages) }
    })),
    Reconciler.tap(({ object }) => (object.spec.pages < 0 ? new Temporary({ message: "no pages" }) : Effect.void)),
    Reconciler.status(({ object }) => ({ pages: object.spec.pages }))
  )
})

const site = { namespace: "default", name: "home" }

const program = Effect.gen(function* () {
  const api = yield* ApiClient.ApiClient
  yield* api.create(Site, { metadata: site, spec: { pages: 3 } })
  for (;;) {
    const { status } = yield* api.get(Site, site)
    if (status !== undefined) return JSON.stringify([status, (yield* api.get(ConfigMap, site)).data])
    yield* Effect.sleep("10 millis")
  }
}).pipe(
  Effect.provide(Manager.layer([sites])),
  Effect.provide(ApiServer.layer({ kinds: [Kind.customResourceDefinition(Site)] })),
  Effect.timeout("20 seconds")
)

console.log(await Effect.runPromise(program))
console.log(typeof Kubernetes.layerWith, ControlPlane.available())
