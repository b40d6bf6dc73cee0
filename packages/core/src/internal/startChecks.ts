/** What a Manager looks at once when it starts, so that a cluster that is not set up right is told then and not by the first failing pass. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { ApiClient, formatResource, type JsonSchema } from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import type * as Controller from "../Controller.ts"
import type { EventPoster } from "../EventPoster.ts"
import { type Any as AnyKind, structuralSchema } from "../Kind.ts"
import type { Resource } from "../KubeObject.ts"
import { ManagerError } from "../ManagerError.ts"
import { postingVerbs } from "./rbac.ts"

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

/** The status fields of the Kind of which the CRD knows nothing; none where it takes any. */
const unknownFields = (kind: AnyKind, schema: JsonSchema): ReadonlyArray<string> => {
  const served = at(schema, "properties", "status")
  if (at(served, "properties") === undefined || at(served, "x-kubernetes-preserve-unknown-fields") === true) return []
  const own = Result.try(() => at(structuralSchema(kind), "properties", "status", "properties") as object)
  return Object.keys(Result.getOrElse(own, () => ({}))).filter((field) => at(served, "properties", field) === undefined)
}

const refuse = (_tag: ManagerError["reason"]["_tag"], message: string) =>
  Effect.fail(new ManagerError({ reason: { _tag, message } }))

/** What the server says, or none: it is silent, does not serve it yet, or may not tell us. */
const asked = <A>(what: Effect.Effect<Option.Option<A>, ApiError>): Effect.Effect<Option.Option<A>> =>
  what.pipe(
    Effect.catch((error) => Effect.as(Effect.logDebug(`could not check: ${error.message}`), Option.none<A>())),
    Effect.timeoutOption(patience),
    Effect.map(Option.flatten)
  )

const scopeText = (namespaced: boolean): string => (namespaced ? "namespaced" : "cluster-scoped")

/**
 * Whether the CRD keeps conditions as a map by type (D7); undefined if that cannot be known now. Fails if the CRD has no status subresource, unless the controller says
 * so (B48, X14), or has another scope.
 */
export const checkDefinition = Effect.fnUntraced(function* ({
  for: kind,
  noStatusSubresource
}: Controller.Any): Effect.fn.Return<boolean | undefined, ManagerError, ApiClient> {
  if (!kind.hasStatus || noStatusSubresource) return true
  const api = yield* ApiClient
  const discovered = yield* asked(api.discover(kind))
  if (Option.isNone(discovered)) return undefined
  const name = formatResource(kind)
  const { namespaced, subresources } = discovered.value
  if (namespaced !== (kind.scope === "Namespaced"))
    return yield* refuse(
      "ScopeDiffers",
      `${name} is ${scopeText(namespaced)} in its CRD and ${scopeText(!namespaced)} in the Kind: change the scope of the Kind, or delete the CRD and apply what Kind.customResourceDefinition gives`
    )
  if (!subresources.includes("status"))
    return yield* refuse(
      "StatusSubresourceMissing",
      `${name} has no status subresource, so each status write would count as a change of its spec: add "subresources: { status: {} }" to its CRD, or say noStatusSubresource in the controller`
    )
  const schema = yield* asked(api.schema(kind))
  if (Option.isNone(schema)) return true
  const unknown = unknownFields(kind, schema.value)
  if (unknown.length > 0)
    yield* Effect.logWarning(
      `the CRD of ${name} lacks ${unknown.map((field) => `status.${field}`).join(", ")}, which this operator writes: apply what Kind.customResourceDefinition gives`
    )
  return keepsConditionsByType(schema.value)
})

/** So often a CRD that is served is asked for before it is taken to be as the Kind says: discovery is late by seconds. */
const triesMax = 5
const retryPause = "1 second"
const mendedPause = "10 seconds"

/**
 * The same for a kind that was not there, or could not be asked for, when the Manager started: its cache has synced by now. Waits for as long as the definition is
 * wrong; `block` is told why, and undefined when it is right.
 */
export const awaitDefinition = Effect.fnUntraced(function* (
  controller: Controller.Any,
  block: (why: string | undefined) => void
): Effect.fn.Return<boolean, never, ApiClient> {
  const name = formatResource(controller.for)
  let told: string | undefined
  for (let tries = 1; tries <= triesMax;) {
    const checked = yield* Effect.result(checkDefinition(controller))
    if (Result.isSuccess(checked)) {
      block(undefined)
      if (checked.success !== undefined) return checked.success
      tries++
      yield* Effect.sleep(retryPause)
      continue
    }
    const { message } = checked.failure
    block(message)
    if (message !== told) yield* Effect.logError(`${message}; ${controller.name} waits for that`)
    told = message
    yield* Effect.sleep(mendedPause)
  }
  yield* Effect.logWarning(
    `could not look at the CRD of ${name}: it is taken to have a status subresource and conditions that are a map by type`
  )
  return true
})

const reviews: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster"
}

/** Warns once if the account may not post what the poster in force posts: nothing else would say so (D21). A poster that posts nothing needs no right. */
export const warnOfEventRights = ({
  resource: posted
}: Pick<EventPoster["Service"], "resource">): Effect.Effect<void, never, ApiClient> =>
  Effect.gen(function* () {
    if (posted === undefined) return
    const api = yield* ApiClient
    const { group, plural: resource } = posted
    const missing: Array<string> = []
    for (const verb of postingVerbs) {
      const review = yield* api.create(reviews, { spec: { resourceAttributes: { verb, group, resource } } })
      if (at(review, "status", "allowed") === false) missing.push(verb)
    }
    if (missing.length === 0) return
    const name = formatResource(posted)
    const option = group === "" ? "" : ` with { events: "${group}" }`
    yield* Effect.logWarning(
      `this account may not ${missing.join(" and ")} ${name} in all namespaces, so some will not be posted: grant ${postingVerbs.join(" and ")} on ${name}; Controller.rbac${option} prints the rules`
    )
  }).pipe(Effect.catch((error) => Effect.logDebug(`could not check the right to post events: ${error.message}`)))
