import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  type About,
  decide,
  type EventCall,
  kopf,
  type LogCall,
  type PostingPolicy,
  standard
} from "../src/PostingPolicy.ts"
import { NotReady, Temporary } from "../src/ReconcileError.ts"
import { object } from "./settled.ts"

const about = object()
const event: EventCall = { _tag: "event", about, type: "Odd", reason: "Reason", message: "text" }
const info: EventCall = { _tag: "info", about, reason: "Reason", message: "text" }
const warn: EventCall = { _tag: "warn", about, reason: "Reason", message: "text" }
const exception: EventCall = { _tag: "exception", about, error: new TypeError("boom"), message: "text" }
const log: LogCall = {
  _tag: "log",
  about,
  level: "Error",
  message: "text",
  inPass: true,
  housekeeping: false,
  passesLogger: true,
  besideWarning: false
}
const policy = (some: Partial<PostingPolicy>): PostingPolicy => ({ ...standard, loggers: true, ...some })
const posted = (some: Partial<PostingPolicy>, call: EventCall): boolean => decide(policy(some), call).length === 1

describe("PostingPolicy", () => {
  it("an explicit event needs only enabled; its level and the loggers do not matter, its type is free (P1)", () => {
    const { apiVersion, kind } = about
    const subject = { apiVersion, kind, metadata: { name: "a", namespace: "ns1", uid: "uid1" } }
    assert.deepStrictEqual(decide(policy({ level: "None", loggers: false }), event), [
      { about: subject, type: "Odd", reason: "Reason", action: "Reason", message: "text", at: undefined }
    ])
    assert.isFalse(posted({ enabled: false }, event))
  })

  it.each([
    ["Debug", true],
    ["Info", true],
    ["Warn", false],
    [20, true],
    [21, false]
  ] as const)("info is posted at level %s: %s, if enabled (P2)", (level, expected) => {
    assert.strictEqual(posted({ level }, info), expected)
    assert.isFalse(posted({ level, enabled: false }, info))
  })

  it.each([
    ["Warn", true],
    ["Error", false]
  ] as const)("warn is posted at level %s: %s, also with posting off (P3)", (level, expected) => {
    assert.strictEqual(posted({ level }, warn), expected)
    assert.strictEqual(posted({ level, enabled: false }, warn), expected)
  })

  it("exception is of type Error, at level Error or below, if enabled (P4)", () => {
    assert.deepInclude(decide(policy({ level: "Error" }), exception)[0], {
      type: "Error",
      reason: "TypeError",
      message: "text boom"
    })
    assert.isFalse(posted({ level: "Fatal" }, exception))
    assert.isFalse(posted({ enabled: false }, exception))
  })

  it.each([
    [{ error: new TypeError("boom") }, "TypeError", "boom"],
    [{ error: new TypeError("boom"), message: "while" }, "TypeError", "while boom"],
    [{ error: new NotReady({ reason: "X", message: "m" }) }, "NotReady", "m"],
    [{ error: "plain" }, "String", "plain"],
    [{ error: undefined, message: "alone" }, "NoneType", "alone"],
    [{ error: null }, "NoneType", ""],
    [{ error: new Error("boom"), reason: "Mine" }, "Mine", "boom"],
    [{ error: Object.create(null) }, "Error", "Error"],
    [
      { error: new Temporary({ operation: "dialing", cause: new Error("refused") }) },
      "Temporary",
      "dialing failed: refused"
    ],
    [{ error: Cause.fail(new TypeError("boom")) }, "TypeError", "boom"],
    [{ error: { errno: 3 } }, "Object", "Object"]
  ])("the reason and text of an exception: %j (P4)", (call, reason, message) => {
    assert.deepInclude(decide(standard, { _tag: "exception", about, ...call })[0], { reason, message })
  })

  it("objects may be nested to any depth, cyclic too; none is no error (P5)", () => {
    const [a, b, c] = [object({ name: "a" }), object({ name: "b" }), object({ name: "c" })]
    const cyclic: Array<About> = [a]
    cyclic.push(cyclic, [cyclic])
    const names = (nested: About): ReadonlyArray<string> =>
      decide(standard, { ...event, about: nested }).map(({ about }) => about.metadata.name)
    assert.deepStrictEqual(names([a, [b, [[c], []]], undefined]), ["a", "b", "c"])
    assert.deepStrictEqual([names(undefined), names([]), names([[], [undefined]])], [[], [], []])
    assert.deepStrictEqual(names(cyclic), ["a"])
  })

  it("a log record is posted iff all six gates are open (P6, P7)", () => {
    assert.isTrue(posted({}, log))
    const closed: ReadonlyArray<readonly [Partial<PostingPolicy>, Partial<LogCall>]> = [
      [{ enabled: false }, {}],
      [{ loggers: false }, {}],
      [{ level: "Fatal" }, {}],
      [{}, { inPass: false }],
      [{}, { about: undefined }],
      [{}, { housekeeping: true }],
      [{}, { passesLogger: false }]
    ]
    for (const [some, call] of closed) assert.isFalse(posted(some, { ...log, ...call }), JSON.stringify([some, call]))
  })

  it.each([
    ["Trace", "Debug"],
    ["Debug", "Debug"],
    ["Info", "Normal"],
    ["Warn", "Warning"],
    ["Error", "Error"],
    ["Fatal", "Fatal"],
    [11, "Normal"],
    [50, "Fatal"],
    [60, "Level 60"]
  ] as const)("a record of level %s becomes an Event of type %s with the reason Logging (P8)", (level, type) => {
    assert.deepInclude(decide(policy({ level: "All" }), { ...log, level })[0], { type, reason: "Logging" })
  })

  it("by default posting is on, loggers are off and the level is Info (P9, P10)", () => {
    assert.deepInclude(standard, { enabled: true, loggers: false, level: "Info", clusterScopedEvents: "describable" })
    assert.deepStrictEqual(decide(standard, log), [])
    assert.deepStrictEqual(decide(kopf, log), [])
  })

  it("the line of a failure beside its Warning is posted twice as kopf does, or once (D16, P10)", () => {
    const beside = { ...log, besideWarning: true }
    assert.strictEqual(decide({ ...kopf, loggers: true }, beside).length, 1)
    assert.strictEqual(decide({ ...standard, loggers: true }, beside).length, 0)
  })

  it("nothing is said about core Events, on any path (P15)", () => {
    const core = { apiVersion: "v1", kind: "Event", metadata: { name: "e" } }
    const other = { ...core, apiVersion: "events.k8s.io/v1" }
    for (const call of [event, info, warn, exception, log]) {
      assert.strictEqual(decide(policy({}), { ...call, about: [core, other] }).length, 1)
      assert.strictEqual(decide(policy({}), { ...call, about: core }).length, 0)
    }
  })

  it("the time of the saying goes along (D17, P11)", () => {
    assert.strictEqual(decide(standard, { ...event, at: 17 })[0]?.at, 17)
  })

  const levels = Schema.Literals(["All", "Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"])
  it.prop(
    "equal calls are judged alike, and raising the level never posts more (D15)",
    [
      Arbitrary.schema(
        Schema.Struct({
          a: levels,
          b: levels,
          of: levels,
          enabled: Schema.Boolean,
          loggers: Schema.Boolean,
          call: Schema.Literals([0, 1, 2, 3, 4])
        })
      )
    ],
    ([{ a, b, call, enabled, loggers, of }]) => {
      const said = [event, info, warn, exception, { ...log, level: of }][call]!
      const at = (level: typeof a): number => decide({ ...standard, level, enabled, loggers }, said).length
      assert.strictEqual(at(a), at(a))
      const order = ["All", "Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"]
      const [low, high] = order.indexOf(a) <= order.indexOf(b) ? [a, b] : [b, a]
      assert.isAtLeast(at(low), at(high))
    },
    { arbitrary: { runs: 1_000 } }
  )
})
