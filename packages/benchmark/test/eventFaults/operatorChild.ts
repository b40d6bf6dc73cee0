/** An operator whose passes all fail, as a program that does what its parent orders: see `orders.ts`. */
import * as fs from "node:fs"
import * as Controller from "@fixpoint/core/Controller"
import * as EventPoster from "@fixpoint/core/EventPoster"
import * as Manager from "@fixpoint/core/Manager"
import * as ReconcileError from "@fixpoint/core/ReconcileError"
import * as Reconciler from "@fixpoint/core/Reconciler"
import * as Wake from "@fixpoint/core/Wake"
import * as WorkQueues from "@fixpoint/core/WorkQueues"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { cpuMicros } from "../../src/Measure.ts"
import { Widget } from "../../src/widget/kinds.ts"
import type { Answer, ByPass, Line, Looked, Order, Ran, Site } from "./orders.ts"

const site = JSON.parse(process.env.OPERATOR ?? "{}") as Site
const { namespace, objects } = site
const tell = (answer: Answer): void => void process.send?.(answer)

// Lines, of which those of the poster are kept

const linesMax = 100
let lines: Array<Line> = []
let lineCount = 0

const keep = ({ logLevel, message }: Logger.Options<unknown>): void => {
  lineCount++
  if (lines.length < linesMax) lines.push({ level: logLevel, text: [message].flat().map(String).join(" ") })
}

/** For all but the poster's own fibers: an operator logs each failed pass, which costs both sides the same. */
const operatorLogger = Logger.make<unknown, void>((options) => {
  const { controller } = options.fiber.getRef(References.CurrentLogAnnotations)
  if (controller === undefined && /\bevents?\b/i.test(String(options.message))) keep(options)
})

// Passes, timed from taken to settled

const schedule = fs.openSync("/proc/self/schedstat", "r")
const text = Buffer.alloc(128)

/** How long the main thread has waited for a processor that other programs had. */
const starvedMillis = (): number => {
  const bytes = fs.readSync(schedule, text, 0, text.length, 0)
  return Number(text.toString("latin1", 0, bytes).split(" ", 2)[1]) / 1e6
}

/** Time as this process has it: it stands still while it could run and has no processor. */
const ownMillis = (): number => performance.now() - starvedMillis()

const begun = new Map<string, number>()
let settled = 0
const millis: ByPass<Array<number>> = { steady: [], changing: [] }

const timed = Layer.effect(
  WorkQueues.WorkQueues,
  Effect.map(Layer.build(Layer.fresh(WorkQueues.layer)), (built) => {
    const queues = Context.get(built, WorkQueues.WorkQueues)
    const began = <M>(taken: WorkQueues.Taken<M> | undefined): WorkQueues.Taken<M> | undefined => {
      if (taken !== undefined) begun.set(taken.key, ownMillis())
      return taken
    }
    return {
      ...queues,
      open: <M>(name: string) =>
        Effect.map(queues.open<M>(name), (queue) => ({ ...queue, take: Effect.map(queue.take, began<M>) }))
    }
  })
)

const onSettled = ({ ref }: Manager.Settled): void => {
  const now = ownMillis()
  settled++
  millis[ref.name.startsWith("changing") ? "changing" : "steady"].push(
    now - (begun.get(`${ref.namespace}/${ref.name}`) ?? Number.NaN)
  )
}

// The operator

const attempts = new Map<string, number>()

/** Brought back by wakes alone, so that the pace is the parent's. */
const failing = Reconciler.fromEffect(Widget, ({ metadata: { name } }) => {
  const isChanging = name.startsWith("changing")
  const attempt = attempts.get(name) ?? 0
  attempts.set(name, attempt + 1)
  return Effect.fail(
    new ReconcileError.Temporary({
      reason: isChanging && attempt % 2 === 0 ? "RegistryBusy" : "RegistryRefused",
      message: isChanging
        ? `the registry refused the account of ${name}: 503 service unavailable, request ${name}-${attempt}`
        : `the registry refused the account of ${name}: 403 quota exceeded`,
      operation: "creating the account",
      delay: "6 hours"
    })
  )
})

const controller = Controller.make({ for: Widget, reconciler: failing, namespaces: [namespace], workers: 10 })

const poster =
  site.poster === "none"
    ? EventPoster.layerNone
    : EventPoster.layer.pipe(Layer.provide(Logger.layer([Logger.make<unknown, void>(keep)])))

const operator = Manager.layer([controller], { grace: "2 seconds" }).pipe(
  Layer.provideMerge(poster),
  Layer.provide(
    Kubernetes.layerWith({ server: site.url, ca: site.ca, token: Redacted.make(site.token), userAgent: namespace })
  ),
  Layer.provide(timed),
  Layer.provide(Layer.succeed(Manager.OnSettled, onSettled)),
  Layer.provide(Logger.layer([operatorLogger]))
)

// What the parent orders

const next: { steady: number; changing: number } = { steady: 0, changing: 0 }

const wakeNext = (kind: keyof ByPass<unknown>) =>
  Effect.suspend(() => Wake.enqueue(Widget, { namespace, name: `${kind}-${next[kind]++ % objects[kind]}` }))

/** Nothing is ready, runs, or waits to see its own write. */
const atRest = Effect.gen(function* () {
  for (let i = 0; i < 3_000; i++) {
    const { queue } = (yield* (yield* Manager.Manager).queues)[0]!
    if (queue.ready + queue.processing.length === 0) return
    yield* Effect.sleep("10 millis")
  }
})

const run = Effect.fnUntraced(function* (order: Extract<Order, { readonly _tag: "run" }>) {
  millis.steady.length = 0
  millis.changing.length = 0
  const [cpu, starved, began] = [cpuMicros(), starvedMillis(), performance.now()]
  const woken = { steady: 0, changing: 0 }
  for (let elapsed = 0; elapsed < order.millis; elapsed = performance.now() - began) {
    for (const kind of ["steady", "changing"] as const)
      for (; woken[kind] < (elapsed * order.perSecond[kind]) / 1_000; woken[kind]++) yield* wakeNext(kind)
    yield* Effect.sleep("1 millis")
  }
  yield* atRest
  const ran: Ran = {
    _tag: "ran",
    passes: { steady: Float64Array.from(millis.steady), changing: Float64Array.from(millis.changing) },
    cpuMicros: cpuMicros() - cpu,
    starvedMillis: starvedMillis() - starved,
    millis: performance.now() - began
  }
  return ran
})

const wakeAll = Effect.gen(function* () {
  for (const kind of ["steady", "changing"] as const) for (let i = 0; i < objects[kind]; i++) yield* wakeNext(kind)
  yield* atRest
})

let mostWaiting = 0
let peakRss = 0

const sampled = Effect.flatMap(EventPoster.EventPoster, ({ stats }) =>
  Effect.map(stats, (now) => {
    mostWaiting = Math.max(mostWaiting, now.waiting)
    peakRss = Math.max(peakRss, process.memoryUsage.rss())
    return now
  })
)

const look = Effect.fnUntraced(function* (collect: boolean) {
  // As the machine does when memory is short: or what V8 keeps for later, tens of MiB by chance, is taken for what is held.
  if (collect) globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" })
  const { dropped, inFlight, waiting } = yield* sampled
  const { heapUsed, rss } = process.memoryUsage()
  const mib = (bytes: number): number => bytes / 2 ** 20
  const looked: Looked = {
    _tag: "looked",
    waiting,
    inFlight,
    dropped,
    mostWaiting,
    peakRssMiB: mib(peakRss),
    rssMiB: mib(rss),
    heapMiB: mib(heapUsed),
    lines,
    lineCount
  }
  mostWaiting = 0
  peakRss = 0
  lines = []
  lineCount = 0
  return looked
})

const flood = Effect.fnUntraced(function* (count: number) {
  const { event, stats } = yield* EventPoster.EventPoster
  for (let i = 0; i < count; i++)
    yield* event(
      { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: `flood-${i}`, uid: `flood-${i}` } },
      { type: "Warning", reason: "Flooded", message: `the last words about object ${i}` }
    )
  const { inFlight, waiting } = yield* stats
  return waiting + inFlight
})

/** Until it is ordered to end; answers how many events are unposted then. */
const obey = (orders: Queue.Queue<Order>) =>
  Effect.gen(function* () {
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(sampled, Effect.sleep("50 millis"))))
    while (settled < objects.steady + objects.changing) yield* Effect.sleep("20 millis")
    tell({ _tag: "ready" })
    for (;;) {
      const order = yield* Queue.take(orders)
      switch (order._tag) {
        case "run":
          tell(yield* run(order))
          break
        case "all":
          yield* wakeAll
          tell({ _tag: "ready" })
          break
        case "look":
          tell(yield* look(order.collect))
          break
        case "flood":
          return yield* flood(order.count)
        case "end": {
          const { inFlight, waiting } = yield* (yield* EventPoster.EventPoster).stats
          return waiting + inFlight
        }
      }
    }
  })

const program = Effect.gen(function* () {
  const orders = yield* Queue.unbounded<Order>()
  process.on("message", (order) => void Queue.offerUnsafe(orders, order as Order))
  // An orphan has nobody to work for.
  process.on("disconnect", () => process.exit(1))
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(operator, scope)
  const waitingAtEnd = yield* Effect.scoped(obey(orders)).pipe(Effect.provideContext(context))
  const began = performance.now()
  lines = []
  yield* Scope.close(scope, Exit.void)
  process.removeAllListeners("disconnect")
  process.send?.({ _tag: "ended", millis: performance.now() - began, waitingAtEnd, lines } satisfies Answer, () =>
    process.exit(0)
  )
})

Effect.runFork(Effect.tapCause(program, (cause) => Effect.logError("the operator broke", cause)))
