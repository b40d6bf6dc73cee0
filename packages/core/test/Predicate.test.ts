import { assert, describe, it } from "@effect/vitest"
import * as Predicate from "../src/Predicate.ts"
import type { KubeObject, ObjectMeta } from "../src/KubeObject.ts"
import { widget } from "./widgets.ts"

type Shape = Partial<ObjectMeta> & { spec?: object; status?: object }

const seen = (shape: Shape = {}) =>
  widget("a", 10, {
    generation: 3,
    labels: { app: "x" },
    finalizers: ["f/theirs", "f/ours"],
    spec: { size: 1 },
    ...shape
  })

const judged = (
  predicate: Predicate.Predicate,
  next: KubeObject | undefined,
  before: KubeObject | undefined = seen()
) => Predicate.wakes(predicate, { seen: before, next, ownFinalizers: ["f/ours"] })

describe("Predicate", () => {
  it("the echo of our own status or finalizer wakes nothing (D27)", () => {
    const moved = { resourceVersion: "11" }
    assert.isFalse(judged(Predicate.standard, seen({ ...moved, status: { ready: true } })))
    const before = seen({ finalizers: ["f/theirs"] })
    assert.isFalse(judged(Predicate.standard, seen(moved), before), "our finalizer was added")
    const dying = { deletionTimestamp: "2026-01-01T00:00:00Z" }
    assert.isFalse(
      judged(Predicate.standard, seen({ ...moved, ...dying, finalizers: ["f/theirs"] }), seen(dying)),
      "our finalizer was removed from a dying object"
    )
  })

  it("a foreign change in the same version as our status write wakes (D27)", () => {
    const ours = { resourceVersion: "12", status: { ready: true } }
    for (const [what, shape] of Object.entries<Shape>({
      spec: { generation: 4, spec: { size: 2 } },
      deletion: { deletionTimestamp: "2026-01-01T00:00:00Z" },
      "a label": { labels: { app: "y" } },
      "no labels": { labels: {} },
      "an annotation": { annotations: { note: "n" } },
      "a foreign finalizer": { finalizers: ["f/theirs", "f/ours", "f/more"] },
      "the loss of a foreign finalizer": { finalizers: ["f/ours"] },
      "the theft of ours": { finalizers: ["f/theirs"] }
    }))
      assert.isTrue(judged(Predicate.standard, seen({ ...ours, ...shape })), what)
  })

  it("the order of finalizers, and empty for absent, mean nothing", () => {
    assert.isFalse(judged(Predicate.standard, seen({ finalizers: ["f/ours", "f/theirs"], annotations: {} })))
  })

  it("no predicate swallows that an object came, went or was replaced by a namesake (B24)", () => {
    const never: Predicate.Predicate = () => false
    assert.isTrue(judged(never, undefined))
    assert.isTrue(Predicate.wakes(never, { seen: undefined, next: seen() }))
    assert.isTrue(judged(never, seen({ uid: "other" })))
    assert.isFalse(Predicate.wakes(Predicate.anyChange, { seen: undefined, next: undefined }))
    assert.isFalse(judged(never, seen({ resourceVersion: "11", generation: 4 })))
  })

  it("deletion passes the filter of specs though generation stays (B24)", () => {
    assert.isTrue(judged(Predicate.specOnly, seen({ deletionTimestamp: "2026-01-01T00:00:00Z" })))
    assert.isFalse(judged(Predicate.specOnly, seen({ labels: { app: "y" } })))
    assert.isTrue(judged(Predicate.specOnly, seen({ generation: 4 })))
  })

  it("a kind that counts no generations is judged by its content (F9)", () => {
    const configMap = (data: object, version: string): KubeObject => {
      const { generation: _, ...metadata } = seen({ resourceVersion: version }).metadata
      return { apiVersion: "v1", kind: "ConfigMap", metadata, data }
    }
    const before = configMap({ a: "1" }, "10")
    assert.isFalse(judged(Predicate.standard, configMap({ a: "1" }, "11"), before))
    assert.isTrue(judged(Predicate.standard, configMap({ a: "2" }, "11"), before))
    assert.isTrue(judged(Predicate.specOnly, configMap({}, "11"), before))
  })

  it("any change is every new version", () => {
    assert.isTrue(judged(Predicate.anyChange, seen({ resourceVersion: "11" })))
    assert.isFalse(judged(Predicate.anyChange, structuredClone(seen())))
  })
})
