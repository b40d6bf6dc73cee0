/** What a key costs in the queue: heap while it waits, CPU on its way through. */
import * as WorkQueues from "@fixpoint/core/WorkQueues"
import * as Effect from "effect/Effect"
import { cpuOf, type Figure, heapBytes, median } from "./Measure.ts"

const keysOf = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => `namespace-${i % 100}/object-${i}`)

const through = (keys: ReadonlyArray<string>, after: number | undefined) =>
  Effect.fnUntraced(function* (queue: WorkQueues.WorkQueue<never>) {
    for (const key of keys) queue.addUnsafe(key)
    for (let i = 0; i < keys.length; i++) {
      const taken = yield* queue.take
      yield* queue.done(taken!.key, after === undefined ? {} : { after })
    }
  })

/** Heap of a key that waits for its time; the keys themselves are there before. */
const bytesOf = (keys: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const before = heapBytes()
      const queue = yield* WorkQueues.WorkQueues.use((queues) => queues.open<never>("waiting"))
      yield* through(keys, 3_600_000)(queue)
      const after = heapBytes()
      const { delayed } = yield* queue.snapshot
      if (delayed !== keys.length) return yield* Effect.die(new Error(`${delayed} keys wait, not ${keys.length}`))
      return (after - before) / keys.length
    })
  )

export const figures = Effect.fnUntraced(
  function* (count: number, rounds: number) {
    const keys = keysOf(count)
    const all: Array<number> = []
    // The first one flattens the texts of the keys.
    yield* bytesOf(keys)
    for (let round = 0; round < 5; round++) all.push(yield* bytesOf(keys))
    const bytes = median(all)
    const queue = yield* WorkQueues.WorkQueues.use((queues) => queues.open<never>("through"))
    const cpu = yield* cpuOf(through(keys, undefined)(queue), keys.length, rounds)
    const found: ReadonlyArray<Figure> = [
      { what: "heap of a key that waits", value: bytes, unit: "B", goal: 126 },
      { what: "CPU of a key's way through the queue", value: cpu, unit: "us" }
    ]
    return found
  },
  Effect.scoped,
  Effect.provide(WorkQueues.layer)
)
