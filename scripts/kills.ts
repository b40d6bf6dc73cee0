/**
 * Kills the access operator on a real control plane (`KUBEBUILDER_ASSETS`) at points of its work that seeds choose, starts it again, and looks for what
 * is lost, doubled or contradicted: `npm run kills -- [--seed 1] [--count 30] [--lanes 4]`. `--outage [--seconds 60]` stops the API server under it
 * instead, and `--stall` leaves its watches half-open.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../packages/examples/test/killsProgram.ts", import.meta.url))
const { status } = spawnSync(process.execPath, ["--conditions=@fixpoint/source", program, ...process.argv.slice(2)], {
  stdio: "inherit"
})
process.exitCode = status ?? 1
