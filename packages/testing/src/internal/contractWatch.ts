/** Watch. Writes come first and are then watched from a version before them, so that no case waits for luck. */
import assert from "node:assert/strict"
import type { WatchEvent, WatchOptions } from "@fixpoint/core/ApiClient"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { type Bench, type Case, cases, isLater, refusedAs, rv, same, told } from "./contractBench.ts"
import { configMaps, events, widgets, zones } from "./contractKinds.ts"

/** All events of a watch that the server ends after some seconds. */
const untilEnd = (b: Bench, resource: Resource, options: WatchOptions & { readonly timeoutSeconds: number }) =>
  Stream.runCollect(b.api.watch(resource, { namespace: b.ns, ...options }))

const objects = (events: ReadonlyArray<WatchEvent>): ReadonlyArray<KubeObject> =>
  events.flatMap((event) => (event.type === "BOOKMARK" ? [] : [event.object]))

const versions = (events: ReadonlyArray<WatchEvent>): ReadonlyArray<string> => objects(events).map(rv)

export const watch: ReadonlyArray<Case> = cases("watch", {
  "each write that changes something is one event that bears the answer's version (F60)": function* (b) {
    const since = yield* b.now(widgets)
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const spec = yield* b.merge(widgets, "a", { spec: { size: 2 } })
    yield* b.merge(widgets, "a", { spec: { size: 2 } })
    const status = yield* b.merge(widgets, "a", { status: { phase: "p" } }, { subresource: "status" })
    yield* b.delete(widgets, "a")
    const seen = yield* b.watched(widgets, 4, { resourceVersion: since })
    same(told(seen), [
      ["ADDED", "a"],
      ["MODIFIED", "a"],
      ["MODIFIED", "a"],
      ["DELETED", "a"]
    ])
    same(objects(seen).slice(0, 3), [made, spec, status])
  },

  "DELETED has a version of its own, and the object as last stored (F61)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    yield* b.delete(widgets, "a")
    const [event] = yield* b.watched(widgets, 1, { resourceVersion: rv(made) })
    const [object] = objects([event!])
    assert.ok(isLater(rv(made), rv(object!)))
    same({ ...object, metadata: { ...object?.metadata, resourceVersion: rv(made) } }, made)
    assert.ok(!isLater(yield* b.now(widgets), rv(object!)))
  },

  "the last finalizer's removal shows as DELETED alone, which still lists it (F62)": function* (b) {
    const made = yield* b.create(b.widget("a", {}, { finalizers: ["x.io/a"] }))
    const deleting = (yield* b.delete(widgets, "a")) as KubeObject
    yield* b.merge(widgets, "a", { metadata: { finalizers: null } })
    yield* b.create(b.widget("end"))
    const seen = yield* b.watched(widgets, 3, { resourceVersion: rv(made) })
    same(
      told(seen, (object) => [object.metadata.finalizers]),
      [
        ["MODIFIED", "a", ["x.io/a"]],
        ["DELETED", "a", ["x.io/a"]],
        ["ADDED", "end", undefined]
      ]
    )
    const [, removed] = objects(seen)
    same(removed?.metadata.deletionTimestamp, deleting.metadata.deletionTimestamp)
    assert.ok(isLater(rv(deleting), rv(removed!)))
  },

  "a label selector shows gaining as ADDED and losing as DELETED with the old labels (F63)": function* (b) {
    const since = yield* b.now(widgets)
    const label = (app: string) => b.merge(widgets, "a", { metadata: { labels: { app } } })
    yield* b.create(b.widget("a", { size: 1 }))
    const gained = yield* label("x")
    const inside = yield* b.merge(widgets, "a", { spec: { size: 3 } })
    const lost = yield* label("z")
    yield* b.merge(widgets, "a", { spec: { size: 4 } })
    const again = yield* label("x")
    yield* b.delete(widgets, "a")
    const seen = yield* b.watched(widgets, 5, { resourceVersion: since, labelSelector: "app=x" })
    same(
      told(seen, (object) => [object.metadata.labels, (object.spec as any).size]),
      [
        ["ADDED", "a", { app: "x" }, 1],
        ["MODIFIED", "a", { app: "x" }, 3],
        ["DELETED", "a", { app: "x" }, 3],
        ["ADDED", "a", { app: "x" }, 4],
        ["DELETED", "a", { app: "x" }, 4]
      ]
    )
    same(versions(seen).slice(0, 4), [gained, inside, lost, again].map(rv))
  },

  "a field selector for one name shows that object alone, made anew too (F64)": function* (b) {
    const since = yield* b.now(widgets)
    yield* b.create(b.widget("two"))
    yield* b.create(b.widget("one"))
    yield* b.delete(widgets, "one")
    yield* b.create(b.widget("one"))
    const seen = yield* b.watched(widgets, 3, { resourceVersion: since, fieldSelector: "metadata.name=one" })
    same(told(seen), [
      ["ADDED", "one"],
      ["DELETED", "one"],
      ["ADDED", "one"]
    ])
  },

  "without a version the present objects come first, as ADDED by name (F54)": function* (b) {
    for (const name of ["b", "a"]) yield* b.create(b.widget(name))
    same(told(yield* b.watched(widgets, 2, {})), [
      ["ADDED", "a"],
      ["ADDED", "b"]
    ])
    same(told(yield* b.watched(widgets, 2, { resourceVersion: "0" })), [
      ["ADDED", "a"],
      ["ADDED", "b"]
    ])
  },

  "then what is new follows (F54)": function* (b) {
    yield* b.create(b.widget("a"))
    const watching = yield* Effect.forkScoped(b.watched(widgets, 2, {}))
    yield* b.create(b.widget("b"))
    same(told(yield* Fiber.join(watching)), [
      ["ADDED", "a"],
      ["ADDED", "b"]
    ])
  },

  "objects bear apiVersion and kind, also of built-in kinds (F54)": function* (b) {
    const made = yield* b.create(b.configMap("a", { k: "1" }))
    const [event] = yield* b.watched(configMaps, 1, { resourceVersion: `${BigInt(rv(made)) - 1n}` })
    same(objects([event!]), [made])
    same([made.apiVersion, made.kind], ["v1", "ConfigMap"])
  },

  "a watch of one namespace sees no other, a watch of all sees both": function* (b) {
    const since = yield* b.now(widgets)
    const other = `${b.ns}-b`
    yield* b.create(
      b.object({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" }, other)
    )
    const label = { labels: { run: b.unique } }
    yield* b.api.create(widgets, b.widget("a", {}, { ...label, namespace: other }))
    yield* b.create(b.widget("b", {}, label))
    same(told(yield* b.watched(widgets, 1, { resourceVersion: since })), [["ADDED", "b"]])
    const all = yield* b.api.watch(widgets, { resourceVersion: since, labelSelector: `run=${b.unique}` }).pipe(
      Stream.filter((event) => event.type !== "BOOKMARK"),
      Stream.take(2),
      Stream.runCollect,
      Effect.timeout("15 seconds")
    )
    same(told(all), [
      ["ADDED", "a"],
      ["ADDED", "b"]
    ])
  },

  "cluster-scoped kinds are watched alike (F60)": function* (b) {
    const since = yield* b.now(zones)
    const name = `z${b.unique}`
    yield* b.create(b.zone(name))
    yield* b.delete(zones, name)
    const seen = yield* b.watched(zones, 2, { resourceVersion: since, fieldSelector: `metadata.name=${name}` })
    same(told(seen), [
      ["ADDED", name],
      ["DELETED", name]
    ])
  },

  "it ends cleanly when its time is over (F65)": function* (b) {
    const since = yield* b.now(widgets)
    const begun = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    const seen = yield* untilEnd(b, widgets, { resourceVersion: since, timeoutSeconds: 1 })
    const took = (yield* Effect.clockWith((clock) => clock.currentTimeMillis)) - begun
    same(
      seen.filter((event) => event.type !== "BOOKMARK"),
      []
    )
    assert.ok(took >= 900 && took < 10_000, `${took} ms`)
  },

  "with initial events the present objects come first, then a bookmark that says so (F67)": function* (b) {
    for (const name of ["b", "a"]) yield* b.create(b.widget(name))
    for (const resource of [widgets, configMaps]) {
      const seen = yield* b.api.watch(resource, { namespace: b.ns, sendInitialEvents: true }).pipe(
        Stream.takeUntil((event) => event.type === "BOOKMARK" && event.initialEventsEnd),
        Stream.runCollect,
        Effect.timeout("15 seconds")
      )
      const end = seen.at(-1)
      assert.ok(end?.type === "BOOKMARK" && end.initialEventsEnd)
      assert.match(end.resourceVersion, /^\d+$/)
      if (resource === widgets) same(told(seen), [["ADDED", "a"], ["ADDED", "b"], ["BOOKMARK"]])
      for (const version of versions(seen)) assert.ok(!isLater(end.resourceVersion, version))
    }
  },

  "from the bookmark of the initial events a watch goes on without a gap (F67)": function* (b) {
    yield* b.create(b.widget("a"))
    const seen = yield* b.api.watch(widgets, { namespace: b.ns, sendInitialEvents: true }).pipe(
      Stream.takeUntil((event) => event.type === "BOOKMARK" && event.initialEventsEnd),
      Stream.runCollect,
      Effect.timeout("15 seconds")
    )
    const end = seen.at(-1) as WatchEvent & { readonly type: "BOOKMARK" }
    yield* b.create(b.widget("b"))
    same(told(yield* b.watched(widgets, 1, { resourceVersion: end.resourceVersion })), [["ADDED", "b"]])
  },

  "a version that is too old fails as expired (F55)": function* (b) {
    yield* refusedAs(Stream.runCollect(b.api.watch(widgets, { namespace: b.ns, resourceVersion: "1" })), {
      _tag: "Expired",
      code: 410,
      message: /^too old resource version: 1 \(\d+\)$/
    })
  },

  "a version from the future is silent (F57)": function* (b) {
    yield* b.create(b.widget("a"))
    const seen = yield* untilEnd(b, widgets, { resourceVersion: "99999999", timeoutSeconds: 1 })
    same(
      seen.filter((event) => event.type !== "BOOKMARK"),
      []
    )
  },

  "a version that is no number is a server error (F40)": function* (b) {
    yield* refusedAs(Stream.runCollect(b.api.watch(widgets, { namespace: b.ns, resourceVersion: "abc" })), {
      _tag: "ServerError",
      code: 500
    })
  },

  "an absent kind is not found, a bad selector refused (F58)": function* (b) {
    yield* refusedAs(Stream.runCollect(b.api.watch({ ...widgets, plural: "nopes" }, { namespace: b.ns })), {
      _tag: "NotFound",
      code: 404,
      message: "404 page not found"
    })
    yield* refusedAs(Stream.runCollect(b.api.watch(widgets, { namespace: b.ns, labelSelector: "a b" })), {
      _tag: "BadRequest",
      code: 400
    })
  },

  "an absent namespace is silent (F58)": function* (b) {
    const options = { namespace: `${b.ns}-absent`, resourceVersion: yield* b.now(widgets), timeoutSeconds: 1 }
    const seen = yield* Stream.runCollect(b.api.watch(widgets, options))
    same(
      seen.filter((event) => event.type !== "BOOKMARK"),
      []
    )
  },

  "events of Kubernetes are watched like objects (F60)": function* (b) {
    const since = yield* b.now(events)
    yield* b.create(b.event("a"))
    yield* b.merge(events, "a", { count: 2 })
    const seen = yield* b.watched(events, 2, { resourceVersion: since })
    same(
      told(seen, (object) => [object.count]),
      [
        ["ADDED", "a", undefined],
        ["MODIFIED", "a", 2]
      ]
    )
  },

  "events come in the order of their versions": function* (b) {
    const since = yield* b.now(widgets)
    yield* Effect.forEach(
      Array.from({ length: 20 }, (_, index) => index),
      (index) => b.create(b.widget(`w${index}`)),
      { concurrency: 10 }
    )
    const seen = versions(yield* b.watched(widgets, 20, { resourceVersion: since }))
    same(
      seen,
      [...seen].sort((left, right) => Number(BigInt(left) - BigInt(right)))
    )
    same(new Set(seen).size, 20)
  }
})
