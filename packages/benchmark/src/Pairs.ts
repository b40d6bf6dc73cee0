/**
 * Compares two sides that were measured in turn, round by round, so that what slows the machine slows both: the median over all rounds of a quantile, and how
 * far the ratio of the sides may be off, by drawing the rounds anew with replacement. A round that was disturbed counts as one round, however much.
 */
import { median } from "./Measure.ts"

/** One round: what each side took, in any unit. */
export interface Round {
  readonly baseline: Float64Array
  readonly other: Float64Array
}

export interface Compared {
  readonly baseline: number
  readonly other: number
  /** `other` by `baseline`. */
  readonly ratio: number
  /** Where the ratio lies in 19 of 20 draws. */
  readonly from: number
  readonly to: number
}

/** NaN of nothing. */
export const quantile = (values: ArrayLike<number>, share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

type Both = readonly [baseline: number, other: number]

const medians = (rounds: ReadonlyArray<Both>): Both => [
  median(rounds.map(([baseline]) => baseline)),
  median(rounds.map(([, other]) => other))
]

/** Rounds in which a side did nothing are left out; of no rounds all is NaN. `random` gives numbers in [0, 1). */
export const compare = (rounds: ReadonlyArray<Round>, share: number, random: () => number, draws = 1_000): Compared => {
  const all = rounds
    .filter(({ baseline, other }) => baseline.length > 0 && other.length > 0)
    .map(({ baseline, other }): Both => [quantile(baseline, share), quantile(other, share)])
  if (all.length === 0) return { baseline: NaN, other: NaN, ratio: NaN, from: NaN, to: NaN }
  const ratios = Array.from({ length: draws }, () => {
    const [a, b] = medians(all.map(() => all[Math.floor(random() * all.length)]!))
    return b / a
  })
  const [baseline, other] = medians(all)
  return { baseline, other, ratio: other / baseline, from: quantile(ratios, 0.025), to: quantile(ratios, 0.975) }
}
