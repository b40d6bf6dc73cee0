import { describe, expect, it } from "vitest"
import { parseModule, readSourceTree, type SourceTree } from "./sourceTree.ts"
import * as Rules from "./tidyRules.ts"

/** Findings that stand for a reason. Keep it short: most want the missing noun instead. */
const exceptions: ReadonlyArray<Rules.Exception> = [
  {
    finding: "packages/apiserver/src/internal/builtInSchemaData.ts has",
    reason: "data, made by scripts/builtInSchemas.ts"
  },
  {
    finding: "packages/testing/src/SharedControlPlane.ts exports Default",
    reason: "vitest's globalSetup, named in vitest.workspace.ts"
  }
]

const rules: ReadonlyArray<readonly [string, Rules.Rule]> = [
  ["imports follow the layers and no module reaches into another package's insides", Rules.importDirection],
  ["each package declares what it imports and nothing else", Rules.declaredDependencies],
  ["core and apiserver touch no Node, clock, chance, timer or console", Rules.noAmbientUse],
  ["every source file is reached from its package's index", Rules.noDeadFiles],
  ["every export is used by another module, a test or an example", Rules.noDeadExports],
  ["no file has a name that says nothing", Rules.noVagueNames],
  ["nothing is left unfinished in a comment", Rules.nothingUnfinished],
  ["no file names a path of one machine or leaves the repository", Rules.noMachinePaths],
  ["the lock file and npm's configuration name no registry", Rules.noRegistryInLock],
  ["each package.json has its fields and exact versions", Rules.packageFields],
  ["no function hides a noun by its length", Rules.shortFunctions],
  ["no module hides another by its length", Rules.shortModules],
  ["code outweighs comment in every module", Rules.moreCodeThanComment],
  ["every test is a sentence of its own", Rules.tellingTests],
  ["no test is switched off, singled out or promised", Rules.noSwitchedOffTests]
]

describe("the repository is tidy", () => {
  const tree = readSourceTree()

  it.each(rules)("%s", (_, rule) => {
    expect(Rules.apply(rule, tree, exceptions)).toEqual([])
  })

  it("no exception outlives what it excuses", () => {
    const findings = rules.flatMap(([, rule]) => rule(tree))
    expect(exceptions.filter(({ finding }) => !findings.some((line) => line.includes(finding)))).toEqual([])
  })
})

/** A tree of the given files; a package.json of core that is in order unless one is given. */
const forged = (files: Readonly<Record<string, string>>): SourceTree => {
  const texts = Object.entries(files).map(([path, text]) => ({ path, text }))
  return {
    texts,
    modules: texts.filter(({ path }) => path.endsWith(".ts")).map(({ path, text }) => parseModule(path, text))
  }
}

const long = (lines: number): string => Array.from({ length: lines }, (_, i) => `  f(${i})`).join("\n")

describe("a forged fault is found by its rule", () => {
  const core = "packages/core/src/A.ts"
  const faults: ReadonlyArray<readonly [string, Rules.Rule, Readonly<Record<string, string>>, string]> = [
    [
      "an import against the layers",
      Rules.importDirection,
      { [core]: `import "@fixpoint/apiserver"` },
      "may not stand on"
    ],
    [
      "a test helper in src",
      Rules.importDirection,
      { "packages/apiserver/src/A.ts": `import("@fixpoint/testing")` },
      "may not"
    ],
    [
      "a neighbour's insides",
      Rules.importDirection,
      { "packages/testing/test/a.test.ts": `import "@fixpoint/core/internal/x"` },
      "internal"
    ],
    [
      "a path across packages",
      Rules.importDirection,
      { "packages/testing/test/a.test.ts": `import "../../core/src/A.ts"` },
      "by its name"
    ],
    ["a clock in core", Rules.noAmbientUse, { [core]: `export const now = () => Date.now()` }, "Date.now"],
    ["a date of now", Rules.noAmbientUse, { [core]: `export const now = new Date()` }, "new Date()"],
    ["a console by way of globalThis", Rules.noAmbientUse, { [core]: `globalThis.console.log(1)` }, "console"],
    ["a process in a shorthand", Rules.noAmbientUse, { [core]: `export const a = { process }` }, "process"],
    ["Node in core", Rules.noAmbientUse, { [core]: `import "node:fs"` }, "node:fs"],
    ["a file that nothing imports", Rules.noDeadFiles, { "packages/core/src/index.ts": "export {}", [core]: "" }, core],
    ["an export that nothing uses", Rules.noDeadExports, { [core]: "export const lonely = 1" }, "lonely"],
    [
      "an export that only the barrel passes on",
      Rules.noDeadExports,
      { "packages/core/src/index.ts": `export * as A from "./A.ts"`, [core]: "export const lonely = 1" },
      "lonely"
    ],
    ["a file called utils", Rules.noVagueNames, { "packages/core/src/internal/utils.ts": "" }, "utils"],
    ["a note for later", Rules.nothingUnfinished, { [core]: `// ${"TO" + "DO"}: later` }, "finish it"],
    ["a home folder", Rules.noMachinePaths, { "docs/a.md": `see /ho${"me"}/me/x` }, "one machine"],
    [
      "a registry in the lock",
      Rules.noRegistryInLock,
      { "package-lock.json": `"resolved": "https://host/a.tgz"` },
      "registry"
    ],
    [
      "a package.json without fields",
      Rules.packageFields,
      { "packages/core/package.json": `{"dependencies":{"a":"^1.0.0"}}` },
      "a pinned"
    ],
    [
      "an undeclared dependency",
      Rules.declaredDependencies,
      { "packages/core/package.json": "{}", [core]: `import "undici"` },
      "undici"
    ],
    [
      "a dependency without use",
      Rules.declaredDependencies,
      { "packages/core/package.json": `{"dependencies":{"undici":"1.0.0"}}` },
      "undici"
    ],
    [
      "a function of 80 lines",
      Rules.shortFunctions,
      { [core]: `export const f = () => {\n${long(80)}\n}` },
      "82 lines"
    ],
    ["a module of 500 lines", Rules.shortModules, { [core]: long(500) }, "500"],
    [
      "a module of comments",
      Rules.moreCodeThanComment,
      { [core]: `${"// word\n".repeat(30)}${long(25)}` },
      "30 lines of comment"
    ],
    [
      "a test named twice",
      Rules.tellingTests,
      { "test/a.test.ts": `it("says it twice", f)\nit("says it twice", f)` },
      "another test"
    ],
    ["a test of one word", Rules.tellingTests, { "test/a.test.ts": `it.effect("works (K1)", f)` }, "too little"],
    [
      "a test switched off",
      Rules.noSwitchedOffTests,
      { "test/a.test.ts": `it.effect.${"skip"}("says it", f)` },
      "skipIf"
    ]
  ]

  it.each(faults)("%s", (_, rule, files, text) => {
    const findings = rule(forged(files))
    expect(findings.join("\n")).toContain(text)
  })

  it("uses by name, by namespace, through the barrel and in a type are not called dead", () => {
    const files = {
      "packages/core/src/index.ts": `export * as A from "./A.ts"`,
      [core]: `export const a = 1, b = 2, c = 3, d = 4\nexport interface T {}\nexport const e = (t: T) => t`,
      "packages/core/src/B.ts": `import { a } from "./A.ts"\nimport * as A from "./A.ts"\nA.b(a)`,
      "packages/core/test/A.test.ts": `import { A } from "@fixpoint/core"\nimport * as Core from "@fixpoint/core"\nA.c(A.e)\nCore.A.d`
    }
    expect(Rules.noDeadExports(forged(files))).toEqual([])
  })

  it("the names of properties and methods are not called ambient", () => {
    const files = {
      [core]: `export interface T { readonly process: 1; fetch(): void }\nexport const f = (t: T) => t.process`
    }
    expect(Rules.noAmbientUse(forged(files))).toEqual([])
  })
})
