/**
 * A limit to the tries of a controller or a stage, as the Python framework kopf has it (E4, E5, D5). What follows when it is reached is a slow recheck, never silence
 * (C1), unless the policy says so.
 *
 * Caveat: counts and the time of the first try are kept in memory, so they begin anew when the operator starts.
 */
import * as Duration from "effect/Duration"

export interface RetryPolicy {
  /** Calls in all, the first one included: the call of this number is the last (E4). Default: no limit. */
  readonly retries?: number
  /** Since the first call. Default: no limit. */
  readonly timeout?: Duration.Input
  /** What follows. Default `recheck`: as after a Fatal, by the `RequeuePolicy`. */
  readonly exhausted?: "recheck" | "on change only"
}

export interface Facts {
  /** Calls that failed before the one that is decided about. */
  readonly attempts: number
  /** Milliseconds since the first call. */
  readonly runtimeMillis: number
  /** After a failure: how long the next call would wait. Absent: asked before a call. */
  readonly delayMillis?: number
}

/** Whether to go on, or which limit ends the tries; the timeout is named where both apply (E5). */
export type Decision = "go on" | "timeout" | "retries"

/**
 * Before a call: whether it is still made. After a failure, with `delayMillis`: whether another follows; the limits look ahead, so that no last wait
 * ends in nothing (E5).
 */
export const decide = (policy: RetryPolicy, { attempts, delayMillis, runtimeMillis }: Facts): Decision => {
  const { retries, timeout } = policy
  const ahead = delayMillis === undefined ? 0 : 1
  if (timeout !== undefined && runtimeMillis + (delayMillis ?? 0) >= Duration.toMillis(timeout)) return "timeout"
  return retries !== undefined && attempts + ahead >= retries ? "retries" : "go on"
}
