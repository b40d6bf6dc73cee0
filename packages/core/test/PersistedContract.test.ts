import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import * as Kind from "../src/Kind.ts"
import { cases } from "./persistedContract.ts"
import { type Ground, setScene } from "./persistedStage.ts"
import { LooseGrant } from "./records.ts"
import { quiet } from "./world.ts"

const ground = Effect.map(ApiClient, (api): Ground => ({
  api,
  namespace: "team",
  moment: Effect.andThen(TestClock.adjust("500 millis"), quiet),
  second: Effect.andThen(TestClock.adjust("5 seconds"), quiet),
  looks: 40,
  calm: () => quiet
}))

const world = () =>
  ApiServer.layer({
    kinds: [Kind.customResourceDefinition(LooseGrant)],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }]
  })

describe("a persisted resource, on an API in memory", () => {
  for (const { name, play, ...settings } of cases)
    it.effect(name, () =>
      Effect.gen(function* () {
        yield* play(yield* setScene(yield* ground, settings))
        yield* quiet
      }).pipe(Effect.scoped, Effect.provide(world()))
    )
})
