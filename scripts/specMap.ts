/**
 * The spec map: what each numbered statement of the specification came to, and which tests pin it.
 *
 * Pure functions over the text of `docs/spec-map.md` and the results of a test run; `spec.ts` reads and prints.
 */
import type { RunResults, TestResult } from "./results.ts"

/** How many statements each letter has, numbered from 1. */
export const statements = { K: 40, X: 18, P: 24, E: 14, C: 14, D: 31, B: 92 } as const

export type Letter = keyof typeof statements

export const letters = Object.keys(statements) as ReadonlyArray<Letter>

const expected: ReadonlySet<string> = new Set(
  letters.flatMap((letter) => Array.from({ length: statements[letter] }, (_, i) => `${letter}${i + 1}`))
)

/** `kept` needs a passing test; the others say what stands instead, when it comes, or why it does not apply. */
const verdict = /^(?:(kept)|(overruled) by D\d+(?:, D\d+)*|(later) \(.+\)|(not applicable) \(.+\))$/

const verdictKinds = ["kept", "overruled", "later", "not applicable"] as const

export type VerdictKind = (typeof verdictKinds)[number]

export interface Row {
  /** The line's index in the text. */
  readonly line: number
  readonly id: string
  readonly statement: string
  readonly verdict: string
  readonly kind: VerdictKind | undefined
  readonly tests: string
}

/** A `|` inside of a cell is written `\|`. */
const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The rows of the map's tables: every table line whose first cell is a letter and a number. */
export const parseRows = (text: string): ReadonlyArray<Row> =>
  text.split("\n").flatMap((line, index) => {
    if (!/^\|\s*[A-Z]\d+\s*\|/.test(line)) return []
    const [id = "", statement = "", said = "", tests = ""] = cellsOf(line)
    const kind = verdict
      .exec(said)
      ?.slice(1)
      .find((group) => group !== undefined) as VerdictKind | undefined
    return [{ line: index, id, statement, verdict: said, kind, tests }]
  })

/**
 * The numbers that a test's name cites: single ones, lists, and ranges within a letter (`P1-P4`, `P1-4`).
 * A number inside a longer word (`K8s`, `E2E`) is none. F numbers are facts of the server and not part of the map.
 */
export const citations = (name: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const match of name.matchAll(/(?<![\w.-])([KXPECDB])(\d{1,3})(?:[-–]\1?(\d{1,3}))?(?![\w-])/g)) {
    const [, letter = "", first = "", last] = match
    for (let n = Number(first); n <= Number(last ?? first); n++) found.add(`${letter}${n}`)
  }
  return found
}

/** Which tests cite each number. */
export const citedBy = (results: RunResults): ReadonlyMap<string, ReadonlyArray<TestResult>> => {
  const map = new Map<string, Array<TestResult>>()
  for (const test of results.tests) {
    for (const id of citations(test.name)) map.set(id, [...(map.get(id) ?? []), test])
  }
  return map
}

const nameLength = 72
const namedTests = 3

const shorten = (text: string): string => (text.length <= nameLength ? text : `${text.slice(0, nameLength - 1)}…`)

/** The generated cell: the first few tests as `file: name`, in a stable order, and how many more there are. */
export const testsCell = (tests: ReadonlyArray<TestResult>): string => {
  const labels = new Set(
    tests.map(({ file, name }) => {
      const last = name.split(" > ").at(-1) ?? name
      return `${file.replace(/^packages\//, "").replace("/test/", "/")}: ${shorten(last)}`
    })
  )
  const sorted = [...labels].toSorted().map((label) => label.replaceAll("|", "\\|").replaceAll("<", "&lt;"))
  const more = sorted.length > namedTests ? [`and ${sorted.length - namedTests} more`] : []
  return [...sorted.slice(0, namedTests), ...more].join("; ")
}

/** The map's text with the tests column filled anew; nothing else changes. */
export const withTests = (text: string, results: RunResults): string => {
  const cited = citedBy(results)
  const lines = text.split("\n")
  for (const row of parseRows(text)) {
    const cell = testsCell(cited.get(row.id) ?? [])
    lines[row.line] = `| ${row.id} | ${row.statement} | ${row.verdict} |${cell === "" ? " " : ` ${cell} `}|`
  }
  return lines.join("\n")
}

export interface Report {
  /** What fails the check, one line each. */
  readonly problems: ReadonlyArray<string>
  /** What is worth saying and fails nothing. */
  readonly notices: ReadonlyArray<string>
  /** Rows whose verdict the tests contradict: `later` although a passing test cites it, `kept` without a test. */
  readonly suggestions: ReadonlyArray<string>
  readonly counts: ReadonlyArray<string>
}

const shapeProblems = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const seen = new Map<string, number>()
  for (const { id } of rows) seen.set(id, (seen.get(id) ?? 0) + 1)
  return [
    ...[...expected].filter((id) => !seen.has(id)).map((id) => `${id} has no row`),
    ...[...seen].filter(([, times]) => times > 1).map(([id, times]) => `${id} has ${times} rows`),
    ...[...seen.keys()].filter((id) => !expected.has(id)).map((id) => `${id} has a row but is no statement`),
    ...rows
      .filter(({ kind }) => kind === undefined)
      .map(({ id, verdict }) => `${id} has no verdict of the known forms: "${verdict}"`),
    ...rows.filter(({ statement }) => statement === "").map(({ id }) => `${id} has no statement`)
  ]
}

type Proof = "passed" | "skipped" | "none"

const proofOf = (tests: ReadonlyArray<TestResult>): Proof => {
  if (tests.some(({ state }) => state === "passed")) return "passed"
  return tests.length > 0 && tests.every(({ state }) => state === "skipped") ? "skipped" : "none"
}

const countLines = (rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
  letters.map((letter) => {
    const own = rows.filter(({ id }) => id.startsWith(letter))
    const parts = verdictKinds.map((kind) => `${own.filter((row) => row.kind === kind).length} ${kind}`)
    return `${letter}: ${own.length} of ${statements[letter]}: ${parts.join(", ")}`
  })

/** Holds the map's text against the results of a run. */
export const check = (text: string, results: RunResults): Report => {
  const rows = parseRows(text)
  const cited = citedBy(results)
  const testsOf = (id: string) => cited.get(id) ?? []
  const proven = rows.map((row) => ({ row, proof: proofOf(testsOf(row.id)) }))
  const kept = proven.filter(({ row }) => row.kind === "kept")
  const unproven = kept.filter(({ proof }) => proof === "none").map(({ row }) => row.id)
  const skipped = kept.filter(({ proof }) => proof === "skipped").map(({ row }) => row.id)
  const early = proven.filter(({ row, proof }) => row.kind === "later" && proof === "passed").map(({ row }) => row.id)
  const stale = withTests(text, results) === text ? [] : ["the tests column is stale: run `npm run spec -- --write`"]
  const someSkipped = results.tests.some(({ state }) => state === "skipped")
  const unknown = [...cited.keys()].filter((id) => !expected.has(id))
  return {
    problems: [
      ...shapeProblems(rows),
      ...unknown.map((id) => `${id} is cited but is no statement: ${testsOf(id).map(({ name }) => name)[0]}`),
      ...(unproven.length > 0 ? [`kept, but no passing test cites them: ${unproven.join(", ")}`] : []),
      ...(someSkipped ? [] : stale)
    ],
    notices: [
      ...(skipped.length > 0 ? [`kept, but their tests were skipped in this run: ${skipped.join(", ")}`] : []),
      ...(someSkipped ? stale : [])
    ],
    suggestions: [
      ...early.map((id) => `${id} is later, but passes: ${testsCell(testsOf(id))}`),
      ...unproven.map((id) => `${id} is kept, but has no passing test`)
    ],
    counts: countLines(rows)
  }
}
