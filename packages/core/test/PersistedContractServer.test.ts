import { describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { ApiClient } from "../src/ApiClient.ts"
import { cases } from "./persistedContract.ts"
import { type Ground, setScene } from "./persistedStage.ts"
import { Grant, LooseGrant } from "./records.ts"
import { ownNamespace, real, served } from "./realServer.ts"

const prepared = Layer.mergeAll(Layer.effectDiscard(served(LooseGrant)), Logger.layer([])).pipe(
  Layer.provideMerge(real)
)

/** A namespace of one's own, from which nothing keeps an object at the end. */
const ground = Effect.gen(function* () {
  const api = yield* ApiClient
  const namespace = yield* ownNamespace("persisted-")
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      for (const { metadata } of (yield* api.list(Grant, { namespace })).items)
        yield* api.patch(
          Grant,
          { namespace, name: metadata.name },
          { type: "merge", body: { metadata: { finalizers: [] } } },
          { fieldManager: "user" }
        )
    }).pipe(Effect.ignore)
  )
  const calm = Effect.fnUntraced(function* (sign: Effect.Effect<string>) {
    let before = ""
    let same = 0
    for (let looks = 0; looks < 600 && same < 4; looks++) {
      yield* Effect.sleep("50 millis")
      const now = yield* sign
      same = now === before && now.startsWith("0 0 0 0 0 ") ? same + 1 : 0
      before = now
    }
  })
  return {
    api,
    namespace,
    moment: Effect.sleep("50 millis"),
    second: Effect.sleep("1100 millis"),
    looks: 800,
    calm
  } satisfies Ground
})

describe.skipIf(!ControlPlane.available())("a persisted resource, on a real API server", () => {
  layer(prepared, { excludeTestServices: true, timeout: 120_000 })((it) => {
    for (const { name, play, ...settings } of cases)
      it.effect(
        name,
        () => Effect.scoped(Effect.flatMap(ground, (stage) => Effect.flatMap(setScene(stage, settings), play))),
        120_000
      )
  })
})
