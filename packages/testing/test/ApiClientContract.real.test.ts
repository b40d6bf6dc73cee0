import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as ApiClientContract from "@fixpoint/testing/ApiClientContract"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, test } from "vitest"

const real = Layer.unwrap(
  Effect.map(ControlPlane.ControlPlane, ({ ca, token, url }) =>
    Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
  )
).pipe(Layer.provide(SharedControlPlane.layer))

ApiClientContract.suite("a real API server", real, {
  describe: describe.concurrent,
  test: test.skipIf(!ControlPlane.available()),
  beforeAll,
  afterAll
})
