/** Logs what servers warn of in headers (F25): deprecated versions, unknown fields. */
import { unposted } from "@fixpoint/core/EventLogger"
import { formatRef } from "@fixpoint/core/KubeObject"
import type { Operation } from "@fixpoint/core/ApiError"
import * as Effect from "effect/Effect"

/** Different texts that are remembered as told; at so many they are forgotten and may be told again. */
const remembered = 256

const pattern = /299 \S+ "((?:[^"\\]|\\.)*)"/g

/** The texts of `Warning: 299 - "..."` headers. */
export const textsOf = (header: string | ReadonlyArray<string>): ReadonlyArray<string> =>
  [header].flat().flatMap((line) => [...line.matchAll(pattern)].map(([, text]) => text!.replace(/\\(.)/g, "$1")))

/** Logs each text once, at level Warning, with the object that first caused it. */
export const makeWarnings = (
  conceal: (text: string) => string
): ((operation: Operation, header: string | ReadonlyArray<string>) => Effect.Effect<void>) => {
  const told = new Set<string>()
  return ({ ref, resource, verb }, header) =>
    Effect.forEach(
      textsOf(header),
      (text) =>
        Effect.suspend(() => {
          if (told.has(text)) return Effect.void
          if (told.size >= remembered) told.clear()
          told.add(text)
          const object = ref === undefined ? "" : ` ${formatRef(ref)}`
          return unposted(Effect.logWarning(`the API server warns at ${verb} ${resource}${object}: ${conceal(text)}`))
        }),
      { discard: true }
    )
}
