/** What one more controller costs the compiler: its reconciler is the pipeline of twelve stages of `access.ts`. Run it to print the figures. */
import { readFileSync } from "node:fs"
import { compile } from "./compiler.ts"

const copies = 200

/** The pipeline and its controller, under names of their own, over the kinds of `access.ts`. */
const copy = (source: string, index: number): string => {
  const role = /export const role = [\s\S]*?\n\)\n/.exec(source)?.[0]
  const roles = /export const roles = .*\n/.exec(source)?.[0]
  if (role === undefined || roles === undefined) throw new Error("access.ts has no role or roles")
  return (role + roles)
    .replace("const role ", `const role${index} `)
    .replace("const roles ", `const roles${index} `)
    .replace("reconciler: role", `reconciler: role${index}`)
}

const header = `
import * as Effect from "effect/Effect"
import { Controller, Fatal, KubeObject, Pass, Reconciler, Temporary, Wake } from "@fixpoint/core"
import { ConfigMap, Database, Role, rulesFor, Scope } from "./access.ts"
`

const measure = (count: number): { readonly checkMillis: number; readonly instantiations: number } => {
  const source = readFileSync(new URL("access.ts", import.meta.url), "utf8")
  const many = header + Array.from({ length: count }, (_, index) => copy(source, index)).join("")
  const text = compile({ "many.ts": many }, ["--extendedDiagnostics", "--singleThreaded"])
  if (/error TS/.test(text)) throw new Error(text)
  const figure = (name: string) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(text)?.[1])
  return { checkMillis: figure("Check time") * 1_000, instantiations: figure("Instantiations") }
}

/** A mean of many; the faster of two runs counts, since a busy machine only adds. */
export const cost = (): { readonly millis: number; readonly instantiations: number } => {
  const fastest = (count: number) =>
    [1, 2].map(() => measure(count)).toSorted((a, b) => a.checkMillis - b.checkMillis)[0]!
  const one = fastest(1)
  const many = fastest(1 + copies)
  return {
    millis: (many.checkMillis - one.checkMillis) / copies,
    instantiations: (many.instantiations - one.instantiations) / copies
  }
}

export const format = ({ instantiations, millis }: ReturnType<typeof cost>): string =>
  `one more controller of twelve stages: ${millis.toFixed(1)} ms of tsc, ${Math.round(instantiations)} instantiations`

if (import.meta.main) console.log(format(cost()))
