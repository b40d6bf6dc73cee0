/** Asks the server itself, where a cache or a list may be late. */
import * as Effect from "effect/Effect"
import type { ApiClient } from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import type { ObjectRef, Resource } from "../KubeObject.ts"

/** Whether the server has no object of that uid by that name. */
export const isGone = (
  api: ApiClient["Service"],
  resource: Resource,
  ref: ObjectRef,
  uid: string
): Effect.Effect<boolean, ApiError> =>
  api.get(resource, ref).pipe(
    Effect.map(({ metadata }) => metadata.uid !== uid),
    Effect.catchReason("ApiError", "NotFound", () => Effect.succeed(true))
  )
