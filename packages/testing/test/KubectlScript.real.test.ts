import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Listener from "@fixpoint/apiserver/Listener"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as KubectlScript from "@fixpoint/testing/KubectlScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const listener = Layer.provide(ApiServer.layerListener(), ApiServer.layer())

describe.runIf(ControlPlane.available())("kubectl against a real server and against the in-memory API", () => {
  // A control plane of its own: the script looks at all namespaces and at all that is served.
  it.live(
    "says the same in every command of the script: exit code, output and errors",
    () =>
      Effect.gen(function* () {
        const { connection } = yield* ControlPlane.make({ controllers: true })
        const { kubectl } = connection
        const { url, token, ca } = yield* Listener.Listener
        const [real, ours] = yield* Effect.all(
          [KubectlScript.run(connection), KubectlScript.run({ kubectl, url, token, ...(ca !== undefined && { ca }) })],
          { concurrency: 2 }
        )
        const compared = KubectlScript.compare(real, ours)
        assert.lengthOf(compared, KubectlScript.commands)
        assert.deepStrictEqual(compared.flatMap(KubectlScript.explain), [])
      }).pipe(Effect.provide(listener), Effect.scoped),
    600_000
  )
})
