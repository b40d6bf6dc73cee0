/** The tables of the records. They are made at start, once, however many operators start at the same time: each waits for a lock on the table of migrations. */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"

const records = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table scopes (
      uid text primary key,
      namespace text not null,
      name text not null,
      members jsonb not null,
      constraint scopes_object unique (namespace, name)
    )`
  // With a Scope go the rows of its Roles: no row without its Scope. One that was made anew takes them over.
  yield* sql`
    create table roles (
      uid text primary key,
      namespace text not null,
      name text not null,
      external_name text not null constraint roles_external_name unique,
      scope_uid text not null constraint roles_scope references scopes (uid) on delete cascade on update cascade,
      rules jsonb not null,
      constraint roles_object unique (namespace, name)
    )`
  yield* sql`create index roles_of_scope on roles (scope_uid)`
  // Who waits for an external name that another Role has, or for a Scope.
  yield* sql`
    create table claims (
      uid text primary key,
      namespace text not null,
      name text not null,
      external_name text,
      scope text
    )`
  yield* sql`create index claims_of_scope on claims (namespace, scope)`
})

/** Makes what is not there yet, in one transaction. */
export const migrate = Migrator.make({})({
  loader: Migrator.fromRecord({ "1_records": records }),
  table: "access_migrations"
})
