import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Arbitrary from "effect/Arbitrary"
import { Lane } from "../src/internal/lane.ts"
import { Timers } from "../src/internal/timers.ts"
import { type Done, minInterval, parkMax, triggersMax, type Wake, WorkQueue } from "../src/internal/workQueue.ts"

const queueOf = (...keys: ReadonlyArray<string>): WorkQueue<string> => {
  const queue = new WorkQueue<string>()
  for (const key of keys) queue.add(key, {}, 0)
  return queue
}

/** Takes all that is ready, without ending any pass. */
const takeAll = (queue: WorkQueue<any>, now: number): ReadonlyArray<string> => {
  const keys: Array<string> = []
  for (let taken = queue.take(now); taken !== undefined; taken = queue.take(now)) keys.push(taken.key)
  return keys
}

const pass = (queue: WorkQueue<any>, now: number, decision: Done<any> = {}): string | undefined => {
  const taken = queue.take(now)
  if (taken !== undefined) queue.done(taken.key, decision, now)
  return taken?.key
}

describe("WorkQueue", () => {
  it("a wake during a pass gives exactly one more pass, however many arrive (K35, B39)", () => {
    const queue = queueOf("a")
    assert.strictEqual(queue.take(0)?.key, "a")
    for (let i = 0; i < 200; i++) queue.add("a", {}, i)
    assert.strictEqual(queue.take(200), undefined)
    queue.done("a", {}, 200)
    const again = queue.take(200)
    assert.deepStrictEqual([again?.key, again?.wakes], ["a", 200])
    queue.done("a", {}, 300)
    assert.strictEqual(queue.take(300), undefined)
  })

  it("wakes before the first take are one pass, and none of any number of keys is lost (K33, K35, B35)", () => {
    const queue = queueOf()
    for (let i = 0; i < 1_000; i++) queue.add("same", {}, 0)
    for (let i = 0; i < 2_048; i++) queue.add(`key${i}`, {}, 0)
    assert.strictEqual(takeAll(queue, 0).length, 2_049)
  })

  it("a change before a requested time runs at once, and its answer replaces the wish (B29, B30)", () => {
    const queue = queueOf("a")
    assert.strictEqual(pass(queue, 0, { after: 60_000 }), "a")
    queue.add("a", { origin: "changed" }, 5_000)
    assert.strictEqual(pass(queue, 5_000), "a")
    assert.strictEqual(queue.nextDue(), undefined)
    assert.strictEqual(pass(queue, 120_000), undefined)
  })

  it("the echo of an own write that comes before the answer does not lose the requested time (B30)", () => {
    const queue = queueOf("a")
    queue.take(0)
    queue.add("a", { origin: "changed" }, 1)
    queue.done("a", { after: 10_000 }, 2)
    assert.strictEqual(pass(queue, 2, { after: 10_000 }), "a")
    assert.deepStrictEqual([pass(queue, 10_001), pass(queue, 10_002)], [undefined, "a"])
  })

  it("of two wishes for one key the earliest counts and the other leaves no timer (D6, B29, B45)", () => {
    const queue = queueOf()
    queue.add("a", { after: 1_000 }, 0)
    queue.add("a", { after: 200 }, 0)
    queue.add("a", { after: 5_000 }, 0)
    assert.deepStrictEqual([queue.nextDue(), queue.snapshot(0).delayed], [200, 1])
    assert.strictEqual(pass(queue, 200), "a")
    assert.strictEqual(queue.nextDue(), undefined)
  })

  it.each([
    [0, 0],
    [0.001, 1],
    [999.5, 1_000],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, 2 ** 31],
    [2 ** 45 + 0.5, 2 ** 45 + 1],
    [NaN, 0],
    [-5, 0],
    [-Infinity, 0]
  ])("a delay of %d ms runs after %d whole ms, whether asked by a wake or at the end of a pass (D6)", (after, due) => {
    for (const ask of ["wake", "done"] as const) {
      const queue = queueOf()
      if (ask === "wake") queue.add("a", { after }, 0)
      else {
        queue.add("a", {}, 0)
        pass(queue, 0, { after })
      }
      if (due > 0) assert.strictEqual(queue.take(due - 1), undefined)
      assert.strictEqual(queue.take(due)?.key, "a")
    }
  })

  it("an infinite delay is no timer at all (D6)", () => {
    const queue = queueOf("a")
    pass(queue, 0, { after: Infinity })
    queue.add("b", { after: Infinity }, 0)
    assert.deepStrictEqual([queue.nextDue(), queue.snapshot(0).delayed, queue.take(2 ** 52)], [undefined, 0, undefined])
  })

  it("ten thousand long requeues overtaken by changes leave one timer and bounded garbage; a gone object leaves none (B36, B37)", () => {
    const queue = queueOf()
    for (let i = 0; i < 10_000; i++) {
      queue.add("a", { origin: "changed" }, i)
      pass(queue, i, { after: 36_000_000, memory: "m", backingOff: i % 2 === 0 })
    }
    assert.strictEqual(queue.snapshot(0).delayed, 1)
    assert.isBelow((queue as any).timers.entries, 200)
    queue.add("a", {}, 10_000)
    pass(queue, 10_000)
    const { backingOff, delayed, remembered } = queue.snapshot(0)
    assert.deepStrictEqual([delayed, remembered, backingOff, (queue as any).timers.size], [0, 0, 0, 0])
  })

  it("records of thousands of failed keys vanish with their objects (B37)", () => {
    const queue = queueOf(...Array.from({ length: 5_000 }, (_, i) => `w${i}`))
    for (const key of takeAll(queue, 0)) queue.done(key, { after: 1_000, backingOff: true, memory: "failed" }, 0)
    assert.strictEqual(queue.snapshot(0).backingOff, 5_000)
    for (const key of takeAll(queue, 1_000)) queue.done(key, {}, 1_000)
    assert.deepInclude(queue.snapshot(0), { backingOff: 0, remembered: 0, delayed: 0, ready: 0 })
  })

  it("initial keys are not starved by hot ones: half of the passes are theirs (B38)", () => {
    const queue = queueOf()
    for (let i = 0; i < 50; i++) queue.add(`i${i}`, { origin: "initial" }, 0)
    const served = new Set<string>()
    let now = 0
    for (; served.size < 50; now += 50) {
      for (let i = 0; i < 10; i++) queue.add(`hot${i}`, { origin: "changed" }, now)
      const key = pass(queue, now)!
      if (key.startsWith("i")) served.add(key)
    }
    assert.isAtMost(now, 6_000)
  })

  it("hot keys do not starve changes of others, and a change overtakes the initial keys before it (B38)", () => {
    const queue = queueOf()
    for (let i = 0; i < 5_000; i++) queue.add(`i${i}`, { origin: "resync" }, 0)
    queue.add("edited", { origin: "changed" }, 0)
    assert.include([pass(queue, 0), pass(queue, 0)], "edited")
    queue.add("hot", {}, 0)
    queue.add("b", {}, 0)
    const order: Array<string> = []
    for (let i = 0; i < 8; i++) {
      order.push(pass(queue, 0)!)
      queue.add("hot", {}, 0)
    }
    assert.isBelow(order.indexOf("b"), 4)
  })

  it("an initial key that changes moves before the others, once (B38)", () => {
    const queue = queueOf()
    for (let i = 0; i < 200; i++) queue.add(`i${i}`, { origin: "initial" }, 0)
    for (let i = 100; i < 200; i++) queue.add(`i${i}`, { origin: "changed" }, 0)
    assert.strictEqual(queue.peek(), "i100")
    const keys = takeAll(queue, 0)
    assert.strictEqual(new Set(keys).size, 200)
    assert.strictEqual(keys.length, 200)
  })

  it("the fewest hops of all wakes count, also of one that was to come later (D14)", () => {
    const queue = queueOf()
    queue.add("a", { hops: 3 }, 0)
    queue.add("a", { hops: 1, trigger: "Scope team/docs" }, 0)
    queue.add("a", { hops: 2 }, 0)
    queue.add("b", { hops: 0, after: 500, trigger: "late" }, 0)
    queue.add("b", { hops: 4, trigger: "now" }, 0)
    assert.deepInclude(queue.take(0), { key: "a", hops: 1, triggers: ["Scope team/docs"] })
    assert.deepInclude(queue.take(0), { key: "b", hops: 0, triggers: ["now", "late"] })
    assert.strictEqual(queue.nextDue(), undefined)
  })

  it.each([
    [4, 0],
    [5, 1_000],
    [6, 2_000],
    [10, 32_000],
    [14, 300_000],
    [2_000, 300_000]
  ])("a wake of %d hops waits %d ms, is counted and is never dropped (D14)", (hops, delay) => {
    const queue = queueOf()
    assert.strictEqual(queue.add("a", { hops }, 0), delay === 0 ? "accepted" : "ring")
    if (delay > 0) assert.strictEqual(queue.take(delay - 1), undefined)
    assert.deepInclude(queue.take(delay), { key: "a", hops })
    assert.strictEqual(queue.snapshot(0).rings, delay === 0 ? 0 : 1)
  })

  it("triggers are remembered up to a bound, wakes are counted beyond it", () => {
    const queue = queueOf()
    for (let i = 0; i < 100; i++) queue.add("a", { trigger: `t${i}` }, 0)
    const taken = queue.take(0)!
    assert.deepStrictEqual([taken.triggers.length, taken.wakes], [triggersMax, 100])
  })

  it("owned and mapped wakes keep their distance from a key that backs off; edits, deletions and enqueue do not (D27, B42)", () => {
    for (const origin of ["owned", "mapped", "changed", "enqueue", "resync"] as const) {
      const queue = queueOf("a")
      pass(queue, 1_000, { after: 300_000, backingOff: true, memory: "m" })
      queue.add("a", { origin }, 1_001)
      const patient = origin === "owned" || origin === "mapped"
      assert.strictEqual(queue.take(1_001)?.key, patient ? undefined : "a", origin)
      if (!patient) continue
      assert.strictEqual(queue.take(1_000 + minInterval - 1), undefined)
      assert.strictEqual(queue.take(1_000 + minInterval)?.key, "a")
    }
  })

  it("an owned wake during the failing pass itself keeps its distance too, until an edit comes (D27)", () => {
    const queue = queueOf("a")
    queue.take(0)
    queue.add("a", { origin: "owned" }, 5)
    queue.done("a", { after: 300_000, backingOff: true }, 10)
    assert.strictEqual(queue.take(11), undefined)
    queue.add("a", { origin: "changed" }, 12)
    assert.deepInclude(queue.take(12), { key: "a", origins: ["changed", "owned"], wakes: 2 })
  })

  it("a pass that something else woke before its retry was due is told so, and how long the retry has to wait (D6, B33)", () => {
    const queue = queueOf("a")
    pass(queue, 0, { after: 60_000, backingOff: true, memory: "m" })
    for (let i = 1; i <= 10; i++) {
      queue.add("a", { origin: "changed" }, i * 200)
      const taken = queue.take(i * 200)!
      assert.deepInclude(taken, { due: false, retryIn: 60_000 - i * 200, memory: "m" })
      queue.done("a", { after: taken.retryIn!, backingOff: true, memory: "m" }, i * 200)
    }
    assert.deepInclude(queue.take(60_000), { due: true, retryIn: undefined, origins: ["requeue"] })
  })

  it("a parked key holds no worker and runs when its write is seen, or after 5 s with a warning to read for itself (D29)", () => {
    const queue = queueOf("a", "b")
    queue.take(0)
    queue.take(0)
    queue.add("a", {}, 1)
    queue.add("b", {}, 1)
    queue.done("a", { park: true }, 10)
    queue.done("b", { park: true }, 10)
    assert.deepStrictEqual([queue.take(11), queue.nextDue(), queue.snapshot(11).parked], [undefined, 10 + parkMax, 2])
    queue.unpark("a", 20)
    assert.deepInclude(queue.take(20), { key: "a", overdue: false })
    assert.strictEqual(queue.take(10 + parkMax - 1), undefined)
    assert.deepInclude(queue.take(10 + parkMax), { key: "b", overdue: true })
    queue.done("b", {}, 6_000)
    queue.add("b", {}, 6_000)
    assert.deepInclude(queue.take(6_000), { key: "b", overdue: false })
  })

  it("a parked key that nobody woke runs at its own time", () => {
    const queue = queueOf("a")
    pass(queue, 0, { park: true, after: 1_000 })
    assert.strictEqual(queue.take(1_000), undefined)
    queue.unpark("a", 1_500)
    assert.strictEqual(queue.take(1_500)?.key, "a")
  })

  it("after the end nothing is given, adds are refused and passes may still end (B41)", () => {
    const queue = queueOf("a", "b", "c")
    queue.take(0)
    queue.add("d", { after: 10 }, 0)
    queue.close()
    assert.deepStrictEqual([queue.add("e", {}, 0), queue.take(100), queue.nextDue()], ["refused", undefined, undefined])
    queue.done("a", { after: 0 }, 1)
    queue.unpark("a", 1)
    assert.deepStrictEqual([queue.isIdle, queue.take(200)], [true, undefined])
  })

  it("ending a pass twice is a mistake that is told", () => {
    const queue = queueOf("a")
    pass(queue, 0)
    assert.throws(() => queue.done("a", {}, 0), /not in processing/)
  })

  it("a chosen key is next of all", () => {
    const queue = queueOf("a", "b")
    queue.add("c", { origin: "initial" }, 0)
    queue.add("d", { origin: "initial" }, 0)
    assert.deepStrictEqual(queue.ready(), ["a", "b", "c", "d"])
    assert.isTrue(queue.prefer("d"))
    assert.strictEqual(pass(queue, 0), "d")
    assert.isTrue(queue.prefer("b"))
    assert.strictEqual(pass(queue, 0), "b")
    assert.isFalse(queue.prefer("b"))
    assert.sameMembers([...takeAll(queue, 0)], ["a", "c"])
  })

  it("the snapshot tells what comes next by itself, and for how long the oldest has waited", () => {
    const queue = queueOf("a")
    queue.add("b", { after: 700 }, 0)
    queue.add("c", { after: 300 }, 0)
    const { next, oldest, ready } = queue.snapshot(100)
    assert.deepStrictEqual([ready, oldest], [1, 100])
    assert.deepStrictEqual(next, [
      { key: "c", inMillis: 200 },
      { key: "b", inMillis: 600 }
    ])
  })
})

const times = [0, 0.5, 1, 7, 1_000, 2 ** 31, Infinity, NaN] as const
const index = (length: number) => Schema.Literals(Array.from({ length }, (_, i) => i))
const Op = Schema.Struct({
  op: Schema.Literals(["add", "add", "take", "take", "done", "advance", "unpark"]),
  key: Schema.Literals(["a", "b", "c"]),
  time: index(times.length),
  asks: Schema.Boolean,
  parks: Schema.Boolean,
  origin: Schema.Literals(["changed", "initial", "enqueue"])
})

/** What the queue must do, told by sets and a map: which keys are to run, run, wait for a time, or are parked. */
class Model {
  readonly dirty = new Set<string>()
  readonly processing = new Set<string>()
  readonly due = new Map<string, number>()
  readonly parked = new Map<string, number>()

  wish(key: string, after: number, now: number): void {
    if (Number.isNaN(after) || after <= 0) this.dirty.add(key)
    else if (after !== Infinity) this.due.set(key, Math.min(Math.ceil(now + after), this.due.get(key) ?? Infinity))
  }

  tick(now: number): void {
    for (const [key, at] of this.due)
      if (at <= now) {
        this.due.delete(key)
        this.dirty.add(key)
      }
    for (const [key, until] of this.parked) if (until <= now) this.parked.delete(key)
  }

  ready(): ReadonlyArray<string> {
    return [...this.dirty].filter((key) => !this.processing.has(key) && !this.parked.has(key))
  }
}

describe("WorkQueue, for any history", () => {
  it.prop(
    "no key runs twice at once, every wake is answered by one more pass, one timer a key and the earliest (K35, B29, B30, B39, D6)",
    [Arbitrary.array(Arbitrary.schema(Op), { maxLength: 60 })],
    ([ops]) => {
      const queue = new WorkQueue<string>()
      const model = new Model()
      let now = 0
      const take = (): boolean => {
        model.tick(now)
        const expected = model.ready()
        const taken = queue.take(now)
        if (taken === undefined) return expected.length === 0 || assert.fail(`nothing given, but ${expected} must run`)
        assert.include(expected, taken.key)
        model.dirty.delete(taken.key)
        model.due.delete(taken.key)
        model.processing.add(taken.key)
        return false
      }
      const done = (key: string, decision: Done<string>): void => {
        queue.done(key, decision, now)
        model.processing.delete(key)
        if (decision.park === true) model.parked.set(key, now + parkMax)
        if (decision.after !== undefined) model.wish(key, decision.after, now)
      }
      for (const { asks, key, op, origin, parks, time } of ops) {
        const after = times[time]!
        if (op === "add") {
          const wake: Wake = asks ? { origin, after } : { origin }
          queue.add(key, wake, now)
          model.wish(key, asks ? after : 0, now)
        } else if (op === "take") take()
        else if (op === "done") {
          if (model.processing.has(key)) done(key, { ...(asks && { after }), park: parks })
        } else if (op === "unpark") {
          queue.unpark(key, now)
          model.parked.delete(key)
        } else {
          now += Number.isFinite(after) ? after : 3
          queue.tick(now)
          model.tick(now)
        }
        for (const one of ["a", "b", "c"]) assert.strictEqual(queue.dueOf(one), model.due.get(one))
        assert.sameMembers([...queue.ready()], [...model.ready()])
        assert.isAtMost(queue.snapshot(now).delayed, 3)
      }
      // In the end everything that was to run has run.
      now += 2 ** 40
      for (let quiet = false; !quiet;) {
        for (const key of model.processing) done(key, {})
        quiet = take()
      }
      assert.deepStrictEqual([model.dirty.size, model.processing.size, queue.isReady], [0, 0, false])
    },
    { arbitrary: { runs: 3_000 } }
  )

  it.prop(
    "while both lanes wait, neither waits for more than one pass of the other (B38)",
    [Arbitrary.array(Arbitrary.schema(Schema.Literals(["initial", "changed", "take"])), { maxLength: 80 })],
    ([ops]) => {
      const queue = new WorkQueue<string>()
      const lanes = { initial: 0, changed: 0 }
      let last: "initial" | "changed" | undefined
      let n = 0
      for (const op of ops) {
        if (op !== "take") {
          queue.add(`${op}${n++}`, { origin: op }, 0)
          lanes[op]++
          continue
        }
        const both = lanes.initial > 0 && lanes.changed > 0
        const key = queue.take(0)?.key
        if (key === undefined) continue
        const lane = key.startsWith("initial") ? "initial" : "changed"
        if (both) assert.notStrictEqual(lane, last)
        lanes[lane]--
        last = lane
      }
    },
    { arbitrary: { runs: 1_000 } }
  )
})

describe("Timers", () => {
  it.prop(
    "keys come in the order of their earliest times, and garbage stays below what lives (B36)",
    [
      Arbitrary.array(Arbitrary.schema(Schema.Struct({ key: index(40), at: index(1_000), drop: Schema.Boolean })), {
        maxLength: 400
      })
    ],
    ([ops]) => {
      const timers = new Timers()
      const model = new Map<string, number>()
      for (const { at, drop, key } of ops) {
        const name = `k${key}`
        if (drop) {
          timers.delete(name)
          model.delete(name)
        } else {
          timers.add(name, at)
          model.set(name, Math.min(at, model.get(name) ?? Infinity))
        }
        assert.strictEqual(timers.size, model.size)
        assert.isAtMost(timers.entries, 2 * timers.size + 64)
        assert.strictEqual(timers.earliest(), model.size === 0 ? undefined : Math.min(...model.values()))
      }
      let before = -1
      for (let key = timers.shift(1_000); key !== undefined; key = timers.shift(1_000)) {
        assert.isAtLeast(model.get(key)!, before)
        before = model.get(key)!
        model.delete(key)
      }
      assert.strictEqual(model.size, 0)
    },
    { arbitrary: { runs: 1_000 } }
  )
})

describe("Lane", () => {
  it("keeps its order through cuts, and gives back the space of what was read", () => {
    const lane = new Lane<number>()
    let next = 0
    for (let i = 0; i < 10_000; i++) {
      lane.push(i)
      if (i % 3 !== 0) assert.strictEqual(lane.shift(), next++)
    }
    assert.isBelow((lane as any).items.length, 2 * lane.size + 128)
    while (lane.size > 0) assert.strictEqual(lane.shift(), next++)
    assert.deepStrictEqual([next, lane.shift()], [10_000, undefined])
    lane.unshift(1)
    lane.unshift(0)
    assert.deepStrictEqual([...lane.values()], [0, 1])
  })
})
