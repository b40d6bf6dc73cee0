import { assert, describe, it } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as child from "node:child_process"
import * as fs from "node:fs"
import * as https from "node:https"
import * as os from "node:os"
import * as path from "node:path"
import * as url from "node:url"

const get = (connection: ControlPlane.Connection, path: string, token = connection.token) =>
  Effect.callback<{ readonly code: number; readonly body: any }, Error>((resume) => {
    https
      .get(
        `${connection.url}${path}`,
        { ca: connection.ca, agent: false, headers: { authorization: `Bearer ${token}` } },
        (response) => {
          let text = ""
          response.setEncoding("utf8")
          response.on("data", (part: string) => void (text += part))
          response.on("end", () => resume(Effect.succeed({ code: response.statusCode!, body: JSON.parse(text) })))
        }
      )
      .once("error", (error) => resume(Effect.fail(error)))
  })

/** The processes whose command line names the folder. */
const processesOf = (folder: string): ReadonlyArray<string> =>
  fs
    .readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder)
      } catch {
        return false
      }
    })

const eventually = (what: string, check: () => boolean) =>
  Effect.repeat(Effect.sync(check), { schedule: Schedule.spaced("20 millis"), until: (ok) => ok }).pipe(
    Effect.timeoutOrElse({ duration: "45 seconds", orElse: () => Effect.die(new Error(`never: ${what}`)) })
  )

const isGone = (folder: string) =>
  eventually(`${folder} is gone`, () => !fs.existsSync(folder) && processesOf(folder).length === 0)

const folderOf = (connection: ControlPlane.Connection): string => path.dirname(connection.kubeconfig)

describe("without a control plane", () => {
  it.effect("a folder that lacks programs is refused by one line that names the variable and what is missing", () =>
    Effect.gen(function* () {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-assets-"))
      fs.writeFileSync(path.join(folder, "etcd"), "")
      const error = yield* Effect.flip(ControlPlane.make({ assets: folder, controllers: true }))
      fs.rmSync(folder, { recursive: true })
      assert.deepStrictEqual(error.reason, {
        _tag: "AssetsMissing",
        folder,
        missing: ["kube-apiserver", "kubectl", "kube-controller-manager"]
      })
      assert.include(error.message, `KUBEBUILDER_ASSETS is ${folder}, which lacks kube-apiserver, kubectl`)
      assert.include(error.message, "setup-envtest")
      assert.notInclude(error.message, "\n")
    }).pipe(Effect.scoped)
  )

  it.effect("a missing variable is refused by one line that says how to set it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ControlPlane.make({ assets: "" }))
      assert.strictEqual(error._tag, "ControlPlaneError")
      assert.include(error.message, "KUBEBUILDER_ASSETS is not set")
      assert.notInclude(error.message, "\n")
    }).pipe(Effect.scoped)
  )

  it.live("a program that dies at once is told by its last words, and its folder is removed", () =>
    Effect.gen(function* () {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-assets-"))
      for (const program of ["etcd", "kube-apiserver", "kubectl"]) {
        fs.writeFileSync(path.join(folder, program), `#!/bin/sh\necho "${program} cannot"\nexit 1\n`, { mode: 0o755 })
      }
      const error = yield* Effect.flip(Effect.scoped(ControlPlane.make({ assets: folder })))
      fs.rmSync(folder, { recursive: true })
      assert.match(
        error.message,
        /^the control plane's (etcd|kube-apiserver) did not start: (etcd|kube-apiserver) cannot$/
      )
    })
  )
})

describe.skipIf(!ControlPlane.available())("with a control plane", () => {
  it.live(
    "it answers its admin, knows its further users, comes back from a crash, and leaves nothing when the scope is closed",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { connection, server } = yield* Scope.provide(
          ControlPlane.make({ users: [{ name: "bob", groups: ["team"] }] }),
          scope
        )
        const folder = folderOf(connection)
        assert.strictEqual((yield* get(connection, "/api/v1/namespaces/kube-system")).code, 200)
        const refused = yield* get(connection, "/api/v1/namespaces", connection.users.bob)
        assert.strictEqual(refused.code, 403)
        assert.include(refused.body.message, `User "bob"`)
        assert.strictEqual((yield* get(connection, "/api", "nobody")).code, 401)
        const told = child.execFileSync(connection.kubectl, [
          "--kubeconfig",
          connection.kubeconfig,
          "get",
          "ns",
          "default",
          "-o",
          "name"
        ])
        assert.strictEqual(told.toString().trim(), "namespace/default")
        assert.isAtLeast(processesOf(folder).length, 3)
        // At its address, with its data.
        const uid = (yield* get(connection, "/api/v1/namespaces/default")).body.metadata.uid
        yield* server.stop()
        assert.strictEqual((yield* Effect.exit(get(connection, "/readyz")))._tag, "Failure")
        yield* server.start
        assert.strictEqual((yield* get(connection, "/api/v1/namespaces/default")).body.metadata.uid, uid)
        yield* Scope.close(scope, Exit.void)
        assert.isFalse(fs.existsSync(folder))
        assert.deepStrictEqual(processesOf(folder), [])
      })
  )

  it.live("an interruption while it starts leaves nothing", () =>
    Effect.gen(function* () {
      const before = new Set(fs.readdirSync(os.tmpdir()))
      const fiber = yield* Effect.forkChild(Effect.scoped(Effect.andThen(ControlPlane.make(), Effect.never)))
      const mine = (): ReadonlyArray<string> =>
        fs
          .readdirSync(os.tmpdir())
          .filter((name) => name.startsWith("fixpoint-control-plane-") && !before.has(name))
          .map((name) => path.join(os.tmpdir(), name))
      yield* eventually("etcd runs", () => mine().some((folder) => processesOf(folder).length >= 2))
      const folders = mine()
      yield* Fiber.interrupt(fiber)
      // Another test file may have started one meanwhile: only what this test can have made is asked about.
      yield* eventually("one is gone", () => folders.some((folder) => !fs.existsSync(folder)))
    })
  )

  it.live("a parent that is killed by SIGKILL takes its control plane along", () =>
    Effect.gen(function* () {
      const program = path.join(path.dirname(url.fileURLToPath(import.meta.url)), "controlPlaneParent.ts")
      const parent = child.spawn(process.execPath, ["--conditions=@fixpoint/source", program], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const folder = yield* Effect.callback<string>((resume) => {
        parent.stdout.setEncoding("utf8").once("data", (line: string) => resume(Effect.succeed(line.trim())))
      })
      assert.isAtLeast(processesOf(folder).length, 3)
      parent.kill("SIGKILL")
      yield* isGone(folder)
    })
  )

  it.live("all test files of a run are given the same one", () =>
    Effect.gen(function* () {
      const ask = ControlPlane.ControlPlane.pipe(Effect.provide(SharedControlPlane.layer, { local: true }))
      const [one, other] = yield* Effect.all([ask, ask], { concurrency: 2 })
      assert.strictEqual(one.url, other.url)
      assert.strictEqual((yield* get(one, "/api/v1/namespaces/default")).code, 200)
    })
  )
})
