/**
 * One control plane for a whole run of vitest, with the controllers, shared by all test files: starting one for each would cost 4 s each. Name this
 * module as `globalSetup`; it starts nothing before the first test file asks. Test files keep apart by namespaces and by API groups of their own,
 * and stop nothing; a test of outages takes `ControlPlane.layer`.
 */
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as ControlPlane from "./ControlPlane.ts"
import { den } from "./internal/processes.ts"

/** The environment variable by which test files find the run's control plane: the path of a socket that answers with its connection. */
const variable = "FIXPOINT_CONTROL_PLANE"

type Answer = { readonly connection: ControlPlane.Connection } | { readonly reason: ControlPlane.ControlPlaneReason }

const serve = Effect.gen(function* () {
  const { folder } = yield* den
  const scope = yield* Effect.scope
  const answer = yield* Effect.cached(
    ControlPlane.make({ controllers: true }).pipe(
      Effect.match({
        onSuccess: ({ connection }): Answer => ({ connection }),
        onFailure: ({ reason }): Answer => ({ reason })
      }),
      Scope.provide(scope)
    )
  )
  const socket = path.join(folder, "socket")
  yield* Effect.acquireRelease(
    Effect.callback<net.Server, Error>((resume) => {
      const server = net.createServer((visitor) => {
        visitor.on("error", () => {})
        // The answer is cached: who comes while it starts waits for the same one.
        void Effect.runPromise(answer).then((told) => visitor.end(JSON.stringify(told)))
      })
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(socket, () => {
        fs.chmodSync(socket, 0o600)
        resume(Effect.succeed(server))
      })
    }),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )
  return socket
})

/** vitest's global setup: offers the control plane if `KUBEBUILDER_ASSETS` is set. What it returns stops it. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!ControlPlane.available()) return undefined
  const scope = Scope.makeUnsafe()
  process.env[variable] = await Effect.runPromise(Scope.provide(serve, scope))
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}

const ask = (socket: string): Effect.Effect<ControlPlane.Connection, ControlPlane.ControlPlaneError> =>
  Effect.flatMap(
    Effect.callback<Answer>((resume) => {
      let text = ""
      const visitor = net.connect(socket)
      visitor.setEncoding("utf8")
      visitor.on("data", (part: string) => void (text += part))
      visitor.once("end", () => resume(Effect.sync(() => JSON.parse(text) as Answer)))
      visitor.once("error", (error) => resume(Effect.die(error)))
      return Effect.sync(() => void visitor.destroy())
    }),
    (answer) =>
      "connection" in answer
        ? Effect.succeed(answer.connection)
        : Effect.fail(new ControlPlane.ControlPlaneError({ reason: answer.reason }))
  )

/** The run's control plane; where none is offered, one of its own with the controllers. */
export const layer: Layer.Layer<ControlPlane.ControlPlane, ControlPlane.ControlPlaneError> = Layer.effect(
  ControlPlane.ControlPlane,
  Effect.suspend(() => {
    const socket = process.env[variable]
    return socket === undefined
      ? Effect.map(ControlPlane.make({ controllers: true }), ({ connection }) => connection)
      : ask(socket)
  })
)
