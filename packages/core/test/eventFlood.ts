/** Floods of events: one object whose passes fail again and again, under a whole Manager, and what of that the server holds. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ApiClient } from "../src/ApiClient.ts"
import * as Controller from "../src/Controller.ts"
import * as Event from "../src/Event.ts"
import * as Kind from "../src/Kind.ts"
import { Temporary } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { events } from "./world.ts"

export class River extends Kind.make({
  group: "flood.example.com",
  version: "v1",
  kind: "River",
  scope: "Namespaced",
  spec: Schema.Struct({}),
  status: Schema.Struct({ level: Schema.Int })
}) {}

export const river = (namespace: string) => ({
  apiVersion: "flood.example.com/v1",
  kind: "River",
  metadata: { namespace, name: "rhine" },
  spec: {}
})

/** How many passes there have been, over all starts, and how many there shall be. */
export interface Flood {
  passes: number
  end: number
}

export interface Course {
  /** From the end of a pass to the next. */
  readonly every: Duration.Input
  /** What the pass of this number, from 1, fails with. Default: `it rises`. */
  readonly text?: (pass: number) => string
  /** The reason of a Warning that it gives beside. Default: none. */
  readonly warns?: (pass: number) => string
  /** Default: `team`. */
  readonly namespace?: string
}

/** Runs the object until the flood has had its passes; then nothing wakes it for a day. */
export const flooding = (flood: Flood, { every, namespace = "team", text, warns }: Course) =>
  Controller.make({
    for: River,
    namespaces: [namespace],
    reconciler: Reconciler.fromEffect(River, () =>
      Effect.gen(function* () {
        const pass = ++flood.passes
        const delay = pass >= flood.end ? Duration.days(1) : every
        if (warns !== undefined) yield* Event.warn({ reason: warns(pass), message: "it rises" })
        return yield* new Temporary({ message: text?.(pass) ?? "it rises", delay })
      })
    )
  })

export interface Told {
  readonly reason: string
  readonly message: string
  readonly count: number
}

/** The Events about the object. */
export const toldOf = (namespace: string) =>
  Effect.map(
    ApiClient.use((api) => api.list(events, { namespace })),
    ({ items }) =>
      items
        .filter((event: any) => event.involvedObject.kind === "River")
        .map((event: any): Told => ({ reason: event.reason, message: event.message, count: event.count }))
  )

export const countOf = (told: ReadonlyArray<Told>): number => told.reduce((sum, { count }) => sum + count, 0)
