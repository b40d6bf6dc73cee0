import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { plain } from "../src/access/demo/screen.ts"
import { type Act, play, Stage } from "../src/access/demo/stage.ts"
import { memory as world } from "../src/access/demo/world.ts"
import { Role } from "../src/access/kinds.ts"
import { Registry } from "../src/access/Registry.ts"
import { demo } from "./demoProcess.ts"
import { inTime, start } from "./world.ts"

/** A folder of manifests for the test. */
const folder = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = mkdtempSync(join(tmpdir(), "fixpoint-demo-"))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
      return path
    }),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  )

const role = (name: string, verb: string) =>
  `apiVersion: access.example.com/v1\nkind: Role\nmetadata:\n  name: ${name}\nspec:\n  scope: docs\n  rules:\n    - resource: articles\n      verbs: [${verb}]\n`
const scope = "apiVersion: access.example.com/v1\nkind: Scope\nmetadata:\n  name: docs\nspec:\n  members: [ada]\n"

const kubeconfigIn = (stdout: string): string => /export KUBECONFIG=(\S+)/.exec(stdout)?.[1] ?? ""

// Each starts the demo once or more, which takes its time on a busy machine.
describe("the demo in memory", { timeout: 240_000 }, () => {
  it.live(
    "plays all acts over HTTPS, ends by itself with exit code 0, and leaves neither a word on stderr nor its token",
    () =>
      Effect.gen(function* () {
        const { code, stderr, stdout } = yield* demo([])
        assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, stdout)
        assert.match(stdout, /^for kubectl: export KUBECONFIG=\S+\n/)
        assert.match(stdout, /\n7 of 7 acts passed, in [\d.]+ s\n$/)
        assert.notInclude(stdout, "\x1b")
        assert.isFalse(existsSync(kubeconfigIn(stdout)))
      })
  )

  it.live("plays all acts without HTTP too", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* demo(["--in-process"])
      assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, stdout)
      assert.match(stdout, /\n7 of 7 acts passed, in [\d.]+ s\n$/)
      assert.notInclude(stdout, "KUBECONFIG")
    })
  )

  it.live("in persisted mode plays its own acts, and shows the rows beside the objects", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* demo(["--persisted", "--in-process"])
      assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, stdout)
      assert.match(stdout, /\n6 of 6 acts passed, in [\d.]+ s\n$/)
      assert.match(stdout, /\n +roles +intern +editor +docs +[-\da-f]{36}\n/)
    })
  )

  it.live("is kept after the acts for other clients, its operator too, until Ctrl-C, which is no failure then", () =>
    Effect.gen(function* () {
      let mode = 0
      let waiting: unknown
      const visit = (stdout: string) =>
        Effect.gen(function* () {
          const api = yield* ApiClient
          const ref = { namespace: "team", name: "visitor" }
          yield* api.create(Role, { metadata: ref, spec: { scope: "none", rules: [] } })
          const { status } = yield* Effect.repeat(api.get(Role, ref), {
            schedule: Schedule.spaced("100 millis"),
            until: ({ status }) => status !== undefined
          })
          mode = statSync(kubeconfigIn(stdout)).mode & 0o777
          waiting = (status as any).conditions[0].reason
        }).pipe(Effect.provide(Kubernetes.layerWith({ kubeconfig: kubeconfigIn(stdout) })), Effect.runPromise)
      const { code, stderr } = yield* demo(["--keep"], { text: "until Ctrl-C", signal: "SIGINT", before: visit })
      assert.deepStrictEqual(
        { code, stderr, mode, waiting },
        { code: 0, stderr: "", mode: 0o600, waiting: "ScopeNotFound" }
      )
    })
  )

  it.live("the user's own manifests are applied in the order of their names and shown at rest", () =>
    Effect.gen(function* () {
      const path = yield* folder({ "1.yaml": role("editor", "read"), "2.yaml": scope, "notes.txt": "no manifest" })
      const { code, stdout } = yield* demo(["--manifests", path])
      assert.strictEqual(code, 0, stdout)
      assert.match(stdout, /ScopeNotFound[^]*Role +editor +True +Synced[^]*2 of 2 acts passed/)
    })
  )

  it.live("a manifest that the server refuses ends in exit code 1, with the server's words", () =>
    Effect.gen(function* () {
      const path = yield* folder({ "1.yaml": role("pilot", "fly"), "2.yaml": scope })
      const { code, stderr, stdout } = yield* demo(["--manifests", path])
      assert.strictEqual(code, 1, stdout)
      assert.match(stdout, /failed: 1\.yaml: .*Unsupported value: "fly"/)
      assert.include(stdout, "1 of 2 acts passed, 1 failed")
      assert.strictEqual(stderr, "demo: not everything came as expected\n")
    })
  )

  it.live("what it cannot understand ends in exit code 2 and one line, before anything is applied", () =>
    Effect.gen(function* () {
      const path = yield* folder({ "1.yaml": "kind: [" })
      const unknown = yield* folder({
        "1.yaml": role("editor", "read"),
        "2.yaml": "apiVersion: example.com/v1\nkind: Wonder\nmetadata:\n  name: a\n"
      })
      const [wrong, noYaml, noKind, helped] = yield* Effect.all([
        demo(["--act", "3"]),
        demo(["--manifests", path]),
        demo(["--manifests", unknown]),
        demo(["--help"])
      ])
      assert.deepStrictEqual([wrong.code, noYaml.code, noKind.code, helped.code], [2, 2, 2, 0])
      for (const { stderr } of [wrong, noYaml, noKind]) assert.match(stderr, /^demo: [^\n]+\n$/)
      assert.strictEqual(noKind.stderr, "demo: 2.yaml: the server knows no Wonder of example.com/v1\n")
      assert.notInclude(noKind.stdout, "applies")
      assert.include(helped.stdout, "--kubeconfig FILE")
    })
  )
})

it.effect("an expectation that never comes true fails its act by name, and the acts after it are still played", () => {
  const acts: ReadonlyArray<Act> = [
    { title: "in vain", play: Effect.asVoid(Stage.use(({ expect }) => expect("a miracle", () => false))) },
    { title: "the next", play: Stage.use(({ note }) => note("the user waits")) }
  ]
  let text = ""
  const screen = plain({ write: (part) => void (text += part), size: () => ({ columns: 80, rows: 24 }) })
  return Effect.gen(function* () {
    const { wakes } = yield* start()
    const shown = yield* inTime(Effect.provideContext(play("a play", acts, screen, { passes: 0 }), wakes))
    assert.deepStrictEqual(
      shown.map(({ notes, verdict }) => [verdict, ...notes]),
      [
        ["failed", "MISSED a miracle"],
        ["passed", "the user waits"]
      ]
    )
    assert.include(text, "    MISSED a miracle\n")
  }).pipe(Effect.provide([world, Layer.fresh(Registry.layerMemory)]))
})
