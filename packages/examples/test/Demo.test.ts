import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { plain } from "../src/access/demo/screen.ts"
import { type Act, play, Stage } from "../src/access/demo/stage.ts"
import { memory as world } from "../src/access/demo/world.ts"
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

describe("the demo in memory", () => {
  it.live("plays all acts, ends by itself with exit code 0, and tells nothing on stderr", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* demo([])
      assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, stdout)
      assert.match(stdout, /\n7 of 7 acts passed, in [\d.]+ s\n$/)
      assert.notInclude(stdout, "\x1b")
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

  it.live("what it cannot understand ends in exit code 2 and one line", () =>
    Effect.gen(function* () {
      const path = yield* folder({ "1.yaml": "kind: [" })
      const ends = yield* Effect.all([demo(["--act", "3"]), demo(["--manifests", path]), demo(["--help"])])
      assert.deepStrictEqual(
        ends.map(({ code }) => code),
        [2, 2, 0]
      )
      for (const { stderr } of ends.slice(0, 2)) assert.match(stderr, /^demo: [^\n]+\n$/)
      assert.include(ends[2]!.stdout, "--kubeconfig FILE")
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
