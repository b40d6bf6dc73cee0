import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Cached from "../src/Cached.ts"
import { Pass } from "../src/Pass.ts"
import { ConfigMap, Scope } from "../typetest/access.ts"
import { docs, fakePass, object } from "./passes.ts"

const shared = object(Scope, "all", { spec: { members: [] } }, { namespace: "shared", labels: { app: "x", tier: "a" } })

describe("reading", () => {
  it.effect("finds what is there and not what is not, and both reads are remembered", () =>
    Effect.gen(function* () {
      const fake = fakePass({ stored: [docs] })
      const find = (name: string) =>
        Effect.provideContext(Cached.find(Scope, { namespace: "team", name }), fake.context)
      assert.isTrue(Option.isSome(yield* find("docs")))
      assert.isTrue(Option.isNone(yield* find("other")))
      assert.deepStrictEqual(fake.subscribed, ["Object Scope team/docs", "Object Scope team/other"])
    })
  )

  it.effect("lists by namespace and labels, and is a subscription to just those", () =>
    Effect.gen(function* () {
      const fake = fakePass({ stored: [docs, shared] })
      const names = (selection?: Cached.Selection) =>
        Effect.provideContext(Cached.list(Scope, selection), fake.context).pipe(
          Effect.map((found) => found.map(({ metadata }) => metadata.name))
        )
      assert.deepStrictEqual(yield* names(), ["docs", "all"])
      assert.deepStrictEqual(yield* names({ namespace: "team" }), ["docs"])
      assert.deepStrictEqual(yield* names({ labels: { app: "x" } }), ["all"])
      const exists = { matchExpressions: [{ key: "tier", operator: "Exists" as const }] }
      assert.deepStrictEqual(yield* names({ labels: { app: "y" }, selector: exists }), [])
      assert.deepStrictEqual(fake.subscribed, [
        "List Scope * *",
        "List Scope team *",
        "List Scope * app=x",
        "List Scope * app=y,tier"
      ])
    })
  )

  it.effect("outside of a pass, as in a mapped watch, is only a read", () =>
    Effect.gen(function* () {
      const { context } = fakePass({ stored: [docs] })
      const outside = Context.omit(Pass)(context as Context.Context<Pass>) as Context.Context<any>
      const found = yield* Effect.provideContext(Cached.list(Scope), outside)
      assert.strictEqual(found.length, 1)
    })
  )

  it.effect("a kind that was not declared, read past the types, is a defect that names it", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Cached.list(ConfigMap) as Effect.Effect<unknown>)
      assert.isTrue(Exit.isFailure(exit))
      if (Exit.isFailure(exit))
        assert.match(Cause.pretty(exit.cause), /Service not found: @fixpoint\/core\/Reads\/ConfigMap/)
    })
  )
})
