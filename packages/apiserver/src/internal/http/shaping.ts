/** The forms of meta.k8s.io that a client may ask for instead of the object: Tables and bare metadata (F50, F51). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { Definition } from "../definition.ts"
import { isList, type JsonObject } from "../json.ts"
import * as Refusal from "../refusal.ts"
import { isStatus, type Request, type Response } from "../request.ts"
import { type IncludeObject, partialOf, tableOf } from "../table.ts"
import type { Form } from "./accept.ts"

type Query = Request["query"]

const includes: ReadonlySet<string> = new Set(["", "None", "Metadata", "Object"])

const includeOf = ({ includeObject = "" }: Query): IncludeObject => {
  if (!includes.has(includeObject)) {
    throw Refusal.badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(includeObject)}: must be 'Metadata', 'Object', 'None', or empty`
    )
  }
  return includeObject === "" ? "Metadata" : (includeObject as IncludeObject)
}

/** As Go names the type, of an object or, with the suffix, of a list. */
const goType = ({ custom, group, kind }: Definition, suffix: "" | "List"): string =>
  custom ? `*unstructured.Unstructured${suffix}` : `*${group === "" ? "core" : group.split(".", 1)[0]}.${kind}${suffix}`

/** The answer in the form that was asked for. Throws a Refusal where it has none such. */
export const shapeAnswer = (
  definition: Definition | undefined,
  response: Response,
  { as, version = "v1" }: Form,
  query: Query,
  now: number
): Response => {
  const { body } = response
  if (as === undefined || definition === undefined || response.code >= 400 || typeof body === "string") return response
  if (isStatus(body)) return response
  const { bareItems: _, ...rest } = response
  const object = body as KubeObject | JsonObject
  if (as === "Table") {
    return {
      ...rest,
      body: tableOf(definition, object, { includeObject: includeOf(query), now, headers: true, version })
    }
  }
  const listed = isList((object as JsonObject).items)
  if (listed && as === "PartialObjectMetadata") {
    throw Refusal.notAcceptable(
      `you requested PartialObjectMetadata, but the requested object is a list (${goType(definition, "List")})`
    )
  }
  if (!listed && as === "PartialObjectMetadataList") {
    throw definition.custom
      ? Refusal.internal("content is not a list")
      : Refusal.notAcceptable(
          `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(definition, "")})`
        )
  }
  return { ...rest, body: partialOf(object, version) }
}

/** How a watch shows the objects of its events. */
export interface Shown {
  /** Tells apart the forms that one line serves. */
  readonly name: string
  /** Only the first event of a watch of Tables has columns. */
  readonly shape: (definition: Definition, object: unknown, first: boolean) => unknown
}

/** Throws a Refusal where there is no such form. */
export const shapeEvents = ({ as, version = "v1" }: Form, query: Query, now: () => number): Shown => {
  if (as === undefined) return { name: "", shape: (_, object) => object }
  if (as !== "Table")
    return { name: `metadata ${version}`, shape: (_, object) => partialOf(object as KubeObject, version) }
  const includeObject = includeOf(query)
  return {
    name: `Table ${includeObject} ${version}`,
    shape: (definition, object, headers) =>
      tableOf(definition, object as KubeObject, { includeObject, now: now(), headers, version })
  }
}
