/**
 * Finds records of objects that are no more: a finalizer that somebody took off by hand, or a cluster that was restored, leaves them for ever (X15). Off unless
 * its Layer is given.
 *
 * Guarantees: a record is an orphan only if its object is missing from a whole list that was read after the record, and then from a read of its own; so no
 * record of a living object is one, however objects come and go meanwhile. A list that fails ends the sweep with a line and without a removal. At most
 * `perMinute` removals a minute, and none at all where more than half of the records look like orphans: that is another cluster, or a CRD made anew.
 * Assumptions: every record is of an object of the kind in `namespaces`, in the cluster of the `ApiClient`; one process sweeps, see `Leadership`.
 * Caveat: the uids of all living objects are held in memory while a sweep runs.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { ApiClient, formatResource, pages } from "./ApiClient.ts"
import type { ApiError } from "./ApiError.ts"
import { isGone } from "./internal/isGone.ts"
import type * as Kind from "./Kind.ts"
import { formatRef, type ObjectRef } from "./KubeObject.ts"
import { Leadership } from "./Leadership.ts"
import { textOf } from "./ReconcileError.ts"

/** What a store knows of the object that a record was made for. */
export interface StoredRecord {
  readonly uid: string
  readonly ref: ObjectRef
}

export interface Options<E, R, E2, R2> {
  readonly for: Kind.Any
  /** The record of every object, in any order. */
  readonly stored: Stream.Stream<StoredRecord, E, R>
  /** `report` logs what it finds; `remove` also removes it. */
  readonly orphans: "report" | "remove"
  /** Removes the record; `finalize` of a `Persisted` does. Succeeds if nothing is there. */
  readonly remove: (ref: ObjectRef, uid: string) => Effect.Effect<unknown, E2, R2>
  /** From the end of one sweep to the next; the first begins after this time too. Default 1 hour. */
  readonly every?: Duration.Input
  /** Removals a minute at most. Default 60. */
  readonly perMinute?: number
  /** Those that the records are of. Default: all. */
  readonly namespaces?: ReadonlyArray<string>
}

/** What one sweep came to. */
export interface Swept {
  readonly records: number
  readonly orphans: ReadonlyArray<StoredRecord>
  readonly removed: number
}

/** Orphans of one sweep that are looked at; the next sweep finds the rest. */
const orphansMax = 1_000
/** Orphans that a line names. */
const namedMax = 5
const pageSize = 500

const uidsIn = (
  kind: Kind.Any,
  namespace: string | undefined
): Effect.Effect<ReadonlyArray<string>, ApiError, ApiClient> =>
  pages(kind, { limit: pageSize, ...(namespace !== undefined && { namespace }) }).pipe(
    Stream.map(({ items }) => items.map(({ metadata }) => metadata.uid)),
    Stream.runCollect,
    Effect.map((all) => all.flat())
  )

const namesOf = (orphans: ReadonlyArray<StoredRecord>): string => {
  const named = orphans.slice(0, namedMax).map(({ ref, uid }) => `${formatRef(ref)} (${uid})`)
  return [...named, ...(orphans.length > namedMax ? [`and ${orphans.length - namedMax} more`] : [])].join(", ")
}

/** Sweeps once. Fails as the store or the list does, and with what a removal fails. */
export const once = Effect.fnUntraced(function* <E, R, E2, R2>(
  options: Options<E, R, E2, R2>
): Effect.fn.Return<Swept, E | E2 | ApiError, R | R2 | ApiClient> {
  const { for: kind, namespaces, orphans: choice, perMinute = 60, remove } = options
  const api = yield* ApiClient
  const records = yield* Stream.runCollect(options.stored)
  const live = new Set<string>()
  for (const namespace of namespaces ?? [undefined]) for (const uid of yield* uidsIn(kind, namespace)) live.add(uid)
  const missing = records.filter(({ uid }) => !live.has(uid))
  const orphans: Array<StoredRecord> = []
  for (const record of missing.slice(0, orphansMax))
    if (yield* isGone(api, kind, record.ref, record.uid)) orphans.push(record)
  const swept: Swept = { records: records.length, orphans, removed: 0 }
  if (orphans.length === 0) return swept
  const found = `${missing.length} of ${records.length} records of ${formatResource(kind)} have no object: ${namesOf(orphans)}`
  if (choice === "report") {
    yield* Effect.logWarning(`${found}; nothing is removed`)
    return swept
  }
  // A handful may well be all there is.
  if (missing.length > 10 && missing.length * 2 > records.length) {
    yield* Effect.logError(
      `${found}; none is removed, since more than half are missing: is this the cluster that the records are of?`
    )
    return swept
  }
  yield* Effect.logWarning(`${found}; they are removed`)
  let removed = 0
  for (const { ref, uid } of orphans) {
    if (removed > 0) yield* Effect.sleep(Duration.millis(60_000 / perMinute))
    yield* remove(ref, uid)
    removed++
  }
  return { ...swept, removed }
})

/**
 * Sweeps again and again while this process leads. A sweep that fails is told in one line, and the next one begins as usual.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 * import { Kind, OrphanSweep } from "@fixpoint/core"
 *
 * class Role extends Kind.make({
 *   group: "access.example.com", version: "v1", kind: "Role", scope: "Namespaced",
 *   spec: Schema.Struct({ scope: Schema.String })
 * }) {}
 * const rows = new Map([["u1", { namespace: "team", name: "editor" }]])
 *
 * export const sweep = OrphanSweep.layer({
 *   for: Role,
 *   stored: Stream.suspend(() => Stream.fromIterable([...rows].map(([uid, ref]) => ({ uid, ref })))),
 *   orphans: "remove",
 *   remove: (_, uid) => Effect.sync(() => rows.delete(uid))
 * })
 * ```
 */
export const layer = <E, R, E2, R2>(options: Options<E, R, E2, R2>): Layer.Layer<never, never, R | R2 | ApiClient> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const leadership = yield* Leadership
      const sweep = Effect.result(once(options)).pipe(
        Effect.flatMap((swept) =>
          Result.isFailure(swept)
            ? Effect.logWarning(
                `the sweep for orphaned records of ${formatResource(options.for)} failed: ${textOf(swept.failure)}; trying again later`
              )
            : Effect.void
        ),
        Effect.catchDefect((defect) =>
          Effect.logError(
            `the sweep for orphaned records of ${formatResource(options.for)} broke; trying again later`,
            defect
          )
        )
      )
      const sweeps = Effect.forever(Effect.andThen(Effect.sleep(options.every ?? "1 hour"), sweep))
      yield* Effect.forkScoped(Effect.scoped(Effect.andThen(leadership.acquire, sweeps)))
    })
  )
