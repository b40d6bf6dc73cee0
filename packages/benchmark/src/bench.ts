/**
 * `npm run bench`: the budgets and what is measured of them. `-- --tiny` only tries whether it runs. `-- --side-by-side DIR` runs the Widget operator by the runner in
 * DIR beside those of other libraries instead; what follows `--` goes to the runner.
 */
import * as os from "node:os"
import { parseArgs } from "node:util"
import * as Effect from "effect/Effect"
import * as Report from "./Report.ts"
import * as SideBySide from "./SideBySide.ts"

const { positionals, values } = parseArgs({
  options: { tiny: { type: "boolean", default: false }, "side-by-side": { type: "string" } },
  allowPositionals: true
})

const budgets = Effect.gen(function* () {
  const [cpu] = os.cpus()
  const memory = Math.round(os.totalmem() / 2 ** 30)
  console.log(
    `Node ${process.version}, ${os.cpus().length} cores (${cpu?.model.trim()}), ${memory} GiB, load ${os.loadavg()[0]!.toFixed(1)}`
  )
  const sizes = values.tiny ? Report.tiny : Report.standard
  console.log(`CPU times are the median of ${sizes.rounds} rounds after one to warm up.\n`)
  console.log(Report.table(yield* Report.figures(sizes)))
  return 0
})

const directory = values["side-by-side"]
process.exitCode = await Effect.runPromise(directory === undefined ? budgets : SideBySide.run(directory, positionals))
