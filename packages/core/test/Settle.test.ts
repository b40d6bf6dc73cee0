import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { fromAnswer } from "../src/ApiError.ts"
import { mergeFailures } from "../src/internal/mergeFailures.ts"
import { afterFailedWrite, settle, type Settlement } from "../src/internal/settle.ts"
import * as ReconcileError from "../src/ReconcileError.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reporting from "../src/Reporting.ts"
import * as RequeuePolicy from "../src/RequeuePolicy.ts"
import { facts, object, Passes, readyOf, told } from "./settled.ts"

const created = { action: "created", text: "ConfigMap ns1/a" } as const
const notReady = (reason: string, message: string, more: object = {}): Exit.Exit<never, NotReady> =>
  Exit.fail(new NotReady({ reason, message, ...more }))
const answer = (code: number, more: object = {}) =>
  fromAnswer({ verb: "apply", resource: "configmaps" }, { code, body: { message: "the server's words", ...more } })

const after = (settlement: Settlement): number | undefined =>
  settlement.requeue._tag === "after" ? settlement.requeue.millis : undefined

describe("settle: success", () => {
  it("unchanged: Ready is True Synced with an empty message, no event, no requeue, a debug line (D2, K13, K14)", () => {
    const settlement = settle(facts())
    assert.deepStrictEqual(readyOf(settlement), { type: "Ready", status: "True", reason: "Synced", message: "" })
    assert.deepStrictEqual(
      [settlement.outcome, told(settlement), settlement.requeue],
      ["unchanged", [], { _tag: "none" }]
    )
    assert.strictEqual(settlement.log.level, "Debug")
  })

  it("changed: one Normal that lists what changed, an info line, the status complete (D2)", () => {
    const draft = { rules: 2 }
    const settlement = settle(facts({ pass: { ledger: [created, { action: "said", text: "registered" }], draft } }))
    assert.deepStrictEqual(told(settlement), ["Normal Reconciled: created ConfigMap ns1/a, registered"])
    assert.deepStrictEqual([settlement.status?.fields, settlement.status?.complete], [draft, true])
    assert.strictEqual(settlement.log.level, "Info")
  })

  it("what the reconciler announces stands in place of Reconciled, one a pass (D2, K13)", () => {
    const announced = { reason: "Created", message: "Created Widget[ns1/a:uid1]" }
    const settlement = settle(facts({ pass: { ledger: [created], announced } }))
    assert.deepStrictEqual(told(settlement), ["Normal Created: Created Widget[ns1/a:uid1]"])
  })

  it("what was said in the pass comes before what the pass came to", () => {
    const said = { _tag: "info", about: object(), reason: "Registered", message: "in the registry" } as const
    assert.deepStrictEqual(told(settle(facts({ pass: { ledger: [created], events: [said] } }))), [
      "info",
      "Normal Reconciled: created ConfigMap ns1/a"
    ])
  })

  it.each([
    [0, 0],
    [10_000, 10_000],
    [NaN, undefined],
    [Infinity, undefined],
    [-3, 0]
  ])("a requested time of %d ms asks for a pass after %s (B30, D6)", (requeueAfterMillis, expected) => {
    assert.strictEqual(after(settle(facts({ pass: { requeueAfterMillis } }))), expected)
  })

  it("a failure decides by itself: a requested time beside it is ignored (B31, X1, D1)", () => {
    const pass = { requeueAfterMillis: 5 }
    assert.strictEqual(after(settle(facts({ exit: notReady("A", "a"), pass }))), undefined)
    assert.strictEqual(after(settle(facts({ exit: Exit.fail(new Temporary({ delay: "30 seconds" })), pass }))), 30_000)
  })

  it("nothing is written once our finalizer is gone, nor about an object that was not there, nor by a success while deleting (B54)", () => {
    assert.strictEqual(settle(facts({ released: true })).status, undefined)
    assert.deepStrictEqual(
      [settle(facts({ object: undefined })).status, settle(facts({ object: undefined })).events],
      [undefined, []]
    )
    const deleting = object({ deletionTimestamp: "2026-01-01T00:00:00Z" })
    assert.strictEqual(settle(facts({ object: deleting })).status, undefined)
    const failed = settle(facts({ object: deleting, exit: Exit.fail(new Temporary({ reason: "DeleteFailed" })) }))
    assert.strictEqual(readyOf(failed)?.reason, "DeleteFailed")
  })

  it("the release of an object is announced though nothing is written (D13)", () => {
    const announced = { reason: "Deleted", message: "Deleted Widget[ns1/a:uid1]" }
    assert.deepStrictEqual(told(settle(facts({ released: true, pass: { announced } }))), [
      "Normal Deleted: Deleted Widget[ns1/a:uid1]"
    ])
  })

  it("the author's own conditions are written beside Ready, in words that the server takes; Ready is ours (X12, B79)", () => {
    const conditions = [
      { type: "Ready", status: "False", reason: "Mine", message: "" },
      { type: "Registered", status: "True", reason: "not a word!", message: "x".repeat(40_000) }
    ] as const
    const said = settle(facts({ pass: { conditions: [...conditions] } })).status!.conditions
    assert.deepStrictEqual(
      said.map(({ reason, type }) => [type, reason]),
      [
        ["Registered", "NotAWord"],
        ["Ready", "Synced"]
      ]
    )
    assert.strictEqual(said[0]!.message.length, 32_768)
  })
})

describe("settle: NotReady", () => {
  it("is stored with the draft, told as one Warning with its own text, logged for debugging and not tried again (K16, K18, K19, K21, K23)", () => {
    const draft = { rules: 1 }
    const settlement = settle(facts({ exit: notReady("ScopeNotFound", "scope docs not found"), pass: { draft } }))
    assert.deepStrictEqual(readyOf(settlement), {
      type: "Ready",
      status: "False",
      reason: "ScopeNotFound",
      message: "scope docs not found"
    })
    assert.deepStrictEqual([settlement.status?.fields, settlement.status?.complete], [draft, false])
    assert.deepStrictEqual(told(settlement), ["Warning ScopeNotFound: scope docs not found"])
    assert.deepStrictEqual(
      [settlement.log.level, settlement.requeue, settlement.backingOff],
      ["Debug", { _tag: "none" }, false]
    )
  })

  it.each([
    [{ message: "own", cause: new Error("cause") }, "own"],
    [{ cause: new Error("cause") }, "cause"],
    [{ cause: new Error("", { cause: new Error("deep") }) }, "deep"],
    [{}, "ScopeNotFound"]
  ])("its text is its own, else that of its cause, else its reason: %j (K17)", (fields, text) => {
    const settlement = settle(facts({ exit: Exit.fail(new NotReady({ reason: "ScopeNotFound", ...fields })) }))
    assert.strictEqual(readyOf(settlement)?.message, text)
  })

  it.each([
    ["", "Invalid"],
    ["ScopeNotFound", "ScopeNotFound"],
    ["scope not found", "ScopeNotFound"],
    ["1st:", "st"],
    ["!!!", "Invalid"],
    ["日本", "Invalid"],
    ["A".repeat(2_000), "A".repeat(1_024)]
  ])("the reason %j is stored as a word that the server takes (K17, X12)", (reason, word) => {
    assert.strictEqual(readyOf(settle(facts({ exit: notReady(reason, "m") })))?.reason, word)
  })

  it.each([
    [17_000, 17_000],
    [0, undefined],
    [-1, undefined],
    [NaN, undefined],
    [Infinity, undefined]
  ])("asked to come back after %d ms it does after %s, without backoff (K19, B31)", (requeueAfter, expected) => {
    assert.strictEqual(after(settle(facts({ exit: notReady("A", "a", { requeueAfter }) }))), expected)
  })

  it("a safety net looks again where no time was asked for (D2)", () => {
    const requeue = RequeuePolicy.make({ safetyNet: "5 minutes" })
    assert.strictEqual(after(settle(facts({ exit: notReady("A", "a"), requeue }))), 300_000)
    assert.strictEqual(after(settle(facts({ exit: notReady("A", "a", { requeueAfter: 17_000 }), requeue }))), 17_000)
  })

  it("an event is told iff Ready's status or reason changed, while the message is always stored (K21, K22, B50)", () => {
    const passes = new Passes(object())
    const step = (exit: Exit.Exit<unknown, unknown>): unknown => {
      const settlement = passes.pass(exit)
      return [told(settlement).length, readyOf(settlement)?.reason, readyOf(settlement)?.message]
    }
    assert.deepStrictEqual(step(notReady("A", "1")), [1, "A", "1"])
    assert.deepStrictEqual(step(notReady("A", "1")), [0, "A", "1"])
    assert.deepStrictEqual(step(notReady("A", "2")), [0, "A", "2"])
    assert.deepStrictEqual(step(notReady("B", "2")), [1, "B", "2"])
    assert.deepStrictEqual(step(Exit.void), [0, "Synced", ""])
    assert.deepStrictEqual(step(notReady("B", "2")), [1, "B", "2"])
    assert.deepStrictEqual(step(notReady("", "x")), [1, "Invalid", "x"])
    assert.deepStrictEqual(step(notReady("", "y")), [0, "Invalid", "y"])
    assert.deepStrictEqual(step(notReady("", "z")), [0, "Invalid", "z"])
  })

  it("a new generation alone is no news (K21)", () => {
    const before = object({ generation: 2 }, { status: "False", reason: "A", message: "1" })
    assert.deepStrictEqual(told(settle(facts({ object: before, exit: notReady("A", "1") }))), [])
  })

  it("a pass between the write and its echo repeats neither the Warning nor an announcement (X8, D12)", () => {
    const passes = new Passes(object())
    const stale = passes.object
    assert.strictEqual(told(passes.pass(notReady("A", "1"))).length, 1)
    assert.strictEqual(told(passes.pass(notReady("A", "1"), { stale })).length, 0)
    assert.strictEqual(told(passes.pass(notReady("B", "1"), { stale })).length, 1)
    const announced = { reason: "Created", message: "Created it" }
    const fresh = new Passes(object())
    const before = fresh.object
    assert.strictEqual(told(fresh.pass(Exit.void, { pass: { announced } })).length, 1)
    assert.strictEqual(told(fresh.pass(Exit.void, { pass: { announced }, stale: before })).length, 0)
    assert.strictEqual(told(fresh.pass(Exit.void, { pass: { announced } })).length, 1)
  })

  it("what was written of another uid or generation is not held against this one (D12, B65)", () => {
    const passes = new Passes(object())
    passes.pass(notReady("A", "1"))
    const namesake = object({ uid: "uid2", resourceVersion: "9" })
    assert.strictEqual(told(passes.pass(notReady("A", "1"), { stale: namesake })).length, 1)
  })

  it("waiting leaves the count of failures as it is (B31)", () => {
    const passes = new Passes(object())
    passes.pass(Exit.fail(new Temporary({})))
    const { memory } = passes.pass(notReady("A", "a", { requeueAfter: 5_000 }))
    assert.strictEqual(memory?.failures?.count, 1)
  })
})

describe("settle: Temporary, Fatal and defects", () => {
  it("an ordinary error is stored as ReconcileFailed with its operation and cause, logged with fields, told as a Warning (D3, C3, K25)", () => {
    const error = new Temporary({ operation: "registering the role", cause: new Error("connection refused") })
    const settlement = settle(facts({ exit: Exit.fail(error), pass: { draft: { ready: true }, ledger: [created] } }))
    const message = "registering the role failed: connection refused"
    assert.deepStrictEqual(readyOf(settlement), { type: "Ready", status: "False", reason: "ReconcileFailed", message })
    assert.deepStrictEqual(told(settlement), [`Warning ReconcileFailed: ${message}`])
    assert.deepStrictEqual([settlement.status?.fields, settlement.status?.complete], [{}, false])
    assert.deepInclude(settlement.log, { level: "Error", message })
    assert.deepInclude(settlement.log.annotations, {
      cause: "connection refused",
      reason: "ReconcileFailed",
      attempt: 1
    })
  })

  it("the API's answer is told in fields of its own (C3)", () => {
    const { annotations } = settle(facts({ exit: Exit.fail(ReconcileError.fromApiError(answer(403))) })).log
    assert.deepInclude(annotations, { apiCode: 403, apiReason: "Forbidden", apiMessage: "the server's words" })
  })

  it.each([
    ["its delay exactly", new Temporary({ delay: "30 seconds" }), 30_000, "delay"],
    ["the backoff", new Temporary({}), 500, "backoff"],
    ["the backoff where its delay is no time", new Temporary({ delay: NaN }), 500, "backoff"],
    ["the backoff where its delay is endless", new Temporary({ delay: Infinity }), 500, "backoff"],
    ["the backoff where its delay is nonsense", new Temporary({ delay: "soon" as any }), 500, "backoff"],
    ["a slow recheck when Fatal", new Fatal({ message: "bad spec" }), 300_000, "recheck"],
    ["Retry-After", ReconcileError.fromApiError(answer(429, { details: { retryAfterSeconds: 7 } })), 7_000, "delay"],
    ["the backoff on a 5xx", ReconcileError.fromApiError(answer(500)), 500, "backoff"],
    ["five minutes on a 403", ReconcileError.fromApiError(answer(403)), 300_000, "delay"],
    ["five minutes on a 422", ReconcileError.fromApiError(answer(422, { details: { name: "a" } })), 300_000, "delay"],
    ["soon on a conflict", ReconcileError.fromApiError(answer(409, { reason: "Conflict" })), 50, "conflict"]
  ])("comes back after %s (D2, D4, B31, C1, C4)", (_, error, millis, why) => {
    assert.deepStrictEqual(settle(facts({ exit: Exit.fail(error) })).requeue, { _tag: "after", millis, why } as any)
  })

  it("a Fatal waits for a change if the policy says so, or for the soonest of what it was merged from (D2, B45)", () => {
    const requeue = RequeuePolicy.make({ recheck: "on change only" })
    assert.strictEqual(after(settle(facts({ exit: Exit.fail(new Fatal({})), requeue }))), undefined)
    const merged = mergeFailures([new Fatal({}), new NotReady({ reason: "A", requeueAfter: "10 seconds" })])
    assert.strictEqual(after(settle(facts({ exit: Exit.fail(merged), requeue }))), 10_000)
    assert.strictEqual(after(settle(facts({ exit: Exit.fail(merged) }))), 10_000)
    const busy = mergeFailures([new Temporary({}), new NotReady({ reason: "A", requeueAfter: 200 })])
    assert.strictEqual(after(settle(facts({ exit: Exit.fail(busy) }))), 200)
  })

  it("a defect drops the draft, is stored as InternalError, told and logged with its stack (B43, B44, D2)", () => {
    const pass = {
      draft: { ready: true },
      conditions: [{ type: "Up", status: "True", reason: "Up", message: "" } as const]
    }
    const settlement = settle(facts({ exit: Exit.die(new TypeError("x is not a function")), pass }))
    assert.deepStrictEqual(settlement.status?.fields, {})
    assert.deepStrictEqual(
      settlement.status?.conditions.map(({ reason, status, type }) => [type, status, reason]),
      [["Ready", "False", "InternalError"]]
    )
    assert.deepStrictEqual(told(settlement), ["Warning ReconcileFailed: reconciling failed: x is not a function"])
    assert.include(String(settlement.log.annotations.trace), "Settle.test.ts")
    assert.deepStrictEqual([after(settlement), settlement.backingOff], [500, true])
  })

  it("an interruption by the engine records nothing; one from within is a failure that comes again (D2, D3, C1)", () => {
    const exit = Exit.failCause(Cause.interrupt(1))
    const stopped = settle(
      facts({ exit, stopping: true, pass: { events: [{ _tag: "info", about: undefined, reason: "A", message: "" }] } })
    )
    assert.deepInclude(stopped, { outcome: "interrupted", status: undefined, events: [], requeue: { _tag: "none" } })
    assert.strictEqual(stopped.log.level, "Warn")
    const within = settle(facts({ exit }))
    assert.deepStrictEqual([within.outcome, after(within)], ["defect", 500])
    const beside = Exit.failCause(Cause.combine(Cause.interrupt(1), Cause.fail(new Temporary({ message: "boom" }))))
    assert.strictEqual(settle(facts({ exit: beside, stopping: true })).outcome, "Temporary")
  })

  it("a conflict is neither told nor stored nor an error line before the third in a row (D4)", () => {
    const passes = new Passes(object({}, { status: "True", reason: "Synced", message: "" }))
    const conflict = Exit.fail(ReconcileError.fromApiError(answer(409, { reason: "Conflict" })))
    const step = (): unknown => {
      const settlement = passes.pass(conflict)
      return [settlement.log.level, told(settlement).length, settlement.status === undefined]
    }
    assert.deepStrictEqual(
      [step(), step(), step()],
      [
        ["Debug", 0, true],
        ["Debug", 0, true],
        ["Error", 1, false]
      ]
    )
    passes.pass(Exit.void)
    assert.deepStrictEqual(step(), ["Debug", 0, true])
  })

  it("only failures that were due count, and waking the key otherwise does not move its retry (D6, B33)", () => {
    const passes = new Passes(object())
    assert.strictEqual(after(passes.pass(Exit.fail(new Temporary({}))))!, 500)
    assert.strictEqual(after(passes.pass(Exit.fail(new Temporary({}))))!, 1_000)
    for (let i = 0; i < 10; i++) {
      const settlement = passes.pass(Exit.fail(new Temporary({})), { due: false, retryIn: 900 })
      assert.deepStrictEqual([settlement.memory?.failures?.count, after(settlement)], [2, 900])
    }
    assert.strictEqual(after(passes.pass(Exit.fail(new Temporary({}))))!, 2_000)
    const slow = passes.pass(Exit.fail(new Temporary({})), { due: false, retryIn: 290_000, now: 1_000_000 })
    assert.strictEqual(after(slow), 8_000)
  })

  it("a success, a spec edit, a deletion and a namesake begin the backoff anew (B32, B42, B65)", () => {
    const failed = (): Passes => {
      const passes = new Passes(object())
      for (let i = 0; i < 8; i++) passes.pass(Exit.fail(new Temporary({})))
      return passes
    }
    const first = (passes: Passes): unknown => after(passes.pass(Exit.fail(new Temporary({}))))
    assert.strictEqual(first(failed()), 128_000)
    const succeeded = failed()
    succeeded.pass(Exit.void, { pass: { requeueAfterMillis: 1_000 } })
    assert.strictEqual(first(succeeded), 500)
    for (const change of [{ generation: 2 }, { deletionTimestamp: "2026-01-01T00:00:00Z" }, { uid: "uid2" }]) {
      const passes = failed()
      passes.object = object({ ...passes.object.metadata, ...change })
      assert.strictEqual(first(passes), 500)
    }
  })

  it("the message of a failure is rewritten at most once a minute while status and reason stay; every Warning has the new one (D18, B47)", () => {
    const passes = new Passes(object())
    const shown = (text: string): unknown => {
      const settlement = passes.pass(Exit.fail(new Temporary({ message: text, operation: "step" })))
      return [readyOf(settlement)?.message.slice(13), told(settlement)[0]!.slice(-1)]
    }
    assert.deepStrictEqual(shown("1"), ["1", "1"])
    passes.now += 30_000
    assert.deepStrictEqual(shown("2"), ["1", "2"])
    passes.now += 29_999
    assert.deepStrictEqual(shown("3"), ["1", "3"])
    passes.now += 1
    assert.deepStrictEqual(shown("4"), ["4", "4"])
    passes.now += 10
    passes.object = object(
      { ...passes.object.metadata, generation: 2 },
      { status: "False", reason: "ReconcileFailed", message: "4" }
    )
    assert.deepStrictEqual(shown("5"), ["5", "5"])
  })

  it("the retry policy looks ahead, and a slow recheck follows what it ends (E4, E5, D5, C1)", () => {
    const passes = new Passes(object())
    const retry = { retries: 3 }
    const step = (): unknown => {
      const { log, requeue } = passes.pass(Exit.fail(new Temporary({})), { retry })
      return requeue._tag === "after" ? [requeue.why, log.annotations.exhausted] : []
    }
    assert.deepStrictEqual(
      [step(), step(), step()],
      [
        ["backoff", undefined],
        ["backoff", undefined],
        ["recheck", "retries"]
      ]
    )
    const ended = settle(
      facts({
        exit: Exit.fail(new Temporary({ delay: 60_000 })),
        retry: { timeout: "1 minute", exhausted: "on change only" }
      })
    )
    assert.deepStrictEqual([ended.requeue, ended.log.annotations.exhausted], [{ _tag: "none" }, "timeout"])
  })

  it("a message of any length fits the condition, cut in the middle where it can be seen (B79)", () => {
    const message = readyOf(settle(facts({ exit: Exit.fail(new Fatal({ message: "日".repeat(400_000) })) })))!.message
    assert.isAtMost(Buffer.byteLength(message), 32_768)
    assert.match(message, /^reconciling failed: 日+\.\.\.日+$/)
  })
})

describe("settle: a status that could not be written", () => {
  const failedWrite = (some: Parameters<typeof facts>[0], code: number): Settlement => {
    const given = facts(some)
    return afterFailedWrite(given, settle(given), answer(code))
  }

  it("after a success or a NotReady that is the only failure, and no event is told (K20, K29, D8)", () => {
    for (const exit of [Exit.void, notReady("A", "a")]) {
      const settlement = failedWrite({ exit, pass: { ledger: [created] } }, 500)
      assert.deepStrictEqual([settlement.outcome, told(settlement), after(settlement)], ["Temporary", [], 500])
      assert.match(settlement.log.message, /^writing the status failed: .*500/)
      assert.isTrue(settlement.backingOff)
    }
  })

  it("after a failure both are reported, and the write is tried again though the failure was fatal (K25, B53)", () => {
    const settlement = failedWrite({ exit: Exit.fail(new Fatal({ message: "bad spec" })) }, 500)
    assert.deepStrictEqual(
      [settlement.outcome, told(settlement), after(settlement)],
      ["Fatal", ["Warning ReconcileFailed: reconciling failed: bad spec"], 500]
    )
    assert.match(String(settlement.log.annotations.statusWrite), /^writing the status failed/)
    assert.strictEqual(settlement.memory?.failures?.count, 1)
  })
})

describe("Reporting", () => {
  const warningsOf = (reporting: Reporting.Reporting): ReadonlyArray<number> => {
    const passes = new Passes(object())
    const failed = Exit.fail(new Temporary({ message: "m" }))
    const malformed = Exit.fail(new Fatal({ reason: "MalformedResource" }))
    return [failed, failed, notReady("A", "1"), notReady("A", "1"), malformed, malformed].map(
      (exit) => told(passes.pass(exit, { reporting })).length
    )
  }

  it("kopf tells every failure, kopper only NotReady and malformed objects, the others only news (D2, D11, K7, K21, K25)", () => {
    assert.deepStrictEqual(warningsOf(Reporting.kopf), [1, 1, 1, 0, 1, 1])
    assert.deepStrictEqual(warningsOf(Reporting.transitionsOnly), [1, 0, 1, 0, 1, 0])
    assert.deepStrictEqual(warningsOf(Reporting.persisted), [1, 0, 1, 0, 1, 0])
    assert.deepStrictEqual(warningsOf(Reporting.kopper), [0, 0, 1, 0, 1, 1])
    assert.deepStrictEqual(warningsOf(Reporting.none), [0, 0, 0, 0, 0, 0])
  })

  it("of a success kopper tells only what is announced, and coming back from NotReady tells nothing (K14, K22)", () => {
    const announced = { reason: "Created", message: "Created it" }
    for (const reporting of [Reporting.kopper, Reporting.persisted]) {
      const passes = new Passes(object())
      passes.pass(notReady("A", "1"), { reporting })
      assert.deepStrictEqual(told(passes.pass(Exit.void, { reporting, pass: { ledger: [created] } })), [])
      assert.deepStrictEqual(told(passes.pass(Exit.void, { reporting, pass: { announced } })), [
        "Normal Created: Created it"
      ])
    }
  })

  it("a reporting that throws says nothing and breaks nothing", () => {
    const settlement = settle(facts({ exit: Exit.fail(new Temporary({})), reporting: () => assert.fail("mine") }))
    assert.deepStrictEqual([told(settlement), settlement.outcome], [[], "Temporary"])
    const holes = settle(facts({ exit: Exit.fail(new Temporary({})), reporting: () => [undefined as any] }))
    assert.deepStrictEqual([told(holes), holes.outcome], [[], "Temporary"])
  })

  it("a long ledger is told in one line of bounded length", () => {
    const text = Reporting.ledgerText(
      Array.from({ length: 1_000 }, (_, i) => ({ action: "updated", text: `ConfigMap c${i}` }) as const)
    )
    assert.match(text, /^updated ConfigMap c0, .* and 990 more$/)
  })
})
