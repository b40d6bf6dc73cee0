import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
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

  it.effect("a Reporting that throws says nothing but a line in the log, once, and breaks no pass", () => {
    const told: Array<string> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel === "Warn") told.push(String(message))
    })
    const broken: Reporting.Reporting = () => {
      throw new Error("a typo")
    }
    const controller = failing(Scope, []).pipe(Controller.provide(Layer.succeed(Reporting.Reporting, broken)))
    return running([controller], ({ api, server }) =>
      Effect.gen(function* () {
        const scope = yield* api.create(Scope, docs)
        yield* quiet
        yield* controller.enqueue({ namespace: scope.metadata.namespace, name: scope.metadata.name })
        yield* quiet
        assert.deepStrictEqual(yield* server.objects(events), [])
        assert.deepStrictEqual(told, [
          "scopes.access.example.com: the Reporting threw, so nothing is said of a pass: a typo"
        ])
      })
    ).pipe(Effect.provide(Logger.layer([logger])))
  })
})
