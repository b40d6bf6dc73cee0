import { ApiClient } from "@fixpoint/core/ApiClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as ApiServer from "../src/ApiServer.ts"
import { configMaps, widgetCrd, widgets } from "./fixtures.ts"

const world = () => ApiServer.layer({ kinds: [widgetCrd()], seed: 1 })

it.effect(
  "a watch tells creation, change and deletion in the order and with the versions of the answers (F60, F61)",
  () =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const fiber = yield* Effect.forkChild(
        api.watch(widgets, { namespace: "default" }).pipe(Stream.take(4), Stream.runCollect)
      )
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      const created = yield* api.create(widgets, { metadata: { name: "a", namespace: "default" }, spec: { size: 1 } })
      const ref = { namespace: "default", name: "a" }
      const patched = yield* api.patch(widgets, ref, { type: "merge", body: { spec: { size: 2 } } })
      const status = yield* api.patch(
        widgets,
        ref,
        { type: "apply", body: { metadata: {}, status: { phase: "Ready" } } },
        { subresource: "status" }
      )
      yield* api.delete(widgets, ref)
      const events = yield* Fiber.join(fiber)
      expect(
        events.map((event) => [event.type, event.type !== "BOOKMARK" && event.object.metadata.resourceVersion])
      ).toEqual([
        ["ADDED", created.metadata.resourceVersion],
        ["MODIFIED", patched.metadata.resourceVersion],
        ["MODIFIED", status.metadata.resourceVersion],
        ["DELETED", String(Number(status.metadata.resourceVersion) + 1)]
      ])
      expect(patched.metadata.generation).toBe(2)
      expect(status.metadata.generation).toBe(2)
      const page = yield* api.list(configMaps)
      expect(page.items).toEqual([])
    }).pipe(Effect.provide(world()))
)
