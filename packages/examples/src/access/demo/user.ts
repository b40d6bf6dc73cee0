/** What a user does to a cluster, as kubectl would: apply a manifest, edit an object, delete it. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Kind from "@fixpoint/core/Kind"
import type { KubeObject, ObjectRef, Resource } from "@fixpoint/core/KubeObject"
import { UsageError } from "@fixpoint/kubernetes/Operator"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConfigMap, Role, Scope } from "../kinds.ts"
import type { Manifest } from "./manifestFolder.ts"

const ours: ReadonlyArray<Resource> = [Scope, Role, ConfigMap]

const nameOf = ({ kind, metadata }: Manifest["object"]): string => `${kind} ${metadata?.name ?? ""}`

/** Where the object's kind lives; for a kind that is not the example's the server is asked. */
const resourceOf = ({ file, object }: Manifest): Effect.Effect<Resource, ApiError | UsageError, ApiClient> =>
  Effect.gen(function* () {
    const parts = object.apiVersion.split("/")
    const version = parts.at(-1)!
    const group = parts.length === 1 ? "" : parts[0]!
    const known = ours.find((one) => one.group === group && one.version === version && one.kind === object.kind)
    if (known !== undefined) return known
    // A Kind guesses the plural as Kubernetes does.
    const guess = Kind.make({ group, version, kind: object.kind, scope: "Namespaced" })
    const served = yield* ApiClient.use((api) => api.discover(guess))
    if (Option.isNone(served) || served.value.kind !== object.kind)
      return yield* new UsageError({ message: `${file}: the server knows no ${object.kind} of ${object.apiVersion}` })
    if (!served.value.namespaced)
      return yield* new UsageError({
        message: `${file}: ${nameOf(object)} is cluster-scoped, and the demo keeps to a namespace of its own: leave it out`
      })
    return { group, version, kind: object.kind, plural: served.value.plural, scope: "Namespaced" }
  })

/** The object in the demo's namespace; one that names another is refused. */
const placed = ({ file, object }: Manifest, namespace: string): Effect.Effect<Manifest["object"], UsageError> =>
  object.metadata?.namespace === undefined || object.metadata.namespace === namespace
    ? Effect.succeed({ ...object, metadata: { ...object.metadata, namespace } })
    : Effect.fail(
        new UsageError({
          message: `${file}: ${nameOf(object)} names the namespace ${object.metadata.namespace}, and the demo keeps to one of its own: leave metadata.namespace out`
        })
      )

/** Where and what a manifest is, once both are known to be fit for the demo. Changes nothing. */
export const prepare = (manifest: Manifest, namespace: string) =>
  Effect.all({ resource: resourceOf(manifest), object: placed(manifest, namespace) })

/** `kubectl apply --server-side --force-conflicts --field-manager=...`. */
export const apply = (
  manifest: Manifest,
  namespace: string,
  fieldManager: string
): Effect.Effect<KubeObject, ApiError | UsageError, ApiClient> =>
  Effect.flatMap(prepare(manifest, namespace), ({ object, resource }) =>
    ApiClient.use((api) =>
      api.patch(
        resource,
        { namespace, name: object.metadata?.name ?? "" },
        { type: "apply", body: object, force: true },
        { fieldManager }
      )
    )
  )

/** `kubectl edit`: an update, which applies nothing and claims nothing for later. */
export const edit = (
  manifest: Manifest,
  namespace: string
): Effect.Effect<KubeObject, ApiError | UsageError, ApiClient> =>
  Effect.flatMap(prepare(manifest, namespace), ({ object, resource }) =>
    ApiClient.use((api) =>
      api.patch(
        resource,
        { namespace, name: object.metadata?.name ?? "" },
        { type: "merge", body: object },
        { fieldManager: "kubectl-edit" }
      )
    )
  )

export const remove = (resource: Resource, ref: ObjectRef): Effect.Effect<unknown, ApiError, ApiClient> =>
  ApiClient.use((api) => api.delete(resource, ref))
