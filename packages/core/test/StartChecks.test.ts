import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import * as Controller from "../src/Controller.ts"
import * as Kind from "../src/Kind.ts"
import type { Resource } from "../src/KubeObject.ts"
import * as Manager from "../src/Manager.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { docs, quiet, ready, refTo, Scope } from "./world.ts"

const scopes = Controller.make({ for: Scope, reconciler: Reconciler.for(Scope) })

const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}
const named = { namespace: undefined, name: "scopes.access.example.com" }

/** The CRD of Scope, changed. */
const definition = (change: (crd: any) => void) => {
  const crd: any = structuredClone(Kind.customResourceDefinition(Scope))
  change(crd)
  return crd
}
const withoutStatus = definition((crd) => delete crd.spec.versions[0].subresources)
const inClusterScope = definition((crd) => Object.assign(crd.spec, { scope: "Cluster" }))

const logged = (lines: Array<string>) =>
  Logger.layer([
    Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn" || logLevel === "Error") lines.push(`${logLevel} ${[message].flat().join(" ")}`)
    })
  ])

const world = (kinds: ReadonlyArray<any>) =>
  ApiServer.layer({ kinds, objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }] })

const running = <E>(
  kinds: ReadonlyArray<any>,
  body: (lines: Array<string>) => Effect.Effect<void, E, ApiClient | Manager.Manager>
) => {
  const lines: Array<string> = []
  return body(lines).pipe(
    Effect.provide(Layer.provideMerge(Manager.layer([scopes]), world(kinds))),
    Effect.provide(logged(lines))
  )
}

describe("a CRD that is not as its Kind", () => {
  it.effect("is refused at start where its scope is another", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Manager.layer([scopes]))))
      assert.strictEqual(error.reason._tag, "ScopeDiffers")
      assert.match(
        error.message,
        /^scopes\.access\.example\.com is cluster-scoped in its CRD and namespaced in the Kind: change .*, or delete /
      )
    }).pipe(Effect.provide(world([inClusterScope])))
  )

  it.effect("is not refused but warned of where it lacks fields that are written", () =>
    running(
      [definition((crd) => delete crd.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.members)],
      (lines) =>
        Effect.map(quiet, () =>
          assert.deepStrictEqual(lines, [
            "Warn the CRD of scopes.access.example.com lacks status.members, which this operator writes: apply what Kind.customResourceDefinition gives"
          ])
        )
    )
  )

  it.effect(
    "is waited for, told once and in health, where it came after the start and has no status subresource (B48, X14)",
    () =>
      running([], (lines) =>
        Effect.gen(function* () {
          const api = yield* ApiClient
          const manager = yield* Manager.Manager
          yield* quiet
          assert.match(lines.join("\n"), /install its CRD with that version; trying again$/)
          yield* api.create(crds, withoutStatus)
          yield* api.create(Scope, docs)
          yield* TestClock.adjust("30 seconds")
          yield* quiet
          yield* TestClock.adjust("5 minutes")
          yield* quiet
          const told = lines.filter((line) => line.includes("has no status subresource"))
          assert.deepStrictEqual(
            told.map((line) => line.slice(0, 6)),
            ["Error "]
          )
          assert.match(
            told[0]!,
            /or say noStatusSubresource in the controller; scopes\.access\.example\.com waits for that$/
          )
          const { phase, problems, ready: isReady } = yield* manager.health
          assert.deepStrictEqual([phase, isReady, problems.length], ["starting", false, 1])
          assert.include(problems[0], "has no status subresource")
          assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "none")
          yield* api.patch(crds, named, {
            type: "merge",
            body: { spec: { versions: (Kind.customResourceDefinition(Scope) as any).spec.versions } }
          })
          yield* TestClock.adjust("1 minute")
          yield* quiet
          assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
          assert.deepStrictEqual((yield* manager.health).problems, [])
        })
      )
  )

  it.effect("that nobody may look at is taken to be as the Kind, with a warning, and not waited for", () => {
    const lines: Array<string> = []
    const blind = Layer.effect(
      ApiClient,
      Effect.map(ApiClient, (inner) => ({ ...inner, discover: () => Effect.succeedNone }))
    )
    return Effect.gen(function* () {
      const api = yield* ApiClient
      yield* api.create(Scope, docs)
      yield* TestClock.adjust("10 seconds")
      yield* quiet
      assert.strictEqual(ready(yield* api.get(Scope, refTo(docs))), "True Synced")
      assert.deepStrictEqual(
        lines.filter((line) => line.includes("could not look at the CRD of scopes.access.example.com")).length,
        1
      )
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          Manager.layer([scopes]).pipe(Layer.provide(blind)),
          world([Kind.customResourceDefinition(Scope)])
        )
      ),
      Effect.provide(logged(lines))
    )
  })
})
