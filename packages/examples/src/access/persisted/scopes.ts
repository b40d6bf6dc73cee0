/** The Scope's reconciler: its row, and the Roles that wait for it. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Cached from "@fixpoint/core/Cached"
import type * as Kind from "@fixpoint/core/Kind"
import type { ObjectRef } from "@fixpoint/core/KubeObject"
import * as Persisted from "@fixpoint/core/Persisted"
import * as Reconciler from "@fixpoint/core/Reconciler"
import * as ReconcileError from "@fixpoint/core/ReconcileError"
import * as Wake from "@fixpoint/core/Wake"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { Role, Scope } from "../kinds.ts"
import { asked } from "./Database.ts"
import { wakeClaimants } from "./claims.ts"

/** On every object before it has a row. */
export const finalizer = "access.example.com/record"

/** Whether the object of that uid is still there, as the API server says. A record without one is left over. */
export const lives = (
  kind: Kind.Any,
  { name, namespace, uid }: { readonly namespace: string; readonly name: string; readonly uid: string }
): Effect.Effect<boolean, ApiError, ApiClient> =>
  ApiClient.use((api) => api.get(kind, { namespace, name })).pipe(
    Effect.map(({ metadata }) => metadata.uid === uid),
    Effect.catchReason("ApiError", "NotFound", () => Effect.succeed(false))
  )

/** The Roles that name the Scope, whether they have a row or not. */
const rolesNaming = ({ name, namespace }: ObjectRef) =>
  Effect.map(Cached.list(Role, { namespace }), (roles) => roles.filter(({ spec }) => spec.scope === name))

const wake = (roles: ReadonlyArray<Role>) =>
  Effect.forEach(roles, ({ metadata }) => Wake.enqueue(Role, metadata), { discard: true })

const upsert = ({ metadata: { name, namespace, uid }, spec }: Scope) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      insert into scopes (uid, namespace, name, members)
      values (${uid}, ${namespace}, ${name}, cast(${JSON.stringify(spec.members)} as jsonb))
      on conflict (uid) do update set members = excluded.members where scopes.members <> excluded.members`
  }).pipe(asked)

/** A Scope that was deleted while nobody looked, finalizers and all, and made anew. Its Roles get their rows again. */
const onConflict = ({ metadata: { name, namespace, uid } }: Scope) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`delete from scopes where namespace = ${namespace} and name = ${name} and uid <> ${uid}`
    yield* wakeClaimants
  }).pipe(asked)

const remove = (uid: string, deleting?: Reconciler.Deleting<Scope>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly namespace: string; readonly name: string }>`
      delete from scopes where uid = ${uid} returning namespace, name`
    // They have lost their rows, and shall tell so. If the answer was lost the row is gone, and the object tells who it was.
    const ref = deleting?.ref ?? rows[0]
    if (ref !== undefined) yield* Effect.flatMap(rolesNaming(ref), wake)
    yield* wakeClaimants
  }).pipe(asked)

/** The uids of the Roles that have a row in this Scope. */
const stored = ({ metadata: { uid } }: Scope) =>
  SqlClient.SqlClient.use((sql) => sql<{ readonly uid: string }>`select uid from roles where scope_uid = ${uid}`).pipe(
    Effect.map((rows) => new Set(rows.map((row) => row.uid))),
    asked,
    Effect.mapError(ReconcileError.classify)
  )

/**
 * Wakes the Roles that name the Scope and have no row in it. Told anew in each pass from what is so, not from what this pass did: a wake that was lost with an
 * answer or a process is made up for.
 */
const wakeWaiting = (scope: Scope, uids: ReadonlySet<string>) =>
  Effect.flatMap(rolesNaming(scope.metadata), (roles) => wake(roles.filter(({ metadata }) => !uids.has(metadata.uid))))

export const scope = Persisted.make({ for: Scope, finalizer, upsert, delete: remove, onConflict }).pipe(
  Reconciler.bind("stored", ({ object }) => stored(object)),
  Reconciler.tap(({ object, stored }) => wakeWaiting(object, stored)),
  Reconciler.status(({ stored }) => ({ roles: stored.size }))
)
