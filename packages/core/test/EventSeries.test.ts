import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { fitted, placeOf } from "../src/internal/eventBody.ts"
import { EventSeries, nameOf, type Saying, type Series } from "../src/internal/eventSeries.ts"
import { standard, unbudgeted } from "../src/PostingPolicy.ts"
import { object } from "./settled.ts"

const repeatsWithin = 360_000
const textsWithin = 600_000

const saying = (
  some: {
    readonly type?: string
    readonly reason?: string
    readonly message?: string
    readonly uid?: string
    readonly at?: number
    readonly budgets?: Saying["budgets"]
  } = {}
): Saying => {
  const { at = 0, budgets = standard.budgets, message = "m", reason = "R", type = "Warning", uid = "uid1" } = some
  const about = object({ uid, name: uid })
  const words = fitted({ type, reason, action: "", message })
  return { about, place: placeOf(about, "describable", ""), words, at, budgets }
}

/** Posts all that waits, as a server that takes everything. */
const post = (series: EventSeries): ReadonlyArray<Series> => {
  const posted: Array<Series> = []
  for (let next = series.take(); next !== undefined; next = series.take()) {
    posted.push({ ...next })
    series.done(next, { name: nameOf("e-", next.id), count: next.count })
  }
  return posted
}

describe("EventSeries", () => {
  it("repeats within six minutes of the last are counted on one Event, later ones begin another (D18, B83)", () => {
    const series = new EventSeries(10)
    let at = 0
    const posts: Array<readonly [number, string | undefined]> = []
    for (const gap of [0, 1, repeatsWithin, repeatsWithin, repeatsWithin + 1]) {
      at += gap
      series.say(saying({ at }))
      for (const { count, posted } of post(series)) posts.push([count, posted?.name === undefined ? "create" : "patch"])
    }
    assert.deepStrictEqual(posts, [
      [1, "create"],
      [2, "patch"],
      [3, "patch"],
      [4, "patch"],
      [1, "create"]
    ])
  })

  it("a hundred repeats while the first waits are one post (B83)", () => {
    const series = new EventSeries(10)
    for (let i = 0; i < 100; i++) series.say(saying({ at: i }))
    assert.deepStrictEqual(
      post(series).map(({ count, firstAt, lastAt }) => [count, firstAt, lastAt]),
      [[100, 0, 99]]
    )
  })

  it("what is said while it flies is posted after it, once", () => {
    const series = new EventSeries(10)
    series.say(saying())
    const flying = series.take()!
    for (let i = 0; i < 5; i++) series.say(saying({ at: i }))
    assert.isUndefined(series.take())
    series.done(flying, { name: "e", count: 1 })
    assert.deepStrictEqual(
      post(series).map(({ count, posted }) => [count, posted]),
      [[6, { name: "e", count: 1 }]]
    )
  })

  it("another object, type, reason or text is another Event", () => {
    const series = new EventSeries(10)
    for (const some of [{}, { uid: "uid2" }, { type: "Normal" }, { reason: "S" }, { message: "n" }])
      series.say(saying(some))
    const posted = post(series)
    assert.deepStrictEqual([posted.length, new Set(posted.map(({ id }) => nameOf("", id))).size], [5, 5])
  })

  it("after ten texts within ten minutes the others share one Event that keeps the latest (D18)", () => {
    const series = new EventSeries(100)
    for (let i = 0; i < 40; i++) series.say(saying({ message: `text ${i}`, at: i }))
    const posted = post(series)
    assert.strictEqual(posted.length, 11)
    assert.deepInclude(posted.at(-1), { count: 30, isCombined: true })
    assert.strictEqual(posted.at(-1)!.words.message, "(combined from similar events): text 39")
    series.say(saying({ message: "text 3", at: 50 }))
    assert.deepInclude(post(series)[0], { count: 2, isCombined: false })
    series.say(saying({ message: "late", at: textsWithin + 100 }))
    assert.deepInclude(post(series)[0], { count: 1, isCombined: false })
  })

  it("a flood that goes on for hours fills eleven Events, and one text more than ten minutes after it has its own (D18)", () => {
    const series = new EventSeries(100)
    const names = new Set<string>()
    let at = 0
    for (let i = 0; i < 2_000; i++, at += 7_000) {
      series.say(saying({ message: `text ${i}`, at }))
      for (const { id } of post(series)) names.add(nameOf("", id))
    }
    assert.strictEqual(names.size, 11)
    series.say(saying({ message: "later", at: at + textsWithin }))
    assert.deepInclude(post(series)[0], { count: 1, isCombined: false })
  })

  it("texts that come one in two minutes are no flood: each has its own Event (D18)", () => {
    const series = new EventSeries(100)
    for (let i = 0; i < 200; i++) {
      series.say(saying({ message: `text ${i}`, at: i * 120_000 }))
      assert.deepInclude(post(series)[0], { isCombined: false })
    }
  })

  it("without budgets each saying is an Event of its own, of whose name no other is (P11)", () => {
    const series = new EventSeries(100)
    for (let i = 0; i < 40; i++) series.say(saying({ at: i % 2, message: `text ${i % 20}`, budgets: unbudgeted }))
    const posted = post(series)
    assert.deepStrictEqual(
      [
        posted.length,
        new Set(posted.map(({ id }) => nameOf("", id))).size,
        posted.some(({ isCombined }) => isCombined)
      ],
      [40, 40, false]
    )
  })

  it("a combined text keeps the limit of a message (D19)", () => {
    const series = new EventSeries(100)
    for (let i = 0; i < 12; i++) series.say(saying({ message: `${i}${"日".repeat(500)}` }))
    assert.isAtMost(Buffer.byteLength(post(series).at(-1)!.words.message), 1_024)
  })

  it("the same Event has the same name after a restart, and 100,000 others have others (B83)", () => {
    const names = new Set<string>()
    for (let i = 0; i < 100_000; i++) names.add(nameOf("fixpoint-", JSON.stringify([`uid${i}`, "Warning"])))
    assert.strictEqual(names.size, 100_000)
    assert.strictEqual(nameOf("fixpoint-", "x"), nameOf("fixpoint-", "x"))
    assert.match(nameOf("fixpoint-", "x"), /^fixpoint-[0-9a-f]{16}$/)
  })

  it("forty reasons in a minute on one object are all posted, the Warnings before the Normals (B84)", () => {
    const series = new EventSeries(1_000)
    for (let i = 0; i < 40; i++) series.say(saying({ reason: `R${i}`, type: i % 2 === 0 ? "Normal" : "Warning" }))
    const types = post(series).map(({ words }) => words.type)
    assert.deepStrictEqual(types, [
      ...Array.from({ length: 20 }, () => "Warning"),
      ...Array.from({ length: 20 }, () => "Normal")
    ])
    assert.strictEqual(series.dropped, 0)
  })

  it("memory is bounded, however many objects are told of (B87)", () => {
    const series = new EventSeries(50)
    for (let i = 0; i < 20_000; i++) {
      series.say(saying({ uid: `uid${i}`, at: i }))
      if (i % 3 === 0) post(series)
    }
    assert.isAtMost((series as any).series.size, 4_200)
    assert.isAtMost((series as any).texts.size, 4_200)
    assert.isAtMost(series.waiting, 50)
  })

  it("what an outage puts back obeys the capacity: the oldest Normal goes for it, a Warning only for a Warning (B84, B87, D17)", () => {
    const series = new EventSeries(2)
    series.say(saying({ uid: "w1" }))
    series.say(saying({ uid: "n1", type: "Normal" }))
    const flying = [series.take()!, series.take()!]
    series.say(saying({ uid: "w2" }))
    series.say(saying({ uid: "n2", type: "Normal" }))
    for (const one of flying) series.putBack(one)
    assert.deepStrictEqual([series.waiting, series.totals.dropped.overflow], [2, 2])
    assert.deepStrictEqual(
      post(series).map(({ about }) => about.metadata.name),
      ["w2", "w1"]
    )
  })

  it("what waits or flies is not forgotten, however much is told of beside it: no Event is posted twice at once", () => {
    const series = new EventSeries(50)
    series.say(saying({ uid: "flying" }))
    const flying = series.take()!
    for (let i = 0; i < 10_000; i++) {
      series.say(saying({ uid: `uid${i}`, at: i }))
      post(series)
    }
    series.say(saying({ uid: "flying" }))
    assert.deepStrictEqual([series.take(), flying.count], [undefined, 2])
  })

  it("after the end nothing waits, and what is said is counted as dropped (P23)", () => {
    const series = new EventSeries(50)
    for (const uid of ["u1", "u2", "u2"]) series.say(saying({ uid }))
    series.take()
    series.end()
    series.say(saying())
    assert.deepStrictEqual([series.waiting, series.inFlight, series.totals.dropped.shutdown], [0, 0, 4])
  })

  const Op = Schema.Struct({
    op: Schema.Literals(["say", "say", "say", "take", "posted", "posted in part", "put back", "given up", "moved"]),
    type: Schema.Literals(["Normal", "Warning", "Error", "Debug"]),
    uid: Schema.Literals(["u1", "u2", "u3", "u4", "u5", "u6"]),
    gap: Schema.Literals([0, 1_000, repeatsWithin + 1])
  })
  it.prop(
    "no Warning is dropped while a Normal waits, no series flies twice at once, and each saying is posted, dropped, or waits (D17, D18, B84, B87)",
    [Arbitrary.array(Arbitrary.schema(Op), { maxLength: 80 })],
    ([ops]) => {
      const series = new EventSeries(4)
      const flying: Array<Series> = []
      let at = 0
      const land = (op: (typeof Op.Type)["op"]): void => {
        const next = flying.shift()
        if (next === undefined) return
        if (op === "posted") series.done(next, { name: "e", count: next.count })
        else if (op === "posted in part") series.done(next, { name: "e", count: next.count - next.untold })
        else if (op === "put back") series.putBack(next)
        else if (op === "moved") series.move(next, { namespace: "operators", involved: "operators" })
        else series.giveUp(next, "invalid")
      }
      const untold = (): number => {
        const lanes: ReadonlyArray<Series> = [...(series as any).minor, ...(series as any).major, ...flying]
        return lanes.reduce((sum, one) => sum + one.untold, 0)
      }
      for (const { gap, op, type, uid } of ops) {
        at += gap
        const before = { dropped: series.totals.dropped.overflow, minor: (series as any).minor.size as number }
        if (op === "say") {
          const offered = series.say(saying({ type, uid, at }))
          assert.strictEqual(offered === "overflow", series.totals.dropped.overflow > before.dropped)
        } else if (op === "take") {
          const next = series.take()
          if (next !== undefined) {
            assert.isTrue(flying.every(({ id }) => id !== next.id))
            flying.push(next)
          }
        } else land(op)
        if (series.totals.dropped.overflow > before.dropped && before.minor > 0)
          assert.isAtLeast(before.minor, (series as any).minor.size)
        if (series.totals.dropped.overflow > before.dropped)
          assert.isTrue((series as any).minor.size >= before.minor - 1)
        assert.isAtMost(series.waiting, 4)
        assert.strictEqual(series.inFlight, flying.length)
        assert.strictEqual(series.totals.posted + series.dropped + untold(), series.totals.said)
      }
    },
    { arbitrary: { runs: 2_000 } }
  )
})
