/** How the benchmarks measure: CPU time and not the clock's, so that other processes count little; the median of several rounds after one to warm up. */
import * as Effect from "effect/Effect"

/** One figure, and the budget that it is held to. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly unit: string
  /** At most this. Absent: there is no budget, it is told for comparison. */
  readonly goal?: number
}

/** Of this process with all of its threads, in microseconds: garbage collection counts. */
export const cpuMicros = (): number => {
  const { system, user } = process.cpuUsage()
  return user + system
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Microseconds of CPU that one of `times` equal parts of `work` takes. */
export const cpuOf = <E, R>(
  work: Effect.Effect<unknown, E, R>,
  times: number,
  rounds: number
): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const all: Array<number> = []
    yield* work
    for (let round = 0; round < rounds; round++) {
      const began = cpuMicros()
      yield* work
      all.push((cpuMicros() - began) / times)
    }
    return median(all)
  })

/** Bytes in use after a full collection. Needs `--expose-gc`. */
export const heapBytes = (): number => {
  if (globalThis.gc === undefined) throw new Error("run node with --expose-gc")
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
