/**
 * The annotation in which `kubectl apply` keeps what it applied last, for as long as a user of it may still come over to server-side apply: its apply takes
 * over what the annotation says, and keeps the annotation up to date. Both are for the manager `kubectl` alone.
 */
import * as FieldMerge from "./fieldMerge.ts"
import * as FieldSet from "./fieldSet.ts"
import type { FieldType } from "./fieldType.ts"
import { fieldsOf, misfits } from "./fieldTyping.ts"
import { sorted } from "./goText.ts"
import { goJson, isObject, type JsonObject, withEntry, withoutEntry } from "./json.ts"
import { annotationBytes, annotationBytesMost } from "./objectMeta.ts"

/** The only manager that this concerns. */
export const manager = "kubectl"

const annotation = "kubectl.kubernetes.io/last-applied-configuration"

const annotationsOf = (object: JsonObject): JsonObject | undefined => {
  const annotations = isObject(object.metadata) ? object.metadata.annotations : undefined
  return isObject(annotations) ? annotations : undefined
}

const textOf = (object: JsonObject): string => {
  const text = annotationsOf(object)?.[annotation]
  return typeof text === "string" ? text : ""
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields that the annotation says were applied, and that still are as they were: whoever owns them besides does not mind. */
export const undisputed = (type: FieldType, live: JsonObject): FieldSet.FieldSet => {
  const last = parsed(textOf(live))
  if (!isObject(last) || last.apiVersion !== live.apiVersion) return FieldSet.empty
  if (misfits(type, last, true) !== undefined) return FieldSet.empty
  const { added, modified, removed } = FieldMerge.compare(type, last, live)
  return [added, modified, removed].reduce(FieldSet.difference, fieldsOf(type, last))
}

const withAnnotations = (object: JsonObject, annotations: JsonObject): JsonObject =>
  withEntry(object, "metadata", withEntry(object.metadata as JsonObject, "annotations", annotations))

/** The object with what is applied now in its annotation, if it has the annotation at all. One that grows too long goes. */
export const refreshed = (object: JsonObject, applied: JsonObject): JsonObject => {
  const annotations = annotationsOf(object)
  if (annotations === undefined || textOf(object) === "") return object
  const own = annotationsOf(applied)
  const config = own === undefined ? applied : withAnnotations(applied, withoutEntry(own, annotation))
  const next = withEntry(annotations, annotation, `${goJson(sorted(config))}\n`)
  return withAnnotations(
    object,
    annotationBytes({ annotations: next as Readonly<Record<string, string>> }) > annotationBytesMost
      ? withoutEntry(annotations, annotation)
      : next
  )
}
