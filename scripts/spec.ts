/**
 * `npm run spec`: holds `docs/spec-map.md` against the results of the last `npm test`.
 *
 * `--write` fills the tests column, `--suggest` lists the rows whose verdict the tests contradict.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { readResults, resultsPath } from "./results.ts"
import { check, withTests } from "./specMap.ts"

const mapPath = "docs/spec-map.md"

const fail = (line: string): void => {
  console.error(`spec map: ${line}`)
  process.exitCode = 1
}

const main = (mode: string | undefined): void => {
  const results = readResults(resultsPath)
  if (results === undefined) return fail(`${resultsPath} is missing or broken: run \`npm test\` first`)
  const text = readFileSync(mapPath, "utf8")
  if (mode === "--write") {
    const written = withTests(text, results)
    if (written !== text) writeFileSync(mapPath, written)
    console.log(`${mapPath} ${written === text ? "is up to date" : "was written"}`)
    return
  }
  const report = check(text, results)
  if (mode === "--suggest") {
    for (const line of report.suggestions) console.log(line)
    return
  }
  if (mode !== undefined) return fail(`${mode} is not known; use --write, --suggest or nothing`)
  for (const line of [...report.counts, ...report.notices]) console.log(line)
  for (const problem of report.problems) fail(problem)
}

main(process.argv[2])
