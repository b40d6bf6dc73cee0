/** A folder for KUBEBUILDER_ASSETS in which kube-apiserver is the in-memory one, for tests that start a control plane by programs (envtest). */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { Mistake } from "./foreground.ts"

const linked = ["etcd", "kubectl"]

const program = (): string => {
  const source = fileURLToPath(new URL("./kubeApiserver.ts", import.meta.url))
  return source.replace(/\.ts$/, path.extname(fileURLToPath(import.meta.url)))
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** `assets` is the folder of the real programs, of which etcd and kubectl are linked; without it they are left out. */
export const writeAssets = (folder: string, assets: string | undefined): Effect.Effect<void, Mistake> =>
  Effect.try({
    try: () => {
      fs.mkdirSync(folder, { recursive: true })
      const command = [process.execPath, ...process.execArgv, program()].map(quote).join(" ")
      fs.writeFileSync(path.join(folder, "kube-apiserver"), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 })
      for (const name of assets === undefined ? [] : linked) {
        const link = path.join(folder, name)
        fs.rmSync(link, { force: true })
        fs.symlinkSync(path.resolve(assets!, name), link)
      }
    },
    catch: (error) => new Mistake({ message: `--assets ${folder}: ${(error as Error).message}` })
  })
