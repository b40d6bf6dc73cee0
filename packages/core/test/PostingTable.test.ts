/**
 * Every combination of what decides whether something said becomes an Event, against tables that are read off P1-P8, P10, P15, D15 and D16. Nothing here
 * repeats how `decide` goes about it: a row's right value is looked up, not computed from the policy.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  type About,
  decide,
  type EventCall,
  kopf,
  type Level,
  type LogCall,
  type PostingPolicy,
  type Said,
  standard,
  type Subject
} from "../src/PostingPolicy.ts"
import { NotReady, Temporary } from "../src/ReconcileError.ts"
import { object } from "./settled.ts"

/** From the least to the greatest: levels on one rung are the same, by name or on the scale Debug 10 to Fatal 50. With the type of such a record (P8). */
const ladder: ReadonlyArray<readonly [type: string, ...levels: ReadonlyArray<Level>]> = [
  ["never logged", "All"],
  ["Debug", 0],
  ["Debug", "Trace"],
  ["Debug", "Debug", 10],
  ["Normal", 11],
  ["Normal", "Info", 20],
  ["Warning", 21],
  ["Warning", "Warn", 30],
  ["Error", 31],
  ["Error", "Error", 40],
  ["Fatal", 41],
  ["Fatal", "Fatal", 50],
  ["Level 51", 51],
  ["Level 60", 60],
  ["never logged", "None"]
]
const rungOf = new Map(ladder.flatMap(([, ...levels], rung) => levels.map((level) => [level, rung] as const)))
const levels: ReadonlyArray<Level> = [...rungOf.keys()]
const recordLevels = levels.filter((level) => ladder[rungOf.get(level)!]![0] !== "never logged")

const booleans = [false, true]
const places = ["describable", "operator-namespace"] as const
const widget = object()
const subjects = { widget, none: undefined, "core Event": { apiVersion: "v1", kind: "Event", metadata: { name: "e" } } }

/** What a row says that is posted; `false`: nothing. */
type Right = readonly [type: string, reason: string, message: string] | false

const seen = (said: ReadonlyArray<Said>): Right | "several" | "about another" => {
  if (said.length === 0) return false
  if (said.length > 1) return "several"
  const [{ about, message, reason, type }] = said as [Said]
  return about.metadata.uid === widget.metadata.uid ? [type, reason, message] : "about another"
}

class Table {
  rows = 0
  posted = 0
  readonly wrong: Array<string> = []

  check(policy: PostingPolicy, call: EventCall, right: Right): void {
    this.rows++
    const got = seen(decide(policy, call))
    if (right !== false) this.posted++
    if (JSON.stringify(got) !== JSON.stringify(right) && this.wrong.length < 10)
      this.wrong.push(JSON.stringify({ policy, call: { ...call, about: undefined }, right, got }))
  }

  /** The numbers are written down, so that no case can go missing unseen. */
  holds(rows: number, posted: number): void {
    assert.deepStrictEqual(this.wrong, [])
    assert.deepStrictEqual([this.rows, this.posted], [rows, posted])
  }
}

function* policies(): Generator<PostingPolicy> {
  for (const enabled of booleans)
    for (const level of levels)
      for (const loggers of booleans)
        for (const besideWarning of booleans) yield { ...standard, enabled, level, loggers, besideWarning }
}

const words = { reason: "Odd-reason", message: "text" }

/** P1-P4. `upTo`: the greatest level of a policy that lets it through. */
const explicit = {
  event: { call: { _tag: "event", type: "odd type", ...words }, upTo: "None", asksEnabled: true, type: "odd type" },
  info: { call: { _tag: "info", ...words }, upTo: "Info", asksEnabled: true, type: "Normal" },
  warn: { call: { _tag: "warn", ...words }, upTo: "Warn", asksEnabled: false, type: "Warning" },
  exception: { call: { _tag: "exception", ...words }, upTo: "Error", asksEnabled: true, type: "Error" }
} as const

describe("the table of what is posted", () => {
  it("what is said explicitly: event ignores the level, warn ignores enabled, the loggers matter to none (P1, P2, P3, P4, P15, D15)", () => {
    const table = new Table()
    for (const { asksEnabled, call, type, upTo } of Object.values(explicit))
      for (const policy of policies())
        for (const clusterScopedEvents of places)
          for (const [name, about] of Object.entries(subjects)) {
            const isOpen = rungOf.get(policy.level)! <= rungOf.get(upTo)! && (policy.enabled || !asksEnabled)
            const right: Right = name === "widget" && isOpen && [type, words.reason, words.message]
            table.check({ ...policy, clusterScopedEvents }, { ...call, about } as EventCall, right)
          }
    // 4 paths, 20 levels, 2 of each of enabled, loggers, besideWarning and the place, 3 subjects.
    // Posted: event on 20 levels if enabled, info on 8, exception on 14; warn on 11 whether enabled or not; each for 8 of the rest.
    assert.strictEqual(levels.length, 20)
    table.holds(4 * 20 * 16 * 3, (20 + 8 + 14 + 2 * 11) * 8)
  })

  it("what is logged: one closed gate of seven keeps it from being posted, whatever the others are (P6, P7, P8, P10, P15, D15, D16)", () => {
    const table = new Table()
    for (const policy of policies())
      for (const level of recordLevels)
        for (const [name, about] of Object.entries(subjects))
          for (const inPass of booleans)
            for (const housekeeping of booleans)
              for (const passesLogger of booleans)
                for (const besideWarning of booleans) {
                  const gates = [
                    policy.enabled,
                    policy.loggers,
                    rungOf.get(level)! >= rungOf.get(policy.level)!,
                    name === "widget" && inPass,
                    !housekeeping,
                    passesLogger,
                    policy.besideWarning || !besideWarning
                  ]
                  const right: Right = !gates.includes(false) && [ladder[rungOf.get(level)!]![0], "Logging", "text"]
                  const log = {
                    _tag: "log",
                    about,
                    level,
                    message: "text",
                    inPass,
                    housekeeping,
                    passesLogger
                  } as const
                  table.check(policy, { ...log, besideWarning }, right)
                }
    // Of the 18 x 20 pairs of levels 194 are high enough; for each, of (besideWarning of the policy, of the call) three of four.
    assert.strictEqual(recordLevels.length, 18)
    table.holds(2 * 20 * 2 * 2 * 18 * 3 * 16, 194 * 3)
  })
})

const log: LogCall = {
  _tag: "log",
  about: widget,
  level: "Error",
  message: "text",
  inPass: true,
  housekeeping: false,
  passesLogger: true,
  besideWarning: false
}

class Flood extends RangeError {}
const flood = new Flood("the cellar is full")

describe("an exception", () => {
  it.each<readonly [Omit<Extract<EventCall, { _tag: "exception" }>, "_tag" | "about">, string, string]>([
    [{ error: new RangeError("too far") }, "RangeError", "too far"],
    [{ error: flood }, "Flood", "the cellar is full"],
    [{ error: new NotReady({ reason: "ScopeNotFound", message: "no scope" }) }, "NotReady", "no scope"],
    [{ error: new Temporary({ reason: "Down", message: "no answer" }) }, "Temporary", "no answer"],
    [{ error: flood, reason: "Mine" }, "Mine", "the cellar is full"],
    [{ error: flood, reason: "" }, "Flood", "the cellar is full"],
    [{ error: flood, message: "while raining:" }, "Flood", "while raining: the cellar is full"],
    [{ error: flood, message: "" }, "Flood", "the cellar is full"],
    [{ error: flood, reason: "Mine", message: "while raining:" }, "Mine", "while raining: the cellar is full"],
    [{}, "NoneType", ""],
    [{ error: undefined }, "NoneType", ""],
    [{ error: null }, "NoneType", ""],
    [{ message: "alone" }, "NoneType", "alone"],
    [{ message: "alone", reason: "" }, "NoneType", "alone"],
    [{ message: "alone", reason: "Mine" }, "Mine", "alone"]
  ])("%j has the reason %s and the text %j (P4)", (call, reason, message) => {
    assert.deepStrictEqual(seen(decide(standard, { _tag: "exception", about: widget, ...call })), [
      "Error",
      reason,
      message
    ])
  })
})

const paths: ReadonlyArray<EventCall> = [
  ...Object.values(explicit).map(({ call }) => ({ ...call, about: widget })),
  log
]

/** A nesting written down as brackets: `[` and `]` open and close a list, `-` is nothing, `E` a core Event, other letters are Widgets of that name. */
const Sign = Schema.Literals(["[", "[", "]", "-", "E", "a", "b", "c"])

const nestingOf = (signs: ReadonlyArray<string>): About => {
  const open: Array<Array<About>> = [[]]
  for (const sign of signs) {
    const innermost = open.at(-1)!
    if (sign === "[") {
      const list: Array<About> = []
      innermost.push(list)
      open.push(list)
    } else if (sign === "]") {
      if (open.length > 1) open.pop()
    } else if (sign === "-") innermost.push(undefined)
    else innermost.push(sign === "E" ? subjects["core Event"] : object({ name: sign, uid: sign }))
  }
  return open[0]
}

describe("objects in lists", () => {
  it.prop(
    "every one of them is told of, in order, however they are nested, and none of the core Events among them (P5, P15)",
    [Arbitrary.array(Arbitrary.schema(Sign), { maxLength: 40 }), Arbitrary.schema(Schema.Literals([0, 1, 2, 3, 4]))],
    ([signs, path]) => {
      const said = decide({ ...standard, loggers: true }, { ...paths[path]!, about: nestingOf(signs) })
      assert.strictEqual(
        said.map(({ about }) => about.metadata.name).join(""),
        signs.filter((sign) => /[abc]/.test(sign)).join("")
      )
    },
    { arbitrary: { runs: 2_000 } }
  )

  it("one that stands in it twice is told of twice, and so is a list; a list that holds itself ends (P5)", () => {
    const list: Array<About> = [widget]
    const count = (about: About): number => decide(standard, { ...paths[0]!, about }).length
    assert.deepStrictEqual([count([widget, widget]), count([list, [list], widget])], [2, 3])
    const cyclic: Array<About> = [widget]
    cyclic.push(cyclic, [cyclic])
    assert.strictEqual(count(cyclic), 1)
  })

  it("none at all is no error, on any path (P5)", () => {
    for (const path of paths)
      for (const about of [undefined, [], [[], [undefined, []]]])
        assert.deepStrictEqual(decide({ ...standard, loggers: true }, { ...path, about }), [])
  })

  it("Events of the other API and kinds of the same name are objects like any other (P15)", () => {
    const others: ReadonlyArray<Subject> = ["events.k8s.io/v1", "example.com/v1"].map((apiVersion) => ({
      ...subjects["core Event"],
      apiVersion
    }))
    for (const path of paths)
      assert.strictEqual(decide({ ...standard, loggers: true }, { ...path, about: others }).length, 2)
  })
})

describe("the policies that come with it", () => {
  it("by default what is said is posted and what is logged is not, so that a failure's line alone makes no Event (P9, P10)", () => {
    for (const policy of [standard, kopf]) {
      assert.deepStrictEqual(
        paths.map((call) => decide(policy, call).length),
        [1, 1, 1, 1, 0]
      )
      assert.deepInclude(policy, { enabled: true, level: "Info", loggers: false })
    }
  })

  it("level Warn, which keeps the mirrored information away, mutes info too: what must be told then goes by event (P1, P2, P6)", () => {
    const policy: PostingPolicy = { ...standard, loggers: true, level: "Warn" }
    const calls: ReadonlyArray<EventCall> = [...paths, { ...log, level: "Info" }, { ...log, level: "Warn" }]
    assert.deepStrictEqual(
      calls.map((call) => decide(policy, call).length),
      [1, 0, 1, 1, 1, 0, 1]
    )
  })
})
