/** The API in memory with the kinds of the Widget operator, and that operator run in it. */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type * as Controller from "@fixpoint/core/Controller"
import * as EventPoster from "@fixpoint/core/EventPoster"
import * as Kind from "@fixpoint/core/Kind"
import * as Manager from "@fixpoint/core/Manager"
import type { Wakes } from "@fixpoint/core/Wake"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { Widget } from "./widget/kinds.ts"

export const namespace = "bench"

/** A server of its own for each call, that knows Widgets. */
export const server = (): Layer.Layer<ApiClient | ApiServer.ApiServer> =>
  ApiServer.layer({
    kinds: [Kind.customResourceDefinition(Widget)],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }],
    seed: 1
  })

/** `from` is the number of the first. */
export const createWidgets = (count: number, from = 0): Effect.Effect<void, never, ApiClient> =>
  ApiClient.use((api) =>
    Effect.forEach(
      Array.from({ length: count }, (_, i) => from + i),
      (i) =>
        api.create(Widget, {
          metadata: { namespace, name: `w-${i}` },
          spec: { size: i, message: `widget ${i}` }
        }),
      { discard: true }
    )
  ).pipe(Effect.orDie)

type WidgetController = Controller.Controller<typeof Widget, never>

/** Runs a controller of Widgets for as long as the layer lives, without events, which the operators of other libraries do not post either. */
export const running = (
  controller: WidgetController,
  onSettled: (settled: Manager.Settled) => void = () => {}
): Layer.Layer<Manager.Manager | Wakes<"bench.example.com/Widget">, never, ApiClient> =>
  Manager.layer([controller]).pipe(
    Layer.orDie,
    Layer.provide(EventPoster.layerNone),
    Layer.provide(Layer.succeed(Manager.OnSettled, onSettled)),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "Error"))
  )
