/** Failures that are set right already: the pass runs again soon, and nobody is told the first times (K27, D4). */
import type { Temporary } from "../ReconcileError.ts"

/** Enumerable, so that it survives the copy that `during` makes. */
const Untold = Symbol.for("@fixpoint/core/untold")

export const untold = (error: Temporary): Temporary => Object.assign(error, { [Untold]: true })

export const isUntold = (error: object): boolean => Reflect.get(error, Untold) === true
