/** What came of checking a value against a schema, and how places in it are named. */
import type { StatusCause } from "@fixpoint/core/ApiError"
import { fieldInvalid } from "./refusal.ts"

/** Where a value stands, and what stood there before. */
export interface Place {
  /** As the validator writes it: `spec.rows[0].k`; empty at the root. */
  readonly path: string
  /** Before the path, in fields. */
  readonly prefix: string
  readonly old: { readonly value: unknown } | undefined
  /** Within an alternative, where the checks that pass are counted too. */
  readonly counted?: boolean
}

export const correlate = (old: unknown): Place["old"] => (old === undefined ? undefined : { value: old })

/** `matches` counts the checks that passed: of several alternatives, the failures of the nearest are told. */
export interface Outcome {
  readonly causes: ReadonlyArray<StatusCause>
  readonly matches: number
}

export const passed: Outcome = { causes: [], matches: 0 }
export const failed = (...causes: ReadonlyArray<StatusCause>): Outcome => ({ causes, matches: 0 })

/** The server tells no text twice. */
export const join = (outcomes: ReadonlyArray<Outcome>, extra = 0): Outcome => {
  const causes: Array<StatusCause> = []
  let matches = extra
  for (const outcome of outcomes) {
    matches += outcome.matches
    for (const cause of outcome.causes) {
      if (!causes.some(({ field, message }) => field === cause.field && message === cause.message)) causes.push(cause)
    }
  }
  return { causes, matches }
}

export const fieldOf = (place: Place, path = place.path): string => {
  const own = path.startsWith(".") ? path.slice(1) : path
  return own === "" ? place.prefix || "<nil>" : place.prefix === "" ? own : `${place.prefix}.${own}`
}

export const invalid = (place: Place, value: unknown, message: string): StatusCause =>
  fieldInvalid(fieldOf(place), value, `${place.path} in body ${message}`)

/** Failures that have no place of their own stand at the root. */
export const general = (place: Place, message: string): StatusCause =>
  fieldInvalid(place.prefix || "<nil>", "", message)

export const wrongType = (place: Place, wanted: string, got: string): Outcome =>
  failed({
    ...fieldInvalid(fieldOf(place), got, `${place.path} in body must be of type ${wanted}: ${JSON.stringify(got)}`),
    reason: "FieldValueTypeInvalid"
  })
