/** A poster of Events over a server in memory, on the test clock, and faults that lie between the two. */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import { type ApiError, fromAnswer } from "../src/ApiError.ts"
import { EventPoster, layer, Options } from "../src/EventPoster.ts"
import { OwnNamespace } from "../src/OwnNamespace.ts"
import { events, quiet } from "./world.ts"

export const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })
/** An object in cluster scope. */
export const zone = { apiVersion: "example.com/v1", kind: "Zone", metadata: { name: "z", uid: "uid9" } }

export const elapse = (millis: number) =>
  Effect.gen(function* () {
    yield* quiet
    for (let left = millis; left > 0; left -= 1_000) {
      yield* TestClock.adjust(Math.min(left, 1_000))
      yield* quiet
    }
  })

/** What a request of Events meets before the server; undefined: nothing. */
export type Fault = (
  verb: "create" | "patch",
  namespace: string | undefined
) => Effect.Effect<void, ApiError> | undefined

export const refused = (code: number, body: unknown = {}, retryAfterSeconds?: number): Effect.Effect<never, ApiError> =>
  Effect.fail(
    fromAnswer(
      { verb: "create", resource: "events" },
      { code, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
    )
  )

/** The server behind a way on which `fault` lies. */
const faulty = (fault: { current: Fault }) =>
  Layer.effect(
    ApiClient,
    Effect.map(ApiClient, (inner) => {
      const through = <A>(
        verb: "create" | "patch",
        namespace: string | undefined,
        request: Effect.Effect<A, ApiError>
      ): Effect.Effect<A, ApiError> =>
        Effect.suspend(() => Effect.andThen(fault.current(verb, namespace) ?? Effect.void, request))
      return ApiClient.of({
        ...inner,
        create: (resource, input, options) =>
          through("create", input.metadata?.namespace, inner.create(resource, input, options)),
        patch: (resource, ref, patch, options) =>
          through("patch", ref.namespace, inner.patch(resource, ref, patch, options))
      })
    })
  )

export interface World {
  /** What lies before the server; may be changed. */
  readonly fault: { current: Fault }
  readonly poster: EventPoster["Service"]
  readonly api: ApiClient["Service"]
  readonly server: ApiServer.ApiServer["Service"]
  /** Warnings that were logged. */
  readonly warnings: ReadonlyArray<string>
  /** The annotations of each. */
  readonly annotations: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** What is stored, as `namespace Type Reason xN: message`. */
  readonly stored: Effect.Effect<ReadonlyArray<string>>
  /** `create 201`, `patch 404` ... of events, in order. */
  readonly requests: Effect.Effect<ReadonlyArray<string>>
  readonly end: Effect.Effect<void>
}

export interface WorldOptions extends Options {
  readonly ownNamespace?: string
  /** Default: `layer`. */
  readonly poster?: typeof layer
}

/** How often an Event, in the form of core/v1, was said. */
export const countOn = ({ count, series }: any): number => count ?? series?.count ?? 1

/** A poster over a server in memory; `body` runs on the test clock. */
export const world = <A, E>(
  body: (world: World) => Effect.Effect<A, E, Scope.Scope>,
  { ownNamespace = "operators", poster = layer, ...options }: WorldOptions = {}
) =>
  Effect.gen(function* () {
    const warnings: Array<string> = []
    const annotations: Array<Readonly<Record<string, unknown>>> = []
    const logger = Logger.make(({ fiber, logLevel, message }) => {
      if (logLevel !== "Warn") return
      warnings.push((Array.isArray(message) ? message : [message]).map(String).join(" "))
      annotations.push(fiber.getRef(References.CurrentLogAnnotations))
    })
    const scope = yield* Scope.make()
    const settings = Layer.mergeAll(
      Layer.succeed(Options, options),
      Layer.succeed(OwnNamespace, ownNamespace),
      Logger.layer([logger])
    )
    const fault: { current: Fault } = { current: () => undefined }
    const server = ApiServer.layer({ objects: ["ns1", "ns2", "operators"].map(namespace), seed: 1 })
    const context = yield* Layer.buildWithScope(
      Layer.provideMerge(poster, Layer.provideMerge(faulty(fault), Layer.merge(server, settings))),
      scope
    )
    return yield* Effect.gen(function* () {
      const server = yield* ApiServer.ApiServer
      const result = yield* body({
        fault,
        poster: yield* EventPoster,
        api: yield* ApiClient,
        server,
        warnings,
        annotations,
        stored: Effect.map(server.objects(events), (all) =>
          all.map(
            (event: any) =>
              `${event.metadata.namespace} ${event.type} ${event.reason} x${countOn(event)}: ${event.message}`
          )
        ),
        requests: Effect.map(server.log, (log) =>
          log
            .filter(({ operation }) => /^events(\.events\.k8s\.io)?$/.test(operation.resource))
            .map(({ code, operation }) => `${operation.verb} ${code}`)
        ),
        end: Scope.close(scope, Exit.void)
      })
      yield* Scope.close(scope, Exit.void)
      return result
    }).pipe(Effect.provideContext(context))
  }).pipe(Effect.scoped)
