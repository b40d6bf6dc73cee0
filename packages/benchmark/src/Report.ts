/** The micro-benchmarks together, and the table of what they found. */
import * as Effect from "effect/Effect"
import * as ApiInMemory from "./ApiInMemory.ts"
import * as CachedObjects from "./CachedObjects.ts"
import type { Figure } from "./Measure.ts"
import * as NoOpPass from "./NoOpPass.ts"
import * as Queue from "./Queue.ts"
import * as Requests from "./Requests.ts"

export interface Sizes {
  readonly passes: number
  readonly keys: number
  readonly converging: number
  readonly cached: number
  readonly writes: number
  readonly rounds: number
  /** Starts on what has converged. */
  readonly starts: number
}

/** Those of the budgets. */
export const standard: Sizes = {
  passes: 2_000,
  keys: 100_000,
  converging: 500,
  cached: 100_000,
  writes: 1_000,
  rounds: 25,
  starts: 9
}
/** To see that everything runs; the figures mean nothing. */
export const tiny: Sizes = { passes: 20, keys: 100, converging: 5, cached: 100, writes: 10, rounds: 1, starts: 1 }

/** Heap is measured before others fill it; the largest comes last, since what it leaves behind would be collected in the others' time. */
export const figures = Effect.fnUntraced(function* (sizes: Sizes) {
  const all: Array<Figure> = []
  all.push(...(yield* Queue.figures(sizes.keys, sizes.rounds)))
  all.push(...(yield* NoOpPass.figures(sizes.passes, sizes.rounds)))
  all.push(...(yield* Requests.figures(sizes.converging, sizes.starts)))
  all.push(...(yield* ApiInMemory.figures(sizes.writes, sizes.rounds)))
  all.push(...(yield* CachedObjects.figures(sizes.cached)))
  return all
})

const rounded = (value: number): string =>
  value === 0
    ? "0"
    : Math.abs(value) >= 100
      ? value.toFixed(0)
      : Math.abs(value) >= 10
        ? value.toFixed(1)
        : value.toFixed(3)

/** One line a figure: what, value, budget, and whether it is kept. */
export const table = (all: ReadonlyArray<Figure>): string => {
  const rows = all.map(({ goal, unit, value, what }) => [
    what,
    `${rounded(value)} ${unit}`.trim(),
    goal === undefined ? "" : `<= ${goal} ${unit}`.trim(),
    // Figures are told with three digits, and judged as they are told.
    goal === undefined ? "" : Number(rounded(value)) <= goal ? "met" : "missed"
  ])
  const head = ["", "figure", "budget", ""]
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)))
  const line = (cells: ReadonlyArray<string>): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd()
  return [head, ...rows].map(line).join("\n")
}
