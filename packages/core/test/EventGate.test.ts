import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { rations } from "../src/internal/eventLines.ts"
import { answer, changeRefused, Play, type Server, unreachable } from "./eventPlay.ts"

const until =
  (end: number, broken: Server): Server =>
  (series, now) =>
    now < end ? broken(series, now) : "posted"

const sayMany = (play: Play, count: number, type = "Warning"): void => {
  for (let i = 0; i < count; i++) play.say({ uid: `${type}${i}`, type })
}

/** Pauses between requests, in seconds. */
const pauses = (times: ReadonlyArray<number>): ReadonlyArray<number> =>
  times.slice(1).map((at, i) => Math.floor((at - times[i]!) / 1_000))

describe("EventGate, while the server is away", () => {
  it("one at a time asks ever more seldom, up to once a minute, and nothing is lost: at the first success all is posted (D17, P20)", () => {
    for (const broken of [answer(500), answer(503), answer(504), answer(429), answer(401), unreachable]) {
      const play = new Play({ concurrency: 2 })
      play.server = until(600_000, () => broken)
      sayMany(play, 100)
      play.elapse(600_000)
      assert.deepStrictEqual(pauses(play.times.slice(1)), [1, 2, 4, 8, 16, 32, ...Array.from({ length: 8 }, () => 60)])
      assert.deepStrictEqual([play.series.dropped, play.posted.length], [0, 0])
      play.elapse(62_000)
      assert.deepStrictEqual([play.series.dropped, play.posted.length], [0, 100])
    }
  })

  it("it is told once, at the fourth failure in a row, as kopf words it, and the return at Debug (P21, D17)", () => {
    const play = new Play()
    play.server = until(600_000, () => answer(500))
    sayMany(play, 50)
    play.elapse(6_000)
    assert.deepStrictEqual(play.lines, [])
    play.elapse(700_000)
    assert.deepStrictEqual(
      play.lines.map(({ level }) => level),
      ["Warn", "Debug"]
    )
    assert.match(
      play.lines[0]!.text,
      /^Failed to post an event, 4 times in a row\. Events wait .* at most 1000.*: create events: 500 ServerError/
    )
    assert.deepInclude(play.lines[0]!.series!.words, { type: "Warning", reason: "R" })
    assert.match(play.lines[1]!.text, /^events are posted again after \d+ s; 49 wait, 0 were dropped/)
  })

  it("a short outage is not told (D17)", () => {
    const play = new Play()
    play.server = until(5_000, () => unreachable)
    sayMany(play, 50)
    play.elapse(60_000)
    assert.deepStrictEqual([play.lines, play.posted.length], [[], 50])
  })

  it("a server that is silent is asked by one at a time (D17, B87)", () => {
    const play = new Play()
    play.server = until(300_000, () => ({ after: 10_000, with: unreachable }))
    sayMany(play, 100)
    play.elapse(299_000)
    assert.isAtMost(play.times.length, 8 + 8)
    assert.strictEqual(play.warnings.length, 1)
    play.elapse(100_000)
    assert.deepStrictEqual([play.posted.length, play.series.dropped], [100, 0])
  })

  it("a request that never ends, in spite of its limit, holds up the others for half a minute, not for ever (B87)", () => {
    const play = new Play()
    play.server = until(20_000, (_, now) => ({ after: now === 0 ? 1 : Infinity, with: answer(500) }))
    sayMany(play, 20)
    play.elapse(60_000)
    assert.deepStrictEqual([play.posted.length, play.series.inFlight, play.series.dropped], [19, 1, 0])
  })

  it("it is left alone for as long as it asks, but not for longer than five minutes (D4, B19)", () => {
    const play = new Play()
    play.server = until(1_000_000, (_, now) => answer(429, now === 0 ? 7 : 86_400))
    play.say()
    play.elapse(700_000)
    assert.deepStrictEqual(
      play.times.map((at) => Math.floor(at / 1_000)),
      [0, 7, 307, 607]
    )
    const other = new Play({ concurrency: 2 })
    other.server = ({ about }, now) => (now < 10 && about.metadata.name === "u1" ? answer(429, 7) : "posted")
    for (const uid of ["u1", "u2", "u3", "u4"]) other.say({ uid })
    other.elapse(7_100)
    assert.isTrue(other.times.every((at) => at < 10 || at >= 7_000))
    assert.strictEqual(other.posted.length, 4)
    const odd = new Play()
    odd.server = until(10, () => answer(429, NaN))
    odd.say()
    odd.elapse(10_000)
    assert.strictEqual(odd.posted.length, 1)
  })

  it("Warnings go first when it is back, and each Event in the order of its sayings (D17)", () => {
    const play = new Play({ concurrency: 1 })
    play.server = until(20_000, () => unreachable)
    sayMany(play, 10, "Normal")
    sayMany(play, 10)
    for (let i = 0; i < 5; i++) play.say({ uid: "Warning3" })
    play.elapse(60_000)
    const sorts = play.posted.slice(1).map((name) => name.replace(/\d+/, ""))
    assert.deepStrictEqual(sorts, sorts.toSorted().toReversed())
    assert.deepStrictEqual([play.posted.length, play.series.totals.posted], [20, 25])
  })

  it("what is put back finds no room where Warnings wait, and is counted: Normals first (B84, B87, D17)", () => {
    const play = new Play({ capacity: 10, concurrency: 4 })
    play.server = until(60_000, () => ({ after: 100, with: answer(500) }))
    sayMany(play, 4, "Normal")
    sayMany(play, 10)
    play.elapse(120_000)
    assert.deepStrictEqual([play.series.totals.dropped.overflow, play.posted.length], [4, 10])
    assert.isTrue(play.posted.every((name) => name.startsWith("Warning")))
  })

  it("an outage tells its overflow too: one line, with the number at the return (D17, B84)", () => {
    const play = new Play({ capacity: 20 })
    play.server = until(600_000, () => unreachable)
    for (let second = 0; second < 600; second++) {
      play.say({ uid: `u${second}` })
      play.elapse(1_000)
    }
    play.elapse(70_000)
    assert.strictEqual(play.warnings.length, 1)
    assert.match(play.lines.at(-1)!.text, /5\d\d were dropped because too many waited/)
    assert.strictEqual(play.series.totals.dropped.overflow, 600 - play.series.totals.posted)
  })
})

describe("EventGate, where the server is there", () => {
  it("an Event that fails while others pass holds up none and is given up after four tries, told (P20, B87)", () => {
    for (const broken of [answer(500), { after: 10_000, with: unreachable }]) {
      const play = new Play()
      play.server = ({ about }) => (about.metadata.name === "poison" ? broken : "posted")
      play.say({ uid: "poison" })
      for (let i = 0; i < 600; i++) {
        play.say({ uid: `u${i}`, type: "Normal" })
        play.elapse(100)
        assert.strictEqual(play.posted.length, i + 1)
      }
      assert.strictEqual(play.asked.filter(([, name]) => name === "poison").length, 4)
      assert.strictEqual(play.series.totals.dropped.failed, 1)
      assert.strictEqual(play.warnings.length, 1)
      assert.match(play.warnings[0]!, /^Failed to post an event\. It is ignored after 4 tries/)
    }
  })

  it("several that fail late, while others have passed since, hold up none (B87)", () => {
    const play = new Play()
    play.server = ({ about }) =>
      about.metadata.name.startsWith("Warning") ? { after: 5_000, with: answer(500) } : "posted"
    sayMany(play, 3)
    for (let i = 0; i < 300; i++) {
      play.say({ uid: `u${i}` })
      play.elapse(100)
      assert.strictEqual(play.posted.length, i + 1)
    }
    assert.strictEqual(play.series.totals.dropped.failed, 3)
  })

  it("several such Warnings do not keep a Normal from being posted for longer than a minute (B84, B87)", () => {
    const play = new Play({ concurrency: 2 })
    play.server = ({ words }) => (words.type === "Warning" ? answer(500) : "posted")
    sayMany(play, 5)
    play.elapse(600_000)
    play.say({ uid: "normal", type: "Normal" })
    play.elapse(61_000)
    assert.deepStrictEqual(play.posted, ["normal"])
  })

  it("an Event that fails alone, with no other said, is asked again at the pace of an outage and never dropped (D17)", () => {
    const play = new Play()
    play.server = until(1_000_000, () => answer(500))
    play.say()
    play.elapse(1_000_000)
    assert.deepStrictEqual(pauses(play.times).slice(0, 8), [1, 2, 4, 8, 16, 32, 60, 60])
    play.elapse(61_000)
    assert.deepStrictEqual([play.posted.length, play.warnings.length], [1, 1])
  })

  it("a conflict is tried again, and given up after four (D17)", () => {
    const play = new Play()
    play.server = () => answer(409)
    play.say()
    play.elapse(60_000)
    assert.deepStrictEqual([play.times.length, play.series.totals.dropped.failed], [4, 1])
  })

  it("a namespace that refuses is asked once a minute and told of once (B81, B87, D17)", () => {
    for (const refusal of [
      answer(403),
      answer(403, 0, { details: { causes: [{ reason: "NamespaceTerminating" }] } })
    ]) {
      const play = new Play()
      play.server = ({ place }) => (place.namespace === "ns1" ? refusal : "posted")
      for (let i = 0; i < 120; i++) {
        play.say({ uid: `u${i}` })
        play.say({ uid: `v${i}`, namespace: "ns2" })
        play.elapse(1_000)
      }
      assert.strictEqual(play.asked.filter(([, name]) => name.startsWith("u")).length, 2)
      assert.deepStrictEqual([play.posted.length, play.series.totals.dropped.refused], [120, 120])
      assert.strictEqual(play.warnings.length, 1)
    }
  })

  it("where only create is granted each Event is posted once; its repeats are tried once a minute and told of once (P24, D17, D18)", () => {
    const play = new Play()
    let isGranted = false
    play.server = ({ place, posted }) =>
      posted === undefined || isGranted || place.namespace === "ns2" ? "posted" : changeRefused
    for (let i = 0; i < 120; i++) {
      play.say({ uid: "again" })
      play.say({ uid: "again", namespace: "ns2" })
      play.say({ uid: `new${i}` })
      play.elapse(1_000)
    }
    assert.strictEqual(play.posted.filter((name) => name.startsWith("new")).length, 120)
    // A create, a patch each minute; and all of them where patch is granted.
    assert.strictEqual(play.asked.filter(([, name]) => name === "again").length, 1 + 2 + 120)
    assert.strictEqual(play.series.totals.dropped.refused, 119)
    assert.strictEqual(play.warnings.length, 1)
    assert.match(
      play.warnings[0]!,
      /^Failed to post an event\. .* repeats of events in namespace ns1 .*: patch events: 403/
    )
    isGranted = true
    play.elapse(60_000)
    play.say({ uid: "again" })
    play.elapse(1_000)
    play.say({ uid: "again" })
    play.elapse(1_000)
    assert.strictEqual(play.series.totals.dropped.refused, 119)
  })

  it("an Event of an earlier start that may not be changed is asked for once a minute too (P24, D17, D18)", () => {
    const play = new Play()
    play.server = () => changeRefused
    for (let i = 0; i < 120; i++) {
      play.say()
      play.elapse(1_000)
    }
    assert.deepStrictEqual([play.times.length, play.series.totals.dropped.refused, play.warnings.length], [2, 120, 1])
  })

  it("where none of 1,100 namespaces takes Events there are four lines, of which the last says so (B87, D17)", () => {
    const play = new Play()
    play.server = () => answer(403)
    for (let round = 0; round < 3; round++)
      for (let i = 0; i < 1_100; i++) {
        play.say({ uid: `u${i}`, namespace: `ns${i}` })
        play.elapse(25)
      }
    assert.strictEqual(play.warnings.length, rations.refused[0])
    assert.match(play.warnings[3]!, /more namespaces that refuse are not told of/)
    assert.match(play.warnings[0]!, /namespace ns0 for a minute at a time: create events: 403 Forbidden/)
    assert.strictEqual(play.series.totals.dropped.refused, 3_300)
  })

  it("a namespace that is gone is counted and told at Debug alone (B82)", () => {
    const play = new Play()
    play.server = () => answer(404)
    sayMany(play, 10)
    play.elapse(1_000)
    assert.deepStrictEqual([play.warnings, play.series.totals.dropped.gone], [[], 10])
  })

  it("what the server does not take is told at most once a minute, with how many there were (B79, B86)", () => {
    for (const code of [400, 413, 415, 422]) {
      const play = new Play()
      play.server = () => answer(code)
      for (let i = 0; i < 90; i++) {
        play.say({ uid: `u${i}` })
        play.elapse(1_000)
      }
      assert.strictEqual(play.series.totals.dropped.invalid, 90)
      assert.strictEqual(play.warnings.length, 2)
      assert.match(play.warnings[1]!, /\(and 59 more like it since the last such line\)/)
    }
  })

  it("a bug costs the Event that meets it, and a line a minute (P22)", () => {
    const play = new Play()
    const defect = new Error("a bug in the client")
    play.server = ({ about }) => (about.metadata.name === "fine" ? "posted" : { _tag: "Died", defect })
    sayMany(play, 30)
    play.say({ uid: "fine" })
    play.elapse(1_000)
    assert.deepStrictEqual([play.posted, play.series.totals.dropped.defect], [["fine"], 30])
    assert.deepStrictEqual(
      play.lines.map((line) => line.defect),
      [defect]
    )
  })

  it("what an answer says of one Event ends no outage, and delays none (D17)", () => {
    const play = new Play()
    play.server = until(100_000, ({ about }) =>
      /^Warning(3|4|5)$/.test(about.metadata.name) ? answer(422) : answer(500)
    )
    sayMany(play, 20)
    play.elapse(99_000)
    assert.deepStrictEqual([play.series.totals.dropped.invalid, play.posted.length], [3, 0])
    play.elapse(61_000)
    assert.strictEqual(play.posted.length, 17)
  })

  it("where default refuses, all that is in cluster scope goes to the operator's own namespace, repeats included, told once (D20)", () => {
    const play = new Play()
    const places: Array<string> = []
    play.server = ({ place }) => {
      places.push(place.namespace)
      return place.namespace === "default" ? answer(403) : "posted"
    }
    for (let i = 0; i < 30; i++) play.say({ uid: `z${i % 10}`, isClusterScoped: true })
    play.elapse(1_000)
    assert.deepStrictEqual([play.series.totals.posted, play.series.dropped], [30, 0])
    assert.strictEqual(places.filter((place) => place === "default").length, 8)
    assert.strictEqual(play.warnings.length, 1)
    assert.match(play.warnings[0]!, /go to namespace operators from now on/)
  })

  it("too many at once are told once they are through, by their number, and again not within a minute (B84, D17)", () => {
    const play = new Play({ capacity: 100 })
    play.server = () => ({ after: 10, with: "posted" })
    for (let burst = 0; burst < 10; burst++) {
      for (let i = 0; i < 200; i++) play.say({ uid: `${burst}-${i}`, type: "Normal" })
      play.elapse(5_000)
    }
    assert.strictEqual(play.warnings.length, 1)
    assert.match(play.warnings[0]!, /^92 events were dropped because more than 100 waited to be posted/)
  })

  it("a server that is too slow for what is said is told of after a while (B84, D17)", () => {
    const play = new Play({ capacity: 10, concurrency: 1 })
    play.server = () => ({ after: 3_000, with: "posted" })
    for (let i = 0; i < 100; i++) {
      play.say({ uid: `u${i}` })
      play.elapse(1_000)
    }
    assert.strictEqual(play.warnings.length, 1)
    assert.isAbove(play.lines[0]!.at, 15_000)
  })
})

describe("EventGate, at the end", () => {
  it("a pause is over, and tries go on twice a second whatever the server asks for (P23, D17)", () => {
    const play = new Play()
    play.server = until(102_900, (_, now) => (now < 50_000 ? answer(500) : answer(503, 300)))
    sayMany(play, 500)
    play.elapse(100_000)
    const before = play.times.length
    play.hurry()
    play.elapse(5_000)
    assert.deepStrictEqual([play.posted.length, play.series.dropped], [500, 0])
    assert.isAtMost(play.times.length - before, 500 + 8 + 6)
    play.end()
    assert.strictEqual(play.warnings.length, 1)
  })

  it("what is left is dropped and told in one line, with its number and why (P23, D17)", () => {
    const play = new Play()
    play.server = () => answer(500)
    sayMany(play, 500)
    play.hurry()
    play.elapse(5_000)
    play.end()
    play.say({ uid: "late" })
    assert.deepStrictEqual(
      [play.series.waiting, play.series.inFlight, play.series.totals.dropped.shutdown],
      [0, 0, 501]
    )
    assert.deepStrictEqual(play.warnings, [
      "500 events were not posted in time and are lost: create events: 500 ServerError: the server answered 500"
    ])
  })
})

const Op = Schema.Struct({
  op: Schema.Literals(["say", "say", "say", "burst", "elapse", "server"]),
  type: Schema.Literals(["Normal", "Warning", "Error", "Debug"]),
  uid: Schema.Literals(["u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8"]),
  namespace: Schema.Literals(["ns1", "ns2", "ns3"]),
  isClusterScoped: Schema.Literals([false, false, false, true]),
  millis: Schema.Literals([1, 100, 1_000, 10_000, 60_000, 400_000]),
  server: Schema.Literals([
    "fine",
    "500",
    "silent",
    "429",
    "held",
    "401",
    "poison",
    "refusing",
    "gone",
    "invalid",
    "bug",
    "mixed"
  ])
})

const servers: Readonly<Record<(typeof Op.Type)["server"], Server>> = {
  fine: () => "posted",
  "500": () => answer(500),
  silent: () => ({ after: 10_000, with: unreachable }),
  "429": () => answer(429),
  held: () => answer(503, 120),
  "401": () => answer(401),
  poison: ({ about }) => (/[1-3]/.test(about.metadata.name) ? answer(500) : { after: 5, with: "posted" }),
  refusing: ({ place }) => (place.namespace === "ns1" || place.namespace === "default" ? answer(403) : "posted"),
  gone: ({ place }) => (place.namespace === "ns2" ? answer(404) : "posted"),
  invalid: ({ about }) => (/[4-6]/.test(about.metadata.name) ? answer(422) : "posted"),
  bug: ({ about }) => (/[7-8]/.test(about.metadata.name) ? { _tag: "Died", defect: "bug" } : "posted"),
  mixed: ({ about }, now) =>
    [answer(500), "posted" as const, answer(409), unreachable][(about.metadata.name.length + now) % 4]!
}

describe("EventGate, whatever the server does", () => {
  it.prop(
    "no more wait or fly than may, no Warning is dropped while a Normal waits, none is lost, lines are few, and all is posted once the server is well (D17, P18, P20, B84, B87)",
    [Arbitrary.array(Arbitrary.schema(Op), { maxLength: 60 })],
    ([ops]) => {
      const play = new Play({ capacity: 6, concurrency: 3 })
      let serial = 0
      for (const { isClusterScoped, millis, namespace, op, server, type, uid } of ops) {
        if (op === "say") play.say({ uid, type, namespace, isClusterScoped })
        else if (op === "burst") for (let i = 0; i < 12; i++) play.say({ uid: `${uid}b${serial++}`, type, namespace })
        else if (op === "elapse") play.elapse(millis)
        else play.server = servers[server]
      }
      const lasted = play.now
      const allowed = Object.values(rations).reduce(
        (sum, [max, millis]) => sum + max * (Math.floor(lasted / millis) + 1),
        1
      )
      assert.isAtMost(play.warnings.length, allowed)
      play.server = servers.fine
      // What is under way is still answered as the server was.
      play.elapse(10_000)
      const { refused } = play.series.totals.dropped
      const { dropped } = play.series
      play.elapse(480_000)
      assert.deepStrictEqual([play.series.waiting, play.series.inFlight], [0, 0])
      // Neighbours in a namespace that has just refused are dropped, nothing else is.
      assert.strictEqual(play.series.dropped - dropped, play.series.totals.dropped.refused - refused)
      play.end()
      assert.strictEqual(play.series.totals.posted + play.series.dropped, play.series.totals.said)
    },
    { arbitrary: { runs: 1_000 }, timeout: 240_000 }
  )
})
