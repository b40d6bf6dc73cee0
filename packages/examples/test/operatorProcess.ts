/** Starts and kills the program of `operatorChild`. */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { compiled } from "./compiled.ts"

const program = fileURLToPath(new URL("operatorChild.ts", import.meta.url))

/** Of what it has written, the last so many characters are kept. */
const outputMax = 256 * 1024

export interface OperatorProcess {
  /** What it has written. */
  readonly output: () => string
  readonly isRunning: () => boolean
  /** Ends it as a crash does, and waits for its end. */
  readonly kill: Effect.Effect<void>
}

/** Where one operator is, over all of its lives. */
export interface Home {
  readonly namespace: string
  /** The file of its registry. */
  readonly registry: string
  readonly kubeconfig: string
  readonly limits: Limits
}

/** Of its client, in milliseconds; what is absent is the client's default. */
export interface Limits {
  readonly idleLimit?: number
  readonly requestTimeout?: number
}

/** A home with its files in a folder that goes with the scope. `kubeconfig` is a text. */
export const home = (
  namespace: string,
  kubeconfig: string,
  limits: Limits = {}
): Effect.Effect<Home, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-operator-"))
      const file = path.join(folder, "kubeconfig")
      fs.writeFileSync(file, kubeconfig, { mode: 0o600 })
      const registry = path.join(folder, "registry")
      return { folder, home: { namespace, registry, kubeconfig: file, limits } }
    }),
    ({ folder }) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
  ).pipe(Effect.map(({ home }) => home))

/** Runs until it is killed or the scope ends. */
export const start = ({
  kubeconfig,
  limits,
  namespace,
  registry
}: Home): Effect.Effect<OperatorProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): OperatorProcess => {
      const child = spawn(process.execPath, ["--conditions=@fixpoint/source", program], {
        env: {
          PATH: process.env.PATH,
          NO_COLOR: "1",
          NODE_COMPILE_CACHE: compiled,
          KUBECONFIG: kubeconfig,
          NAMESPACE: namespace,
          REGISTRY: registry,
          LIMITS: JSON.stringify(limits)
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let output = ""
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (part) => void (output = (output + String(part)).slice(-outputMax)))
      const ended = new Promise<void>((resolve) => {
        child.once("exit", () => resolve())
        child.once("error", () => resolve())
      })
      return {
        output: () => output,
        isRunning: () => child.exitCode === null && child.signalCode === null,
        kill: Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        })
      }
    }),
    ({ kill }) => kill
  )
