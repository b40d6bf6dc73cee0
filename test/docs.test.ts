import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { examplesOf, fileOf, located } from "./docExamples.ts"
import { run } from "./programs.ts"
import { readSourceTree } from "./sourceTree.ts"

const folder = ".build/docs-examples"

const compilerOptions = {
  composite: false,
  incremental: false,
  declaration: false,
  declarationMap: false,
  noEmit: true,
  noUnusedLocals: false,
  allowImportingTsExtensions: true
}

describe("the examples of the docs", () => {
  const { texts } = readSourceTree()
  const documents = texts.filter(({ path }) =>
    /^(?:README\.md|docs\/.*\.md|packages\/[^/]+\/(?:README\.md|src\/.*\.ts))$/.test(path)
  )
  const examples = documents.flatMap(examplesOf)

  it("compile against the packages as they are", async () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const example of examples) {
      const file = join(folder, fileOf(example))
      mkdirSync(dirname(file), { recursive: true })
      // An example without an import is a module all the same.
      writeFileSync(file, /^(?:import|export)\b/m.test(example.code) ? example.code : `${example.code}\nexport {}`)
    }
    const project = { extends: "../../tsconfig.base.json", compilerOptions, include: ["."] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project))
    if (examples.length === 0) return
    const output = await run("tsc", ["--project", folder, "--pretty", "false"]).catch((error: Error) => error.message)
    expect(located(output, examples)).toEqual([])
  })
})

describe("the compile errors that the README shows", () => {
  it("are those that the compiler says", () => {
    const words = (text: string) => text.replace(/\s+/g, " ").trim()
    const recorded = words(readFileSync("packages/core/typetest/messages.txt", "utf8"))
    const shown = [...readFileSync("README.md", "utf8").matchAll(/```\n(error TS[\s\S]*?)```/g)].map((match) =>
      words(match[1]!)
    )
    expect(shown.length).toBeGreaterThanOrEqual(3)
    expect(shown.filter((message) => !recorded.includes(message))).toEqual([])
  })
})

describe("the fences of a document", () => {
  const text = [
    "# t",
    "```ts",
    "// kinds.ts - the kinds",
    "a",
    "```",
    "```ts nocheck",
    "b",
    "```",
    "```sh",
    "c",
    "```",
    "```ts",
    "d",
    "```"
  ]

  it("are examples when they are TypeScript that is to be checked, under the name that they give", () => {
    const found = examplesOf({ path: "docs/a.md", text: text.join("\n") })
    expect(found.map(({ name, line, code }) => [name, line, code])).toEqual([
      ["kinds.ts", 2, "// kinds.ts - the kinds\na"],
      ["line12.ts", 12, "d"]
    ])
  })

  it("are found in doc comments", () => {
    const comment = ["/**", ...text.map((line) => ` * ${line}`), " */", "export const a = 1"].join("\n")
    expect(examplesOf({ path: "packages/core/src/A.ts", text: comment })).toHaveLength(2)
  })

  it("are named by their place in the document when they do not compile", () => {
    const examples = examplesOf({ path: "docs/a.md", text: text.join("\n") })
    expect(located(".build/docs-examples/docs__a.md/line12.ts(1,1): error TS1: no d", examples)).toEqual([
      "docs/a.md:13 error TS1: no d"
    ])
  })
})
