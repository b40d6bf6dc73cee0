import { assert, describe, it } from "@effect/vitest"
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ApiClient } from "../src/ApiClient.ts"
import { revealsForeign, wakesOwner } from "../src/internal/childChange.ts"
import { make as trimTo } from "../src/internal/ownFields.ts"
import type { FieldsV1, KubeObject, ObjectInput, Resource } from "../src/KubeObject.ts"
import { widget } from "./widgets.ts"

describe("a child wakes its owner", () => {
  const known = widget("a", 10, { labels: { app: "x" }, spec: { size: 1 } })

  it("when it is gone, has come, or is another one of the name (D27)", () => {
    assert.isTrue(wakesOwner(known, undefined))
    assert.isTrue(wakesOwner(undefined, known))
    assert.isTrue(wakesOwner(known, widget("a", 10, { labels: { app: "x" }, spec: { size: 1 }, uid: "other" })))
    assert.isFalse(wakesOwner(undefined, undefined))
  })

  it("when anything differs from what the last pass knew, but not by version or managedFields alone (D27)", () => {
    const entry = { manager: "m", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} } as const
    const same = widget("a", 12, { labels: { app: "x" }, spec: { size: 1 }, managedFields: [entry] })
    assert.isFalse(wakesOwner(known, same))
    for (const [what, next] of Object.entries({
      spec: { ...same, spec: { size: 2 } },
      "a new field": { ...same, status: {} },
      "a field less": { ...same, spec: {} },
      label: { ...same, metadata: { ...same.metadata, labels: { app: "y" } } },
      deletion: { ...same, metadata: { ...same.metadata, deletionTimestamp: "t" } }
    }))
      assert.isTrue(wakesOwner(known, next), what)
  })
})

const configMaps: Resource = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" }
const ref = { namespace: "ns1", name: "a" }

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))
const Data = Schema.Struct({
  x: Schema.optionalKey(below(3)),
  y: Schema.optionalKey(below(3)),
  z: Schema.optionalKey(below(3))
})
/** Never empty: managedFields tell an empty map and an atomic one alike. */
const Own = Schema.Struct({ ...Data.fields, w: below(3) })
const Case = Schema.Struct({
  first: Own,
  foreign: Schema.optionalKey(Data),
  foreignLabel: Schema.Boolean,
  second: Own
})

const configMap = (data: Readonly<Record<string, number>>, metadata: ObjectInput["metadata"] = {}): ObjectInput => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...ref, ...metadata },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, String(value)]))
})

describe("the answer of a write reveals a foreign change", () => {
  const manager = "fixpoint"

  it.effect.prop(
    "exactly when something differs that we neither own now nor owned before (D27)",
    [Arbitrary.schema(Case)],
    ([{ first, foreign, foreignLabel, second }]) =>
      Effect.gen(function* () {
        const api = yield* ApiClient
        const apply = (body: ObjectInput, fieldManager: string) =>
          api.patch(configMaps, ref, { type: "apply", body, force: true }, { fieldManager })
        const previous = trimTo(manager)(yield* apply(configMap(first), manager))
        // Behind the back of our cache.
        const edit =
          foreign === undefined
            ? previous
            : yield* apply(configMap(foreign, foreignLabel ? { labels: { theirs: "l" } } : {}), "kubectl")
        const answer = yield* apply(configMap(second), manager)
        const [was, is] = [dataOf(previous), dataOf(answer)]
        const differs = ["x", "y", "z"].some((key) => was[key] !== is[key] && !(key in first) && !(key in second))
        const isForeign = differs || (edit !== previous && foreignLabel)
        assert.strictEqual(revealsForeign({ previous, answer, fieldManager: manager }), isForeign)
      }).pipe(Effect.orDie, Effect.provide(world())),
    { arbitrary: { runs: 1000 } }
  )

  const owned = (fieldsV1: FieldsV1) => [
    { manager, operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 } as const
  ]
  const ports = (fields: FieldsV1): FieldsV1 => ({
    "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {}, ...fields } } }
  })
  const service = (list: ReadonlyArray<object>, version: number, fields: FieldsV1 = ports({})): KubeObject =>
    widget("a", version, { spec: { ports: list }, managedFields: owned(fields) })
  const reveals = (previous: KubeObject | undefined, answer: KubeObject) =>
    revealsForeign({ previous, answer, fieldManager: manager })
  const http = { port: 80, protocol: "TCP" }

  it("inside of lists as managedFields names their items, whatever their order (D27)", () => {
    const before = service([http], 1)
    assert.isFalse(reveals(before, service([http], 2)))
    assert.isTrue(reveals(before, service([http, { port: 81, protocol: "TCP" }], 2)), "an item of theirs")
    assert.isTrue(reveals(before, service([{ ...http, nodePort: 30000 }], 2)), "a field of theirs in an item of ours")
    assert.isFalse(reveals(before, service([{ ...http, name: "web" }], 2, ports({ "f:name": {} }))), "a field of ours")
    assert.isFalse(
      reveals(service([{ ...http, name: "web" }], 1, ports({ "f:name": {} })), service([http], 2)),
      "a field that we no longer send"
    )
    const [a, b] = [http, { port: 81, protocol: "TCP" }]
    assert.isFalse(reveals(service([a, b], 1), service([b, a], 2)))
  })

  it("inside of sets by value (D27)", () => {
    const labelled = (values: ReadonlyArray<string>, ours: ReadonlyArray<string>) =>
      widget("a", 1, {
        finalizers: values,
        managedFields:
          ours.length === 0
            ? []
            : owned({
                "f:metadata": {
                  "f:finalizers": Object.fromEntries(ours.map((value) => [`v:${JSON.stringify(value)}`, {}]))
                }
              })
      })
    assert.isFalse(reveals(labelled(["x"], []), labelled(["x", "ours"], ["ours"])))
    assert.isTrue(reveals(labelled(["x"], []), labelled(["x", "ours", "theirs"], ["ours"])))
    assert.isFalse(reveals(labelled(["x", "ours"], ["ours"]), labelled(["x"], [])))
    assert.isTrue(reveals(labelled(["x", "ours"], ["ours"]), labelled(["ours"], ["ours"])))
  })

  it("not for the defaults that the server puts into what we have added (D27)", () => {
    const probe = { "f:spec": { "f:probe": { "f:port": {} } } }
    const before = widget("a", 1, { spec: {} })
    const after = widget("a", 2, { spec: { probe: { port: 1, periodSeconds: 10 } }, managedFields: owned(probe) })
    assert.isFalse(reveals(before, after))
    assert.isTrue(
      reveals(after, widget("a", 3, { spec: { probe: { port: 1, periodSeconds: 5 } }, managedFields: owned(probe) }))
    )
  })

  it("when what we thought absent was made by another, or is another object of the name (D27)", () => {
    const ours = widget("a", 1, { managedFields: owned({ "f:spec": {} }) })
    assert.isFalse(reveals(undefined, ours))
    assert.isTrue(
      reveals(undefined, widget("a", 1, { managedFields: [...owned({}), { ...owned({})[0]!, manager: "kubectl" }] }))
    )
    assert.isTrue(reveals(widget("a", 1, { uid: "other" }), ours))
  })
})

const dataOf = (object: KubeObject): Record<string, string> => (object.data ?? {}) as Record<string, string>

const world = () =>
  ApiServer.layer({ seed: 1, objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "ns1" } }] })
