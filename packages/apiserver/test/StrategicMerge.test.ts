import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { builtInSchema } from "../src/internal/builtInSchemas.ts"
import { equals } from "../src/internal/json.ts"
import { Refusal } from "../src/internal/refusal.ts"
import { strategicMerge } from "../src/internal/strategicMerge.ts"
import * as MemoryServer from "./memoryServer.ts"
import { Random } from "./specimen.ts"
import { bases, patches, randomPatch } from "./strategicCorpus.ts"

type Json = any

const runs = { arbitrary: { runs: 1_000 } }
const schema = builtInSchema({ group: "apps", version: "v1", kind: "Deployment" })!

const frozen = <A>(value: A): A => {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value)
    for (const child of Object.values(value)) frozen(child)
  }
  return value
}

/** Undefined where it is refused. */
const merge = (target: Json, patch: Json): Json => {
  try {
    return strategicMerge(schema, frozen(target), frozen(patch))
  } catch (refusal) {
    assert.instanceOf(refusal, Refusal)
    return undefined
  }
}

const base = bases.deployments

const withoutOrder = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(withoutOrder).toSorted((a: Json, b: Json) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, inner]) => [key, withoutOrder(inner)])
        )
      : value

describe("strategic merge patches", () => {
  it.prop(
    "a patch of its own outcome changes no field, and no operand is touched (F83)",
    [Schema.Int],
    ([seed]) => {
      const patch = randomPatch(new Random(seed))
      // What is new bears its directives as they are: only the second patch heeds them.
      const first = merge(base, patch)
      const once = first === undefined ? undefined : merge(first, patch)
      if (once === undefined) return
      const twice = merge(once, patch)
      assert.isTrue(equals(withoutOrder(twice), withoutOrder(once)), JSON.stringify(patch))
    },
    runs
  )

  it.prop(
    "items of other lists and members of other objects stay as they were (F83)",
    [Schema.Int],
    ([seed]) => {
      const patch = randomPatch(new Random(seed))
      const after = merge(base, patch)
      if (after === undefined) return
      assert.strictEqual(after.spec.selector, base.spec.selector)
      const touched = patch.spec.template.spec.containers?.some(({ name }: Json) => name === "side") ?? false
      const replaced = patch.spec.template.spec.containers?.some(
        ({ $patch, name }: Json) => $patch === "replace" && name === undefined
      )
      if (touched || replaced) return
      const side = after.spec.template.spec.containers.find(({ name }: Json) => name === "side")
      assert.strictEqual(side, base.spec.template.spec.containers[1])
    },
    runs
  )

  it("a patch without content changes nothing (F83)", () => {
    for (const patch of [{}, null]) assert.strictEqual(merge(base, patch), base)
  })

  it("custom resources take none (F78)", () => {
    const memory = MemoryServer.make()
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }]
    memory.request("POST", path, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: { group: "example.com", scope: "Cluster", names: { plural: "things", kind: "Thing" }, versions }
    })
    memory.request("POST", "/apis/example.com/v1/things", {
      apiVersion: "example.com/v1",
      kind: "Thing",
      metadata: { name: "t" }
    })
    const patch = { metadata: { labels: { a: "b" } } }
    const options = { contentType: "application/strategic-merge-patch+json" }
    assert.strictEqual(memory.request("PATCH", "/apis/example.com/v1/things/t", patch, options).code, 415)
  })

  it("the corpus holds patches enough to speak of conformance", () => {
    assert.isAtLeast(Object.values(patches).flat().length, 60)
  })
})
