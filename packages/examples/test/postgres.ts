/** A PostgreSQL server for a test: on loopback and a free port, its data in a folder that goes with the scope. */
import { execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"

const exists = (folder: string): boolean =>
  ["initdb", "postgres"].every((name) => fs.existsSync(path.join(folder, name)))

const packaged = "/usr/lib/postgresql"

/** The folder of its programs: where PATH leads, or where Debian puts them. Undefined if it is not installed. */
export const binaries: string | undefined = [
  ...(process.env.PATH ?? "").split(path.delimiter),
  ...(fs.existsSync(packaged) ? fs.readdirSync(packaged).map((version) => path.join(packaged, version, "bin")) : [])
].find(exists)

/** It refuses to be run by root, who can be the user `postgres` instead. */
const identity = (): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" })))
  return { uid: uid!, gid: gid! }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })

export const password = "not-to-be-told"

export interface Postgres {
  readonly url: Redacted.Redacted
  /** Ends it as a crash does. */
  readonly kill: Effect.Effect<void>
  /** Starts it, and waits until it takes connections: again where it was, after `kill`. */
  readonly start: Effect.Effect<void>
}

/** As it says itself in a file beside its data, once it takes connections. */
const isReady = (data: string, pid: number): boolean => {
  try {
    const lines = fs.readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")
    return lines[0] === String(pid) && lines[7]?.trim() === "ready"
  } catch {
    return false
  }
}

/** A new server, started. */
export const postgres = (folder: string): Effect.Effect<Postgres, never, Scope.Scope> =>
  Effect.gen(function* () {
    const user = identity()
    const port = yield* Effect.promise(freePort)
    const root = yield* Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-postgres-"))),
      (root) => Effect.sync(() => fs.rmSync(root, { recursive: true, force: true }))
    )
    const data = path.join(root, "data")
    const secret = path.join(root, "password")
    fs.writeFileSync(secret, password, { mode: 0o600 })
    if (user.uid !== undefined) for (const file of [root, secret]) fs.chownSync(file, user.uid, user.gid!)
    const common = { ...user, cwd: root, stdio: "ignore" } as const
    execFileSync(
      path.join(folder, "initdb"),
      [
        "-D",
        data,
        "-U",
        "access",
        "-E",
        "UTF8",
        "--no-locale",
        "--no-sync",
        "--auth=scram-sha-256",
        `--pwfile=${secret}`
      ],
      common
    )
    let ended: Promise<unknown> = Promise.resolve()
    let pid: number | undefined
    const kill = Effect.promise(async () => {
      // By its id, and waited for: nothing of it outlives the test.
      if (pid !== undefined) process.kill(pid, "SIGQUIT")
      await ended
    })
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", `port=${port}`]
    const start = Effect.promise(async () => {
      const server = spawn(
        path.join(folder, "postgres"),
        ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
        common
      )
      pid = server.pid
      ended = new Promise<void>((resolve) =>
        server.once("exit", () => {
          pid = undefined
          resolve()
        })
      )
      const isStarting = () => {
        if (pid === undefined) throw new Error("postgres has ended at its start")
        return !isReady(data, pid)
      }
      while (isStarting()) await new Promise((resolve) => setTimeout(resolve, 50))
    })
    yield* Effect.acquireRelease(start, () => kill)
    return {
      url: Redacted.make(`postgres://access:${password}@127.0.0.1:${port}/postgres?sslmode=disable`),
      kill,
      start
    }
  })
