/** A real API server for tests that run core's own services on it: its client, kinds and namespaces that go with the scope, and kubectl. */
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { execFile } from "node:child_process"
import { ApiClient } from "../src/ApiClient.ts"
import * as Kind from "../src/Kind.ts"
import { crds, namespaces } from "./world.ts"

const client = Layer.unwrap(
  Effect.map(ControlPlane.ControlPlane, ({ ca, token, url }) =>
    Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
  )
)

/** One server for all who use it, beside each other. */
export const real = client.pipe(Layer.provideMerge(SharedControlPlane.layer))

/** A server of one's own, for who looks at namespaces that others use too. */
export const alone = client.pipe(Layer.provideMerge(ControlPlane.layer()))

/** Looks every 50 ms, for four minutes at most. */
export const until = <E, R>(holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.repeat(holds, { schedule: Schedule.spaced("50 millis"), until: (held) => held }).pipe(
    Effect.timeoutOrElse({ duration: "4 minutes", orElse: () => Effect.die(new Error("it did not come true")) }),
    Effect.asVoid
  )

/** Serves the kind as long as the scope lives. */
export const served = Effect.fnUntraced(function* (kind: Kind.Any) {
  const api = yield* ApiClient
  const definition = Kind.customResourceDefinition(kind)
  const ref = { namespace: undefined, name: definition.metadata!.name! }
  yield* Effect.acquireRelease(api.create(crds, definition), () => Effect.orDie(api.delete(crds, ref)))
  yield* until(
    Effect.map(
      api.get(crds, ref),
      ({ status }) =>
        (status as any)?.conditions?.some((one: any) => one.type === "Established" && one.status === "True") === true
    )
  )
})

/** The name of a namespace that is there as long as the scope lives. */
export const ownNamespace = Effect.fnUntraced(function* (prefix: string) {
  const api = yield* ApiClient
  const { metadata } = yield* Effect.acquireRelease(
    api.create(namespaces, { metadata: { generateName: prefix } }),
    ({ metadata }) => Effect.orDie(api.delete(namespaces, { namespace: undefined, name: metadata.name }))
  )
  return metadata.name
})

/** What kubectl prints, given the input as JSON; fails with what it says. */
export const kubectl = (args: ReadonlyArray<string>, input: unknown = undefined) =>
  Effect.flatMap(ControlPlane.ControlPlane, (plane) =>
    Effect.callback<string, Error>((resume) => {
      const child = execFile(
        plane.kubectl,
        ["--kubeconfig", plane.kubeconfig, ...args],
        { timeout: 120_000, maxBuffer: 2 ** 26 },
        (error, out, err) => resume(error === null ? Effect.succeed(out) : Effect.fail(new Error(err || error.message)))
      )
      child.stdin?.end(input === undefined ? "" : JSON.stringify(input))
    })
  )
