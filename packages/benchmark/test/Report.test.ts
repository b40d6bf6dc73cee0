import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Report from "../src/Report.ts"
import * as Requests from "../src/Requests.ts"

describe("the Widget operator", () => {
  it.live("converges with two requests an object and writes nothing when it starts anew", () =>
    Effect.gen(function* () {
      const figures = yield* Requests.figures(50, 2)
      const valueOf = (what: string) => figures.find((figure) => figure.what.startsWith(what))?.value
      assert.strictEqual(valueOf("requests for an object"), 2)
      assert.strictEqual(valueOf("of these, writes"), 2)
      assert.strictEqual(valueOf("writes of an operator"), 0)
      assert.isAtMost(valueOf("requests a minute")!, 0.4)
      assert.isAbove(valueOf("requests a minute")!, 0)
    })
  )
})

describe("the report", () => {
  it("says of each budget whether it is kept, as the figure is told", () => {
    const table = Report.table([
      { what: "a", value: 2.0004, unit: "", goal: 2 },
      { what: "b", value: 15.06, unit: "us", goal: 15 },
      { what: "c", value: 1234.5, unit: "B" }
    ])
    assert.deepStrictEqual(
      table.split("\n").map((line) => line.split(/ {2,}/)),
      [
        ["", "figure", "budget"],
        ["a", "2.000", "<= 2", "met"],
        ["b", "15.1 us", "<= 15 us", "missed"],
        ["c", "1235 B"]
      ]
    )
  })

  it("is printed by the program, which finds something for every budget", () => {
    const program = join(import.meta.dirname, "../src/bench.ts")
    const args = ["--expose-gc", "--conditions=@fixpoint/source", program, "--tiny"]
    const output = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 55_000 })
    for (const budget of ["above its step", "a key that waits", "until it has converged", "idle operator"])
      assert.match(output, new RegExp(`${budget}.* (met|missed)$`, "m"))
  })
})
