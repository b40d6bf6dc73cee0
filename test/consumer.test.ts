import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run } from "./programs.ts"

const packages = ["core", "kubernetes", "apiserver", "testing"]

interface Packed {
  readonly name: string
  readonly filename: string
  readonly files: ReadonlyArray<{ readonly path: string }>
}

/** The root's packages but our own, so that nothing is fetched. */
const linkDependencies = (modules: string): void => {
  const names = readdirSync("node_modules").filter((name) => !name.startsWith(".") && name !== "@fixpoint")
  for (const name of names) symlinkSync(resolve("node_modules", name), join(modules, name))
}

describe("the packed packages", () => {
  const home = mkdtempSync(join(tmpdir(), "fixpoint-consumer-"))
  let packed: ReadonlyArray<Packed> = []

  beforeAll(async () => {
    await run("tsc", ["-b", ...packages.map((name) => `packages/${name}`)])
    const workspaces = packages.map((name) => `--workspace=packages/${name}`)
    const answer = JSON.parse(await run("npm", ["pack", "--json", "--pack-destination", home, ...workspaces]))
    packed = Object.values(answer as Record<string, Packed>)
    const modules = join(home, "node_modules")
    mkdirSync(join(modules, "@fixpoint"), { recursive: true })
    linkDependencies(modules)
    for (const { name, filename } of packed) {
      const folder = join(modules, name)
      mkdirSync(folder)
      await run("tar", ["-xzf", join(home, filename), "--strip-components=1", "-C", folder])
    }
    cpSync("test/consumer", home, { recursive: true })
  })

  afterAll(() => rmSync(home, { recursive: true, force: true }))

  it("hold sources, their JavaScript and their types, and nothing else", () => {
    expect(packed.map(({ name }) => name).toSorted()).toEqual(packages.map((name) => `@fixpoint/${name}`).toSorted())
    for (const { name, files } of packed) {
      const paths = files.map(({ path }) => path)
      const strange = paths.filter(
        (path) => !/^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|(?:src|dist)\/.+)$/.test(path)
      )
      expect({ name, strange }).toEqual({ name, strange: [] })
      expect(paths.filter((path) => /tsbuildinfo|\.test\./.test(path))).toEqual([])
      const sources = paths.filter((path) => /^src\/.*\.ts$/.test(path))
      const built = sources.flatMap((path) =>
        [".js", ".d.ts"].map((end) => path.replace("src", "dist").replace(/\.ts$/, end))
      )
      expect({ name, missing: built.filter((path) => !paths.includes(path)) }).toEqual({ name, missing: [] })
    }
  })

  it("compile in a user's project without skipLibCheck, and run there", async () => {
    await run("tsc", ["--project", "."], home)
    const output = await run("node", ["dist/main.js"], home)
    expect(output).toContain(`"pages":3,"observedGeneration":1`)
    expect(output).toContain(`{"pages":"3"}]`)
  })

  it("keep their internal modules to themselves", async () => {
    const failed = run("node", ["--input-type=module", "-e", `await import("@fixpoint/core/internal/failure")`], home)
    await expect(failed).rejects.toThrow("ERR_PACKAGE_PATH_NOT_EXPORTED")
  })
})
