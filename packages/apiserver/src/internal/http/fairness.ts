/**
 * One thread serves everybody, so nobody may hold it long: what takes long goes in a lane of its own, with rests in which others are served, and the lines
 * of many watches are written in turns.
 */

export interface Lane {
  /** Tells of a request that goes past the lane: only for such ones does it rest. */
  readonly pass: () => void
  /** Runs the job now or when its turn comes. False: too many wait already. A job must not throw. */
  readonly run: (job: () => void) => boolean
}

/** More have to come again. */
const jobsMost = 1_000

/** After a job of more than this, in milliseconds, the lane rests for three times as long as the job took, if others are there. */
const shortMost = 10

/** A job of more than this, in milliseconds, is felt by who comes meanwhile; after it a hundred short requests of one client have time. */
const feltMost = 40
const restAfterFelt = 600

const restAfter = (took: number): number => (took > feltMost ? Math.max(restAfterFelt, 3 * took) : 3 * took)

export const makeLane = (now: () => number = () => performance.now()): Lane => {
  const jobs: Array<() => void> = []
  let busy = false
  let passed = 0
  const next = (): void => {
    const job = jobs.shift()
    if (job === undefined) {
      busy = false
      return
    }
    const before = passed
    const began = now()
    job()
    const took = now() - began
    const rest = (): void => {
      if (took > shortMost && passed !== before) setTimeout(next, restAfter(took))
      else next()
    }
    // After a whole turn of the loop those who came meanwhile have been served; the first immediate may come before any of them.
    setImmediate(took > shortMost ? () => void setImmediate(rest) : rest)
  }
  return {
    pass: () => void passed++,
    run: (job) => {
      if (jobs.length >= jobsMost) return false
      jobs.push(job)
      if (!busy) {
        busy = true
        next()
      }
      return true
    }
  }
}

export interface Turns {
  /** Calls the job soon, in the order of the calls, once for all calls before it runs. A job must not throw. */
  readonly soon: (job: () => void) => void
}

/** As long as jobs may run at a stretch, in milliseconds. */
const stretchMost = 4

/** So many at a stretch: Node gives what they write to the sockets after it, which takes longer than the jobs do. */
const stretchJobsMost = 64

export const makeTurns = (now: () => number = () => performance.now()): Turns => {
  let waiting = new Set<() => void>()
  let scheduled = false
  const work = (): void => {
    const until = now() + stretchMost
    let left = stretchJobsMost
    for (const job of waiting) {
      waiting.delete(job)
      job()
      if (--left === 0 || now() > until) break
    }
    scheduled = waiting.size > 0
    if (scheduled) setImmediate(work)
    else waiting = new Set()
  }
  return {
    soon: (job) => {
      waiting.add(job)
      if (scheduled) return
      scheduled = true
      setImmediate(work)
    }
  }
}
