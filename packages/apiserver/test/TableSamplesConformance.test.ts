/** The objects of which tables are made, as the machine and a real API server keep them: defaults, first statuses, and who owns what. */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as MemoryServer from "./memoryServer.ts"
import * as RealServer from "./realServer.ts"
import { samples } from "./tableCorpus.ts"

type Json = any

const n = "table-samples"

/** Without what two servers draw by chance or by the clock. */
const masked = (value: unknown): Json =>
  JSON.parse(
    JSON.stringify(value, (key, inner) => {
      if (key === "uid" || key === "resourceVersion" || key.endsWith("controller-uid")) return "V"
      if (key === "time" || key === "creationTimestamp") return "T"
      return key === "nodePort" ? "PORT" : inner
    }).replaceAll(/"10\.0\.\d+\.\d+"/g, '"IP"')
  )

describe.runIf(ControlPlane.available())("built-in kinds and a real API server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("keep the same objects, with the same owners of fields (F30, F84, F106, F107)", () =>
      Effect.gen(function* () {
        const real = RealServer.make(yield* ControlPlane.ControlPlane)
        const memory = MemoryServer.make()
        const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: n } }
        yield* real.request("POST", "/api/v1/namespaces", space)
        memory.request("POST", "/api/v1/namespaces", space)
        for (const { body, collection, status } of samples(n)) {
          const what = `${collection} ${body.metadata.name}`
          const made = yield* real.request("POST", collection, body)
          const ours = memory.request("POST", collection, body)
          assert.deepStrictEqual([ours.code, masked(ours.body)], [made.code, masked(made.body)], what)
          if (status === undefined) continue
          const path = `${collection}/${body.metadata.name}/status`
          const patched = yield* real.request("PATCH", path, { status }, { contentType: RealServer.merge })
          const own = memory.request("PATCH", path, { status }, { contentType: RealServer.merge })
          assert.deepStrictEqual([own.code, masked(own.body)], [patched.code, masked(patched.body)], path)
        }
      })
    )
  })
})
