/**
 * A vitest reporter that writes the results of the run for the closing lines of `npm test` and for the spec map.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"
import { resultsPath, type RunFailure, type RunResults, type TestResult } from "./results.ts"

const failuresOf = (module: TestModule, file: string): ReadonlyArray<RunFailure> => {
  const failed = [...module.errors()].map(({ message }) => ({ where: file, message }))
  const suites = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map(({ message }) => ({ where: `${file}: ${suite.fullName}`, message }))
  )
  return [...failed, ...suites]
}

const testsOf = (module: TestModule, file: string): ReadonlyArray<TestResult> =>
  [...module.children.allTests()].map((test) => {
    const result = test.result()
    return {
      file,
      project: module.project.name,
      name: test.fullName,
      // A test that never finished (its worker died, the run was cancelled) did not pass.
      state: result.state === "pending" ? "failed" : result.state,
      ...(result.state === "skipped" && result.note !== undefined ? { note: result.note } : {}),
      milliseconds: Math.round(test.diagnostic()?.duration ?? 0)
    }
  })

export default class ResultsReporter implements Reporter {
  onTestRunEnd: NonNullable<Reporter["onTestRunEnd"]> = (modules, unhandled) => {
    const located = modules.map((module) => ({ module, file: relative(process.cwd(), module.moduleId) }))
    const results: RunResults = {
      tests: located.flatMap(({ module, file }) => testsOf(module, file)),
      failures: [
        ...located.flatMap(({ module, file }) => failuresOf(module, file)),
        ...unhandled.map(({ message }) => ({ where: "unhandled error", message }))
      ],
      controlPlane: (process.env["KUBEBUILDER_ASSETS"] ?? "") !== ""
    }
    mkdirSync(dirname(resultsPath), { recursive: true })
    writeFileSync(resultsPath, JSON.stringify(results, null, 1))
  }
}
