import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { parse as parseArguments } from "../src/access/demo/arguments.ts"
import { parse as parseManifests } from "../src/access/demo/manifestFolder.ts"
import { type Paper, render, type Shown, summary } from "../src/access/demo/render.ts"
import { plain, terminal } from "../src/access/demo/screen.ts"
import { inTime } from "./world.ts"
import { duration, empty, type View } from "../src/access/demo/view.ts"

const object = (kind: string, name: string, rest: object = {}): KubeObject => ({
  apiVersion: "access.example.com/v1",
  kind,
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion: "7" },
  ...rest
})

const conditions = (status: string, reason: string, message: string) => ({
  status: { conditions: [{ type: "Ready", status, reason, message, lastTransitionTime: "2026-01-01T00:00:00Z" }] }
})

const view: View = {
  ...empty,
  scopes: [object("Scope", "docs", { status: { ...conditions("True", "Synced", "").status, roles: 1 } })],
  roles: [object("Role", "editor", conditions("False", "ScopeNotFound", "Scope team/docs not found"))],
  configMaps: [object("ConfigMap", "editor-rules", { data: { grace: "x", ada: "y" } })],
  events: [
    object("Event", "e1", {
      type: "Warning",
      reason: "ScopeNotFound",
      message: "Scope team/docs not found",
      count: 2,
      involvedObject: { kind: "Role", name: "editor" }
    })
  ],
  registered: ["editor"],
  next: new Map([["Scope docs", 605_000]]),
  queues: ["roles: 0 ready, 0 running"],
  passes: 3
}

const shown: Shown = {
  title: "The access operator, in memory",
  acts: [
    { title: "the first act", verdict: "passed", notes: ["ok done"] },
    { title: "the second act", verdict: "now", notes: ["the user acts", "ok it came", "MISSED it did not"] },
    { title: "the third act", verdict: "later", notes: [] }
  ],
  view
}

const wide: Paper = { width: 100, height: 100, colour: false }

describe("the screen of the demo", () => {
  it("shows acts, objects with what wakes them next, events and queues, the same lines for the same state", () => {
    const lines = render(shown, wide)
    assert.deepStrictEqual(lines, [
      "The access operator, in memory",
      "",
      "+ 1 the first act",
      "> 2 the second act",
      "    the user acts",
      "    ok it came",
      "    MISSED it did not",
      "  3 the third act",
      "",
      "KIND       NAME          READY  REASON         NEXT           MESSAGE",
      "Scope      docs          True   Synced         in 10m05s      roles: 1",
      "Role       editor        False  ScopeNotFound  on a change    Scope team/docs not found",
      "ConfigMap  editor-rules                        with its Role  for ada, grace",
      "",
      "EVENT    REASON         ABOUT        MESSAGE",
      "Warning  ScopeNotFound  Role editor  Scope team/docs not found (2 times)",
      "",
      "registry: editor",
      "queue: roles: 0 ready, 0 running",
      "passes so far: 3"
    ])
  })

  it("says so where there is nothing yet", () => {
    const lines = render({ title: "t", acts: [], view: empty }, wide)
    assert.includeMembers([...lines], ["no objects", "no events", "registry: empty"])
  })

  it("in persisted mode shows the rows beside the objects, instead of the registry, and says so where there are none", () => {
    const records: View["records"] = [
      { table: "scopes", uid: "uid-docs", name: "docs", externalName: "", scope: "" },
      { table: "roles", uid: "uid-editor", name: "editor", externalName: "the-editor", scope: "docs" }
    ]
    const lines = render({ ...shown, view: { ...view, records } }, wide)
    const at = lines.findIndex((line) => line.startsWith("TABLE"))
    assert.deepStrictEqual(lines.slice(at - 1, at + 4), [
      "",
      "TABLE   NAME    EXTERNAL NAME  SCOPE  UID",
      "scopes  docs                          uid-docs",
      "roles   editor  the-editor     docs   uid-editor",
      ""
    ])
    assert.notInclude(lines, "registry: editor")
    assert.include(render({ ...shown, view: { ...view, records: [] } }, wide), "no rows")
  })

  const texts = Arbitrary.schema(Schema.String)
  it.prop(
    "no text of an object, however hostile, steers the terminal, leaves its line or overflows the paper",
    [
      texts,
      texts,
      Arbitrary.schema(Schema.Literals([1, 20, 40, 120])),
      Arbitrary.schema(Schema.Literals([1, 5, 20, 90]))
    ],
    ([a, b, width, height]) => {
      const hostile = `\x1b[2J${a}\n\r\u009b${b}\u2028\u202e`
      const lines = render(
        {
          title: hostile,
          acts: [{ title: hostile, verdict: "now", notes: [hostile] }],
          view: {
            ...view,
            roles: [object("Role", hostile, conditions("False", "X", hostile))],
            events: [object("Event", "e", { type: hostile, reason: a, message: b })],
            registered: [hostile]
          }
        },
        { width, height, colour: false }
      )
      assert.isAtMost(lines.length, height)
      for (const line of lines) {
        assert.notMatch(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u)
        assert.isAtMost([...line].length, width)
      }
    },
    { arbitrary: { runs: 1_000 } }
  )

  it("colours change no text", () => {
    // eslint-disable-next-line no-control-regex
    const bare = render(shown, { ...wide, colour: true }).map((line) => line.replace(/\x1b\[\d+m/g, "").trimEnd())
    assert.deepStrictEqual(bare, [...render(shown, wide)])
  })

  it("names the time until something comes by itself as people do", () => {
    assert.deepStrictEqual([0, 120, 940, 960, 59_400, 59_600, 605_000].map(duration), [
      "0.0s",
      "0.1s",
      "0.9s",
      "1s",
      "59s",
      "1m00s",
      "10m05s"
    ])
  })

  it("counts acts that passed and failed in one line", () => {
    assert.strictEqual(summary(shown.acts.slice(0, 1), 1.25), "1 of 1 acts passed, in 1.3 s")
    assert.strictEqual(summary(shown.acts, 2), "1 of 3 acts passed, 2 failed, in 2.0 s")
  })

  const drawing = (make: typeof terminal | typeof plain) => {
    let text = ""
    const screen = make({ write: (part) => void (text += part), size: () => ({ columns: 80, rows: 24 }) }, false)
    return Effect.gen(function* () {
      yield* screen.act(shown, 2)
      yield* screen.draw(shown)
      yield* screen.draw({ ...shown, title: "another" })
      yield* screen.note(shown, "ok it came")
      yield* screen.end(shown)
      return text
    })
  }

  it.effect("a terminal is drawn in place, once for each change", () =>
    Effect.gen(function* () {
      const text = yield* inTime(drawing(terminal))
      const lines = render(shown, { width: 80, height: 23, colour: false }).length
      assert.strictEqual(text.split("\x1b[J").length - 1, 3)
      assert.strictEqual(text.split(`\x1b[${lines}A`).length - 1, 2)
    })
  )

  it.effect("where nobody looks on, lines are appended and nothing is drawn over", () =>
    Effect.gen(function* () {
      const text = yield* drawing(plain)
      assert.notInclude(text, "\x1b")
      assert.deepStrictEqual(text.split("\n").slice(0, 3), ["", "2 the second act", "    ok it came"])
      assert.include(text, "    Role       editor        False  ScopeNotFound")
    })
  )
})

describe("what the user asks of the demo", () => {
  const failures: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
    [["--frobnicate"], /^Unknown option '--frobnicate'; see npm run demo -- --help$/],
    [["act"], /^Unexpected argument 'act'; see/],
    [["--manifests"], /^Option '--manifests <value>' argument missing; see/],
    [["--kubeconfig="], /^--kubeconfig needs a path; see/],
    [["--in-process", "--kubeconfig", "a"], /^--in-process and --kubeconfig exclude each other; see/],
    [["--in-process", "--keep"], /^--keep is for kubectl, which reaches nothing with --in-process; see/]
  ]
  it.each(failures)("what it does not understand it says in one line: %s", (args, text) => {
    const parsed = parseArguments(args)
    assert.isTrue(Result.isFailure(parsed))
    if (Result.isFailure(parsed)) assert.match(parsed.failure.message, text)
  })

  it("understands the options together", () => {
    assert.deepStrictEqual(
      parseArguments(["--kubeconfig", "a", "--manifests=b", "--keep", "--persisted", "-h"]),
      Result.succeed({ help: true, inProcess: false, keep: true, kubeconfig: "a", manifests: "b", persisted: true })
    )
  })

  it("a manifest that is none is named with its file, and line or document", () => {
    assert.throws(() => parseManifests("a.yaml", "kind: Role\nmetadata: [1"), /^a\.yaml:2 is not YAML: /)
    assert.throws(() => parseManifests("a.yaml", "a: 1\n---\nkind: Role"), /^a\.yaml, document 1, is no manifest/)
    assert.deepStrictEqual(parseManifests("a.yaml", "# nothing\n---\n"), [])
  })
})
