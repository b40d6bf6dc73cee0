/**
 * Compares two sides that were measured in turn, round by round, so that what slows the machine slows both: quantiles over all rounds, and how far their
 * ratio may be off, by drawing the rounds anew with replacement.
 */

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
export const quantile = (values: Float64Array, share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

const joined = (parts: ReadonlyArray<Float64Array>): Float64Array => {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const both = (rounds: ReadonlyArray<Round>, share: number): readonly [number, number] => [
  quantile(joined(rounds.map(({ baseline }) => baseline)), share),
  quantile(joined(rounds.map(({ other }) => other)), share)
]

/** `random` gives numbers in [0, 1). */
export const compare = (rounds: ReadonlyArray<Round>, share: number, random: () => number, draws = 400): Compared => {
  const [baseline, other] = both(rounds, share)
  const ratios = new Float64Array(draws).map(() => {
    const [a, b] = both(
      rounds.map(() => rounds[Math.floor(random() * rounds.length)]!),
      share
    )
    return b / a
  })
  return { baseline, other, ratio: other / baseline, from: quantile(ratios, 0.025), to: quantile(ratios, 0.975) }
}
