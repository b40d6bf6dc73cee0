/** The part of the contract of persisted resources that is about objects that go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { NotReady } from "../src/ReconcileError.ts"
import { type Case, created, refusal } from "./persistedStage.ts"
import { finalizer } from "./records.ts"

export const deleted = "Normal Deleted x1: Deleted Grant[editor]"
const first = "first.example.com/hold"
const foreign = "other.example.com/hold"

export const deletionCases: ReadonlyArray<Case> = [
  {
    name: "a deletion removes the record once, lets the object go, and is told when it is gone (K10, K30, X4, D13)",
    play: ({ comes, create, records, remove }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced", rows: ["editor: read"] })
        yield* remove("editor")
        yield* comes("editor", { ready: "gone", told: [created, deleted], rows: [] })
        assert.deepStrictEqual(records.asked, ["put editor", "remove"])
      })
  },
  ...(["fails with", "dies of"] as const).map((end): Case => ({
    name: `a delete that ${end} a NotReady is DeleteFailed with its text and a Warning, keeps the object, is not Deleted, and comes again (K10, K31, X4, X13, D11)`,
    play: ({ comes, create, passes, read, records, remove }) =>
      Effect.gen(function* () {
        const notReady = new NotReady({ reason: "Waits", message: "rows refer to it", requeueAfter: "17 minutes" })
        records.scripts.remove = () => (end === "dies of" ? Effect.die(notReady) : Effect.fail(notReady))
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced" })
        yield* remove("editor")
        const message = "deleting the record failed: rows refer to it"
        const warning = `Warning DeleteFailed x1: ${message}`
        yield* comes("editor", {
          ready: "False DeleteFailed",
          message,
          told: [created, warning],
          rows: ["editor: read"]
        })
        assert.isAtMost(passes.at(-1)!.requeueAfterMillis!, 120_000)
        assert.deepStrictEqual((yield* read("editor")).metadata.finalizers, [finalizer])
        records.scripts.remove = () => Effect.void
        yield* comes("editor", { ready: "gone", told: [deleted, created, warning].toSorted(), rows: [] })
        assert.strictEqual(records.asked.filter((one) => one !== "remove").length, 1)
      })
  })),
  {
    name: "while the finalizer cannot be taken off nothing is called Deleted, and then it is once (K30, X4)",
    play: ({ comes, create, holds, passes, records, refuse, remove, told }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced" })
        const before = passes.length
        refuse.finalizer = refusal
        yield* remove("editor")
        yield* holds(() => passes.length > before, "no pass")
        yield* comes("editor", { rows: [] })
        assert.notInclude((yield* told("editor")).join(), "Deleted Grant")
        refuse.finalizer = undefined
        yield* holds(() => records.asked.filter((one) => one === "remove").length > 1, "it is not tried again")
        yield* comes("editor", { ready: "gone" })
        const all = yield* told("editor")
        assert.strictEqual(all.filter((text) => text === deleted).length, 1)
      })
  },
  {
    name: "an object that became unreadable is deleted all the same (X6, D13)",
    play: ({ comes, create, edit, records, remove }) =>
      Effect.gen(function* () {
        yield* create("editor")
        yield* comes("editor", { ready: "True Synced", rows: ["editor: read"] })
        yield* edit("editor", { spec: { rules: null } })
        yield* comes("editor", { ready: "False MalformedResource", rows: ["editor: read"] })
        yield* remove("editor")
        yield* comes("editor", { ready: "gone", rows: [] })
        assert.deepStrictEqual(records.asked, ["put editor", "remove"])
      })
  },
  {
    name: "while another owner holds the object its record is removed once, and Deleted is told once, whatever changes (X3, D13)",
    play: ({ comes, create, edit, read, records, remove, rest }) =>
      Effect.gen(function* () {
        yield* create("editor", { metadata: { name: "editor", finalizers: [foreign] } })
        yield* comes("editor", { ready: "True Synced" })
        yield* remove("editor")
        yield* comes("editor", { told: [created, deleted], rows: [] })
        yield* edit("editor", { metadata: { labels: { a: "b" } } })
        yield* rest
        yield* edit("editor", { spec: { rules: ["write"] } })
        yield* comes("editor", { told: [created, deleted], rows: [] })
        assert.deepStrictEqual(records.asked, ["put editor", "remove"])
        assert.deepStrictEqual((yield* read("editor")).metadata.finalizers, [foreign])
        yield* edit("editor", { metadata: { finalizers: null } })
        yield* comes("editor", { ready: "gone", told: [created, deleted] })
      })
  },
  {
    name: "an object that was never held is not deleted from the store, and gets no finalizer while it goes (X3, K11, D13)",
    play: ({ comes, create, enqueue, read, records, remove, rest, start, stop }) =>
      Effect.gen(function* () {
        yield* stop
        yield* create("editor", { metadata: { name: "editor", finalizers: [foreign] } })
        yield* remove("editor")
        yield* start
        yield* enqueue("editor")
        yield* rest
        yield* comes("editor", { ready: "none", told: [], rows: [] })
        assert.deepStrictEqual(records.asked, [])
        assert.deepStrictEqual((yield* read("editor")).metadata.finalizers, [foreign])
      })
  },
  {
    name: "adding and taking off the finalizer leaves fields it knows nothing of, other finalizers and what others edit meanwhile (X5, D13)",
    play: ({ comes, create, edit, read, records, remove, rest }) =>
      Effect.gen(function* () {
        const spec = { scope: "docs", rules: ["read"], note: "by hand" }
        yield* create("editor", { metadata: { name: "editor", finalizers: [first, foreign] }, spec })
        yield* comes("editor", { ready: "True Synced" })
        const held = yield* read("editor")
        assert.deepStrictEqual(held.spec, spec)
        assert.deepStrictEqual(held.metadata.finalizers, [first, foreign, finalizer])
        yield* edit("editor", { metadata: { finalizers: [first, finalizer, foreign] } })
        yield* rest
        // The version that the pass has read is old when the finalizer is to go, and its place is another's.
        records.scripts.remove = () =>
          edit("editor", { metadata: { labels: { edited: "meanwhile" }, finalizers: [finalizer, foreign] } })
        yield* remove("editor")
        yield* comes("editor", { told: [created, deleted], rows: [] })
        const left = yield* read("editor")
        assert.deepStrictEqual(left.spec, spec)
        assert.deepStrictEqual(left.metadata.labels, { edited: "meanwhile" })
        assert.deepStrictEqual(left.metadata.finalizers, [foreign])
        yield* edit("editor", { metadata: { finalizers: null } })
        yield* comes("editor", { ready: "gone" })
      })
  },
  {
    name: "one made anew under its name is another object: a record of its own, and Created again (K12, K30, D10)",
    play: ({ comes, create, records, remove }) =>
      Effect.gen(function* () {
        const first = yield* create("editor")
        yield* comes("editor", { ready: "True Synced" })
        yield* remove("editor")
        yield* comes("editor", { ready: "gone", rows: [] })
        const second = yield* create("editor")
        yield* comes("editor", {
          ready: "True Synced",
          observed: 1,
          told: [created, created, deleted],
          rows: ["editor: read"]
        })
        assert.notStrictEqual(first.metadata.uid, second.metadata.uid)
        assert.deepStrictEqual([...records.rows.keys()], [second.metadata.uid])
      })
  }
]
