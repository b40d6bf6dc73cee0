/** Where the contract of persisted resources is played: an API, in memory or real, an operator that may be stopped and started, and what can be seen of it. */
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { ApiClient } from "../src/ApiClient.ts"
import { type ApiError, fromAnswer } from "../src/ApiError.ts"
import * as Controller from "../src/Controller.ts"
import * as EventPoster from "../src/EventPoster.ts"
import type { KubeObject, ObjectInput } from "../src/KubeObject.ts"
import * as Manager from "../src/Manager.ts"
import * as Reconciler from "../src/Reconciler.ts"
import * as Wake from "../src/Wake.ts"
import { Grant, layerRecords, makeRecords, persistedGrants, type Records } from "./records.ts"
import { events } from "./world.ts"

/** What differs between the worlds. */
export interface Ground {
  readonly api: ApiClient["Service"]
  readonly namespace: string
  /** A moment passes: at most half a second in memory, 50 ms of a real clock. */
  readonly moment: Effect.Effect<void>
  /** More than a second of the stamps in conditions passes. */
  readonly second: Effect.Effect<void>
  /** How often it is looked before what should come is taken to be missing. */
  readonly looks: number
  /** Waits until nothing runs any more, whose sign is given: the same text twice in a row. */
  readonly calm: (sign: Effect.Effect<string>) => Effect.Effect<void>
}

export interface Settings {
  readonly handlesConflicts?: boolean
  /** A status that differs after each pass. */
  readonly countsPasses?: boolean
  readonly workers?: number
  /** Nothing is written to a status. */
  readonly noStatusSubresource?: boolean
}

type Written = "finalizer" | "status"

export interface Seen {
  /** `True Synced`; `none` without the condition, `gone` without the object. */
  readonly ready: string
  readonly message: string
  readonly observed: number | undefined
  /** Of its events, by their text: `Normal Created x1: Created Grant[editor]`. */
  readonly told: ReadonlyArray<string>
  /** `name: rules` of all records. */
  readonly rows: ReadonlyArray<string>
}

export interface Scene extends Pick<Ground, "api" | "namespace" | "second" | "moment"> {
  readonly records: Records["Service"]
  /** Of each settled pass of an object. */
  readonly passes: Array<Manager.Settled>
  /** Fails the operator's own writes, while it is set. */
  readonly refuse: { finalizer?: ApiError | undefined; status?: ApiError | undefined }
  readonly create: (name: string, more?: Partial<ObjectInput>) => Effect.Effect<KubeObject, ApiError>
  readonly read: (name: string) => Effect.Effect<KubeObject, ApiError>
  /** A merge patch by somebody else. */
  readonly edit: (name: string, body: object) => Effect.Effect<unknown, ApiError>
  readonly told: (name: string) => Effect.Effect<ReadonlyArray<string>, ApiError>
  readonly remove: (name: string) => Effect.Effect<unknown, ApiError>
  /** Until the object is as expected, and still is when the operator has come to rest. */
  readonly comes: (name: string, expected: Partial<Seen>) => Effect.Effect<void, ApiError>
  readonly holds: (what: () => boolean, text: string) => Effect.Effect<void>
  readonly rest: Effect.Effect<void>
  /** One pass more, whatever comes of it. */
  readonly wake: (name: string) => Effect.Effect<void>
  readonly enqueue: (name: string) => Effect.Effect<void>
  readonly resync: (selection: Parameters<typeof Wake.resync>[1]) => Effect.Effect<number, unknown>
  /** `ready 0, processing 0, delayed 0, backing off 0`. */
  readonly queue: Effect.Effect<string>
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
}

export interface Case extends Settings {
  readonly name: string
  readonly play: (scene: Scene) => Effect.Effect<void, any>
}

/** What a server that is ill answers. */
export const refusal = fromAnswer(
  { verb: "patch", resource: "grants.persisted.example.com" },
  { code: 500, body: { kind: "Status", message: "the server is ill" } }
)

/** Events say `Kind[namespace/name:uid]`, of which `Seen` has the name. */
export const created = "Normal Created x1: Created Grant[editor]"

/** The operator's client: some of its writes may be refused. */
const refusing = (api: ApiClient["Service"], refuse: Scene["refuse"]): ApiClient["Service"] => {
  const writtenBy = (plural: string, type: string, subresource: string | undefined): Written | undefined =>
    plural !== Grant.plural
      ? undefined
      : subresource === "status"
        ? "status"
        : type === "json"
          ? "finalizer"
          : undefined
  return ApiClient.of({
    ...api,
    patch: (resource, ref, patch, options) =>
      Effect.suspend(() => {
        const written = writtenBy(resource.plural, patch.type, options?.subresource)
        const refusal = written === undefined ? undefined : refuse[written]
        return refusal === undefined ? api.patch(resource, ref, patch, options) : Effect.fail(refusal)
      })
  })
}

const grantsOf = (
  { namespace }: Ground,
  { countsPasses = false, noStatusSubresource = false, workers = 1, ...settings }: Settings
) => {
  let passes = 0
  const persisted = persistedGrants(settings)
  return Controller.make({
    for: Grant,
    namespaces: [namespace],
    workers,
    noStatusSubresource,
    reconciler: countsPasses ? persisted.pipe(Reconciler.status(() => ({ passes: ++passes }))) : persisted
  })
}

/** What runs while the operator does. */
interface Running {
  readonly scope: Scope.Closeable
  readonly context: Context.Context<any>
}

const seenOf = (
  raw: KubeObject | undefined,
  name: string,
  { told, rows }: Pick<Seen, "rows"> & { readonly told: ReadonlyArray<KubeObject> }
): Seen => {
  const status = (raw?.status ?? {}) as any
  const condition = status.conditions?.find(({ type }: any) => type === "Ready")
  return {
    ready: raw === undefined ? "gone" : condition === undefined ? "none" : `${condition.status} ${condition.reason}`,
    message: condition?.message ?? "",
    observed: status.observedGeneration,
    told: told
      .filter((event: any) => event.involvedObject.kind === "Grant" && event.involvedObject.name === name)
      .map((event: any) => {
        const text = String(event.message).replace(/\[[^/\]]+\/([^:\]]+):[-0-9a-f]{36}\]/, "[$1]")
        return `${event.type} ${event.reason} x${event.count ?? 1}: ${text}`
      })
      .toSorted(),
    rows
  }
}

export const setScene = Effect.fnUntraced(function* (
  ground: Ground,
  settings: Settings
): Effect.fn.Return<Scene, any, Scope.Scope> {
  const { api, calm, looks, moment, namespace, second } = ground
  const records = makeRecords()
  const refuse: Scene["refuse"] = {}
  const passes: Array<Manager.Settled> = []
  const controller = grantsOf(ground, settings)
  const outer = yield* Effect.scope
  let running: Running
  const start = Effect.gen(function* () {
    const scope = yield* Scope.fork(outer)
    const operator = Layer.fresh(
      Manager.layer([controller]).pipe(
        Layer.provideMerge(EventPoster.layer),
        Layer.provide(Layer.succeed(ApiClient, refusing(api, refuse))),
        Layer.provide(layerRecords(records)),
        Layer.provide(Layer.succeed(Manager.OnSettled, (settled) => void passes.push(settled)))
      )
    ) as Layer.Layer<any, any>
    running = { scope, context: yield* Layer.buildWithScope(operator, scope) }
  })
  yield* start
  const sign = Effect.gen(function* () {
    const manager = Context.get(running.context, Manager.Manager)
    const poster = yield* Context.get(running.context, EventPoster.EventPoster).stats
    const [one] = yield* manager.queues
    const { parked, processing, ready } = one!.queue
    return `${ready} ${processing.length} ${parked} ${poster.inFlight} ${poster.waiting} ${passes.length}`
  })
  const rest = calm(sign)
  const queue = Effect.gen(function* () {
    const [one] = yield* Context.get(running.context, Manager.Manager).queues
    const { backingOff, delayed, processing, ready } = one!.queue
    return `ready ${ready}, processing ${processing.length}, delayed ${delayed}, backing off ${backingOff}`
  })
  const ref = (name: string) => ({ namespace, name })
  const enqueue = (name: string) => Effect.provideContext(Wake.enqueue(Grant, ref(name)), running.context)
  const holds = Effect.fnUntraced(function* (what: () => boolean, text: string) {
    for (let i = 0; i < looks && !what(); i++) yield* moment
    assert.isTrue(what(), text)
  })
  const look = (name: string) =>
    Effect.gen(function* () {
      const found = yield* Effect.catchReason(api.get(Grant, ref(name)), "ApiError", "NotFound", () => Effect.undefined)
      const { items } = yield* api.list(events, { namespace })
      const rows = [...records.rows.values()].map((row) => `${row.name.split("/")[1]}: ${row.rules}`).toSorted()
      return seenOf(found, name, { told: items, rows })
    })
  const comes = Effect.fnUntraced(function* (name: string, expected: Partial<Seen>) {
    const isAs = (seen: Seen): boolean =>
      Object.entries(expected).every(([key, value]) => JSON.stringify((seen as any)[key]) === JSON.stringify(value))
    yield* rest
    for (let i = 0; i < looks && !isAs(yield* look(name)); i++) yield* moment
    yield* rest
    const seen = yield* look(name)
    assert.deepStrictEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, (seen as any)[key]])), expected)
  })
  return {
    api,
    namespace,
    moment,
    second,
    records,
    passes,
    refuse,
    create: (name, { metadata, spec = { scope: "docs", rules: ["read"] }, ...more } = {}) =>
      api.create(Grant, { ...more, metadata: { namespace, name, ...metadata }, spec }, { fieldManager: "user" }),
    read: (name) => api.get(Grant, ref(name)),
    edit: (name, body) =>
      api.patch(Grant, ref(name), { type: "merge", body: body as ObjectInput }, { fieldManager: "user" }),
    remove: (name) => api.delete(Grant, ref(name)),
    told: (name) => Effect.map(look(name), ({ told }) => told),
    comes,
    holds,
    queue,
    rest,
    enqueue,
    wake: (name) =>
      Effect.gen(function* () {
        const before = passes.length
        yield* enqueue(name)
        yield* holds(() => passes.length > before, `no pass of ${name}`)
        yield* rest
      }),
    resync: (selection) => Effect.suspend(() => Effect.provideContext(Wake.resync(Grant, selection), running.context)),
    stop: Effect.suspend(() => Scope.close(running.scope, Exit.void)),
    start
  } as Scene
})
