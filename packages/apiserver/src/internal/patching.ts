/** Merge patches of both kinds, JSON patches and server-side apply: from a live object and a body to an update or a create (F78 to F82, F86 to F110). */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { decode } from "./decode.ts"
import { keyOf } from "./definition.ts"
import { isObject, type JsonObject } from "./json.ts"
import * as ManagedFields from "./managedFields.ts"
import { jsonType } from "./objectMeta.ts"
import { jsonPatch, type JsonPatched, mergePatch } from "./patch.ts"
import * as Refusal from "./refusal.ts"
import type { Response } from "./request.ts"
import { scaleOf, scaleSchema, unset } from "./scaling.ts"
import { find, type Transaction } from "./state.ts"
import { remainsOf, strategicMerge } from "./strategicMerge.ts"
import {
  checkName,
  checkNamespace,
  createDecoded,
  decodeOptions,
  managing,
  placed,
  rescale,
  type Target,
  update,
  withVersionSaid
} from "./writing.ts"

const acceptedPatches = {
  custom:
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  builtIn: "415: Unsupported Media Type"
}

const jsonPatchLongest = 10_000

export const patch = (txn: Transaction, target: Target): Response => {
  const { definition, namespace, options, request } = target
  const name = request.name!
  const type = (request.contentType ?? "").split(";")[0]!.trim()
  if (type === "application/apply-patch+yaml") return apply(txn, target)
  const isStrategic = type === "application/strategic-merge-patch+json" && !definition.custom
  if (!isStrategic && type !== "application/merge-patch+json" && type !== "application/json-patch+json") {
    throw Refusal.unsupportedMediaType(definition.custom ? acceptedPatches.custom : acceptedPatches.builtIn)
  }
  if (options.force) {
    throw Refusal.invalidOptions(
      "PatchOptions",
      Refusal.fieldForbidden("force", "may not be specified for non-apply patch")
    )
  }
  const stored = find(txn.state, definition.resource, keyOf(namespace, name))
  if (stored === undefined) throw Refusal.notFound(definition, name)
  const live = definition.fromStorage(stored)
  if (type === "application/json-patch+json" && Array.isArray(request.body) && request.body.length > jsonPatchLongest) {
    throw Refusal.tooManyOperations(jsonPatchLongest, request.body.length)
  }
  const seen = request.subresource === "scale" ? scaleOf(live, definition.scale!, unset) : live
  const patched = isStrategic
    ? strategicMerge(request.subresource === "scale" ? scaleSchema : definition.schema, seen, request.body)
    : patchedBy(type === "application/merge-patch+json" ? mergePatch : jsonPatch, seen, request.body)
  if (request.subresource === "scale") return rescale(txn, target, live, patched)
  checkName({ metadata: isObject(patched.metadata) ? patched.metadata : {} } as unknown as KubeObject, name)
  const decoded = decode(
    txn,
    definition,
    patched,
    decodeOptions(target, { patched: true, ...(isStrategic && { strategic: remainsOf(request.body) }) })
  )
  return update(txn, target, live, placed(decoded, target), {})
}

const patchedBy = (
  apply: (target: unknown, patch: unknown) => JsonPatched,
  target: unknown,
  patch: unknown
): JsonObject => {
  const patched = apply(target, patch)
  if (patched._tag === "BadRequest") throw Refusal.badRequest(patched.message)
  if (patched._tag === "Rejected" || !isObject(patched.value)) throw Refusal.patchRejected()
  return patched.value
}

/** On these an apply of an empty value is never quiet (F104). */
const neverQuiet = ["labels", "annotations", "finalizers", "ownerReferences"] as const

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0)

const applyBody = ({ definition, request }: Target, isPresent: boolean): JsonObject => {
  const { body } = request
  if (!isObject(body)) {
    throw Refusal.badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonType(body)} into Go value of type map[string]interface {}`
    )
  }
  if (body.apiVersion !== definition.apiVersion || body.kind !== definition.kind) {
    const [version, kind] = [body.apiVersion, body.kind].map((u) => (typeof u === "string" ? u : ""))
    throw Refusal.badRequest(`invalid object type: ${version!.includes("/") ? "" : "/"}${version}, Kind=${kind}`)
  }
  const meta = isObject(body.metadata) ? body.metadata : {}
  if (Array.isArray(meta.managedFields)) throw Refusal.badRequest("metadata.managedFields must be nil")
  return {
    ...body,
    metadata: {
      ...meta,
      // Where there is no object yet, the body must name it.
      ...(isPresent && (meta.name === undefined || meta.name === null || meta.name === "") && { name: request.name! })
    }
  }
}

const apply = (txn: Transaction, target: Target): Response => {
  const { definition, namespace, options, request } = target
  const name = request.name!
  if (!options.managerGiven) {
    throw Refusal.invalidOptions("PatchOptions", Refusal.fieldRequired("fieldManager", "is required for apply patch"))
  }
  const stored = find(txn.state, definition.resource, keyOf(namespace, name))
  const body = applyBody(target, stored !== undefined)
  const sent = body.metadata as JsonObject
  const live = stored === undefined ? undefined : definition.fromStorage(stored)
  if (live === undefined && request.subresource !== undefined) throw Refusal.notFound(definition, name)
  const { resourceVersion, ...unversioned } = sent
  const result = ManagedFields.apply({
    ...managing(txn, target),
    live,
    applied: { ...body, metadata: unversioned },
    force: options.force
  })
  if (result._tag === "TypeError") throw Refusal.internal(result.message)
  if (result._tag === "Conflicts") throw Refusal.applyConflict(result.causes, result.message)
  const decoded = decode(txn, definition, result.object, decodeOptions(target, { applied: true }))
  checkName(decoded, name)
  if (live === undefined) {
    if (typeof sent.uid === "string" && sent.uid !== "") throw Refusal.uidOfNone(definition, name, sent.uid)
    checkNamespace(txn, definition, namespace, name)
    const made = createDecoded(txn, target, withVersionSaid(decoded, undefined), true)
    // What is not stored bears the version that was sent (F27).
    if (!options.dryRun || typeof resourceVersion !== "string") return made
    return { ...made, body: withVersionSaid(made.body as KubeObject, resourceVersion) }
  }
  const said =
    resourceVersion === undefined || resourceVersion === null ? live.metadata.resourceVersion : resourceVersion
  const always =
    definition.custom &&
    request.subresource === undefined &&
    neverQuiet.some((field) => isEmpty(sent[field]) && live.metadata[field] === undefined)
  return update(txn, target, live, withVersionSaid(placed(decoded, target), String(said)), { applied: true, always })
}
