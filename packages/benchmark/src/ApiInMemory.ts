/** What a write costs the API in memory: tests and simulations are as fast as it is. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Effect from "effect/Effect"
import { cpuOf, type Figure } from "./Measure.ts"
import { namespace, server } from "./Memory.ts"
import { Widget } from "./widget/kinds.ts"

export const figures = Effect.fnUntraced(
  function* (writes: number, rounds: number) {
    const api = yield* ApiClient
    let made = 0
    const each = Array.from({ length: writes }, (_, i) => i)
    const create = Effect.forEach(
      each,
      () => api.create(Widget, { metadata: { namespace, name: `w-${made++}` }, spec: { size: 1, message: "hello" } }),
      { discard: true }
    )
    let size = 2
    const patch = Effect.forEach(
      each,
      (i) => api.patch(Widget, { namespace, name: `w-${i}` }, { type: "merge", body: { spec: { size: size++ } } }),
      { discard: true }
    )
    const all: ReadonlyArray<Figure> = [
      { what: "CPU of a create in the API in memory", value: yield* cpuOf(create, writes, rounds), unit: "us" },
      { what: "CPU of a merge patch in the API in memory", value: yield* cpuOf(patch, writes, rounds), unit: "us" }
    ]
    return all
  },
  Effect.provide(server()),
  Effect.orDie
)
