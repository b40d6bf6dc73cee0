/** A server that answers as it likes, against the machine that follows it: it must not bring it to ask without end and without pause. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ApiClient, type ListOptions, pages } from "../src/ApiClient.ts"
import { type ApiError, fromAnswer } from "../src/ApiError.ts"
import { applyBody } from "../src/internal/applyBody.ts"
import * as Watcher from "../src/internal/watcher.ts"
import { widget, widgets } from "./widgets.ts"

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))

const refused = (verb: "list" | "watch", code: number): ApiError =>
  fromAnswer({ verb, resource: "widgets.example.com" }, { code, body: undefined })

/** One answer of a server that wants to be asked again at once. */
const Move = Schema.Literals([
  "page",
  "more pages",
  "same page",
  "410",
  "progress, 410",
  "progress, end",
  "end",
  "500",
  "400",
  "whole"
])

/** Plays the moves in a ring for a minute; each request takes a millisecond. Answers how many there were. */
const requestsOf = (moves: ReadonlyArray<typeof Move.Type>, jitter: number, streamingList: boolean): number => {
  let state = Watcher.initial({ ...Watcher.defaults, streamingList })
  let now = 0
  let requests = 0
  let version = 1
  let tokens = 0
  const apply = (input: Watcher.Input): Watcher.Command | undefined => {
    const step = Watcher.step(state, input, { now, jitter })
    state = step.state
    return step.command
  }
  const event = (): Watcher.Input => ({
    _tag: "Event",
    event: { type: "MODIFIED", object: widget("a", ++version) }
  })
  const page = (token: string | undefined): Watcher.Input => ({
    _tag: "Page",
    page: {
      items: [widget("a", version)],
      resourceVersion: String(version),
      ...(token !== undefined && { continue: token })
    }
  })
  const answer = (command: Watcher.Command, move: typeof Move.Type): Watcher.Command | undefined => {
    const verb = command._tag === "List" ? "list" : "watch"
    const refuse = (code: number) => apply({ _tag: "Failed", error: refused(verb, code) })
    switch (move) {
      case "410":
        return refuse(410)
      case "500":
        return refuse(500)
      case "400":
        return refuse(400)
      case "progress, 410":
        return verb === "list" ? apply(page(undefined)) : (apply(event()) ?? refuse(410))
      case "progress, end":
        return verb === "list" ? apply(page(undefined)) : (apply(event()) ?? apply({ _tag: "Ended" }))
      case "page":
      case "end":
        return verb === "list" ? apply(page(undefined)) : apply({ _tag: "Ended" })
      case "more pages":
        // Three at most, since a long list is asked for without a pause.
        return verb === "list" ? apply(page(tokens++ % 3 === 2 ? undefined : `t${tokens}`)) : refuse(410)
      case "same page":
        return verb === "list" ? apply(page("t")) : refuse(410)
      case "whole":
        return verb === "list"
          ? apply(page(undefined))
          : (apply({
              _tag: "Event",
              event: { type: "BOOKMARK", resourceVersion: String(++version), initialEventsEnd: true }
            }) ?? refuse(410))
    }
  }
  let command = apply({ _tag: "Started" })
  for (let i = 0; now < 60_000 && command !== undefined; i++) {
    if (command._tag === "Wait") {
      now += command.millis
      command = apply({ _tag: "Waited" })
      continue
    }
    requests++
    now++
    command = answer(command, moves[i % moves.length]!)
  }
  assert.isAtLeast(now, 60_000)
  return requests
}

describe("a server that answers as it likes", () => {
  it.prop(
    "is not asked more than some ten times a second by one watcher, whatever it answers (B6)",
    [Schema.NonEmptyArray(Move), below(1_000), Schema.Boolean],
    ([moves, jitter, streaming]) => {
      assert.isBelow(requestsOf(moves, jitter / 1_000, streaming), 1_500)
    },
    { arbitrary: { runs: 2_000 } }
  )

  const rings: ReadonlyArray<readonly [string, ReadonlyArray<typeof Move.Type>]> = [
    ["a change and then 410 each time", ["progress, 410"]],
    ["pages that expire in a list without pages", ["same page", "410"]],
    ["one page for ever", ["same page"]]
  ]
  it.each(rings)("%s leads to pauses", (_, moves) => {
    for (const streaming of [true, false]) assert.isBelow(requestsOf(moves, 0, streaming), 1_000)
  })

  it("a list whose tokens are always new is given up after ten thousand pages, told, and begun anew after a delay", () => {
    let state = Watcher.initial({ ...Watcher.defaults, streamingList: false })
    const apply = (input: Watcher.Input): Watcher.Command | undefined => {
      const step = Watcher.step(state, input, { now: 0, jitter: 0 })
      state = step.state
      return step.command
    }
    let command = apply({ _tag: "Started" })
    let asked = 0
    while (command?._tag === "List") {
      asked++
      command = apply({ _tag: "Page", page: { items: [], resourceVersion: "5", continue: `t${asked}` } })
    }
    assert.strictEqual(asked, 10_000)
    assert.deepStrictEqual(command, { _tag: "Wait", millis: 250 })
    assert.strictEqual(state.failure, "the server's list has no end: page 10000 leads on to itself or too far")
    assert.isUndefined(state.position)
  })

  it.effect("all pages of a list end in a failure if a page leads on to itself", () =>
    Effect.gen(function* () {
      const asked: Array<string | undefined> = []
      const list = (_: unknown, options: ListOptions = {}) => {
        asked.push(options.continue)
        return Effect.succeed({ items: [widget("a", 1)], resourceVersion: "1", continue: "again" })
      }
      const error = yield* pages(widgets, { limit: 1 }).pipe(
        Stream.runDrain,
        Effect.provideService(ApiClient, { list } as unknown as ApiClient["Service"]),
        Effect.flip
      )
      assert.strictEqual(error.message, "list widgets.example.com: Malformed: a page that leads on to itself")
      assert.deepStrictEqual(asked, [undefined, "again"])
    })
  )
})

describe("an apply", () => {
  it("sends fields of `__proto__` and `constructor` as they are: a ConfigMap may have such keys", () => {
    const data = JSON.parse('{"__proto__":"evil","constructor":"c","gone":null}')
    assert.strictEqual(
      JSON.stringify(applyBody({ metadata: { name: "a" }, data })),
      '{"data":{"__proto__":"evil","constructor":"c"},"metadata":{"name":"a"}}'
    )
  })
})
