/** The operator in persisted mode on a cluster in memory, over a database of the test's choice; how it is started, comes to rest and is looked at. */
import { PGlite } from "@electric-sql/pglite"
import { ApiServer } from "@fixpoint/apiserver/ApiServer"
import { ApiClient } from "@fixpoint/core/ApiClient"
import { FieldManager } from "@fixpoint/core/FieldManager"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as Manager from "@fixpoint/core/Manager"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { Role, Scope as AccessScope } from "../src/access/kinds.ts"
import { fieldManager } from "../src/access/operator.ts"
import * as Database from "../src/access/persisted/Database.ts"
import { persistedRoles, persistedScopes } from "../src/access/persisted/operator.ts"
import { at, events, memory, ready, roleManifest, scopeManifest } from "./world.ts"

/** One database for the whole file, whose start costs seconds; each test begins with an empty one. */
let shared: Promise<PGlite> | undefined

/** What a test does to the database. */
export interface Trouble {
  /** Every statement fails from now on. */
  isDown: boolean
  /** Asked before each statement, with its text: true makes it fail unheard; "lost" lets it be done and its answer be lost. */
  hits: (statement: string) => boolean | "lost"
}

export const noTrouble = (): Trouble => ({ isDown: false, hits: () => false })

const troubled =
  (query: Database.Query, trouble: Trouble): Database.Query =>
  async (sql, params, rows) => {
    if (trouble.isDown) throw new Error("connect ECONNREFUSED")
    const hit = trouble.hits(sql)
    if (hit === true) throw new Error("connection reset")
    const answer = await query(sql, params, rows)
    if (hit === "lost") throw new Error("connection reset after the statement")
    return answer
  }

/** Embedded, in memory and empty. */
export const embedded = (trouble: Trouble): Layer.Layer<SqlClient.SqlClient, Database.DatabaseError> =>
  Layer.unwrap(
    Effect.promise(async () => {
      const isFirst = shared === undefined
      const database = await (shared ??= PGlite.create())
      if (!isFirst) await database.exec("truncate scopes, roles, claims")
      return Database.prepared(Database.layerQuery(troubled(Database.queryOf(database), trouble)))
    })
  )

/** A cluster in memory, and that database. */
export const world = <E>(database: Layer.Layer<SqlClient.SqlClient, E>) => Layer.merge(memory(), database)

const controllers = [persistedRoles, persistedScopes] as const

/** Starts the operator; it runs until it is stopped, or the test's scope ends. */
export const startWith = Effect.fnUntraced(function* (grace: "1 millis" | "30 seconds") {
  const passes: Array<string> = []
  const scope = yield* Scope.fork(yield* Effect.scope)
  const operator = Manager.layer(controllers, { grace }).pipe(
    Layer.provide(
      Layer.succeed(Manager.OnSettled, ({ kind, outcome, reason, ref }) => {
        passes.push(`${kind.kind} ${ref.name}: ${outcome} ${reason}`)
      })
    ),
    Layer.provide(Layer.succeed(FieldManager, fieldManager))
  )
  const wakes = yield* Layer.buildWithScope(operator, scope)
  return { passes, wakes, stop: Scope.close(scope, Exit.void) }
})

export const start = startWith("30 seconds")

export type Operator = Effect.Success<typeof start>

const tick = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))

/** The operator has nothing to do; statements take real time, the clock of the test stands still. */
export const quiet = ({ wakes }: Operator) =>
  Effect.gen(function* () {
    const server = yield* ApiServer
    const { queues } = yield* Manager.Manager
    for (let before = -1, still = 0; still < 3;) {
      yield* Effect.repeat(Effect.yieldNow, { times: 10 })
      yield* tick
      const asked = (yield* server.log).length
      const isIdle = (yield* queues).every(({ queue }) => queue.ready === 0 && queue.processing.length === 0)
      still = isIdle && asked === before ? still + 1 : 0
      before = asked
    }
  }).pipe(Effect.provideContext(wakes))

/**
 * The clock goes on, and every few seconds the operator comes to rest: statements take none of the clock's time, and what is waited for in seconds must not run
 * out while they are under way.
 */
export const pass = Effect.fnUntraced(function* (operator: Operator, seconds: number) {
  for (let left = seconds; left > 0; left -= 5) {
    yield* TestClock.adjust(Math.min(left, 5) * 1_000)
    yield* quiet(operator)
  }
})

export const createScope = (name: string, members?: ReadonlyArray<string>) =>
  ApiClient.use((api) => api.create(AccessScope, scopeManifest(name, members)))
export const createRole = (name: string, spec: object = {}) =>
  ApiClient.use((api) => api.create(Role, roleManifest(name, spec)))
export const edit = (kind: typeof Role | typeof AccessScope, name: string, spec: object) =>
  ApiClient.use((api) => api.patch(kind, at(name), { type: "merge", body: { spec } }, { fieldManager: "user" }))
export const remove = (kind: typeof Role | typeof AccessScope, name: string) =>
  ApiClient.use((api) => api.delete(kind, at(name)))

const title = (object: KubeObject): string => `${object.kind} ${object.metadata.name}: ${ready(object)}`

/** One line an object. */
export const told = Effect.gen(function* () {
  const server = yield* ApiServer
  return (yield* Effect.forEach([AccessScope, Role], server.objects)).flat().map(title)
})

/** One line a row, by the names alone. */
export const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const scopes = yield* sql<any>`select name, members from scopes order by name`
  const roles = yield* sql<any>`
    select roles.name, external_name, scopes.name as scope, rules
    from roles join scopes on scopes.uid = roles.scope_uid order by roles.name`
  return [
    ...scopes.map(({ members, name }) => `Scope ${name} of ${members.join(", ")}`),
    ...roles.map(
      ({ external_name, name, rules, scope }) =>
        `Role ${name} as ${external_name} in ${scope}, for ${rules.map(({ resource }: any) => resource).join(", ")}`
    )
  ]
})

/** Rows of objects that are not there, and objects that tell they are Synced and have no row of theirs. */
export const disagreements = Effect.gen(function* () {
  const server = yield* ApiServer
  const sql = yield* SqlClient.SqlClient
  const faults: Array<string> = []
  for (const [kind, uids] of [
    [AccessScope, yield* sql<{ readonly uid: string }>`select uid from scopes`],
    [Role, yield* sql<{ readonly uid: string }>`select uid from roles`]
  ] as const) {
    const objects = yield* server.objects(kind)
    const stored = new Set(uids.map(({ uid }) => uid))
    for (const object of objects)
      if (ready(object) === "True Synced" && !stored.delete(object.metadata.uid))
        faults.push(`${title(object)}, but it has no row`)
    const live = new Set(objects.map(({ metadata }) => metadata.uid))
    for (const uid of stored) if (!live.has(uid)) faults.push(`a row of a ${kind.kind} that is gone: ${uid}`)
  }
  return faults
})

/** What was told of the objects, one line an Event. */
export const said = Effect.gen(function* () {
  const server = yield* ApiServer
  return (yield* server.objects(events))
    .map((event) => {
      const { count, involvedObject, reason, type } = event as Readonly<Record<string, any>>
      return `${type} ${reason} ${involvedObject.kind} ${involvedObject.name} (${count})`
    })
    .sort()
})

/** The text of an object's condition Ready. */
export const messageOf = (name: string) =>
  Effect.map(
    ApiClient.use((api) => api.get(Role, at(name))),
    ({ status }) => (status as any).conditions.find((one: any) => one.type === "Ready").message as string
  )
