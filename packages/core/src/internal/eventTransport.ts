/**
 * Brings series of events to the server, as the `EventGate` says: it keeps the time, sends, logs and counts, and decides nothing (D17, D18). Its log lines are
 * written by a fiber of its own, outside of any pass, so they are never posted themselves (P7, P21).
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { ApiError } from "../ApiError.ts"
import type { PostingPolicy } from "../PostingPolicy.ts"
import { type Delivery, EventGate, type Outcome } from "./eventGate.ts"
import type { Line } from "./eventLines.ts"
import { makeMeter } from "./eventMetrics.ts"
import { type Config as Requests, type Posted, persist } from "./eventRequests.ts"
import type { EventSeries, Saying } from "./eventSeries.ts"

export interface Config extends Requests {
  readonly series: EventSeries
  readonly ownNamespace: string
  readonly concurrency: number
  readonly graceMillis: number
}

export interface Transport {
  readonly say: (saying: Saying) => Effect.Effect<void>
  /** The policy's choice, unless the server has refused Events in `default`. */
  readonly clusterScoped: (choice: PostingPolicy["clusterScopedEvents"]) => PostingPolicy["clusterScopedEvents"]
  readonly stats: Effect.Effect<{ readonly waiting: number; readonly inFlight: number; readonly dropped: number }>
}

/** After a bug of ours the next turn comes no sooner than this. */
const restMillis = 1_000

const outcomeOf = (exit: Exit.Exit<Posted, ApiError>): Outcome => {
  if (Exit.isSuccess(exit)) return { _tag: "Posted", posted: exit.value }
  const found = Cause.findError(exit.cause)
  return Result.isSuccess(found)
    ? { _tag: "Failed", error: found.success }
    : { _tag: "Died", defect: Cause.squash(exit.cause) }
}

/** The gate, its clock and its counters, as the fibers share them. */
class Courier implements Transport {
  /** Tells the dispatcher that something may be sent or told. */
  readonly wake: Queue.Queue<void>
  /** Tells the end that nothing waits or flies. */
  readonly idle: Queue.Queue<void>
  private readonly config: Config
  private readonly gate: EventGate
  private readonly clock: Clock.Clock
  private readonly count: () => void
  /** When the dispatcher looks by itself for what is due: at once while it is awake. */
  private alarmAt = 0

  constructor(config: Config, clock: Clock.Clock, count: () => void, wake: Queue.Queue<void>, idle: Queue.Queue<void>) {
    this.config = config
    this.gate = new EventGate(config)
    this.clock = clock
    this.count = count
    this.wake = wake
    this.idle = idle
  }

  readonly say = (saying: Saying): Effect.Effect<void> =>
    Effect.sync(() => this.settle(() => this.gate.say(saying, this.now)))

  readonly clusterScoped: Transport["clusterScoped"] = (choice) =>
    this.gate.isDefaultRefused ? "operator-namespace" : choice

  readonly stats: Transport["stats"] = Effect.sync(() => {
    const { dropped, inFlight, waiting } = this.config.series
    return { waiting, inFlight, dropped }
  })

  /** One turn of the dispatcher: sends what may be sent, tells what is to be told, and waits for the next reason to do so. */
  readonly turn: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (let next = this.gate.next(this.now); next !== undefined; next = this.gate.next(this.now))
      yield* Effect.forkChild(this.deliver(next))
    this.count()
    if (this.gate.isIdle) Queue.offerUnsafe(this.idle, undefined)
    yield* this.tell
    const due = this.gate.dueAt(this.now)
    const wake = Queue.take(this.wake)
    this.alarmAt = due
    yield* due === Infinity ? wake : Effect.timeoutOption(wake, Math.max(1, Math.ceil(due - this.now)))
    this.alarmAt = 0
  }).pipe(
    Effect.catchDefect((defect) => {
      this.gate.die(defect, this.now)
      return Effect.andThen(this.tell, Effect.sleep(restMillis))
    })
  )

  /** Waits until all is posted, within the grace; what is left then is told as lost. */
  readonly finish: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    this.settle(() => this.gate.hurry())
    Queue.offerUnsafe(this.wake, undefined)
    const emptied = Effect.whileLoop({
      while: () => !this.gate.isIdle,
      body: () => Queue.take(this.idle),
      step: () => {}
    })
    // In a fiber of its own: the one that ends the scope is interrupted already at a SIGTERM, and would not wait at all.
    yield* Effect.flatMap(Effect.forkDetach(Effect.timeoutOption(emptied, this.config.graceMillis)), Fiber.await)
    this.settle(() => this.gate.end())
    yield* this.tell
  })

  private get now(): number {
    return Number(this.clock.monotonicTimeNanosUnsafe()) / 1_000_000
  }

  private readonly deliver = (delivery: Delivery): Effect.Effect<void> =>
    Effect.map(Effect.exit(Effect.suspend(() => persist(this.config, delivery.series))), (exit) =>
      this.settle(() => this.gate.answered(delivery, outcomeOf(exit), this.now))
    )

  private readonly tell: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach(this.gate.takeLines(), written, { discard: true })
  )

  /** Does a step of the gate and what follows from any step. Nothing that is thrown leaves it: it runs in the pass of whoever says something. */
  private settle(step: () => void): void {
    try {
      step()
      this.count()
    } catch (defect) {
      this.gate.die(defect, this.now)
    }
    if (this.gate.isSoonerThan(this.alarmAt, this.now)) Queue.offerUnsafe(this.wake, undefined)
    if (this.gate.isIdle) Queue.offerUnsafe(this.idle, undefined)
  }
}

/** Starts the dispatcher in the scope, whose end waits for it within the grace. */
export const makeTransport = Effect.fnUntraced(function* (
  config: Config
): Effect.fn.Return<Transport, never, Scope.Scope> {
  const count = yield* makeMeter(config.series)
  const clock = yield* Clock.Clock
  const courier = new Courier(config, clock, count, yield* Queue.sliding<void>(1), yield* Queue.sliding<void>(1))
  yield* Effect.forkScoped(Effect.forever(courier.turn))
  yield* Effect.addFinalizer(() => courier.finish)
  return courier
})

/** As kopf tells it: what failed as the text, what it was as fields (P21). A logger that throws loses its own line, and nothing else. */
const written = ({ defect, error, level, series, text }: Line): Effect.Effect<void> => {
  const log = level === "Warn" ? Effect.logWarning : Effect.logDebug
  return (defect === undefined ? log(text) : log(text, defect)).pipe(
    Effect.annotateLogs({
      ...(error !== undefined && "code" in error.reason && { code: error.reason.code }),
      ...(error !== undefined && { apiReason: error.reason._tag }),
      ...(series !== undefined && {
        type: series.words.type,
        reason: series.words.reason,
        object: `${series.about.kind} ${series.about.metadata.namespace ?? ""}/${series.about.metadata.name}`
      })
    }),
    Effect.catchDefect(() => Effect.void)
  )
}
