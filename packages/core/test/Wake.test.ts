import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { formatRef, type ObjectRef } from "../src/KubeObject.ts"
import * as LabelSelector from "../src/LabelSelector.ts"
import * as Wake from "../src/Wake.ts"
import { Role } from "../typetest/access.ts"
import { fakePass } from "./passes.ts"

const auditor: ObjectRef = { namespace: "team", name: "auditor" }

const waking = (list: ReturnType<Wake.Waker["list"]> = Effect.succeed([auditor, { ...auditor, name: "editor" }])) => {
  const sent: Array<string> = []
  const asked: Array<string> = []
  const waker: Wake.Waker = {
    enqueue: (ref, hops) => void sent.push(`${formatRef(ref)} ${hops}`),
    list: ({ namespace, selector }) => {
      asked.push(`${namespace ?? "*"} ${selector === undefined ? "*" : LabelSelector.format(selector)}`)
      return list
    }
  }
  return { sent, asked, context: Context.make(Wake.wakes(Role), waker) }
}

describe("enqueue", () => {
  it.effect("leaves at once outside of a pass, as a real event", () =>
    Effect.gen(function* () {
      const { context, sent } = waking()
      yield* Effect.provideContext(Wake.enqueue(Role, auditor), context)
      assert.deepStrictEqual(sent, ["team/auditor 0"])
    })
  )

  it.effect("waits inside of a pass until that has settled, and then carries its hops (D14)", () =>
    Effect.gen(function* () {
      const { context, sent } = waking()
      const fake = fakePass({ services: context })
      yield* Effect.provideContext(Wake.enqueue(Role, auditor), fake.context)
      yield* Effect.provideContext(Wake.resync(Role), fake.context)
      assert.deepStrictEqual(sent, [])
      for (const wake of fake.pass.record.wakes) wake(3)
      assert.deepStrictEqual(sent, ["team/auditor 3", "team/auditor 3", "team/editor 3"])
    })
  )

  it.effect("from work that outlived its pass is not lost with it", () =>
    Effect.gen(function* () {
      const { context, sent } = waking()
      const fake = fakePass({ services: context })
      fake.pass.record.closed = true
      yield* Effect.provideContext(Wake.enqueue(Role, auditor), fake.context)
      assert.deepStrictEqual(sent, ["team/auditor 0"])
    })
  )
})

describe("resync", () => {
  it.effect("wakes what the selection chooses, and answers how many (K37)", () =>
    Effect.gen(function* () {
      const { asked, context, sent } = waking()
      assert.strictEqual(yield* Effect.provideContext(Wake.resync(Role), context), 2)
      yield* Effect.provideContext(Wake.resync(Role, { namespace: "team", labels: { app: "x" } }), context)
      assert.deepStrictEqual(asked, ["* *", "team app=x"])
      assert.strictEqual(sent.length, 4)
    })
  )

  it.effect("an interruption during the list ends in one, even if the list is empty and did not wait (K38)", () =>
    Effect.gen(function* () {
      const interrupted = Effect.withFiber((fiber: Fiber.Fiber<unknown, unknown>) => {
        fiber.interruptUnsafe()
        return Effect.succeed([])
      })
      const { context, sent } = waking(interrupted)
      const fiber = yield* Effect.forkChild(Effect.provideContext(Wake.resync(Role), context))
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("an interruption before the list ends in one (K38)", () =>
    Effect.gen(function* () {
      const { asked, context } = waking(Effect.succeed([]))
      const fiber = yield* Effect.forkChild(Effect.provideContext(Wake.resync(Role), context))
      fiber.interruptUnsafe()
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.deepStrictEqual(asked, [])
    })
  )

  it.effect(
    "a kind that nobody reconciles, or whose Manager has stopped, is told instead of waking nothing (K36, D14)",
    () =>
      Effect.gen(function* () {
        const nobody = yield* Effect.flip(Wake.resync(Role) as Effect.Effect<number, Wake.NotSetUp>)
        assert.strictEqual(nobody._tag, "NotSetUp")
        assert.match(nobody.message, /^resync of access.example.com\/Role: no Manager here reconciles it/)
        const { context } = waking(Effect.fail(new Wake.ManagerStopped({ kind: Role.id })))
        const stopped = yield* Effect.flip(Effect.provideContext(Wake.resync(Role), context))
        assert.match(stopped.message, /^resync of access.example.com\/Role: its Manager has stopped/)
      })
  )
})
