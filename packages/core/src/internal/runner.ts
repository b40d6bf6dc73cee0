/** What all passes of one controller share, and how one comes out. */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ApiClient } from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import type * as Kind from "../Kind.ts"
import type { ObjectRef } from "../KubeObject.ts"
import type { EventCall } from "../PostingPolicy.ts"
import { during, fromApiError, type ReconcileError } from "../ReconcileError.ts"
import type { Outcome, Reporting } from "../Reporting.ts"
import type { RequeuePolicy } from "../RequeuePolicy.ts"
import type { Engine } from "./engine.ts"

/** How one pass came out: for metrics, tests and live tables. */
export interface Settled {
  readonly controller: string
  readonly kind: Kind.Any
  readonly ref: ObjectRef
  readonly outcome: Outcome
  /** Ready's reason and message after the pass. */
  readonly reason: string
  readonly message: string
  /** In how many milliseconds the key comes by itself. */
  readonly requeueAfterMillis: number | undefined
  readonly triggers: ReadonlyArray<string>
  /** From begin to end. */
  readonly millis: number
}

/** What all passes of one controller share. */
export interface Runner {
  readonly engine: Engine
  readonly api: ApiClient["Service"]
  readonly fieldManager: string
  readonly requeue: RequeuePolicy
  readonly reporting: Reporting
  /** Everything that a step may ask for, but its `Pass`. */
  readonly services: Context.Context<any>
  readonly conditionsAreMap: boolean
  readonly post: (calls: ReadonlyArray<EventCall>) => Effect.Effect<void>
  readonly onSettled: (settled: Settled) => void
}

/** An API error of the engine's own requests, named by what was being done. */
export const asFailure =
  (operation: string) =>
  (error: ApiError): ReconcileError =>
    during(operation)(fromApiError(error))
