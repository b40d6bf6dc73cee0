/** Where the demo is played: a cluster in memory, over HTTP or by calls, or a real one, of which a namespace is taken and given back. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import type { ListenError } from "@fixpoint/apiserver/Listener"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Kind from "@fixpoint/core/Kind"
import type { KubeObject, ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import type { KubernetesError } from "@fixpoint/kubernetes/KubernetesError"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Role, Scope } from "../kinds.ts"
import { finalizer } from "../persisted/scopes.ts"
import { cleanup } from "../role.ts"
import type { Arguments } from "./arguments.ts"

/** The demo's own namespace. */
export class Ground extends Context.Service<
  Ground,
  {
    readonly namespace: string
    /** The path of the kubeconfig by which kubectl reaches it; undefined if nothing can. */
    readonly kubeconfig: string | undefined
    /** How the cluster is called on the screen. */
    readonly title: string
    /** How long an expectation may take, in milliseconds. The garbage collector of a real cluster learns of new CRDs every 30 s. */
    readonly patience: number
  }
>()("@fixpoint/examples/demo/Ground") {}

const definitionResource: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}
const namespaceResource: Resource = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster"
}

const kinds = [Scope, Role]

const server = () =>
  ApiServer.layer({
    kinds: kinds.map(Kind.customResourceDefinition),
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }]
  })

/** What comes at once on an idle machine may take long on a busy one. */
const team = { namespace: "team", patience: 20_000 }

/** By calls, without HTTP. */
export const memory: Layer.Layer<ApiClient | Ground> = Layer.merge(
  server(),
  Layer.succeed(Ground, { ...team, kubeconfig: undefined, title: "in memory" })
)

/** A kubeconfig for the listener, which bears its token: readable by the user alone, and gone with the scope. */
const kubeconfigFile = Effect.flatMap(ApiServer.listen(), ({ kubeconfig }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = join(mkdtempSync(join(tmpdir(), "access-demo-")), "kubeconfig")
      writeFileSync(path, kubeconfig, { mode: 0o600 })
      return path
    }),
    (path) => Effect.sync(() => rmSync(join(path, ".."), { recursive: true, force: true }))
  )
)

/** The same over HTTPS, with a client as for any cluster. */
const listening: Layer.Layer<ApiClient | Ground, ListenError | KubernetesError> = Layer.unwrap(
  Effect.map(kubeconfigFile, (kubeconfig) =>
    Layer.merge(
      Kubernetes.layerWith({ kubeconfig }),
      Layer.succeed(Ground, { ...team, kubeconfig, title: "on an API in memory, over HTTPS" })
    )
  )
).pipe(Layer.provide(server()))

const poll = Schedule.spaced("100 millis")

/** Tells what could not be given back, and goes on: the end of the demo must not hide how it went. */
const orTell = (what: string) => (effect: Effect.Effect<unknown, ApiError>) =>
  effect.pipe(Effect.catch((error) => Console.error(`demo: could not ${what}: ${error.message}`)))

/** True while the object is there. */
const isThere = (api: ApiClient["Service"], resource: Resource, name: string): Effect.Effect<boolean, ApiError> =>
  Effect.catchReason(Effect.as(api.get(resource, { namespace: undefined, name }), true), "ApiError", "NotFound", () =>
    Effect.succeed(false)
  )

/** Deletes it and waits until it is gone, for 30 s at most. */
const removeWhole = (api: ApiClient["Service"], resource: Resource, name: string): Effect.Effect<void, ApiError> =>
  Effect.catchReason(
    api.delete(resource, { namespace: undefined, name }),
    "ApiError",
    "NotFound",
    () => Effect.void
  ).pipe(
    Effect.andThen(Effect.repeat(isThere(api, resource, name), { schedule: poll, until: (there) => !there })),
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () => Console.error(`demo: ${resource.kind} ${name} is still being deleted; the server goes on with it`)
    }),
    Effect.asVoid
  )

const isEstablished = ({ status }: KubeObject): boolean =>
  ((status as any)?.conditions ?? []).some((one: any) => one.type === "Established" && one.status === "True")

/** The CRD, made if it is not there, and then removed at the end. */
const definition = (api: ApiClient["Service"], manifest: ObjectInput) =>
  Effect.gen(function* () {
    const name = manifest.metadata?.name ?? ""
    if (yield* isThere(api, definitionResource, name)) return
    yield* Effect.acquireRelease(api.create(definitionResource, manifest), () =>
      orTell(`remove the CRD ${name}`)(removeWhole(api, definitionResource, name))
    )
    yield* Effect.repeat(api.get(definitionResource, { namespace: undefined, name }), {
      schedule: poll,
      until: isEstablished
    })
  })

const ours: ReadonlyArray<string> = [cleanup, finalizer]

/** What is left when the operator has stopped holds a finalizer that nobody else takes off. */
const dropFinalizers = (api: ApiClient["Service"], namespace: string): Effect.Effect<void, ApiError> =>
  Effect.gen(function* () {
    for (const kind of kinds)
      for (const { metadata } of (yield* api.list(kind, { namespace })).items) {
        const { finalizers = [], name } = metadata
        const others = finalizers.filter((one) => !ours.includes(one))
        if (others.length < finalizers.length)
          yield* api.patch(kind, { namespace, name }, { type: "merge", body: { metadata: { finalizers: others } } })
      }
  })

const ground = Effect.fnUntraced(function* (kubeconfig: string) {
  const api = yield* ApiClient
  for (const kind of kinds) yield* definition(api, Kind.customResourceDefinition(kind))
  const { metadata } = yield* Effect.acquireRelease(
    api.create(namespaceResource, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { generateName: "access-demo-" }
    }),
    ({ metadata: { name } }) =>
      orTell(`remove the namespace ${name}`)(
        Effect.andThen(dropFinalizers(api, name), removeWhole(api, namespaceResource, name))
      )
  )
  const namespace = metadata.name
  return Ground.of({ namespace, kubeconfig, title: `in namespace ${namespace}`, patience: 60_000 })
})

const cluster = (kubeconfig: string): Layer.Layer<ApiClient | Ground, ApiError | KubernetesError> =>
  Layer.effect(Ground, ground(kubeconfig)).pipe(Layer.provideMerge(Kubernetes.layerWith({ kubeconfig })))

/** Where the arguments want it. */
export const groundOf = ({
  inProcess,
  kubeconfig
}: Pick<Arguments, "inProcess" | "kubeconfig">): Layer.Layer<
  ApiClient | Ground,
  ApiError | KubernetesError | ListenError
> => (kubeconfig !== undefined ? cluster(kubeconfig) : inProcess ? memory : listening)
