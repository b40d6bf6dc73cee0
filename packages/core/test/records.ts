/** A store of records in memory, one for each object and no two of one name, which fails as a test says; and the kind that is persisted in it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Kind from "../src/Kind.ts"
import * as Persisted from "../src/Persisted.ts"
import { NotReady } from "../src/ReconcileError.ts"

const group = "persisted.example.com"

export class Grant extends Kind.make({
  group,
  version: "v1",
  kind: "Grant",
  scope: "Namespaced",
  spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) }),
  status: Schema.Struct({ passes: Schema.Int })
}) {}

/** The same as the server knows it: it takes what no Grant may be, and a field of which Grants know nothing. */
export class LooseGrant extends Kind.make({
  group,
  version: "v1",
  kind: "Grant",
  scope: "Namespaced",
  spec: Schema.Struct({
    scope: Schema.optionalKey(Schema.String),
    rules: Schema.optionalKey(Schema.Array(Schema.String)),
    note: Schema.optionalKey(Schema.String)
  }),
  status: Schema.Struct({ passes: Schema.Int })
}) {}

export interface Row {
  readonly uid: string
  readonly name: string
  readonly rules: string
}

export const rowOf = ({ metadata, spec }: Grant): Row => ({
  uid: metadata.uid,
  name: `${metadata.namespace}/${metadata.name}`,
  rules: spec.rules.join(",")
})

/** What is so before a call is done: it goes on if that succeeds. */
type Script = (row: { readonly uid: string; readonly name?: string }) => Effect.Effect<unknown, unknown>

const goOn: Script = () => Effect.void

export class Records extends Context.Service<
  Records,
  {
    readonly rows: Map<string, Row>
    /** Those that an object may name; others it waits for. */
    readonly scopes: Set<string>
    /** Each call, in order: `put editor`, `remove`, `evict editor`. */
    readonly asked: Array<string>
    readonly scripts: { put: Script; remove: Script; evict: Script }
    readonly knows: (scope: string) => Effect.Effect<boolean, Error>
    /** Fails as PostgreSQL does if a record of another object has the name. */
    readonly put: (row: Row) => Effect.Effect<void, unknown>
    readonly remove: (uid: string) => Effect.Effect<void, unknown>
    /** Removes the records of the name that are of other objects. */
    readonly evict: (row: Row) => Effect.Effect<void, unknown>
  }
>()("test/Records") {}

/** As a driver gives it to a library that wraps it. */
const unique = (name: string): Error =>
  new Error("persist: it failed", {
    cause: Object.assign(new Error(`duplicate key ${name}`), { code: "23505", constraint: "grant_name" })
  })

export const makeRecords = (): Records["Service"] => {
  const rows = new Map<string, Row>()
  const asked: Array<string> = []
  const scopes = new Set(["docs"])
  const scripts = { put: goOn, remove: goOn, evict: goOn }
  const brief = (name: string): string => name.slice(name.indexOf("/") + 1)
  return {
    rows,
    scopes,
    asked,
    scripts,
    knows: (scope) => Effect.sync(() => scopes.has(scope)),
    put: (row) =>
      Effect.suspend(() => {
        asked.push(`put ${brief(row.name)}`)
        return Effect.flatMap(scripts.put(row), () => {
          if ([...rows.values()].some(({ name, uid }) => name === row.name && uid !== row.uid))
            return Effect.fail(unique(row.name))
          rows.set(row.uid, row)
          return Effect.void
        })
      }),
    remove: (uid) =>
      Effect.suspend(() => {
        asked.push("remove")
        return Effect.map(scripts.remove({ uid }), () => void rows.delete(uid))
      }),
    evict: (row) =>
      Effect.suspend(() => {
        asked.push(`evict ${brief(row.name)}`)
        return Effect.map(scripts.evict(row), () => {
          for (const { name, uid } of rows.values()) if (name === row.name && uid !== row.uid) rows.delete(uid)
        })
      })
  }
}

export const layerRecords = (records: Records["Service"]): Layer.Layer<Records> => Layer.succeed(Records, records)

export const finalizer = "persisted.example.com/record"

/** `handlesConflicts`: an `onConflict` is given. */
export const persistedGrants = ({ handlesConflicts = true }: { readonly handlesConflicts?: boolean } = {}) =>
  Persisted.make({
    for: Grant,
    finalizer,
    upsert: (grant: Grant) =>
      Effect.gen(function* () {
        const records = yield* Records
        if (!(yield* records.knows(grant.spec.scope)))
          return yield* new NotReady({ reason: "ScopeNotFound", message: `scope ${grant.spec.scope} has no row yet` })
        yield* records.put(rowOf(grant))
      }),
    delete: (uid) => Records.use((records) => records.remove(uid)),
    ...(handlesConflicts && { onConflict: (grant: Grant) => Records.use((records) => records.evict(rowOf(grant))) })
  })
