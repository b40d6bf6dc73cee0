/** The Role's reconciler as a pipeline: each stage adds a named result, its failures and its needs. */
import type * as Condition from "@fixpoint/core/Condition"
import type * as KindType from "@fixpoint/core/Kind"
import type { ObjectRef } from "@fixpoint/core/KubeObject"
import * as Pass from "@fixpoint/core/Pass"
import * as Reconciler from "@fixpoint/core/Reconciler"
import * as ReconcileError from "@fixpoint/core/ReconcileError"
import * as Wake from "@fixpoint/core/Wake"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ConfigMap, Role, Scope } from "./kinds.ts"
import { Registry } from "./Registry.ts"

/** On every Role before it is registered. */
export const cleanup = "access.example.com/cleanup"

/** Wakes the Scope that the Role names, and the one that it named before: they count the Roles that name them. */
export const tellScopes = ({ metadata, spec, status }: Role) => {
  const named = new Set([spec.scope, ...(status?.scope === undefined ? [] : [status.scope])])
  const refs = [...named].map((name): ObjectRef => ({ namespace: metadata.namespace, name }))
  return Effect.forEach(refs, (ref) => Wake.enqueue(Scope, ref), { discard: true })
}

/** One entry for each member of the Scope, one line in it for each rule. */
export const rulesFor = (role: Role, scope: Scope): KindType.Desired<ConfigMap> => {
  const rules = role.spec.rules.map(({ resource, verbs }) => `${resource}: ${verbs.join(", ")}`).join("\n")
  return {
    metadata: { name: `${role.metadata.name}-rules`, labels: { "access.example.com/scope": scope.metadata.name } },
    data: Object.fromEntries(scope.spec.members.map((member) => [member, rules]))
  }
}

/** Registers the Role outside of the cluster. Safe to repeat. */
export const register = ({ metadata }: Role) =>
  Registry.use((registry) => registry.register(metadata.uid, metadata.name)).pipe(
    Effect.tap((isNew) => (isNew ? Pass.changed(`registered ${metadata.name}`) : Effect.void))
  )

/** Whether anybody has the Role. */
export const effective = ({ metadata, spec }: Scope): Omit<Condition.Input, "type"> =>
  spec.members.length === 0
    ? { status: "False", reason: "NoMembers", message: `Scope ${metadata.name} has no members` }
    : { status: "True", reason: "Granted", message: `to ${spec.members.join(", ")}` }

/** What is done before a Role may go. Its Scope is told when this pass has settled: the Role no longer counts then, whether the release succeeded or not. */
export const release = ({ decoded, ref, uid }: Reconciler.Deleting<Role>) =>
  Effect.gen(function* () {
    if (Result.isSuccess(decoded)) yield* tellScopes(decoded.success)
    const wasRegistered = yield* Registry.use((registry) => registry.release(uid)).pipe(
      Effect.mapError(ReconcileError.classify)
    )
    if (wasRegistered) yield* Pass.changed(`released ${ref.name}`)
  })

export const role = Reconciler.for(Role).pipe(
  Reconciler.tap(({ object }) => tellScopes(object)),
  Reconciler.status(({ object }) => ({ scope: object.spec.scope })),
  Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" }),
  Reconciler.child("config", ConfigMap, ({ object, scope }) => rulesFor(object, scope)),
  Reconciler.during(
    "registering the role",
    Reconciler.bind("isNew", ({ object }) => register(object)),
    Reconciler.timeout("10 seconds"),
    Reconciler.mapError(ReconcileError.classify)
  ),
  Reconciler.condition("Effective", ({ scope }) => effective(scope)),
  Reconciler.status(({ object, scope }) => ({ rules: object.spec.rules.length, members: scope.spec.members.length })),
  Reconciler.finalizer(cleanup, release)
)
