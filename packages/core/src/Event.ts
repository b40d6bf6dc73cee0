/**
 * Says something about the object of this pass, for people who look at it with `kubectl describe`. What is said is posted when the pass has settled, after its
 * status (D8), and only as far as the `PostingPolicy` in force lets it pass.
 *
 * The end of a pass tells itself (see `Reporting`): these are for what else is worth knowing, and never for what happens in every pass.
 */
import * as Effect from "effect/Effect"
import type { Words } from "./EventPoster.ts"
import * as Pass from "./Pass.ts"
import type { EventCall } from "./PostingPolicy.ts"

const say = (call: (pass: Pass.Pass["Service"]) => EventCall): Effect.Effect<void, never, Pass.Pass> =>
  Effect.map(Pass.current, (pass) => {
    pass.record.events.push(call(pass))
  })

/** Of any type, whatever the policy's level (P1). */
export const event = (words: Words & { readonly type: string }): Effect.Effect<void, never, Pass.Pass> =>
  say(({ object }) => ({ _tag: "event", about: object, ...words }))

/**
 * A Normal, from level Info up (P2).
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Event } from "@fixpoint/core"
 *
 * export const rotated = Effect.fnUntraced(function* (key: string) {
 *   yield* Event.info({ reason: "KeyRotated", message: `the new key is ${key}` })
 * })
 * ```
 */
export const info = (words: Words): Effect.Effect<void, never, Pass.Pass> =>
  say(({ object }) => ({ _tag: "info", about: object, ...words }))

/** A Warning, from level Warn up, also where posting is not enabled (P3). */
export const warn = (words: Words): Effect.Effect<void, never, Pass.Pass> =>
  say(({ object }) => ({ _tag: "warn", about: object, ...words }))

/** Of type Error; reason and text default to those of the error (P4). */
export const exception = (error: unknown, words: Partial<Words> = {}): Effect.Effect<void, never, Pass.Pass> =>
  say(({ object }) => ({ _tag: "exception", about: object, error, ...words }))
