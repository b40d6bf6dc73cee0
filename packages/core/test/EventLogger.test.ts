import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Controller from "../src/Controller.ts"
import * as Event from "../src/Event.ts"
import * as EventLogger from "../src/EventLogger.ts"
import * as EventPoster from "../src/EventPoster.ts"
import * as Pass from "../src/Pass.ts"
import type { EventCall } from "../src/PostingPolicy.ts"
import * as PostingPolicy from "../src/PostingPolicy.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as Reporting from "../src/Reporting.ts"
import { fakePass, object } from "./passes.ts"
import { api, docs, quiet, running, Scope } from "./world.ts"
import { Role } from "../typetest/access.ts"

const loggers: PostingPolicy.PostingPolicy = { ...PostingPolicy.standard, loggers: true }

/** What an effect leaves for the events of its pass, under a policy. */
const mirrored = (
  effect: Effect.Effect<unknown, unknown>,
  policy: PostingPolicy.PostingPolicy = loggers
): Effect.Effect<ReadonlyArray<EventCall>> => {
  const { context, pass } = fakePass({ kind: Role, object: object(Role, "editor", {}) })
  return Effect.exit(effect).pipe(
    Effect.provideContext(context),
    Effect.provideService(PostingPolicy.PostingPolicy, policy),
    Effect.provide(EventLogger.layer),
    Effect.as(pass.record.events)
  ) as Effect.Effect<ReadonlyArray<EventCall>>
}

const words = (calls: ReadonlyArray<EventCall>): ReadonlyArray<string> =>
  calls.map((call) => (call._tag === "log" ? `${String(call.level)} ${call.message}` : call._tag))

describe("EventLogger", () => {
  it.effect("a record of a pass is a call about its object, at the time of the record (P6, D16, D17)", () =>
    Effect.gen(function* () {
      const [call, ...rest] = yield* mirrored(Effect.logInfo("looked", "around", { at: 3 }))
      assert.deepStrictEqual(rest, [])
      assert.deepInclude(call, { _tag: "log", level: "Info", at: 0, inPass: true, housekeeping: false })
      assert.deepInclude(call!.about, { kind: "Role" })
      assert.strictEqual((call as PostingPolicy.LogCall).message, 'looked around {"at":3}')
    })
  )

  it.effect("what is logged with an error bears its trace (P8)", () =>
    Effect.gen(function* () {
      const [text] = words(yield* mirrored(Effect.logError("odd", Cause.fail(new TypeError("boom")))))
      assert.match(text!, /^Error odd\nTypeError: boom\n\s+at /)
    })
  )

  it.effect("with loggers off, below the level or below the fiber's own level nothing is kept (P6, P9)", () =>
    Effect.gen(function* () {
      const log = Effect.logInfo("x")
      assert.deepStrictEqual(yield* mirrored(log, PostingPolicy.standard), [])
      assert.deepStrictEqual(yield* mirrored(log, { ...loggers, enabled: false }), [])
      assert.deepStrictEqual(yield* mirrored(log, { ...loggers, level: "Warn" }), [])
      const low = { ...loggers, level: "Debug" } as const
      assert.deepStrictEqual(yield* mirrored(Effect.logDebug("x"), low), [])
      const all = Effect.provideService(Effect.logDebug("x"), References.MinimumLogLevel, "Debug")
      assert.deepStrictEqual(words(yield* mirrored(all, low)), ["Debug x"])
    })
  )

  it.effect("book-keeping is never kept, whatever the policy (P7)", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* mirrored(EventLogger.unposted(Effect.logFatal("x"))), [])
      assert.deepStrictEqual(words(yield* mirrored(Effect.logFatal("x"))), ["Fatal x"])
    })
  )

  it.effect("a pass that has ended, and no pass at all, keep nothing (P6)", () =>
    Effect.gen(function* () {
      const ended = Pass.Pass.use((pass) => {
        pass.record.closed = true
        return Effect.logError("late")
      })
      assert.deepStrictEqual(yield* mirrored(ended as Effect.Effect<void>), [])
      yield* Effect.logError("nowhere").pipe(
        Effect.provideService(PostingPolicy.PostingPolicy, loggers),
        Effect.provide(Logger.layer([EventLogger.logger]))
      )
    })
  )

  it.effect("a step that logs without end keeps a hundred records, and the last says so", () =>
    Effect.gen(function* () {
      const calls = words(yield* mirrored(Effect.repeat(Effect.logInfo("again"), { times: 5_000 })))
      assert.deepStrictEqual(
        [calls.length, calls[99], calls[100]],
        [101, "Info again", "Info what this pass logs further is not posted"]
      )
    })
  )

  it.effect("a value that cannot be made text fails neither the log call nor the pass (P8)", () =>
    Effect.gen(function* () {
      const odd = {
        toJSON() {
          throw new Error("no text")
        },
        toString() {
          throw new Error("no text")
        }
      }
      const { context } = fakePass({ kind: Role, object: object(Role, "editor", {}) })
      const exit = yield* Effect.exit(
        Effect.log(odd).pipe(
          Effect.provideContext(context),
          Effect.provideService(PostingPolicy.PostingPolicy, loggers),
          Effect.provide(Logger.layer([EventLogger.logger]))
        )
      )
      assert.deepStrictEqual(exit, Exit.void)
    })
  )
})

describe("the log path, through a Manager", () => {
  const said = (
    step: Effect.Effect<unknown, Temporary | Fatal | NotReady, Pass.Pass>,
    policy: PostingPolicy.PostingPolicy,
    reporting: Reporting.Reporting = Reporting.kopf
  ): Effect.Effect<ReadonlyArray<string>, any> => {
    const told: Array<string> = []
    const controller = Controller.make({ for: Scope, reconciler: Reconciler.fromEffect(Scope, () => step) })
    const world = Layer.mergeAll(
      api(),
      EventPoster.layerMemory,
      Layer.succeed(PostingPolicy.PostingPolicy, policy),
      Layer.succeed(Reporting.Reporting, reporting)
    )
    return Effect.as(
      running(
        [controller],
        ({ api }) =>
          Effect.gen(function* () {
            yield* api.create(Scope, docs)
            yield* quiet
            const recorded = yield* EventPoster.Recorded
            for (const { message, reason, type } of yield* recorded.said)
              told.push(`${type} ${reason}: ${message.split("\n")[0]}`)
          }),
        { world }
      ),
      told
    )
  }

  const failing = Event.info({ reason: "Began", message: "asking" }).pipe(
    Effect.andThen(Effect.logWarning("the registry is slow")),
    Effect.andThen(Effect.fail(new Temporary({ operation: "registering", cause: new Error("refused") })))
  )

  it.effect("with loggers off a failure posts what the Reporting says and no line of the log (P9, P10)", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* said(failing, PostingPolicy.standard), [
        "Normal Began: asking",
        "Warning ReconcileFailed: registering failed: refused"
      ])
      // The trap: a Temporary failure alone posts nothing.
      assert.deepStrictEqual(yield* said(failing, PostingPolicy.kopf, Reporting.none), ["Normal Began: asking"])
    })
  )

  it.effect(
    "with loggers on its line is posted too where nothing else tells it, and as kopf does beside the Warning (D16, P10)",
    () =>
      Effect.gen(function* () {
        const told = ["Normal Began: asking", "Warning Logging: the registry is slow"]
        const warning = "Warning ReconcileFailed: registering failed: refused"
        const line = "Error Logging: registering failed: refused"
        assert.deepStrictEqual(yield* said(failing, loggers), [...told, warning])
        assert.deepStrictEqual(yield* said(failing, { ...PostingPolicy.kopf, loggers: true }), [...told, warning, line])
        assert.deepStrictEqual(yield* said(failing, loggers, Reporting.none), [...told, line])
      })
  )

  it.effect("a Warning that the step itself said is not that of its failure: the line stands beside it (D16)", () =>
    Effect.gen(function* () {
      const step = Effect.andThen(
        Event.event({ type: "Warning", reason: "NearlyFull", message: "90 %" }),
        Effect.fail(new Fatal({ reason: "Odd", message: "odd" }))
      )
      assert.deepStrictEqual(yield* said(step, loggers, Reporting.none), [
        "Warning NearlyFull: 90 %",
        "Error Logging: reconciling failed: odd"
      ])
    })
  )

  it.effect("what the engine logs of a success or of waiting is not posted at level Info (P7)", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* said(Pass.changed("made it"), loggers, Reporting.none), [])
      const waiting = Effect.fail(new NotReady({ reason: "ScopeNotFound", message: "no scope" }))
      assert.deepStrictEqual(yield* said(waiting, loggers, Reporting.none), [])
    })
  )
})
