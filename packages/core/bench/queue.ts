/**
 * What a key costs in the queue, and what the end of a pass costs: `node --expose-gc --conditions=@fixpoint/source packages/core/bench/queue.ts`.
 * Prints nanoseconds of CPU an operation (best of five; garbage collection included) and heap bytes a key. The first line is the machine's measure.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { settle } from "../src/internal/settle.ts"
import { WorkQueue } from "../src/internal/workQueue.ts"
import { Temporary } from "../src/ReconcileError.ts"
import { layer, WorkQueues } from "../src/WorkQueues.ts"
import { facts, object } from "../test/settled.ts"

const keys = Array.from({ length: 100_000 }, (_, i) => `namespace-${i % 100}/object-${i}`)

/** CPU time, not the clock's: other processes on the machine do not count. */
const cpu = (): number => {
  const { system, user } = process.cpuUsage()
  return (user + system) * 1_000
}

const nanos = async (times: number, run: () => unknown): Promise<number> => {
  let best = Infinity
  for (let i = 0; i < 5; i++) {
    const began = cpu()
    await run()
    best = Math.min(best, (cpu() - began) / times)
  }
  return Math.round(best)
}

const heap = (): number => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const bytes = (fill: (queue: WorkQueue<object>) => void): number => {
  const before = heap()
  const queue = new WorkQueue<object>()
  fill(queue)
  const after = heap()
  if (queue.isClosed) throw new Error("unreachable: keeps the queue alive")
  return Math.round((after - before) / keys.length)
}

const print = (what: string, value: number, unit: string): void => console.log(`${what.padEnd(64)}${value} ${unit}`)

print(
  "measure: a Map's set and delete",
  await nanos(keys.length, () => {
    const map = new Map<string, object>()
    for (const key of keys) map.set(key, {})
    for (const key of keys) map.delete(key)
  }),
  "ns"
)
print(
  "machine: add, take, done",
  await nanos(keys.length, () => {
    const queue = new WorkQueue<object>()
    for (const key of keys) queue.add(key, {}, 0)
    for (let taken = queue.take(0); taken !== undefined; taken = queue.take(0)) queue.done(taken.key, {}, 0)
  }),
  "ns"
)
print(
  "machine: add, take, done with a timer, timer due",
  await nanos(keys.length, () => {
    const queue = new WorkQueue<object>()
    for (const key of keys) queue.add(key, {}, 0)
    let i = 0
    for (let taken = queue.take(0); taken !== undefined; taken = queue.take(0))
      queue.done(taken.key, { after: 1 + ((i++ * 7_919) % 60_000) }, 0)
    queue.tick(120_000)
  }),
  "ns"
)
print(
  "machine: a key that is ready",
  bytes((queue) => keys.forEach((key) => queue.add(key, {}, 0))),
  "B"
)
print(
  "machine: a key that waits for its time",
  bytes((queue) => {
    for (const key of keys) {
      queue.add(key, {}, 0)
      queue.done(queue.take(0)!.key, { after: 60_000 }, 0)
    }
  }),
  "B"
)
print(
  "machine: a key that waits for its retry, memory included",
  bytes((queue) => {
    for (const key of keys) {
      queue.add(key, {}, 0)
      const { memory } = settle(facts({ exit: Exit.fail(new Temporary({})) }))
      queue.done(queue.take(0)!.key, { after: 60_000, backingOff: true, memory }, 0)
    }
  }),
  "B"
)

const passes = (workers: number) =>
  WorkQueues.use((queues) => queues.open("bench")).pipe(
    Effect.flatMap((queue) => {
      let left = keys.length
      const worker = Effect.gen(function* () {
        while (true) {
          const taken = yield* queue.take
          if (taken === undefined) return
          yield* queue.done(taken.key, {})
          if (--left === 0) yield* queue.shutdown
        }
      })
      for (const key of keys) queue.addUnsafe(key)
      return Effect.all(
        Array.from({ length: workers }, () => worker),
        { concurrency: "unbounded", discard: true }
      )
    }),
    Effect.scoped,
    Effect.provide(layer)
  )
for (const workers of [1, 16])
  print(
    `service: add, take, done, ${workers} workers`,
    await nanos(keys.length, () => Effect.runPromise(passes(workers))),
    "ns"
  )

const success = facts({ object: object({}, { status: "True", reason: "Synced", message: "" }) })
const failure = facts({ exit: Exit.fail(new Temporary({ message: "connection refused" })) })
const many = (given: typeof success) => () => {
  for (let i = 0; i < 100_000; i++) settle(given)
}
print("settle: success, nothing changed", await nanos(100_000, many(success)), "ns")
print("settle: Temporary", await nanos(100_000, many(failure)), "ns")
