/**
 * `npm run peers -- --bench DIR`: the operators of other frameworks against the in-memory API.
 *
 * DIR holds a side-by-side benchmark whose program `run` starts `kube-apiserver` from the folder KUBE_BIN (its built peers are in BENCH_BUILD). Here that
 * program is this repository's listener, so the peers and the benchmark's own loader talk to it over TLS as they would to a real server. What follows `--`
 * is passed on. Exit code 0 if every peer came through every scenario and lost nothing.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"

/** One measurement, as the benchmark prints it: a JSON line. */
interface Line {
  readonly peer: string
  readonly scenario: string
  readonly lost?: number
  readonly error?: string
}

const allScenarios = ["S1", "S2", "S3", "S4", "S5"]

/** A folder with what the benchmark takes for a control plane. The store is never asked: the listener keeps its objects itself. */
const controlPlane = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "fixpoint-peers-"))
  const program = "packages/apiserver/src/bin/apiserver.ts"
  execFileSync(process.execPath, ["--conditions=@fixpoint/source", program, "--assets", folder], { stdio: "inherit" })
  return folder
}

/**
 * kube-runtime 5.0.0 wakes only one of the reconciles that wait for a second store (its DelayedInit keeps one waker). A real server hides that: it lists ConfigMaps
 * sooner than custom resources.
 */
const late = "widgets.bench.example.com=250"

const measurement = (text: string): Line | undefined => {
  if (!text.startsWith("{")) return undefined
  const line = JSON.parse(text) as Partial<Line>
  return line.peer === undefined || line.scenario === undefined ? undefined : (line as Line)
}

/** Runs the benchmark, shows what it says, and answers its measurements. */
const measure = async (bench: string, bin: string, passed: ReadonlyArray<string>): Promise<ReadonlyArray<Line>> => {
  const child = spawn(join(bench, "run"), passed, {
    env: { ...process.env, KUBE_BIN: bin, FIXPOINT_LIST_DELAY: late },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = new Promise<number>((done, failed) => {
    child.once("error", failed)
    child.once("exit", (code, signal) => done(code ?? (signal === null ? 1 : 128)))
  })
  const lines: Array<Line> = []
  const shown = (async () => {
    for await (const text of createInterface({ input: child.stdout })) {
      console.log(text)
      const line = measurement(text)
      if (line !== undefined) lines.push(line)
    }
  })()
  const code = await ended
  await shown
  if (code !== 0) throw new Error(`${join(bench, "run")} ended with exit code ${code}`)
  return lines
}

/** What each peer came to: the scenarios without an error, and what it lost. */
const verdicts = (lines: ReadonlyArray<Line>): ReadonlyArray<{ readonly text: string; readonly ok: boolean }> =>
  [...new Set(lines.map(({ peer }) => peer))].map((peer) => {
    const own = lines.filter((line) => line.peer === peer)
    const failed = own.filter(({ error }) => error !== undefined)
    const through = new Set(own.filter(({ error }) => error === undefined).map(({ scenario }) => scenario))
    const lost = own.reduce((sum, line) => sum + (line.lost ?? 0), 0)
    const ok = failed.length === 0 && lost === 0 && allScenarios.every((scenario) => through.has(scenario))
    const why = failed.map(({ error, scenario }) => `; ${scenario}: ${error}`).join("")
    return { ok, text: `${peer}: ${[...through].sort().join(" ")}, lost ${lost}${why}` }
  })

const main = async (): Promise<number> => {
  const { positionals, values } = parseArgs({ options: { bench: { type: "string" } }, allowPositionals: true })
  const missing = [
    values.bench === undefined && "the option --bench, a folder with the side-by-side benchmark",
    process.env["KUBEBUILDER_ASSETS"] === undefined && "KUBEBUILDER_ASSETS, a folder with etcd",
    process.env["BENCH_BUILD"] === undefined && "BENCH_BUILD, the folder of its built peers"
  ].filter((text) => text !== false)
  if (missing.length > 0) {
    console.error(`peers: not given: ${missing.join("; ")}`)
    return 2
  }
  const bin = controlPlane()
  try {
    const found = verdicts(await measure(resolve(values.bench!), bin, positionals))
    console.log("")
    for (const { text } of found) console.log(text)
    const ok = found.filter((verdict) => verdict.ok).length
    console.log(`${ok} of ${found.length} peers converged in ${allScenarios.join(", ")} with lost = 0`)
    return ok === found.length && ok > 0 ? 0 : 1
  } finally {
    rmSync(bin, { recursive: true })
  }
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`peers: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
