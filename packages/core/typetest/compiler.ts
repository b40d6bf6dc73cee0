/** Runs the compiler on sources made for the purpose, in a directory of their own below `.build`. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** What `tsc` prints, with paths relative to the directory. `options` are flags. Each source may import `./access.ts`, which is the one beside this file. */
export const compile = (sources: Readonly<Record<string, string>>, options: ReadonlyArray<string> = []): string => {
  mkdirSync(join(root, ".build"), { recursive: true })
  const directory = mkdtempSync(join(root, ".build/typetest-"))
  try {
    const access = relative(directory, fileURLToPath(new URL("access.ts", import.meta.url)))
    for (const [name, source] of Object.entries(sources))
      writeFileSync(join(directory, name), source.replaceAll('"./access.ts"', JSON.stringify(access)))
    writeFileSync(
      join(directory, "tsconfig.json"),
      JSON.stringify({
        extends: "../../tsconfig.base.json",
        compilerOptions: { composite: false, declaration: false, declarationMap: false, noEmit: true },
        files: Object.keys(sources)
      })
    )
    const { error, stderr, stdout } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", directory, "--pretty", "false", ...options],
      { cwd: directory, encoding: "utf8", timeout: 300_000 }
    )
    if (error !== undefined) throw error
    return stdout + stderr
  } finally {
    rmSync(directory, { recursive: true })
  }
}
