import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { ApiClient } from "../src/ApiClient.ts"
import { applyChild, removeChild } from "../src/internal/childWriter.ts"
import { addFinalizer, removeFinalizer } from "../src/internal/finalizerWriter.ts"
import { writeStatus } from "../src/internal/statusWriter.ts"
import * as Kind from "../src/Kind.ts"
import type { KubeObject, ObjectRef } from "../src/KubeObject.ts"
import { standard } from "../src/Predicate.ts"

class Widget extends Kind.make({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: Schema.Struct({ size: Schema.Int }),
  status: Schema.Struct({ size: Schema.Int, extra: Schema.String })
}) {}
class Zone extends Kind.make({
  group: "example.com",
  version: "v1",
  kind: "Zone",
  scope: "Cluster",
  spec: Schema.Struct({})
}) {}
class ConfigMap extends Kind.make({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  fields: { data: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) }
}) {}

const a: ObjectRef = { namespace: "ns1", name: "a" }
const widget = { metadata: a as any, spec: { size: 1 } }
const world = <A, E>(
  body: (api: ApiClient["Service"], server: ApiServer.ApiServer["Service"]) => Effect.Effect<A, E, any>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      return yield* body(yield* ApiClient, yield* ApiServer.ApiServer)
    })
  ).pipe(
    Effect.provide(
      ApiServer.layer({
        kinds: [Kind.customResourceDefinition(Widget), Kind.customResourceDefinition(Zone)],
        objects: ["ns1", "ns2"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }))
      })
    )
  )

const ready = (status: "True" | "False", reason = "Synced") => ({ type: "Ready", status, reason, message: "" }) as const
const facts = { manager: "us", now: "2026-01-01T00:00:00Z", generation: 1, conditionsAreMap: true }
const statusTarget = (api: ApiClient["Service"], read: KubeObject, known = read) => ({
  api,
  resource: Widget,
  read,
  known,
  concerns: (seen: KubeObject, next: KubeObject) => standard({ seen, next }),
  fold: () => {}
})

describe("writing a status", () => {
  it.effect("keeps the conditions of other managers, whoever writes first (B51)", () =>
    world((api) =>
      Effect.gen(function* () {
        const object = yield* api.create(Widget, widget)
        const foreign = { type: "Foo", status: "True", reason: "X", message: "", lastTransitionTime: facts.now }
        const body = {
          apiVersion: "example.com/v1",
          kind: "Widget",
          metadata: a as any,
          status: { conditions: [foreign] }
        }
        yield* api.patch(Widget, a, { type: "apply", body }, { subresource: "status", fieldManager: "other" })
        const said = { fields: { size: 1 }, conditions: [ready("True")], complete: true }
        const moved = yield* api.get(Widget, a)
        assert.strictEqual((yield* writeStatus(statusTarget(api, object, moved), said, facts))._tag, "Written")
        const { status } = yield* api.get(Widget, a)
        assert.deepStrictEqual((status as any).conditions.map((one: any) => one.type).sort(), ["Foo", "Ready"])
        const again = yield* api.get(Widget, a)
        assert.strictEqual(
          (yield* writeStatus(statusTarget(api, again), said, { ...facts, now: "later" }))._tag,
          "Unchanged"
        )
      })
    )
  )

  it.effect("a finished pass drops the fields that it no longer says, an unfinished one keeps them (B50)", () =>
    world((api) =>
      Effect.gen(function* () {
        const object = yield* api.create(Widget, widget)
        const write = (read: KubeObject, fields: object, complete: boolean, status: "True" | "False") =>
          Effect.andThen(
            writeStatus(
              statusTarget(api, read),
              { fields: fields as any, conditions: [ready(status)], complete },
              facts
            ),
            api.get(Widget, a)
          )
        const first = yield* write(object, { size: 1, extra: "x" }, true, "True")
        const failed = yield* write(first, {}, false, "False")
        assert.deepInclude(failed.status as object, { size: 1, extra: "x" })
        const last = yield* write(failed, { size: 2 }, true, "True")
        assert.deepInclude(last.status as object, { size: 2 })
        assert.notProperty(last.status, "extra")
      })
    )
  )

  it.effect(
    "a conflict over what does not concern it is sent again at once; over a spec edit the key runs again (B52, D7)",
    () =>
      world((api) =>
        Effect.gen(function* () {
          const read = yield* api.create(Widget, widget)
          const said = { fields: { size: 1 }, conditions: [ready("True")], complete: true }
          const body = { apiVersion: "example.com/v1", kind: "Widget", metadata: a as any, status: { extra: "theirs" } }
          yield* api.patch(Widget, a, { type: "apply", body }, { subresource: "status", fieldManager: "other" })
          assert.strictEqual((yield* writeStatus(statusTarget(api, read), said, facts))._tag, "Written")
          yield* api.patch(Widget, a, { type: "merge", body: { spec: { size: 2 } } })
          const stale = yield* writeStatus(statusTarget(api, read), { ...said, fields: { size: 9 } }, facts)
          assert.strictEqual(stale._tag, "Moved")
          assert.deepInclude((yield* api.get(Widget, a)).status as object, { size: 1, extra: "theirs" })
        })
      )
  )

  it.effect("never lands on a namesake, and is no error for an object that is gone (B54, B65)", () =>
    world((api) =>
      Effect.gen(function* () {
        const read = yield* api.create(Widget, widget)
        const said = { fields: { size: 1 }, conditions: [ready("True")], complete: true }
        yield* api.delete(Widget, a)
        assert.strictEqual((yield* writeStatus(statusTarget(api, read), said, facts))._tag, "Gone")
        const namesake = yield* api.create(Widget, widget)
        assert.strictEqual((yield* writeStatus(statusTarget(api, read), said, facts))._tag, "Gone")
        assert.deepStrictEqual(yield* api.get(Widget, a), namesake)
      })
    )
  )

  it.effect("where conditions are an atomic list, foreign entries are sent along (D7)", () =>
    world((api) =>
      Effect.gen(function* () {
        yield* api.create(Widget, widget)
        const foreign = { type: "Foo", status: "True", reason: "X", message: "", lastTransitionTime: facts.now }
        yield* api.patch(
          Widget,
          a,
          { type: "merge", body: { status: { conditions: [foreign] } } as any },
          { subresource: "status" }
        )
        const read = yield* api.get(Widget, a)
        yield* writeStatus(
          statusTarget(api, read),
          { fields: {}, conditions: [ready("True")], complete: true },
          { ...facts, conditionsAreMap: false }
        )
        const { status } = yield* api.get(Widget, a)
        assert.deepStrictEqual(
          (status as any).conditions.map((one: any) => one.type),
          ["Foo", "Ready"]
        )
      })
    )
  )
})

describe("finalizers", () => {
  const target = (api: ApiClient["Service"]) => ({ api, resource: Widget, manager: "us", fold: () => {} })

  it.effect("taking ours off touches no neighbour, also where they moved meanwhile (B55, B56, X5)", () =>
    world((api) =>
      Effect.gen(function* () {
        yield* api.create(Widget, { ...widget, metadata: { ...widget.metadata, finalizers: ["us.io/c", "y.io/y"] } })
        yield* api.delete(Widget, a)
        const seen = yield* api.get(Widget, a)
        yield* api.patch(Widget, a, { type: "merge", body: { metadata: { finalizers: ["y.io/y", "us.io/c"] } } })
        const left = yield* removeFinalizer(target(api), seen, "us.io/c")
        assert.deepStrictEqual(left?.metadata.finalizers, ["y.io/y"])
        yield* api.patch(Widget, a, { type: "merge", body: { metadata: { finalizers: [] } } })
        assert.isUndefined(yield* removeFinalizer(target(api), seen, "us.io/c"), "gone is a success")
      })
    )
  )

  it.effect("adding ours keeps one that came meanwhile, and adds none to an object under deletion (B55, B57)", () =>
    world((api) =>
      Effect.gen(function* () {
        const seen = yield* api.create(Widget, widget)
        yield* api.patch(Widget, a, { type: "merge", body: { metadata: { finalizers: ["x.io/x"] } } })
        const added = yield* addFinalizer(target(api), seen, "us.io/c")
        assert.deepStrictEqual(added?.metadata.finalizers, ["x.io/x", "us.io/c"])
        yield* api.delete(Widget, a)
        const deleting = yield* addFinalizer(target(api), seen, "late.io/c")
        assert.deepStrictEqual(deleting?.metadata.finalizers, ["x.io/x", "us.io/c"])
      })
    )
  )

  it.effect("takes nothing off a namesake (B65)", () =>
    world((api) =>
      Effect.gen(function* () {
        const seen = yield* api.create(Widget, { ...widget, metadata: { ...widget.metadata, finalizers: ["us.io/c"] } })
        yield* api.patch(Widget, a, { type: "merge", body: { metadata: { finalizers: [] } } })
        yield* api.delete(Widget, a)
        yield* api.create(Widget, { ...widget, metadata: { ...widget.metadata, finalizers: ["us.io/c"] } })
        assert.isUndefined(yield* removeFinalizer(target(api), seen, "us.io/c"))
        assert.deepStrictEqual((yield* api.get(Widget, a)).metadata.finalizers, ["us.io/c"])
      })
    )
  )
})

describe("children", () => {
  const cache = () => {
    const objects = new Map<string, KubeObject>()
    return {
      get: (ref: ObjectRef) => objects.get(`${ref.namespace}/${ref.name}`),
      fold: (object: KubeObject) => void objects.set(`${object.metadata.namespace}/${object.metadata.name}`, object)
    }
  }
  const target = (api: ApiClient["Service"], own = cache()) => ({
    api,
    resource: ConfigMap,
    cache: own,
    manager: "us",
    onWrite: () => {}
  })
  const desired = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { k: "v" } }
  const failure = <E>(exit: Exit.Exit<unknown, E>): E | undefined =>
    Exit.isFailure(exit) ? (exit.cause.reasons[0] as any).error : undefined

  it.effect(
    "an owner in another namespace, or a cluster-scoped child of a namespaced owner, is refused before the write (B67)",
    () =>
      world((api, server) =>
        Effect.gen(function* () {
          const owner = yield* api.create(Widget, widget)
          yield* server.clearLog
          const elsewhere = yield* Effect.exit(
            applyChild(target(api), owner, { ...desired, metadata: { name: "c", namespace: "ns2" } }, "repair-edits")
          )
          assert.strictEqual(
            failure(elsewhere)?.message,
            "ConfigMap c: is wanted in namespace ns2, but its owner is in ns1: an owner and its children share a namespace"
          )
          const above = yield* Effect.exit(
            applyChild({ ...target(api), resource: Zone }, owner, { ...desired, kind: "Zone" }, "repair-edits")
          )
          assert.strictEqual(failure(above)?._tag, "Fatal")
          assert.lengthOf(yield* server.log, 0)
          const zone = yield* api.create(Zone, { metadata: { name: "z" }, spec: {} })
          const { object } = yield* applyChild(
            target(api),
            zone,
            { ...desired, metadata: { name: "c", namespace: "ns2" } },
            "repair-edits"
          )
          assert.strictEqual(object.metadata.ownerReferences?.[0]?.uid, zone.metadata.uid)
        })
      )
  )

  it.effect("an answer that was lost leads to one child, not two (B62, C7)", () =>
    world((api, server) =>
      Effect.gen(function* () {
        const owner = yield* api.create(Widget, widget)
        let lost = false
        yield* server.hook({
          after: (call) =>
            lost || !call.mutating
              ? Effect.void
              : Effect.suspend(() => ((lost = true), Effect.fail(ApiServer.unreachable(call))))
        })
        const first = yield* Effect.exit(applyChild(target(api), owner, desired, "repair-edits"))
        assert.strictEqual(failure(first)?._tag, "Temporary")
        const second = yield* applyChild(target(api), owner, desired, "repair-edits")
        assert.strictEqual(
          second.object.metadata.resourceVersion,
          (yield* api.get(ConfigMap, { namespace: "ns1", name: "c" })).metadata.resourceVersion
        )
        assert.lengthOf(yield* server.objects(ConfigMap), 1)
      })
    )
  )

  it.effect("a delete spares the namesake that came meanwhile (B64)", () =>
    world((api) =>
      Effect.gen(function* () {
        const owner = yield* api.create(Widget, widget)
        const own = cache()
        yield* applyChild(target(api, own), owner, desired, "repair-edits")
        const c = { namespace: "ns1", name: "c" }
        yield* api.delete(ConfigMap, c)
        yield* api.create(ConfigMap, { metadata: c, data: {} })
        assert.isFalse(yield* removeChild(target(api, own), owner, c), "gone already is a success")
        yield* api.get(ConfigMap, c)
      })
    )
  )

  it.effect("a child that is being deleted is waited for, and made anew only once it is gone (B71)", () =>
    world((api) =>
      Effect.gen(function* () {
        const owner = yield* api.create(Widget, widget)
        const own = cache()
        const c = { namespace: "ns1", name: "c" }
        yield* applyChild(
          target(api, own),
          owner,
          { ...desired, metadata: { name: "c", finalizers: ["x.io/x"] } },
          "repair-edits"
        )
        yield* api.delete(ConfigMap, c)
        own.fold(yield* api.get(ConfigMap, c))
        const waiting = yield* Effect.exit(applyChild(target(api, own), owner, desired, "repair-edits"))
        assert.deepInclude(failure(waiting) as object, { _tag: "NotReady", reason: "ChildTerminating" })
      })
    )
  )

  it.effect(
    "a stale cache does not write onto a namesake of a child, and a child that is gone is made anew at once (D7, B66)",
    () =>
      world((api) =>
        Effect.gen(function* () {
          const owner = yield* api.create(Widget, widget)
          const own = cache()
          const c = { namespace: "ns1", name: "c" }
          yield* applyChild(target(api, own), owner, desired, "repair-edits")
          yield* api.delete(ConfigMap, c)
          const stale = cache()
          stale.fold(own.get(c)!)
          // Its watch tells nothing, for as long as it takes.
          const silent = { get: () => stale.get(c), fold: () => undefined }
          const anew = yield* applyChild(target(api, own), owner, { ...desired, data: { k: "w" } }, "repair-edits")
          assert.deepStrictEqual([anew.moved, anew.object.data], ["created", { k: "w" }])
          yield* api.delete(ConfigMap, c)
          yield* api.create(ConfigMap, { metadata: c, data: { mine: "yes" } })
          const replaced = yield* Effect.exit(
            applyChild(target(api, silent), owner, { ...desired, data: { k: "x" } }, "repair-edits")
          )
          assert.deepInclude(failure(replaced) as object, { _tag: "Fatal", reason: "ChildNotOurs" })
          assert.deepStrictEqual((yield* api.get(ConfigMap, c)).data, { mine: "yes" })
        })
      )
  )
})
