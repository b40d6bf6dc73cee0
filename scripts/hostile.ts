/**
 * `npm run hostile`: attacks the in-memory API behind HTTP in a process of its own, while another client asks for one object all the time, and prints how
 * long that client waited.
 *
 *     npm run hostile -- [--scale=1] [TEXT]
 *
 * Starved: how much of the time the server could have run, had the machine not been busy with others.
 *
 * TEXT: only the attacks whose name has it. The exit code is 1 if an attack did what it must not, or the server is gone.
 */
import { attacks } from "../packages/apiserver/test/hostile/attacks.ts"
import { type Measured, setUp } from "../packages/apiserver/test/hostile/stage.ts"

const args = process.argv.slice(2)
const scale = Number(args.find((arg) => arg.startsWith("--scale="))?.slice(8) ?? "1")
const text = args.find((arg) => !arg.startsWith("--"))

const head =
  "| attack | seconds | requests | answers | GETs | p50 ms | p99 ms | longest ms | RSS MiB: most | after | heap after | connections after | starved |"

const row = (one: Measured): string => {
  const cells = [
    one.name,
    one.seconds.toFixed(1),
    one.requests,
    one.answers,
    `${one.gets}${one.failures.length > 0 ? ` (${one.failures.length} failed)` : ""}`,
    one.p50.toFixed(1),
    one.p99.toFixed(1),
    one.longest.toFixed(1),
    Math.round(one.peakMiB),
    Math.round(one.held.rssMiB),
    Math.round(one.held.heapMiB),
    one.held.connections,
    `${Math.round(100 * one.starved)} %`
  ]
  return `| ${cells.join(" | ")} |`
}

const stage = await setUp()
let faults = 0
try {
  console.log(head)
  console.log(head.replaceAll(/[^|]+/g, "---"))
  for (const attack of attacks.filter(({ name }) => text === undefined || name.includes(text))) {
    const measured = await stage.run(attack, scale)
    console.log(row(measured))
    for (const fault of [...measured.faults, ...measured.failures.slice(0, 3)]) {
      faults++
      console.error(`${attack.name}: ${fault}`)
    }
  }
} finally {
  stage.close()
}
process.exit(faults > 0 ? 1 : 0)
