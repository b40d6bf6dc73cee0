/**
 * Says where a CPU profile's time went, by function: `node src/profile.ts FILE.cpuprofile [COUNT]`. A profile is made by `node --cpu-prof --cpu-prof-interval 250
 * dist/widget.mjs`, which writes it when the operator ends.
 */
import { readFileSync } from "node:fs"

interface Node {
  readonly id: number
  readonly children?: ReadonlyArray<number>
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}
interface Profile {
  readonly nodes: ReadonlyArray<Node>
  readonly samples: ReadonlyArray<number>
  /** Microseconds. */
  readonly timeDeltas: ReadonlyArray<number>
}

const nameOf = ({ callFrame: { functionName, lineNumber, url } }: Node): string => {
  const file = url.replace(/^.*\/(node_modules|packages)\//, "").replace(/^file:.*\//, "")
  return `${functionName || "(anonymous)"} ${file}${file === "" ? "" : `:${lineNumber + 1}`}`
}

/** Microseconds by name: where the sample was, or in everything that called it too. */
const spent = ({ nodes, samples, timeDeltas }: Profile, callersToo: boolean): ReadonlyMap<string, number> => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const callers = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)))
  const times = new Map<string, number>()
  samples.forEach((sample, i) => {
    const names = new Set<string>()
    for (let id: number | undefined = sample; id !== undefined; id = callersToo ? callers.get(id) : undefined)
      names.add(nameOf(byId.get(id)!))
    for (const name of names) times.set(name, (times.get(name) ?? 0) + timeDeltas[i]!)
  })
  return times
}

const print = (title: string, times: ReadonlyMap<string, number>, count: number): void => {
  console.log(`\n${title}`)
  for (const [name, micros] of [...times].sort(([, a], [, b]) => b - a).slice(0, count))
    console.log(`${(micros / 1_000).toFixed(1).padStart(9)} ms  ${name}`)
}

const [file, count = "25"] = process.argv.slice(2)
if (file === undefined) {
  console.error("profile: which .cpuprofile? node src/profile.ts FILE [COUNT]")
  process.exitCode = 2
} else {
  const profile = JSON.parse(readFileSync(file, "utf8")) as Profile
  print("in the function itself", spent(profile, false), Number(count))
  print("with what it calls", spent(profile, true), Number(count))
}
