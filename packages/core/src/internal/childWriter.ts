/**
 * Makes one child be as desired: compared with the cache first, applied only if something differs, never onto a stranger's object. The part of
 * `Owned` that talks to the API; it knows no decoding.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ApiClient, formatResource } from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import {
  formatRef,
  type KubeObject,
  type ObjectInput,
  type ObjectRef,
  ref as refOf,
  type Resource
} from "../KubeObject.ts"
import type { ApplyOptions } from "../Owned.ts"
import * as OwnerReference from "../OwnerReference.ts"
import { Fatal, fromApiError, isConflict, NotReady, slow, Temporary } from "../ReconcileError.ts"
import { isApplied } from "./applied.ts"
import { applyBody } from "./applyBody.ts"

type Conflicts = Required<ApplyOptions>["conflicts"]

export interface ChildCache {
  readonly get: (ref: ObjectRef) => KubeObject | undefined
  /** Told the answer of a write. */
  readonly fold: (object: KubeObject) => void
}

export interface Target {
  readonly api: ApiClient["Service"]
  readonly resource: Resource
  readonly cache: ChildCache
  readonly manager: string
  /** Told what the child was before a write and what was answered: for the barrier and for what wakes the owner. */
  readonly onWrite: (owner: KubeObject, write: Write) => void
  /**
   * Whether the owner still lives, asked before a child is made. One that was there may have been collected together with an owner of which the
   * watch is late to tell the end: it would be made and collected again and again (B66). So a child that was made anew and is gone again is not made
   * before the server was asked; the first time the cache is believed, since mostly somebody deleted the child alone. Default: it does.
   */
  readonly ownerLives?: (owner: KubeObject, child: ObjectRef) => Effect.Effect<boolean, ApiError>
}

export interface Write {
  /** As cached before; undefined if there was none. */
  readonly previous: KubeObject | undefined
  /** Undefined if the child was deleted. */
  readonly answer: KubeObject | undefined
  readonly ref: ObjectRef
}

export interface Applied {
  readonly object: KubeObject
  readonly moved: "created" | "updated" | undefined
}

// An atomic list with server defaults inside is never seen as applied (see `applied`). What was sent to make this very object is remembered instead.
const sentFor = new WeakMap<KubeObject, string>()

/** The child with its namespace and owner reference, or why it cannot have them (B67, B68). */
const asChild = (owner: KubeObject, resource: Resource, desired: ObjectInput): ObjectInput | Fatal => {
  const home = owner.metadata.namespace
  const asked = desired.metadata?.namespace
  const what = `${resource.kind} ${desired.metadata?.name ?? ""}`
  const refuse = (why: string) => new Fatal({ reason: "InvalidOwnerReference", message: `${what}: ${why}` })
  if (resource.scope === "Cluster" && home !== undefined)
    return refuse(`is cluster-scoped and cannot belong to a namespaced ${owner.kind}: write it without an owner`)
  if (home !== undefined && asked !== undefined && asked !== home)
    return refuse(
      `is wanted in namespace ${asked}, but its owner is in ${home}: an owner and its children share a namespace`
    )
  const namespace = resource.scope === "Cluster" ? undefined : (asked ?? home)
  if (resource.scope === "Namespaced" && namespace === undefined)
    return refuse("needs a namespace, since its owner is cluster-scoped: give metadata.namespace")
  const { namespace: _, ...metadata } = desired.metadata ?? {}
  return {
    ...desired,
    metadata: {
      ...metadata,
      ...(namespace !== undefined && { namespace }),
      ownerReferences: [OwnerReference.controller(owner)]
    }
  }
}

const isOurs = (owner: KubeObject, child: KubeObject): boolean =>
  (child.metadata.ownerReferences ?? []).some((reference) => reference.uid === owner.metadata.uid)

/** Why a child that exists may not be touched; undefined if it is ours (B62, B71). */
const objection = (
  owner: KubeObject,
  resource: Resource,
  live: KubeObject
): NotReady | Temporary | Fatal | undefined => {
  const what = `${resource.kind} ${formatRef(refOf(live))}`
  if (live.metadata.deletionTimestamp !== undefined)
    return new NotReady({
      reason: "ChildTerminating",
      message: `${what} is being deleted and will be made anew once it is gone`
    })
  if (isOurs(owner, live)) return undefined
  const controller = (live.metadata.ownerReferences ?? []).find((reference) => reference.controller === true)
  if (controller?.kind === owner.kind && controller.name === owner.metadata.name)
    return new NotReady({
      reason: "ChildTerminating",
      message: `${what} belongs to an earlier ${owner.kind} of this name and is about to be collected`
    })
  const whose =
    controller === undefined ? "exists and belongs to nobody" : `belongs to ${controller.kind} ${controller.name}`
  return new Fatal({ reason: "ChildNotOurs", message: `${what} ${whose}: choose another name, or remove it` })
}

const describeConflict = (error: ApiError): string =>
  "causes" in error.reason
    ? error.reason.causes.map((cause) => `${cause.field ?? ""} (${cause.message ?? ""})`).join(", ")
    : ""

/** A manager that edits says its version, one that applies does not (F91). */
const isEdit = (message: string | undefined): boolean => / using \S+$/.test(message ?? "")

const onlyEdits = (error: ApiError): boolean =>
  error.reason._tag === "ApplyConflict" && error.reason.causes.every((cause) => isEdit(cause.message))

interface Wanted {
  readonly ref: ObjectRef
  readonly body: ObjectInput
}

/** Older than every object: an apply that bears it makes an object, or is refused where there is one already (F71, F88). */
const beforeAll = "1"

/** Makes the child as wanted over what is known of it; "otherwise" if the server knows otherwise: one where there was to be none, or none or another one. */
const applyOver = Effect.fnUntraced(function* (
  { api, cache, manager, onWrite, ownerLives, resource }: Target,
  owner: KubeObject,
  { body, ref }: Wanted,
  live: KubeObject | undefined,
  conflicts: Conflicts
): Effect.fn.Return<Applied | "otherwise", NotReady | Temporary | Fatal> {
  const objected = live === undefined ? undefined : objection(owner, resource, live)
  if (objected !== undefined) return yield* objected
  if (live !== undefined && (isApplied(live, body, manager, undefined) || sentFor.get(live) === JSON.stringify(body)))
    return { object: live, moved: undefined }
  if (live === undefined && ownerLives !== undefined && !(yield* Effect.mapError(ownerLives(owner, ref), fromApiError)))
    return yield* new Temporary({
      reason: "Conflict",
      message: `${owner.kind} ${formatRef(refOf(owner))} has gone meanwhile, and its ${resource.kind} with it`
    })
  // The uid keeps the write off a namesake and off a child that has just gone (D7, F76, F87); the version keeps a new one off what is not known yet.
  const guard = live === undefined ? { resourceVersion: beforeAll } : { uid: live.metadata.uid }
  const sent = { ...body, metadata: { ...body.metadata, ...guard } }
  const send = (force: boolean) =>
    Effect.result(api.patch(resource, ref, { type: "apply", body: sent, force }, { fieldManager: manager }))
  let answer = yield* send(conflicts === "force")
  if (Result.isFailure(answer) && conflicts === "repair-edits" && onlyEdits(answer.failure)) answer = yield* send(true)
  if (Result.isFailure(answer)) {
    const isTaken = live === undefined && "code" in answer.failure.reason && answer.failure.reason.code === 409
    const isStale = live !== undefined && (isConflict(answer.failure) || isReplaced(answer.failure))
    return isTaken || isStale ? "otherwise" : yield* toFailure(answer.failure, resource, ref)
  }
  const object = answer.success
  cache.fold(object)
  const shown = cache.get(ref)
  if (shown?.metadata.resourceVersion === object.metadata.resourceVersion) sentFor.set(shown, JSON.stringify(body))
  onWrite(owner, { previous: live, answer: object, ref })
  const moved =
    live === undefined
      ? "created"
      : object.metadata.resourceVersion === live.metadata.resourceVersion
        ? undefined
        : "updated"
  return { object, moved }
})

/** What the server has under that name, told to the cache too. */
const present = ({ api, cache, resource }: Target, ref: ObjectRef): Effect.Effect<KubeObject | undefined, ApiError> =>
  Effect.map(api.get(resource, ref), (object): KubeObject | undefined => {
    cache.fold(object)
    return object
  }).pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.undefined))

/** Fails with NotReady while the name is still taken by a dying child, with Fatal if it is a stranger's, else as `fromApiError` says. */
export const applyChild = Effect.fnUntraced(function* (
  target: Target,
  owner: KubeObject,
  desired: ObjectInput,
  conflicts: Conflicts
): Effect.fn.Return<Applied, NotReady | Temporary | Fatal> {
  const child = asChild(owner, target.resource, desired)
  if (child instanceof Fatal) return yield* child
  const ref: ObjectRef = { namespace: child.metadata?.namespace, name: child.metadata?.name ?? "" }
  const wanted = { ref, body: applyBody(child) }
  const first = yield* applyOver(target, owner, wanted, target.cache.get(ref), conflicts)
  if (first !== "otherwise") return first
  // Somebody made it before the cache heard of it, or an answer of ours was lost: whose it is must be known first (B62). Or it is gone or was made anew, and its
  // watch does not tell: run after run on the same cache would meet the same answer.
  const found = yield* Effect.mapError(present(target, ref), fromApiError)
  const second = yield* applyOver(target, owner, wanted, found, conflicts)
  if (second !== "otherwise") return second
  const message = `${target.resource.kind} ${formatRef(ref)} comes and goes`
  return yield* new Temporary({ reason: "Conflict", message })
})

/** Another uid answers as an invalid change of an immutable field (F76): the child was replaced under us. */
const isReplaced = ({ reason }: ApiError): boolean =>
  reason._tag === "Invalid" && reason.causes.some((cause) => cause.field === "metadata.uid")

const toFailure = (error: ApiError, resource: Resource, ref: ObjectRef): Temporary => {
  if (error.reason._tag === "ApplyConflict")
    return new Temporary({
      reason: "ApplyConflict",
      delay: slow,
      message: `${resource.kind} ${formatRef(ref)}: another manager applies the same fields: ${describeConflict(error)}`,
      cause: error
    })
  return fromApiError(error)
}

/** Deletes a child by its uid, so that a namesake lives (B64). True if there was one. What is gone already is a success (C7). */
export const removeChild = Effect.fnUntraced(function* (
  { api, cache, onWrite, resource }: Target,
  owner: KubeObject,
  ref: ObjectRef
): Effect.fn.Return<boolean, Temporary | Fatal> {
  const live = cache.get(ref)
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return false
  if (!isOurs(owner, live))
    return yield* new Fatal({
      reason: "ChildNotOurs",
      message: `${formatResource(resource)} ${formatRef(ref)} does not belong to ${owner.kind} ${owner.metadata.name}`
    })
  const answer = yield* Effect.result(api.delete(resource, ref, { preconditions: { uid: live.metadata.uid } }))
  if (Result.isFailure(answer)) {
    if (answer.failure.reason._tag === "NotFound" || isConflict(answer.failure)) return false
    return yield* fromApiError(answer.failure)
  }
  onWrite(owner, { previous: live, answer: undefined, ref })
  return true
})
