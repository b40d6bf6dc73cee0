/**
 * A Kubernetes API server in memory: a pure function from state and request to state and answer, and `ApiClient` over it. No real time: its clock is
 * `Clock`, and what it draws by chance comes from one seed. No sockets, until `listen` serves it over HTTP to kubectl and any other client.
 *
 * Guarantees:
 * - Requests are answered one after another; each answer shows all writes before it, and every stored change has a version of its own, higher than all before.
 * - A watch gets every change after its version, in order, at once, without polling, or ends; ending it unregisters it.
 * - What the control plane does of itself (establishing CRDs, garbage collection by owner references) is done before the answer of the request that caused it;
 *   a namespace is emptied 5 s of `Clock` after its DELETE.
 * - Answers, reasons, codes and texts are those of a real 1.36 server, as far as the list below goes.
 *
 * Assumptions: nobody changes an object that the server gave out; reads share what is stored.
 *
 * What it does not model:
 * - [ ] CEL rules of schemas (`x-kubernetes-validations`) are kept and not run
 * - [ ] admission webhooks and policies; conversion webhooks (such a CRD is served as if its strategy were None)
 * - [ ] RBAC and impersonation: everyone in memory, and over HTTP everyone with a token, may do everything; SelfSubjectAccessReview says yes
 * - [ ] priority and fairness: no 429 but those of a hook, and over HTTP of too many long requests at once
 * - [ ] answers in protobuf (406, as for custom resources on a real server) and CBOR; HTTP/2; websockets, and with them exec, attach and port-forward
 * - [ ] the end of a request after its `timeout`, whose form alone is checked (F166)
 * - [ ] integers beyond 2^53, which lose digits (F105)
 * - [ ] validation of most built-in kinds beyond their schema's types; of Pods and what makes them it asks for names, images, ports, volumes and selectors, not for
 *   probes, resources, security or scheduling, and a refused change of a Pod does not show the difference of the Go structs
 * - [ ] other controllers than those named, so no Pods of Deployments, no history of DaemonSets, no runs of CronJobs; two Services may draw one node port
 * - [ ] other built-in kinds than discovery tells of: no Nodes, EndpointSlices, storage, webhooks; no tokens of ServiceAccounts, no logs of Pods
 * - [ ] what a server makes for itself: the Service `kubernetes`, priority classes, roles, Leases
 * - [ ] the order of fields in the JSON of objects, and the storageVersionHash of discovery
 * - [ ] admission by ResourceQuotas and LimitRanges, which are stored and bind nobody
 * - [ ] the 429 "storage is (re)initializing" while a CRD is being served (F131), the 3 s wait before a 504 of a future version (F41)
 * - [ ] the lag of caches: reads, bookmarks and watches are never behind
 * - [ ] the hour after which Events go; graceful deletion of Pods
 * - [ ] etcd's own memory: old lists are forgotten together with what the watch cache forgets (F46, F56)
 */
import { ApiClient, formatResource } from "@fixpoint/core/ApiClient"
import { ApiError, fromAnswer } from "@fixpoint/core/ApiError"
import type { KubeObject, ObjectInput, ObjectRef, Resource } from "@fixpoint/core/KubeObject"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Calls from "./internal/calls.ts"
import * as Client from "./internal/client.ts"
import { keyOf } from "./internal/definition.ts"
import type { Running } from "./internal/exchange.ts"
import { type ListenError, Listener, type Listening, type ListenOptions } from "./Listener.ts"
import * as Server from "./internal/server.ts"
import * as SortedMap from "./internal/sortedMap.ts"
import { definitionAt, stored } from "./internal/state.ts"

export type { Call, Hook, LogEntry } from "./internal/calls.ts"

/** Looks behind the API, and breaks what lies between it and its clients: for tests and demos. */
export class ApiServer extends Context.Service<
  ApiServer,
  {
    /** The objects of a resource, by namespace and name; none if it is not served. No request: not logged, no hook. */
    readonly objects: (
      resource: Pick<Resource, "group" | "version" | "plural">
    ) => Effect.Effect<ReadonlyArray<KubeObject>>
    readonly object: (
      resource: Pick<Resource, "group" | "version" | "plural">,
      ref: ObjectRef
    ) => Effect.Effect<Option.Option<KubeObject>>
    /** The newest version of all. */
    readonly resourceVersion: Effect.Effect<string>
    /** The newest 100,000 requests, oldest first. A watch is logged when it opens. */
    readonly log: Effect.Effect<ReadonlyArray<Calls.LogEntry>>
    readonly clearLog: Effect.Effect<void>
    /** Runs around every request until the scope ends. */
    readonly hook: (hook: Calls.Hook) => Effect.Effect<void, never, Scope.Scope>
    /** Forgets the past, of one resource or of all: watches from before fail with 410, and so do page tokens (F45, F55). Open watches go on. */
    readonly compact: (resource?: Pick<Resource, "group" | "plural">) => Effect.Effect<void>
    /** Ends all open watches, or those of one resource: cleanly, or as a connection that breaks. */
    readonly cutWatches: (options?: {
      readonly resource?: Pick<Resource, "group" | "plural">
      readonly broken?: boolean
    }) => Effect.Effect<void>
    /** How many watches are open. */
    readonly watches: Effect.Effect<number>
    /** See `listen` of this module. */
    readonly listen: (options?: ListenOptions) => Effect.Effect<Listening, ListenError, Scope.Scope>
  }
>()("@fixpoint/apiserver/ApiServer") {}

export interface Options {
  /** Manifests of CustomResourceDefinitions that are served from the start, such as `Kind.customResourceDefinition` makes. */
  readonly kinds?: ReadonlyArray<ObjectInput>
  /** Objects of kinds that are served, made in order at the start, after the kinds. Namespaces first. */
  readonly objects?: ReadonlyArray<ObjectInput>
  /** Of all that the server draws by chance (uids, generated names, addresses). Default: drawn from `Random`. A 32-bit whole number. */
  readonly seed?: number
}

const plain = { group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" }

const resourceKey = ({ group, plural }: Pick<Resource, "group" | "plural">): string =>
  group === "" || group === "events.k8s.io" ? plural : `${plural}.${group}`

/** Makes an object at the start; one that the server refuses is a defect that says why. */
const install = (server: Server.Server, input: ObjectInput, now: number): Effect.Effect<void> => {
  const [group, version] = (input.apiVersion ?? "").includes("/")
    ? (input.apiVersion!.split("/") as [string, string])
    : ["", input.apiVersion ?? ""]
  const kinds = SortedMap.get(server.state.kinds, `${input.apiVersion}/${input.kind}`)
  const target = input.kind === "CustomResourceDefinition" ? plain : { group, version, plural: kinds?.plural ?? "" }
  const { response } = Server.handle(
    server,
    {
      method: "POST",
      ...target,
      namespace: input.metadata?.namespace,
      query: {},
      body: JSON.parse(JSON.stringify(input)),
      contentType: "application/json",
      userAgent: "fixpoint"
    },
    now
  )
  if (response.code < 400) return Effect.void
  const name = input.metadata?.name
  return Effect.die(
    fromAnswer(
      {
        verb: "create",
        resource: formatResource(target),
        ...(name !== undefined && { ref: { namespace: input.metadata?.namespace, name } })
      },
      { code: response.code, body: response.body }
    )
  )
}

const build = (options: Options): Effect.Effect<Context.Context<ApiClient | ApiServer>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const seed = options.seed ?? (yield* Random.nextIntBetween(0, 0x7fff_ffff))
    const server = Server.make(now, seed)
    for (const kind of options.kinds ?? []) yield* install(server, kind, now)
    for (const object of options.objects ?? []) yield* install(server, object, now)
    yield* Effect.forkScoped(Server.timer(server))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const resource of server.watchers.keys()) Server.endWatches(server, resource)
      })
    )
    const running = { server, calls: Calls.make() }
    return Context.make(ApiClient, Client.make(running)).pipe(Context.add(ApiServer, control(running)))
  })

const control = (running: Running): ApiServer["Service"] => {
  const { calls, server } = running
  const find = ({ group, plural, version }: Pick<Resource, "group" | "version" | "plural">) =>
    definitionAt(server.state, group, version, plural)
  return ApiServer.of({
    objects: (resource) =>
      Effect.sync(() => {
        const definition = find(resource)
        if (definition === undefined) return []
        return SortedMap.values(stored(server.state, definition.resource).objects).map(definition.fromStorage)
      }),
    object: (resource, ref) =>
      Effect.sync(() => {
        const definition = find(resource)
        if (definition === undefined) return Option.none()
        const object = SortedMap.get(
          stored(server.state, definition.resource).objects,
          keyOf(definition.namespaced ? ref.namespace : undefined, ref.name)
        )
        return Option.map(Option.fromUndefinedOr(object), definition.fromStorage)
      }),
    resourceVersion: Effect.sync(() => String(server.state.rv)),
    log: Effect.sync(calls.log),
    clearLog: Effect.sync(calls.clear),
    hook: (hook) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => calls.add(hook)),
          (remove) => Effect.sync(remove)
        ),
        () => undefined
      ),
    compact: (resource) =>
      Effect.sync(() => Server.compact(server, resource === undefined ? undefined : resourceKey(resource))),
    cutWatches: ({ broken = false, resource } = {}) =>
      Effect.sync(() => {
        for (const key of resource === undefined ? [...server.watchers.keys()] : [resourceKey(resource)]) {
          const failure = new ApiError({
            verb: "watch",
            resource: key,
            reason: { _tag: "Unreachable", message: "the connection was reset" }
          })
          Server.endWatches(server, key, broken ? failure : undefined)
        }
      }),
    watches: Effect.sync(() => [...server.watchers.values()].reduce((sum, set) => sum + set.size, 0)),
    listen: (options = {}) =>
      // Loaded when it is needed, so that a world in memory knows no Node.
      Effect.flatMap(
        Effect.promise(() => import("./internal/http/listening.ts")),
        ({ make }) => make(running, options)
      )
  })
}

/**
 * A new server each time that it is built, with `ApiClient` and its control. The result of one call is built once in a world, as every Layer: give each
 * world its own call, so that no two share a server.
 *
 * ```ts
 * import * as ApiServer from "@fixpoint/apiserver/ApiServer"
 * import * as Kind from "@fixpoint/core/Kind"
 * import * as Schema from "effect/Schema"
 *
 * class Role extends Kind.make({
 *   group: "access.example.com",
 *   version: "v1",
 *   kind: "Role",
 *   scope: "Namespaced",
 *   spec: Schema.Struct({ scope: Schema.String }),
 *   status: Schema.Struct({ rules: Schema.Int })
 * }) {}
 *
 * export const world = ApiServer.layer({
 *   kinds: [Kind.customResourceDefinition(Role)],
 *   objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }]
 * })
 * ```
 */
export const layer = (options: Options = {}): Layer.Layer<ApiClient | ApiServer> => Layer.effectContext(build(options))

/**
 * Serves the API over HTTP on loopback until the scope ends, for kubectl and other clients: the same requests, hooks, log and watches as in memory.
 * HTTPS, a free port and an admin's token unless the options say otherwise. See `Listener`.
 *
 * ```ts
 * import * as ApiServer from "@fixpoint/apiserver/ApiServer"
 * import * as Effect from "effect/Effect"
 *
 * export const program = Effect.gen(function* () {
 *   const { kubeconfig, url } = yield* ApiServer.listen()
 *   yield* Effect.log(`${url} is up`, kubeconfig)
 *   return yield* Effect.never
 * }).pipe(Effect.scoped, Effect.provide(ApiServer.layer()))
 * ```
 */
export const listen = (options: ListenOptions = {}): Effect.Effect<Listening, ListenError, ApiServer | Scope.Scope> =>
  ApiServer.use((server) => server.listen(options))

/** A listener for as long as the layer lives; it needs the server: `Layer.provideMerge(ApiServer.layerListener(), ApiServer.layer())`. */
export const layerListener = (options: ListenOptions = {}): Layer.Layer<Listener, ListenError, ApiServer> =>
  Layer.effect(Listener, listen(options))

/** The failure of a request that got no answer: for hooks. Before it is done the server knows nothing of it; after, it was done. */
export const unreachable = (call: Calls.Call, message = "the connection was reset"): ApiError =>
  new ApiError({ ...call.operation, reason: { _tag: "Unreachable", message } })

/** The failure of a request that the server, or something before it, refused with this code: for hooks. */
export const refused = (
  call: Calls.Call,
  answer: { readonly code: number; readonly body?: unknown; readonly retryAfterSeconds?: number }
): ApiError => fromAnswer(call.operation, { body: {}, ...answer })
