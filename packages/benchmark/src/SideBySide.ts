/**
 * The Widget operator beside those of other libraries, by a runner that keeps this contract: `DIR/run -peer name=command` starts a control plane, gives the
 * command KUBECONFIG, WATCH_NAMESPACE, EXPECT and WORKERS, and prints a line of JSON for each measurement and a table at the end.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"

const folder = fileURLToPath(new URL("../", import.meta.url))
const source = fileURLToPath(new URL("./widget/main.ts", import.meta.url))

/** Runs a program to its end, with our output; its exit code. */
const program = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string>> = {}
): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: "inherit" })
    child.on("error", (error) => resume(Effect.die(error)))
    child.on("exit", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.sync(() => child.kill("SIGTERM"))
  })

/**
 * `src/widget/main.ts` as one file, as an operator is brought into an image: it starts in a third of the time that its modules take one by one.
 */
const bundle = program("npx", ["rolldown", "-c", "./rolldown.config.mjs"], folder, { OPERATOR: source })

/** Bundles the operator and runs `DIR/run` with it added to what `args` ask for. The exit code. */
export const run = (directory: string, args: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.flatMap(bundle, (code) =>
    code > 0
      ? Effect.succeed(code)
      : program(
          join(directory, "run"),
          [...args, "-peer", `fixpoint='${process.execPath}' '${join(folder, "dist", "widget.mjs")}'`],
          directory
        )
  )
