import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { ApiClient, pages, type WatchEvent } from "@fixpoint/core/ApiClient"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import { OwnNamespace } from "@fixpoint/core/OwnNamespace"
import { available, ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Credentials from "../src/Credentials.ts"
import * as Kubernetes from "../src/Kubernetes.ts"
import * as Transport from "../src/Transport.ts"
import { configMaps } from "./scriptedServer.ts"

const group = "kubernetes.fixpoint.test"
const widgets: Resource = { group, version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" }
const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}
const namespaces: Resource = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" }
const deployments: Resource = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced"
}

const definition = {
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    names: { kind: "Widget", plural: "widgets", singular: "widget" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" }
        },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer" },
                  big: { type: "integer", format: "int64" },
                  rows: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    items: { type: "object", required: ["k"], properties: { k: { type: "string" } } }
                  }
                }
              },
              status: { type: "object", properties: { size: { type: "integer" } } }
            }
          }
        }
      }
    ]
  }
}

const live = Layer.unwrap(Effect.map(ControlPlane, ({ kubeconfig }) => Kubernetes.layerWith({ kubeconfig }))).pipe(
  Layer.provideMerge(SharedControlPlane.layer)
)

let count = 0
/** A namespace of its own for a test. */
const namespace = Effect.gen(function* () {
  const api = yield* ApiClient
  const name = `kubernetes-${process.pid}-${++count}`
  yield* api.create(namespaces, { metadata: { name } })
  return name
})

const established = Effect.gen(function* () {
  const api = yield* ApiClient
  yield* api.create(definitions, definition).pipe(
    Effect.catchIf(
      (e) => e.reason._tag === "AlreadyExists",
      () => Effect.void
    )
  )
  for (let i = 0; i < 100; i++) {
    const listed = yield* Effect.option(api.list(widgets))
    if (Option.isSome(listed) && Option.isSome(yield* api.discover(widgets))) return
    yield* Effect.sleep("50 millis")
  }
  return yield* Effect.die(new Error("the CRD is not served"))
})

const tagOf = <A, R>(effect: Effect.Effect<A, { readonly reason: { readonly _tag: string } }, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)

describe.skipIf(!available())("on a real API server", () => {
  layer(live, { excludeTestServices: true, timeout: 90_000 })((it) => {
    it.effect("every verb does what its name says", () =>
      Effect.gen(function* () {
        yield* established
        const api = yield* ApiClient
        const team = yield* namespace
        const ref = { namespace: team, name: "a" }

        const made = yield* api.create(widgets, { metadata: { name: "a", namespace: team }, spec: { size: 1 } })
        assert.deepStrictEqual([made.kind, made.metadata.generation, made.spec], ["Widget", 1, { size: 1 }])
        assert.strictEqual(made.metadata.managedFields?.[0]?.manager, "fixpoint")
        assert.deepStrictEqual(yield* api.get(widgets, ref), made)

        const merged = yield* api.patch(widgets, ref, { type: "merge", body: { metadata: { labels: { app: "x" } } } })
        assert.deepStrictEqual(merged.metadata.labels, { app: "x" })
        const tested = yield* api.patch(widgets, ref, {
          type: "json",
          body: [
            { op: "test", path: "/spec/size", value: 1 },
            { op: "replace", path: "/spec/size", value: 2 }
          ]
        })
        assert.deepStrictEqual(tested.spec, { size: 2 })
        const applied = yield* api.patch(
          widgets,
          ref,
          { type: "apply", body: { spec: { size: 3, rows: [{ k: "a" }] } }, force: true },
          { fieldManager: "applier" }
        )
        assert.deepStrictEqual(applied.spec, { size: 3, rows: [{ k: "a" }] })
        assert.isTrue(applied.metadata.managedFields?.some((m) => m.manager === "applier" && m.operation === "Apply"))

        const status = yield* api.patch(
          widgets,
          ref,
          { type: "apply", body: { status: { size: 3 } } },
          { subresource: "status" }
        )
        assert.deepStrictEqual([status.status, status.spec], [{ size: 3 }, applied.spec])
        const scaled = yield* api.patch(
          widgets,
          ref,
          { type: "merge", body: { spec: { replicas: 5 } } },
          { subresource: "scale" }
        )
        assert.deepStrictEqual([scaled.kind, (scaled.spec as { replicas: number }).replicas], ["Scale", 5])
        const replacedScale = yield* api.replace(
          widgets,
          ref,
          { ...scaled, spec: { replicas: 6 } },
          { subresource: "scale" }
        )
        assert.strictEqual(replacedScale.kind, "Scale")

        const current = yield* api.get(widgets, ref)
        const replaced = yield* api.replace(widgets, ref, { ...current, spec: { size: 7 } })
        assert.deepStrictEqual(replaced.spec, { size: 7 })
        const replacedStatus = yield* api.replace(
          widgets,
          ref,
          { ...replaced, status: { size: 7 } },
          { subresource: "status" }
        )
        assert.deepStrictEqual(replacedStatus.status, { size: 7 })

        const page = yield* api.list(widgets, { namespace: team, labelSelector: "app=x" })
        assert.deepStrictEqual(page.items, [replacedStatus])
        const gone = yield* api.delete(widgets, ref, { preconditions: { uid: made.metadata.uid } })
        assert.deepStrictEqual([gone.kind, (gone as { status?: string }).status], ["Status", "Success"])

        for (const name of ["b", "c"])
          yield* api.create(widgets, { metadata: { name, namespace: team, labels: { name } } })
        const deleted = yield* api.deleteCollection(widgets, { namespace: team, labelSelector: "name=b" })
        assert.deepStrictEqual(
          deleted.map(({ metadata }) => metadata.name),
          ["b"]
        )
        assert.deepStrictEqual(
          (yield* api.list(widgets, { namespace: team })).items.map(({ metadata }) => metadata.name),
          ["c"]
        )
      })
    )

    it.effect("refusals come as their reasons (F5, F36, F70, F80, F91, F116, F127)", () =>
      Effect.gen(function* () {
        yield* established
        const api = yield* ApiClient
        const team = yield* namespace
        const ref = { namespace: team, name: "a" }
        const input = { metadata: { name: "a", namespace: team }, spec: { size: 1 } }
        const absent = { ...widgets, plural: "gadgets" }
        assert.strictEqual(yield* tagOf(api.get(widgets, ref)), "NotFound")
        assert.strictEqual(yield* tagOf(api.list(absent)), "NotFound")
        assert.deepStrictEqual(yield* api.discover(absent), Option.none())
        assert.deepStrictEqual(yield* api.discover({ ...widgets, group: "absent.example.com" }), Option.none())
        const made = yield* api.create(widgets, input)
        assert.strictEqual(yield* tagOf(api.create(widgets, input)), "AlreadyExists")
        yield* api.patch(widgets, ref, { type: "merge", body: { spec: { size: 2 } } })
        assert.strictEqual(yield* tagOf(api.replace(widgets, ref, made)), "Conflict")
        assert.strictEqual(
          yield* tagOf(api.patch(widgets, ref, { type: "json", body: [{ op: "test", path: "/spec/size", value: 9 }] })),
          "TestFailed"
        )
        assert.strictEqual(
          yield* tagOf(
            api.patch(widgets, ref, { type: "apply", body: { spec: { size: 9 } } }, { fieldManager: "other" })
          ),
          "ApplyConflict"
        )
        assert.strictEqual(
          yield* tagOf(api.patch(widgets, ref, { type: "merge", body: { spec: { size: "x" } } })),
          "Invalid"
        )
        assert.strictEqual(
          yield* tagOf(api.create(widgets, { ...input, spec: { nope: 1 } }, { fieldValidation: "Strict" })),
          "BadRequest"
        )
        assert.strictEqual(yield* tagOf(api.delete(widgets, ref, { preconditions: { uid: "other" } })), "Conflict")
        assert.strictEqual(yield* tagOf(api.list(widgets, { labelSelector: "a b" })), "BadRequest")
        assert.strictEqual(yield* tagOf(api.deleteCollection(widgets)), "NotFound")
        yield* api.patch(
          namespaces,
          { namespace: undefined, name: team },
          { type: "merge", body: { metadata: { finalizers: ["x.io/hold"] } } }
        )
        yield* api.delete(namespaces, { namespace: undefined, name: team })
        assert.strictEqual(
          yield* tagOf(api.create(configMaps, { metadata: { name: "b", namespace: team } })),
          "NamespaceTerminating"
        )
        yield* api.patch(
          namespaces,
          { namespace: undefined, name: team },
          { type: "merge", body: { metadata: { finalizers: null } as never } }
        )
      })
    )

    it.effect("dry runs store nothing (F27)", () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const team = yield* namespace
        const ref = { namespace: team, name: "a" }
        const made = yield* api.create(configMaps, { metadata: { name: "a", namespace: team } }, { dryRun: true })
        assert.strictEqual(made.metadata.name, "a")
        assert.strictEqual(yield* tagOf(api.get(configMaps, ref)), "NotFound")
        yield* api.create(configMaps, { metadata: { name: "a", namespace: team } })
        yield* api.patch(configMaps, ref, { type: "apply", body: { data: { a: "1" } } }, { dryRun: true })
        yield* api.delete(configMaps, ref, { dryRun: true })
        yield* api.deleteCollection(configMaps, { namespace: team, dryRun: true })
        assert.isUndefined((yield* api.get(configMaps, ref)).data)
      })
    )

    it.effect("a watch tells adds, changes and deletions, and resumes after a version", () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const team = yield* namespace
        const at = (yield* api.list(configMaps, { namespace: team })).resourceVersion
        const read = (count: number, resourceVersion: string) =>
          api.watch(configMaps, { namespace: team, resourceVersion }).pipe(
            Stream.filter((event) => event.type !== "BOOKMARK"),
            Stream.take(count),
            Stream.runCollect,
            Effect.map((events) =>
              events.map((event) => `${event.type} ${(event as { object: KubeObject }).object.metadata.name}`)
            )
          )
        const reading = yield* Effect.forkScoped(read(3, at))
        const made = yield* api.create(configMaps, {
          metadata: { name: "a", namespace: team }
        })
        yield* api.patch(
          configMaps,
          { namespace: team, name: "a" },
          { type: "merge", body: { data: { note: "日本🙂é" } } }
        )
        yield* api.delete(configMaps, { namespace: team, name: "a" })
        assert.deepStrictEqual(yield* Fiber.join(reading), ["ADDED a", "MODIFIED a", "DELETED a"])
        assert.deepStrictEqual(yield* read(2, made.metadata.resourceVersion), ["MODIFIED a", "DELETED a"])
      })
    )

    it.effect(
      "a watch ends cleanly when its seconds are over, and a version from before all time is Expired (F55, F65)",
      () =>
        Effect.gen(function* () {
          yield* established
          const api = yield* ApiClient
          const team = yield* namespace
          const started = performance.now()
          yield* Stream.runDrain(api.watch(configMaps, { namespace: team, timeoutSeconds: 1 }))
          assert.isAtLeast(performance.now() - started, 900)
          assert.strictEqual(
            yield* tagOf(Stream.runDrain(api.watch(widgets, { namespace: team, resourceVersion: "1" }))),
            "Expired"
          )
          assert.strictEqual(
            yield* tagOf(Stream.runDrain(api.watch(configMaps, { fieldSelector: "spec.x=1" }))),
            "BadRequest"
          )
          assert.strictEqual(yield* tagOf(Stream.runDrain(api.watch({ ...widgets, plural: "gadgets" }))), "NotFound")
        })
    )

    it.effect("a streamed list ends in its bookmark (F67)", () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const team = yield* namespace
        for (const name of ["a", "b"]) yield* api.create(configMaps, { metadata: { name, namespace: team } })
        const events = yield* api.watch(configMaps, { namespace: team, sendInitialEvents: true }).pipe(
          Stream.takeUntil((event) => event.type === "BOOKMARK" && event.initialEventsEnd),
          Stream.runCollect
        )
        const names = events.map((event: WatchEvent) =>
          event.type === "BOOKMARK" ? "end" : event.object.metadata.name
        )
        assert.deepStrictEqual(names, ["a", "b", "end"])
      })
    )

    it.effect("pages hold every object once, built-in items bear their kind (F34, F43)", () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const team = yield* namespace
        const names = Array.from({ length: 25 }, (_, i) => `c${String(i).padStart(2, "0")}`)
        yield* Effect.forEach(names, (name) => api.create(configMaps, { metadata: { name, namespace: team } }), {
          concurrency: 8
        })
        const read = yield* Stream.runCollect(pages(configMaps, { namespace: team, limit: 10 }))
        assert.deepStrictEqual(
          read.map(({ items }) => items.length),
          [10, 10, 5]
        )
        assert.deepStrictEqual(
          read.flatMap(({ items }) => items.map(({ metadata }) => metadata.name)),
          names
        )
        assert.isTrue(
          read.every(({ items }) => items.every(({ apiVersion, kind }) => apiVersion === "v1" && kind === "ConfigMap"))
        )
        assert.strictEqual(read[0]?.remainingItemCount, 15)
      })
    )

    it.effect("discovery and schemas tell scope, verbs, subresources and list types (F168, F170)", () =>
      Effect.gen(function* () {
        yield* established
        const api = yield* ApiClient
        const found = Option.getOrThrow(yield* api.discover(widgets))
        assert.deepInclude(found, { plural: "widgets", singular: "widget", kind: "Widget", namespaced: true })
        assert.deepStrictEqual([...found.subresources].toSorted(), ["scale", "status"])
        assert.includeMembers([...found.verbs], ["get", "list", "watch", "patch", "deletecollection"])
        const namespaced = Option.getOrThrow(yield* api.discover(namespaces))
        assert.isFalse(namespaced.namespaced)

        const widget = Option.getOrThrow(yield* api.schema(widgets)) as any
        assert.strictEqual(widget.properties.spec.properties.rows["x-kubernetes-list-type"], "map")
        const deployment = Option.getOrThrow(yield* api.schema(deployments)) as any
        const pod = deployment.properties.spec.properties.template.properties.spec.properties
        assert.deepStrictEqual(pod.containers["x-kubernetes-list-map-keys"], ["name"])
        assert.notInclude(JSON.stringify(deployment), "$ref")
        const recursive = yield* api.schema(definitions)
        assert.isTrue(Option.isSome(recursive))
        assert.deepStrictEqual(yield* api.schema({ ...widgets, kind: "Gadget" }), Option.none())
        assert.deepStrictEqual(yield* api.schema({ ...widgets, group: "absent.example.com" }), Option.none())
      })
    )

    it.effect("integers beyond 2^53 that are not ours keep their digits under every patch (B76, D26)", () =>
      Effect.gen(function* () {
        yield* established
        const api = yield* ApiClient
        const { ca, token, url } = yield* ControlPlane
        const team = yield* namespace
        const access = { headers: { authorization: `Bearer ${token}` }, tls: { ca } }
        const credentials = yield* Credentials.make(Credentials.fixed({ server: url, namespace: "default", access }))
        const transport = yield* Transport.make(credentials)
        const path = `/apis/${group}/v1/namespaces/${team}/widgets`
        yield* transport.request({
          method: "POST",
          path,
          contentType: "application/json",
          body: `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"big":9007199254740993}}`
        })
        const ref = { namespace: team, name: "a" }
        yield* api.patch(widgets, ref, { type: "merge", body: { metadata: { finalizers: ["x.io/a"] } } })
        yield* api.patch(widgets, ref, { type: "json", body: [{ op: "add", path: "/spec/size", value: 2 }] })
        yield* api.patch(widgets, ref, { type: "apply", body: { spec: { rows: [] } } })
        yield* api.patch(widgets, ref, { type: "apply", body: { status: { size: 1 } } }, { subresource: "status" })
        yield* api.patch(widgets, ref, { type: "merge", body: { metadata: { finalizers: [] } } })
        const raw = yield* transport.request({ method: "GET", path: `${path}/a` })
        assert.include(raw.body, '"big":9007199254740993')
      })
    )

    it.effect("a user without rights is Forbidden, one who is unknown Unauthorized (F160, F161)", () =>
      Effect.gen(function* () {
        const { ca, url } = yield* ControlPlane
        const as = (options: Kubernetes.Options) =>
          tagOf(
            ApiClient.use((api) => api.list(configMaps)).pipe(
              Effect.provide(Kubernetes.layerWith({ server: url, ca, ...options }), { local: true })
            ) as Effect.Effect<unknown, { readonly reason: { readonly _tag: string } }>
          )
        assert.strictEqual(yield* as({}), "Forbidden")
        assert.strictEqual(yield* as({ token: Redacted.make("nobody") }), "Unauthorized")
      })
    )

    it.effect("a Pod's files let it in as its service account", () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const { ca, token, url } = yield* ControlPlane
        const team = yield* namespace
        const accounts: Resource = { ...configMaps, kind: "ServiceAccount", plural: "serviceaccounts" }
        yield* api.create(accounts, { metadata: { name: "operator", namespace: team } })
        const access = { headers: { authorization: `Bearer ${token}` }, tls: { ca } }
        const credentials = yield* Credentials.make(Credentials.fixed({ server: url, namespace: "default", access }))
        const transport = yield* Transport.make(credentials)
        const issued = yield* transport.request({
          method: "POST",
          path: `/api/v1/namespaces/${team}/serviceaccounts/operator/token`,
          contentType: "application/json",
          body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} })
        })
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "fixpoint-pod-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true }))
        )
        writeFileSync(join(folder, "token"), JSON.parse(issued.body).status.token)
        writeFileSync(join(folder, "ca.crt"), ca)
        writeFileSync(join(folder, "namespace"), team)
        const env = { KUBERNETES_SERVICE_HOST: new URL(url).hostname, KUBERNETES_SERVICE_PORT: new URL(url).port }
        const pod = Effect.gen(function* () {
          const api = yield* ApiClient
          return [yield* OwnNamespace, yield* Effect.flip(api.list(configMaps, { namespace: team }))] as const
        })
        const [own, refused] = yield* Effect.provide(
          pod,
          Kubernetes.layerInCluster({}, { env, home: "/nonexistent", folder }),
          { local: true }
        )
        assert.strictEqual(own, team)
        assert.include(
          refused.message,
          `User "system:serviceaccount:${team}:operator" cannot list resource "configmaps"`
        )
      })
    )

    it.effect("what kubectl writes is what the client reads", () =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const { kubeconfig, kubectl } = yield* ControlPlane
        const team = yield* namespace
        execFileSync(kubectl, [
          "--kubeconfig",
          kubeconfig,
          "-n",
          team,
          "create",
          "configmap",
          "a",
          "--from-literal=x=日本"
        ])
        assert.deepStrictEqual((yield* api.get(configMaps, { namespace: team, name: "a" })).data, { x: "日本" })
      })
    )
  })
})
