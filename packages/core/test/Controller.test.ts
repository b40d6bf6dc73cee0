import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Controller from "../src/Controller.ts"
import * as Kind from "../src/Kind.ts"
import * as Reconciler from "../src/Reconciler.ts"
import * as Watch from "../src/Watch.ts"
import { ConfigMap, Role, role, roles, Scope } from "../typetest/access.ts"

const nothing = Reconciler.for(Role)

describe("a controller", () => {
  it("says of itself all that runs it, with what was left out filled in", () => {
    const mapped = Watch.mapped(Scope, () => Effect.succeed([]))
    const hourly = Watch.every("1 hour", { idle: "10 minutes" })
    const outside = Watch.external(Stream.empty)
    const controller = Controller.make({
      for: Role,
      watches: [ConfigMap, mapped, hourly, outside],
      reconciler: nothing
    })
    assert.strictEqual(controller.name, "roles.access.example.com")
    assert.deepStrictEqual(controller.watches, [ConfigMap, Scope])
    assert.deepStrictEqual([controller.mapped, controller.timers, controller.external], [[mapped], [hourly], [outside]])
    assert.deepStrictEqual([controller.owns, controller.polls, controller.writes], [[], [], []])
    assert.strictEqual(controller.workers, 10)
    assert.deepStrictEqual(hourly, { _tag: "Every", intervalMillis: 3_600_000, idleMillis: 600_000, jitter: 0.1 })
  })

  it("that could reconcile nothing is refused when it is made", () => {
    for (const workers of [0, -1, 1.5, NaN])
      assert.throws(
        () => Controller.make({ for: Role, workers, reconciler: nothing }),
        /workers must be a whole number/
      )
    assert.throws(
      () => Controller.make({ for: Role, name: "mine", namespaces: [], reconciler: nothing }),
      /^controller mine: namespaces is empty/
    )
  })

  it.effect("is given layers that may need each other, the later one for the earlier", () =>
    Effect.gen(function* () {
      class Address extends Context.Service<Address, string>()("test/Address") {}
      class Database extends Context.Service<Database, string>()("test/Database") {}
      const controller = Controller.make({
        for: Role,
        reconciler: Reconciler.fromEffect(Role, () => Effect.all([Database, Address]))
      }).pipe(
        Controller.provide(
          Layer.effect(
            Database,
            Address.useSync((address) => `database at ${address}`)
          )
        ),
        Controller.provide(Layer.succeed(Address, "here"))
      )
      const context = yield* Effect.scoped(Layer.build(controller.layer!))
      assert.strictEqual(Context.get(context, Database), "database at here")
      assert.strictEqual(Context.get(context, Address), "here")
      // The one that it was made from is as it was.
      assert.isUndefined(roles.layer)
    })
  )
})

describe("the rules made from the declarations", () => {
  it("grant what the declarations need and nothing else (D21)", () => {
    assert.deepStrictEqual(Controller.rbac(roles), [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
      { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
      // patch: the pipeline has a finalizer
      { apiGroups: ["access.example.com"], resources: ["roles"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["access.example.com"], resources: ["roles/finalizers"], verbs: ["update"] },
      { apiGroups: ["access.example.com"], resources: ["roles/status"], verbs: ["patch"] },
      { apiGroups: ["access.example.com"], resources: ["scopes"], verbs: ["get", "list", "watch"] }
    ])
  })

  it("grant Events in the API that they are posted through, or not at all (D21)", () => {
    const events = (options: Controller.RbacOptions) =>
      Controller.rbac(roles, options).filter(({ resources }) => resources.includes("events"))
    assert.deepStrictEqual(events({ events: "core" }), [
      { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] }
    ])
    assert.deepStrictEqual(events({ events: "events.k8s.io" }), [
      { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] }
    ])
    assert.deepStrictEqual(events({ events: "none" }), [])
    assert.lengthOf(Controller.rbac(roles, { events: "none" }), Controller.rbac(roles).length - 1)
  })

  it("of several controllers are one set, and those without anything are empty", () => {
    class Plain extends Kind.make({
      group: "",
      version: "v1",
      kind: "Plain",
      scope: "Namespaced",
      fields: { size: Schema.Int }
    }) {}
    const several = [
      Controller.make({ for: Plain, reconciler: Reconciler.for(Plain) }),
      Controller.make({ for: Scope, noStatusSubresource: true, writes: [Plain], reconciler: Reconciler.for(Scope) }),
      Controller.make({ for: Role, polls: [Scope], reconciler: nothing })
    ]
    assert.deepStrictEqual(Controller.rbac(several), [
      { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
      { apiGroups: [""], resources: ["plains"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
      { apiGroups: ["access.example.com"], resources: ["roles"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["access.example.com"], resources: ["roles/status"], verbs: ["patch"] },
      { apiGroups: ["access.example.com"], resources: ["scopes"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["access.example.com"], resources: ["scopes/finalizers"], verbs: ["update"] }
    ])
    assert.deepStrictEqual(Controller.rbac([]), [])
  })

  it("do not depend on the order of the controllers", () => {
    const other = Controller.make({ for: Scope, owns: [ConfigMap], watches: [Role], reconciler: Reconciler.for(Scope) })
    assert.deepStrictEqual(Controller.rbac([roles, other]), Controller.rbac([other, roles]))
    assert.strictEqual(role.finalizers.length, 1)
  })
})
