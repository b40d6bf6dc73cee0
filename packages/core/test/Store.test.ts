import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { KubeObject } from "../src/KubeObject.ts"
import * as Store from "../src/Store.ts"
import { shown, widget, widgets } from "./widgets.ts"

const ref = (name: string) => ({ namespace: "ns1", name })

/** A store that has listed `objects` at `version`, and what it tells from then on, as `name:before>after`. */
const listed = (version: number | string, objects: ReadonlyArray<KubeObject>, options: Partial<Store.Options> = {}) => {
  const store = Store.make({ resource: widgets, fieldManager: "fixpoint", ...options })
  const feed = store.feed(undefined)
  relist(feed, version, objects)
  const changes: Array<string> = []
  store.onChange(({ next, previous, ref }) =>
    changes.push(`${ref.name}:${previous?.metadata.resourceVersion ?? ""}>${next?.metadata.resourceVersion ?? ""}`)
  )
  return { store, feed, changes }
}

const relist = (feed: Store.Feed, version: number | string, objects: ReadonlyArray<KubeObject>, reset = false) => {
  feed.begin()
  for (const object of objects) feed.hold("ADDED", object)
  feed.commit(String(version), { reset })
}

describe("Store", () => {
  it("a relist tells only what changed, and what did not change keeps its reference (B15)", () => {
    const objects = Array.from({ length: 2000 }, (_, i) => widget(`w${i}`, i + 1))
    const { changes, feed, store } = listed(3000, objects)
    const before = store.get(ref("w1"))
    relist(feed, 3002, [...objects.slice(0, 7).map((o) => structuredClone(o)), widget("w7", 3001), ...objects.slice(8)])
    assert.deepStrictEqual(changes, ["w7:8>3001"])
    assert.strictEqual(store.get(ref("w1")), before)
  })

  it("a deletion that nobody told is found by the next whole list, in the indexes too (B3)", () => {
    const owner = { apiVersion: "v1", kind: "Owner", name: "o", uid: "owner" }
    const { changes, feed, store } = listed(10, [widget("a", 1, { ownerReferences: [owner] }), widget("b", 2)])
    assert.deepStrictEqual(shown(store.lookup(Store.byOwner, "owner")), ["a@1"])
    relist(feed, 12, [widget("b", 2)])
    assert.deepStrictEqual(changes, ["a:1>"])
    assert.deepStrictEqual(store.lookup(Store.byOwner, "owner"), [])
  })

  it("a list that does not end takes nothing away (B17)", () => {
    const { changes, feed, store } = listed(10, [widget("a", 1), widget("b", 2)])
    feed.begin()
    feed.hold("ADDED", widget("a", 1))
    assert.deepStrictEqual([changes, shown(store.list())], [[], ["a@1", "b@2"]])
    relist(feed, 11, [widget("a", 1), widget("b", 2)])
    assert.deepStrictEqual(changes, [])
  })

  it("a deletion with the version of the last change, or an older one, still deletes (B13)", () => {
    const { changes, feed, store } = listed(10, [widget("a", 9), widget("b", 10)])
    feed.event("MODIFIED", widget("a", 12))
    feed.event("DELETED", widget("a", 12))
    feed.event("DELETED", widget("b", 8))
    assert.deepStrictEqual([changes, store.list()], [["a:9>12", "a:12>", "b:10>"], []])
  })

  it("an older state of the same object never follows a newer one (B14)", () => {
    const { changes, feed } = listed(20, [widget("a", 20)])
    feed.event("MODIFIED", widget("a", 15))
    assert.deepStrictEqual(changes, [])
  })

  it("the answer of a write is told once: not again by its echo, not undone by an older event (D29)", () => {
    const { changes, feed, store } = listed(10, [widget("a", 9)])
    store.fold(widget("a", 12, { spec: { by: "us" } }))
    const overlay = store.get(ref("a"))
    store.fold(widget("a", 12, { spec: { by: "us" } }))
    feed.event("MODIFIED", widget("a", 11))
    assert.strictEqual(store.get(ref("a")), overlay)
    feed.event("MODIFIED", widget("a", 12, { spec: { by: "us" } }))
    assert.deepStrictEqual(changes, ["a:9>12"])
    assert.strictEqual(store.get(ref("a")), overlay)
    assert.strictEqual(store.sizes().overlays, 0)
  })

  it("an answer that comes after the watch has passed it changes nothing, nor does one out of order (D29)", () => {
    const { changes, feed, store } = listed(10, [widget("a", 9)])
    feed.event("MODIFIED", widget("a", 12))
    store.fold(widget("a", 11))
    store.fold(widget("a", 15))
    store.fold(widget("a", 14))
    assert.deepStrictEqual(changes, ["a:9>12", "a:12>15"])
    feed.event("DELETED", widget("a", 16))
    store.fold(widget("a", 15))
    assert.deepStrictEqual([changes.at(-1), store.list()], ["a:15>", []])
  })

  it("a deletion wins over the answer of a write, and so does a newer namesake (D29)", () => {
    const { changes, feed, store } = listed(10, [widget("a", 9), widget("b", 10)])
    store.fold(widget("a", 12))
    feed.event("DELETED", widget("a", 11))
    store.fold(widget("b", 14))
    feed.event("ADDED", widget("b", 16, { uid: "other" }))
    assert.deepStrictEqual(changes, ["a:9>12", "a:12>", "b:10>14", "b:14>16"])
  })

  it("what was said of an earlier bearer of the name does not undo our create (D29)", () => {
    const { changes, feed, store } = listed(10, [widget("a", 9, { uid: "first" })])
    store.fold(widget("a", 14, { uid: "second" }))
    feed.event("MODIFIED", widget("a", 12, { uid: "first" }))
    feed.event("DELETED", widget("a", 13, { uid: "first" }))
    feed.event("ADDED", widget("a", 14, { uid: "second" }))
    assert.deepStrictEqual(changes, ["a:9>14"])
  })

  it("an answer that left the selector is shown no longer than until the watch has passed it", () => {
    const { changes, feed, store } = listed(10, [])
    store.fold(widget("a", 12))
    feed.event("ADDED", widget("b", 11))
    assert.deepStrictEqual(shown(store.list()), ["a@12", "b@11"])
    feed.bookmark("12")
    assert.deepStrictEqual(changes, ["a:>12", "b:>11", "a:12>"])
  })

  it("an object that our write has ended is gone at once, whatever the watch says until it is deleted (D29, F62)", () => {
    const dying = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] }
    const { changes, feed, store } = listed(10, [widget("a", 9, dying), widget("b", 10)])
    store.foldDeleted(ref("a"), "uid-a")
    store.foldDeleted(ref("b"), "another uid")
    feed.event("MODIFIED", widget("a", 11, dying))
    feed.event("DELETED", widget("a", 13, dying))
    assert.deepStrictEqual(changes, ["a:9>"])
    feed.event("ADDED", widget("a", 14, { uid: "namesake" }))
    assert.deepStrictEqual([changes.at(-1), store.sizes().overlays], ["a:>14", 0])
  })

  it("what was believed to be ended comes back with the next whole list, if the server still has it", () => {
    const { changes, feed, store } = listed(10, [widget("a", 9)])
    store.foldDeleted(ref("a"), "uid-a")
    relist(feed, 11, [widget("a", 9)])
    assert.deepStrictEqual(changes, ["a:9>", "a:>9"])
  })

  it("a history that began anew replaces all, overlays too (D29)", () => {
    const { feed, store } = listed(500, [widget("a", 499), widget("b", 490)])
    store.fold(widget("b", 510))
    relist(feed, 41, [widget("a", 40)], true)
    assert.deepStrictEqual([shown(store.list()), feed.position], [["a@40"], "41"])
    feed.event("MODIFIED", widget("a", 42))
    assert.deepStrictEqual(shown(store.list()), ["a@42"])
  })

  it("says when the watch has told a version, a deletion or a namesake, and calls back once (D29)", () => {
    const { feed, store } = listed(10, [widget("a", 9), widget("c", 8)])
    const called: Array<string> = []
    const when = (name: string, version: number, uid = `uid-${name}`) =>
      store.whenSeen(ref(name), uid, String(version), () => called.push(`${name}@${version}`))
    when("a", 9)
    assert.deepStrictEqual(called, ["a@9"])
    when("a", 12)
    when("b", 11)
    when("c", 15, "uid-c")
    const cancel = when("a", 13)
    store.fold(widget("a", 12))
    assert.isFalse(store.hasSeen(ref("a"), "uid-a", "12"), "our own answer is not the watch's")
    feed.event("ADDED", widget("b", 11))
    feed.event("MODIFIED", widget("a", 12))
    cancel()
    assert.deepStrictEqual(called.splice(0), ["a@9", "b@11", "a@12"])
    feed.event("DELETED", widget("c", 14))
    assert.deepStrictEqual(called, ["c@15"])
    assert.strictEqual(store.sizes().waiting, 0)
    when("gone", 20)
    feed.bookmark("21")
    assert.deepStrictEqual(called, ["c@15", "gone@20"])
  })

  it("versions that are no decimals: answers are left to the watch, and only the very version counts as seen (D29)", () => {
    const { changes, feed, store } = listed("L", [widget("a", "x")])
    store.fold(widget("a", "y"))
    assert.deepStrictEqual(changes, [])
    assert.isFalse(store.hasSeen(ref("a"), "uid-a", "y"))
    feed.event("MODIFIED", widget("a", "y"))
    assert.isTrue(store.hasSeen(ref("a"), "uid-a", "y"))
    assert.isTrue(store.hasSeen(ref("a"), "uid-before", "w"))
    feed.event("DELETED", widget("a", "z"))
    assert.deepStrictEqual(changes, ["a:x>y", "a:y>"])
  })

  it("of managedFields only our own are kept, shared between objects, and the object given stays whole (D28)", () => {
    const entry = (manager: string, time: string, subresource?: string) => ({
      manager,
      operation: "Apply" as const,
      apiVersion: "example.com/v1",
      time,
      fieldsType: "FieldsV1" as const,
      fieldsV1: { "f:spec": {} },
      ...(subresource !== undefined && { subresource })
    })
    const given = widget("a", 1, {
      managedFields: [entry("fixpoint", "t1"), entry("kubectl", "t2"), entry("fixpoint", "t3", "status")]
    })
    const { store } = listed(10, [
      given,
      widget("b", 2, { managedFields: [entry("fixpoint", "t4"), entry("fixpoint", "t5", "status")] }),
      widget("c", 3, { managedFields: [entry("kubectl", "t6")] })
    ])
    const [a, b, c] = ["a", "b", "c"].map((name) => store.get(ref(name))!.metadata.managedFields)
    assert.deepStrictEqual(
      a?.map((kept) => [kept.manager, kept.subresource, kept.time]),
      [
        ["fixpoint", undefined, undefined],
        ["fixpoint", "status", undefined]
      ]
    )
    assert.strictEqual(a, b)
    assert.isUndefined(c)
    assert.lengthOf(given.metadata.managedFields!, 3)
  })

  it.effect("has synced when each of its namespaces was listed, and holds no object of another (B28)", () =>
    Effect.gen(function* () {
      const store = Store.make({ resource: widgets, fieldManager: "fixpoint", namespaces: ["ns1", "ns2"] })
      relist(store.feed("ns1"), 10, [widget("a", 9)])
      assert.isFalse(store.synced)
      relist(store.feed("ns2"), 4, [widget("a", 3, { namespace: "ns2", uid: "2" })])
      assert.isTrue(store.synced)
      yield* store.awaitSynced
      relist(store.feed("ns1"), 11, [])
      assert.deepStrictEqual(shown(store.list({ namespace: "ns2" })), ["a@3"])
      assert.isFalse(store.hasSeen({ namespace: "ns2", name: "a" }, "2", "10"), "each namespace is heard by itself")
      assert.isTrue(store.hasSeen({ namespace: "ns3", name: "a" }, "3", "10"), "nobody will tell")
      assert.throws(() => store.feed(undefined), /all namespaces of widgets is not in this store/)
    })
  )

  it("lists by namespace and selector, looks up by declared indexes only", () => {
    const bySize: Store.Index = { name: "bySize", of: ({ spec }) => [String((spec as any).size)] }
    const { store } = listed(
      10,
      [
        widget("a", 1, { labels: { app: "x" }, spec: { size: 1 } }),
        widget("b", 2, { labels: { app: "y" }, spec: { size: 1 } }),
        widget("c", 3, { namespace: "ns2", labels: { app: "x" }, spec: { size: 2 } })
      ],
      { indexes: [bySize] }
    )
    assert.deepStrictEqual(shown(store.list({ selector: { matchLabels: { app: "x" } } })), ["a@1", "c@3"])
    assert.deepStrictEqual(shown(store.list({ namespace: "ns1", selector: { matchLabels: { app: "x" } } })), ["a@1"])
    assert.deepStrictEqual(shown(store.list({ namespace: "ns3" })), [])
    assert.deepStrictEqual(shown(store.lookup(bySize, "1")), ["a@1", "b@2"])
    assert.throws(() => store.lookup({ ...bySize }, "1"), /index bySize of widgets was not declared/)
  })

  it("a listener that throws keeps neither the store nor the others from the change (B9)", () => {
    const { changes, feed, store } = listed(10, [])
    const heard: Array<string> = []
    const end = store.onChange(() => {
      throw new Error("listener")
    })
    store.onChange(({ ref }) => heard.push(ref.name))
    assert.throws(() => feed.event("ADDED", widget("a", 11)), "listener")
    end()
    feed.event("ADDED", widget("b", 12))
    assert.deepStrictEqual(
      [changes, heard, shown(store.list())],
      [
        ["a:>11", "b:>12"],
        ["a", "b"],
        ["a@11", "b@12"]
      ]
    )
  })

  it("an index that throws at one object leaves it in the cache, told once (B9)", () => {
    const brittle: Store.Index = { name: "brittle", of: ({ spec }) => [(spec as any).deep.value] }
    const { feed, store } = listed(10, [], { indexes: [brittle] })
    assert.throws(() => feed.event("ADDED", widget("a", 11)))
    feed.event("MODIFIED", widget("a", 12, { spec: { deep: { value: "v" } } }))
    assert.deepStrictEqual(shown(store.lookup(brittle, "v")), ["a@12"])
  })

  it("a listener that makes a change itself does not turn the order round for the others", () => {
    const { feed, store } = listed(10, [])
    store.onChange(({ next }) => {
      if (next?.metadata.resourceVersion === "11") store.fold(widget("a", 12))
    })
    const heard: Array<string | undefined> = []
    store.onChange(({ next }) => heard.push(next?.metadata.resourceVersion))
    feed.event("ADDED", widget("a", 11))
    assert.deepStrictEqual(heard, ["11", "12"])
  })

  it("500 objects made, written and deleted leave nothing behind (B4)", () => {
    const { feed, store } = listed(10, [])
    let version = 10
    for (let i = 0; i < 500; i++) {
      const owner = { apiVersion: "v1", kind: "Owner", name: "o", uid: `owner-${i}` }
      const made = widget(`w${i}`, ++version, { uid: `uid-${i}`, ownerReferences: [owner] })
      store.fold(made)
      const written = { ...made, metadata: { ...made.metadata, resourceVersion: String(++version) } }
      store.whenSeen(ref(made.metadata.name), made.metadata.uid, String(version), () => {})
      store.fold(written)
      if (i % 3 === 0) store.foldDeleted(ref(made.metadata.name), made.metadata.uid)
      if (i % 2 === 0) feed.event("ADDED", made)
      if (i % 5 === 0) relist(feed, ++version, [])
      else feed.event("DELETED", { ...written, metadata: { ...written.metadata, resourceVersion: String(++version) } })
    }
    assert.deepStrictEqual(store.sizes(), { objects: 0, overlays: 0, waiting: 0, indexed: 0 })
  })
})
