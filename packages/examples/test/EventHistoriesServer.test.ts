/** The life of `histories` once more, on a real control plane of its own: the CRDs of the example are another file's on the shared one. */
import { assert, describe, layer } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { definitions } from "../src/access/manifests.ts"
import { policies } from "../src/access/policies.ts"
import { type Act, lastOf, lived, livedInMemory, restart } from "./eventHistory.ts"
import { events, memory, namespace } from "./world.ts"

const namespaces: Resource = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" }
const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}

/** Looks every 100 ms, for a minute at most. */
const until = <R>(holds: Effect.Effect<boolean, ApiError, R>): Effect.Effect<void, ApiError, R> =>
  Effect.repeat(holds, { schedule: Schedule.spaced("100 millis"), until: (held) => held }).pipe(
    Effect.timeoutOrElse({ duration: "60 seconds", orElse: () => Effect.die(new Error("it did not come true")) }),
    Effect.asVoid
  )

const look = ApiClient.use((api) => Effect.map(api.list(events, { namespace }), ({ items }) => items))

/** Everything but how often and when, which time decides. */
const words = (told: Act["told"]): ReadonlyArray<string> =>
  told
    .map(
      ({ message, namespace, object, reason, reporter, type }) =>
        `${type} ${reason} ${object} in ${namespace} by ${reporter}: ${message}`
    )
    .toSorted()

/** Waits for as many Events as are expected, for 20 s at most, and then until nothing has come or changed for a second. */
const saying = (expected: ReadonlyArray<Act>) =>
  Effect.fnUntraced(function* (holds: Effect.Effect<boolean, ApiError>, title: string) {
    yield* until(holds)
    const acts = expected.slice(0, expected.findIndex((act) => act.title === title) + 1)
    const enough = Effect.map(look, ({ length }) => length >= lastOf(acts).length)
    yield* Effect.timeoutOption(until(enough), "20 seconds")
    const versions = Effect.map(look, (held) => held.map(({ metadata }) => metadata.resourceVersion).join())
    let before = ""
    yield* until(
      Effect.gen(function* () {
        const last = before
        before = yield* versions
        if (last !== before) yield* Effect.sleep("1 second")
        return last === before
      })
    )
  })

const isEstablished = ({ status }: KubeObject): boolean =>
  ((status as any)?.conditions ?? []).some((one: any) => one.type === "Established" && one.status === "True")

const prepared = Layer.effectDiscard(
  ApiClient.use((api) =>
    Effect.gen(function* () {
      yield* api.create(namespaces, { metadata: { name: namespace } })
      for (const definition of definitions) {
        yield* api.create(crds, definition)
        yield* until(
          Effect.map(api.get(crds, { namespace: undefined, name: definition.metadata!.name! }), isEstablished)
        )
      }
    })
  )
)

const cluster = prepared.pipe(
  Layer.provideMerge(
    Layer.unwrap(
      Effect.map(ControlPlane.ControlPlane, ({ ca, token, url }) =>
        Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
      )
    )
  ),
  Layer.provide(ControlPlane.layer()),
  Layer.merge(Logger.layer([]))
)

describe.skipIf(!ControlPlane.available())("on a real cluster", () => {
  layer(cluster, { timeout: 60_000, excludeTestServices: true })("of its own", (it) => {
    it.effect(
      "the operator's life under the defaults leaves act by act the very Events that it leaves in memory, and its restart none (D2)",
      () =>
        Effect.gen(function* () {
          const { acts: expected } = yield* livedInMemory(policies.standard).pipe(
            Effect.provide(memory()),
            Effect.provide(TestClock.layer())
          )
          const { acts } = yield* lived(policies.standard, { namespace, look, wait: saying(expected) })
          const told = (acts: ReadonlyArray<Act>) => acts.map(({ title, told }) => ({ title, told: words(told) }))
          assert.deepStrictEqual(told(acts), told(expected))
          assert.deepStrictEqual(acts.find(({ title }) => title === restart)?.told, [])
        }),
      180_000
    )
  })
})
