/** An API in memory whose lists and watches are recorded and can be made to fail. */
import { assert } from "@effect/vitest"
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import {
  ApiClient,
  formatResource,
  type ListOptions,
  type ListPage,
  type WatchEvent,
  type WatchOptions
} from "../src/ApiClient.ts"
import { ApiError, fromAnswer } from "../src/ApiError.ts"
import type { KubeObject, ObjectInput, Resource } from "../src/KubeObject.ts"
import * as TestClock from "effect/testing/TestClock"
import * as Reflector from "../src/Reflector.ts"
import * as Store from "../src/Store.ts"
import { shown, widgets } from "./widgets.ts"

export interface Request {
  readonly verb: "list" | "watch"
  /** Test clock. */
  readonly at: number
  readonly resource: string
  readonly options: ListOptions & WatchOptions
}

/** What stands between the client and the server; undefined lets the request through. `number` counts the requests of that verb from 1. */
export interface Between {
  list?:
    | ((options: ListOptions, number: number, resource: Resource) => Effect.Effect<ListPage, ApiError> | undefined)
    | undefined
  watch?:
    | ((options: WatchOptions, number: number, resource: Resource) => Stream.Stream<WatchEvent, ApiError> | undefined)
    | undefined
}

export interface World {
  readonly api: ApiClient["Service"]
  readonly server: ApiServer.ApiServer["Service"]
  readonly requests: Array<Request>
  readonly between: Between
  readonly services: Context.Context<ApiClient>
  readonly create: (name: string, more?: ObjectInput) => Effect.Effect<KubeObject>
  readonly change: (name: string, more: ObjectInput) => Effect.Effect<KubeObject>
  readonly remove: (name: string) => Effect.Effect<void>
  readonly install: (crd: ObjectInput) => Effect.Effect<void>
  readonly uninstall: (plural: string) => Effect.Effect<void>
}

export const size = (size: number) => ({ spec: { size } })

export const crd = (kind: string, plural: string): ObjectInput => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
      }
    ]
  }
})

const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}

const namespace = (name: string): ObjectInput => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })

export const makeWorld = Effect.fnUntraced(function* (
  kinds: ReadonlyArray<ObjectInput> = [crd("Widget", "widgets")]
): Effect.fn.Return<World, never, Scope.Scope> {
  const context = yield* Layer.build(ApiServer.layer({ seed: 1, kinds, objects: [namespace("ns1"), namespace("ns2")] }))
  const real = Context.get(context, ApiClient)
  const server = Context.get(context, ApiServer.ApiServer)
  const clock = yield* Clock.Clock
  const requests: Array<Request> = []
  const between: Between = {}
  const count = (verb: "list" | "watch", resource: Resource, options: ListOptions & WatchOptions): number => {
    requests.push({ verb, at: clock.currentTimeMillisUnsafe(), resource: formatResource(resource), options })
    return requests.filter((request) => request.verb === verb).length
  }
  const api = ApiClient.of({
    ...real,
    list: (resource, options = {}) =>
      Effect.suspend(() => {
        const number = count("list", resource, options)
        return between.list?.(options, number, resource) ?? real.list(resource, options)
      }),
    watch: (resource, options = {}) =>
      Stream.suspend(() => {
        const number = count("watch", resource, options)
        return between.watch?.(options, number, resource) ?? real.watch(resource, options)
      })
  })
  const body = (name: string, { metadata, ...more }: ObjectInput = {}): ObjectInput => ({
    apiVersion: "example.com/v1",
    kind: "Widget",
    ...more,
    metadata: { name, namespace: "ns1", ...metadata }
  })
  const ref = (name: string) => ({ namespace: "ns1", name })
  return {
    api,
    server,
    requests,
    between,
    services: Context.make(ApiClient, api),
    create: (name, more) => Effect.orDie(real.create(widgets, body(name, more))),
    change: (name, more) => Effect.orDie(real.patch(widgets, ref(name), { type: "merge", body: more })),
    remove: (name) => Effect.asVoid(Effect.orDie(real.delete(widgets, ref(name)))),
    install: (crd) => Effect.asVoid(Effect.orDie(real.create(crds, crd))),
    uninstall: (plural) =>
      Effect.asVoid(Effect.orDie(real.delete(crds, { namespace: undefined, name: `${plural}.example.com` })))
  }
})

/** A reflector of widgets, what it tells as `name:Before>After`, by the letters of `spec.size`, and its health. */
export const follow = Effect.fnUntraced(function* (
  world: World,
  options: Partial<Omit<Reflector.Options, "store">> & { readonly namespaces?: ReadonlyArray<string> } = {}
) {
  const { namespaces, ...rest } = options
  const resource = rest.resource ?? widgets
  const store = Store.make({
    resource,
    fieldManager: "fixpoint",
    ...(namespaces !== undefined && { namespaces })
  })
  const changes: Array<string> = []
  const sizeOf = (object: KubeObject | undefined): string =>
    object === undefined ? "" : String((object.spec as { readonly size?: number } | undefined)?.size ?? "?")
  store.onChange(({ next, previous, ref }) => changes.push(`${ref.name}:${sizeOf(previous)}>${sizeOf(next)}`))
  const reflectors = yield* Effect.forEach(namespaces ?? [undefined], (namespace) =>
    Effect.provideContext(
      Reflector.make({ ...rest, resource, store, ...(namespace !== undefined && { namespace }) }),
      world.services
    )
  )
  return { store, changes, reflectors, health: () => reflectors[0]!.health() }
})

const operation = (verb: "list" | "watch") => ({ verb, resource: "widgets.example.com" }) as const

export const refused = (
  verb: "list" | "watch",
  code: number,
  body: unknown = {},
  retryAfterSeconds?: number
): ApiError =>
  fromAnswer(operation(verb), { code, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })

export const broken = (verb: "list" | "watch", tag: "Unreachable" | "Malformed" = "Unreachable"): ApiError =>
  new ApiError({ ...operation(verb), reason: { _tag: tag, message: "the connection was reset" } })

export const expired = (verb: "list" | "watch", token?: string): ApiError =>
  refused(verb, 410, {
    reason: "Expired",
    message: "too old resource version",
    metadata: token === undefined ? {} : { continue: token }
  })

/** Whether a request begins a list: of pages, or streamed. */
export const isList = ({ options, verb }: Request): boolean =>
  verb === "list" ? options.continue === undefined : options.sendInitialEvents === true

/** Lets everything run that can run now. Takes 10 ms of the test clock. */
export const settle = Effect.repeat(TestClock.adjust(1), { times: 9 })

/** Lets what can run now run first: a fiber that has not begun to sleep yet would sleep from the end of the leap. */
export const after = (duration: Duration.Input): Effect.Effect<void> =>
  Effect.andThen(settle, TestClock.adjust(duration))

export const events = (...events: ReadonlyArray<WatchEvent>): Stream.Stream<WatchEvent> => Stream.fromArray(events)

export const bookmark = (resourceVersion: string, initialEventsEnd = false): WatchEvent => ({
  type: "BOOKMARK",
  resourceVersion,
  initialEventsEnd
})

/** From each time to the next. */
export const gaps = (times: ReadonlyArray<number>): ReadonlyArray<number> =>
  times.slice(1).map((time, i) => time - times[i]!)

/** The objects in the cache are those on the server, in the same versions. */
export const assertEqual = Effect.fnUntraced(function* (world: World, store: Store.Store) {
  assert.deepStrictEqual(shown(store.list()), shown(yield* world.server.objects(widgets)))
})
