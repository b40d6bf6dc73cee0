/**
 * The other faces of an answer: the Table that kubectl prints, and PartialObjectMetadata (F50, F51). A Status stays one.
 *
 * Guarantees: no answer is changed; what an object bears in a row is shared with it.
 */
import type { Status } from "@fixpoint/core/ApiError"
import type { KubeObject, ObjectMeta } from "@fixpoint/core/KubeObject"
import type { Definition, TableColumn, TableRow } from "./definition.ts"
import { isList, type JsonObject } from "./json.ts"
import { scalePrinter } from "./printerColumns.ts"
import { isStatus } from "./request.ts"
import type { Bookmark } from "./watching.ts"

/** The form of meta.k8s.io that was asked for. */
export type MetaVersion = "v1" | "v1beta1"

export interface Table {
  readonly kind: "Table"
  readonly apiVersion: `meta.k8s.io/${MetaVersion}`
  readonly metadata: ListMeta
  /** Null without headers. */
  readonly columnDefinitions: ReadonlyArray<TableColumn> | null
  readonly rows: ReadonlyArray<Row> | null
}

interface ListMeta {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface Row extends TableRow {
  readonly object: KubeObject | PartialObjectMetadata | null
}

export interface PartialObjectMetadata {
  readonly kind: "PartialObjectMetadata"
  readonly apiVersion: `meta.k8s.io/${MetaVersion}`
  readonly metadata: ObjectMeta
}

export interface PartialObjectMetadataList {
  readonly kind: "PartialObjectMetadataList"
  readonly apiVersion: `meta.k8s.io/${MetaVersion}`
  readonly metadata: ListMeta
  /** Null if there are none. */
  readonly items: ReadonlyArray<PartialObjectMetadata> | null
}

/** What a row bears of its object. The server's default is the metadata. */
export type IncludeObject = "None" | "Metadata" | "Object"

export interface TableOptions {
  readonly includeObject: IncludeObject
  /** From which ages are reckoned, in milliseconds since 1970. */
  readonly now: number
  /** Whether columnDefinitions are wanted: only in the first event of a watch. */
  readonly headers: boolean
  /** Default: v1. */
  readonly version?: MetaVersion
}

/** One object, list or bookmark, as an answer or an event bears it. */
export type Body = KubeObject | JsonObject | Bookmark

const itemsOf = (body: Body): ReadonlyArray<KubeObject> | undefined => {
  const { items, kind } = body as { readonly items?: unknown; readonly kind?: unknown }
  return typeof kind === "string" && kind.endsWith("List") && isList(items)
    ? (items as ReadonlyArray<KubeObject>)
    : undefined
}

/** Of a list it is the list's, of an object only the version. What is empty is left out. */
const listMeta = (body: Body, isListed: boolean): ListMeta => {
  const { continue: token, remainingItemCount, resourceVersion } = (body.metadata ?? {}) as ListMeta
  return {
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(isListed && token !== undefined && token !== "" && { continue: token }),
    ...(isListed && remainingItemCount !== undefined && { remainingItemCount })
  }
}

const partial = ({ metadata }: KubeObject, version: MetaVersion): PartialObjectMetadata => ({
  kind: "PartialObjectMetadata",
  apiVersion: `meta.k8s.io/${version}`,
  metadata
})

/** Bookmarks that end the initial events bear their metadata always: it tells what they are. */
const endsInitialEvents = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.["k8s.io/initial-events-end"] === "true"

/** The Table of an answer or of the object of an event, columns of all priorities; a Status as it is. */
export const tableOf = (definition: Definition, body: Body | Status, options: TableOptions): Table | Status => {
  if (isStatus(body)) return body
  const { headers, includeObject, now, version = "v1" } = options
  const items = itemsOf(body)
  const isScale = body.kind === "Scale" && body.apiVersion === "autoscaling/v1"
  const printer = isScale ? scalePrinter : definition.printer
  const objects = items ?? [body as KubeObject]
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: listMeta(body, items !== undefined),
    columnDefinitions: headers ? printer.columns : null,
    rows:
      objects.length === 0 && printer.nullWhenEmpty === true
        ? null
        : objects.map((object) => ({
            ...printer.row(object, now),
            object:
              includeObject === "Object" && !endsInitialEvents(object)
                ? object
                : includeObject === "None" && !endsInitialEvents(object)
                  ? null
                  : partial(object, version)
          }))
  }
}

/** The Tables of one watch, an event after the other: one row each, the columns in the first alone. */
export const watchTables = (
  definition: Definition,
  options: Omit<TableOptions, "headers" | "now">
): ((object: Body | Status, now: number) => Table | Status) => {
  let headers = true
  return (object, now) => {
    const table = tableOf(definition, object, { ...options, now, headers })
    headers = false
    return table
  }
}

/** The metadata alone, of an object or of each of a list; a Status as it is. */
export const partialOf = (
  body: Body | Status,
  version: MetaVersion = "v1"
): PartialObjectMetadata | PartialObjectMetadataList | Status => {
  if (isStatus(body)) return body
  const items = itemsOf(body)
  if (items === undefined) return partial(body as KubeObject, version)
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: listMeta(body, true),
    items: items.length === 0 ? null : items.map((item) => partial(item, version))
  }
}
