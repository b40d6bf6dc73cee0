import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import * as Controller from "../src/Controller.ts"
import * as Kind from "../src/Kind.ts"
import type { KubeObject, ObjectInput } from "../src/KubeObject.ts"
import * as Manager from "../src/Manager.ts"
import * as Pass from "../src/Pass.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { Fatal, Temporary } from "../src/ReconcileError.ts"
import * as Wake from "../src/Wake.ts"

class Scope extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Scope",
  scope: "Namespaced",
  spec: Schema.Struct({ members: Schema.Array(Schema.String) }),
  status: Schema.Struct({ members: Schema.Int })
}) {}
class Role extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Role",
  scope: "Namespaced",
  spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) }),
  status: Schema.Struct({ rules: Schema.Int })
}) {}
class ConfigMap extends Kind.make({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  fields: { data: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) }
}) {}

const editor: ObjectInput = {
  apiVersion: "access.example.com/v1",
  kind: "Role",
  metadata: { namespace: "team", name: "editor" },
  spec: { scope: "docs", rules: ["read", "write"] }
}
const docs: ObjectInput = {
  apiVersion: "access.example.com/v1",
  kind: "Scope",
  metadata: { namespace: "team", name: "docs" },
  spec: { members: ["ann"] }
}

const role = Reconciler.for(Role).pipe(
  Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" }),
  Reconciler.child("config", ConfigMap, ({ object, scope }) => ({
    metadata: { name: `${object.metadata.name}-rules` },
    data: { rules: object.spec.rules.join(","), members: scope.spec.members.join(",") }
  })),
  Reconciler.status(({ object }) => ({ rules: object.spec.rules.length }))
)
const roles = Controller.make({ for: Role, owns: [ConfigMap], watches: [Scope], reconciler: role })
const scopes = Controller.make({
  for: Scope,
  reconciler: Reconciler.for(Scope).pipe(Reconciler.status(({ object }) => ({ members: object.spec.members.length })))
})

/** Every runnable fiber has run, the clock stands still. */
const quiet = Effect.repeat(Effect.yieldNow, { times: 300 })

const world = () =>
  ApiServer.layer({
    kinds: [Kind.customResourceDefinition(Role), Kind.customResourceDefinition(Scope)],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }]
  })

/** Runs the controllers in a world of their own while the body runs; `log` has a line for each settled pass. */
const running = <const C extends ReadonlyArray<Controller.Any>, E>(
  controllers: C,
  body: (world: {
    readonly api: ApiClient["Service"]
    readonly server: ApiServer.ApiServer["Service"]
    readonly log: Array<string>
  }) => Effect.Effect<void, E, any>
) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const manager = Manager.layer(controllers).pipe(
      Layer.provide(
        Layer.succeed(Manager.OnSettled, ({ kind, message, outcome, reason, ref }) => {
          log.push(`${kind.kind} ${ref.name}: ${outcome} ${reason}${message === "" ? "" : ` (${message})`}`)
        })
      )
    )
    yield* Effect.gen(function* () {
      yield* quiet
      yield* body({ api: yield* ApiClient, server: yield* ApiServer.ApiServer, log })
    }).pipe(Effect.provide(manager as Layer.Layer<any, any, any>))
  }).pipe(Effect.provide(world())) as Effect.Effect<void, any>

const ready = (object: KubeObject): string => {
  const condition = (object.status as any)?.conditions?.find((one: any) => one.type === "Ready")
  return condition === undefined ? "none" : `${condition.status} ${condition.reason}`
}

describe("Manager", () => {
  it.effect("a Role waits for its Scope, is woken by it, and rests at its fixed point", () =>
    running([roles, scopes], ({ api, log, server }) =>
      Effect.gen(function* () {
        yield* api.create(Role, editor)
        yield* quiet
        assert.strictEqual(ready(yield* api.get(Role, editor.metadata as any)), "False ScopeNotFound")
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(log, ["Role editor: NotReady ScopeNotFound (Scope team/docs not found)"])
        yield* api.create(Scope, docs)
        yield* quiet
        const object = yield* api.get(Role, editor.metadata as any)
        assert.strictEqual(ready(object), "True Synced")
        assert.strictEqual((object.status as any).rules, 2)
        const config = yield* api.get(ConfigMap, { namespace: "team", name: "editor-rules" })
        assert.deepStrictEqual(config.data, { rules: "read,write", members: "ann" })
        const before = log.length
        yield* server.clearLog
        yield* TestClock.adjust("1 day")
        assert.strictEqual(log.length, before, "no pass at rest")
        assert.deepStrictEqual(
          (yield* server.log).filter(({ operation }) => operation.verb !== "watch").map(({ operation }) => operation),
          [],
          "no request at rest but the renewals of watches"
        )
      })
    )
  )
})
