/**
 * What a persisted resource does, statement by statement, as named cases with one text of expectations: they hold on the API in memory, where time is virtual,
 * and on a real API server, where they are looked at until they have come true. What needs exact times over many passes is in `Persisted.test.ts`, what needs
 * a watch that lags in `PersistedEvents.test.ts`.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Fatal, NotReady } from "../src/ReconcileError.ts"
import { type Case, created, refusal } from "./persistedStage.ts"
import { deleted, deletionCases } from "./persistedDeletion.ts"
import { finalizer } from "./records.ts"
import { wakeCases } from "./persistedWakes.ts"

const notReady = (reason: string, message: string, more: object = {}) =>
  Effect.fail(new Error("persist: it failed", { cause: new NotReady({ reason, message, ...more }) }))

const updated = "Normal Updated x1: Updated Grant[editor]"

const upserts: ReadonlyArray<Case> = [
  {
    name: "a success is Synced with an empty text; the first is Created, one after an edit Updated, any other says nothing (K8, K12, K13, K14)",
    play: ({ comes, create, edit, passes, read, wake }) =>
      Effect.gen(function* () {
        const { metadata } = yield* create("editor")
        yield* comes("editor", {
          ready: "True Synced",
          message: "",
          observed: 1,
          told: [created],
          rows: ["editor: read"]
        })
        assert.strictEqual(passes.at(-1)!.message, "")
        assert.deepStrictEqual(((yield* read("editor")).status as any).conditions[0].observedGeneration, 1)
        yield* wake("editor")
        yield* comes("editor", { told: [created] })
        yield* edit("editor", { spec: { rules: ["write"] } })
        yield* comes("editor", { ready: "True Synced", observed: 2, told: [created, updated], rows: ["editor: write"] })
        const { metadata: now, status } = yield* read("editor")
        assert.strictEqual((status as any).conditions[0].observedGeneration, 2)
        assert.strictEqual(now.uid, metadata.uid)
      })
  },
  {
    name: "what an event calls the object tells its kind, namespace, name and uid (K8)",
    play: ({ api, comes, create, namespace }) =>
      Effect.gen(function* () {
        const { metadata } = yield* create("editor")
        yield* comes("editor", { told: [created] })
        const resource = { group: "", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" } as const
        const { items } = yield* api.list(resource, { namespace })
        assert.deepStrictEqual(
          items.map(({ message }) => message),
          [`Created Grant[${namespace}/editor:${metadata.uid}]`]
        )
      })
  },
  {
    name: "the finalizer is there before the first upsert, and without it none is tried (K11, K29)",
    play: ({ comes, create, holds, passes, read, records, refuse }) =>
      Effect.gen(function* () {
        let held: ReadonlyArray<string> | undefined
        records.scripts.put = () =>
          Effect.map(read("editor"), ({ metadata }) => void (held ??= metadata.finalizers ?? []))
        refuse.finalizer = refusal
        yield* create("editor")
        yield* holds(() => passes.length > 0, "no pass")
        assert.deepStrictEqual(records.asked, [])
        refuse.finalizer = undefined
        yield* comes("editor", { ready: "True Synced", rows: ["editor: read"] })
        assert.deepStrictEqual(held, [finalizer])
      })
  },
  {
    name: "an own status write starts no pass, even if the status differs each time (X7)",
    countsPasses: true,
    play: ({ comes, create, records }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced", told: [created] })
        assert.deepStrictEqual(records.asked, ["put editor"])
      })
  },
  {
    name: "without its status written a success says no event, and says it once when that is mended (K13, K20, K29)",
    play: ({ comes, create, holds, passes, refuse, rest }) =>
      Effect.gen(function* () {
        refuse.status = refusal
        yield* create("editor")
        yield* holds(() => passes.length > 0, "no pass")
        yield* rest
        yield* comes("editor", { ready: "none", told: [], rows: ["editor: read"] })
        refuse.status = undefined
        yield* comes("editor", { ready: "True Synced", told: [created] })
      })
  },
  {
    name: "without its status written a NotReady says no event, and says it once when that is mended (K20)",
    play: ({ comes, create, holds, passes, records, refuse }) =>
      Effect.gen(function* () {
        records.scripts.put = () => notReady("A", "a")
        refuse.status = refusal
        yield* create("editor")
        yield* holds(() => passes.length > 0, "no pass")
        yield* comes("editor", { ready: "none", told: [] })
        refuse.status = undefined
        yield* comes("editor", { ready: "False A", told: ["Warning A x1: a"] })
      })
  },
  {
    name: "where the kind is said to have no status none is written and nothing fails for it; a failure is told by its event, and the object can go (X14)",
    noStatusSubresource: true,
    play: ({ comes, create, edit, passes, records, refuse, remove }) =>
      Effect.gen(function* () {
        refuse.status = refusal
        yield* create("editor")
        yield* comes("editor", { ready: "none", observed: undefined, told: [], rows: ["editor: read"] })
        assert.deepStrictEqual([passes.at(-1)!.outcome, passes.at(-1)!.requeueAfterMillis], ["unchanged", undefined])
        records.scripts.put = () => Effect.fail(new Error("connection refused"))
        yield* edit("editor", { spec: { rules: ["write"] } })
        const warning = "Warning PersistFailed x1: persisting the object failed: connection refused"
        yield* comes("editor", { ready: "none", told: [warning], rows: ["editor: read"] })
        records.scripts.put = () => Effect.void
        yield* comes("editor", { rows: ["editor: write"] })
        yield* remove("editor")
        yield* comes("editor", { ready: "gone", told: [deleted, warning], rows: [] })
      })
  },
  {
    name: "an object that cannot be read is told by its condition and one Warning, stops no sibling, and is Created when mended (K3, K7, X2, D11)",
    play: ({ comes, create, edit, read, records, wake }) =>
      Effect.gen(function* () {
        yield* create("broken", { spec: { scope: "docs" } })
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced", told: [created] })
        yield* comes("broken", { ready: "False MalformedResource", observed: undefined })
        yield* wake("broken")
        const { message } = ((yield* read("broken")).status as any).conditions[0]
        assert.match(message, /rules/)
        yield* comes("broken", { told: [`Warning MalformedResource x1: ${message}`] })
        assert.deepStrictEqual(records.asked, ["put editor"])
        yield* edit("broken", { spec: { rules: ["read"] } })
        yield* comes("broken", {
          ready: "True Synced",
          told: ["Normal Created x1: Created Grant[broken]", `Warning MalformedResource x1: ${message}`]
        })
      })
  }
]

const waiting: ReadonlyArray<Case> = [
  {
    name: "a NotReady is told by its own text however deep it is, is observed, and comes back exactly when it asks, else when woken (K16, K18, K19)",
    play: ({ comes, create, passes, read, records, wake }) =>
      Effect.gen(function* () {
        records.scripts.put = () => notReady("A", "a", { requeueAfter: "17 seconds" })
        yield* create("editor")
        yield* comes("editor", { ready: "False A", message: "a", observed: 1, told: ["Warning A x1: a"], rows: [] })
        assert.strictEqual(((yield* read("editor")).status as any).conditions[0].observedGeneration, 1)
        assert.deepInclude(passes.at(-1), { outcome: "NotReady", requeueAfterMillis: 17_000 })
        records.scripts.put = () => notReady("A", "a")
        yield* wake("editor")
        assert.deepInclude(passes.at(-1), { outcome: "NotReady", requeueAfterMillis: undefined })
      })
  },
  {
    name: "events follow status and reason alone, a new text and a new generation change the condition in silence, and becoming ready is silent (K14, K17, K21, K22, X8, D12)",
    play: ({ comes, create, edit, passes, records, wake }) =>
      Effect.gen(function* () {
        const told = (...all: ReadonlyArray<string>) => all.map((text) => `Warning ${text}`)
        const ends = (reason: string, message: string) => (records.scripts.put = () => notReady(reason, message))
        ends("A", "a")
        yield* create("editor")
        yield* comes("editor", { ready: "False A", told: told("A x1: a") })
        yield* wake("editor")
        yield* comes("editor", { told: told("A x1: a") })
        ends("A", "another text")
        yield* wake("editor")
        yield* comes("editor", { ready: "False A", message: "another text", told: told("A x1: a") })
        ends("B", "b")
        yield* wake("editor")
        yield* comes("editor", { ready: "False B", told: told("A x1: a", "B x1: b") })
        records.scripts.put = () => Effect.void
        yield* wake("editor")
        yield* comes("editor", { ready: "True Synced", message: "", told: told("A x1: a", "B x1: b") })
        ends("B", "b")
        yield* wake("editor")
        yield* comes("editor", { ready: "False B", told: told("A x1: a", "B x2: b") })
        ends("", "first")
        yield* wake("editor")
        yield* comes("editor", { ready: "False Invalid", told: told("A x1: a", "B x2: b", "Invalid x1: first") })
        for (const text of ["second", "third"]) {
          ends("", text)
          yield* wake("editor")
        }
        const last = told("A x1: a", "B x2: b", "Invalid x1: first")
        yield* comes("editor", { ready: "False Invalid", message: "third", told: last })
        const before = passes.length
        yield* edit("editor", { spec: { rules: ["write"] } })
        yield* comes("editor", { ready: "False Invalid", observed: 2, told: last })
        assert.isAbove(passes.length, before)
      })
  },
  {
    name: "a first pass that waits leaves no Created for later, and the next edit is Updated (K22, K12, D10)",
    play: ({ comes, create, edit, records, wake }) =>
      Effect.gen(function* () {
        const missing = "Warning ScopeNotFound x1: scope wiki has no row yet"
        yield* create("editor", { spec: { scope: "wiki", rules: ["read"] } })
        yield* comes("editor", { ready: "False ScopeNotFound", observed: 1, told: [missing], rows: [] })
        records.scopes.add("wiki")
        yield* wake("editor")
        yield* comes("editor", { ready: "True Synced", told: [missing], rows: ["editor: read"] })
        yield* edit("editor", { spec: { rules: ["write"] } })
        yield* comes("editor", { ready: "True Synced", told: [updated, missing] })
      })
  },
  {
    name: "the time of a condition moves when its status flips, not with its reason or its text (K14)",
    play: ({ comes, create, read, records, second, wake }) =>
      Effect.gen(function* () {
        const movedAt = Effect.map(read("editor"), ({ status }) => (status as any).conditions[0].lastTransitionTime)
        records.scripts.put = () => notReady("A", "a")
        yield* create("editor")
        yield* comes("editor", { ready: "False A" })
        const first = yield* movedAt
        yield* second
        records.scripts.put = () => notReady("B", "b")
        yield* wake("editor")
        yield* comes("editor", { ready: "False B" })
        assert.strictEqual(yield* movedAt, first)
        yield* second
        records.scripts.put = () => Effect.void
        yield* wake("editor")
        yield* comes("editor", { ready: "True Synced" })
        assert.notStrictEqual(yield* movedAt, first)
      })
  },
  {
    name: "a NotReady that wraps a broken constraint waits, and the conflict handler is not asked (K24)",
    play: ({ comes, create, records }) =>
      Effect.gen(function* () {
        const broken = Object.assign(new Error("duplicate"), { code: "23505" })
        records.scripts.put = () => notReady("A", "a", { cause: broken })
        yield* create("editor")
        yield* comes("editor", { ready: "False A", message: "a", told: ["Warning A x1: a"] })
        assert.deepStrictEqual(records.asked, ["put editor"])
      })
  },
  {
    name: "a text of 100,000 letters and a reason that no condition takes are stored and told all the same (X10, X12)",
    play: ({ comes, create, read, records, told }) =>
      Effect.gen(function* () {
        records.scripts.put = () => notReady("no scope, sorry!", "ä".repeat(100_000))
        yield* create("editor")
        yield* comes("editor", { ready: "False NoScope,Sorry", observed: 1 })
        const { message } = ((yield* read("editor")).status as any).conditions[0]
        assert.isAtMost(message.length, 32_768)
        const prefix = "Warning NoScope,Sorry x1: "
        const [event = "", ...others] = yield* told("editor")
        assert.deepStrictEqual([event.slice(0, prefix.length), others], [prefix, []])
        assert.isAtMost(new TextEncoder().encode(event.slice(prefix.length)).length, 1_024)
      })
  }
]

const failures: ReadonlyArray<Case> = [
  {
    name: "a failure is PersistFailed with its text and one Warning however often it comes, is not observed, comes again by itself, and takes no Created away (K25, K26, X1, X2, X13, D10, D11)",
    play: ({ comes, create, holds, passes, records }) =>
      Effect.gen(function* () {
        records.scripts.put = () => Effect.fail(new Error("connection refused"))
        yield* create("editor")
        const message = "persisting the object failed: connection refused"
        const warning = `Warning PersistFailed x1: ${message}`
        yield* comes("editor", { ready: "False PersistFailed", message, observed: undefined, told: [warning] })
        yield* holds(() => passes.length >= 3, "no third try")
        for (const { requeueAfterMillis = Infinity } of passes.slice(0, 3)) assert.isAtMost(requeueAfterMillis, 120_000)
        yield* comes("editor", { told: [warning] })
        records.scripts.put = () => Effect.void
        yield* comes("editor", { ready: "True Synced", observed: 1, told: [created, warning], rows: ["editor: read"] })
      })
  },
  {
    name: "a failure after a success leaves what was observed, so that the next success is an update (K12, K26, D10)",
    play: ({ comes, create, edit, records }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { observed: 1 })
        records.scripts.put = () => Effect.fail(new Error("connection refused"))
        yield* edit("editor", { spec: { rules: ["write"] } })
        yield* comes("editor", { ready: "False PersistFailed", observed: 1, rows: ["editor: read"] })
        records.scripts.put = () => Effect.void
        yield* comes("editor", {
          ready: "True Synced",
          observed: 2,
          told: [created, updated, "Warning PersistFailed x1: persisting the object failed: connection refused"]
        })
      })
  },
  {
    name: "a stale record of the name is removed and ours made, without a word about the conflict (K27, K32)",
    play: ({ comes, create, namespace, passes, records }) =>
      Effect.gen(function* () {
        records.rows.set("stale", { uid: "stale", name: `${namespace}/editor`, rules: "old" })
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced", told: [created], rows: ["editor: read"] })
        assert.deepStrictEqual(records.asked, ["put editor", "evict editor", "put editor"])
        assert.isAtMost(passes[0]!.requeueAfterMillis!, 15_000)
      })
  },
  {
    name: "while a conflict is settled the object stays as it was told before (K27)",
    play: ({ comes, create, edit, namespace, read, records }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced" })
        const seen: Array<unknown> = []
        let tries = 0
        records.scripts.put = ({ uid }) =>
          Effect.map(read("editor"), ({ status }) => {
            seen.push(`${(status as any).conditions[0].reason} ${(status as any).observedGeneration}`)
            records.rows.delete(uid)
            if (tries++ === 0) records.rows.set("stale", { uid: "stale", name: `${namespace}/editor`, rules: "old" })
          })
        yield* edit("editor", { spec: { rules: ["write"] } })
        yield* comes("editor", { ready: "True Synced", observed: 2, told: [created, updated], rows: ["editor: write"] })
        assert.deepStrictEqual(seen, ["Synced 1", "Synced 1"])
      })
  },
  ...(
    [
      [new NotReady({ reason: "NameTaken", message: "by another" }), "False NameTaken", "by another", 1],
      [new Error("gone"), "False PersistFailed", "persisting the object failed: gone", undefined],
      [
        new Fatal({ reason: "ForGood", message: "it may not be" }),
        "False ForGood",
        "persisting the object failed: it may not be",
        undefined
      ]
    ] as const
  ).map(([failure, ready, message, observed]): Case => ({
    name: `a conflict handler that fails is told on the object: ${ready} (K32, X18)`,
    play: ({ comes, create, namespace, records }) =>
      Effect.gen(function* () {
        records.rows.set("stale", { uid: "stale", name: `${namespace}/editor`, rules: "old" })
        records.scripts.evict = () => Effect.fail(failure)
        yield* create("editor")
        const warning = `Warning ${ready.split(" ")[1]} x1: ${message}`
        yield* comes("editor", { ready, message, observed, told: [warning], rows: ["editor: old"] })
      })
  })),
  {
    name: "without a conflict handler a broken constraint is a failure like any other (K27)",
    handlesConflicts: false,
    play: ({ comes, create, namespace, records }) =>
      Effect.gen(function* () {
        records.rows.set("stale", { uid: "stale", name: `${namespace}/editor`, rules: "old" })
        yield* create("editor")
        yield* comes("editor", { ready: "False PersistFailed", rows: ["editor: old"] })
        assert.deepStrictEqual(records.asked.slice(0, 1), ["put editor"])
        assert.notInclude(records.asked, "evict editor")
      })
  }
]

/** All cases. */
export const cases: ReadonlyArray<Case> = [...upserts, ...waiting, ...failures, ...deletionCases, ...wakeCases]
