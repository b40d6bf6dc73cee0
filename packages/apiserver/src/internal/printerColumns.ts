/** Printer columns of custom resources: what a CRD may say of them, and the cells that they make (F50, F138). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { Printer, TableColumn } from "./definition.ts"
import { age } from "./humanDuration.ts"
import { goNumber, sorted } from "./goText.ts"
import { equals, goJson, isList, isObject, type JsonObject } from "./json.ts"
import { evaluate, type JsonPath, parse } from "./jsonPath.ts"
import { fieldInvalid, fieldRequired } from "./refusal.ts"

const nameDescription =
  "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"

const createdDescription =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"

const nameColumn: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: nameDescription,
  priority: 0
}

const text = (u: unknown): string => (typeof u === "string" ? u : "")

/** Where a version names no columns. */
const ageColumn: JsonObject = {
  name: "Age",
  type: "date",
  description: createdDescription,
  jsonPath: ".metadata.creationTimestamp"
}

const columnsIn = (columns: unknown): ReadonlyArray<JsonObject> => (isList(columns) ? columns.filter(isObject) : [])

/** From `additionalPrinterColumns` of a version. A path that the server cannot read ends the columns. */
export const printerOf = (additional: unknown): Printer => {
  const said = columnsIn(additional)
  const columns: Array<TableColumn> = [nameColumn]
  const paths: Array<{ readonly type: string; readonly path: JsonPath }> = []
  for (const column of said.length === 0 ? [ageColumn] : said) {
    const path = parse(text(column.jsonPath))
    if (path === undefined) break
    const type = text(column.type)
    paths.push({ type, path })
    columns.push({
      name: text(column.name),
      type,
      format: text(column.format),
      description:
        text(column.description) || `Custom resource definition column (in JSONPath format): ${text(column.jsonPath)}`,
      priority: typeof column.priority === "number" ? column.priority : 0
    })
  }
  return {
    columns,
    row: (object, now) => ({
      cells: [object.metadata.name ?? "", ...paths.map(({ path, type }) => cellOf(type, path, object, now))]
    })
  }
}

const cellOf = (type: string, path: JsonPath, object: KubeObject, now: number): unknown => {
  const found = evaluate(path, object)
  if (found === undefined || found.length === 0) return null
  const [value] = found
  if (type === "string") return textOf(value)
  if (value === null) return null
  switch (type) {
    case "integer":
      return typeof value === "number" ? wholeOf(value) : null
    case "number":
      return typeof value === "number" ? value : null
    case "boolean":
      return typeof value === "boolean" ? value : null
    case "date":
      return typeof value === "string" ? age(value, now) : null
  }
  return null
}

/** As Go makes an int64 of it: what does not fit is the smallest. */
const wholeOf = (value: number): number => (Math.abs(value) < 2 ** 63 ? Math.trunc(value) : -(2 ** 63))

/** Lists and objects as JSON, numbers as Go prints them. */
const textOf = (value: unknown): string => {
  if (value === null) return "<no value>"
  if (typeof value === "number") return goNumber(value)
  return typeof value === "object" ? goJson(sorted(value)) : String(value)
}

const types = ["boolean", "date", "integer", "number", "string"]
const formats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"]

/** What the server has against the columns of all versions: those that they share are told of once. Whether a path can be read it does not ask. */
export const printerCauses = ([first, ...others]: ReadonlyArray<unknown>): ReadonlyArray<StatusCause> =>
  others.every((columns) => equals(columns, first))
    ? columnCauses(first, "spec.additionalPrinterColumns")
    : [first, ...others].flatMap((columns, i) => columnCauses(columns, `spec.versions[${i}].additionalPrinterColumns`))

const columnCauses = (columns: unknown, where: string): ReadonlyArray<StatusCause> =>
  columnsIn(columns).flatMap((column, i) => {
    const at = `${where}[${i}]`
    const [name, type, format, path] = [column.name, column.type, column.format, column.jsonPath].map(text)
    const oneOf = (names: ReadonlyArray<string>): string => `must be one of ${names.join(",")}`
    return [
      ...(name === "" ? [fieldRequired(`${at}.name`)] : []),
      ...(type === ""
        ? [fieldRequired(`${at}.type`, oneOf(types))]
        : types.includes(type!)
          ? []
          : [fieldInvalid(`${at}.type`, type, oneOf(types))]),
      ...(format === "" || formats.includes(format!) ? [] : [fieldInvalid(`${at}.format`, format, oneOf(formats))]),
      ...(path === ""
        ? [fieldRequired(`${at}.JSONPath`)]
        : path!.startsWith(".")
          ? []
          : [fieldInvalid(`${at}.JSONPath`, path, "must be a simple json path starting with .")])
    ]
  })

/** What the server shows of kinds for which nobody wrote a printer. */
export const plainPrinter: Printer = {
  columns: [nameColumn, { name: "Created At", type: "date", format: "", description: createdDescription, priority: 0 }],
  row: ({ metadata }) => ({ cells: [metadata.name ?? "", metadata.creationTimestamp ?? null] }),
  nullWhenEmpty: true
}

/** Of the scale subresource: here beside the default columns, whose descriptions it shares. */
export const scalePrinter: Printer = {
  columns: [
    nameColumn,
    { name: "Desired", type: "integer", format: "", description: "Number of desired replicas", priority: 0 },
    { name: "Available", type: "integer", format: "", description: "Number of actual replicas", priority: 0 },
    { name: "Age", type: "date", format: "", description: createdDescription, priority: 0 }
  ],
  row: (scale, now) => {
    const { spec, status } = scale as { readonly spec?: JsonObject; readonly status?: JsonObject }
    return {
      cells: [
        scale.metadata.name ?? "",
        spec?.replicas ?? 0,
        status?.replicas ?? 0,
        age(scale.metadata.creationTimestamp, now)
      ]
    }
  }
}
