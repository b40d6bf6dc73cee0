/**
 * Which faults of several watches are told, so that a cause that they share is one line of the log: when it is new, and every minute as long as it lasts.
 * Pure but for what it remembers.
 */

/** In milliseconds. */
const againMillis = 60_000
/** A cause of which nothing was heard for so long is another one when it comes back. */
const forgottenMillis = 2 * againMillis
/** So many are remembered at most. */
const causesMax = 256

export interface Complaints {
  /** Since when the cause lasts if it is to be told now; undefined if it was told a moment ago. */
  readonly news: (cause: string, now: number) => number | undefined
  /** It is over: when it comes back it is told at once. */
  readonly over: (cause: string) => void
}

export const make = (): Complaints => {
  const told = new Map<string, { readonly since: number; readonly at: number }>()
  return {
    news: (cause, now) => {
      const last = told.get(cause)
      // A clock that was set back must not silence it.
      const lasts = last !== undefined && now >= last.at && now < last.at + forgottenMillis
      if (lasts && now < last.at + againMillis) return undefined
      const since = lasts ? last.since : now
      if (told.size >= causesMax) told.clear()
      told.set(cause, { since, at: now })
      return since
    },
    over: (cause) => void told.delete(cause)
  }
}
