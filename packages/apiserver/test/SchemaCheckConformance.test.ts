/** Which schemas may be served, and which objects fit them, against a real API server: a corpus of schemas with one flaw each, and of values for one schema. */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import { applyDefaults, check, dropNulls, prune, type Schema, validate } from "../src/internal/structuralSchema.ts"
import { mergePatch } from "../src/internal/patch.ts"
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
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
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

    it.effect("let pass what was wrong before a schema grew stricter, until it is changed (F136)", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        const definition = definitionOf("ratchets", ratcheted(100), true)
        yield* RealServer.serve(server, { ...definition, spec: { ...definition.spec, names: ratchetNames } })
        const list = "/apis/check.example.com/v1/namespaces/default/ratchets"
        const body = { apiVersion: "check.example.com/v1", kind: "Ratchet", metadata: { name: "r" }, spec: tooMuch }
        const made = yield* server.request("POST", list, body)
        assert.strictEqual(made.code, 201, JSON.stringify(made.body))
        yield* server.request("PATCH", `${list}/r/status`, { status: { n: 50 } }, { contentType: RealServer.merge })
        const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ratchets.check.example.com"
        const versions = definitionOf("ratchets", ratcheted(10), true).spec.versions
        yield* server.request("PATCH", path, { spec: { versions } }, { contentType: RealServer.merge })
        // The new schema is in force once it refuses what is new.
        for (let tries = 0; ; tries++) {
          const probe = yield* server.request("POST", `${list}?dryRun=All`, { ...body, metadata: { name: "probe" } })
          if (probe.code === 422) break
          assert.isBelow(tries, 200, "the schema was not changed within 10 s")
          yield* Effect.sleep("50 millis")
        }
        const live = (yield* server.request("GET", `${list}/r`)).body
        for (const [part, patch] of ratchetPatches) {
          const status = part === "status"
          const real = yield* server.request("PATCH", `${list}/r${status ? "/status" : ""}?dryRun=All`, patch, {
            contentType: RealServer.merge
          })
          const next = mergePatch(live, patch)
          const causes = validate(
            ratcheted(10),
            next._tag === "Patched" ? next.value : undefined,
            live,
            status ? { subresource: "status" } : {}
          )
          assert.deepStrictEqual(sorted(causes), sorted(real.body.details?.causes), JSON.stringify(patch))
          assert.strictEqual(real.code, causes.length === 0 ? 200 : 422, JSON.stringify(real.body))
        }
      })
    )
  })
})

const ratchetNames = { plural: "ratchets", singular: "ratchet", kind: "Ratchet", listKind: "RatchetList" }

/** Numbers of every kind of place, up to a limit. */
const ratcheted = (maximum: number): Schema => {
  const n: Schema = { type: "integer", maximum }
  return {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          n,
          other: n,
          map: { type: "object", additionalProperties: n },
          list: { type: "array", items: n },
          set: { type: "array", items: n, "x-kubernetes-list-type": "set" },
          rows: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            items: { type: "object", required: ["k"], properties: { k: { type: "string" }, n } }
          },
          deep: { type: "object", properties: { deeper: { type: "object", properties: { n, m: n } } } }
        }
      },
      status: { type: "object", properties: { n, m: n } }
    }
  }
}

const tooMuch = {
  n: 50,
  map: { a: 50, b: 1 },
  list: [50, 1],
  set: [50, 1],
  rows: [
    { k: "a", n: 50 },
    { k: "b", n: 1 }
  ],
  deep: { deeper: { n: 50 } }
}

const ratchetPatches: ReadonlyArray<readonly ["main" | "status", any]> = [
  ["main", { metadata: { labels: { a: "b" } } }],
  ["main", { spec: { other: 1 } }],
  ["main", { spec: { n: 51 } }],
  ["main", { spec: { n: 5 } }],
  ["main", { spec: { map: { b: 2 } } }],
  ["main", { spec: { map: { c: 50 } } }],
  ["main", { spec: { map: { a: 51 } } }],
  ["main", { spec: { list: [50, 1, 2] } }],
  ["main", { spec: { list: [50, 1] } }],
  ["main", { spec: { set: [1, 50] } }],
  [
    "main",
    {
      spec: {
        rows: [
          { k: "b", n: 1 },
          { k: "a", n: 50 }
        ]
      }
    }
  ],
  [
    "main",
    {
      spec: {
        rows: [
          { k: "a", n: 50 },
          { k: "c", n: 50 }
        ]
      }
    }
  ],
  ["main", { spec: { rows: [{ k: "a", n: 51 }] } }],
  ["main", { spec: { deep: { deeper: { m: 1 } } } }],
  ["main", { spec: { deep: { deeper: { m: 50 } } } }],
  ["main", { spec: { deep: null } }],
  ["status", { status: { m: 1 } }],
  ["status", { status: { n: 51 } }],
  ["status", { status: { m: 50 } }]
]
