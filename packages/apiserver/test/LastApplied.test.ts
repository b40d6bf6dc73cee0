import { assert, describe, it } from "@effect/vitest"
import * as ManagedFields from "../src/internal/managedFields.ts"
import type { Schema } from "../src/internal/structuralSchema.ts"

type Json = any

const annotation = "kubectl.kubernetes.io/last-applied-configuration"
const schema: Schema = {
  type: "object",
  properties: { data: { type: "object", additionalProperties: { type: "string" } } }
}
const common = { schema, apiVersion: "v1", now: "2026-01-01T00:00:00Z" } as const

const configMap = (data: Readonly<Record<string, string>>, annotations?: Readonly<Record<string, string>>): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...(annotations !== undefined && { annotations }) },
  data
})

/** As `kubectl apply` leaves it: the annotation says what was applied, the manager owns it as an update. */
const appliedByClient = (
  data: Readonly<Record<string, string>>,
  said: string = JSON.stringify(configMap(data))
): Json => {
  const next = configMap(data, { [annotation]: said })
  const managedFields = ManagedFields.update({ ...common, manager: "kubectl-client-side-apply", live: undefined, next })
  return { ...next, metadata: { ...next.metadata, managedFields } }
}

const changedBy = (manager: string, live: Json, data: Readonly<Record<string, string>>): Json => {
  const next = { ...live, data }
  const managedFields = ManagedFields.update({ ...common, manager, live, next })
  return { ...next, metadata: { ...next.metadata, managedFields } }
}

const apply = (live: Json, applied: Json, manager = "kubectl", force = false): Json =>
  ManagedFields.apply({ ...common, manager, live, applied, force })

describe("what kubectl applied by annotation", () => {
  const live = appliedByClient({ a: "1", b: "2" })

  it("is taken over by its first server-side apply, changed or not (F91)", () => {
    const result = apply(live, configMap({ a: "other", b: "2" }))
    assert.strictEqual(result._tag, "Applied")
    assert.deepStrictEqual(result.object.data, { a: "other", b: "2" })
  })

  it("is not taken over by another manager (F91)", () => {
    assert.strictEqual(apply(live, configMap({ a: "other" }), "other")._tag, "Conflicts")
  })

  it("is disputed where somebody has changed it since, and there alone", () => {
    const result = apply(changedBy("patcher", live, { a: "patched", b: "2" }), configMap({ a: "x", b: "y" }))
    assert.strictEqual(result._tag, "Conflicts")
    assert.deepStrictEqual(
      result.causes.map(({ field, message }: Json) => [field, message]),
      [[".data.a", `conflict with "patcher" using v1`]]
    )
  })

  it.each([
    ["is no JSON", "{"],
    ["is no object", "[]"],
    ["is of another version", JSON.stringify({ ...configMap({ a: "1" }), apiVersion: "v2" })],
    ["does not fit the schema", JSON.stringify({ ...configMap({}), data: 3 })]
  ])("counts for nothing where the annotation %s", (_, said) => {
    assert.strictEqual(apply(appliedByClient({ a: "1" }, said), configMap({ a: "x" }))._tag, "Conflicts")
  })

  it("is kept up to date by the server, in Go's words, and by an apply of kubectl only", () => {
    const other = configMap({ a: "1", b: "2", c: "<>" }, { [annotation]: "old", own: "kept" })
    const said = (result: Json) => result.object.metadata.annotations[annotation]
    assert.strictEqual(
      said(apply(live, other, "kubectl", true)),
      '{"apiVersion":"v1","data":{"a":"1","b":"2","c":"\\u003c\\u003e"},"kind":"ConfigMap","metadata":{"annotations":{"own":"kept"},"name":"a"}}\n'
    )
    assert.strictEqual(said(apply(live, configMap({ c: "3" }), "other")), JSON.stringify(configMap({ a: "1", b: "2" })))
  })

  it("is not begun where there is no annotation", () => {
    const { metadata } = apply(undefined, configMap({ a: "1" })).object
    assert.isUndefined(metadata.annotations)
  })

  it("goes where it would make the annotations too long", () => {
    const { metadata } = apply(live, configMap({ a: "1", b: "2", c: "x".repeat(262_144) })).object
    assert.notProperty(metadata.annotations, annotation)
  })
})
