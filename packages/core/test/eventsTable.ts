/** What `docs/events.md` says of the rules of posting, printed by running them. The words around it are written there. */
import { printedPage } from "./printedPage.ts"
import * as Exit from "effect/Exit"
import type * as LogLevel from "effect/LogLevel"
import * as Schema from "effect/Schema"
import * as Controller from "../src/Controller.ts"
import { fitted, placeOf } from "../src/internal/eventBody.ts"
import { EventSeries, nameOf, type Saying } from "../src/internal/eventSeries.ts"
import { settle } from "../src/internal/settle.ts"
import * as Kind from "../src/Kind.ts"
import { decide, type EventCall, kopf, type LogCall, type PostingPolicy, standard } from "../src/PostingPolicy.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import * as Reporting from "../src/Reporting.ts"
import { answer, changeRefused, Play, type Server, type Some, unreachable } from "./eventPlay.ts"
import { facts, object, readyOf, told } from "./settled.ts"

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const about = object()
const words = { about, reason: "KeyRotated", message: "the new key is k-7" }
const record = (level: LogLevel.LogLevel, some: Partial<LogCall> = {}): LogCall => ({
  _tag: "log",
  about,
  level,
  message: "text",
  inPass: true,
  housekeeping: false,
  passesLogger: true,
  besideWarning: false,
  ...some
})

const sayings: ReadonlyArray<readonly [string, EventCall]> = [
  ['`event`, of type `"Audit"`', { _tag: "event", type: "Audit", ...words }],
  ["`info`", { _tag: "info", ...words }],
  ["`warn`", { _tag: "warn", ...words }],
  ["`exception`", { _tag: "exception", about, error: new TypeError("no key") }],
  ["a success, as its Reporting tells it", { _tag: "event", type: "Normal", ...words, reason: "Reconciled" }],
  ["a failure, as its Reporting tells it", { _tag: "event", type: "Warning", ...words, reason: "ReconcileFailed" }],
  ["`Effect.logDebug`", record("Debug")],
  ["`Effect.logInfo`", record("Info")],
  ["`Effect.logWarning`", record("Warn")],
  ["`Effect.logError`", record("Error")],
  ["`Effect.logFatal`", record("Fatal")],
  ["the log line of a failed pass, of which nothing else is told", record("Error")],
  ["the same, beside the Warning of its Reporting", record("Error", { besideWarning: true })],
  ["a record inside `EventLogger.unposted`", record("Error", { housekeeping: true })],
  ["a record outside of a pass", record("Error", { inPass: false })],
  ["a record below the logger's own level", record("Info", { passesLogger: false })],
  ["anything about no object, or about a core/v1 Event", { _tag: "warn", ...words, about: [] }]
]

const variants: ReadonlyArray<readonly [string, Partial<PostingPolicy>]> = [
  ["`standard`", {}],
  ['`level: "Warn"`', { level: "Warn" }],
  ['`level: "Error"`', { level: "Error" }],
  ["`enabled: false`", { enabled: false }],
  ["`loggers: true`", { loggers: true }],
  ['`loggers`, `level: "Warn"`', { loggers: true, level: "Warn" }],
  ["`loggers`, `besideWarning`", { loggers: true, besideWarning: true }]
]

const decisions = (): string =>
  table(
    ["what is said", ...variants.map(([name]) => name)],
    sayings.map(([name, call]) => [
      name,
      ...variants.map(
        ([, some]) =>
          decide({ ...standard, ...some }, call)
            .map(({ reason, type }) => `${type} \`${reason}\``)
            .join() || "-"
      )
    ])
  )

const levels = (): string => {
  const typeOf = (level: LogLevel.LogLevel): string =>
    decide({ ...standard, loggers: true, level: "All" }, record(level))[0]!.type
  const named = ["Trace", "Debug", "Info", "Warn", "Error", "Fatal"] as const
  return table(["level of the record", ...named], [["type of the Event", ...named.map(typeOf)]])
}

const fails = (error: unknown): Parameters<typeof facts>[0] => ({ exit: Exit.fail(error) })
const ends: ReadonlyArray<readonly [string, Parameters<typeof facts>[0]]> = [
  ["success, nothing changed", {}],
  ["success, something changed", { pass: { ledger: [{ action: "created", text: "ConfigMap editor-rules" }] } }],
  ["success, `Pass.announce`", { pass: { announced: { reason: "Created", message: "created it" } } }],
  ["`NotReady`", fails(new NotReady({ reason: "ScopeNotFound", message: "no scope docs" }))],
  ["`Temporary`", fails(new Temporary({ message: "connection refused" }))],
  ["`Temporary`, a reason of its own", fails(new Temporary({ reason: "RegistryDown", message: "no answer" }))],
  ["`Fatal`, a reason of its own", fails(new Fatal({ reason: "SpecInvalid", message: "no such region" }))],
  ["defect", { exit: Exit.die("x is not a function") }]
]

const reports = (): string => {
  const { kopf, kopper, none, persisted, transitionsOnly } = Reporting
  const columns = Object.entries({ kopf, transitionsOnly, persisted, kopper, none })
  const once = (reporting: Reporting.Reporting, some: Parameters<typeof facts>[0]): string => {
    const first = settle(facts({ ...some, reporting }))
    const ready = readyOf(first)!
    const again = settle(facts({ ...some, reporting, object: object({}, { ...ready, message: ready.message ?? "" }) }))
    const [text] = toldOf(first)
    return text === undefined ? "-" : `${text}${toldOf(again).length === 0 ? ", once" : ""}`
  }
  return table(
    ["how the pass ends", ...columns.map(([name]) => `\`${name}\``)],
    ends.map(([name, some]) => [name, ...columns.map(([, reporting]) => once(reporting, some))])
  )
}

/** `Warning \`Reason\`` of what the Reporting tells. */
const toldOf = (settlement: Parameters<typeof told>[0]): ReadonlyArray<string> =>
  told(settlement).flatMap((one) => (one.includes(":") ? [`${one.split(":")[0]!.replace(" ", " `")}\``] : []))

const shown = (key: string, value: unknown): string =>
  value === Infinity
    ? "no limit"
    : key === "repeatsWithin" && value === 0
      ? "0: each saying is an Event"
      : String(value)

const policies = (): string => {
  const { budgets: standardBudgets, ...standardRest } = standard
  const { budgets: kopfBudgets, ...kopfRest } = kopf
  const rows = (one: object, other: object, prefix = ""): ReadonlyArray<ReadonlyArray<string>> =>
    Object.keys(one).map((key) => [
      `\`${prefix}${key}\``,
      shown(key, (one as any)[key]),
      shown(key, (other as any)[key])
    ])
  return table(
    ["", "`PostingPolicy.standard`", "`PostingPolicy.kopf`"],
    [...rows(standardRest, kopfRest), ...rows(standardBudgets, kopfBudgets, "budgets.")]
  )
}

/** How many Events become of sayings, each posted at once by a server that takes it, and the largest count on one. */
const postedOf = (sayings: ReadonlyArray<Partial<Saying["words"]> & { readonly at?: number }>): string => {
  const series = new EventSeries(1_000)
  const counts = new Map<string, number>()
  for (const { at = 0, message = "m", reason = "R", type = "Warning" } of sayings) {
    const fit = fitted({ type, reason, action: "", message })
    series.say({ about, place: placeOf(about, "describable", ""), words: fit, at, budgets: standard.budgets })
    for (let next = series.take(); next !== undefined; next = series.take()) {
      counts.set(`${next.id} ${next.firstAt}`, next.count)
      series.done(next, { name: nameOf("e-", next.id), count: next.count })
    }
  }
  const largest = Math.max(...counts.values())
  return `${counts.size} ${counts.size === 1 ? "Event" : "Events"}${largest > 1 ? `, the most repeated with the count ${largest}` : ""}`
}

const many = <A>(count: number, one: (i: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, i) => one(i))

const budgets = (): string =>
  table(
    ["said of one object, each time posted at once", "stored"],
    [
      ["the same 10,000 times, one a second", postedOf(many(10_000, (i) => ({ at: i * 1_000 })))],
      ["the same, and once more after 7 minutes", postedOf([{ at: 0 }, { at: 420_000 }])],
      [
        "one reason with 10,000 different texts, one a second",
        postedOf(many(10_000, (i) => ({ message: `try ${i}`, at: i * 1_000 })))
      ],
      ["40 different reasons within a minute", postedOf(many(40, (i) => ({ reason: `Reason${i}`, at: i * 1_000 })))]
    ]
  )

const limits = (): string => {
  const long = fitted({ type: "t".repeat(5_000), reason: "r".repeat(5_000), action: "", message: "日".repeat(5_000) })
  const bytes = (text: string): string => `${Buffer.byteLength(text)} bytes`
  const full = fitted({ type: "Normal", reason: "R", action: "", message: "m".repeat(5_000) })
  return table(
    ["field", "at most", "what is longer"],
    [
      ["message", bytes(full.message), "is cut in the middle, between two characters: its begin and its end stay"],
      [
        "reason",
        bytes(long.reason),
        `is cut at its end; an empty one becomes \`${fitted({ ...long, reason: "" }).reason}\``
      ],
      ["action", bytes(long.action), "is cut at its end; an absent one is the reason"],
      ["type", bytes(long.type), `is cut at its end; an empty one becomes \`${fitted({ ...long, type: "" }).type}\``]
    ]
  )
}

/** As a server refuses an Event for what it says. */
const tooLong = { message: "message: can have at most 1024 characters", details: { name: "fixpoint-u7" } }

const minutes = (count: number): number => count * 60_000

/** Said of so many objects, one after another: fewer than are said are said of again. */
type Told = Some & { readonly objects?: number }

/** What a server does, for ten minutes and two in which it is well, to so many sayings of as many objects, one every 100 ms. */
const troubles: ReadonlyArray<readonly [name: string, said: number, server: Server, told?: Told]> = [
  ["is away for 3 s", 100, (_, now) => (now < 3_000 ? unreachable : "posted")],
  [
    "is away, silent, or answers 5xx, 429 or 401 for 10 minutes",
    100,
    (_, now) => (now < minutes(10) ? answer(503) : "posted")
  ],
  ["the same, and more is said than waits", 1_200, (_, now) => (now < minutes(10) ? answer(503) : "posted")],
  ["fails at one Event alone", 100, ({ about }) => (about.metadata.name === "u7" ? answer(500) : "posted")],
  [
    "does not take one Event (400, 413, 422)",
    100,
    ({ about }) => (about.metadata.name === "u7" ? answer(422, 0, tooLong) : "posted")
  ],
  [
    "refuses a namespace for 10 minutes (403; also one that is terminating)",
    100,
    (_, now) => (now < minutes(10) ? answer(403) : "posted")
  ],
  [
    "takes what is new, and no change (403): an account with `create` alone; 50 Events, each said twice",
    100,
    ({ posted }) => (posted === undefined ? "posted" : changeRefused),
    { objects: 50 }
  ],
  [
    "refuses `default` to Events about cluster-scoped objects (403)",
    100,
    ({ place }) => (place.namespace === "default" ? answer(403) : "posted"),
    { isClusterScoped: true }
  ],
  ["does not know the namespace (404)", 100, () => answer(404)]
]

const outages = (): string => {
  const rowOf = (name: string, play: Play, said: number): ReadonlyArray<string> => {
    const drops = Object.entries(play.series.totals.dropped).filter(([, count]) => count > 0)
    return [
      name,
      String(said),
      String(new Set(play.posted).size),
      drops.map(([cause, count]) => `${count} \`${cause}\``).join(", ") || "-",
      play.warnings.map((line) => `\`${line}\``).join("<br>") || "nothing"
    ]
  }
  const said = (play: Play, count: number, { objects = count, ...some }: Told = {}): void => {
    for (let i = 0; i < count; i++) {
      play.say({ ...some, uid: `u${i % objects}`, type: i % 2 === 0 ? "Warning" : "Normal" })
      play.elapse(100)
    }
  }
  const rows = troubles.map(([name, count, server, told]) => {
    const play = new Play()
    play.server = server
    said(play, count, told)
    play.elapse(minutes(12) - play.now)
    return rowOf(name, play, count)
  })
  const ending = new Play()
  ending.server = () => unreachable
  said(ending, 100)
  ending.hurry()
  ending.elapse(5_000)
  ending.end()
  return table(
    ["the server", "said", "stored", "dropped, by cause", "told in the log, at Warn"],
    [...rows, rowOf("is away when the operator ends", ending, 100)]
  )
}

class Role extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Role",
  scope: "Namespaced",
  spec: Schema.Struct({ scope: Schema.String })
}) {}

const rights = (): string => {
  const roles = Controller.make({ for: Role, reconciler: Reconciler.for(Role) })
  const ruleOf = (events: "core" | "events.k8s.io"): string =>
    Controller.rbac([roles], { events })
      .filter(({ resources }) => resources.includes("events"))
      .map(
        ({ apiGroups, resources, verbs }) =>
          `- apiGroups: ["${apiGroups.join()}"]\n  resources: [${resources.join(", ")}]\n  verbs: [${verbs.join(", ")}]`
      )
      .join("\n")
  return `\`\`\`yaml\n# EventPoster.layer\n${ruleOf("core")}\n# EventPoster.layerEventsV1\n${ruleOf("events.k8s.io")}\n\`\`\``
}

const printed: Readonly<Record<string, () => string>> = {
  decisions,
  levels,
  reports,
  policies,
  budgets,
  limits,
  outages,
  rights
}

/** `docs/events.md` as it comes today. */
export const eventsPage = (page: string): string => printedPage(page, printed)
