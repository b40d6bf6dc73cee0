/** The Scope's reconciler: counts the Roles that name it. */
import * as Cached from "@fixpoint/core/Cached"
import * as Reconciler from "@fixpoint/core/Reconciler"
import { Role, Scope } from "./kinds.ts"

/**
 * A Role counts once its status names the Scope too: by that it knows whom to tell when it leaves, and nothing that it told before could be lost in between. One
 * that is being deleted, or is malformed, counts no longer.
 */
const counts = ({ metadata, spec, status }: Role, scope: Scope): boolean =>
  spec.scope === scope.metadata.name &&
  status?.scope === scope.metadata.name &&
  metadata.deletionTimestamp === undefined

export const scope = Reconciler.for(Scope).pipe(
  Reconciler.bind("roles", ({ object }) => Cached.list(Role, { namespace: object.metadata.namespace })),
  Reconciler.status(({ object, roles }) => ({ roles: roles.filter((role) => counts(role, object)).length }))
)
