/**
 * Whether this process may act. Leadership is a scope: what runs in it ends when it is lost (D25). The election by Lease comes with its own Layer; by
 * default every process leads.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Leadership {
  /** Waits until this process leads. Once that ends, the scope in which this ran is closed by whoever made the `Leadership`, and all that runs in it ends. */
  readonly acquire: Effect.Effect<void, never, Scope.Scope>
}

/** A process that is alone. */
export const always: Leadership = { acquire: Effect.void }

/** Never leads: caches are kept, nothing is reconciled. For a warm standby, and for tests of it. */
export const never: Leadership = { acquire: Effect.never }

/** The leadership in force. Default: `always`. */
export const Leadership = Context.Reference<Leadership>("@fixpoint/core/Leadership", { defaultValue: () => always })
