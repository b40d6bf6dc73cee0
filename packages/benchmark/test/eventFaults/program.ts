/**
 * `npm run event-faults`: what posting events costs the passes of an operator while it cannot be done, on real sockets, beside the same operator that posts none.
 *
 * - `--real`: against kube-apiserver (KUBEBUILDER_ASSETS) and not our listener. `--full`: 500 for ten minutes. `--seconds N` of each fault, 60 by default.
 * - `--only NAME` (again for more): these scenarios; `end` are the ends with events that wait. `--tiny` only tries whether it runs.
 * - `--ratio R`: what p99 of a pass may be by that without posting, 1.05 by default. `--out FILE`: a line of JSON for each scenario is added there.
 *
 * The exit code is 1 if a limit is broken.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Judge from "./judge.ts"
import * as Play from "./play.ts"
import { scenarios } from "./scenarios.ts"
import * as ShutDown from "./shutDown.ts"
import * as World from "./world.ts"

const { values } = parseArgs({
  options: {
    real: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    tiny: { type: "boolean", default: false },
    seconds: { type: "string" },
    only: { type: "string", multiple: true },
    ratio: { type: "string" },
    out: { type: "string" }
  }
})

const limits = { ...Judge.promised, ...(values.ratio !== undefined && { ratio: Number(values.ratio) }) }
const base = values.tiny ? Play.tiny : Play.standard
const sizes = { ...base, ...(values.seconds !== undefined && { seconds: Number(values.seconds) }) }
const isWanted = (name: string): boolean => values.only === undefined || values.only.includes(name)

const note = (figures: object): void => {
  if (values.out === undefined) return
  const server = values.real ? "kube-apiserver" : "listener"
  const line = { benchmark: "event faults", server, seconds: sizes.seconds, time: new Date().toISOString(), ...figures }
  fs.appendFileSync(values.out, `${JSON.stringify(line)}\n`)
}

const load = (): string => os.loadavg()[0]!.toFixed(1)

const scenario = Effect.fnUntraced(function* (world: World.World, one: (typeof scenarios)[number]) {
  const seconds = values.full && one.name === "broken" ? 600 : sizes.seconds
  yield* Console.error(`${one.title}, ${seconds} s, load ${load()}`)
  const played = yield* Effect.scoped(Play.play(world, one, { ...sizes, seconds }))
  const figures = Judge.figuresOf(played, Math.random)
  note(figures)
  yield* Console.error(`  ${Judge.summary(figures)}`)
  for (const line of [...figures.lines, ...(figures.resumed?.lines.map(({ text }) => `after: ${text}`) ?? [])])
    yield* Console.error(`  ${line}`)
  return figures
})

const program = Effect.gen(function* () {
  const [cpu] = os.cpus()
  yield* Console.log(
    `Node ${process.version}, ${os.cpus().length} cores (${cpu?.model.trim()}), load ${load()}; ${values.real ? "kube-apiserver" : "our listener"}\n`
  )
  const world = yield* values.real ? World.real : World.inMemory
  const all: Array<Judge.Figures> = []
  for (const one of scenarios) if (isWanted(one.name)) all.push(yield* scenario(world, one))
  const ends = isWanted("end") ? yield* ShutDown.all(world, values.tiny ? 20 : 500) : []
  for (const end of ends) note(end)
  if (all.length > 0) yield* Console.log(`${Judge.passTable(all)}\n\n${Judge.sideTable(all)}\n`)
  if (ends.length > 0) yield* Console.log(`${Judge.endTable(ends)}\n`)
  const broken = [
    ...all.flatMap((figures) => Judge.broken(figures, limits)),
    ...ends.flatMap((end) => Judge.brokenAtEnd(end, limits))
  ]
  yield* Console.log(broken.length === 0 ? "no limit is broken" : ["broken:", ...broken].join("\n"))
  if (broken.length > 0) process.exitCode = 1
})

program.pipe(Effect.scoped, Effect.provide(Logger.layer([])), NodeRuntime.runMain)
