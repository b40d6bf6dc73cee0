/** Roles that wait for an external name which another Role has: the one that gives it up wakes them. */
import * as Wake from "@fixpoint/core/Wake"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { Role } from "../kinds.ts"

interface Claimant {
  readonly namespace: string
  readonly name: string
}

/** Written before the last look at the name: whoever gives it up afterwards finds the claim. */
export const claim = ({ metadata: { name, namespace, uid } }: Role, externalName: string) =>
  SqlClient.SqlClient.use(
    (sql) => sql`
      insert into claims (uid, namespace, name, external_name) values (${uid}, ${namespace}, ${name}, ${externalName})
      on conflict (uid) do update set external_name = excluded.external_name`
  )

/** The Role of this uid waits for no name. */
export const disclaim = (uid: string) => SqlClient.SqlClient.use((sql) => sql`delete from claims where uid = ${uid}`)

/** Wakes the Roles whose name nobody has any more. Asked after all that may free a name, whether it did or not: no wake is lost with an answer. */
export const wakeClaimants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const free = yield* sql<Claimant>`
    select namespace, name from claims
    where not exists (select from roles where roles.external_name = claims.external_name)`
  yield* Effect.forEach(free, ({ name, namespace }) => Wake.enqueue(Role, { namespace, name }), { discard: true })
})
