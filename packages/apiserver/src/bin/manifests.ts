/** Reads CustomResourceDefinitions from a folder of manifests. */
import * as fs from "node:fs"
import * as path from "node:path"
import type { ObjectInput } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import * as Yaml from "yaml"
import { Mistake } from "./foreground.ts"

const extensions: ReadonlySet<string> = new Set([".yaml", ".yml", ".json"])

const isManifest = (u: unknown): u is ObjectInput & { readonly items?: unknown } => typeof u === "object" && u !== null

/** The objects of one file: documents, and the items of lists. */
const objectsOf = (file: string): ReadonlyArray<ObjectInput> =>
  Yaml.parseAllDocuments(fs.readFileSync(file, "utf8"), { logLevel: "silent" }).flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw new Error(`${file}: ${error.message.split("\n", 1)[0]!}`)
    const value: unknown = document.toJS()
    if (!isManifest(value)) return []
    return Array.isArray(value.items) ? value.items.filter(isManifest) : [value]
  })

/** Other kinds than CustomResourceDefinition are left out; a folder without any is a mistake. Not recursive. */
export const readCrds = (folder: string): Effect.Effect<ReadonlyArray<ObjectInput>, Mistake> =>
  Effect.try({
    try: () => {
      const files = fs.readdirSync(folder).filter((name) => extensions.has(path.extname(name)))
      const found = files
        .toSorted()
        .flatMap((name) => objectsOf(path.join(folder, name)))
        .filter(({ kind }) => kind === "CustomResourceDefinition")
      if (found.length === 0)
        throw new Error(`${folder}: no CustomResourceDefinition in its .yaml, .yml and .json files`)
      return found
    },
    catch: (error) => new Mistake({ message: `--crds: ${error instanceof Error ? error.message : String(error)}` })
  })
