/** The Role's reconciler as one function: the same behaviour as the pipeline of `role`, for those who prefer to write it so. */
import * as Cached from "@fixpoint/core/Cached"
import * as Owned from "@fixpoint/core/Owned"
import * as Pass from "@fixpoint/core/Pass"
import * as Reconciler from "@fixpoint/core/Reconciler"
import * as ReconcileError from "@fixpoint/core/ReconcileError"
import * as Effect from "effect/Effect"
import { ConfigMap, Role, Scope } from "./kinds.ts"
import { cleanup, effective, register, release, rulesFor, tellScopes } from "./role.ts"

export const roleFunction = Reconciler.fromEffect(
  Role,
  Effect.fnUntraced(function* (role) {
    yield* tellScopes(role)
    yield* Pass.status(Role, { scope: role.spec.scope })
    const scope = yield* Cached.need(
      Scope,
      { namespace: role.metadata.namespace, name: role.spec.scope },
      { reason: "ScopeNotFound" }
    )
    yield* Owned.apply(ConfigMap, rulesFor(role, scope)).pipe(
      Effect.mapError(ReconcileError.during("applying ConfigMap"))
    )
    yield* register(role).pipe(
      Effect.timeoutOrElse({
        duration: "10 seconds",
        orElse: () => new ReconcileError.Temporary({ reason: "Timeout", message: "took longer than 10s" })
      }),
      Effect.mapError((error) => ReconcileError.during("registering the role")(ReconcileError.classify(error)))
    )
    yield* Pass.condition({ type: "Effective", ...effective(scope) })
    yield* Pass.status(Role, { rules: role.spec.rules.length, members: scope.spec.members.length })
  })
).pipe(Reconciler.finalizer(cleanup, release))
