/** Tables and bare metadata of the same objects, against a real API server. */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import type { Definition } from "../src/internal/definition.ts"
import { type IncludeObject, partialOf, tableOf, watchTables } from "../src/internal/table.ts"
import * as MemoryServer from "./memoryServer.ts"
import * as RealServer from "./realServer.ts"
import { samples } from "./tableCorpus.ts"

type Json = any

const n = "tables"
const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`

/** Without what two servers draw by chance or by the clock. */
const masked = (value: unknown): Json => {
  const text = JSON.stringify(value, (key, inner) => {
    // The real server adds it as it converts, after the metadata was taken.
    if (key === "annotations") return { ...inner, "deprecated.daemonset.template.generation": undefined }
    if (key === "uid" || key === "resourceVersion" || key === "continue") return "V"
    if (key === "time" || key === "creationTimestamp") return "T"
    return inner
  })
  return JSON.parse(
    text
      .replaceAll('"annotations":{},', "")
      .replaceAll(/"\d+(?:s|m\d+s|m)"/g, '"AGE"')
      .replaceAll(/"10\.0\.0\.\d+"/g, '"IP"')
      .replaceAll(/:3\d{4}\//g, ":PORT/")
      .replaceAll(/"20\d\d-[^"]*Z"/g, '"T"')
  )
}

const definitionOf = (memory: MemoryServer.MemoryServer, collection: string): Definition => {
  const parts = collection.split("/").filter((part) => part !== "" && part !== "api" && part !== "apis")
  const [group, version] = collection.startsWith("/api/") ? ["", parts[0]!] : [parts[0]!, parts[1]!]
  return memory.definition(group, version, parts.at(-1)!)
}

const column = (type: string, jsonPath: string, more: object = {}): Json => ({
  name: jsonPath,
  type,
  jsonPath,
  ...more
})

const paths = [
  ".spec.size",
  ".spec.ratio",
  ".spec.on",
  ".spec.word",
  ".spec.when",
  ".spec.rows",
  ".spec.map",
  ".spec.none",
  ".spec.missing.deep",
  ".metadata.name",
  ".metadata.labels.x",
  ".spec.rows[0].k",
  ".spec.rows[-1].k",
  ".spec.rows[9].k",
  ".spec.rows[*].k",
  ".spec.rows[0:2].k",
  ".spec.rows[0,1].k",
  '.spec.rows[?(@.k=="b")].v',
  ".spec.rows[?(@.v>1)].k",
  ".spec.rows[?(@.v)].k",
  ".spec.map['a']",
  ".spec.map.b\\\\.c",
  "..k",
  ".spec.word[0]"
]

const columnsCrd: Json = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "columns.tables.example.com" },
  spec: {
    group: "tables.example.com",
    scope: "Namespaced",
    names: { plural: "columns", singular: "column", kind: "Column", listKind: "ColumnList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        additionalPrinterColumns: ["string", "integer", "number", "boolean", "date"].flatMap((type) =>
          paths.map((path) => column(type, path, { priority: type === "date" ? 1 : 0 }))
        )
      }
    ]
  }
}

const specs: ReadonlyArray<Json> = [
  {},
  { only: "one" },
  { size: 3, ratio: 1.5, on: true, word: "text", when: "2020-01-01T00:00:00Z", none: null, rows: [], map: {} },
  {
    size: -3,
    ratio: 0.00001,
    on: false,
    word: "",
    when: "yesterday",
    rows: [
      { k: "a", v: 1 },
      { k: "b", v: 2 }
    ],
    map: { b: 1, a: "<&>", "b.c": [1, { z: 1, y: null }] }
  },
  { size: "3", ratio: 1e21, on: "true", word: 5, when: "", rows: { k: "a" }, map: [1, 2] }
]

const versionWith = (columns: ReadonlyArray<Json>, name = "v1"): Json => ({
  ...columnsCrd.spec.versions[0],
  name,
  storage: name === "v1",
  additionalPrinterColumns: columns
})

const refusedVersions: ReadonlyArray<ReadonlyArray<Json>> = [
  [versionWith([column("string", "spec.a")])],
  [versionWith([column("text", ".a"), column("", ".b")])],
  [versionWith([{ name: "", type: "string", jsonPath: "" }])],
  [versionWith([column("string", ".a", { format: "odd" })])],
  [versionWith([column("x", ".a")]), versionWith([column("x", ".a")], "v2")],
  [versionWith([column("x", ".a")]), versionWith([column("y", ".a")], "v2")]
]

describe.runIf(ControlPlane.available())("tables and a real API server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("show the same columns, cells and objects of every built-in kind (F50, F51)", () =>
      Effect.gen(function* () {
        const real = RealServer.make(yield* ControlPlane.ControlPlane)
        const memory = MemoryServer.make()
        const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: n } }
        yield* real.request("POST", "/api/v1/namespaces", space)
        const names = new Map<string, Array<string>>()
        for (const { body, collection, status } of samples(n)) {
          const { name } = body.metadata
          const made = yield* real.request("POST", collection, body)
          assert.strictEqual(made.code, 201, `${collection} ${name}: ${JSON.stringify(made.body)}`)
          names.set(collection, [...(names.get(collection) ?? []), name])
          if (status === undefined) continue
          const path = `${collection}/${name}/status`
          const patched = yield* real.request("PATCH", path, { status }, { contentType: RealServer.merge })
          assert.strictEqual(patched.code, 200, `${path}: ${JSON.stringify(patched.body)}`)
        }
        for (const [collection, own] of names) {
          const definition = definitionOf(memory, collection)
          for (const name of own) {
            const found = yield* real.request("GET", `${collection}/${name}`)
            for (const includeObject of ["Metadata", "Object", "None"] as ReadonlyArray<IncludeObject>) {
              const path = `${collection}/${name}`
              const theirs = yield* real.request("GET", `${path}?includeObject=${includeObject}`, undefined, {
                accept: as("Table")
              })
              const table = tableOf(definition, found.body, { includeObject, now: Date.now(), headers: true })
              assert.deepStrictEqual(masked(table), masked(theirs.body), `${path} ${includeObject}`)
            }
            const partial = yield* real.request("GET", `${collection}/${name}`, undefined, {
              accept: as("PartialObjectMetadata")
            })
            assert.deepStrictEqual(masked(partialOf(found.body)), masked(partial.body), `${collection}/${name}`)
          }
        }
      })
    )

    it.effect(
      "show the same columns and cells of custom resources, one by one, in pages and in watches (F50, F58, F138)",
      () =>
        Effect.gen(function* () {
          const real = RealServer.make(yield* ControlPlane.ControlPlane)
          const memory = MemoryServer.make()
          yield* RealServer.serve(real, columnsCrd)
          memory.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", columnsCrd)
          const collection = "/apis/tables.example.com/v1/namespaces/default/columns"
          for (const [i, spec] of specs.entries()) {
            const body = { apiVersion: "tables.example.com/v1", kind: "Column", metadata: { name: `c${i}` }, spec }
            yield* real.request("POST", collection, body)
            memory.request("POST", collection, body)
          }
          const definition = memory.definition("tables.example.com", "v1", "columns")
          const options = { includeObject: "Metadata", now: memory.now, headers: true } as const
          for (const query of ["", "?limit=2", "?labelSelector=none=x"]) {
            const theirs = yield* real.request("GET", `${collection}${query}`, undefined, { accept: as("Table") })
            const { body } = memory.request("GET", `${collection}${query}`)
            assert.deepStrictEqual(masked(tableOf(definition, body, options)), masked(theirs.body), query)
            const list = yield* real.request("GET", `${collection}${query}`, undefined, {
              accept: as("PartialObjectMetadataList")
            })
            assert.deepStrictEqual(masked(partialOf(body)), masked(list.body), query)
          }
          const watch = `${collection}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`
          const streamed = yield* real.request("GET", watch, undefined, { accept: as("Table") })
          const theirs = String(streamed.body)
            .trim()
            .split("\n")
            .slice(0, specs.length + 1)
          const table = watchTables(definition, { includeObject: "Metadata" })
          const ours = memory
            .initialEvents(watch)
            .map(({ object, type }) => ({ type, object: table(object, memory.now) }))
          assert.deepStrictEqual(
            ours.map(masked),
            theirs.map((line) => masked(JSON.parse(line)))
          )
        })
    )

    it.effect("refuse the same columns (F146)", () =>
      Effect.gen(function* () {
        const real = RealServer.make(yield* ControlPlane.ControlPlane)
        const memory = MemoryServer.make()
        const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for (const versions of refusedVersions) {
          const body = { ...columnsCrd, spec: { ...columnsCrd.spec, versions } }
          const theirs = yield* real.request("POST", `${crds}?dryRun=All`, body)
          const ours = memory.request("POST", `${crds}?dryRun=All`, body)
          const what = JSON.stringify(versions.map((version: Json) => version.additionalPrinterColumns))
          assert.strictEqual(theirs.code, 422, what)
          assert.deepStrictEqual([ours.code, ours.body.details], [theirs.code, theirs.body.details], what)
        }
      })
    )
  })
})
