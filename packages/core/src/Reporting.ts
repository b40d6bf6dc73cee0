/**
 * Which events a settled pass says about its object: a pure function, `settle` asks it (D2, D3). It is not asked about interruptions, nor about the
 * first two conflicts in a row, of which no event may tell (D4). What of that is posted, the `PostingPolicy` decides.
 *
 * Two are named after the frameworks whose users expect them: kopf, of Python, and kopper, a Go library.
 */
import * as Context from "effect/Context"
import type * as Condition from "./Condition.ts"
import type { LedgerEntry } from "./Pass.ts"

/** How a pass ended (D2). */
export type Outcome = "unchanged" | "changed" | "NotReady" | "Temporary" | "Fatal" | "defect" | "interrupted"

/** What the reconciler says of its own success, in place of `Reconciled`: `Created`, `Updated`, `Deleted`. */
export interface Announced {
  readonly reason: string
  readonly message: string
}

export interface Report {
  readonly outcome: Outcome
  /** The condition Ready after this pass; its message is that of the failure, also where the condition keeps an older one (D18). */
  readonly ready: Condition.Input
  /** Whether Ready's (status, reason) differs from what was told before; no Ready before counts as different (K21). */
  readonly transition: boolean
  readonly ledger: ReadonlyArray<LedgerEntry>
  readonly announced: Announced | undefined
  /** Whether the reconciler is a `Persisted`, of whose failures only news is told by default (D11). */
  readonly persisted: boolean
}

/** An event about the object of the pass. */
export interface Announcement {
  readonly type: "Normal" | "Warning"
  readonly reason: string
  readonly message: string
}

export type Reporting = (report: Report) => ReadonlyArray<Announcement>

/** Entries of a ledger that a text lists. */
const listedMax = 10

/** What a pass did, in one line: `created ConfigMap team/editor, updated Secret team/key`. */
export const ledgerText = (ledger: ReadonlyArray<LedgerEntry>): string => {
  const listed = ledger.slice(0, listedMax).map(({ action, text }) => (action === "said" ? text : `${action} ${text}`))
  return [...listed, ...(ledger.length > listedMax ? [`and ${ledger.length - listedMax} more`] : [])].join(", ")
}

const isSuccess = (outcome: Outcome): boolean => outcome === "unchanged" || outcome === "changed"

const success = ({ announced, ledger, outcome }: Report): ReadonlyArray<Announcement> =>
  announced !== undefined
    ? [{ type: "Normal", ...announced }]
    : outcome === "changed"
      ? [{ type: "Normal", reason: "Reconciled", message: ledgerText(ledger) }]
      : []

const announcement = ({ announced }: Report): ReadonlyArray<Announcement> =>
  announced === undefined ? [] : [{ type: "Normal", ...announced }]

const warning = ({ ready }: Report): ReadonlyArray<Announcement> => [
  { type: "Warning", reason: ready.reason, message: ready.message }
]

/**
 * The operator conventions for kopf: a Normal for what changed, a Warning `ReconcileFailed` for every failure (repeats are counted by the poster), and
 * for a NotReady one with its own reason, only when it is news (D2, C3, K21).
 */
export const kopf: Reporting = (report) => {
  if (isSuccess(report.outcome)) return success(report)
  if (report.outcome === "NotReady") return report.transition ? warning(report) : []
  return [{ type: "Warning", reason: "ReconcileFailed", message: report.ready.message }]
}

/** Only news: a Warning when Ready's status or reason changes, a Normal for what is announced, or for a change that made the object ready. */
export const transitionsOnly: Reporting = (report) => {
  if (!isSuccess(report.outcome)) return report.transition ? warning(report) : []
  return report.transition ? success(report) : announcement(report)
}

/** For resources that are persisted outside of the cluster: what is announced, and a Warning for every kind of failure when it is news (D11). */
export const persisted: Reporting = (report) => {
  if (isSuccess(report.outcome)) return announcement(report)
  return report.transition ? warning(report) : []
}

/** What kopper does: what is announced, and a Warning for a NotReady when it is news or for a malformed object; ordinary failures are silent (K7, K21, K25). */
export const kopper: Reporting = (report) => {
  if (isSuccess(report.outcome)) return announcement(report)
  const told = report.outcome === "NotReady" ? report.transition : report.ready.reason === "MalformedResource"
  return told ? warning(report) : []
}

/** Nothing: conditions and logs tell. */
export const none: Reporting = () => []

/** `kopf`, and `persisted` for what is persisted outside of the cluster. */
export const standard: Reporting = (report) => (report.persisted ? persisted(report) : kopf(report))

/** The reporting in force. Default: `standard`. */
export const Reporting = Context.Reference<Reporting>("@fixpoint/core/Reporting", { defaultValue: () => standard })
