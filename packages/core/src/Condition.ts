/** A condition: one aspect of an object's state, told by whoever reconciles it (metav1.Condition). */
import * as Schema from "effect/Schema"

/**
 * The server wants a type of letters, digits, `-`, `_` and `.` that starts with a letter, with an optional DNS prefix. Only lengths are checked here: what others
 * have written must decode.
 */
export const Condition = Schema.Struct({
  type: Schema.String.check(Schema.isMaxLength(316)),
  status: Schema.Literals(["True", "False", "Unknown"]),
  /** A word for programs: starts with a letter; letters, digits, `_`, `,`, `:`; at most 1,024 characters (X12). */
  reason: Schema.String.check(Schema.isMaxLength(1024)),
  /** For people; at most 32,768 characters. */
  message: Schema.String.check(Schema.isMaxLength(32_768)),
  /** When `status` last flipped; a new reason or message does not move it (K14, B47). */
  lastTransitionTime: Schema.String,
  observedGeneration: Schema.optionalKey(Schema.Int)
})
export interface Condition extends Schema.Schema.Type<typeof Condition> {}

/** What a reconciler says; time and generation are added when the status is written. */
export type Input = Pick<Condition, "type" | "status" | "reason" | "message">

export const find = (conditions: ReadonlyArray<Condition> | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type)

const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/

/** Whether the API server takes it as a condition's reason (X12). */
export const isReason = (reason: string): boolean => reason.length <= 1024 && reasonPattern.test(reason)

/**
 * The conditions after saying `said`: one entry a type in a stable order, foreign ones kept, `lastTransitionTime` moved only where the status
 * flips (D7, B47, B51).
 */
export const merge = (
  previous: ReadonlyArray<Condition>,
  said: ReadonlyArray<Input>,
  facts: { readonly now: string; readonly generation: number | undefined }
): ReadonlyArray<Condition> => {
  const next = new Map(previous.map((condition) => [condition.type, condition]))
  // Said twice in one pass, the last word counts.
  for (const { message, reason, status, type } of new Map(
    said.map((condition) => [condition.type, condition])
  ).values()) {
    const before = next.get(type)
    next.set(type, {
      type,
      status,
      reason,
      message,
      lastTransitionTime: before !== undefined && before.status === status ? before.lastTransitionTime : facts.now,
      ...(facts.generation !== undefined && { observedGeneration: facts.generation })
    })
  }
  return [...next.values()]
}
