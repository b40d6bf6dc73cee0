/** The schemas of what is served, as `kubectl explain`, `apply` and `diff` read them. */
import { assert, describe, it, layer } from "@effect/vitest"
import type { Resource } from "@fixpoint/core/KubeObject"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Documents from "../src/internal/documents.ts"
import * as Machine from "../src/internal/machine.ts"
import * as Wire from "../src/internal/protobufWire.ts"
import type { State } from "../src/internal/state.ts"
import { crd, crds, gadgets, specSchema, widgets } from "./fixtures.ts"
import * as RealServer from "./realServer.ts"

type Json = any

const at = { now: 0, seed: 1 }

const request = (state: State, method: "POST" | "PUT" | "DELETE", body: Json, name?: string): State => {
  const stepped = Machine.step(state, { ...at, ...crds, name, method, query: {}, body, userAgent: "test" })
  assert.isBelow(stepped.response.code, 300, JSON.stringify(stepped.response.body))
  return stepped.state
}

const group = "openapi.example.com"
/** Served by no other test, so that a control plane may be shared. */
const gizmos: Resource = { ...widgets, group, kind: "Gizmo", plural: "gizmos" }
const tools: Resource = { ...gadgets, group, kind: "Tool", plural: "tools" }
const eras: Resource = { ...gadgets, group: "eras.example.com", kind: "Era", plural: "eras", scope: "Cluster" }

const string = { type: "string" }

/** Every keyword that a schema may have. */
const keywords: Json = {
  type: "object",
  description: "Says <b>all</b> & more.\n\nIn two paragraphs.",
  required: ["text"],
  properties: {
    text: { ...string, title: "T", minLength: 1, maxLength: 5, pattern: "^a", format: "date", description: "" },
    none: { ...string, nullable: true, default: null },
    falsy: { type: "boolean", default: false, nullable: false },
    whole: {
      type: "integer",
      format: "int64",
      minimum: 0,
      maximum: 9,
      exclusiveMinimum: true,
      exclusiveMaximum: false
    },
    part: { type: "number", multipleOf: 0.5 },
    few: { type: "array", minItems: 0, maxItems: 3, items: string },
    set: { type: "array", items: string, "x-kubernetes-list-type": "set" },
    rows: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", required: ["k"], properties: { k: string, v: { type: "integer", default: 1 } } }
    },
    map: { type: "object", additionalProperties: { type: "integer" }, minProperties: 1, maxProperties: 2 },
    loose: { type: "object", additionalProperties: true },
    whatever: { "x-kubernetes-preserve-unknown-fields": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: string } },
    atomic: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: string } },
    port: { "x-kubernetes-int-or-string": true, description: "A port" },
    port2: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
    port3: { "x-kubernetes-int-or-string": true, allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }] },
    port4: { "x-kubernetes-int-or-string": true, anyOf: [{ pattern: "a" }], allOf: [{ pattern: "b" }] },
    choice: { ...string, enum: ["a", "b"], oneOf: [{ pattern: "a" }, { not: { maxLength: 3 } }] },
    empty: { type: "object", default: {} },
    pod: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    shaped: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      required: ["kind", "spec"],
      properties: { kind: string, spec: { type: "object", properties: { a: string } } }
    },
    ruled: {
      ...string,
      "x-kubernetes-validations": [{ rule: "self != 'x'", message: "not x", reason: "FieldValueInvalid" }]
    },
    among: { type: "object", properties: { a: string, b: string }, anyOf: [{ required: ["a"] }, { required: ["b"] }] }
  }
}

const scale = {
  specReplicasPath: ".spec.whole",
  statusReplicasPath: ".status.count",
  labelSelectorPath: ".status.phase"
}

const eraVersion = (name: string, schema: Json, storage = false): Json => ({
  name,
  storage,
  served: true,
  schema: { openAPIV3Schema: schema }
})

const eraCrd = (): Json => {
  const base: Json = crd(eras)
  const versions = [
    eraVersion(
      "v1",
      { type: "object", properties: { spec: { type: "object", properties: {} }, metadata: { type: "object" } } },
      true
    ),
    eraVersion("v1beta1", { type: "object", "x-kubernetes-preserve-unknown-fields": true }),
    eraVersion("v2", { type: "object", description: "The second.", properties: { apiVersion: string, kind: string } })
  ]
  return { ...base, spec: { ...base.spec, versions, names: { ...base.spec.names, listKind: "EraBook" } } }
}

const definitions: ReadonlyArray<Json> = [
  crd(gizmos, { spec: keywords, extra: { subresources: { status: {}, scale } } }),
  crd(tools, { status: false, spec: specSchema }),
  eraCrd()
]

const world = (): State => definitions.reduce((state, one) => request(state, "POST", one), Machine.boot(at))

const get = (state: State, url: string, accept?: string): Effect.Effect<Documents.Document | undefined> => {
  const [path = "", hash] = url.split("?hash=")
  return Documents.documentAt(state, { path, accept, query: { hash } })
}

const read = (state: State, url: string): Effect.Effect<Json> =>
  Effect.map(get(state, url), (found) => {
    assert.strictEqual(found?.code, 200, url)
    return typeof found!.body === "string" ? JSON.parse(found!.body) : found!.body
  })

/** The fields of a message that say their length. */
const fieldsOf = (cursor: Wire.Cursor): ReadonlyArray<readonly [number, Wire.Cursor]> => {
  const fields: Array<readonly [number, Wire.Cursor]> = []
  while (cursor.at < cursor.end) {
    const tag = Wire.readTag(cursor, "Document")
    if ((tag & 7) === Wire.delimited) fields.push([tag >>> 3, Wire.readDelimited(cursor)])
    else Wire.skip(cursor, tag)
  }
  return fields
}

describe("the documents of schemas", () => {
  it.effect("each document is found under the name that the index gives it, and moved there from an older one", () =>
    Effect.gen(function* () {
      const state = world()
      const { paths } = yield* read(state, "/openapi/v3")
      assert.include(Object.keys(paths), "api/v1")
      for (const [path, { serverRelativeURL }] of Object.entries<Json>(paths)) {
        const document = (yield* get(state, serverRelativeURL))!
        assert.strictEqual(document.code, 200, path)
        assert.include(document.cacheControl, "immutable")
        assert.include(serverRelativeURL, document.etag!.slice(1, -1))
        const plain = (yield* get(state, `/openapi/v3/${path}`))!
        assert.strictEqual(plain.body, document.body)
        assert.notInclude(plain.cacheControl, "immutable")
        const old = (yield* get(state, `/openapi/v3/${path}?hash=OLD`))!
        assert.deepStrictEqual([old.code, old.location], [301, serverRelativeURL])
      }
    })
  )

  it.effect("a document has another name once its kinds have another schema, and the others keep theirs", () =>
    Effect.gen(function* () {
      const state = world()
      const before = (yield* read(state, "/openapi/v3")).paths
      const name = `${tools.plural}.${group}`
      yield* read(state, `/openapi/v3/apis/${group}/v1`)
      const stored = Machine.step(state, { ...at, ...crds, name, method: "GET", query: {}, userAgent: "test" }).response
      const changed = structuredClone(stored.body) as Json
      changed.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.description = "How large"
      const next = request(state, "PUT", changed, name)
      const after = (yield* read(next, "/openapi/v3")).paths
      assert.deepStrictEqual(
        Object.keys(after).filter((path) => after[path].serverRelativeURL !== before[path].serverRelativeURL),
        [`apis/${group}/v1`]
      )
      const { schemas } = (yield* read(next, `/openapi/v3/apis/${group}/v1`)).components
      assert.strictEqual(
        schemas["com.example.openapi.v1.Tool"].properties.spec.properties.size.description,
        "How large"
      )
    })
  )

  it.effect("a kind that is gone has no document, and another form than JSON is refused", () =>
    Effect.gen(function* () {
      const state = request(world(), "DELETE", undefined, `${eras.plural}.${eras.group}`)
      assert.strictEqual((yield* get(state, `/openapi/v3/apis/${eras.group}/v1`))?.code, 404)
      assert.isUndefined((yield* read(state, "/openapi/v3")).paths[`apis/${eras.group}/v1`])
      const binary = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
      assert.strictEqual((yield* get(state, "/openapi/v3/api/v1", binary))?.code, 406)
      assert.strictEqual((yield* get(state, "/openapi/v3/api/v1", `${binary}, application/json;q=0.5`))?.code, 200)
      assert.strictEqual((yield* get(state, "/openapi/v2", "text/html"))?.code, 406)
    })
  )

  it.effect("the older form says in binary what it says in JSON", () =>
    Effect.gen(function* () {
      const state = world()
      const { definitions: schemas } = yield* read(state, "/openapi/v2")
      const found = (yield* get(state, "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"))!
      assert.strictEqual(found.contentType, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
      const [, , , all] = fieldsOf(Wire.cursorOf(found.body as Uint8Array))
      const binary = new Map(
        fieldsOf(all![1]).map(([, entry]) => {
          const [name, schema] = fieldsOf(entry)
          return [Wire.restAsText(name![1]), fieldsOf(schema![1])]
        })
      )
      assert.sameMembers([...binary.keys()], Object.keys(schemas))
      for (const [name, fields] of binary) {
        const texts = (field: number): ReadonlyArray<string> =>
          fields.filter(([at]) => at === field).map(([, value]) => Wire.restAsText(value))
        const { description, properties = {}, required = [] } = schemas[name]
        assert.deepStrictEqual(texts(4), description === undefined ? [] : [description], name)
        assert.deepStrictEqual(texts(19), required, name)
        const members = fields.find(([at]) => at === 25)
        const names = members === undefined ? [] : fieldsOf(members[1]).map(([, one]) => fieldsOf(one)[0]![1])
        assert.deepStrictEqual(names.map(Wire.restAsText), Object.keys(properties), name)
      }
    })
  )

  it.effect("no document refers to a schema that it does not have", () =>
    Effect.gen(function* () {
      const state = world()
      for (const path of Object.keys((yield* read(state, "/openapi/v3")).paths)) {
        const document = yield* read(state, `/openapi/v3/${path}`)
        for (const [, name] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g))
          assert.property(document.components.schemas, name!, path)
      }
    })
  )
})

const reached = (schemas: Json, from: ReadonlyArray<string>): ReadonlySet<string> => {
  const seen = new Set<string>()
  const open = [...from]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const text = JSON.stringify(schemas[name])
    for (const [, next] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) open.push(next!)
  }
  return seen
}

/** With the custom kinds of these tests. */
const serving = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = RealServer.make(yield* ControlPlane.ControlPlane)
    for (const definition of definitions) yield* RealServer.serve(server, definition)
  })
).pipe(Layer.provideMerge(SharedControlPlane.layer))

describe.runIf(ControlPlane.available())("the documents and a real API server", () => {
  layer(serving, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("agree word for word on custom kinds", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        const state = world()
        for (const path of [`${group}/v1`, "v1", "v1beta1", "v2"].map((v) =>
          v.includes("/") ? v : `${eras.group}/${v}`
        )) {
          const own = yield* read(state, `/openapi/v3/apis/${path}`)
          let real = yield* server.request("GET", `/openapi/v3/apis/${path}`)
          // The real server enters one definition after another.
          for (
            let tries = 0;
            tries < 100 && Object.keys(real.body.paths ?? {}).length < Object.keys(own.paths).length;
            tries++
          ) {
            yield* Effect.sleep("50 millis")
            real = yield* server.request("GET", `/openapi/v3/apis/${path}`)
          }
          assert.deepStrictEqual(real.body, own, path)
        }
      })
    )

    it.effect("agree word for word on all schemas in the older form", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        const own = yield* read(world(), "/openapi/v2")
        const names = Object.keys(own.definitions)
        let real: Json
        // What is said of everything is gathered once in a while.
        for (let tries = 0; tries < 200; tries++) {
          real = (yield* server.request("GET", "/openapi/v2")).body
          if (names.every((name) => real.definitions[name] !== undefined)) break
          yield* Effect.sleep("100 millis")
        }
        for (const [name, schema] of Object.entries<Json>(own.definitions)) {
          const kinds = "x-kubernetes-group-version-kind"
          const registered = (schema[kinds] ?? []).length > 1 ? { [kinds]: real.definitions[name][kinds] } : {}
          assert.deepStrictEqual({ ...schema, ...registered }, real.definitions[name], name)
        }
      })
    )

    it.effect("agree word for word on the schemas of built-in kinds and on what their patches take", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        const state = Machine.boot(at)
        const paths = Object.keys((yield* read(state, "/openapi/v3")).paths)
        assert.isAbove(paths.length, 10)
        for (const path of paths) {
          const own = yield* read(state, `/openapi/v3/${path}`)
          const real = (yield* server.request("GET", `/openapi/v3/${path}`)).body
          const { schemas } = own.components
          for (const [name, schema] of Object.entries(schemas))
            assert.deepStrictEqual(schema, real.components.schemas[name], `${path} ${name}`)
          for (const name of reached(real.components.schemas, Object.keys(schemas)))
            assert.property(schemas, name, path)
          assert.deepStrictEqual(own.info, real.info)
          for (const [at, { patch, post }] of Object.entries<Json>(own.paths)) {
            assert.deepStrictEqual(patch?.parameters, real.paths[at].patch?.parameters, at)
            assert.deepStrictEqual(patch?.requestBody, real.paths[at].patch?.requestBody, at)
            assert.strictEqual(patch?.operationId, real.paths[at].patch?.operationId, at)
            assert.strictEqual(post?.operationId, real.paths[at].post?.operationId, at)
            const kind = "x-kubernetes-group-version-kind"
            assert.deepStrictEqual(patch?.[kind], real.paths[at].patch?.[kind], at)
          }
        }
      })
    )
  })
})
