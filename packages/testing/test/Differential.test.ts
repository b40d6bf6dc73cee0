import { assert, describe, it } from "@effect/vitest"
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as ApiClientContract from "@fixpoint/testing/ApiClientContract"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Differential from "@fixpoint/testing/Differential"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as crypto from "node:crypto"

/** The same worlds in each run of the suite; `SEED=...` in the environment draws others. */
const seed = process.env["SEED"] ?? 1

type Requests = ReadonlyArray<Differential.Request>
type Client = ApiClient["Service"]

/** The answers of a new server in memory, which a broken client may stand before. */
const inMemory = (
  name: string,
  requests: Requests,
  seed: number,
  broken: (client: Client) => Client = (client) => client
) =>
  Effect.gen(function* () {
    const client = yield* ApiClient
    yield* ApiClientContract.prepare
    return yield* Differential.play(name, requests).pipe(Effect.provideService(ApiClient, broken(client)))
  }).pipe(Effect.provide(ApiServer.layer({ seed }), { local: true }))

const samples = Effect.orDie(Arbitrary.sampleEffect(Differential.requests, { count: 30, seed: 1 }))

describe("the comparison itself", () => {
  it.live("two servers that differ in uids and versions alone compare as equal", () =>
    Effect.gen(function* () {
      for (const requests of yield* samples) {
        const [one, other] = [yield* inMemory("x", requests, 1), yield* inMemory("x", requests, 2)]
        assert.isUndefined(Differential.difference(requests, one, other))
      }
    })
  )

  it.live("a server that loses updates, or lists what was not asked for, is found", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<(client: Client) => Client> = [
        // Answers a patch, and does not do it.
        (client) => ({
          ...client,
          patch: (resource, ref, patch, options) => client.patch(resource, ref, patch, { ...options, dryRun: true })
        }),
        // Lists also what the selector does not choose.
        (client) => ({
          ...client,
          list: (resource, { labelSelector: _, ...options } = {}) => client.list(resource, options)
        })
      ]
      for (const fault of faults) {
        let found = 0
        for (const requests of yield* samples) {
          const [one, other] = [yield* inMemory("x", requests, 1), yield* inMemory("x", requests, 1, fault)]
          if (Differential.difference(requests, one, other) !== undefined) found++
        }
        assert.isAtLeast(found, 5)
      }
    })
  )
})

const real = Layer.unwrap(
  Effect.map(ControlPlane.ControlPlane, ({ ca, token, url }) =>
    Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
  )
).pipe(Layer.provide(SharedControlPlane.layer))

describe.skipIf(!ControlPlane.available())("random requests", () => {
  it.layer(real, { excludeTestServices: true })((it) => {
    it.effect.prop(
      "a real API server and the one in memory answer the same, and watches show the same",
      [Differential.requests],
      ([requests]) =>
        Effect.gen(function* () {
          const name = `differential-${crypto.randomUUID().slice(0, 8)}`
          yield* ApiClientContract.prepare
          const told = yield* Differential.play(name, requests)
          const modelled = yield* inMemory(name, requests, 1)
          const found = Differential.difference(requests, told, modelled)
          if (found !== undefined) {
            const [asked, one, other] = [found.request, found.one, found.other].map((value) => JSON.stringify(value))
            assert.fail(`the answer to ${asked}\nin reality: ${one}\nin memory:  ${other}`)
          }
        }).pipe(Effect.provideService(References.MinimumLogLevel, "Error")),
      { arbitrary: { runs: 200, concurrency: 3, seed }, timeout: 240_000 }
    )
  })
})
