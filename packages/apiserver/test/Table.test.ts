import type { KubeObject } from "@fixpoint/core/KubeObject"
import { assert, describe, it } from "@effect/vitest"
import { definitionsOf } from "../src/internal/customResources.ts"
import { humanDuration } from "../src/internal/humanDuration.ts"
import { partialOf, type Table, tableOf, watchTables } from "../src/internal/table.ts"
import { crd, widgets } from "./fixtures.ts"

const now = Date.parse("2026-11-30T12:00:00Z")

const definition = (extra: object = {}) => definitionsOf(crd(widgets, { extra }) as KubeObject)!.storage

const widget = (content: object = {}, name = "w"): KubeObject => ({
  apiVersion: "facts.example.com/v1",
  kind: "Widget",
  metadata: { name, namespace: "default", uid: "u", resourceVersion: "7", creationTimestamp: "2026-11-30T11:55:30Z" },
  ...content
})

const options = { includeObject: "Metadata", now, headers: true } as const

const cellsOf = (columns: ReadonlyArray<object>, object: KubeObject): ReadonlyArray<unknown> => {
  const table = tableOf(definition({ additionalPrinterColumns: columns }), object, options) as Table
  return table.rows![0]!.cells
}

describe("tables", () => {
  it("a CRD without columns shows Name and Age (F50)", () => {
    const table = tableOf(definition(), widget(), options) as Table
    assert.deepStrictEqual(
      table.columnDefinitions?.map(({ format, name, type }) => [name, type, format]),
      [
        ["Name", "string", "name"],
        ["Age", "date", ""]
      ]
    )
    assert.deepStrictEqual(table.rows?.[0]?.cells, ["w", "4m30s"])
    assert.deepStrictEqual(table.metadata, { resourceVersion: "7" })
  })

  it("named columns stand alone: numbers, dates, lists as JSON, null for what is missing or of another type (F138)", () => {
    const column = (type: string, jsonPath: string): object => ({ name: jsonPath, type, jsonPath })
    const object = widget({
      spec: {
        size: 1.5,
        on: true,
        when: "2020-01-01T00:00:00Z",
        rows: [{ k: "<", b: 1 }],
        no: null,
        big: 1e21,
        tiny: 0.00001
      }
    })
    const columns: ReadonlyArray<readonly [string, string, unknown]> = [
      ["integer", ".spec.size", 1],
      ["number", ".spec.size", 1.5],
      ["string", ".spec.size", "1.5"],
      ["string", ".spec.big", "1e+21"],
      ["string", ".spec.tiny", "1e-05"],
      ["boolean", ".spec.on", true],
      ["boolean", ".spec.size", null],
      ["integer", ".spec.on", null],
      ["string", ".spec.on", "true"],
      ["date", ".spec.when", "6y335d"],
      ["date", ".spec.size", null],
      ["date", ".metadata.name", "<invalid>"],
      ["string", ".spec.rows", '[{"b":1,"k":"\\u003c"}]'],
      ["string", ".spec.rows[0].k", "<"],
      ["string", ".spec.rows[-1].k", "<"],
      ["string", ".spec.rows[1].k", null],
      ["string", ".spec.rows[?(@.b==1)].k", "<"],
      ["string", ".spec.rows[?(@.b>1)].k", null],
      ["string", ".spec.rows[*].b", "1"],
      ["string", ".spec['size']", "1.5"],
      ["string", "..k", "<"],
      ["string", ".spec.none.deeper", null],
      ["integer", ".spec.no", null]
    ]
    for (const [type, jsonPath, cell] of columns) {
      assert.deepStrictEqual(cellsOf([column(type, jsonPath)], object), ["w", cell], `${type} ${jsonPath}`)
    }
  })

  it("a row bears the metadata, the object or nothing, as asked, but the end of the initial events is always told (F50, F67)", () => {
    const object = widget()
    const row = (includeObject: "None" | "Metadata" | "Object", of = object): unknown =>
      (tableOf(definition(), of, { ...options, includeObject }) as Table).rows![0]!.object
    assert.strictEqual(row("Object"), object)
    assert.isNull(row("None"))
    assert.deepStrictEqual(row("Metadata"), {
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: object.metadata
    })
    const end = {
      ...object,
      metadata: { annotations: { "k8s.io/initial-events-end": "true" } }
    } as unknown as KubeObject
    assert.propertyVal(row("None", end), "kind", "PartialObjectMetadata")
  })

  it("a list keeps its version, its token and what remains, and an empty one has no rows (F42, F50)", () => {
    const list = (items: ReadonlyArray<KubeObject>, metadata: object) => ({
      kind: "WidgetList",
      apiVersion: "facts.example.com/v1",
      metadata,
      items
    })
    const cut = { resourceVersion: "9", continue: "t", remainingItemCount: 3 }
    const table = tableOf(definition(), list([widget(), widget({}, "x")], cut), options) as Table
    assert.deepStrictEqual(table.metadata, cut)
    assert.deepStrictEqual(
      table.rows?.map(({ cells }) => cells[0]),
      ["w", "x"]
    )
    const whole = tableOf(definition(), list([], { resourceVersion: "9", continue: "" }), options) as Table
    assert.deepStrictEqual([whole.metadata, whole.rows], [{ resourceVersion: "9" }, []])
    assert.deepStrictEqual(partialOf(list([widget()], cut), "v1beta1"), {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1beta1",
      metadata: cut,
      items: [{ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1beta1", metadata: widget().metadata }]
    })
  })

  it("only the first event of a watch bears the columns (F58)", () => {
    const table = watchTables(definition(), { includeObject: "Metadata" })
    const events = [table(widget(), now), table(widget(), now)] as ReadonlyArray<Table>
    assert.deepStrictEqual(
      events.map(({ columnDefinitions, rows }) => [columnDefinitions?.length, rows?.length]),
      [
        [2, 1],
        [undefined, 1]
      ]
    )
  })

  it("a Status stays a Status (F50)", () => {
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 } as never
    assert.strictEqual(tableOf(definition(), status, options), status)
    assert.strictEqual(partialOf(status), status)
  })

  it("a duration keeps two or three figures, and forgives a clock that is ahead by less than 2 s (F138)", () => {
    const [s, m, h, d] = [1e3, 60e3, 3600e3, 86_400e3]
    const table: ReadonlyArray<readonly [number, string]> = [
      [-2 * s, "<invalid>"],
      [-1.9 * s, "0s"],
      [119.9 * s, "119s"],
      [2 * m, "2m"],
      [9 * m + 59 * s, "9m59s"],
      [179 * m, "179m"],
      [3 * h, "3h"],
      [7 * h + 59 * m, "7h59m"],
      [47 * h, "47h"],
      [2 * d, "2d"],
      [7 * d + 23 * h, "7d23h"],
      [729 * d, "729d"],
      [730 * d, "2y"],
      [731 * d, "2y1d"],
      [2920 * d, "8y"]
    ]
    for (const [millis, text] of table) assert.strictEqual(humanDuration(millis), text)
  })
})
