/**
 * The Role's reconciler: its row, under an external name that it has for itself.
 *
 * A Role without its Scope has no row. One whose external name belongs to another keeps the row that it had, if any, until the name is free.
 */
import * as Persisted from "@fixpoint/core/Persisted"
import * as Reconciler from "@fixpoint/core/Reconciler"
import { NotReady } from "@fixpoint/core/ReconcileError"
import * as Wake from "@fixpoint/core/Wake"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"
import { Role, Scope } from "../kinds.ts"
import { claim, disclaim, wakeClaimants } from "./claims.ts"
import { asked } from "./Database.ts"
import { finalizer, lives } from "./scopes.ts"

/** The name that the Role has outside of the cluster. */
const externalNameOf = ({ metadata, spec }: Role): string => spec.externalName ?? metadata.name

const scopeNotFound = ({ metadata: { namespace }, spec }: Role) =>
  new NotReady({ reason: "ScopeNotFound", message: `Scope ${namespace}/${spec.scope} is not in the database yet` })

const tellScopes = (namespace: string | undefined, names: Iterable<string | null | undefined>) =>
  Effect.forEach(
    new Set(names),
    (name) => (typeof name === "string" ? Wake.enqueue(Scope, { namespace, name }) : Effect.void),
    { discard: true }
  )

/** The uid of the Scope that the Role names, and the name of the one in which it has a row. */
const lookUp = ({ metadata: { namespace, uid }, spec }: Role) =>
  SqlClient.SqlClient.use(
    (sql) => sql<{ readonly wanted: string | null; readonly held: string | null }>`
      select
        (select uid from scopes where namespace = ${namespace} and name = ${spec.scope}) as wanted,
        (select scopes.name from roles join scopes on scopes.uid = roles.scope_uid where roles.uid = ${uid}) as held`
  ).pipe(Effect.map(([row]) => row ?? { wanted: null, held: null }))

/** True if that changed anything. */
const store = (role: Role, scopeUid: string) => {
  const { metadata, spec } = role
  const { name, namespace, uid } = metadata
  return SqlClient.SqlClient.use(
    (sql) => sql`
      insert into roles (uid, namespace, name, external_name, scope_uid, rules)
      values (${uid}, ${namespace}, ${name}, ${externalNameOf(role)}, ${scopeUid}, cast(${JSON.stringify(spec.rules)} as jsonb))
      on conflict (uid) do update
        set external_name = excluded.external_name, scope_uid = excluded.scope_uid, rules = excluded.rules
        where (roles.external_name, roles.scope_uid, roles.rules)
          <> (excluded.external_name, excluded.scope_uid, excluded.rules)
      returning uid`
  ).pipe(
    Effect.map((rows) => rows.length > 0),
    // The Scope went between the look and the write.
    Effect.catchIf(
      (error) => SqlError.isSqlError(error) && error.reason._tag === "ConstraintError",
      () => scopeNotFound(role)
    )
  )
}

/** Without its Scope the Role has no row, and waits. Unless the Scope came meanwhile: its uid. */
const awaitScope = (role: Role) =>
  Effect.gen(function* () {
    yield* forget(role.metadata.uid)
    yield* claim(role, { scope: role.spec.scope })
    const { wanted } = yield* lookUp(role)
    return wanted ?? (yield* scopeNotFound(role))
  })

const upsert = (role: Role) =>
  Effect.gen(function* () {
    const { namespace, uid } = role.metadata
    const { held, wanted } = yield* lookUp(role)
    const isChanged = yield* store(role, wanted ?? (yield* awaitScope(role)))
    yield* disclaim(uid)
    yield* wakeClaimants
    // They count their Roles.
    if (isChanged) yield* tellScopes(namespace, [held, role.spec.scope])
  }).pipe(asked)

/** The Role has no row any more, and waits for nothing. */
const forget = (uid: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const left = yield* sql<{ readonly namespace: string; readonly name: string }>`
      delete from roles using scopes where roles.uid = ${uid} and scopes.uid = roles.scope_uid
      returning scopes.namespace, scopes.name`
    yield* disclaim(uid)
    for (const { name, namespace } of left) yield* tellScopes(namespace, [name])
    yield* wakeClaimants
  })

const remove = (uid: string) => asked(forget(uid))

/** The rows that stand in the way: with the same external name, or of an object of the same name. */
const others = (role: Role) => {
  const { name, namespace, uid } = role.metadata
  return SqlClient.SqlClient.use(
    (sql) => sql<{ readonly uid: string; readonly namespace: string; readonly name: string }>`
      select uid, namespace, name from roles
      where uid <> ${uid} and (external_name = ${externalNameOf(role)} or (namespace = ${namespace} and name = ${name}))`
  )
}

/** A row whose object is gone is removed. One whose object lives has the name, and this Role waits until it gives it up. */
const onConflict = (role: Role) =>
  Effect.gen(function* () {
    for (const other of yield* others(role)) if (!(yield* lives(Role, other))) yield* forget(other.uid)
    const externalName = externalNameOf(role)
    yield* claim(role, { externalName })
    const [owner] = yield* others(role)
    if (owner !== undefined)
      return yield* new NotReady({
        reason: "NameTaken",
        message: `the external name ${externalName} belongs to Role ${owner.namespace}/${owner.name}`
      })
  }).pipe(asked)

export const role = Persisted.make({ for: Role, finalizer, upsert, delete: remove, onConflict }).pipe(
  Reconciler.status(({ object }) => ({ scope: object.spec.scope, rules: object.spec.rules.length }))
)
