/**
 * What the operator tells of its objects, in five ways. Each is a Layer beside those of the cluster and the Registry; kinds, reconcilers and controllers know
 * nothing of it. `test/histories` holds what the API server keeps of one and the same life under each.
 */
import * as EventPoster from "@fixpoint/core/EventPoster"
import * as PostingPolicy from "@fixpoint/core/PostingPolicy"
import * as Reporting from "@fixpoint/core/Reporting"
import * as Layer from "effect/Layer"

export const policies = {
  /** The defaults: a Normal for what changed, a Warning for what failed; repeats are counted on one Event. */
  standard: Layer.empty,

  /** As kopf posts it with `posting.loggers` on: each saying is an Event of its own, and what is logged in a pass is said too. */
  kopf: Layer.merge(
    Layer.succeed(PostingPolicy.PostingPolicy, { ...PostingPolicy.kopf, loggers: true }),
    Layer.succeed(EventPoster.Options, EventPoster.kopf)
  ),

  /** Only news: when an object becomes ready or ceases to be. The level mutes `Event.info`; the ends of passes ignore it, as `event` does (P1). */
  news: Layer.merge(
    Layer.succeed(Reporting.Reporting, Reporting.transitionsOnly),
    Layer.succeed(PostingPolicy.PostingPolicy, { ...PostingPolicy.standard, level: "Warn" })
  ),

  /** As kopper does it: what the reconciler announces, what waits, and what is malformed; ordinary failures are silent. */
  kopper: Layer.succeed(Reporting.Reporting, Reporting.kopper),

  /** No Event, and no request for one: conditions and logs tell. */
  none: EventPoster.layerNone
} satisfies Readonly<Record<string, Layer.Layer<never>>>
