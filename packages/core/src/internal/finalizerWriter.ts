/**
 * Adds and takes off one finalizer, touching no other: a JSON patch of that entry alone, led by the version that was read, so that a conflict
 * answers 409 and never removes a neighbour by index (D13, B55, B56).
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ApiClient, JsonPatchOperation } from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import { type KubeObject, ref, type Resource } from "../KubeObject.ts"
import { isConflict } from "../ReconcileError.ts"

export interface Target {
  readonly api: ApiClient["Service"]
  readonly resource: Resource
  readonly manager: string
  /** Told every newer state that an answer shows. */
  readonly fold: (object: KubeObject) => void
}

const resendsMax = 3

const patched = Effect.fnUntraced(function* (
  { api, fold, manager, resource }: Target,
  read: KubeObject,
  /** Undefined if there is nothing to do on that state. */
  edit: (object: KubeObject) => JsonPatchOperation | undefined
): Effect.fn.Return<KubeObject | undefined, ApiError> {
  let live = read
  for (let sends = 0; ; sends++) {
    const operation = edit(live)
    if (operation === undefined) return live
    const guard: JsonPatchOperation = {
      op: "replace",
      path: "/metadata/resourceVersion",
      value: live.metadata.resourceVersion
    }
    const answer = yield* Effect.result(
      api.patch(resource, ref(live), { type: "json", body: [guard, operation] }, { fieldManager: manager })
    )
    if (Result.isSuccess(answer)) return answer.success
    if (answer.failure.reason._tag === "NotFound") return undefined
    if (!isConflict(answer.failure) || sends === resendsMax) return yield* answer.failure
    const fresh = yield* Effect.catchReason(
      api.get(resource, ref(live)),
      "ApiError",
      "NotFound",
      () => Effect.undefined
    )
    if (fresh === undefined || fresh.metadata.uid !== read.metadata.uid) return undefined
    fold(fresh)
    live = fresh
  }
})

/** The object with the finalizer, or as it is if it is being deleted (B57); undefined if it is gone. */
export const addFinalizer = (
  target: Target,
  object: KubeObject,
  name: string
): Effect.Effect<KubeObject | undefined, ApiError> =>
  patched(target, object, ({ metadata: { deletionTimestamp, finalizers = [] } }) => {
    if (deletionTimestamp !== undefined || finalizers.includes(name)) return undefined
    return finalizers.length === 0
      ? { op: "add", path: "/metadata/finalizers", value: [name] }
      : { op: "add", path: "/metadata/finalizers/-", value: name }
  }).pipe(Effect.tap((answer) => Effect.sync(() => answer !== undefined && target.fold(answer))))

/**
 * Takes the finalizer off. The object if others still hold it; undefined if it is gone, which the answer shows by having no finalizers: it then bears
 * the version of before, and only a DELETED follows (F62), so it is not told to `fold`.
 */
export const removeFinalizer = (
  target: Target,
  object: KubeObject,
  name: string
): Effect.Effect<KubeObject | undefined, ApiError> =>
  patched(target, object, ({ metadata: { finalizers = [] } }) => {
    const index = finalizers.indexOf(name)
    return index === -1 ? undefined : { op: "remove", path: `/metadata/finalizers/${index}` }
  }).pipe(
    Effect.map((answer) => {
      if (answer === undefined) return undefined
      const ended = answer.metadata.deletionTimestamp !== undefined && (answer.metadata.finalizers ?? []).length === 0
      if (ended) return undefined
      target.fold(answer)
      return answer
    })
  )
