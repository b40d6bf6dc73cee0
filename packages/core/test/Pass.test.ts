import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Cached from "../src/Cached.ts"
import * as Owned from "../src/Owned.ts"
import * as Pass from "../src/Pass.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { ConfigMap, Role, Scope } from "../typetest/access.ts"
import { decoded, editor, fakePass } from "./passes.ts"

const defectOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? exit.cause.reasons.filter(Cause.isDieReason)[0]?.defect : undefined

/** No time at all is no wish: it would be a hot loop. */
const soonest = (wishes: ReadonlyArray<number>): number | undefined => {
  const times = wishes.filter((millis) => millis > 0)
  return times.length === 0 ? undefined : Math.min(...times)
}

describe("what a pass is told", () => {
  it.effect.prop(
    "the soonest wish to come back counts, in whatever order they are said",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })))],
    ([wishes]) => {
      const fake = fakePass()
      return Effect.forEach(wishes, (millis) => Pass.requeueAfter(millis)).pipe(
        Effect.provideContext(fake.context),
        Effect.map(() => assert.strictEqual(fake.pass.record.requeueAfterMillis, soonest(wishes)))
      )
    },
    { arbitrary: { runs: 1_000 } }
  )

  it.effect("a wish that is no time is none, rather than a hot loop", () =>
    Effect.gen(function* () {
      const fake = fakePass()
      const said = Effect.provideContext(fake.context)
      for (const wish of [NaN, Infinity, Duration.infinity, -5, "soon" as any]) {
        yield* said(Pass.requeueAfter(wish))
        assert.isUndefined(fake.pass.record.requeueAfterMillis, String(wish))
      }
    })
  )

  it.effect("what changed, what is announced, fields and conditions are gathered", () =>
    Effect.gen(function* () {
      const fake = fakePass()
      yield* Effect.gen(function* () {
        yield* Pass.changed("created the DNS record")
        yield* Pass.announce("Updated", "first")
        yield* Pass.announce("Created", "DNS record")
        yield* Pass.status(Role, { rules: 3 })
        yield* Pass.condition({ type: "Granted", status: "True", reason: "Granted", message: "" })
      }).pipe(Effect.provideContext(fake.context))
      const { announced, conditions, draft, ledger } = fake.pass.record
      assert.deepStrictEqual(ledger, [{ action: "said", text: "created the DNS record" }])
      assert.deepStrictEqual(announced, { reason: "Created", message: "DNS record" })
      assert.deepStrictEqual(draft, { rules: 3 })
      assert.deepStrictEqual(conditions, [{ type: "Granted", status: "True", reason: "Granted", message: "" }])
    })
  )

  it.effect("the status of another kind is not written into this one's", () =>
    Effect.gen(function* () {
      const fake = fakePass()
      const exit = yield* Effect.exit(Effect.provideContext(Pass.status(Scope, { members: 1 }), fake.context))
      assert.match(
        String(defectOf(exit)),
        /this pass is of access.example.com\/Role: the status of access.example.com\/Scope/
      )
      assert.deepStrictEqual(fake.pass.record.draft, {})
    })
  )
})

describe("a pass that has ended", () => {
  it.effect("is told by a defect in whoever still calls it, logged once, and nothing is written or read", () =>
    Effect.gen(function* () {
      const fake = fakePass()
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => void lines.push(message))
      fake.pass.record.closed = true
      const late: ReadonlyArray<Effect.Effect<unknown, any, any>> = [
        Pass.changed("too late"),
        Pass.requeueAfter("1 second"),
        Pass.announce("Created", ""),
        Pass.status(Role, { rules: 1 }),
        Pass.condition({ type: "Granted", status: "True", reason: "Granted", message: "" }),
        Cached.find(Scope, { namespace: "team", name: "docs" }),
        Cached.list(Scope),
        Owned.apply(ConfigMap, { metadata: { name: "x" }, data: {} }),
        Owned.applyAll(ConfigMap, []),
        Owned.remove(ConfigMap, "x"),
        Reconciler.for(Role)
          .pipe(Reconciler.status(() => ({ rules: 1 })))
          .run({ object: decoded(Role, editor) })
      ]
      for (const call of late) {
        const exit = yield* Effect.exit(
          Effect.provideContext(call, fake.context).pipe(Effect.provide(Logger.layer([logger])))
        )
        const defect = defectOf(exit)
        assert.instanceOf(defect, Pass.PassEnded)
        assert.match((defect as Pass.PassEnded).message, /^the pass of Role team\/editor has ended: /)
      }
      assert.strictEqual(lines.length, 1)
      assert.deepStrictEqual(fake.pass.record, { ...Pass.makeRecord(), closed: true })
      assert.deepStrictEqual([fake.subscribed, fake.asked], [[], []])
    })
  )
})
