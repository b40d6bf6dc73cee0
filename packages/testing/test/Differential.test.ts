import { assert, describe, it } from "@effect/vitest"
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as ApiClientContract from "@fixpoint/testing/ApiClientContract"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Differential from "@fixpoint/testing/Differential"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as crypto from "node:crypto"

const real = Layer.unwrap(
  Effect.map(ControlPlane.ControlPlane, ({ ca, token, url }) =>
    Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
  )
).pipe(Layer.provide(SharedControlPlane.layer))

const prepared = <A, E>(play: Effect.Effect<A, E, ApiClient>) => Effect.andThen(ApiClientContract.prepare, play)

const runs = Number(process.env.FIXPOINT_DIFFERENTIAL_RUNS ?? 200)

describe.skipIf(!ControlPlane.available())("random requests", () => {
  it.layer(real, { excludeTestServices: true })((it) => {
    it.effect.prop(
      "a real API server and the one in memory answer the same, and watches show the same",
      [Differential.requests],
      ([requests]) =>
        Effect.gen(function* () {
          const name = `differential-${crypto.randomUUID().slice(0, 8)}`
          const client = yield* ApiClient
          const told = yield* prepared(Differential.play(name, requests)).pipe(Effect.provideService(ApiClient, client))
          const modelled = yield* prepared(Differential.play(name, requests)).pipe(
            Effect.provide(ApiServer.layer({ seed: 1 }), { local: true })
          )
          const found = Differential.difference(requests, told, modelled)
          if (found !== undefined) {
            assert.deepEqual(found.other, found.one, `the answer to ${JSON.stringify(found.request)}`)
          }
        }).pipe(Effect.provideService(References.MinimumLogLevel, "Error")),
      { arbitrary: { runs, concurrency: 3 }, timeout: 240_000 }
    )
  })
})
