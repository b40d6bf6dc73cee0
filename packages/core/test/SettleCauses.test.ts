import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { fromAnswer } from "../src/ApiError.ts"
import { settle, type Settlement } from "../src/internal/settle.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import { facts, object, readyOf, told } from "./settled.ts"

const notReady = new NotReady({ reason: "ScopeNotFound", message: "no scope" })
const temporary = new Temporary({ reason: "Busy", message: "try later" })
const dies = Effect.die(new Error("clean-up died"))

const settled = (effect: Effect.Effect<unknown, unknown>): Effect.Effect<Settlement> =>
  Effect.map(Effect.exit(effect), (exit) => settle(facts({ exit })))

describe("settle, over causes that Effect makes", () => {
  // A typed failure arrives as a defect, or beside one, in each of these.
  it.effect.each([
    ["ensuring", Effect.ensuring(Effect.fail(notReady), dies)],
    ["onExit", Effect.onExit(Effect.fail(notReady), () => dies)],
    [
      "acquireUseRelease",
      Effect.acquireUseRelease(
        Effect.void,
        () => Effect.fail(notReady),
        () => dies
      )
    ],
    [
      "a scope whose finalizer dies",
      Effect.scoped(
        Effect.andThen(
          Effect.addFinalizer(() => dies),
          Effect.fail(notReady)
        )
      )
    ],
    [
      "all with a dying sibling",
      Effect.all([Effect.fail(notReady), Effect.onInterrupt(Effect.never, () => dies)], { concurrency: 2 })
    ],
    [
      "all with a sibling that has died",
      Effect.all([Effect.andThen(Effect.yieldNow, Effect.fail(notReady)), Effect.ensuring(Effect.never, dies)], {
        concurrency: 2
      })
    ],
    [
      "race",
      Effect.raceFirst(
        Effect.fail(notReady),
        Effect.onInterrupt(Effect.never, () => dies)
      )
    ],
    ["a promise that rejects with it", Effect.promise(() => Promise.reject(notReady))],
    [
      "a promise that rejects with a wrapper",
      Effect.promise(() => Promise.reject(new Error("persist", { cause: notReady })))
    ],
    [
      "a throw inside sync",
      Effect.sync(() => {
        throw notReady
      })
    ],
    [
      "an aggregate of rejections",
      Effect.promise(() => Promise.any([Promise.reject(new Error("a")), Promise.reject(notReady)]))
    ],
    ["a joined fiber's exit as a defect", Effect.die(Exit.fail(notReady))],
    ["a cause as a defect", Effect.die(Cause.combine(Cause.die("x"), Cause.fail(notReady)))],
    ["orDie", Effect.orDie(Effect.fail(notReady))]
  ] as ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>]>)(
    "a NotReady is found in %s (D3, K15, K16)",
    ([, effect]) =>
      Effect.gen(function* () {
        const settlement = yield* settled(effect)
        assert.strictEqual(settlement.outcome, "NotReady")
        assert.deepInclude(readyOf(settlement), { reason: "ScopeNotFound", message: "no scope" })
      })
  )

  it.effect("the defect beside a NotReady is logged with it (D3)", () =>
    Effect.gen(function* () {
      const { log } = yield* settled(
        Effect.all(
          [Effect.andThen(Effect.yieldNow, Effect.fail(notReady)), Effect.onInterrupt(Effect.never, () => dies)],
          {
            concurrency: 2
          }
        )
      )
      assert.strictEqual(log.annotations.others, "clean-up died")
    })
  )

  it("of several failures a NotReady wins, wherever it stands (D3)", () => {
    const causes: ReadonlyArray<Cause.Cause<unknown>> = [
      Cause.fail(temporary),
      Cause.fail(new Fatal({})),
      Cause.fail(notReady)
    ]
    const exit = Exit.failCause(Cause.fromReasons(causes.flatMap(({ reasons }) => reasons)))
    assert.strictEqual(settle(facts({ exit })).outcome, "NotReady")
  })

  it("and so it does deep inside of one wrapper, behind others of ours (D3, K16)", () => {
    const wrapper = new Error("persist", { cause: { errors: [temporary, new Fatal({}), { cause: notReady }] } })
    assert.strictEqual(settle(facts({ exit: Exit.die(wrapper) })).outcome, "NotReady")
  })

  it.effect("a Temporary made on purpose stands, though a NotReady caused it (D1)", () =>
    Effect.gen(function* () {
      const wrapped = new Temporary({ message: "try later", cause: notReady })
      assert.strictEqual((yield* settled(Effect.fail(wrapped))).outcome, "Temporary")
      assert.strictEqual((yield* settled(Effect.ensuring(Effect.fail(wrapped), dies))).outcome, "Temporary")
    })
  )

  it.effect(
    "an API error that became a defect is judged by its answer, and a NotReady beside it outranks it (D1, D4, K24)",
    () =>
      Effect.gen(function* () {
        const api = fromAnswer({ verb: "get", resource: "scopes" }, { code: 503, body: "" })
        assert.strictEqual((yield* settled(Effect.die(api))).outcome, "Temporary")
        const both = Object.assign(new Error("persist"), { errors: [api, notReady] })
        assert.strictEqual((yield* settled(Effect.die(both))).outcome, "NotReady")
      })
  )

  it.effect("a pass that joins an interrupted fiber is not taken for an interrupted pass (C1)", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.never)
      yield* Fiber.interrupt(fiber)
      const settlement = yield* settled(Fiber.join(fiber))
      assert.deepStrictEqual([settlement.outcome, settlement.backingOff], ["defect", true])
    })
  )

  it.effect("a TypeError in a step, in a promise or in a callback is a defect that tells itself (B43)", () =>
    Effect.gen(function* () {
      for (const effect of [
        Effect.sync(() => (undefined as any).x),
        Effect.promise(async () => (undefined as any).x),
        Effect.gen(function* () {
          yield* Effect.void
          return (undefined as any).x
        })
      ]) {
        const settlement = yield* settled(effect)
        assert.strictEqual(settlement.outcome, "defect")
        assert.match(told(settlement)[0]!, /^Warning ReconcileFailed: reconciling failed: Cannot read properties/)
      }
    })
  )
})

const cyclic = (): Error => {
  const error: any = new Error("")
  error.cause = error
  error.errors = [error, { cause: error }]
  return error
}
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const trap = (): object =>
  new Proxy(new Temporary({ message: "x" }), {
    get: () => {
      throw new Error("get")
    },
    getPrototypeOf: () => {
      throw new Error("getPrototypeOf")
    }
  })
const getters = (): object =>
  Object.defineProperties(new Temporary({}), {
    message: {
      get: () => {
        throw new Error("message")
      }
    },
    reason: {
      get: () => {
        throw new Error("reason")
      }
    },
    delay: {
      get: () => {
        throw new Error("delay")
      }
    },
    operation: {
      get: () => {
        throw new Error("operation")
      }
    },
    cause: {
      get: () => {
        throw new Error("cause")
      }
    }
  })
const deep = (): object => {
  let error: object = new NotReady({ reason: "TooDeep", message: "out of sight" })
  for (let i = 0; i < 10_000; i++) error = { cause: error }
  return error
}
const wide = (): object => ({ errors: Array.from({ length: 100_000 }, (_, i) => ({ cause: { message: `e${i}` } })) })
const hostile: Readonly<Record<string, () => unknown>> = {
  cyclic,
  revoked,
  trap,
  getters,
  deep,
  wide,
  megabyte: () => new Error("x".repeat(2 ** 20)),
  surrogates: () => new Temporary({ message: "\ud800a\udc00\ud83d", reason: "\ud800", operation: "\udfff" }),
  wrongTypes: () => new Temporary({ message: 5, reason: {}, operation: [], delay: {} } as any),
  nullProto: () => Object.create(null),
  symbol: () => Symbol("s"),
  bigint: () => 5n,
  function: () => () => {},
  undefined: () => undefined,
  null: () => null,
  empty: () => "",
  toStringThrows: () => ({
    toString: () => {
      throw new Error("toString")
    }
  })
}

const wellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

const texts = (settlement: Settlement): ReadonlyArray<string> => [
  settlement.log.message,
  ...Object.values(settlement.log.annotations).map(String),
  ...told(settlement),
  ...(settlement.status?.conditions ?? []).flatMap(({ message, reason }) => [message, reason])
]

describe("settle, over hostile failures", () => {
  it.each(Object.entries(hostile))(
    "%s neither throws nor stalls, and everything said is valid text of bounded length (D3)",
    (_, make) => {
      for (const cause of [
        Cause.die(make()),
        Cause.fail(make()),
        Cause.fromReasons([...Cause.die(make()).reasons, ...Cause.fail(make()).reasons])
      ]) {
        const began = performance.now()
        const settlement = settle(facts({ exit: Exit.failCause(cause) }))
        assert.isBelow(performance.now() - began, 500)
        assert.include(["defect", "Temporary"], settlement.outcome)
        for (const text of texts(settlement)) {
          assert.isTrue(wellFormed(text))
          assert.isAtMost(Buffer.byteLength(text), 70_000)
        }
        assert.match(readyOf(settlement)!.reason, /^[A-Za-z][A-Za-z0-9_,:]*$/)
        assert.isAtMost(Buffer.byteLength(readyOf(settlement)!.message), 32_768)
        assert.isTrue(settlement.requeue._tag === "after" && settlement.requeue.millis >= 0)
      }
    }
  )

  it("an empty cause is a failure too", () => {
    assert.strictEqual(settle(facts({ exit: Exit.failCause(Cause.empty) })).outcome, "defect")
  })
})

const texts1 = Schema.Literals(["", "a", "Word", "not a word", "\ud800", "日本", "x".repeat(3_000)])
const Failure: Schema.Codec<any> = Schema.Struct({
  tag: Schema.Literals(["NotReady", "Temporary", "Fatal", "Error", "Api"]),
  die: Schema.Boolean,
  wrap: Schema.Boolean,
  reason: texts1,
  message: texts1,
  millis: Schema.Literals([-1, 0, 17, 2 ** 31, 2 ** 53])
})
const Scene = Schema.Struct({
  failures: Schema.Array(Failure),
  interrupt: Schema.Boolean,
  stopping: Schema.Boolean,
  due: Schema.Boolean,
  generation: Schema.Literals([1, 2]),
  deleting: Schema.Boolean,
  ready: Schema.Literals(["none", "Synced", "Word"]),
  remembered: Schema.Boolean,
  jitter: Schema.Literals([0, 0.25, 0.999]),
  ledger: Schema.Boolean
})

const failureOf = ({ message, millis, reason, tag }: any): unknown => {
  switch (tag) {
    case "NotReady":
      return new NotReady({ reason, message, requeueAfter: millis })
    case "Temporary":
      return new Temporary({ reason, message, ...(millis > 0 && { delay: millis }) })
    case "Fatal":
      return new Fatal({ reason, message })
    case "Api":
      return fromAnswer({ verb: "get", resource: "x" }, { code: 400 + (millis % 7), body: message })
    default:
      return new Error(message)
  }
}

const exitOf = ({ failures, interrupt }: typeof Scene.Type): Exit.Exit<unknown, unknown> => {
  if (failures.length === 0 && !interrupt) return Exit.void
  const reasons = failures.map((failure: any) => {
    const error = failure.wrap ? { cause: { errors: [failureOf(failure)] } } : failureOf(failure)
    return (failure.die ? Cause.die(error) : Cause.fail(error)).reasons[0]!
  })
  return Exit.failCause(Cause.fromReasons([...reasons, ...(interrupt ? Cause.interrupt(1).reasons : [])]))
}

const factsOf = (scene: typeof Scene.Type) =>
  facts({
    exit: exitOf(scene),
    object: object(
      { generation: scene.generation, ...(scene.deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
      scene.ready === "none"
        ? undefined
        : { status: scene.ready === "Synced" ? "True" : "False", reason: scene.ready, message: "m" }
    ),
    stopping: scene.stopping,
    due: scene.due,
    retryIn: scene.due ? undefined : 700,
    jitter: scene.jitter,
    ...(scene.remembered && {
      memory: {
        failures: { uid: "uid1", generation: 1, deleting: false, count: 3, conflicts: 1, since: 5 },
        written: {
          uid: "uid1",
          generation: 1,
          resourceVersion: "11",
          ready: { type: "Ready", status: "False", reason: "Word", message: "w" },
          announced: undefined,
          messageAt: 999_000
        }
      }
    }),
    pass: { ledger: scene.ledger ? [{ action: "updated", text: "x" }] : [], draft: { a: 1 } }
  })

describe("settle, for any exit", () => {
  it.prop(
    "is total, gives equal decisions for equal facts, and every failure comes again (C1, C5, D2)",
    [Arbitrary.schema(Scene)],
    ([scene]) => {
      const given = factsOf(scene)
      const [one, two] = [settle(given), settle(given)]
      assert.deepStrictEqual(JSON.stringify(one), JSON.stringify(two))
      const failed = one.outcome === "Temporary" || one.outcome === "Fatal" || one.outcome === "defect"
      assert.strictEqual(one.backingOff, failed)
      if (failed) assert.strictEqual(one.requeue._tag, "after")
      if (failed && one.status !== undefined)
        assert.deepStrictEqual([one.status.fields, one.status.complete], [{}, false])
      if (one.requeue._tag === "after") assert.isTrue(one.requeue.millis >= 0 && Number.isFinite(one.requeue.millis))
      if (one.outcome === "interrupted") assert.deepStrictEqual([one.status, one.events.length], [undefined, 0])
      // What was found wins over what is only beside it: no NotReady that a step fails with outright is lost.
      const outright = scene.failures.some((failure: any) => failure.tag === "NotReady" && !failure.wrap)
      if (outright) assert.strictEqual(one.outcome, "NotReady")
      const ready = readyOf(one)
      if (ready !== undefined)
        assert.strictEqual(ready.status === "True", one.outcome === "changed" || one.outcome === "unchanged")
      for (const text of texts(one)) assert.isTrue(wellFormed(text))
    },
    { arbitrary: { runs: 2_000 } }
  )
})
