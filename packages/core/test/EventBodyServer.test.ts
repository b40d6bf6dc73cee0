import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import { fitted, placeOf, reporterFrom } from "../src/internal/eventBody.ts"
import { coreV1 } from "../src/internal/eventsApi.ts"
import type { ObjectInput } from "../src/KubeObject.ts"
import type { Subject } from "../src/PostingPolicy.ts"
import { kubectl } from "./realServer.ts"

const create = (object: ObjectInput) =>
  Effect.map(kubectl(["create", "-o", "json", "-f", "-"], object), (text) => JSON.parse(text))

const namespace = `events-${process.pid}`
const reporter = reporterFrom(`${"c".repeat(80)}.example.com/${"n".repeat(80)}`, "h".repeat(200))

const bodyOf = (name: string, about: Subject, text: string, firstAt = 1_700_000_000_500): ObjectInput =>
  coreV1.bodyOf({
    name,
    about,
    place: placeOf(about, "describable", "default"),
    words: fitted({ type: text.slice(0, 20), reason: text, action: text, message: text }),
    counted: { count: 1, firstAt, lastAt: firstAt },
    reporter
  })

describe.skipIf(!ControlPlane.available())("the bodies of Events, before a real API server", () => {
  layer(SharedControlPlane.layer)((it) => {
    it.effect(
      "are taken whatever is said: long, empty, in any script, with halves of characters (B79, B86, P12, P16, P17, F149, F150, F153)",
      () =>
        Effect.gen(function* () {
          yield* kubectl(["create", "namespace", namespace])
          const about: Subject = {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { name: "gone", namespace, uid: "of-old" }
          }
          const texts = ["", "x".repeat(5_000), "日本🙂é".repeat(2_000), "\ud800 half", "a b!\n\t", "Failed"]
          for (const [i, text] of texts.entries()) {
            const stored = yield* create(bodyOf(`fixpoint-${i}`, about, text, 1_700_000_000_000 + i))
            const { message = "" } = stored
            assert.isAtMost(Buffer.byteLength(message), 1_024)
            assert.strictEqual(message, (bodyOf("", about, text) as any).message)
            assert.match(stored.eventTime, /\.\d{6}Z$/)
          }
          const patch = JSON.stringify(
            coreV1.repeatOf({ count: 7, firstAt: 0, lastAt: 1_700_000_600_000 }, "another text")
          )
          const patched = JSON.parse(
            yield* kubectl([
              "-n",
              namespace,
              "patch",
              "event",
              "fixpoint-1",
              "--type",
              "merge",
              "-o",
              "json",
              "-p",
              patch
            ])
          )
          assert.deepInclude(patched, { count: 7, message: "another text", lastTimestamp: "2023-11-14T22:23:20Z" })
        }),
      60_000
    )

    it.effect(
      "are shown by kubectl describe beside their object, also beside one in cluster scope (B80, D20, F152)",
      () =>
        Effect.gen(function* () {
          const storage = yield* create({
            apiVersion: "storage.k8s.io/v1",
            kind: "StorageClass",
            metadata: { name: namespace },
            provisioner: "example.com/none"
          })
          const config = yield* create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shown", namespace } })
          for (const about of [storage, config])
            yield* create(bodyOf(`shown-${about.kind.toLowerCase()}`, about, "ShownToPeople"))
          assert.include(yield* kubectl(["describe", "storageclass", namespace]), "ShownToPeople")
          assert.include(yield* kubectl(["-n", namespace, "describe", "configmap", "shown"]), "ShownToPeople")
          yield* kubectl(["delete", "storageclass", namespace])
          yield* kubectl(["delete", "namespace", namespace, "--wait=false"])
        }),
      60_000
    )
  })
})
