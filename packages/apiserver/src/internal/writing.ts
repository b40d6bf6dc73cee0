/** Create and replace, and what every change of an object goes through: from a decoded request to a stored object (F1 to F33, F70 to F77, F85). */
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from "@fixpoint/core/KubeObject"
import { decode, type DecodeOptions, type FieldValidation } from "./decode.ts"
import { keyOf, type Definition } from "./definition.ts"
import * as Deleting from "./deleting.ts"
import { equals, isObject } from "./json.ts"
import * as ManagedFields from "./managedFields.ts"
import * as Refusal from "./refusal.ts"
import type { Request, Response } from "./request.ts"
import { commit, definitionAt, find, type Transaction } from "./state.ts"
import * as Scaling from "./scaling.ts"
import * as Validation from "./validation.ts"

/** The options of a write, read from the query. */
export interface WriteOptions {
  readonly manager: string
  readonly managerGiven: boolean
  readonly dryRun: boolean
  readonly fieldValidation: FieldValidation
  readonly force: boolean
}

export interface Target {
  readonly definition: Definition
  readonly namespace: string | undefined
  readonly request: Request
  readonly options: WriteOptions
}

const answer = (txn: Transaction, code: number, body: unknown): Response => ({ code, body, warnings: txn.warnings })

export const decodeOptions = (
  { options, request }: Target,
  kind: { readonly patched?: boolean; readonly applied?: boolean; readonly strategic?: unknown } = {}
): DecodeOptions => ({
  fieldValidation: options.fieldValidation,
  patched: kind.patched ?? false,
  applied: kind.applied ?? false,
  strategic: kind.strategic,
  duplicates: request.duplicates ?? []
})

/** The version that the writer saw; undefined if none was said. */
const saidVersion = (meta: ObjectMeta): string | undefined => {
  const { resourceVersion } = meta
  if (resourceVersion === undefined || resourceVersion === "") return undefined
  if (!/^\d+$/.test(resourceVersion)) {
    throw Refusal.internal(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`)
  }
  return resourceVersion === "0" ? undefined : resourceVersion
}

/** Creates are refused where there is no namespace, or it ends (F126, F127). */
export const checkNamespace = (
  txn: Transaction,
  definition: Definition,
  namespace: string | undefined,
  name: string
) => {
  if (definition.terminating) {
    throw Refusal.forbidden(definition, name, "create not allowed while custom resource definition is terminating")
  }
  if (namespace === undefined) return
  const found = find(txn.state, "namespaces", namespace)
  if (found === undefined) {
    throw Refusal.notFound({ group: "", plural: "namespaces", kind: "Namespace" }, namespace)
  }
  if (found.metadata.deletionTimestamp !== undefined) throw Refusal.terminating(definition, name, namespace)
}

export const placed = (object: KubeObject, { definition, namespace }: Target): KubeObject => {
  const { namespace: said, ...rest } = object.metadata
  if (!definition.namespaced) return said === undefined ? object : { ...object, metadata: rest }
  if (said === namespace) return object
  if (said !== undefined) {
    throw Refusal.badRequest("the namespace of the provided object does not match the namespace sent on the request")
  }
  return { ...object, metadata: { ...object.metadata, namespace: namespace! } }
}

/** The base of a generated name is cut so that the name has 63 characters at most (F11). */
const generatedNameBase = 58

const withoutField = (object: KubeObject, field: string): KubeObject => {
  if (!(field in object)) return object
  const { [field]: _, ...rest } = object
  return rest as unknown as KubeObject
}

/** `managed` is what an apply has reckoned; other writes reckon it here. */
export const createDecoded = (txn: Transaction, target: Target, decoded: KubeObject, managed: boolean): Response => {
  const { definition, options } = target
  const given = placed(decoded, target)
  if (given.metadata.resourceVersion !== undefined && given.metadata.resourceVersion !== "0") {
    throw Refusal.internal("resourceVersion should not be set on objects to be created")
  }
  const now = txn.time
  const {
    deletionGracePeriodSeconds,
    deletionTimestamp,
    generation,
    managedFields,
    resourceVersion,
    selfLink,
    ...rest
  } = given.metadata as ObjectMeta & { readonly selfLink?: string }
  void [deletionGracePeriodSeconds, deletionTimestamp, generation, resourceVersion, selfLink]
  const name =
    rest.name ??
    (rest.generateName === undefined
      ? undefined
      : `${rest.generateName.slice(0, generatedNameBase)}${txn.draw.suffix()}`)
  const metadata = {
    ...rest,
    ...(name !== undefined && { name }),
    uid: txn.draw.uid(),
    creationTimestamp: now,
    ...(definition.generation !== "none" && { generation: 1 })
  } as ObjectMeta
  const withoutStatus = definition.hasStatus ? withoutField(given, "status") : given
  const entries = managed
    ? managedFields
    : ManagedFields.update({ ...managing(txn, target), live: undefined, next: { ...withoutStatus, metadata } })
  const object = {
    ...withoutStatus,
    metadata: { ...metadata, ...(entries !== undefined && entries.length > 0 && { managedFields: entries }) }
  } as KubeObject
  const stored = definition.toStorage(object)
  const prepared = definition.rules.prepare?.(stored, undefined, { now, draw: txn.draw }) ?? stored
  Validation.check({
    definition,
    object: definition.custom ? object : prepared,
    live: undefined,
    namespace: target.namespace,
    version: definition.apiVersion,
    subresource: undefined
  })
  const key = keyOf(target.namespace, name!)
  const present = find(txn.state, definition.resource, key)
  if (present !== undefined) {
    throw Refusal.alreadyExists(definition, name!, present.metadata.deletionTimestamp !== undefined)
  }
  Validation.checkSize(prepared)
  Validation.warn(txn, definition, prepared)
  const kept = options.dryRun ? prepared : commit(txn, definition.resource, key, prepared, undefined)
  return answer(txn, 201, definition.fromStorage(kept))
}

export const create = (txn: Transaction, target: Target): Response => {
  const { definition, namespace, request } = target
  const decoded = placed(decode(txn, definition, request.body, decodeOptions(target)), target)
  checkNamespace(txn, definition, namespace, decoded.metadata.name ?? "")
  return createDecoded(txn, target, decoded, false)
}

export const checkName = (object: KubeObject, name: string): void => {
  const said = object.metadata.name
  if (said === undefined || said === "") {
    throw Refusal.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (said !== name) {
    throw Refusal.badRequest(`the name of the object (${said}) does not match the name on the URL (${name})`)
  }
}

export const replace = (txn: Transaction, target: Target): Response => {
  const { definition, namespace, request } = target
  const name = request.name!
  const key = keyOf(namespace, name)
  if (request.subresource === "scale") {
    const scaled = find(txn.state, definition.resource, key)
    if (scaled === undefined) throw Refusal.notFound(definition, name)
    return rescale(txn, target, definition.fromStorage(scaled), request.body)
  }
  const next = placed(decode(txn, definition, request.body, decodeOptions(target)), target)
  checkName(next, name)
  const live = find(txn.state, definition.resource, key)
  if (live === undefined) {
    if (!definition.createsOnUpdate || request.subresource !== undefined) throw Refusal.notFound(definition, name)
    const { resourceVersion: _, uid, ...rest } = next.metadata
    if (uid !== undefined) throw Refusal.otherUid(definition, name, etcdKey(definition, key), uid, "")
    checkNamespace(txn, definition, namespace, name)
    return createDecoded(txn, target, { ...next, metadata: rest as ObjectMeta }, false)
  }
  const { uid } = next.metadata
  if (uid !== undefined && uid !== live.metadata.uid) {
    throw Refusal.otherUid(definition, name, etcdKey(definition, key), uid, live.metadata.uid)
  }
  return update(txn, target, definition.fromStorage(live), next, {})
}

const etcdKey = ({ custom, group, plural }: Definition, key: string): string =>
  `${custom ? `${group}/` : ""}${plural}/${key}`

interface UpdateOptions {
  /** The managedFields are in `next` already: an apply. */
  readonly applied?: boolean
  /** Store also what equals the stored object (F104). */
  readonly always?: boolean
}

const withoutUndefined = <A extends object>(value: A): A =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as A

/** What a write to this endpoint may change: the rest is put back as it is stored (F77, F85, F99, F137). */
const confined = (definition: Definition, subresource: string | undefined, next: KubeObject, live: KubeObject) => {
  if (subresource === "status") {
    const { managedFields } = next.metadata
    const reset = definition.resetFields("status")
    const { managedFields: _, ...meta } = reset.includes("metadata") ? live.metadata : next.metadata
    const kept = {
      ...meta,
      ...(reset.includes("metadata.labels") && { labels: live.metadata.labels }),
      ...(managedFields !== undefined && { managedFields })
    }
    return {
      ...withoutField(live, "status"),
      ...(next.status !== undefined && { status: next.status }),
      metadata: withoutUndefined(kept)
    } as KubeObject
  }
  if (!definition.hasStatus) return next
  const object = withoutField(next, "status")
  return live.status === undefined ? object : { ...object, status: live.status }
}

/** Metadata that the server keeps whatever is sent; equal members keep their reference. */
const keptMeta = (next: ObjectMeta, live: ObjectMeta): ObjectMeta => {
  const {
    creationTimestamp: _,
    deletionGracePeriodSeconds: __,
    generation: ___,
    resourceVersion: ____,
    selfLink: _____,
    ...rest
  } = next as ObjectMeta & { readonly selfLink?: string }
  const meta: Record<string, unknown> = { ...rest }
  for (const field of ["creationTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"] as const) {
    if (live[field] !== undefined) meta[field] = live[field]
  }
  meta.deletionTimestamp ??= live.deletionTimestamp
  if (meta.deletionTimestamp === undefined) delete meta.deletionTimestamp
  meta.uid ??= live.uid
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences", "managedFields"] as const) {
    if (meta[field] !== undefined && meta[field] !== live[field] && equals(meta[field], live[field])) {
      meta[field] = live[field]
    }
  }
  return meta as unknown as ObjectMeta
}

const contentEquals = (a: KubeObject, b: KubeObject, without: ReadonlyArray<string>): boolean => {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  for (const key of keys) {
    if (!without.includes(key) && !equals(a[key], b[key])) return false
  }
  return true
}

const isNewGeneration = ({ generation, hasStatus }: Definition, next: KubeObject, live: KubeObject): boolean => {
  switch (generation) {
    case "none":
      return false
    case "spec":
      return !equals(next.spec, live.spec)
    case "specAndAnnotations":
      return !equals(next.spec, live.spec) || !equals(next.metadata.annotations, live.metadata.annotations)
    case "content":
    case "everything":
      return !contentEquals(next, live, hasStatus ? ["metadata", "status"] : ["metadata"])
  }
}

/** From here on a replace, a patch and an apply are one. `live` is in the version of the request. */
export const update = (
  txn: Transaction,
  target: Target,
  live: KubeObject,
  decoded: KubeObject,
  { always = false, applied = false }: UpdateOptions
): Response => {
  const { definition, request } = target
  const { subresource } = request
  const name = request.name!
  const said = saidVersion(decoded.metadata)
  if (said === undefined && !definition.unconditional) {
    throw Refusal.invalid({ kind: definition.plural, group: definition.group }, name, [
      Refusal.fieldInvalid("metadata.resourceVersion", 0, "must be specified for an update")
    ])
  }
  if (said !== undefined && said !== live.metadata.resourceVersion) throw Refusal.modified(definition, name)
  const now = txn.time
  const sent = confined(definition, subresource, decoded, live)
  const meta = keptMeta(sent.metadata, live.metadata)
  const unmanaged = { ...sent, metadata: meta }
  const owned = applied ? unmanaged : withManagers(txn, target, live, unmanaged, decoded)
  const stored = definition.toStorage(owned)
  const before = find(txn.state, definition.resource, keyOf(target.namespace, name))!
  const prepared = definition.rules.prepare?.(stored, before, { now, draw: txn.draw }) ?? stored
  const next =
    subresource !== "status" && isNewGeneration(definition, prepared, before)
      ? { ...prepared, metadata: { ...prepared.metadata, generation: (before.metadata.generation ?? 0) + 1 } }
      : prepared
  Validation.check({
    definition,
    object: definition.custom ? { ...owned, metadata: next.metadata } : next,
    live: definition.custom ? live : before,
    namespace: target.namespace,
    version: definition.apiVersion,
    subresource
  })
  if (!always && ManagedFields.equalButTimes(next, before)) return answer(txn, 200, live)
  Validation.checkSize(next)
  Validation.warn(txn, definition, next)
  return answer(txn, 200, definition.fromStorage(store(txn, target, before, next)))
}

/** What was stored, or would have been. */
const store = (txn: Transaction, target: Target, before: KubeObject, next: KubeObject): KubeObject => {
  const { definition, options, request } = target
  const key = keyOf(target.namespace, request.name!)
  // The write that takes the last finalizer ends the object: what it says else is answered, not stored (F62, F115).
  if (Deleting.isOver(definition, next)) {
    if (!options.dryRun) Deleting.remove(txn, definition, key, before)
    return next
  }
  return options.dryRun ? next : commit(txn, definition.resource, key, next, before)
}

/** What both ways of owning fields ask of a request. */
export const managing = (txn: Transaction, { definition, options, request }: Target) => ({
  schema: definition.schema,
  manager: options.manager,
  apiVersion: definition.apiVersion,
  ...(request.subresource !== undefined && { subresource: request.subresource }),
  now: txn.time,
  resetFields: definition.resetFields(request.subresource),
  ...(definition.blank !== undefined && { blank: definition.blank }),
  schemaOf: (apiVersion: string) => schemaOf(txn, definition, apiVersion)
})

const nobody = [{}] as unknown as ReadonlyArray<ManagedFieldsEntry>

/** `next` is what will be stored, `decoded` what was sent. */
const withManagers = (
  txn: Transaction,
  target: Target,
  live: KubeObject,
  next: KubeObject,
  decoded: KubeObject
): KubeObject => {
  // An empty list is ignored on custom resources, and means `[{}]` on built-in kinds: that nobody own anything (F33).
  const isCleared = decoded.metadata.managedFields?.length === 0 && !target.definition.custom
  const considered = isCleared ? { ...decoded, metadata: { ...decoded.metadata, managedFields: nobody } } : decoded
  const entries = ManagedFields.update({ ...managing(txn, target), live, next: considered })
  const { managedFields: _, ...meta } = next.metadata
  const kept = equals(entries, live.metadata.managedFields) ? live.metadata.managedFields : entries
  return {
    ...next,
    metadata: { ...meta, ...(kept !== undefined && kept.length > 0 && { managedFields: kept }) } as ObjectMeta
  }
}

/** As a GET shows it: of an object that says how many it wants. */
export const scaleOf = (object: KubeObject, { scale }: Definition): KubeObject => {
  if (Scaling.hasReplicas(object, scale!)) return Scaling.scaleOf(object, scale!)
  throw Refusal.internalError(`the spec replicas field "${scale!.specReplicasPath}" does not exist`)
}

/** Writes the replicas through the Scale (F140). */
export const rescale = (txn: Transaction, target: Target, live: KubeObject, sent: unknown): Response => {
  const { definition } = target
  const { metadata = {}, ...scale } = isObject(sent) ? sent : {}
  const said = isObject(metadata) && typeof metadata.resourceVersion === "string" ? metadata.resourceVersion : ""
  const next = Scaling.withReplicas(live, scale, definition.scale!)
  const version = said === "" || said === "0" ? live.metadata.resourceVersion : said
  const done = update(txn, target, live, withVersionSaid(next, version), {})
  return { ...done, body: Scaling.scaleOf(done.body as KubeObject, definition.scale!) }
}

export const withVersionSaid = (object: KubeObject, said: string | undefined): KubeObject => {
  const { resourceVersion: _, ...meta } = object.metadata
  return { ...object, metadata: { ...meta, ...(said !== undefined && { resourceVersion: said }) } as ObjectMeta }
}

const schemaOf = (txn: Transaction, { group, plural }: Definition, apiVersion: string) =>
  definitionAt(txn.state, group, apiVersion.split("/").at(-1)!, plural)?.schema
