/** One namespace of a real cluster with the access operator's objects: users act in it, and what came of it is observed. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject, ObjectRef, Resource } from "@fixpoint/core/KubeObject"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import type { KubernetesError } from "@fixpoint/kubernetes/KubernetesError"
import { ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { ConfigMap, Role, Scope } from "../src/access/kinds.ts"
import { definitions } from "../src/access/manifests.ts"
import { type Observed, unmet } from "./checks.ts"
import { callsIn } from "./registryFile.ts"
import { type Act, spoilt, type Wish } from "./wishes.ts"

const core = { group: "", version: "v1" } as const
const namespaces: Resource = { ...core, kind: "Namespace", plural: "namespaces", scope: "Cluster" }
const events: Resource = { ...core, kind: "Event", plural: "events", scope: "Namespaced" }
const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}

/** What was to come about and did not, or what must not be and is; one fault a line. */
export class Wrong extends Data.TaggedError("Wrong")<{ readonly message: string }> {}

/** A client of the control plane itself, past any proxy. */
export const direct: Layer.Layer<ApiClient, KubernetesError, ControlPlane> = Layer.unwrap(
  Effect.map(ControlPlane, ({ ca, token, url }) =>
    Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token), requestTimeout: "5 seconds" })
  )
)

const often = Schedule.spaced("200 millis")

/** Installs the CRDs, and waits until they are served. */
export const install: Effect.Effect<void, ApiError, ApiClient> = Effect.gen(function* () {
  const api = yield* ApiClient
  yield* Effect.forEach(definitions, (definition) => api.create(crds, definition))
  for (const kind of [Role, Scope]) yield* Effect.retry(api.list(kind), { schedule: often, times: 100 })
})

export const makeNamespace = (name: string): Effect.Effect<void, ApiError, ApiClient> =>
  ApiClient.use((api) => api.create(namespaces, { metadata: { name } })).pipe(Effect.asVoid)

const fieldManager = "user"
const ignoreMissing = <A, R>(effect: Effect.Effect<A, ApiError, R>): Effect.Effect<void, ApiError, R> =>
  effect.pipe(
    Effect.asVoid,
    Effect.catchReason("ApiError", "NotFound", () => Effect.void)
  )

/**
 * Of the very version that was read: a server that is asked to delete an object without finalizers does so, though one is added and answered for
 * meanwhile, and then nobody is asked to clean up.
 */
const removed = (api: ApiClient["Service"], ref: ObjectRef): Effect.Effect<unknown, ApiError> =>
  Effect.flatMap(api.get(Role, ref), ({ metadata: { resourceVersion, uid } }) =>
    api.delete(Role, ref, { preconditions: { resourceVersion, uid } })
  ).pipe(Effect.retry({ while: ({ reason }) => reason._tag === "Conflict", times: 20 }))

/** Does as a user does. What is done to a ConfigMap that is not there is not done. */
export const perform = (namespace: string, act: Act): Effect.Effect<void, ApiError, ApiClient> =>
  Effect.flatMap(ApiClient, (api) => {
    const ref: ObjectRef = { namespace, name: act.name }
    const config: ObjectRef = { namespace, name: `${act.name}-rules` }
    const set = (kind: typeof Role | typeof Scope, spec: object) =>
      api.patch(kind, ref, { type: "apply", force: true, body: { metadata: ref, spec } as any }, { fieldManager })
    switch (act.do) {
      case "set scope":
        return set(Scope, { members: act.members })
      case "remove scope":
        return ignoreMissing(api.delete(Scope, ref))
      case "set role":
        return set(Role, act.wish)
      case "remove role":
        return ignoreMissing(removed(api, ref))
      case "spoil":
        return ignoreMissing(
          Effect.flatMap(api.get(ConfigMap, config), ({ data }) => {
            const [entry] = Object.keys((data ?? {}) as object)
            return entry === undefined
              ? Effect.void
              : api.patch(ConfigMap, config, { type: "merge", body: { data: { [entry]: spoilt } } }, { fieldManager })
          })
        )
      case "drop":
        return ignoreMissing(api.delete(ConfigMap, config))
    }
  }).pipe(Effect.asVoid)

/** All that there is in the namespace, and what the registry's file says. */
export const observe = (namespace: string, registry: string): Effect.Effect<Observed, ApiError, ApiClient> =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const of = (resource: Resource): Effect.Effect<ReadonlyArray<KubeObject>, ApiError> =>
      Effect.map(api.list(resource, { namespace }), ({ items }) => items)
    return {
      roles: yield* of(Role),
      scopes: yield* of(Scope),
      configMaps: (yield* of(ConfigMap)).filter(({ metadata }) => metadata.name !== "kube-root-ca.crt"),
      events: yield* of(events),
      calls: callsIn(registry)
    }
  })

/** So long a slow machine may take. */
const seconds = 150

/** Waits until the operator has done what is wished for; answers in how many milliseconds. Fails with what is missing after 150 s. */
export const comesToRest = (
  namespace: string,
  registry: string,
  wish: Wish
): Effect.Effect<number, ApiError | Wrong, ApiClient> =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    for (;;) {
      const missing = unmet(wish, yield* observe(namespace, registry))
      const passed = (yield* Clock.currentTimeMillis) - started
      if (missing.length === 0) return passed
      if (passed > seconds * 1_000)
        return yield* new Wrong({ message: [`not at rest after ${seconds} s:`, ...missing].join("\n") })
      yield* Effect.sleep("200 millis")
    }
  })
