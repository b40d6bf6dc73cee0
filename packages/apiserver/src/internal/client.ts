/** The verbs of `ApiClient` over a running server: the way that a request over HTTP would take, without the socket. */
import { ApiClient, type ListOptions, type WatchEvent, type WriteOptions } from "@fixpoint/core/ApiClient"
import * as Client from "@fixpoint/core/ApiClient"
import * as ApiError from "@fixpoint/core/ApiError"
import { FieldManager } from "@fixpoint/core/FieldManager"
import * as KubeObject from "@fixpoint/core/KubeObject"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Definition } from "./definition.ts"
import * as Exchange from "./exchange.ts"
import { isStatus, type Method, type Request, type Response } from "./request.ts"
import * as Server from "./server.ts"
import { definitionAt, definitionOfKind } from "./state.ts"
import type { WireEvent } from "./watching.ts"

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

const requestOf = ({
  body,
  contentType,
  method,
  name,
  namespace,
  query,
  resource,
  subresource
}: Asked): Exchange.Unstamped => ({
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

const failureOf = (operation: ApiError.Operation, { body, code, retryAfterSeconds }: Response): ApiError.ApiError =>
  ApiError.fromAnswer(operation, { code, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })

const ask = (running: Exchange.Running, asked: Asked): Effect.Effect<Response, ApiError.ApiError> => {
  const operation = operationOf(asked)
  return Effect.flatMap(Exchange.answer(running, operation, requestOf(asked)), (response) =>
    response.code < 400 ? Effect.succeed(response) : failureOf(operation, response)
  )
}

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

type WatchQueue = Queue.Queue<WatchEvent, ApiError.ApiError | Cause.Done>

const openWatch = (
  running: Exchange.Running,
  asked: Asked
): Effect.Effect<Stream.Stream<WatchEvent, ApiError.ApiError>, ApiError.ApiError, Scope.Scope> =>
  Effect.gen(function* () {
    const operation = operationOf(asked)
    const toEvent = translate(operation)
    const queue: WatchQueue = yield* Effect.acquireRelease(
      Queue.dropping<WatchEvent, ApiError.ApiError | Cause.Done>(Server.watchCapacity),
      Queue.shutdown
    )
    const opened = yield* Exchange.openWatch(running, operation, requestOf(asked), {
      offer: (event) => Queue.offerUnsafe(queue, toEvent(event)),
      end: (failure) => {
        if (failure === undefined) Queue.endUnsafe(queue)
        else Queue.failCauseUnsafe(queue, Cause.fail(failure))
      }
    })
    if ("code" in opened) return yield* failureOf(operation, opened)
    const first = opened.initial.at(-1)
    if (opened.failed && first?.type === "ERROR") {
      return yield* ApiError.fromAnswer(operation, { code: first.object.code ?? 500, body: first.object })
    }
    return Stream.concat(Stream.fromArray(opened.initial.map(toEvent)), Stream.fromQueue(queue))
  })

/** The verbs with one request and one answer. */
const asking = (running: Exchange.Running) => {
  const request = (asked: Asked) => ask(running, asked)
  const object = (asked: Asked) => Effect.map(request(asked), ({ body }) => body as KubeObject.KubeObject)
  const write = (asked: (manager: string) => Asked) => Effect.flatMap(FieldManager, (manager) => object(asked(manager)))
  return { request, object, write }
}

type Verbs<Names extends keyof ApiClient["Service"]> = Pick<ApiClient["Service"], Names>

const reads = (running: Exchange.Running): Verbs<"get" | "list" | "watch" | "discover" | "schema"> => {
  const { object, request } = asking(running)
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
        openWatch(running, {
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
    discover: (resource) => learn(running, resource, discoveredOf),
    schema: (resource) => learn(running, resource, schemaOf)
  }
}

const writes = (running: Exchange.Running): Verbs<"create" | "replace" | "patch" | "delete" | "deleteCollection"> => {
  const { request, write } = asking(running)
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

export const make = (running: Exchange.Running): ApiClient["Service"] =>
  ApiClient.of({ ...reads(running), ...writes(running) })

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
  running: Exchange.Running,
  resource: R,
  find: (server: Server.Server, resource: R) => A | undefined
): Effect.Effect<Option.Option<A>, ApiError.ApiError> => {
  const name = "plural" in resource ? String(resource.plural) : "kind" in resource ? String(resource.kind) : ""
  const operation = {
    verb: "discover" as const,
    resource: Client.formatResource({ group: resource.group, plural: name })
  }
  return Exchange.read(
    running,
    operation,
    Effect.sync(() => Option.fromUndefinedOr(find(running.server, resource)))
  )
}

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
