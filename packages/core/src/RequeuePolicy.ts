/**
 * When a key comes back after its pass (D2, D27). A plain value in a `Context.Reference`, for all controllers or one.
 *
 * The law of backoff: for any script of failures, with a different message in every pass, the passes of a key within a time are at most those that
 * `backoffMillis` allows plus those that something real woke.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import { slow } from "./ReconcileError.ts"

export interface RequeuePolicy {
  /** The longest first wait after a failure. Default 1 s. */
  readonly first: Duration.Duration
  /** Doubling ends here. Default 5 min. */
  readonly max: Duration.Duration
  /** When a Fatal, or a failure whose retries are used up, is looked at again. Default 5 min: no failure is terminal (C1). */
  readonly recheck: Duration.Duration | "on change only"
  /** When a NotReady that asks for no time of its own is looked at again. Default off; 5 min advised where wakes may be missed. */
  readonly safetyNet: Duration.Duration | "off"
}

export interface Options {
  readonly first?: Duration.Input
  readonly max?: Duration.Input
  readonly recheck?: Duration.Input | "on change only"
  readonly safetyNet?: Duration.Input | "off"
}

const positive = (name: string, input: Duration.Input): Duration.Duration => {
  const duration = Duration.fromInputUnsafe(input)
  const millis = Duration.toMillis(duration)
  if (!(millis > 0 && millis < Infinity))
    throw new Error(`RequeuePolicy.make: ${name} is ${String(input)}: give a finite time above zero`)
  return duration
}

/** The standard policy with some values of your own. Throws on a time that is not finite and above zero, and if `first` is above `max`. */
export const make = (options: Options = {}): RequeuePolicy => {
  const { first = "1 second", max = "5 minutes", recheck = slow, safetyNet = "off" } = options
  const policy: RequeuePolicy = {
    first: positive("first", first),
    max: positive("max", max),
    recheck: recheck === "on change only" ? recheck : positive("recheck", recheck),
    safetyNet: safetyNet === "off" ? safetyNet : positive("safetyNet", safetyNet)
  }
  if (Duration.isGreaterThan(policy.first, policy.max))
    throw new Error("RequeuePolicy.make: first is above max: give a max of at least first")
  return policy
}

/** 1 s doubling to 5 min with full jitter; a Fatal is rechecked after 5 min; no safety net. */
export const standard: RequeuePolicy = make()

/** The policy in force. Default: `standard`. */
export const RequeuePolicy = Context.Reference<RequeuePolicy>("@fixpoint/core/RequeuePolicy", {
  defaultValue: () => standard
})

/** Beyond this many doublings every step is at the cap. */
const doublingsMax = 40

/** The longest wait after so many failures in a row, in milliseconds. */
export const stepMillis = (policy: RequeuePolicy, attempt: number): number =>
  Math.min(
    Duration.toMillis(policy.max),
    Duration.toMillis(policy.first) * 2 ** Math.min(Math.max(0, attempt), doublingsMax)
  )

/**
 * The wait after so many failures in a row, in milliseconds: any part of the step, as `jitter` in [0, 1] says (B20), but at least a hundredth, so that
 * no random source, however unlucky, makes a hot loop.
 */
export const backoffMillis = (policy: RequeuePolicy, attempt: number, jitter: number): number =>
  stepMillis(policy, attempt) * clamped(jitter)

/** The same after a conflict: something moved meanwhile, so the first tries come ten times sooner (D4). */
export const conflictMillis = (policy: RequeuePolicy, attempt: number, jitter: number): number =>
  Math.min(Duration.toMillis(policy.max), (stepMillis(policy, attempt) / 10) * clamped(jitter))

const clamped = (jitter: number): number => (jitter >= 0 && jitter <= 1 ? Math.max(jitter, 0.01) : 1)
