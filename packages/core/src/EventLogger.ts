/**
 * The log path of events: what is logged inside a pass becomes an Event about its object, with the reason `Logging`, where the `PostingPolicy` has `loggers`
 * on and its level is met (P6, P8, D16). The Manager gives this logger to every step; the line of a failed pass it mirrors by itself.
 *
 * Guarantees: a log call never fails or waits because of it (P8); what is mirrored is posted with the other events of the pass, after its status (D8), and
 * bears the time of the log call; at most 100 records a pass.
 * Caveats: what is mirrored is judged again when it is posted, by the controller's policy; a policy provided around a part of a step can only silence that
 * part. A record below the fiber's minimum level does not exist. A pass that is interrupted, or that finds its object gone, posts none. Annotations are not told, since they may hold anything.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { Pass } from "./Pass.ts"
import { decide, type LogCall, PostingPolicy } from "./PostingPolicy.ts"

/** Records of one pass that are mirrored. */
const recordsMax = 100

const Unposted = Context.Reference<boolean>("@fixpoint/core/EventLogger/Unposted", { defaultValue: () => false })

/**
 * What the effect logs is book-keeping and never becomes an Event, whatever the policy (P7).
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { EventLogger } from "@fixpoint/core"
 *
 * export const looked = EventLogger.unposted(Effect.logInfo("the cache was asked"))
 * ```
 */
export const unposted = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Unposted, true)

const textOf = (message: unknown): string => (typeof message === "string" ? message : Formatter.format(message))

/** The formatted message, and the trace of what was logged with it (P8). */
const recordText = (message: unknown, cause: Cause.Cause<unknown>): string =>
  [
    (Array.isArray(message) ? message : [message]).map(textOf).join(" "),
    ...(cause.reasons.length > 0 ? [Cause.pretty(cause)] : [])
  ]
    .filter((part) => part !== "")
    .join("\n")

const mirror = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): void => {
  const policy = fiber.getRef(PostingPolicy)
  if (!policy.loggers) return
  const pass = Option.getOrUndefined(Context.getOption(fiber.context as Context.Context<Pass>, Pass))
  if (pass === undefined || pass.record.closed || pass.record.mirrored > recordsMax) return
  const call = (text: string): LogCall => ({
    _tag: "log",
    about: pass.object,
    at: date.getTime(),
    level: logLevel,
    message: text,
    inPass: true,
    housekeeping: fiber.getRef(Unposted),
    passesLogger: true,
    besideWarning: false
  })
  if (decide(policy, call("")).length === 0) return
  pass.record.mirrored++
  const isLast = pass.record.mirrored > recordsMax
  pass.record.events.push(call(isLast ? "what this pass logs further is not posted" : recordText(message, cause)))
}

/** Mirrors what is logged inside a pass; outside of one it does nothing. */
export const logger: Logger.Logger<unknown, void> = Logger.make((options) => {
  try {
    mirror(options)
  } catch {
    // A message that cannot be made text is told by the other loggers as far as they can; a log call must not end the pass.
  }
})

/** Adds `logger` to the loggers that are there: for passes that no Manager runs, such as those of a test of one reconciler. */
export const layer: Layer.Layer<never> = Logger.layer([logger], { mergeWithExisting: true })
