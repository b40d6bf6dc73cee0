/**
 * Roles that wait: for an external name which another Role has, or for a Scope that has no row. Who makes what they wait for wakes them. A claim is written before
 * the last look at what it waits for, so whoever makes that afterwards finds the claim; and it is read in every pass that may have made it, whether it did or not:
 * no wake is lost with an answer.
 */
import * as Wake from "@fixpoint/core/Wake"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { Role, type Scope } from "../kinds.ts"

interface Claimant {
  readonly namespace: string
  readonly name: string
}

/** The Role waits for this, and for nothing else. */
export const claim = (
  { metadata: { name, namespace, uid } }: Role,
  { externalName, scope }: { readonly externalName?: string; readonly scope?: string }
) =>
  SqlClient.SqlClient.use(
    (sql) => sql`
      insert into claims (uid, namespace, name, external_name, scope)
      values (${uid}, ${namespace}, ${name}, ${externalName ?? null}, ${scope ?? null})
      on conflict (uid) do update set external_name = excluded.external_name, scope = excluded.scope`
  )

/** The Role of this uid waits for nothing. */
export const disclaim = (uid: string) => SqlClient.SqlClient.use((sql) => sql`delete from claims where uid = ${uid}`)

const wake = (claimants: ReadonlyArray<Claimant>) =>
  Effect.forEach(claimants, ({ name, namespace }) => Wake.enqueue(Role, { namespace, name }), { discard: true })

/** Wakes the Roles whose external name nobody has any more. */
export const wakeClaimants = SqlClient.SqlClient.use(
  (sql) => sql<Claimant>`
    select namespace, name from claims
    where external_name is not null
      and not exists (select from roles where roles.external_name = claims.external_name)`
).pipe(Effect.flatMap(wake))

/** Wakes the Roles that wait for this Scope. */
export const wakeWaiting = ({ metadata: { name, namespace } }: Scope) =>
  SqlClient.SqlClient.use(
    (sql) => sql<Claimant>`select namespace, name from claims where namespace = ${namespace} and scope = ${name}`
  ).pipe(Effect.flatMap(wake))
