/** The Scope's reconciler: counts the Roles that name it. */
import * as Cached from "@fixpoint/core/Cached"
import * as Reconciler from "@fixpoint/core/Reconciler"
import { Role, Scope } from "./kinds.ts"

/** A Role that is being deleted no longer counts, nor does one that is malformed. */
const names = (role: Role, scope: Scope): boolean =>
  role.spec.scope === scope.metadata.name && role.metadata.deletionTimestamp === undefined

export const scope = Reconciler.for(Scope).pipe(
  Reconciler.bind("roles", ({ object }) => Cached.list(Role, { namespace: object.metadata.namespace })),
  Reconciler.status(({ object, roles }) => ({ roles: roles.filter((role) => names(role, object)).length }))
)
