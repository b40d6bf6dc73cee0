/** A process that starts a control plane, says where, and waits to be killed. */
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import * as path from "node:path"

await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const { connection } = yield* ControlPlane.make()
      console.log(path.dirname(connection.kubeconfig))
      return yield* Effect.never
    })
  )
)
