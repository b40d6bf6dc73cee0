import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Steps, type Done, layer, layerStep, type Taken, type WorkQueue, WorkQueues } from "../src/WorkQueues.ts"

const open = (name = "widgets") => WorkQueues.use((queues) => queues.open<string>(name))

interface Log {
  readonly lines: Array<string>
  running: number
  most: number
}

/** A worker whose passes take so long, and which says what comes after each. */
const worker = (
  queue: WorkQueue<string>,
  millis: number,
  log: Log,
  decide: (taken: Taken<string>) => Done<string> = () => ({})
) =>
  Effect.gen(function* () {
    while (true) {
      const taken = yield* queue.take
      if (taken === undefined) return
      log.lines.push(`${taken.key}@${yield* Clock.currentTimeMillis}`)
      log.most = Math.max(log.most, ++log.running)
      if (millis > 0) yield* Effect.sleep(millis)
      log.running--
      yield* queue.done(taken.key, decide(taken))
    }
  })

const settled = Effect.repeat(Effect.yieldNow, { times: 100 })

const logOf = (): Log => ({ lines: [], running: 0, most: 0 })

describe("WorkQueues", () => {
  it.effect(
    "eight workers and two hundred changes of one key: never two at once, the last pass after the last change (B39)",
    () =>
      Effect.gen(function* () {
        const queue = yield* open()
        const log = logOf()
        for (let i = 0; i < 8; i++) yield* Effect.forkScoped(worker(queue, 100, log))
        for (let i = 0; i < 200; i++) {
          yield* queue.add("a", { origin: "changed" })
          yield* TestClock.adjust(10)
        }
        yield* TestClock.adjust(1_000)
        assert.strictEqual(log.most, 1)
        assert.isAtMost(log.lines.length, 22)
        assert.isAtLeast(Number(log.lines.at(-1)!.slice(2)), 1_990)
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("adds never wait, whoever else adds and however busy the workers are (K33, K34)", () =>
    Effect.gen(function* () {
      const queue = yield* open()
      const log = logOf()
      // Before any worker is there.
      yield* queue.add("early")
      yield* Effect.forkScoped(worker(queue, 5_000, log))
      yield* TestClock.adjust(1)
      yield* Effect.forEach(
        Array.from({ length: 8 }),
        (_, sender) =>
          Effect.forEach(Array.from({ length: 256 }), (_, i) => queue.add(`k${sender}-${i}`), { discard: true }),
        { concurrency: "unbounded", discard: true }
      )
      assert.isTrue(yield* queue.add("last"))
      assert.strictEqual((yield* queue.snapshot).ready, 8 * 256 + 1)
      assert.deepStrictEqual(log.lines, ["early@0"])
      for (let i = 0; i < 7; i++) yield* Effect.forkScoped(worker(queue, 1, log))
      yield* TestClock.adjust(1_000)
      assert.include(log.lines.at(-1), "last@")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("delayed keys run on the millisecond, with one timer of the queue's own however many wait (D6)", () =>
    Effect.gen(function* () {
      const queue = yield* open()
      const log = logOf()
      yield* Effect.forkScoped(worker(queue, 0, log))
      for (const after of [700, 0.5, 1_000.5, 300, 2 ** 31]) yield* queue.add(`d${after}`, { after })
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(log.lines, ["d0.5@1", "d300@300", "d700@700", "d1000.5@1001"])
      assert.strictEqual(yield* queue.nextOf(`d${2 ** 31}`), 2 ** 31 - 2_000)
      yield* TestClock.adjust(2 ** 31)
      assert.strictEqual(log.lines.at(-1), `d${2 ** 31}@${2 ** 31}`)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("a clock that is set back does not hold up what waits", () =>
    Effect.gen(function* () {
      const queue = yield* open()
      const log = logOf()
      yield* TestClock.setTime(10_000_000)
      yield* queue.add("a", { after: 1_000 })
      yield* TestClock.setTime(6_400_000)
      yield* Effect.forkScoped(worker(queue, 0, log))
      yield* queue.add("b")
      yield* TestClock.adjust(1_000)
      yield* queue.add("c")
      yield* TestClock.adjust(1)
      assert.sameMembers(
        log.lines.map((line) => line[0]!),
        ["a", "b", "c"]
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("queues of the same keys share nothing: neither runs nor failures nor ends (B40)", () =>
    Effect.gen(function* () {
      const [p, q] = [yield* open("p"), yield* open("q")]
      yield* p.add("ns1/a")
      assert.strictEqual((yield* q.snapshot).ready, 0)
      yield* p.take
      yield* q.add("ns1/a")
      assert.strictEqual((yield* q.take)?.key, "ns1/a")
      yield* p.done("ns1/a", { after: 1_000, backingOff: true, memory: "p failed" })
      yield* q.done("ns1/a", {})
      assert.deepStrictEqual([yield* p.memory("ns1/a"), yield* q.memory("ns1/a")], ["p failed", undefined])
      yield* p.shutdown
      assert.deepStrictEqual([yield* p.add("b"), yield* q.add("b")], [false, true])
      assert.deepStrictEqual(
        (yield* (yield* WorkQueues).snapshots).map(({ name }) => name),
        ["p", "q"]
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("the end wakes every waiting worker, refuses adds and waits for passes that run (B41, B92)", () =>
    Effect.gen(function* () {
      const queue = yield* open()
      const log = logOf()
      for (const key of ["a", "b", "c"]) yield* queue.add(key)
      const busy = yield* Effect.forkChild(worker(queue, 2_000, log))
      yield* TestClock.adjust(1)
      yield* queue.shutdown
      const idle = yield* Effect.forkChild(queue.awaitIdle)
      const workers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(worker(queue, 0, log)))
      yield* TestClock.adjust(1)
      for (const fiber of workers) yield* Fiber.join(fiber)
      assert.isFalse(yield* queue.add("d"))
      assert.isUndefined(idle.pollUnsafe())
      yield* TestClock.adjust(2_000)
      yield* Fiber.join(idle)
      yield* Fiber.join(busy)
      assert.deepStrictEqual(log.lines, ["a@0"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  /** Lets others run between any two steps of a fiber. */
  class Restless extends Scheduler.MixedScheduler {
    private steps = 0
    override shouldYield(): boolean {
      return ++this.steps % 3 === 0
    }
  }

  it.effect.each([
    ["the usual scheduler", new Scheduler.MixedScheduler()],
    ["one that changes over all the time", new Restless()]
  ] as const)("a worker that is interrupted while it waits takes no key with it, under %s", ([, scheduler]) =>
    Effect.gen(function* () {
      // The interruption strikes a little later each time: before the worker is told, while it wakes, when it has the key.
      for (let turns = 0; turns < 40; turns++) {
        const queue = yield* open()
        const log = logOf()
        const first = yield* Effect.forkChild(Effect.uninterruptible(queue.take))
        const second = yield* Effect.forkChild(worker(queue, 0, log))
        yield* settled
        queue.addUnsafe("a")
        yield* Effect.repeat(Effect.yieldNow, { times: turns })
        yield* Fiber.interrupt(first)
        yield* settled
        const has = first.pollUnsafe()?._tag === "Success"
        assert.deepStrictEqual([turns, log.lines.length], [turns, has ? 0 : 1])
        yield* Fiber.interrupt(second)
      }
    }).pipe(Effect.scoped, Effect.provide(layer), Effect.provideService(Scheduler.Scheduler, scheduler))
  )

  it.effect("wakes that go round are told once (D14)", () => {
    const lines: Array<unknown> = []
    return Effect.gen(function* () {
      const queue = yield* open()
      for (let i = 0; i < 10; i++) yield* queue.add(`k${i}`, { hops: 5 })
      assert.strictEqual(lines.length, 1)
      assert.match(String(lines[0]), /wakes go round/)
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(layer, Logger.layer([Logger.make(({ message }) => void lines.push(message))])))
    )
  })
})

describe("WorkQueues, step by step", () => {
  it.effect("nothing runs until it is told, then one key, or the one that was chosen", () =>
    Effect.gen(function* () {
      const [p, q] = [yield* open("p"), yield* open("q")]
      const steps = yield* Steps
      const log = logOf()
      yield* Effect.forkScoped(worker(p, 0, log))
      yield* Effect.forkScoped(worker(q, 0, log))
      yield* TestClock.adjust(1)
      for (const key of ["a", "b", "c"]) yield* p.add(key)
      yield* q.add("z", { after: 10 })
      yield* TestClock.adjust(5)
      assert.deepStrictEqual(log.lines, [])
      assert.isTrue(yield* steps.run("p", "c"))
      assert.isFalse(yield* steps.run("p", "z"))
      yield* TestClock.adjust(5)
      assert.deepStrictEqual(
        (yield* steps.ready).map(({ key, queue }) => `${queue} ${key}`),
        ["p a", "p b", "q z"]
      )
      const order: Array<string> = []
      for (let step = yield* steps.step; step !== undefined; step = yield* steps.step) {
        order.push(step.key)
        yield* TestClock.adjust(1)
      }
      assert.deepStrictEqual(order, ["a", "z", "b"])
      assert.deepStrictEqual(
        log.lines.map((line) => line[0]),
        ["c", "a", "z", "b"]
      )
    }).pipe(Effect.scoped, Effect.provide(layerStep))
  )

  it.effect("a step without a worker that waits is none, and is not owed", () =>
    Effect.gen(function* () {
      const queue = yield* open()
      const steps = yield* Steps
      yield* queue.add("a")
      assert.isUndefined(yield* steps.step)
      const log = logOf()
      yield* Effect.forkScoped(worker(queue, 0, log))
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(log.lines, [])
      assert.deepStrictEqual(yield* steps.step, { queue: "widgets", key: "a" })
    }).pipe(Effect.scoped, Effect.provide(layerStep))
  )
})

const Op = Schema.Struct({
  key: Schema.Literals(["a", "b", "c", "d"]),
  after: Schema.Literals([0, 0, 1, 40, 1_000]),
  wait: Schema.Literals([0, 1, 15, 100]),
  again: Schema.Literals([-1, -1, 0, 25])
})

describe("WorkQueues, for any traffic", () => {
  it.effect.prop(
    "no key runs twice at once, and a pass begins after every wake, within its delay, once a worker is free (K35, B39)",
    [Arbitrary.array(Arbitrary.schema(Op), { maxLength: 25 })],
    ([ops]) =>
      Effect.gen(function* () {
        const queue = yield* open()
        const running = new Set<string>()
        const begun = new Map<string, number>()
        const wanted = new Map<string, number>()
        const pass = Effect.gen(function* () {
          while (true) {
            const taken = yield* queue.take
            if (taken === undefined) return
            assert.isFalse(running.has(taken.key))
            running.add(taken.key)
            begun.set(taken.key, yield* Clock.currentTimeMillis)
            yield* Effect.sleep(20)
            running.delete(taken.key)
            const again = ops.find(({ key }) => key === taken.key)!.again
            yield* queue.done(taken.key, again >= 0 && begun.get(taken.key)! < 500 ? { after: again } : {})
          }
        })
        yield* Effect.forkScoped(pass)
        yield* Effect.forkScoped(pass)
        for (const { after, key, wait } of ops) {
          yield* queue.add(key, { after })
          wanted.set(key, yield* Clock.currentTimeMillis)
          yield* TestClock.adjust(wait)
        }
        yield* TestClock.adjust(5_000)
        for (const [key, at] of wanted) assert.isAtLeast(begun.get(key) ?? -1, at)
        assert.deepInclude(yield* queue.snapshot, { ready: 0, delayed: 0, processing: [] })
      }).pipe(Effect.scoped, Effect.provide(layer)),
    { arbitrary: { runs: 1_000 } }
  )
})
