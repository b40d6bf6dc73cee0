import { ApiServer, refused } from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Wake from "@fixpoint/core/Wake"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { ConfigMap, Role, Scope } from "../src/access/kinds.ts"
import { cleanup } from "../src/access/role.ts"
import { Registry, RegistryError } from "../src/access/Registry.ts"
import {
  at,
  eventTexts,
  type Form,
  forms,
  inTime,
  memory,
  quiet,
  ready,
  requests,
  roleManifest,
  scopeManifest,
  start,
  state
} from "./world.ts"

const both = Object.entries(forms) as ReadonlyArray<[string, Form]>

const roleStatus = Effect.fnUntraced(function* (name: string) {
  const role = yield* ApiClient.use((api) => api.get(Role, at(name)))
  return { ready: ready(role), status: role.status as any, metadata: role.metadata }
})

const rolesOf = (name: string) =>
  ApiClient.use((api) => Effect.map(api.get(Scope, at(name)), ({ status }) => (status as any)?.roles))

/** The operator at rest with one Role in one Scope. */
const settled = Effect.fnUntraced(function* (form: Form = forms["the pipeline"]) {
  const api = yield* ApiClient
  const operator = yield* start(form)
  yield* api.create(Scope, scopeManifest("docs"))
  yield* api.create(Role, roleManifest("editor"))
  yield* quiet
  return { api, operator, server: yield* ApiServer }
})

describe.each(both)("the access operator as %s", (_, form) => {
  it.effect("a Role whose Scope is missing waits without a retry, and the Scope's arrival wakes it", () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const { passes } = yield* start(form)
      yield* api.create(Role, roleManifest("editor"))
      yield* quiet
      assert.strictEqual((yield* roleStatus("editor")).ready, "False ScopeNotFound")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(passes, ["Role editor: NotReady ScopeNotFound"])
      yield* api.create(Scope, scopeManifest("docs"))
      yield* quiet
      const { metadata, ready, status } = yield* roleStatus("editor")
      assert.strictEqual(ready, "True Synced")
      assert.deepInclude(status, { scope: "docs", rules: 1, members: 2 })
      assert.deepStrictEqual(metadata.finalizers, [cleanup])
      assert.strictEqual(yield* rolesOf("docs"), 1)
      const config = yield* api.get(ConfigMap, at("editor-rules"))
      assert.deepStrictEqual(config.data, { ada: "articles: read, write", grace: "articles: read, write" })
      assert.deepStrictEqual((yield* state).registered, ["editor"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("a Role that moves to another Scope counts there and no longer where it was", () =>
    Effect.gen(function* () {
      const { api } = yield* settled(form)
      yield* api.create(Scope, scopeManifest("wiki", []))
      yield* api.patch(Role, at("editor"), { type: "merge", body: { spec: { scope: "wiki" } } })
      yield* quiet
      assert.deepStrictEqual([yield* rolesOf("docs"), yield* rolesOf("wiki")], [0, 1])
      const { status } = yield* roleStatus("editor")
      const { reason, status: effective } = status.conditions.find((one: any) => one.type === "Effective")
      assert.deepStrictEqual([effective, reason], ["False", "NoMembers"])
    }).pipe(Effect.provide(memory()))
  )

  it.effect("a Role that moves to a Scope which is not there is forgotten by the one it left", () =>
    Effect.gen(function* () {
      const { api } = yield* settled(form)
      yield* api.patch(Role, at("editor"), { type: "merge", body: { spec: { scope: "nowhere" } } })
      yield* quiet
      assert.strictEqual((yield* roleStatus("editor")).ready, "False ScopeNotFound")
      assert.strictEqual(yield* rolesOf("docs"), 0)
    }).pipe(Effect.provide(memory()))
  )

  it.effect("a ConfigMap that is edited or deleted is put right", () =>
    Effect.gen(function* () {
      const { api } = yield* settled(form)
      const before = yield* api.get(ConfigMap, at("editor-rules"))
      yield* api.patch(
        ConfigMap,
        at("editor-rules"),
        { type: "merge", body: { data: { ada: "everything", eve: "everything" } } },
        { fieldManager: "kubectl-edit" }
      )
      yield* quiet
      const repaired = yield* api.get(ConfigMap, at("editor-rules"))
      assert.strictEqual((repaired.data as any).ada, (before.data as any).ada)
      yield* api.delete(ConfigMap, at("editor-rules"))
      yield* quiet
      assert.deepStrictEqual((yield* api.get(ConfigMap, at("editor-rules"))).data, before.data)
    }).pipe(Effect.provide(memory()))
  )

  it.effect("a Role that is malformed beyond its CRD is told so, and recovers when it is mended (K7)", () =>
    Effect.gen(function* () {
      const { api } = yield* settled(form)
      const rule = { resource: "articles", verbs: ["read"] }
      yield* api.create(Role, roleManifest("reviewer", { rules: [rule, rule] }))
      yield* quiet
      const { ready, status } = yield* roleStatus("reviewer")
      assert.strictEqual(ready, "False MalformedResource")
      assert.include(status.conditions[0].message, "two rules for articles")
      assert.strictEqual(yield* rolesOf("docs"), 1)
      yield* api.patch(Role, at("reviewer"), { type: "merge", body: { spec: { rules: [rule] } } })
      yield* quiet
      assert.strictEqual((yield* roleStatus("reviewer")).ready, "True Synced")
      assert.strictEqual(yield* rolesOf("docs"), 2)
    }).pipe(Effect.provide(memory()))
  )

  it.effect(
    "a field that another manager applies is told with field and manager, and comes back when it is released (B75)",
    () =>
      Effect.gen(function* () {
        const { api } = yield* settled(form)
        const claim = (data: object) =>
          api.patch(
            ConfigMap,
            at("editor-rules"),
            { type: "apply", body: { metadata: at("editor-rules"), ...data }, force: true },
            { fieldManager: "compliance" }
          )
        yield* claim({ data: { ada: "nothing" } })
        yield* quiet
        const { ready, status } = yield* roleStatus("editor")
        assert.strictEqual(ready, "False ApplyConflict")
        assert.include(
          status.conditions.find((one: any) => one.type === "Ready").message,
          '.data.ada (conflict with "compliance")'
        )
        yield* claim({})
        yield* TestClock.adjust("1 second")
        yield* quiet
        assert.strictEqual((yield* roleStatus("editor")).ready, "True Synced")
        const { data } = yield* api.get(ConfigMap, at("editor-rules"))
        assert.strictEqual((data as any).ada, "articles: read, write")
      }).pipe(Effect.provide(memory()))
  )

  it.effect("a deleted Role is released before it goes, with its ConfigMap, and its Scope counts anew (K11, B54)", () =>
    Effect.gen(function* () {
      const { api, server } = yield* settled(form)
      yield* api.delete(Role, at("editor"))
      yield* quiet
      assert.deepStrictEqual(yield* server.objects(Role), [])
      assert.deepStrictEqual(yield* server.objects(ConfigMap), [])
      assert.deepStrictEqual((yield* state).registered, [])
      assert.strictEqual(yield* rolesOf("docs"), 0)
      assert.include(yield* eventTexts, "Normal Reconciled Role editor: released editor (1)")
    }).pipe(Effect.provide(memory()))
  )

  it.effect("the ring of wakes between Role and Scope comes to rest, and a rest of six hours makes no request", () =>
    Effect.gen(function* () {
      const { api, operator, server } = yield* settled(form)
      for (const name of ["a", "b", "c", "d"]) yield* api.create(Role, roleManifest(name))
      yield* quiet
      assert.strictEqual(yield* rolesOf("docs"), 5)
      const before = operator.passes.length
      yield* server.clearLog
      yield* inTime(TestClock.adjust("6 hours"))
      yield* quiet
      assert.deepStrictEqual(yield* requests, [])
      const since = operator.passes.slice(before)
      // The timer of the Scope alone: 10 minutes to 11, so 32 to 36 times, and no Role with it.
      assert.deepStrictEqual([...new Set(since)], ["Scope docs: unchanged Synced"])
      assert.isTrue(since.length >= 32 && since.length <= 36, `${since.length} passes`)
    }).pipe(Effect.provide(memory()))
  )

  it.effect("a second pass of every object at its fixed point asks nothing of the server", () =>
    Effect.gen(function* () {
      const { api, operator, server } = yield* settled(form)
      yield* api.create(Role, roleManifest("stray", { scope: "nowhere" }))
      yield* quiet
      const before = operator.passes.length
      yield* server.clearLog
      const woken = yield* Effect.provideContext(Effect.all([Wake.resync(Role), Wake.resync(Scope)]), operator.wakes)
      yield* quiet
      assert.deepStrictEqual(woken, [2, 1])
      assert.includeMembers(operator.passes.slice(before), [
        "Role editor: unchanged Synced",
        "Role stray: NotReady ScopeNotFound",
        "Scope docs: unchanged Synced"
      ])
      assert.deepStrictEqual(yield* requests, [])
    }).pipe(Effect.provide(memory()))
  )
})

/** A story with every way that a Role can fare, told to one form of the operator. */
const story = Effect.fnUntraced(function* (form: Form) {
  const api = yield* ApiClient
  const server = yield* ApiServer
  const { passes } = yield* start(form)
  const rule = { resource: "articles", verbs: ["read"] }
  const steps: ReadonlyArray<Effect.Effect<unknown, ApiError>> = [
    api.create(Role, roleManifest("editor")),
    api.create(Scope, scopeManifest("docs")),
    api.create(Role, roleManifest("reviewer", { rules: [rule, rule] })),
    api.patch(Role, at("reviewer"), { type: "merge", body: { spec: { rules: [rule] } } }),
    api.patch(
      ConfigMap,
      at("editor-rules"),
      { type: "merge", body: { data: { ada: "all" } } },
      { fieldManager: "vim" }
    ),
    api.delete(ConfigMap, at("reviewer-rules")),
    api.patch(
      ConfigMap,
      at("editor-rules"),
      { type: "apply", body: { metadata: at("editor-rules"), data: { ada: "no" } }, force: true },
      { fieldManager: "compliance" }
    ),
    api.patch(Scope, at("docs"), { type: "merge", body: { spec: { members: [] } } }),
    api.patch(
      ConfigMap,
      at("editor-rules"),
      { type: "apply", body: { metadata: at("editor-rules") }, force: true },
      { fieldManager: "compliance" }
    ),
    api.delete(Role, at("editor"))
  ]
  for (const step of steps) {
    yield* step
    yield* quiet
    yield* TestClock.adjust("10 seconds")
    yield* quiet
  }
  const log = (yield* server.log).map(
    ({ changed, code, operation }) =>
      `${operation.verb} ${operation.resource} ${operation.ref?.name ?? ""} ${code} ${changed ? "changed" : ""}`
  )
  return { ...(yield* state), events: yield* eventTexts, log, passes }
})

it.effect("pipeline and function come to the same objects, conditions, events and requests through a whole story", () =>
  Effect.gen(function* () {
    const pipeline = yield* story(forms["the pipeline"]).pipe(Effect.provide(memory()))
    const asFunction = yield* story(forms["the function"]).pipe(Effect.provide(memory()))
    assert.deepStrictEqual(asFunction, pipeline)
    assert.isAbove(pipeline.log.length, 40)
    for (const word of [
      "ScopeNotFound",
      "two rules for articles",
      "another manager applies",
      "created ConfigMap",
      "released"
    ])
      assert.isTrue(
        pipeline.events.some((event) => event.includes(word)),
        word
      )
  })
)

it.effect(
  "while the registry is down a deleted Role stays with its finalizer, though its Scope counts it no longer",
  () => {
    let isDown = true
    const registry = Layer.effect(
      Registry,
      Effect.map(Registry, (inner) =>
        Registry.of({
          ...inner,
          release: (uid) =>
            Effect.suspend(() => (isDown ? new RegistryError({ message: "the registry is down" }) : inner.release(uid)))
        })
      )
    ).pipe(Layer.provide(Layer.fresh(Registry.layerMemory)))
    return Effect.gen(function* () {
      const { api, server } = yield* settled()
      yield* api.delete(Role, at("editor"))
      yield* quiet
      const { metadata, status } = yield* roleStatus("editor")
      assert.deepStrictEqual(metadata.finalizers, [cleanup])
      assert.strictEqual(
        status.conditions.find((one: any) => one.type === "Ready").message,
        "clean-up failed: the registry is down"
      )
      assert.strictEqual(yield* rolesOf("docs"), 0)
      isDown = false
      yield* TestClock.adjust("1 minute")
      yield* quiet
      assert.deepStrictEqual(yield* server.objects(Role), [])
    }).pipe(Effect.provide(registry), Effect.provide(memory()))
  }
)

it.effect("a server that refuses ConfigMaps is told in the Role's condition, and the Role recovers by itself", () =>
  Effect.gen(function* () {
    const server = yield* ApiServer
    const api = yield* ApiClient
    let isRefusing = true
    yield* server.hook({
      before: (call) =>
        isRefusing && call.mutating && call.operation.resource === "configmaps"
          ? Effect.fail(refused(call, { code: 503 }))
          : Effect.void
    })
    yield* start()
    yield* api.create(Scope, scopeManifest("docs"))
    yield* api.create(Role, roleManifest("editor"))
    yield* quiet
    assert.strictEqual((yield* roleStatus("editor")).ready, "False ReconcileFailed")
    isRefusing = false
    yield* TestClock.adjust("1 minute")
    yield* quiet
    assert.strictEqual((yield* roleStatus("editor")).ready, "True Synced")
  }).pipe(Effect.provide(memory()))
)
