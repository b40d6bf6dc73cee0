/** The verbs of `ApiClient` over a running server: the way that a request over HTTP would take, without the socket. */
import { ApiClient, type ListOptions, type WatchEvent, type WriteOptions } from "@fixpoint/core/ApiClient"
import * as Client from "@fixpoint/core/ApiClient"
import * as ApiError from "@fixpoint/core/ApiError"
import { FieldManager } from "@fixpoint/core/FieldManager"
import * as KubeObject from "@fixpoint/core/KubeObject"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Calls } from "./calls.ts"
import type { Definition } from "./definition.ts"
import { isStatus, type Method, type Request, type Response } from "./request.ts"
import * as Server from "./server.ts"
import { definitionAt, definitionOfKind } from "./state.ts"
import { bookmark, type Watch, type WireEvent } from "./watching.ts"

type Unstamped = Omit<Request, "now" | "seed">
type Resource = KubeObject.Resource

interface Asked {
  readonly verb: ApiError.Verb
  readonly method: Method
  readonly resource: Pick<Resource, "group" | "version" | "plural">
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  readonly body?: unknown
  readonly contentType?: string
}

const userAgent = "fixpoint"

/** What JSON makes of a value: a copy that shares nothing with it and has no undefined members. */
const overTheWire = (body: unknown): Pick<Request, "body" | "bodyBytes"> => {
  if (body === undefined) return {}
  const text = JSON.stringify(body)
  return { body: JSON.parse(text), bodyBytes: text.length }
}

const requestOf = ({ body, contentType, method, name, namespace, query, resource, subresource }: Asked): Unstamped => ({
  method,
  group: resource.group,
  version: resource.version,
  plural: resource.plural,
  namespace,
  name,
  subresource,
  query: texts(query),
  ...overTheWire(body),
  contentType,
  userAgent
})

const texts = (query: Asked["query"]): Request["query"] => {
  const out: Record<string, string> = {}
  for (const key in query) {
    const value = query[key]
    if (value !== undefined) out[key] = String(value)
  }
  return out
}

const operationOf = ({ name, namespace, resource, subresource, verb }: Asked): ApiError.Operation => ({
  verb,
  resource: Client.formatResource(resource, subresource),
  ...(name !== undefined && { ref: { namespace, name } })
})

/** A request of the whole length: hooks, the step, the log, the error. Other fibers get a turn before and after the step, as over a network. */
const ask = (server: Server.Server, calls: Calls, asked: Asked): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.gen(function* () {
    const call = calls.begin(operationOf(asked), asked.method !== "GET")
    yield* calls.before(call)
    yield* Effect.yieldNow
    const now = yield* Clock.currentTimeMillis
    const { changes, response } = Server.handle(server, requestOf(asked), now)
    calls.done(call, response.code, changes.length > 0, now)
    yield* Effect.yieldNow
    yield* calls.after(call, response.code)
    if (response.code < 400) return response
    return yield* ApiError.fromAnswer(call.operation, {
      code: response.code,
      body: response.body,
      ...(response.retryAfterSeconds !== undefined && { retryAfterSeconds: response.retryAfterSeconds })
    })
  })

const listQuery = ({ namespace: _, ...options }: ListOptions): Asked["query"] => ({ ...options })

const writeQuery = (options: WriteOptions | undefined, manager: string): NonNullable<Asked["query"]> => ({
  fieldManager: options?.fieldManager ?? manager,
  dryRun: options?.dryRun === true ? "All" : undefined,
  fieldValidation: options?.fieldValidation
})

/** Bodies may leave out what the resource says. */
const typed = (resource: Resource, object: KubeObject.ObjectInput): KubeObject.ObjectInput => ({
  ...object,
  apiVersion: object.apiVersion ?? KubeObject.apiVersion(resource),
  kind: object.kind ?? resource.kind
})

const contentTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml"
} as const

const translate =
  (operation: ApiError.Operation) =>
  (event: WireEvent): WatchEvent => {
    switch (event.type) {
      case "BOOKMARK":
        return {
          type: "BOOKMARK",
          resourceVersion: event.object.metadata.resourceVersion,
          initialEventsEnd: event.object.metadata.annotations?.["k8s.io/initial-events-end"] === "true"
        }
      case "ERROR":
        // Only a watch that has failed at once sends one, and that is made a failure of the stream.
        throw new Error(`${operation.resource}: an ERROR event in the middle of a watch`)
      default:
        return event
    }
  }

/** A watch without timeoutSeconds is ended by the server after 30 to 60 minutes. */
const watchSecondsLeast = 1_800
const bookmarkSeconds = 60
/** The last bookmark comes this long before the end, if the watch is not a short one (F65). */
const lastBookmarkSeconds = 2

const clockwork = (server: Server.Server, watch: Watch, queue: Server.WatchQueue): Effect.Effect<void> =>
  Effect.gen(function* () {
    const end = watch.timeoutSeconds ?? watchSecondsLeast + (yield* Random.nextIntBetween(0, watchSecondsLeast))
    let elapsed = 0
    while (elapsed < end) {
      const last = end - lastBookmarkSeconds
      const next = elapsed < last && end > bookmarkSeconds ? Math.min(elapsed + bookmarkSeconds, last) : end
      yield* Effect.sleep((next - elapsed) * 1_000)
      elapsed = next
      if (elapsed < end && watch.bookmarks) {
        const { object } = bookmark(watch.definition, server.state.rv) as Extract<WireEvent, { type: "BOOKMARK" }>
        Queue.offerUnsafe(queue, {
          type: "BOOKMARK",
          resourceVersion: object.metadata.resourceVersion,
          initialEventsEnd: false
        })
      }
    }
    Queue.endUnsafe(queue)
  })

const openWatch = (
  server: Server.Server,
  calls: Calls,
  asked: Asked
): Effect.Effect<Stream.Stream<WatchEvent, ApiError.ApiError>, ApiError.ApiError, Scope.Scope> =>
  Effect.gen(function* () {
    const call = calls.begin(operationOf(asked), false)
    const { operation } = call
    yield* calls.before(call)
    yield* Effect.yieldNow
    const now = yield* Clock.currentTimeMillis
    const queue: Server.WatchQueue = yield* Queue.dropping<WatchEvent, ApiError.ApiError | Cause.Done>(
      Server.watchCapacity
    )
    const opened = Server.openWatch(server, requestOf(asked), now)
    if ("code" in opened) {
      calls.done(call, opened.code, false, now)
      return yield* ApiError.fromAnswer(operation, { code: opened.code, body: opened.body })
    }
    calls.done(call, 200, false, now)
    const first = opened.initial.at(-1)
    if (opened.failed && first?.type === "ERROR") {
      return yield* ApiError.fromAnswer(operation, { code: first.object.code ?? 500, body: first.object })
    }
    const toEvent = translate(operation)
    // In the same breath as the opening, so that no change falls between.
    const unsubscribe = Server.subscribe(server, { watch: opened, queue, translate: toEvent })
    yield* Effect.addFinalizer(() => Effect.sync(unsubscribe))
    yield* calls.after(call, 200)
    yield* Effect.forkScoped(clockwork(server, opened, queue))
    return Stream.concat(Stream.fromArray(opened.initial.map(toEvent)), Stream.fromQueue(queue))
  })

/** The verbs with one request and one answer. */
const asking = (server: Server.Server, calls: Calls) => {
  const request = (asked: Asked) => ask(server, calls, asked)
  const object = (asked: Asked) => Effect.map(request(asked), ({ body }) => body as KubeObject.KubeObject)
  const write = (asked: (manager: string) => Asked) => Effect.flatMap(FieldManager, (manager) => object(asked(manager)))
  return { request, object, write }
}

type Verbs<Names extends keyof ApiClient["Service"]> = Pick<ApiClient["Service"], Names>

const reads = (server: Server.Server, calls: Calls): Verbs<"get" | "list" | "watch" | "discover" | "schema"> => {
  const { object, request } = asking(server, calls)
  return {
    get: (resource, { name, namespace }, options) =>
      object({ verb: "get", method: "GET", resource, namespace, name, query: { ...options } }),
    list: (resource, options = {}) =>
      Effect.map(
        request({
          verb: "list",
          method: "GET",
          resource,
          namespace: options.namespace,
          query: listQuery(options)
        }),
        ({ body }) => pageOf(body)
      ),
    watch: (resource, options = {}) => {
      const { namespace, ...query } = options
      return Stream.unwrap(
        openWatch(server, calls, {
          verb: "watch",
          method: "GET",
          resource,
          namespace,
          query: {
            ...query,
            watch: true,
            allowWatchBookmarks: true,
            ...(options.sendInitialEvents !== undefined && { resourceVersionMatch: "NotOlderThan" })
          }
        })
      )
    },
    discover: (resource) => learn(server, calls, resource, discoveredOf),
    schema: (resource) => learn(server, calls, resource, schemaOf)
  }
}

const writes = (
  server: Server.Server,
  calls: Calls
): Verbs<"create" | "replace" | "patch" | "delete" | "deleteCollection"> => {
  const { request, write } = asking(server, calls)
  return {
    create: (resource, body, options) =>
      write((manager) => ({
        verb: "create",
        method: "POST",
        resource,
        namespace: body.metadata?.namespace,
        body: typed(resource, body),
        contentType: "application/json",
        query: writeQuery(options, manager)
      })),
    replace: (resource, { name, namespace }, body, options) =>
      write((manager) => ({
        verb: "replace",
        method: "PUT",
        resource,
        namespace,
        name,
        subresource: options?.subresource,
        body: options?.subresource === "scale" ? body : typed(resource, body),
        contentType: "application/json",
        query: writeQuery(options, manager)
      })),
    patch: (resource, { name, namespace }, patch, options) =>
      write((manager) => ({
        verb: patch.type === "apply" ? "apply" : "patch",
        method: "PATCH",
        resource,
        namespace,
        name,
        subresource: options?.subresource,
        body: patch.type === "apply" && options?.subresource !== "scale" ? typed(resource, patch.body) : patch.body,
        contentType: contentTypes[patch.type],
        query: {
          ...writeQuery(options, manager),
          ...(patch.type === "apply" && patch.force === true && { force: true })
        }
      })),
    delete: (resource, { name, namespace }, options) =>
      Effect.map(
        request({ verb: "delete", method: "DELETE", resource, namespace, name, ...deleteBody(options) }),
        ({ body }) => body as KubeObject.KubeObject | ApiError.Status
      ),
    deleteCollection: (resource, options = {}) => {
      const { fieldSelector, labelSelector, namespace, ...rest } = options
      return Effect.map(
        request({
          verb: "deletecollection",
          method: "DELETE",
          resource,
          namespace,
          query: { fieldSelector, labelSelector },
          ...deleteBody(rest)
        }),
        ({ body }) => (isStatus(body) ? [] : pageOf(body).items)
      )
    }
  }
}

export const make = (server: Server.Server, calls: Calls): ApiClient["Service"] =>
  ApiClient.of({ ...reads(server, calls), ...writes(server, calls) })

const pageOf = (body: unknown): Client.ListPage => {
  const { items, metadata } = body as {
    readonly items: ReadonlyArray<KubeObject.KubeObject>
    readonly metadata: {
      readonly resourceVersion: string
      readonly continue?: string
      readonly remainingItemCount?: number
    }
  }
  const { continue: token, remainingItemCount, resourceVersion } = metadata
  return {
    items,
    resourceVersion,
    ...(token !== undefined && token !== "" && { continue: token }),
    ...(remainingItemCount !== undefined && { remainingItemCount })
  }
}

const deleteBody = (options: Client.DeleteOptions | undefined): Pick<Asked, "body" | "contentType"> => {
  const { dryRun, ...rest } = options ?? {}
  const body = { ...rest, ...(dryRun === true && { dryRun: ["All"] }) }
  return Object.keys(body).length === 0
    ? {}
    : { body: { kind: "DeleteOptions", apiVersion: "v1", ...body }, contentType: "application/json" }
}

/** Discovery and schemas are read from what is served now. */
const learn = <R extends { readonly group: string; readonly version: string }, A>(
  server: Server.Server,
  calls: Calls,
  resource: R,
  read: (server: Server.Server, resource: R) => A | undefined
): Effect.Effect<Option.Option<A>, ApiError.ApiError> =>
  Effect.gen(function* () {
    const name = "plural" in resource ? String(resource.plural) : "kind" in resource ? String(resource.kind) : ""
    const call = calls.begin(
      { verb: "discover", resource: Client.formatResource({ group: resource.group, plural: name }) },
      false
    )
    yield* calls.before(call)
    yield* Effect.yieldNow
    const now = yield* Clock.currentTimeMillis
    const found = Option.fromUndefinedOr(read(server, resource))
    calls.done(call, 200, false, now)
    yield* calls.after(call, 200)
    return found
  })

const discoveredOf = (
  { state }: Server.Server,
  { group, plural, version }: Pick<Resource, "group" | "version" | "plural">
): Client.Discovered | undefined => {
  const definition = definitionAt(state, group, version, plural)
  if (definition === undefined) return undefined
  const { hasStatus, kind, namespaced, scale, singular, verbs } = definition
  return {
    plural,
    singular,
    kind,
    namespaced,
    verbs,
    subresources: [...(hasStatus ? ["status"] : []), ...(scale === undefined ? [] : ["scale"])]
  }
}

const schemaOf = (
  { state }: Server.Server,
  resource: Pick<Resource, "group" | "version" | "kind">
): Client.JsonSchema | undefined => {
  const definition = definitionOfKind(state, KubeObject.apiVersion(resource), resource.kind)
  return definition === undefined ? undefined : published(definition)
}

/** As the OpenAPI document has it: with the fields that every object bears. */
const published = ({ group, kind, schema, version }: Definition): Client.JsonSchema => ({
  ...schema,
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    ...schema.properties
  },
  "x-kubernetes-group-version-kind": [{ group, kind, version }]
})
