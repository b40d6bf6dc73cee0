/** The table of outcomes, printed by running `settle`: `docs/outcomes.md` is its copy. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { fromAnswer } from "../src/ApiError.ts"
import { settle, type Settlement } from "../src/internal/settle.ts"
import { Fatal, fromApiError, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reporting from "../src/Reporting.ts"
import { facts, object, readyOf, told } from "./settled.ts"

type Case = readonly [name: string, some: Parameters<typeof facts>[0]]

const fails = (error: unknown): { readonly exit: Exit.Exit<never, unknown> } => ({ exit: Exit.fail(error) })
const api = (code: number, body: object = {}) =>
  fails(
    fromApiError(
      fromAnswer({ verb: "apply", resource: "configmaps" }, { code, body: { message: "as the server says", ...body } })
    )
  )
const config = { action: "created", text: "ConfigMap editor-rules" } as const

const cases: ReadonlyArray<Case> = [
  ["success, nothing changed", {}],
  ["success, something changed", { pass: { ledger: [config] } }],
  ["success, announced by the reconciler", { pass: { announced: { reason: "Created", message: "Created it" } } }],
  ['success, `Pass.requeueAfter("1 hour")`', { pass: { requeueAfterMillis: 3_600_000 } }],
  ["`NotReady`", fails(new NotReady({ reason: "ScopeNotFound", message: "no scope docs" }))],
  [
    "`NotReady`, told before",
    {
      ...fails(new NotReady({ reason: "ScopeNotFound", message: "no scope docs" })),
      object: object({}, { status: "False", reason: "ScopeNotFound", message: "" })
    }
  ],
  [
    '`NotReady`, `requeueAfter: "17 seconds"`',
    fails(new NotReady({ reason: "ScopeNotFound", requeueAfter: "17 seconds" }))
  ],
  ["`Temporary`", fails(new Temporary({ message: "connection refused" }))],
  ['`Temporary`, `delay: "30 seconds"`', fails(new Temporary({ message: "connection refused", delay: "30 seconds" }))],
  ["`Temporary`, a reason of its own", fails(new Temporary({ reason: "RegistryDown", message: "connection refused" }))],
  ["API: 5xx, no answer, timeout", api(503)],
  ["API: 429 with Retry-After 7", api(429, { details: { retryAfterSeconds: 7 } })],
  ["API: 409 conflict, the first two in a row", api(409, { reason: "Conflict" })],
  [
    "API: 409 conflict, the third in a row",
    {
      ...api(409, { reason: "Conflict" }),
      memory: { failures: { uid: "uid1", generation: 1, deleting: false, count: 0, conflicts: 2, since: 0 } }
    }
  ],
  ["API: other 4xx, such as 403 and 422", api(403)],
  ["`Fatal`", fails(new Fatal({ message: "the spec makes no sense" }))],
  ["defect", { exit: Exit.die("x is not a function") }],
  ["interruption by the engine", { exit: Exit.failCause(Cause.interrupt(1)), stopping: true }]
]

const seconds = (millis: number): string =>
  millis < 1_000 ? `${millis} ms` : millis % 60_000 === 0 ? `${millis / 60_000} min` : `${millis / 1_000} s`

const requeueText = ({ requeue }: Settlement): string => {
  if (requeue._tag === "none") return "when woken"
  switch (requeue.why) {
    case "backoff":
      return "backoff: within 1 s, doubling to 5 min"
    case "conflict":
      return "backoff: within 0.1 s, doubling to 5 min"
    case "recheck":
      return `recheck after ${seconds(requeue.millis)}`
    default:
      return `after ${seconds(requeue.millis)}`
  }
}

const readyText = (settlement: Settlement): string => {
  const ready = readyOf(settlement)
  return ready === undefined ? "untouched" : `${ready.status} \`${ready.reason}\``
}

const draftText = ({ status }: Settlement): string =>
  status === undefined
    ? "dropped"
    : status.complete
      ? "written, the rest removed"
      : Object.keys(status.fields).length > 0
        ? "written"
        : "dropped"

const eventText = (settlement: Settlement): string =>
  told(settlement)
    .map((one) => one.split(":")[0]!.replace(" ", " `") + "`")
    .join(", ") || "none"

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const head = ["exit", "next pass", "log", "event (`Reporting.kopf`)", "condition Ready", "status draft"]

/** The events of every reporting, for the exits where they differ. */
const reportings = Object.entries({
  kopf: Reporting.kopf,
  transitionsOnly: Reporting.transitionsOnly,
  persisted: Reporting.persisted,
  kopper: Reporting.kopper,
  none: Reporting.none
})

export const outcomesPage = (): string => {
  const settled = cases.map(([name, some]) => {
    const settlement = settle(facts({ ...some, pass: { draft: { rules: 1 }, ...some?.pass } }))
    return row([
      name,
      requeueText(settlement),
      settlement.log.level.toLowerCase(),
      eventText(settlement),
      readyText(settlement),
      draftText(settlement)
    ])
  })
  const reported = cases
    .filter(([name]) => !name.startsWith("API") && !name.includes("requeueAfter"))
    .map(([name, some]) =>
      row([name, ...reportings.map(([, reporting]) => eventText(settle(facts({ ...some, reporting }))))])
    )
  return `# What the end of a pass comes to

Printed by running \`settle\`; do not edit: \`npx vitest run --config vitest.workspace.ts --project core Outcomes -u\` writes it anew, and a test compares.

A spec edit, a deletion, \`Wake.enqueue\` and \`Wake.resync\` wake a key at once in every row. So does any change, of the status too, of a child or of an object that
the last pass read from a kind in \`watches\`, but no sooner than 0.1 s after a failure. Each wait is therefore the longest that it takes.

A new generation, a deletion and another uid begin the count of failures anew; a failure counts only if its retry was due. With \`RequeuePolicy\` the waits can be
set, with \`RetryPolicy\` a limit to the tries: a slow recheck follows it.

${row(head)}
${row(head.map(() => "---"))}
${settled.join("\n")}

## Who tells what

The first time that a pass ends so; \`transitionsOnly\` and \`persisted\` tell a failure again only when Ready's status or reason changes.

${row(["exit", ...reportings.map(([name]) => `\`Reporting.${name}\``)])}
${row(["---", ...reportings.map(() => "---")])}
${reported.join("\n")}
`
}
