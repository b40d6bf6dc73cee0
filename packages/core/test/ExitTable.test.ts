/**
 * Which Events a pass comes to, in which order: how it ended x what the step said x who reports x what is posted. The right values are the tables below,
 * read off D2, D4, D11, D16 and P1-P10; what the code does is `settle`, then `decide` over each of its events.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type * as LogLevel from "effect/LogLevel"
import { type ApiError, fromAnswer } from "../src/ApiError.ts"
import { afterFailedWrite, type Facts, settle, type Settlement } from "../src/internal/settle.ts"
import type { LedgerEntry } from "../src/Pass.ts"
import { decide, type EventCall, kopf, type LogCall, type PostingPolicy, standard } from "../src/PostingPolicy.ts"
import { Fatal, fromApiError, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reporting from "../src/Reporting.ts"
import { facts, object } from "./settled.ts"

type Some = Parameters<typeof facts>[0] & {}

const fails = (error: unknown): Some => ({ exit: Exit.fail(error) })
/** As the server refuses: with details, without which a 422 would be a failed `test` of a JSON patch (F80). */
const answer = { message: "the server says", details: { name: "editor-rules" } }
const api = (code: number, conflicts = 0): Some => ({
  ...fails(fromApiError(fromAnswer({ verb: "apply", resource: "configmaps" }, { code, body: answer }))),
  memory: { failures: { uid: "uid1", generation: 1, deleting: false, count: 0, conflicts, since: 0 } }
})
const before = (status: "True" | "False", reason: string): Some => ({
  object: object({}, { status, reason, message: "" })
})
const created: LedgerEntry = { action: "created", text: "ConfigMap editor-rules" }
const changed: Some = { pass: { ledger: [created] } }
const announced: Some = { pass: { announced: { reason: "Created", message: "Created it" } } }
const notReady = fails(new NotReady({ reason: "ScopeNotFound", message: "no scope docs" }))
const refused = fails(new Temporary({ message: "connection refused" }))

const ends: Readonly<Record<string, Some>> = {
  "first, unchanged": {},
  unchanged: before("True", "Synced"),
  "unchanged after a NotReady": before("False", "ScopeNotFound"),
  "first, changed": changed,
  changed: { ...before("True", "Synced"), ...changed },
  "first, announced": announced,
  "changed, announced": { ...before("True", "Synced"), pass: { ...announced.pass, ...changed.pass } },
  NotReady: notReady,
  "NotReady, told before": { ...before("False", "ScopeNotFound"), ...notReady },
  "NotReady, no reason": fails(new NotReady({ reason: "", message: "odd" })),
  Temporary: refused,
  "Temporary, told before": { ...before("False", "ReconcileFailed"), ...refused },
  "Temporary, delay": fails(new Temporary({ message: "no", delay: "30 seconds" })),
  "Temporary, own reason": fails(new Temporary({ reason: "RegistryDown", message: "no" })),
  "API 503": api(503),
  "API 409, first": api(409),
  "API 409, second": api(409, 1),
  "API 409, third": api(409, 2),
  "API 403": api(403),
  "API 422": api(422),
  Fatal: fails(new Fatal({ message: "the spec makes no sense" })),
  "Fatal, own reason": fails(new Fatal({ reason: "SpecInvalid", message: "the spec makes no sense" })),
  malformed: fails(new Fatal({ reason: "MalformedResource", message: "not decoded" })),
  defect: { exit: Exit.die(new TypeError("x is not a function")) },
  interruption: { exit: Exit.failCause(Cause.interrupt(1)), stopping: true }
}

/** N and W: the Event that a reporting tells, Normal or Warning. `outcome`: what an author's own is told, where it is asked. `line`: of what level. */
const exits = `
end                        | outcome   | kopf              | transitionsOnly     | persisted           | kopper              | line
first, unchanged           | unchanged |                   |                     |                     |                     |
unchanged                  | unchanged |                   |                     |                     |                     |
unchanged after a NotReady | unchanged |                   |                     |                     |                     |
first, changed             | changed   | N Reconciled      | N Reconciled        |                     |                     |
changed                    | changed   | N Reconciled      |                     |                     |                     |
first, announced           | changed   | N Created         | N Created           | N Created           | N Created           |
changed, announced         | changed   | N Created         | N Created           | N Created           | N Created           |
NotReady                   | NotReady  | W ScopeNotFound   | W ScopeNotFound     | W ScopeNotFound     | W ScopeNotFound     | Debug
NotReady, told before      | NotReady  |                   |                     |                     |                     | Debug
NotReady, no reason        | NotReady  | W Invalid         | W Invalid           | W Invalid           | W Invalid           | Debug
Temporary                  | Temporary | W ReconcileFailed | W ReconcileFailed   | W ReconcileFailed   |                     | Error
Temporary, told before     | Temporary | W ReconcileFailed |                     |                     |                     | Error
Temporary, delay           | Temporary | W ReconcileFailed | W ReconcileFailed   | W ReconcileFailed   |                     | Error
Temporary, own reason      | Temporary | W ReconcileFailed | W RegistryDown      | W RegistryDown      |                     | Error
API 503                    | Temporary | W ReconcileFailed | W ReconcileFailed   | W ReconcileFailed   |                     | Error
API 409, first             |           |                   |                     |                     |                     |
API 409, second            |           |                   |                     |                     |                     |
API 409, third             | Temporary | W ReconcileFailed | W Conflict          | W Conflict          |                     | Error
API 403                    | Temporary | W ReconcileFailed | W Forbidden         | W Forbidden         |                     | Error
API 422                    | Temporary | W ReconcileFailed | W Invalid           | W Invalid           |                     | Error
Fatal                      | Fatal     | W ReconcileFailed | W ReconcileFailed   | W ReconcileFailed   |                     | Error
Fatal, own reason          | Fatal     | W ReconcileFailed | W SpecInvalid       | W SpecInvalid       |                     | Error
malformed                  | Fatal     | W ReconcileFailed | W MalformedResource | W MalformedResource | W MalformedResource | Error
defect                     | defect    | W ReconcileFailed | W InternalError     | W InternalError     |                     | Error
interruption               |           |                   |                     |                     |                     |
`
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => {
    const [end, outcome, ...cells] = line.split("|").map((cell) => cell.trim())
    const events = cells.map((cell) => cell.replace(/^N /, "Normal ").replace(/^W /, "Warning "))
    const [kopf, transitionsOnly, persisted, kopper, level] = events as [string, string, string, string, string]
    return {
      end: end!,
      outcome: outcome!,
      told: { kopf, transitionsOnly, persisted, kopper, none: "" },
      level: level as "Error" | "Debug" | ""
    }
  })

type Ended = (typeof exits)[number]

/** An author's own: how each pass ended, and a Warning beside it if it failed. */
const own: Reporting.Reporting = ({ outcome, ready }) => [
  { type: "Normal", reason: "Ended", message: outcome },
  ...(ready.status === "False" ? [{ type: "Warning", reason: "Sad", message: "" } as const] : [])
]

const throwing: Reporting.Reporting = () => {
  throw new Error("a fault in the author's reporting")
}

const { kopf: kopfReporting, kopper, none, persisted, transitionsOnly } = Reporting
const reportings = { kopf: kopfReporting, transitionsOnly, persisted, kopper, none, own, throwing }

const tells = ({ outcome, told }: Ended, reporting: keyof typeof reportings): ReadonlyArray<string> => {
  if (reporting === "throwing") return []
  if (reporting !== "own") return told[reporting] === "" ? [] : [told[reporting]]
  return outcome === "" ? [] : ["Normal Ended", ...(outcome.endsWith("changed") ? [] : ["Warning Sad"])]
}

/** In the order of the columns of `postedUnder`. */
const policies: ReadonlyArray<readonly [name: string, policy: PostingPolicy]> = [
  ["standard", standard],
  ["kopf", kopf],
  ["level Warn", { ...standard, level: "Warn" }],
  ["level Debug", { ...standard, level: "Debug" }],
  ["level Error", { ...standard, level: "Error" }],
  ["not enabled", { ...standard, enabled: false }]
]
/** Under which of the policies each way of saying is posted: yes or no (P1-P6). What the step and the failure log, with loggers on only. */
const postedUnder = {
  event: "y y y y y n",
  info: "y y n y n n",
  warn: "y y y y n y",
  exception: "y y y y y n",
  "record of Debug": "n n n y n n",
  "record of Info": "y y n y n n",
  "record of Warn": "y y y y n n",
  "record of Error": "y y y y y n"
} as const
type Way = keyof typeof postedUnder

/** Which of the logger's own least levels let a line through. */
const lets: Readonly<Record<"Error" | "Debug", ReadonlyArray<LogLevel.LogLevel>>> = {
  Error: ["All", "Debug", "Info", "Error"],
  Debug: ["All", "Debug"]
}
const minimumLogLevels: ReadonlyArray<LogLevel.LogLevel> = ["All", "Debug", "Info", "Error", "Fatal", "None"]

const about = object()
const record = (level: LogLevel.LogLevel, some: Partial<LogCall> = {}): LogCall => ({
  _tag: "log",
  about,
  level,
  message: "mine",
  inPass: true,
  housekeeping: false,
  passesLogger: true,
  besideWarning: false,
  ...some
})
type Saying = readonly [call: EventCall, way: Way | "never", shown: string]
const words = { about, message: "mine" }
const says: Readonly<Record<Way | "housekeeping" | "not let through" | "a Warning by event", Saying>> = {
  event: [{ _tag: "event", type: "Odd", reason: "Said", ...words }, "event", "Odd Said"],
  "a Warning by event": [{ _tag: "event", type: "Warning", reason: "Said", ...words }, "event", "Warning Said"],
  info: [{ _tag: "info", reason: "Told", ...words }, "info", "Normal Told"],
  warn: [{ _tag: "warn", reason: "Warned", ...words }, "warn", "Warning Warned"],
  exception: [{ _tag: "exception", reason: "Thrown", ...words }, "exception", "Error Thrown"],
  "record of Debug": [record("Debug"), "record of Debug", "Debug Logging (mine)"],
  "record of Info": [record("Info"), "record of Info", "Normal Logging (mine)"],
  "record of Warn": [record("Warn"), "record of Warn", "Warning Logging (mine)"],
  "record of Error": [record("Error"), "record of Error", "Error Logging (mine)"],
  housekeeping: [record("Error", { housekeeping: true }), "never", ""],
  "not let through": [record("Error", { passesLogger: false }), "never", ""]
}
/** What the step says before it ends. */
const steps: Readonly<Record<string, ReadonlyArray<Saying>>> = {
  nothing: [],
  "all but a Warning": [
    says["record of Debug"],
    says.info,
    says["record of Info"],
    says.housekeeping,
    says.exception,
    says["record of Error"],
    says["not let through"],
    says.event
  ],
  "a Warning by warn": [says["record of Info"], says.warn],
  "a Warning by event": [says["a Warning by event"], says.info],
  "a Warning in the log": [says["record of Warn"]]
}

interface Row {
  readonly exit: Ended
  readonly reporting: keyof typeof reportings
  readonly step: string
  readonly minimumLogLevel: LogLevel.LogLevel
}

function* rows(): Generator<Row> {
  for (const exit of exits)
    for (const reporting of Object.keys(reportings) as Array<keyof typeof reportings>)
      for (const step of Object.keys(steps))
        for (const minimumLogLevel of minimumLogLevels) yield { exit, reporting, step, minimumLogLevel }
}

/** The Events that a row ought to come to under a policy, in order. */
const right = (
  { exit, minimumLogLevel, reporting, step }: Row,
  policy: number,
  loggers: boolean
): ReadonlyArray<string> => {
  if (exit.end === "interruption") return []
  const isPosted = (way: Way): boolean =>
    postedUnder[way].split(" ")[policy] === "y" && (loggers || !way.startsWith("record"))
  const said = steps[step]!.flatMap(([, way, shown]) => (way !== "never" && isPosted(way) ? [shown] : []))
  const told = isPosted("event") ? tells(exit, reporting) : []
  // A Warning of the step's own is about something else: only what the reporting says of the failure is the same twice.
  const isWarned = told.some((one) => one.startsWith("Warning"))
  const isMirrored =
    exit.level !== "" &&
    lets[exit.level].includes(minimumLogLevel) &&
    isPosted(`record of ${exit.level}`) &&
    (!isWarned || policies[policy]![0] === "kopf")
  return [...said, ...told, ...(isMirrored ? [`${exit.level} Logging`] : [])]
}

const factsOf = ({ exit, minimumLogLevel, reporting, step }: Row): Facts => {
  const some = ends[exit.end]!
  const events = steps[step]!.map(([call]) => call)
  return facts({ ...some, pass: { ...some.pass, events }, reporting: reportings[reporting], minimumLogLevel })
}

const come = ({ events }: Settlement, policy: PostingPolicy): ReadonlyArray<string> =>
  events
    .flatMap((call) => decide(policy, call))
    .map(({ about, message, reason, type }) => {
      const whose = about.metadata.uid === "uid1" ? "" : " about another object"
      return `${type} ${reason}${reason === "Logging" && message === "mine" ? " (mine)" : ""}${whose}`
    })

describe("the table of what a pass comes to", () => {
  it("every end, under every reporting and policy, tells what it should in the order of its happening (D2, D4, D11, D16, P1, P2, P3, P4, P6, P7, P10, C3, C5, K21, K22, K25)", () => {
    const wrong: Array<string> = []
    const counts = { rows: 0, events: 0 }
    for (const row of rows()) {
      const settlement = settle(factsOf(row))
      for (const [index, [name, policy]] of policies.entries())
        for (const loggers of [false, true]) {
          const ought = right(row, index, loggers)
          const is = come(settlement, { ...policy, loggers })
          counts.rows++
          counts.events += ought.length
          if (ought.join() !== is.join())
            wrong.push(JSON.stringify({ ...row, exit: row.exit.end, policy: name, loggers, ought, is }))
        }
    }
    assert.deepStrictEqual([wrong.length, wrong.slice(0, 10)], [0, []])
    // 25 ends, 7 reportings, 5 steps, 6 least levels of the logger, 6 policies, loggers on and off: none can go missing unseen.
    assert.deepStrictEqual(
      exits.map(({ end }) => end),
      Object.keys(ends)
    )
    assert.deepStrictEqual(counts, { rows: 25 * 7 * 5 * 6 * 6 * 2, events: 100_584 })
  })

  it("a Temporary alone makes no Event: its line is one only with loggers on (P10, D16)", () => {
    const settlement = settle(facts({ ...refused, reporting: Reporting.none }))
    assert.deepStrictEqual(
      [standard, kopf, { ...standard, loggers: true }, { ...kopf, loggers: true }].map((policy) =>
        come(settlement, policy)
      ),
      [[], [], ["Error Logging"], ["Error Logging"]]
    )
  })

  it("the Event of a failure's line is the line as it is logged, with the trace of a defect (P8, D3)", () => {
    const mirrored = (some: Some): ReadonlyArray<string> =>
      settle(facts({ ...some, reporting: Reporting.none }))
        .events.flatMap((call) => decide({ ...standard, loggers: true }, call))
        .map(({ at, message }) => `${at} ${message}`)
    assert.deepStrictEqual(mirrored({ ...refused, now: 17 }), ["17 reconciling failed: connection refused"])
    const [text] = mirrored({ ...ends.defect!, now: 17 })
    assert.match(text!, /^17 reconciling failed: x is not a function\n/)
    assert.include(text, "TypeError: x is not a function")
    assert.include(text, "ExitTable.test.ts")
  })
})

describe("a pass whose status could not be written", () => {
  const wrote = (code: number): ApiError => fromAnswer({ verb: "apply", resource: "widgets" }, { code, body: answer })
  const loud: PostingPolicy = { ...standard, level: "Debug", loggers: true }
  const after = (end: string, code: number, policy: PostingPolicy): ReadonlyArray<string> => {
    const some = facts({ ...ends[end], minimumLogLevel: "All" })
    return come(afterFailedWrite(some, settle(some), wrote(code)), policy)
  }

  it("tells nothing of a success or a NotReady, and mirrors that the write failed (K20, D8, D16)", () => {
    for (const end of ["unchanged", "first, changed", "first, announced", "NotReady"])
      assert.deepStrictEqual([after(end, 403, standard), after(end, 403, loud)], [[], ["Error Logging"]], end)
  })

  it("mirrors no conflict before the third in a row (D4)", () => {
    for (const end of ["unchanged", "first, changed", "NotReady"])
      assert.deepStrictEqual(after(end, 409, loud), [], end)
  })

  it("tells of a failure what it would have told (K25, C3)", () => {
    for (const end of ["Temporary", "Fatal", "defect"])
      assert.deepStrictEqual(after(end, 403, standard), ["Warning ReconcileFailed"], end)
  })
})
