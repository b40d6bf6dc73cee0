/** What becomes of events, in numbers (B84, B87). The units of all but the gauge are sayings: repeats on one Event count one by one. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type { Drop, EventSeries } from "./eventSeries.ts"

const posted = Metric.counter("fixpoint_events_posted", {
  description: "Events that the server took, repeats that it counted included",
  incremental: true
})

const dropped = Metric.counter("fixpoint_events_dropped", {
  description: "Events that were given up, by cause: overflow, refused, gone, invalid, failed, shutdown, defect",
  incremental: true
})

const waiting = Metric.gauge("fixpoint_events_waiting", { description: "Events that wait to be posted" })

const causes: ReadonlyArray<Drop> = ["overflow", "refused", "gone", "invalid", "failed", "shutdown", "defect"]

const droppedBy = new Map(causes.map((cause) => [cause, Metric.withAttributes(dropped, { cause })]))

/** Carries the totals into the metrics whenever it is called; the gauge is read from the series itself until the scope ends. */
export const makeMeter = Effect.fnUntraced(function* (
  series: EventSeries
): Effect.fn.Return<() => void, never, Scope.Scope> {
  // Those of the Layer: whoever says something adds no attributes of its own.
  const context = yield* Effect.context<never>()
  const told = { posted: 0, dropped: new Map<Drop, number>() }
  const gauge = Metric.registerUnsafe(waiting, context, {
    get: () => ({ value: series.waiting }),
    update: () => {},
    modify: () => {}
  })
  yield* Effect.addFinalizer(() => Effect.sync(gauge.remove))
  return () => {
    const { totals } = series
    if (totals.posted > told.posted) posted.updateUnsafe(totals.posted - told.posted, context)
    told.posted = totals.posted
    for (const [cause, metric] of droppedBy) {
      const fresh = totals.dropped[cause] - (told.dropped.get(cause) ?? 0)
      if (fresh > 0) metric.updateUnsafe(fresh, context)
      told.dropped.set(cause, totals.dropped[cause])
    }
  }
})
