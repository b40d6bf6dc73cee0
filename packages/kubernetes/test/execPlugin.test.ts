import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ExecPlugin from "../src/internal/execPlugin.ts"
import * as Kubeconfig from "../src/internal/kubeconfig.ts"
import { until } from "./scriptedServer.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fixpoint-plugin-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const apiVersion = "client.authentication.k8s.io/v1"

/** A kubeconfig in the folder whose user has the plugin. */
const configWith = (path: string, exec: object): string => {
  const file = join(path, "config")
  writeFileSync(
    file,
    JSON.stringify({
      "current-context": "main",
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "u", user: { exec: { apiVersion, ...exec } } }],
      contexts: [{ name: "main", context: { cluster: "c", user: "u" } }]
    })
  )
  return file
}

describe("an exec plugin", () => {
  it.live("is told what it is asked for, and of the cluster only if it wants that", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "info")
      const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > ${file}; echo '{"status":{"token":"t"}}'`
      const ask = (provideClusterInfo: boolean) =>
        Effect.map(
          ExecPlugin.run(
            { apiVersion, command: "sh", args: ["-c", script], env: [{ name: "A", value: "b" }], provideClusterInfo },
            { server: "https://x", ca: Buffer.from("pem") }
          ),
          () => JSON.parse(readFileSync(file, "utf8"))
        )
      assert.deepStrictEqual(yield* ask(false), { apiVersion, kind: "ExecCredential", spec: { interactive: false } })
      assert.deepStrictEqual((yield* ask(true)).spec.cluster, {
        server: "https://x",
        "certificate-authority-data": Buffer.from("pem").toString("base64")
      })
    })
  )

  it.live("gets no terminal to wait for, and its own environment", () =>
    Effect.gen(function* () {
      const script = 'read line; printf \'{"status":{"token":"%s%s"}}\' "$A" "$line"'
      const { token } = yield* ExecPlugin.run(
        { apiVersion, command: "sh", args: ["-c", script], env: [{ name: "A", value: "own" }] },
        { server: "https://x", ca: undefined }
      )
      assert.strictEqual(token, "own")
    })
  )

  it.live("is killed with whoever waited for it", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const script = `touch ${join(path, "began")}; sleep 1; touch ${join(path, "ended")}`
      const running = yield* Effect.forkChild(
        ExecPlugin.run({ command: "sh", args: ["-c", script] }, { server: "https://x", ca: undefined })
      )
      yield* until("it began", () => existsSync(join(path, "began")))
      yield* Fiber.interrupt(running)
      yield* Effect.sleep("1500 millis")
      assert.isFalse(existsSync(join(path, "ended")))
    })
  )

  it.live("beside its kubeconfig is found by a relative path, and runs again when what it printed has ended", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const log = join(path, "log")
      mkdirSync(join(path, "bin"))
      const plugin = join(path, "bin", "plugin")
      const printing = (expirationTimestamp: string) => {
        const printed = JSON.stringify({ status: { token: "t", expirationTimestamp } })
        writeFileSync(plugin, `#!/bin/sh\necho run >> ${log}\necho '${printed}'\n`)
        chmodSync(plugin, 0o755)
      }
      const runs = () => readFileSync(log, "utf8").split("\n").length - 1
      printing("2000-01-01T00:00:00Z")
      const source = yield* Kubeconfig.source([configWith(path, { command: "bin/plugin" })], undefined)
      const { headers } = yield* source.load(false)
      assert.deepStrictEqual(headers, { authorization: "Bearer t" })
      printing("2999-01-01T00:00:00Z")
      yield* source.load(false)
      assert.strictEqual(runs(), 2)
      yield* source.load(false)
      assert.strictEqual(runs(), 2)
      yield* source.load(true)
      assert.strictEqual(runs(), 3)
    })
  )
})
