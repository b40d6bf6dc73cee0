/** Strategic merge patches of the same objects, against a real API server. */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as MemoryServer from "./memoryServer.ts"
import * as RealServer from "./realServer.ts"
import { Random } from "./specimen.ts"
import { bases, patches, randomPatch } from "./strategicCorpus.ts"

type Json = any

const strategic = "application/strategic-merge-patch+json"

const collectionOf = (namespace: string, plural: string): string =>
  plural === "deployments"
    ? `/apis/apps/v1/namespaces/${namespace}/deployments`
    : `/api/v1/namespaces/${namespace}/${plural}`

/** Without what two servers draw by chance or by the clock. */
const masked = (value: unknown): Json =>
  JSON.parse(
    JSON.stringify(value, (key, inner) => {
      if (key === "uid" || key === "resourceVersion") return "V"
      // A real server shows how the Go structs differ.
      if (key === "message") return String(inner).replace(/(previously negative\))[^]*/, "$1")
      return key === "time" || key === "creationTimestamp" ? "T" : inner
    })
  )

const begin = (namespace: string) =>
  Effect.gen(function* () {
    const real = RealServer.make(yield* ControlPlane.ControlPlane)
    const memory = MemoryServer.make()
    const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }
    yield* real.request("POST", "/api/v1/namespaces", space)
    memory.request("POST", "/api/v1/namespaces", space)
    for (const [plural, body] of Object.entries(bases)) {
      const collection = collectionOf(namespace, plural)
      const made = yield* real.request("POST", collection, body)
      assert.strictEqual(made.code, 201, `${plural}: ${JSON.stringify(made.body)}`)
      const ours = memory.request("POST", collection, body)
      assert.deepStrictEqual(masked(ours.body), masked(made.body), plural)
    }
    return { real, memory }
  })

const pod = (spec: Json): Json => ({ template: { spec } })
const container = (content: Json): Json => pod({ containers: [{ name: "web", ...content }] })

const mistypedSpecs: ReadonlyArray<Json> = [
  "x",
  5,
  { template: "x" },
  { strategy: 5 },
  pod({ containers: "x" }),
  pod({ nodeSelector: 5 }),
  pod({ nodeSelector: { a: 5 } }),
  pod({ hostNetwork: "x" }),
  pod({ tolerations: [{ tolerationSeconds: "x" }] }),
  container({ args: "x" }),
  container({ args: [5] }),
  container({ ports: 5 }),
  container({ ports: [{ containerPort: "x" }] }),
  container({ resources: [] }),
  container({ "$setElementOrder/env": [{ name: "A" }], env: [{ name: "A", value: 5 }] })
]

describe.runIf(ControlPlane.available())("strategic merge patches and a real API server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("come to the same object, or are refused in the same words (F83)", () =>
      Effect.gen(function* () {
        const namespace = "strategic-corpus"
        const { memory, real } = yield* begin(namespace)
        for (const [plural, own] of Object.entries(patches)) {
          for (const patch of own) {
            const path = `${collectionOf(namespace, plural)}/base?dryRun=All`
            const theirs = yield* real.request("PATCH", path, patch, { contentType: strategic })
            const ours = memory.request("PATCH", path, patch, { contentType: strategic })
            const what = `${plural} ${JSON.stringify(patch)}`
            assert.deepStrictEqual([ours.code, masked(ours.body)], [theirs.code, masked(theirs.body)], what)
          }
        }
      })
    )

    it.effect("say the same of values of wrong types, sent or patched (F25, F97)", () =>
      Effect.gen(function* () {
        const namespace = "strategic-types"
        const { memory, real } = yield* begin(namespace)
        const collection = collectionOf(namespace, "deployments")
        for (const spec of mistypedSpecs) {
          const what = JSON.stringify(spec)
          const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "base" }, spec }
          const theirs = yield* real.request("POST", `${collection}?dryRun=All`, body)
          const ours = memory.request("POST", `${collection}?dryRun=All`, body)
          assert.deepStrictEqual([ours.code, ours.body], [theirs.code, theirs.body], what)
          const path = `${collection}/base?dryRun=All`
          const patched = yield* real.request("PATCH", path, { spec }, { contentType: strategic })
          const own = memory.request("PATCH", path, { spec }, { contentType: strategic })
          assert.deepStrictEqual([own.code, own.body], [patched.code, patched.body], what)
        }
      })
    )

    it.effect("come to the same object, one random patch after the other (F83)", () =>
      Effect.gen(function* () {
        const namespace = "strategic-random"
        const { memory, real } = yield* begin(namespace)
        const random = new Random(Number(process.env.SEED ?? 1))
        const path = `${collectionOf(namespace, "deployments")}/base`
        let accepted = 0
        for (let step = 0; step < Number(process.env.STEPS ?? 300); step++) {
          const patch = randomPatch(random)
          const theirs = yield* real.request("PATCH", path, patch, { contentType: strategic })
          // What became of the patch was no Deployment: the machine does not validate so much.
          if (theirs.code === 422 && theirs.body.details.kind === "Deployment") continue
          const ours = memory.request("PATCH", path, patch, { contentType: strategic })
          const what = `step ${step}: ${JSON.stringify(patch)}: ${theirs.body.message}`
          // Where several things are wrong, a real server tells of one by chance.
          assert.strictEqual(ours.code, theirs.code, what)
          if (theirs.code !== 200) continue
          accepted++
          assert.deepStrictEqual(masked(ours.body), masked(theirs.body), what)
        }
        assert.isAbove(accepted, 100)
      })
    )
  })
})
