/** What a case of the contract works with: a namespace of its own, short verbs over `ApiClient`, and exact expectations. */
import assert from "node:assert/strict"
import type {
  ApiClient,
  JsonPatchOperation,
  SubresourceOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions
} from "@fixpoint/core/ApiClient"
import type { DeleteOptions, ListOptions } from "@fixpoint/core/ApiClient"
import type { ApiError, Reason, StatusCause } from "@fixpoint/core/ApiError"
import { apiVersion } from "@fixpoint/core/KubeObject"
import type { KubeObject, ObjectInput, ObjectRef, Resource } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { configMaps, deployments, events, gadgets, leases, resourceOf, widgets, zones } from "./contractKinds.ts"

type Api = ApiClient["Service"]
type Fields = Readonly<Record<string, unknown>>

export interface ApplyOptions extends SubresourceOptions {
  readonly force?: boolean
}

/** Compares two JSON values; the order of keys does not matter. */
export const same = (actual: unknown, expected: unknown, what?: string): void => {
  try {
    assert.deepEqual(actual, expected)
  } catch (error) {
    if (what !== undefined && error instanceof Error) error.message = `${what}: ${error.message}`
    throw error
  }
}

/** A reason; without `causes` there must be none. */
export type Expected = { readonly [K in Reason["_tag"]]: { readonly _tag: K } }[Reason["_tag"]] & {
  readonly code?: number
  readonly message?: string | RegExp
  readonly causes?: ReadonlyArray<StatusCause> | "any"
  readonly retryAfterMillis?: number
}

/** The error of a request that must be refused. */
export const refused = <A, R>(request: Effect.Effect<A, ApiError, R>): Effect.Effect<ApiError, never, R> =>
  Effect.flatMap(Effect.result(request), (result) =>
    result._tag === "Failure"
      ? Effect.succeed(result.failure)
      : Effect.die(new assert.AssertionError({ message: `was not refused: ${JSON.stringify(result.success)}` }))
  )

/** The request must be refused for exactly this reason. A message may be given as a pattern. */
export const refusedAs = <A, R>(
  request: Effect.Effect<A, ApiError, R>,
  expected: Expected
): Effect.Effect<void, never, R> =>
  Effect.map(refused(request), ({ reason }) => {
    const { message, ...rest } = expected
    const { message: told, ...seen } = reason
    const causes = rest.causes === "any" && "causes" in seen ? seen.causes : (rest.causes ?? [])
    same(seen, { ...rest, causes }, `refused with "${told}"`)
    if (message instanceof RegExp) assert.match(told, message)
    else if (message !== undefined) same(told, message)
  })

/** A field's cause; the reason is FieldValueInvalid unless said. */
export const cause = (field: string, message: string, reason = "FieldValueInvalid"): StatusCause => ({
  reason,
  message,
  field
})

/** Runs the check until it passes, for so many seconds at most; then fails as it failed last. */
export const eventually = <A, E, R>(check: Effect.Effect<A, E, R>, seconds = 20): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let over = false
    const attempt = Effect.sandbox(check)
    return Effect.raceFirst(
      Effect.retry(attempt, { schedule: Schedule.spaced("30 millis"), while: () => !over }),
      Effect.andThen(
        Effect.sleep(`${seconds} seconds`),
        Effect.suspend(() => {
          over = true
          return Effect.never
        })
      )
    )
  }).pipe(Effect.catch((cause) => Effect.failCause(cause)))

/** Who owns what: managedFields without times and versions. */
export const ownership = (object: KubeObject): ReadonlyArray<readonly [string, unknown]> =>
  (object.metadata.managedFields ?? []).map(
    (entry) =>
      [
        `${entry.manager} ${entry.operation}${entry.subresource === undefined ? "" : ` ${entry.subresource}`}`,
        entry.fieldsV1
      ] as const
  )

export const rv = (object: KubeObject): string => object.metadata.resourceVersion

/** True if the second version is later. They are decimals (D29). */
export const isLater = (earlier: string, later: string): boolean => BigInt(later) > BigInt(earlier)

export const names = (items: ReadonlyArray<KubeObject>): ReadonlyArray<string> =>
  items.map((item) => item.metadata.name)

/** Of a watch's events: type and name, and what else is asked for. */
export const told = (
  events: ReadonlyArray<WatchEvent>,
  more: (object: KubeObject) => ReadonlyArray<unknown> = () => []
): ReadonlyArray<ReadonlyArray<unknown>> =>
  events.map((event) =>
    event.type === "BOOKMARK" ? [event.type] : [event.type, event.object.metadata.name, ...more(event.object)]
  )

export interface Bench {
  readonly api: Api
  /** The case's own namespace. */
  readonly ns: string
  /** For cluster-scoped names and groups: unlike that of any other case. */
  readonly unique: string
  readonly here: (name: string) => ObjectRef

  readonly widget: (name: string, spec?: Fields, metadata?: Fields) => ObjectInput
  readonly gadget: (name: string, spec?: Fields, metadata?: Fields) => ObjectInput
  readonly zone: (name: string, spec?: Fields, metadata?: Fields) => ObjectInput
  readonly configMap: (name: string, data?: Fields, metadata?: Fields) => ObjectInput
  readonly lease: (name: string, spec?: Fields, metadata?: Fields) => ObjectInput
  readonly event: (name: string, content?: Fields) => ObjectInput
  readonly deployment: (name: string, container?: Fields, metadata?: Fields) => ObjectInput
  readonly object: (resource: Resource, name: string, content?: Fields, metadata?: Fields) => ObjectInput

  /** The resource is that of the object's kind. */
  readonly create: (object: ObjectInput, options?: WriteOptions) => Effect.Effect<KubeObject, ApiError>
  readonly replace: (object: ObjectInput, options?: SubresourceOptions) => Effect.Effect<KubeObject, ApiError>
  readonly apply: (manager: string, object: ObjectInput, options?: ApplyOptions) => Effect.Effect<KubeObject, ApiError>
  /** An apply on the status subresource. */
  readonly applyStatus: (
    manager: string,
    name: string,
    status: Fields,
    metadata?: Fields,
    force?: boolean
  ) => Effect.Effect<KubeObject, ApiError>
  readonly get: (resource: Resource, name: string) => Effect.Effect<KubeObject, ApiError>
  readonly merge: (
    resource: Resource,
    name: string,
    body: Fields,
    options?: SubresourceOptions
  ) => Effect.Effect<KubeObject, ApiError>
  readonly json: (
    resource: Resource,
    name: string,
    body: ReadonlyArray<JsonPatchOperation>,
    options?: SubresourceOptions
  ) => Effect.Effect<KubeObject, ApiError>
  readonly delete: (resource: Resource, name: string, options?: DeleteOptions) => ReturnType<Api["delete"]>
  /** One page of what is in the namespace. */
  readonly list: (resource: Resource, options?: ListOptions) => ReturnType<Api["list"]>
  /** That many events of a watch in the namespace, bookmarks left out; fails if they do not come within 15 s. */
  readonly watched: (
    resource: Resource,
    count: number,
    options: WatchOptions
  ) => Effect.Effect<ReadonlyArray<WatchEvent>, ApiError>
  /** The version of a list of what is in the namespace, for a watch from here. */
  readonly now: (resource: Resource) => Effect.Effect<string, ApiError>
}

const eventAbout = (namespace: string): Fields => ({
  involvedObject: { apiVersion: apiVersion(widgets), kind: "Widget", namespace, name: "w", uid: "u" },
  reason: "Reason",
  message: "message",
  type: "Normal"
})

const deploymentOf = (container: Fields | undefined): Fields => ({
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i", ...container }] } }
  }
})

/** The verbs bound to a namespace. */
export const make = (api: Api, ns: string): Bench => {
  const here = (name: string): ObjectRef => ({ namespace: ns, name })
  const refIn = (resource: Resource, name: string): ObjectRef =>
    resource.scope === "Namespaced" ? here(name) : { namespace: undefined, name }
  const object = (resource: Resource, name: string, content: Fields = {}, metadata: Fields = {}): ObjectInput => ({
    apiVersion: apiVersion(resource),
    kind: resource.kind,
    ...content,
    metadata: { name, ...(resource.scope === "Namespaced" && { namespace: ns }), ...metadata }
  })
  const withSpec = (resource: Resource) => (name: string, spec?: Fields, metadata?: Fields) =>
    object(resource, name, spec === undefined ? {} : { spec }, metadata)
  const refOf = (input: ObjectInput): ObjectRef => refIn(resourceOf(input), input.metadata?.name ?? "")
  const apply: Bench["apply"] = (manager, body, { force, ...options } = {}) =>
    api.patch(
      resourceOf(body),
      refOf(body),
      { type: "apply", body, ...(force !== undefined && { force }) },
      { ...options, fieldManager: manager }
    )
  const within = <O extends ListOptions | WatchOptions>(resource: Resource, options: O | undefined) => ({
    ...(resource.scope === "Namespaced" && { namespace: ns }),
    ...options
  })
  return {
    api,
    ns,
    unique: ns.replaceAll("-", ""),
    here,
    object,
    widget: withSpec(widgets),
    gadget: withSpec(gadgets),
    zone: withSpec(zones),
    lease: withSpec(leases),
    configMap: (name, data, metadata) => object(configMaps, name, data === undefined ? {} : { data }, metadata),
    event: (name, content) => object(events, name, { ...eventAbout(ns), ...content }),
    deployment: (name, container, metadata) => object(deployments, name, deploymentOf(container), metadata),
    create: (input, options) => api.create(resourceOf(input), input, options),
    replace: (input, options) => api.replace(resourceOf(input), refOf(input), input, options),
    apply,
    applyStatus: (manager, name, status, metadata, force) =>
      apply(manager, object(widgets, name, { status }, metadata), {
        subresource: "status",
        ...(force !== undefined && { force })
      }),
    get: (resource, name) => api.get(resource, refIn(resource, name)),
    merge: (resource, name, body, options) =>
      api.patch(resource, refIn(resource, name), { type: "merge", body }, options),
    json: (resource, name, body, options) =>
      api.patch(resource, refIn(resource, name), { type: "json", body }, options),
    delete: (resource, name, options) => api.delete(resource, refIn(resource, name), options),
    list: (resource, options) => api.list(resource, within(resource, options)),
    watched: (resource, count, options) =>
      api.watch(resource, within(resource, options)).pipe(
        Stream.filter((event) => event.type !== "BOOKMARK"),
        Stream.take(count),
        Stream.runCollect,
        Effect.timeoutOrElse({
          duration: "15 seconds",
          orElse: () => Effect.die(new assert.AssertionError({ message: `${count} events did not come within 15 s` }))
        })
      ),
    now: (resource) => Effect.map(api.list(resource, within(resource, { limit: 1 })), (page) => page.resourceVersion)
  }
}

/** What a case belongs to. */
export type Area =
  | "metadata"
  | "create"
  | "replace"
  | "merge patch"
  | "json patch"
  | "apply"
  | "status"
  | "delete"
  | "owners"
  | "list"
  | "selectors"
  | "pages"
  | "watch"
  | "namespaces"
  | "definitions"
  | "events"
  | "leases"
  | "discovery"

/** One promise of an API server, as a program that fails where the promise is broken. */
export interface Case {
  readonly area: Area
  /** A sentence with the numbers of the facts that it pins. */
  readonly name: string
  /** `controllers`: the garbage collector and the namespace controller must run. */
  readonly needs?: "controllers"
  readonly run: (bench: Bench) => Effect.Effect<void, unknown, Scope.Scope>
}

type Body = (bench: Bench) => Generator<Effect.Effect<any, any, Scope.Scope>, void, never>

/** A table of cases: names and bodies. */
export const cases = (area: Area, bodies: Readonly<Record<string, Body>>, needs?: "controllers"): ReadonlyArray<Case> =>
  Object.entries(bodies).map(([name, body]) => ({
    area,
    name,
    ...(needs !== undefined && { needs }),
    run: (bench) => Effect.gen(() => body(bench))
  }))
