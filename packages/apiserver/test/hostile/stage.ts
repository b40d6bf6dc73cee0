/** Starts the server that is attacked and the client that goes on beside, and measures both during each attack. */
import { type ChildProcess, fork } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Attack, Toll } from "./attacks.ts"
import type { Probes } from "./prober.ts"
import type { Address, Held } from "./target.ts"
import { request, sleep, speak } from "./wire.ts"

export interface Measured extends Toll {
  readonly name: string
  readonly seconds: number
  /** Of the other client's GETs during the attack, in milliseconds. */
  readonly gets: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
  /** GETs that failed. */
  readonly failures: ReadonlyArray<string>
  /** Of the server, when all clients of the attack have left. */
  readonly held: Held
  readonly peakMiB: number
  /** How much of the time the server could have run but the machine was busy with others, from 0 to 1: nothing of the server's own doing. */
  readonly starved: number
}

export interface Stage {
  readonly address: Address
  readonly run: (attack: Attack, scale: number) => Promise<Measured>
  readonly close: () => void
}

const answerOf = <A>(child: ChildProcess, ask = true): Promise<A> => {
  const { promise, reject, resolve } = Promise.withResolvers<A>()
  const ended = (code: number | null, signal: string | null): void =>
    reject(new Error(`the process has ended: ${code ?? signal}`))
  child.once("message", (message) => {
    child.off("exit", ended)
    resolve(message as A)
  })
  child.once("exit", ended)
  if (ask) child.send("?")
  return promise
}

const start = (file: string, args: ReadonlyArray<string>): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ["--conditions=@fixpoint/source", "--expose-gc"],
    stdio: ["ignore", "inherit", "inherit", "ipc"]
  })

const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

export const setUp = async (): Promise<Stage> => {
  const target = start("target.ts", [])
  const address = await answerOf<Address>(target, false)
  const probe = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "probe", labels: { keep: "1" } }
  })
  await speak(address.port, [request(address, "POST", "/api/v1/namespaces/default/configmaps", probe)])
  const prober = start("prober.ts", [String(address.port), address.token])

  const heldAfter = async (): Promise<Held> => {
    let held = await answerOf<Held>(target)
    // The prober's own connection stays.
    for (let i = 0; i < 50 && held.connections > 1; i++) {
      await sleep(100)
      held = await answerOf<Held>(target)
    }
    return held
  }

  return {
    address,
    run: async (attack, scale) => {
      await answerOf<Probes>(prober)
      const began = performance.now()
      const waitedBefore = waitedMillis(target)
      let peakMiB = 0
      const looking = setInterval(() => {
        peakMiB = Math.max(peakMiB, rssOf(target))
      }, 50)
      const toll = await attack.run(address, scale)
      const seconds = (performance.now() - began) / 1_000
      const starved = (waitedMillis(target) - waitedBefore) / (1_000 * seconds)
      const { failures, millis } = await answerOf<Probes>(prober)
      clearInterval(looking)
      const sorted = millis.toSorted((a, b) => a - b)
      return {
        ...toll,
        name: attack.name,
        seconds,
        gets: sorted.length,
        p50: percentile(sorted, 0.5),
        p99: percentile(sorted, 0.99),
        longest: percentile(sorted, 1),
        failures,
        held: await heldAfter(),
        peakMiB,
        starved
      }
    },
    close: () => {
      prober.kill("SIGKILL")
      target.kill("SIGKILL")
    }
  }
}

/** How long the server's main thread has waited for a processor. */
const waitedMillis = ({ pid }: ChildProcess): number => {
  const file = `/proc/${pid}/schedstat`
  return existsSync(file) ? Number(readFileSync(file, "utf8").split(" ")[1] ?? 0) / 1e6 : 0
}

/** Read from outside, so that looking does not make the server collect its garbage. */
const rssOf = ({ pid }: ChildProcess): number => {
  const file = `/proc/${pid}/status`
  return existsSync(file) ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1] ?? 0) / 1_024 : 0
}
