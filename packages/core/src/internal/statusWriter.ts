/**
 * Writes the status of one object, guarded by the version that was read: on a custom resource's status nothing else keeps a late write off a
 * namesake (F77, F90). What moved meanwhile without concerning the status is no reason to run again.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ApiClient } from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import { type KubeObject, ref, type Resource } from "../KubeObject.ts"
import { isConflict } from "../ReconcileError.ts"
import { isApplied } from "./applied.ts"
import { applyBody } from "./applyBody.ts"
import { type Facts, type Said, statusBody } from "./statusBody.ts"

/**
 * - `Unchanged`: nothing differed, nothing was sent.
 * - `Written`: `object` is the answer.
 * - `Moved`: the object changed in what a status depends on; the key must run again on the new state.
 * - `Gone`: the object, or the one of that uid, is no more; nothing is to be written (B54, B65).
 */
export type StatusWrite =
  | { readonly _tag: "Unchanged" }
  | { readonly _tag: "Written"; readonly object: KubeObject }
  | { readonly _tag: "Moved" }
  | { readonly _tag: "Gone" }

export interface Target {
  readonly api: ApiClient["Service"]
  readonly resource: Resource
  /** As the pass read it. */
  readonly read: KubeObject
  /** As it is known now; of the same uid. */
  readonly known: KubeObject
  /** Whether a change from one to the other concerns the status: the controller's predicate. */
  readonly concerns: (read: KubeObject, now: KubeObject) => boolean
  /** Told every newer state that an answer shows. */
  readonly fold: (object: KubeObject) => void
}

/** After this many conflicts in a row the write has failed, and the key runs again as after any conflict (D7, D4). */
const resendsMax = 3

/** Whether the status says already what is to be said, so that nothing is sent. */
export const stands = ({ known, resource }: Target, said: Said, facts: Facts): boolean =>
  isApplied(known, statusBody(resource, known, said, facts), facts.manager, "status")

/** Fails with the ApiError of the write, or of the read between two. */
export const writeStatus = Effect.fnUntraced(function* (
  target: Target,
  said: Said,
  facts: Facts
): Effect.fn.Return<StatusWrite, ApiError> {
  const { api, concerns, fold, read, resource } = target
  let live = target.known
  for (let sends = 0; ; sends++) {
    const body = statusBody(resource, live, said, facts)
    const { resourceVersion } = live.metadata
    if (isApplied(live, body, facts.manager, "status")) return { _tag: "Unchanged" }
    const answer = yield* Effect.result(
      api.patch(
        resource,
        ref(live),
        { type: "apply", force: true, body: applyBody({ ...body, metadata: { ...body.metadata, resourceVersion } }) },
        { subresource: "status", fieldManager: facts.manager }
      )
    )
    if (Result.isSuccess(answer)) {
      fold(answer.success)
      return { _tag: "Written", object: answer.success }
    }
    const { reason } = answer.failure
    if (reason._tag !== "NotFound" && (!isConflict(answer.failure) || sends === resendsMax))
      return yield* answer.failure
    const fresh = yield* Effect.catchReason(
      api.get(resource, ref(live)),
      "ApiError",
      "NotFound",
      () => Effect.undefined
    )
    if (fresh === undefined || fresh.metadata.uid !== read.metadata.uid) return { _tag: "Gone" }
    // The object is there, so it is the subresource that is not: the answer is the same for both (F37).
    if (reason._tag === "NotFound") return yield* answer.failure
    fold(fresh)
    if (concerns(read, fresh)) return { _tag: "Moved" }
    live = fresh
  }
})
