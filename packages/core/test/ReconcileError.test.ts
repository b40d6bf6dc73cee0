import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApiError from "../src/ApiError.ts"
import * as ReconcileError from "../src/ReconcileError.ts"
import { Fatal, NotReady, Temporary } from "../src/ReconcileError.ts"

const answer = (code: number, body: object = {}, retryAfterSeconds?: number) =>
  ApiError.fromAnswer(
    { verb: "get", resource: "widgets.example.com", ref: { namespace: "ns1", name: "a" } },
    { code, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  )

describe("ReconcileError", () => {
  it.effect("a failure is yieldable, caught by tag, an Error, and bears no stack", () =>
    Effect.gen(function* () {
      const caught = yield* Effect.gen(function* () {
        return yield* new Fatal({ reason: "Denied", message: "no" })
      }).pipe(Effect.catchTag("Fatal", Effect.succeed))
      assert.isTrue(caught instanceof Error && caught instanceof Fatal)
      assert.strictEqual(Cause.pretty(Cause.fail(caught)), "Fatal: no")
      assert.deepStrictEqual(JSON.parse(JSON.stringify(caught)), { _tag: "Fatal", reason: "Denied", message: "no" })
    })
  )

  it("NotReady is found anywhere in a chain, keeps its own text and its cause (K15, K16)", () => {
    const cause = new Error("disk")
    const notReady = new NotReady({ reason: "ScopeNotFound", message: "no scope", cause })
    for (const wrapped of [
      new Error("persist", { cause: notReady }),
      new AggregateError([new Error("a"), new Error("b", { cause: notReady })]),
      { _tag: "SqlError", reason: { _tag: "X", cause: notReady } },
      Cause.die(notReady)
    ]) {
      const found = ReconcileError.classify(wrapped)
      assert.strictEqual(found, notReady)
      assert.strictEqual(found.message, "no scope")
      assert.strictEqual(found.cause, cause)
    }
  })

  it("NotReady outranks an ApiError and the other failures in one chain (K24, D1)", () => {
    const notReady = new NotReady({ reason: "X" })
    assert.strictEqual(ReconcileError.classify(new AggregateError([answer(500), new Fatal({}), notReady])), notReady)
  })

  it("a Temporary or Fatal made on purpose stands as it is, whatever its cause (D1)", () => {
    const temporary = new Temporary({ cause: new NotReady({ reason: "X" }) })
    assert.strictEqual(ReconcileError.classify(temporary), temporary)
  })

  it("what the API answered says how soon to come back (D4, C4)", () => {
    const of = (error: ApiError.ApiError) => {
      const { delay, reason } = ReconcileError.fromApiError(error)
      return [reason, delay === undefined ? undefined : Duration.toMillis(delay)]
    }
    assert.deepStrictEqual(of(answer(500)), [undefined, undefined])
    assert.deepStrictEqual(of(answer(503, {}, 7)), [undefined, 7_000])
    assert.deepStrictEqual(of(answer(429, {}, 3)), [undefined, 3_000])
    assert.deepStrictEqual(of(answer(409, { reason: "Conflict" })), ["Conflict", undefined])
    assert.deepStrictEqual(of(answer(422, { reason: "Invalid", details: {} })), ["Conflict", undefined])
    assert.deepStrictEqual(of(answer(422, { reason: "Invalid", details: { name: "a" } })), ["Invalid", 300_000])
    assert.deepStrictEqual(of(answer(403)), ["Forbidden", 300_000])
    assert.deepStrictEqual(of(answer(404)), ["NotFound", 300_000])
  })

  it("an unknown error becomes Temporary with its text and keeps its cause (C2)", () => {
    const cause = new Error("ENOSPC")
    const error = ReconcileError.classify(cause)
    assert.strictEqual(error._tag, "Temporary")
    assert.strictEqual(error.message, "ENOSPC")
    assert.strictEqual(error.cause, cause)
  })

  it("the operation nearest to the failure names it", () => {
    const inner = ReconcileError.during("outer")(ReconcileError.during("inner")(new Fatal({ message: "no" })))
    assert.strictEqual(inner.operation, "inner")
    assert.isTrue(inner instanceof Fatal)
    assert.strictEqual(inner.message, "no")
  })

  const hostile = Arbitrary.schema(
    Schema.Struct({
      depth: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
      wide: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
      at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
    })
  )
  it.effect.prop(
    "looking through a cyclic, wide and throwing chain ends, and finds what lies within 32 steps (D3)",
    [hostile],
    ([{ at, depth, wide }]) =>
      Effect.sync(() => {
        const notReady = new NotReady({ reason: "X" })
        const links: Array<any> = Array.from({ length: depth + 1 }, () => ({ errors: [] as Array<unknown> }))
        links.forEach((link, i) => {
          link.cause = links[i + 1] ?? links[0]
          for (let k = 0; k < wide; k++) link.errors.push(links[(i * 7 + k) % links.length])
          Object.defineProperty(link, "reason", {
            get() {
              throw new Error("getter")
            }
          })
        })
        const holder = links[Math.min(at, depth)]
        holder.defect = notReady
        const found = ReconcileError.classify(links[0])
        if (Math.min(at, depth) < 32) assert.strictEqual(found, notReady)
        else assert.include(["NotReady", "Temporary"], found._tag)
      }),
    { arbitrary: { runs: 1_000 } }
  )
})
