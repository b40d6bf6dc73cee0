/**
 * Queues of keys, one for each controller of each Manager (B40). The machine in `internal/workQueue` decides; here are its clock, its timer and the
 * workers that wait.
 *
 * Guarantees: those of the machine; `add` never waits; waiting workers are served in the order they came; an interrupted `take` loses no key.
 * Assumptions: whoever takes a key calls `done` once, also when its pass fails or is interrupted: take it in an uninterruptible region, in which `take`
 * itself can still be interrupted while it waits.
 * Caveats: in memory only; after `shutdown` what waited is forgotten, and the next start finds it by listing.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Scheduler from "effect/Scheduler"
import * as Machine from "./internal/workQueue.ts"

export type Origin = Machine.Origin
export type Wake = Machine.Wake
export type Added = Machine.Added
export type Taken<M> = Machine.Taken<M>
export type Done<M> = Machine.Done<M>
export type Snapshot = Machine.Snapshot

/** `M` is what one pass of a key leaves to the next. */
export interface WorkQueue<M> {
  readonly name: string
  /** Wakes a key. False after `shutdown`; never waits (K33, B41). Warns once if wakes go round (D14). */
  readonly add: (key: string, wake?: Wake) => Effect.Effect<boolean>
  /** The same without an Effect, for loops over many keys. */
  readonly addUnsafe: (key: string, wake?: Wake) => Added
  /** Waits for a key that may run; undefined after `shutdown`. */
  readonly take: Effect.Effect<Taken<M> | undefined>
  /** Ends the pass of a key. Dies if the key is not in processing. */
  readonly done: (key: string, decision: Done<M>) => Effect.Effect<void>
  /** The key's own write has been seen: its next pass may begin (D29). */
  readonly unpark: (key: string) => Effect.Effect<void>
  readonly unparkUnsafe: (key: string) => void
  /** What the last pass of a key left. */
  readonly memory: (key: string) => Effect.Effect<M | undefined>
  readonly snapshot: Effect.Effect<Snapshot>
  /** In how many milliseconds the key comes by itself; undefined if only a wake brings it. */
  readonly nextOf: (key: string) => Effect.Effect<number | undefined>
  /** No more keys are given and no wakes taken; waiting workers end (B41). */
  readonly shutdown: Effect.Effect<void>
  /** Waits until no key is in processing (B92). */
  readonly awaitIdle: Effect.Effect<void>
}

export class WorkQueues extends Context.Service<
  WorkQueues,
  {
    /** A queue of its own, shut down with the scope. */
    readonly open: <M>(name: string) => Effect.Effect<WorkQueue<M>, never, Scope.Scope>
    /** Of all open queues, in the order in which they were opened. */
    readonly snapshots: Effect.Effect<ReadonlyArray<{ readonly name: string; readonly snapshot: Snapshot }>>
  }
>()("@fixpoint/core/WorkQueues") {}

/** Hands out keys only when told: for tests that choose the order in which keys run. */
export class Steps extends Context.Service<
  Steps,
  {
    /** What could run now, queue by queue. */
    readonly ready: Effect.Effect<ReadonlyArray<{ readonly queue: string; readonly key: string }>>
    /** Gives one key to a waiting worker; the queues take turns. Undefined if nothing is ready, or no worker of a ready queue waits. */
    readonly step: Effect.Effect<{ readonly queue: string; readonly key: string } | undefined>
    /** Gives this very key; false if it is not ready or no worker waits. */
    readonly run: (queue: string, key: string) => Effect.Effect<boolean>
  }
>()("@fixpoint/core/WorkQueues/Steps") {}

/** Longer waits than this cut a timer short in some runtimes: it is set anew then. */
const sleepMax = 2 ** 31 - 1

/** One queue with its workers. `allowance`: keys that may still be given out. */
class Driver<M> {
  readonly machine = new Machine.WorkQueue<M>()
  readonly takers = new Set<() => void>()
  readonly idle = new Set<() => void>()
  readonly timer = Latch.makeUnsafe(false)
  readonly name: string
  private readonly clock: Clock.Clock
  private readonly dispatcher: Scheduler.SchedulerDispatcher
  allowance: number
  /** When the timer fiber wakes; it is told only of an earlier time. */
  private armed = Infinity
  private scheduled = false
  private last = -Infinity
  private shift = 0

  constructor(name: string, clock: Clock.Clock, dispatcher: Scheduler.SchedulerDispatcher, allowance: number) {
    this.name = name
    this.clock = clock
    this.dispatcher = dispatcher
    this.allowance = allowance
  }

  /** Never runs back, so that a clock that is set back by an hour does not hold up every retry for an hour. */
  now(): number {
    const wall = this.clock.currentTimeMillisUnsafe()
    if (wall + this.shift < this.last) this.shift = this.last - wall
    this.last = wall + this.shift
    return this.last
  }

  add(key: string, wake: Wake): Added {
    const added = this.machine.add(key, wake, this.now())
    this.changed()
    return added
  }

  takeNow(): Taken<M> | undefined {
    if (this.allowance === 0) return undefined
    const taken = this.machine.take(this.now())
    if (taken !== undefined) this.allowance--
    return taken
  }

  done(key: string, decision: Done<M>): void {
    this.machine.done(key, decision, this.now())
    this.changed()
    if (this.idle.size > 0 && this.machine.isIdle) release(this.idle)
  }

  unpark(key: string): void {
    this.machine.unpark(key, this.now())
    this.changed()
  }

  /** What is due moves on; gives how long the timer fiber sleeps, undefined: until it is told. */
  tick(): number | undefined {
    this.machine.tick(this.now())
    this.schedule()
    const next = this.machine.nextDue()
    this.armed = next ?? Infinity
    return next === undefined ? undefined : Math.min(next - this.last, sleepMax)
  }

  shutdown(): void {
    this.machine.close()
    release(this.takers)
    if (this.machine.isIdle) release(this.idle)
  }

  /**
   * Wakes workers that wait, as long as there are keys. A worker takes its key itself when it runs, so one that is interrupted between the two leaves
   * the key to the others.
   */
  readonly pump = (): void => {
    this.scheduled = false
    for (const taker of this.takers) {
      if (!this.machine.isReady || this.allowance === 0) return
      this.takers.delete(taker)
      taker()
    }
  }

  /** In a task of its own, so that passes do not run on the stack of whoever woke them. */
  private schedule(): void {
    if (this.scheduled || this.takers.size === 0 || this.allowance === 0 || !this.machine.isReady) return
    this.scheduled = true
    this.dispatcher.scheduleTask(this.pump, 0)
  }

  private changed(): void {
    this.schedule()
    const next = this.machine.nextDue()
    if (next !== undefined && next < this.armed) {
      this.armed = next
      this.timer.openUnsafe()
    }
  }
}

const release = (waiting: Set<() => void>): void => {
  const all = [...waiting]
  waiting.clear()
  for (const resume of all) resume()
}

const waitIn = (waiting: Set<() => void>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const entry = (): void => resume(Effect.void)
    waiting.add(entry)
    return Effect.sync(() => waiting.delete(entry))
  })

const toQueue = <M>(driver: Driver<M>): WorkQueue<M> => {
  const { machine } = driver
  let isRingTold = false
  const ringTold = Effect.suspend(() => {
    if (isRingTold) return Effect.succeed(true)
    isRingTold = true
    return Effect.as(
      Effect.logWarning(
        `wakes go round: more than ${Machine.hopsMax} passes in a row woke each other and changed nothing; such wakes are delayed from now on`
      ).pipe(Effect.annotateLogs({ controller: driver.name })),
      true
    )
  })
  const take: Effect.Effect<Taken<M> | undefined> = Effect.suspend(() => {
    const taken = driver.takeNow()
    return taken !== undefined || machine.isClosed ? Effect.succeed(taken) : waitAndTake
  })
  const waitAndTake = Effect.andThen(Effect.interruptible(waitIn(driver.takers)), take)
  return {
    name: driver.name,
    add: (key, wake = {}) =>
      Effect.suspend(() => {
        const added = driver.add(key, wake)
        return added === "ring" ? ringTold : Effect.succeed(added === "accepted")
      }),
    addUnsafe: (key, wake = {}) => driver.add(key, wake),
    take,
    done: (key, decision) => Effect.sync(() => driver.done(key, decision)),
    unpark: (key) => Effect.sync(() => driver.unpark(key)),
    unparkUnsafe: (key) => driver.unpark(key),
    memory: (key) => Effect.sync(() => machine.memoryOf(key)),
    snapshot: Effect.sync(() => machine.snapshot(driver.now())),
    nextOf: (key) =>
      Effect.sync(() => {
        const due = machine.dueOf(key)
        return due === undefined ? undefined : Math.max(0, due - driver.now())
      }),
    shutdown: Effect.sync(() => driver.shutdown()),
    awaitIdle: Effect.suspend(() => (machine.isIdle ? Effect.void : waitIn(driver.idle)))
  }
}

/** Sleeps until the earliest key is due, or an earlier one comes. */
const timer = (driver: Driver<any>): Effect.Effect<never> =>
  Effect.forever(
    Effect.suspend(() => {
      driver.timer.closeUnsafe()
      const millis = driver.tick()
      return millis === undefined ? driver.timer.await : Effect.raceFirst(driver.timer.await, Effect.sleep(millis))
    })
  )

const make = (drivers: Set<Driver<any>>, allowance: number): WorkQueues["Service"] => ({
  open: <M>(name: string) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const dispatcher = yield* Effect.withFiber((fiber) => Effect.succeed(fiber.currentDispatcher))
      const driver = new Driver<M>(name, clock, dispatcher, allowance)
      drivers.add(driver)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          drivers.delete(driver)
          driver.shutdown()
        })
      )
      yield* Effect.forkScoped(timer(driver))
      return toQueue(driver)
    }),
  snapshots: Effect.sync(() =>
    [...drivers].map((driver) => ({ name: driver.name, snapshot: driver.machine.snapshot(driver.now()) }))
  )
})

/** Queues that run by themselves. */
export const layer: Layer.Layer<WorkQueues> = Layer.sync(WorkQueues, () => make(new Set(), Infinity))

const makeSteps = (drivers: Set<Driver<any>>): Steps["Service"] => {
  const give = (driver: Driver<any>): string | undefined => {
    driver.tick()
    const key = driver.machine.peek()
    if (key === undefined || driver.takers.size === 0) return undefined
    driver.allowance = 1
    driver.pump()
    driver.allowance = 0
    return key
  }
  return {
    ready: Effect.sync(() =>
      [...drivers].flatMap((driver) => {
        driver.tick()
        return driver.machine.ready().map((key) => ({ queue: driver.name, key }))
      })
    ),
    step: Effect.sync(() => {
      for (const driver of drivers) {
        const key = give(driver)
        if (key === undefined) continue
        drivers.delete(driver)
        drivers.add(driver)
        return { queue: driver.name, key }
      }
      return undefined
    }),
    run: (queue, key) =>
      Effect.sync(() => {
        for (const driver of drivers) {
          if (driver.name !== queue) continue
          driver.tick()
          if (driver.machine.prefer(key) && give(driver) === key) return true
        }
        return false
      })
  }
}

/** Queues that give out a key only on `Steps.step` or `Steps.run`; timers run as in `layer`. */
export const layerStep: Layer.Layer<WorkQueues | Steps> = Layer.effectContext(
  Effect.sync(() => {
    const drivers = new Set<Driver<any>>()
    return Context.make(WorkQueues, make(drivers, 0)).pipe(Context.add(Steps, makeSteps(drivers)))
  })
)
