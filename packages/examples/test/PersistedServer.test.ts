import { inspect } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as Database from "../src/access/persisted/Database.ts"
import { outage, stories } from "./persistedStory.ts"
import { world } from "./persistedWorld.ts"
import { binaries, password, type Postgres, postgres } from "./postgres.ts"

let server: Postgres
const scope = Scope.makeUnsafe()

/** The server, by another database of its own: empty. */
const databaseOf = (name: string) =>
  SqlClient.SqlClient.use((sql) => sql.unsafe(`create database ${name}`)).pipe(
    Effect.provide(Database.layerServer(server.url), { local: true }),
    Effect.as(Database.layerServer(Redacted.make(Redacted.value(server.url).replace("/postgres?", `/${name}?`))))
  )

describe.skipIf(binaries === undefined)(
  `the access operator in persisted mode, on PostgreSQL${binaries === undefined ? ": not installed here" : ""}`,
  { timeout: 240_000 },
  () => {
    beforeAll(async () => {
      server = await Effect.runPromise(Effect.provideService(postgres(binaries!), Scope.Scope, scope))
    }, 240_000)
    afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

    it.effect.each(Object.keys(stories))("comes to the same as on the embedded one: %s", (name) =>
      Effect.gen(function* () {
        const database = yield* databaseOf(`story_${Object.keys(stories).indexOf(name)}`)
        yield* Effect.provide(stories[name]!, world(database), { local: true })
      })
    )

    it.effect("a server that is killed and started again a minute later is found again without a restart", () =>
      Effect.gen(function* () {
        const port = new URL(Redacted.value(server.url)).port
        const database = yield* databaseOf("outage")
        yield* outage(
          { down: server.kill, up: server.start },
          `the database: connect ECONNREFUSED 127.0.0.1:${port}`
        ).pipe(Effect.provide(world(database)))
      })
    )

    it.live("operators that start at the same time make the tables once, and a later one makes nothing", () =>
      Effect.gen(function* () {
        const count = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ readonly n: number }>`select count(*)::int as n from access_migrations`
          yield* sql`select from claims`
          return row?.n
        })
        const database = yield* databaseOf("together")
        const one = Effect.suspend(() => Effect.provide(count, Layer.fresh(database), { local: true }))
        const counts = yield* Effect.all(
          Array.from({ length: 6 }, () => one),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual([...counts, yield* one], [1, 1, 1, 1, 1, 1, 1])
      })
    )

    it.live("what cannot be reached is told in one line, without the password", () =>
      Effect.gen(function* () {
        const fails = (url: string) =>
          Effect.map(Effect.exit(Effect.scoped(Layer.build(Database.layerServer(Redacted.make(url))))), (exit) => {
            if (!Exit.isFailure(exit)) return "it does not fail"
            const error = Cause.squash(exit.cause)
            assert.notInclude(`${inspect(error, { depth: 9 })}${Cause.pretty(exit.cause)}`, password)
            return (error as Error).message
          })
        const known = Redacted.value(server.url)
        assert.strictEqual(
          yield* fails(known.replace("access:", "nobody:")),
          'cannot prepare the tables of the records: the database: password authentication failed for user "nobody"'
        )
        yield* server.kill
        assert.match(yield* fails(known), /^cannot prepare [^\n]+ECONNREFUSED 127\.0\.0\.1:\d+$/)
        yield* server.start
        for (const wrong of [password, `mysql://root:${password}@127.0.0.1/x`, `postgres://a:${password}@[/x`])
          assert.strictEqual(
            yield* fails(wrong),
            "DATABASE_URL must be such as postgres://user:password@host:5432/database"
          )
      })
    )
  }
)
