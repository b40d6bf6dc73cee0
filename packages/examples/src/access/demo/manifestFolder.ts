/** Manifests as a user keeps them: the YAML files of one folder. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { ObjectInput } from "@fixpoint/core/KubeObject"
import { UsageError } from "@fixpoint/kubernetes/Operator"
import * as Effect from "effect/Effect"
import { parseAllDocuments } from "yaml"

export interface Manifest {
  /** The file's name. */
  readonly file: string
  readonly object: ObjectInput & { readonly apiVersion: string; readonly kind: string }
}

const refuse = (message: string) => new UsageError({ message })

const isManifest = (value: unknown): value is Manifest["object"] => {
  const { apiVersion, kind, metadata } = (value ?? {}) as Record<string, any>
  return typeof apiVersion === "string" && typeof kind === "string" && typeof metadata?.name === "string"
}

/** The objects of one file's text; empty documents are left out. Throws a UsageError that says where and why. */
export const parse = (file: string, text: string): ReadonlyArray<Manifest> => {
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document, i) => {
    const [error] = document.errors
    if (error !== undefined) {
      const line = error.linePos?.[0].line
      const what = error.message.split("\n")[0]!.replace(/ at line \d+, column \d+:?$/, "")
      throw refuse(`${file}${line === undefined ? "" : `:${line}`} is not YAML: ${what}`)
    }
    const object: unknown = document.toJS()
    if (object === null || object === undefined) return []
    if (!isManifest(object))
      throw refuse(`${file}, document ${i + 1}, is no manifest: it needs apiVersion, kind and metadata.name`)
    return [{ file, object }]
  })
}

const attempt = <A>(what: string, run: () => A): Effect.Effect<A, UsageError> =>
  Effect.try({
    try: run,
    catch: (error) => (error instanceof UsageError ? error : refuse(`${what}: ${(error as Error).message}`))
  })

/** All of a folder, in the order of the names of its files. Fails if there are none. */
export const load = (folder: string): Effect.Effect<ReadonlyArray<Manifest>, UsageError> =>
  Effect.gen(function* () {
    const names = yield* attempt(`cannot read the folder of manifests`, () => readdirSync(folder))
    const files = names.filter((name) => /\.(?:ya?ml|json)$/.test(name)).sort()
    const found = yield* attempt("cannot read a manifest", () =>
      files.flatMap((file) => parse(file, readFileSync(join(folder, file), "utf8")))
    )
    if (found.length === 0) return yield* refuse(`there is no manifest in ${folder}: put .yaml files there`)
    return found
  })
