/** Programs that the tests of the house start: found in node_modules/.bin, bounded in time, and quoted when they fail. */
import { execFile } from "node:child_process"
import { delimiter, resolve } from "node:path"
import { promisify } from "node:util"

const execute = promisify(execFile)

const path = [resolve("node_modules/.bin"), process.env["PATH"] ?? ""].join(delimiter)

/** Runs a program and gives its standard output; fails with its whole output when it ends in anything but 0 within two minutes. */
export const run = async (program: string, args: ReadonlyArray<string>, cwd = "."): Promise<string> => {
  try {
    const options = { cwd, env: { ...process.env, PATH: path }, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }
    return (await execute(program, args, options)).stdout
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
