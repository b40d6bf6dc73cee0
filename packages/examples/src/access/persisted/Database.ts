/**
 * The database of the records: PostgreSQL, on a server or in this process. Whatever it is, the reconcilers see Effect's `SqlClient`.
 *
 * Assumptions: a folder of an embedded database is used by one process at a time.
 * Caveat: an embedded one does its work in this thread: fit for trying things out and for tests, and seconds of work at the first start.
 */
import { PgClient } from "@effect/sql-pg"
import type { PGlite } from "@electric-sql/pglite"
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import * as SqlError from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { migrate } from "./migrations.ts"

/** The database refused, could not be reached or did not answer; says so without the URL it was reached by. */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{
  readonly message: string
  readonly cause?: unknown
}> {}

/** What the database itself says is the innermost; the layers around it name themselves. */
const textOf = (error: SqlError.SqlError): string => {
  const { cause } = error.reason
  const message = cause instanceof Error ? cause.message : ""
  return message === "" ? error.message : message
}

/** So long is waited for all that one pass asks of the database. */
const patience = "10 seconds"

/** With failures that tell people what the database said; one that does not answer in time, within 10 s by default, is a failure too. */
export const asked = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  within: "10 seconds" | "1 minute" = patience
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | DatabaseError, R> =>
  effect.pipe(
    Effect.mapError((error) =>
      SqlError.isSqlError(error)
        ? new DatabaseError({ message: `the database: ${textOf(error)}`, cause: error })
        : (error as Exclude<E, SqlError.SqlError>)
    ),
    Effect.timeoutOrElse({
      duration: within,
      orElse: () => Effect.fail(new DatabaseError({ message: `the database did not answer within ${within}` }))
    })
  )

/** What an embedded database is asked: one statement, and its rows as objects or as arrays. */
export type Query = (sql: string, params: ReadonlyArray<unknown>, rows: "object" | "array") => Promise<Array<any>>

const reasonOf = (cause: unknown): SqlError.SqlErrorReason => {
  const { code, constraint, message } = cause as Partial<Record<"code" | "constraint" | "message", string>>
  const properties = { cause, message: message ?? "it failed", operation: "execute" }
  if (code === "23505") return new SqlError.UniqueViolation({ ...properties, constraint: constraint ?? "unknown" })
  if (code?.startsWith("23") === true) return new SqlError.ConstraintError(properties)
  return new SqlError.UnknownError(properties)
}

const connectionOf = (query: Query): Connection => {
  // What is asked cannot be called back: whoever is interrupted hears first how it ended.
  const run = (sql: string, params: ReadonlyArray<unknown>, rows: "object" | "array") =>
    Effect.uninterruptible(
      Effect.tryPromise({
        try: () => query(sql, params, rows),
        catch: (cause) => new SqlError.SqlError({ reason: reasonOf(cause) })
      })
    )
  const execute: Connection["execute"] = (sql, params, transform) =>
    Effect.map(run(sql, params, "object"), (rows) => transform?.(rows) ?? rows)
  return {
    execute,
    executeRaw: (sql, params) => run(sql, params, "object"),
    executeValues: (sql, params) => run(sql, params, "array"),
    executeValuesUnprepared: (sql, params) => run(sql, params, "array"),
    executeUnprepared: execute,
    executeStream: (sql, params, transform) => Stream.fromIterableEffect(execute(sql, params, transform))
  }
}

/** A client over one connection, which one statement or transaction has at a time. */
export const layerQuery = (query: Query): Layer.Layer<SqlClient.SqlClient> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const semaphore = yield* Semaphore.make(1)
      const connection = connectionOf(query)
      return yield* SqlClient.make({
        acquirer: Effect.as(
          Effect.acquireRelease(semaphore.take(1), () => semaphore.release(1), { interruptible: true }),
          connection
        ),
        borrower: (use) => semaphore.withPermits(1)(use(connection)),
        compiler: PgClient.makeCompiler(),
        driver: "pglite",
        spanAttributes: [["db.system.name", "postgresql"]]
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** The statements of a PGlite. */
export const queryOf =
  (database: PGlite): Query =>
  async (sql, params, rowMode) =>
    (await database.query<any>(sql, [...params], { rowMode })).rows

const failing = (error: DatabaseError): Layer.Layer<SqlClient.SqlClient, DatabaseError> =>
  Layer.unwrap(Effect.fail(error))

/** With the tables that the reconcilers need. */
export const prepared = <E extends Error>(
  client: Layer.Layer<SqlClient.SqlClient, E>
): Layer.Layer<SqlClient.SqlClient, DatabaseError> =>
  // Another operator may be at it: longer than a statement may take.
  Layer.effectDiscard(asked(migrate, "1 minute")).pipe(
    Layer.provideMerge(client),
    Layer.catch((cause) =>
      failing(new DatabaseError({ message: `cannot prepare the tables of the records: ${cause.message}`, cause }))
    )
  )

/** In this process, in memory, or in a folder that is made if it is not there. */
export const layerEmbedded = (folder?: string): Layer.Layer<SqlClient.SqlClient, DatabaseError> =>
  prepared(
    Layer.unwrap(
      Effect.acquireRelease(
        Effect.tryPromise({
          // Most of it is WebAssembly: loaded where it is used.
          try: async () =>
            (await import("@electric-sql/pglite")).PGlite.create(folder === undefined ? {} : { dataDir: folder }),
          catch: (cause) => new DatabaseError({ message: `PGlite does not start: ${(cause as Error).message}`, cause })
        }),
        (database) => Effect.promise(() => database.close())
      ).pipe(Effect.map((database) => layerQuery(queryOf(database))))
    )
  )

/** The URL without what it may hold of secrets if it cannot be understood. */
const isUrl = (url: string): boolean => {
  try {
    return ["postgres:", "postgresql:"].includes(new URL(url).protocol)
  } catch {
    return false
  }
}

/** On a server: `postgres://user:password@host:5432/database`. A pool of 10 connections, made when they are needed. */
export const layerServer = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, DatabaseError> =>
  isUrl(Redacted.value(url))
    ? prepared(
        PgClient.layer({
          url,
          applicationName: "access-operator",
          connectTimeout: "5 seconds",
          // What nobody waits for any more ends too.
          startupParameters: { statement_timeout: "60000" }
        })
      )
    : failing(
        new DatabaseError({ message: "DATABASE_URL must be such as postgres://user:password@host:5432/database" })
      )

/** As the environment says: DATABASE_URL, a server; else DATABASE_FOLDER, embedded in this folder; else embedded in memory. */
export const layer: Layer.Layer<SqlClient.SqlClient, DatabaseError | Config.ConfigError> = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Config.option(Config.Redacted("DATABASE_URL"))
    const folder = yield* Config.option(Config.String("DATABASE_FOLDER"))
    return Option.isSome(url) ? layerServer(url.value) : layerEmbedded(Option.getOrUndefined(folder))
  })
)
