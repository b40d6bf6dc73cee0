/** One life of the operator's objects, act by act, and what the Events tell of it: in memory and on a cluster the same script. */
import { ApiServer } from "@fixpoint/apiserver/ApiServer"
import { assert } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject, ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { ConfigMap, Role, Scope } from "../src/access/kinds.ts"
import { Registry, RegistryError } from "../src/access/Registry.ts"
import { events, namespace, quiet, ready, roleManifest, scopeManifest, start } from "./world.ts"

/** A Registry that can be told to fail, and then logs it: in the pass that called. */
const unreliableRegistry = () => {
  let failures = 0
  const unlessDown = <A>(answer: Effect.Effect<A, RegistryError>): Effect.Effect<A, RegistryError> =>
    Effect.gen(function* () {
      if (failures === 0) return yield* answer
      failures--
      yield* Effect.logWarning("the registry refuses a call")
      return yield* new RegistryError({ message: "the registry is down" })
    })
  const layer = Layer.effect(
    Registry,
    Effect.map(Registry, ({ entries, register, release }) =>
      Registry.of({
        register: (uid, name) => unlessDown(register(uid, name)),
        release: (uid) => unlessDown(release(uid)),
        entries
      })
    )
  ).pipe(Layer.provide(Layer.fresh(Registry.layerMemory)))
  return { layer, failNext: (calls: number) => Effect.sync(() => void (failures = calls)) }
}

interface Stage<R> {
  readonly namespace: string
  readonly failNext: (calls: number) => Effect.Effect<void>
  /** Goes on until it holds, and then until nothing runs and nothing more is said in the act of that title. */
  readonly wait: (holds: Effect.Effect<boolean, ApiError>, title: string) => Effect.Effect<void, ApiError, R>
  /** All Events that the server holds. */
  readonly look: Effect.Effect<ReadonlyArray<KubeObject>, ApiError, R>
}

/** An Event as it is told of in a history. */
interface Told {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly count: number
  /** Kind and name. */
  readonly object: string
  readonly namespace: string
  readonly reporter: string
  readonly name: string
  readonly firstAt: string
}

export interface Act {
  readonly title: string
  /** The Events that came or were counted on in this act, in the order of time. */
  readonly told: ReadonlyArray<Told>
}

const toldBy = (event: KubeObject): Told => {
  const { count, eventTime, involvedObject, message, metadata, reason, reportingComponent, reportingInstance, type } =
    event as Readonly<Record<string, any>>
  return {
    type,
    reason,
    message,
    count,
    object: `${involvedObject.kind} ${involvedObject.name}`,
    namespace: metadata.namespace,
    reporter:
      reportingComponent === reportingInstance ? reportingComponent : `${reportingComponent}/${reportingInstance}`,
    name: metadata.name,
    firstAt: eventTime
  }
}

const orderOf = ({ firstAt, message, object, reason, type }: Told): string =>
  JSON.stringify([firstAt, object, type, reason, message])

/** What users do, and what holds when the operator has answered. */
interface Scene {
  readonly title: string
  readonly does: Effect.Effect<unknown, ApiError>
  readonly until: Effect.Effect<boolean, ApiError>
}

/** What the user of a namespace does in it and sees of it. */
const userOf = (api: ApiClient["Service"], namespace: string) => {
  const at = (name: string) => ({ namespace, name })
  const user = { fieldManager: "user" }
  const orGone = <A>(answer: Effect.Effect<A, ApiError>) =>
    Effect.catchReason(answer, "ApiError", "NotFound", () => Effect.succeed(undefined))
  return {
    create: (resource: Resource, { metadata, ...rest }: ObjectInput) =>
      api.create(resource, { ...rest, metadata: { ...metadata, namespace } }, user),
    edit: (resource: Resource, name: string, spec: object) =>
      api.patch(resource, at(name), { type: "merge", body: { spec } }, user),
    delete: (resource: Resource, name: string) => api.delete(resource, at(name)),
    isGone: (resource: Resource, name: string) =>
      Effect.map(orGone(api.get(resource, at(name))), (object) => object === undefined),
    isReady: (name: string, text: string) => Effect.map(api.get(Role, at(name)), (role) => ready(role) === text),
    grants: (name: string, member: string, text: string) =>
      Effect.map(orGone(api.get(ConfigMap, at(name))), (config) => (config?.data as any)?.[member] === text)
  }
}

const scenes = (
  { create, delete: remove, edit, grants, isGone, isReady }: ReturnType<typeof userOf>,
  failNext: Stage<never>["failNext"]
): ReadonlyArray<Scene> => {
  const reads = { resource: "articles", verbs: ["read"] }
  return [
    {
      title: "a Role comes before its Scope",
      does: create(Role, roleManifest("editor")),
      until: isReady("editor", "False ScopeNotFound")
    },
    { title: "its Scope appears", does: create(Scope, scopeManifest("docs")), until: isReady("editor", "True Synced") },
    {
      title: "another Role comes while the registry is down, for three calls",
      does: Effect.andThen(failNext(3), create(Role, roleManifest("reviewer", { rules: [reads] }))),
      until: isReady("reviewer", "True Synced")
    },
    {
      title: "somebody gives it two rules for one resource",
      does: edit(Role, "reviewer", { rules: [reads, reads] }),
      until: isReady("reviewer", "False MalformedResource")
    },
    {
      title: "and takes it back",
      does: edit(Role, "reviewer", { rules: [reads] }),
      until: isReady("reviewer", "True Synced")
    },
    {
      title: "somebody deletes the ConfigMap of a Role",
      does: remove(ConfigMap, "editor-rules"),
      until: grants("editor-rules", "ada", "articles: read, write")
    },
    {
      title: "the Scope gets another member",
      does: edit(Scope, "docs", { members: ["ada", "grace", "linus"] }),
      until: Effect.map(
        Effect.all([
          grants("editor-rules", "linus", "articles: read, write"),
          grants("reviewer-rules", "linus", "articles: read")
        ]),
        (both) => both.every((one) => one)
      )
    },
    {
      title: "a Role is deleted, and its clean-up fails once",
      does: Effect.andThen(failNext(1), remove(Role, "editor")),
      until: isGone(Role, "editor")
    }
  ]
}

export const restart = "the operator ends, and starts anew on objects at rest"

/** The restart comes before the last act. */
const life = Effect.fnUntraced(function* <R>(stage: Stage<R>) {
  const acts: Array<Act> = []
  let known = new Map<string, string | undefined>()
  const note = Effect.fnUntraced(function* (title: string) {
    const events = yield* stage.look
    const told = events
      .filter(({ metadata }) => known.get(metadata.uid) !== metadata.resourceVersion)
      .map(toldBy)
      .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    known = new Map(events.map(({ metadata }) => [metadata.uid, metadata.resourceVersion]))
    acts.push({ title, told })
  })
  const play = Effect.fnUntraced(function* ({ does, title, until }: Scene) {
    yield* does
    yield* stage.wait(until, title)
    yield* note(title)
  })
  let operator = yield* start()
  const all = scenes(userOf(yield* ApiClient, stage.namespace), stage.failNext)
  yield* Effect.forEach(all.slice(0, -1), play)
  yield* operator.stop
  operator = yield* start()
  yield* stage.wait(
    Effect.sync(() => operator.passes.length >= 3),
    restart
  )
  yield* note(restart)
  const steady = operator.passes.slice(0, 3)
  yield* play(all.at(-1)!)
  yield* operator.stop
  return { acts, steady }
})

/** Plays the life under a policy, with a registry that ends with it. */
export const lived = <R, A>(
  policy: Layer.Layer<A>,
  { look, namespace, wait }: Pick<Stage<R>, "look" | "namespace" | "wait">
) => {
  const { failNext, layer } = unreliableRegistry()
  return life({ namespace, failNext, wait, look }).pipe(
    Effect.scoped,
    Effect.provide([policy, layer, Logger.layer([])])
  )
}

/** In virtual time: looks once a second, for an hour at most; then a minute passes. */
const inVirtualTime: Stage<ApiServer>["wait"] = (holds) =>
  Effect.gen(function* () {
    yield* quiet
    for (let seconds = 0; seconds < 3_600 && !(yield* holds); seconds++) {
      yield* TestClock.adjust("1 second")
      yield* quiet
    }
    assert.isTrue(yield* holds)
    yield* TestClock.adjust("1 minute")
    yield* quiet
  })

/** In the cluster in memory that is given. */
export const livedInMemory = <A>(policy: Layer.Layer<A>) =>
  lived(policy, { namespace, wait: inVirtualTime, look: ApiServer.use((server) => server.objects(events)) })

/** What was said, each with how often, whatever Events tell it. */
export const tally = (
  sayings: Iterable<Pick<Told, "type" | "reason" | "message" | "object" | "count">>
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { count, message, object, reason, type } of sayings) {
    const text = `${type} ${reason} ${object}: ${message}`
    counts[text] = (counts[text] ?? 0) + count
  }
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Every Event as it stood when it was last looked at. */
export const lastOf = (acts: ReadonlyArray<Act>): ReadonlyArray<Told> => [
  ...new Map(acts.flatMap(({ told }) => told.map((one) => [one.name, one]))).values()
]
