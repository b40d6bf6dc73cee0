/** The rows of the records in persisted mode, as the demo shows them, and one way to spoil them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { asked, type DatabaseError } from "../persisted/Database.ts"

/** A row of a table. */
export interface RecordRow {
  readonly table: "scopes" | "roles"
  readonly uid: string
  readonly name: string
  /** Of a Role: its name outside of the cluster. */
  readonly externalName: string
  /** Of a Role: the name of its Scope. */
  readonly scope: string
}

export interface Access {
  /** All of one namespace, by their names. */
  readonly rows: (namespace: string) => Effect.Effect<ReadonlyArray<RecordRow>, DatabaseError>
  /** Leaves a row of a Role that is not there, in a Scope that has a row: what a restored backup may do. */
  readonly leaveOver: (namespace: string, name: string, scope: string) => Effect.Effect<void, DatabaseError>
}

/** Undefined where nothing is persisted. */
export const Records = Context.Reference<Access | undefined>("@fixpoint/examples/demo/Records", {
  defaultValue: () => undefined
})

export const access: Effect.Effect<Access, never, SqlClient.SqlClient> = SqlClient.SqlClient.useSync((sql) => ({
  rows: (namespace) =>
    asked(sql<RecordRow>`
      select 'scopes' as table, uid, name, '' as "externalName", '' as scope from scopes where namespace = ${namespace}
      union all
      select 'roles', roles.uid, roles.name, external_name, scopes.name from roles
      join scopes on scopes.uid = scope_uid where roles.namespace = ${namespace}
      order by 1 desc, 3`),
  leaveOver: (namespace, name, scope) =>
    Effect.asVoid(
      asked(sql`
        insert into roles (uid, namespace, name, external_name, scope_uid, rules)
        select ${`left-over-${name}`}, ${namespace}, ${name}, ${name}, uid, '[]'::jsonb from scopes
        where namespace = ${namespace} and name = ${scope}`)
    )
}))
