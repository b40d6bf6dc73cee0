/** The Scope's reconciler: its row, how many Roles have one in it, and the Roles that wait for it. */
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
import { wakeClaimants, wakeWaiting } from "./claims.ts"

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

/** Wakes the Roles that name the Scope, whether they have a row or not. */
const wakeRoles = ({ name, namespace }: ObjectRef) =>
  Effect.flatMap(Cached.list(Role, { namespace }), (roles) =>
    Effect.forEach(
      roles.filter(({ spec }) => spec.scope === name),
      ({ metadata }) => Wake.enqueue(Role, metadata),
      { discard: true }
    )
  )

const upsert = (scope: Scope) =>
  Effect.gen(function* () {
    const { metadata, spec } = scope
    const { name, namespace, uid } = metadata
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      insert into scopes (uid, namespace, name, members)
      values (${uid}, ${namespace}, ${name}, cast(${JSON.stringify(spec.members)} as jsonb))
      on conflict (uid) do update set members = excluded.members where scopes.members <> excluded.members`
    yield* wakeWaiting(scope)
  }).pipe(asked)

/** A Scope that was deleted while nobody looked, finalizers and all, and made anew: the row is the new one's, and with it the rows of its Roles. */
const onConflict = ({ metadata: { name, namespace, uid } }: Scope) =>
  SqlClient.SqlClient.use(
    (sql) => sql`update scopes set uid = ${uid} where namespace = ${namespace} and name = ${name}`
  ).pipe(asked)

const remove = (uid: string, deleting?: Reconciler.Deleting<Scope>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly namespace: string; readonly name: string }>`
      delete from scopes where uid = ${uid} returning namespace, name`
    // They have lost their rows, and shall tell so. If the answer was lost the row is gone, and the object tells who it was.
    const ref = deleting?.ref ?? rows[0]
    if (ref !== undefined) yield* wakeRoles(ref)
    yield* wakeClaimants
  }).pipe(asked)

/** How many Roles have a row in this Scope. */
const count = ({ metadata: { uid } }: Scope) =>
  SqlClient.SqlClient.use(
    (sql) => sql<{ readonly n: number }>`select count(*)::int as n from roles where scope_uid = ${uid}`
  ).pipe(
    Effect.map(([row]) => row?.n ?? 0),
    asked,
    Effect.mapError(ReconcileError.classify)
  )

export const scope = Persisted.make({ for: Scope, finalizer, upsert, delete: remove, onConflict }).pipe(
  Reconciler.bind("roles", ({ object }) => count(object)),
  Reconciler.status(({ roles }) => ({ roles }))
)
