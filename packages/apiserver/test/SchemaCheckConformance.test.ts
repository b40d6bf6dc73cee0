/** Which schemas may be served, and which objects fit them, against a real API server: a corpus of schemas with one flaw each, and of values for one schema. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import { applyDefaults, check, dropNulls, prune, type Schema, validate } from "../src/internal/structuralSchema.ts"
import * as RealServer from "./realServer.ts"
import { refusedSchemas, rich, validated } from "./schemaCorpus.ts"

const definitionOf = (plural: string, schema: Schema, status: boolean) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.check.example.com` },
  spec: {
    group: "check.example.com",
    scope: "Namespaced",
    names: { plural, singular: plural.slice(0, -1), kind: "Checked", listKind: "CheckedList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        ...(status && { subresources: { status: {} } })
      }
    ]
  }
})

/** The schema that a cause quotes is written in Go's names: it is left out. */
const sorted = (causes: ReadonlyArray<any> | undefined): ReadonlyArray<string> =>
  (causes ?? [])
    .map(({ message, ...cause }) =>
      JSON.stringify({ ...cause, message: message.replace(/^Invalid value: \{.*\}: only \[/s, "only [") })
    )
    .toSorted()

describe.runIf(ControlPlane.available())("schemas and a real API server", () => {
  layer(ControlPlane.layer(), { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("are refused for the same causes (F144, F145, F146)", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        for (const [name, schema] of Object.entries(refusedSchemas)) {
          for (const status of [false, true]) {
            const real = yield* server.request(
              "POST",
              "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
              definitionOf("bads", schema, status)
            )
            const ours = check(schema, { status })
            assert.deepStrictEqual(
              sorted(ours),
              sorted(real.body.details?.causes),
              `${name}: ${JSON.stringify(schema)}`
            )
            assert.strictEqual(real.code, ours.length === 0 ? 201 : 422, `${name}: ${JSON.stringify(real.body)}`)
          }
        }
      })
    )

    it.effect("refuse values for the same causes (F97, F133)", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        yield* RealServer.serve(server, definitionOf("riches", rich, false))
        const list = "/apis/check.example.com/v1/namespaces/default/riches?dryRun=All"
        for (const spec of validated) {
          const body = { apiVersion: "check.example.com/v1", kind: "Checked", metadata: { name: "v" }, spec }
          const real = yield* server.request("POST", list, body)
          const object = applyDefaults(rich, dropNulls(rich, prune(rich, body).value))
          const ours = validate(rich, object)
          assert.deepStrictEqual(sorted(ours), sorted(real.body.details?.causes), JSON.stringify(spec))
          assert.strictEqual(
            real.code,
            ours.length === 0 ? 201 : 422,
            `${JSON.stringify(spec)}: ${JSON.stringify(real.body)}`
          )
          if (real.code === 201) assert.deepStrictEqual(real.body.spec, (object as { spec: unknown }).spec)
        }
      })
    )
  })
})

describe.skipIf(ControlPlane.available())("schemas and a real API server", () => {
  it.skip("need KUBEBUILDER_ASSETS", () => {})
})
