/** What each end of an upsert or a delete comes to, found by running one: the table in `docs/persisted-resources.md`. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { settle } from "../src/internal/settle.ts"
import type { KubeObject } from "../src/KubeObject.ts"
import * as Persisted from "../src/Persisted.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reporting from "../src/Reporting.ts"
import { Role } from "../typetest/access.ts"
import { decoded, editor, fakePass } from "./passes.ts"
import { facts, readyOf, told } from "./settled.ts"

interface Case {
  readonly name: string
  /** As the object was read. */
  readonly status?: object
  readonly upsert?: Effect.Effect<unknown, unknown>
  readonly conflict?: Effect.Effect<unknown, unknown>
  /** It is deleted, and this becomes of its record. */
  readonly remove?: Effect.Effect<unknown, unknown>
  /** How often in a row it ended so before. */
  readonly before?: number
}

const unique = new Persisted.UniqueViolation({ message: "the name is taken" })
const notReady = new NotReady({ reason: "ScopeNotFound", message: "no scope docs" })
const seen = { observedGeneration: 1 }

const cases: ReadonlyArray<Case> = [
  { name: "`upsert` succeeds, the first time" },
  { name: "`upsert` succeeds after an edit", status: { observedGeneration: 0 } },
  { name: "`upsert` succeeds, nothing was edited", status: seen },
  { name: "`upsert` fails with `NotReady`, however deep", upsert: Effect.fail(new Error("x", { cause: notReady })) },
  {
    name: '`upsert` fails with `NotReady`, `requeueAfter: "10 minutes"`',
    upsert: Effect.fail(new NotReady({ reason: "ScopeNotFound", requeueAfter: "10 minutes" }))
  },
  { name: "`upsert` fails with any other error", upsert: Effect.fail(new Error("connection refused")) },
  {
    name: "the same for the tenth time",
    upsert: Effect.fail(new Error("connection refused")),
    before: 9
  },
  {
    name: '`upsert` fails with `Temporary`, `delay: "10 minutes"`',
    upsert: Effect.fail(new Temporary({ delay: "10 minutes" }))
  },
  { name: "`upsert` fails with `Fatal`", upsert: Effect.fail(new Fatal({ reason: "TooLong" })) },
  { name: "`upsert` dies of a defect", upsert: Effect.die("x is not a function") },
  { name: "a unique constraint is broken, no `onConflict`", upsert: Effect.fail(unique) },
  { name: "a unique constraint is broken, `onConflict` succeeds", upsert: Effect.fail(unique), conflict: Effect.void },
  {
    name: "the same for the third time in a row",
    upsert: Effect.fail(unique),
    conflict: Effect.void,
    before: 2
  },
  {
    name: "a unique constraint is broken, `onConflict` fails with `NotReady`",
    upsert: Effect.fail(unique),
    conflict: Effect.fail(new NotReady({ reason: "NameTaken", message: "by team/viewer" }))
  },
  {
    name: "a unique constraint is broken, `onConflict` fails otherwise, for the tenth time",
    upsert: Effect.fail(unique),
    conflict: Effect.fail(new Error("connection refused")),
    before: 9
  },
  { name: "`delete` succeeds", status: seen, remove: Effect.void },
  { name: "`delete` fails, with `NotReady` too", status: seen, remove: Effect.fail(new Error("connection refused")) },
  {
    name: "the same for the tenth time",
    status: seen,
    remove: Effect.fail(new Error("connection refused")),
    before: 9
  }
]

const minutes = (millis: number): string =>
  millis >= 60_000
    ? `${Math.round(millis / 6_000) / 10} min`
    : millis < 1_000
      ? "1 s"
      : `${Math.round(millis / 1_000)} s`

const rowOf = ({ before = 0, conflict, name, remove, status = {}, upsert = Effect.void }: Case): string => {
  const raw: KubeObject = { ...editor, status }
  const { context, pass } = fakePass({ object: raw })
  const persisted = Persisted.make({
    for: Role,
    finalizer: "access.example.com/record",
    upsert: () => upsert,
    delete: () => remove ?? Effect.void,
    ...(conflict !== undefined && { onConflict: () => conflict })
  })
  const object = decoded(Role, raw)
  const deleting = { ref: pass.ref, uid: pass.uid, raw, decoded: Result.succeed(object) }
  const program: Effect.Effect<unknown, unknown, any> =
    remove === undefined ? persisted.run({ object }) : persisted.finalizers[0]!.cleanup(deleting)
  const exit = Effect.runSync(Effect.exit(Effect.provideContext(program, context)) as Effect.Effect<any, never, never>)
  const settlement = settle(
    facts({
      object: raw,
      exit,
      released: remove === Effect.void,
      pass: pass.record,
      persisted: true,
      reporting: Reporting.standard,
      jitter: 0.999,
      ...(before > 0 && {
        memory: {
          failures: { uid: pass.uid, generation: 1, deleting: false, count: before, conflicts: before, since: 0 }
        }
      })
    })
  )
  const ready = readyOf(settlement)
  const observed =
    settlement.status === undefined
      ? "as it was"
      : settlement.status.observes === false
        ? "as it was"
        : "that of the pass"
  const events = told(settlement).map((one) => one.split(":")[0]!.replace(" ", " `") + "`")
  const { requeue } = settlement
  return `| ${[
    name,
    ready === undefined ? "as it was" : `${ready.status} \`${ready.reason}\``,
    observed,
    events.join(", ") || "-",
    remove === Effect.void ? "never" : requeue._tag === "none" ? "when woken" : `in ${minutes(requeue.millis)} at most`
  ].join(" | ")} |`
}

export const persistedTable = (): string =>
  [
    "| what happens | condition Ready | `observedGeneration` | event, when it is news | comes back |",
    "| --- | --- | --- | --- | --- |",
    ...cases.map(rowOf)
  ].join("\n")
