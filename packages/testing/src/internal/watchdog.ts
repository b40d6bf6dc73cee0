/**
 * The program of a small child process that ends others when its parent is gone, however it went: it holds the reading end of a pipe, which the
 * kernel closes with the parent. Lines that it reads: `watch <pid>`, `forget <pid>`. At the end of the pipe it kills what it watches and removes
 * the folder that its argument names.
 */
import * as fs from "node:fs"
import * as readline from "node:readline"

const folder = process.argv[2]
const pids = new Set<number>()

// A terminal's Ctrl-C is the parent's business.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {})

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const clear = (): void => {
  for (const pid of pids) if (alive(pid)) process.kill(pid, "SIGKILL")
  if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [word, pid] = line.split(" ")
    if (word === "watch") pids.add(Number(pid))
    if (word === "forget") pids.delete(Number(pid))
  })
  .on("close", clear)
