import { describe, expect, it } from "vitest"
import { count, countsLine, noControlPlane, type RunResults, skipLines, type TestResult } from "../scripts/results.ts"
import { check, citations, letters, statements, withTests } from "../scripts/specMap.ts"

const ran = (name: string, state: TestResult["state"] = "passed"): TestResult => ({
  file: "packages/core/test/WorkQueue.test.ts",
  project: "core",
  name,
  state,
  milliseconds: 1
})

const results = (...tests: ReadonlyArray<TestResult>): RunResults => ({ tests, failures: [], controlPlane: true })

/** A whole map in which every row is `later`, save those given. */
const map = (rows: Readonly<Record<string, string>> = {}): string =>
  letters
    .flatMap((letter) => Array.from({ length: statements[letter] }, (_, i) => `${letter}${i + 1}`))
    .map((id) => `| ${id} | says something | ${rows[id] ?? "later (another part)"} | |`)
    .join("\n")

describe("the citations in a test's name", () => {
  const table: ReadonlyArray<{ readonly of: string; readonly name: string; readonly ids: ReadonlyArray<string> }> = [
    { of: "a list", name: "a wake during a pass gives exactly one more pass (K35, B39)", ids: ["K35", "B39"] },
    { of: "a range within a list", name: "the gates differ (P1-P3, D15)", ids: ["P1", "P2", "P3", "D15"] },
    { of: "a short range", name: "retries are total calls (E4–6)", ids: ["E4", "E5", "E6"] },
    { of: "numbers inside of other words", name: "K8s, E2E, 5E5, F62 and v1.B2 are no statements", ids: [] },
    { of: "a suite and its test", name: "a suite (D3) > a test of B31", ids: ["D3", "B31"] }
  ]
  it.each(table)("are those of $of", ({ name, ids }) => {
    expect([...citations(name)]).toEqual(ids)
  })
})

describe("the check of the spec map", () => {
  const clean = withTests(map({ K1: "kept" }), results(ran("one (K1)")))

  it("passes a whole map whose kept row is cited by a passing test", () => {
    expect(check(clean, results(ran("one (K1)"))).problems).toEqual([])
  })

  it("fails on a missing row, a row twice, a row that is no statement and an unknown verdict", () => {
    const text = clean
      .replace(/^\| K2 .*$/m, "| K3 | says something | later (x) | |")
      .replace(/^\| B92 .*$/m, "| B93 | says something | soon | |")
    expect(check(text, results(ran("one (K1)"))).problems).toEqual([
      "K2 has no row",
      "B92 has no row",
      "K3 has 2 rows",
      "B93 has a row but is no statement",
      'B93 has no verdict of the known forms: "soon"'
    ])
  })

  it.each([["failed"], ["absent"]])("fails on a kept row whose only test is %s", (state) => {
    const run = state === "failed" ? results(ran("one (K1)", "failed")) : results()
    const text = withTests(clean, run)
    expect(check(text, run).problems).toEqual(["kept, but no passing test cites them: K1"])
  })

  it("fails on a test that cites a number that nobody stated", () => {
    const run = results(ran("one (K1)"), ran("two (K41)"))
    expect(check(clean, run).problems).toEqual(["K41 is cited but is no statement: two (K41)"])
  })

  it("names a kept row whose tests were skipped, and does not fail on it", () => {
    const run = results(ran("one (K1)", "skipped"))
    const report = check(clean, run)
    expect(report.problems).toEqual([])
    expect(report.notices).toEqual(["kept, but their tests were skipped in this run: K1"])
  })

  it("fails on a stale tests column, but only says so when tests were skipped", () => {
    const renamed = results(ran("renamed (K1)"))
    expect(check(clean, renamed).problems).toEqual(["the tests column is stale: run `npm run spec -- --write`"])
    const partly = results(ran("renamed (K1)"), ran("real server", "skipped"))
    expect(check(clean, partly).problems).toEqual([])
    expect(check(clean, partly).notices).toHaveLength(1)
  })

  it("suggests a verdict for what passes early and for what is kept without a test", () => {
    const run = results(ran("early (B1)"))
    expect(check(withTests(map({ K1: "kept" }), run), run).suggestions).toEqual([
      "B1 is later, but passes: core/WorkQueue.test.ts: early (B1)",
      "K1 is kept, but has no passing test"
    ])
  })

  it("writes the tests column only, keeps it short, and writing twice changes nothing", () => {
    const run = results(...["d", "a", "b", "c", "a"].map((name) => ran(`suite > ${name}|x (K1)`)))
    const written = withTests(map({ K1: "kept" }), run)
    const file = "core/WorkQueue.test.ts"
    expect(written.split("\n")[0]).toBe(
      `| K1 | says something | kept | ${["a", "b", "c"].map((n) => `${file}: ${n}\\|x (K1)`).join("; ")}; and 1 more |`
    )
    expect(withTests(written, run)).toBe(written)
  })
})

describe("the closing lines", () => {
  it("count failures outside of tests and failed steps as failed", () => {
    const run = { ...results(ran("a"), ran("b", "failed")), failures: [{ where: "x", message: "did not load" }] }
    expect(countsLine(count(run, 1))).toBe("1 passed, 3 failed, 0 skipped")
    expect(countsLine(count(undefined, 1))).toBe("0 passed, 1 failed, 0 skipped")
  })

  it("say why tests were skipped, and name those that give no reason", () => {
    const skipped = [ran("a", "skipped"), { ...ran("b", "skipped"), note: "needs kubectl" }]
    expect(skipLines({ ...results(...skipped), controlPlane: false })).toEqual([
      `1 skipped: ${noControlPlane}`,
      "1 skipped: needs kubectl"
    ])
    const failures = [{ where: "packages/core/test/WorkQueue.test.ts: a suite", message: "no port" }]
    expect(skipLines({ ...results(ran("a", "skipped")), failures })).toEqual([
      "1 skipped: what their suite needs had failed"
    ])
    expect(skipLines(results(ran("a", "skipped")))).toEqual([
      "1 skipped: no reason was given",
      "  packages/core/test/WorkQueue.test.ts: a"
    ])
  })
})
