/** Programs that the tests of the house start: found in node_modules/.bin, bounded in time, and quoted when they fail. */
import { execFile } from "node:child_process"
import { delimiter, resolve } from "node:path"

const path = [resolve("node_modules/.bin"), process.env["PATH"] ?? ""].join(delimiter)

/** Runs a program and gives its standard output; fails with its whole output when it ends in anything but 0 within two minutes. */
export const run = (program: string, args: ReadonlyArray<string>, cwd = "."): Promise<string> => {
  const options = { cwd, env: { ...process.env, PATH: path }, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }
  const { promise, resolve: succeed, reject } = Promise.withResolvers<string>()
  execFile(program, args, options, (error, stdout, stderr) => {
    if (error === null) succeed(stdout)
    else reject(new Error(`${program} ${args.join(" ")} failed (${error.code ?? error.signal}):\n${stdout}${stderr}`))
  })
  return promise
}
