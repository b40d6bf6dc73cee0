/**
 * The controllers: pure descriptions of what is reconciled, by what, and what wakes it.
 *
 * The two wake each other, and come to rest: a Role wakes its Scope, whose count of Roles changes its status, which wakes the Roles that read it; they
 * wake the Scope again, which finds nothing to change.
 */
import * as Controller from "@fixpoint/core/Controller"
import * as Watch from "@fixpoint/core/Watch"
import { ConfigMap, Role, Scope } from "./kinds.ts"
import { role } from "./role.ts"
import { roleFunction } from "./roleFunction.ts"
import { scope } from "./scope.ts"

/** The name under which the operator owns fields. */
export const fieldManager = "access-operator"

export const roles = Controller.make({ for: Role, owns: [ConfigMap], watches: [Scope], reconciler: role })

/** The same with the reconciler that is one function. */
export const rolesByFunction = Controller.make({
  for: Role,
  owns: [ConfigMap],
  watches: [Scope],
  reconciler: roleFunction
})

/** Roles say themselves when to count again; the timer is for those that cannot, because somebody made them malformed. */
export const scopes = Controller.make({
  for: Scope,
  polls: [Role],
  watches: [Watch.every("10 minutes")],
  reconciler: scope
})
