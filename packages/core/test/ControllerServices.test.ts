import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Controller from "../src/Controller.ts"
import * as EventPoster from "../src/EventPoster.ts"
import * as PostingPolicy from "../src/PostingPolicy.ts"
import { Fatal } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import * as Reporting from "../src/Reporting.ts"
import * as RequeuePolicy from "../src/RequeuePolicy.ts"
import { docs, editor, events, quiet, Role, running, Scope } from "./world.ts"

const failing = <const K extends typeof Scope | typeof Role>(kind: K, passes: Array<string>) =>
  Controller.make({
    for: kind,
    reconciler: Reconciler.fromEffect(kind, () => {
      passes.push(kind.kind)
      return Effect.fail(new Fatal({ reason: "Away", message: "no answer" }))
    })
  })

describe("what Controller.provide gives", () => {
  it.effect.each([
    ["Reporting", Layer.succeed(Reporting.Reporting, Reporting.none)],
    ["PostingPolicy", Layer.succeed(PostingPolicy.PostingPolicy, { ...PostingPolicy.standard, enabled: false })],
    ["EventPoster", EventPoster.layerNone]
  ] as ReadonlyArray<readonly [string, Layer.Layer<never>]>)(
    "%s holds for that controller alone: the others tell as they did (D15, D16)",
    ([, layer]) => {
      const silent = failing(Scope, []).pipe(Controller.provide(layer))
      return running([silent, failing(Role, [])], ({ api, server }) =>
        Effect.gen(function* () {
          yield* api.create(Scope, docs)
          yield* api.create(Role, editor)
          yield* quiet
          const said = (yield* server.objects(events)).map(({ involvedObject, reason }) => [
            (involvedObject as { readonly kind: string }).kind,
            reason
          ])
          assert.deepStrictEqual(said, [["Role", "ReconcileFailed"]])
        })
      )
    }
  )

  it.effect("a RequeuePolicy too (D6)", () => {
    const passes: Array<string> = []
    const patient = failing(Scope, passes).pipe(
      Controller.provide(Layer.succeed(RequeuePolicy.RequeuePolicy, RequeuePolicy.make({ recheck: "1 hour" })))
    )
    return running([patient, failing(Role, passes)], ({ api }) =>
      Effect.gen(function* () {
        yield* api.create(Scope, docs)
        yield* api.create(Role, editor)
        yield* quiet
        yield* TestClock.adjust("6 minutes")
        yield* quiet
        assert.deepStrictEqual(passes.toSorted(), ["Role", "Role", "Scope"])
      })
    )
  })
})
