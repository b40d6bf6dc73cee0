/** What a Manager looks at once when it starts, so that a cluster that is not set up right is told then and not by the first failing pass. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ApiClient, formatResource, type JsonSchema } from "../ApiClient.ts"
import type * as Controller from "../Controller.ts"
import type { Resource } from "../KubeObject.ts"
import { ManagerError } from "../ManagerError.ts"

/** A server that does not answer by then is no reason to hold up the start: the caches wait for it (B8). */
const patience = "10 seconds"

const at = (schema: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (node, key) => (typeof node === "object" && node !== null ? (node as any)[key] : undefined),
    schema
  )

const keepsConditionsByType = (schema: JsonSchema): boolean => {
  const conditions = at(schema, "properties", "status", "properties", "conditions")
  return conditions === undefined || at(conditions, "x-kubernetes-list-type") === "map"
}

/** Whether the CRD keeps conditions as a map by type (D7). Fails if it has no status subresource, unless the controller says so (B48, X14). */
export const checkStatus = Effect.fnUntraced(function* ({
  for: kind,
  noStatusSubresource
}: Controller.Any): Effect.fn.Return<boolean, ManagerError, ApiClient> {
  if (!kind.hasStatus || noStatusSubresource) return true
  const api = yield* ApiClient
  const unknown = (what: string) => (error: { readonly message: string }) =>
    Effect.as(
      Effect.logWarning(`could not check ${what} of ${formatResource(kind)} at start: ${error.message}`),
      Option.none()
    )
  const discovered = yield* api
    .discover(kind)
    .pipe(Effect.catch(unknown("the status subresource")), Effect.timeoutOption(patience), Effect.map(Option.flatten))
  if (Option.isSome(discovered) && !discovered.value.subresources.includes("status"))
    return yield* new ManagerError({
      reason: {
        _tag: "StatusSubresourceMissing",
        message: `${formatResource(kind)} has no status subresource, so each status write would count as a change of its spec: add \`subresources: { status: {} }\` to its CRD, or say noStatusSubresource in the controller`
      }
    })
  if (Option.isNone(discovered)) return true
  const schema = yield* api
    .schema(kind)
    .pipe(Effect.catch(unknown("the schema")), Effect.timeoutOption(patience), Effect.map(Option.flatten))
  return Option.match(schema, { onNone: () => true, onSome: keepsConditionsByType })
})

const reviews: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster"
}

/** Warns once if the account may not post events: nothing else would say so (D21). */
export const warnOfEventRights: Effect.Effect<void, never, ApiClient> = Effect.gen(function* () {
  const api = yield* ApiClient
  const missing: Array<string> = []
  for (const verb of ["create", "patch"]) {
    const review = yield* api.create(reviews, { spec: { resourceAttributes: { verb, resource: "events" } } })
    if (at(review, "status", "allowed") === false) missing.push(verb)
  }
  if (missing.length > 0)
    yield* Effect.logWarning(
      `this account may not ${missing.join(" and ")} events in all namespaces, so some will not be posted: grant create and patch on events`
    )
}).pipe(Effect.catch((error) => Effect.logDebug(`could not check the right to post events: ${error.message}`)))
