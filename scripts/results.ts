/**
 * What one test run left behind: the file that the reporter writes and that the closing lines and the spec map read.
 */
import { readFileSync } from "node:fs"

/** One test as the run saw it; `file` is relative to the repository's root, with `/`. */
export interface TestResult {
  readonly file: string
  readonly project: string
  /** The names of the suites and of the test, joined by ` > `. */
  readonly name: string
  readonly state: "passed" | "failed" | "skipped"
  /** The text given to `context.skip(text)`, where there was one. */
  readonly note?: string
  readonly milliseconds: number
}

/** A failure that belongs to no test: a module that did not load, a hook that threw, an unhandled error. */
export interface RunFailure {
  readonly where: string
  readonly message: string
}

export interface RunResults {
  readonly tests: ReadonlyArray<TestResult>
  readonly failures: ReadonlyArray<RunFailure>
  /** Whether KUBEBUILDER_ASSETS was set, so that the tests on a real control plane could run. */
  readonly controlPlane: boolean
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Where the reporter writes, relative to the repository's root. */
export const resultsPath = ".vitest/results.json"

export const noControlPlane =
  "KUBEBUILDER_ASSETS is not set, so the tests on a real control plane did not run; " +
  "set it to a folder with etcd and kube-apiserver"

/** Reads the results of the last run; `undefined` when there are none or when the run broke off while writing. */
export const readResults = (path: string): RunResults | undefined => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunResults
  } catch {
    return undefined
  }
}

/** Every failure counts, those outside of a test and those of the steps around the run too. */
export const count = (results: RunResults | undefined, failedSteps: number): Counts => {
  const tests = results?.tests ?? []
  const inState = (state: TestResult["state"]) => tests.filter((test) => test.state === state).length
  return {
    passed: inState("passed"),
    failed: inState("failed") + (results?.failures.length ?? 0) + failedSteps,
    skipped: inState("skipped")
  }
}

export const countsLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`

/** One line a reason: how many tests were skipped for it, and why. Unexplained ones are named. */
export const skipLines = (results: RunResults): ReadonlyArray<string> => {
  const byReason = new Map<string, Array<string>>()
  const unexplained = results.controlPlane ? "no reason was given" : noControlPlane
  const broken = (file: string) => results.failures.some(({ where }) => where.startsWith(file))
  for (const test of results.tests) {
    if (test.state !== "skipped") continue
    const reason = test.note ?? (broken(test.file) ? "what their suite needs had failed" : unexplained)
    byReason.set(reason, [...(byReason.get(reason) ?? []), `${test.file}: ${test.name}`])
  }
  return [...byReason].flatMap(([reason, names]) => [
    `${names.length} skipped: ${reason}`,
    ...(reason === "no reason was given" ? names.map((name) => `  ${name}`) : [])
  ])
}
