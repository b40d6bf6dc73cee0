import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { atMostMillis, mergeExits, mergeFailures } from "../src/internal/mergeFailures.ts"
import { Fatal, NotReady, type ReconcileError, Temporary, during, textOf } from "../src/ReconcileError.ts"

const Failure = Schema.Struct({
  tag: Schema.Literals(["NotReady", "Temporary", "Fatal"]),
  reason: Schema.Literals(["A", "B", "C"]),
  message: Schema.Literals(["x", "y", "z", ""]),
  millis: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 }))),
  operation: Schema.optionalKey(Schema.Literals(["reading", "writing"]))
})
const failure: Arbitrary.Arbitrary<ReconcileError> = Arbitrary.schema(Failure).pipe(
  Arbitrary.map(({ message, millis, operation, reason, tag }) => {
    const fields = { reason, message, ...(operation !== undefined && { operation }) }
    switch (tag) {
      case "NotReady":
        return new NotReady({ ...fields, ...(millis !== undefined && { requeueAfter: millis }) })
      case "Temporary":
        return new Temporary({ ...fields, ...(millis !== undefined && { delay: Duration.millis(millis) }) })
      case "Fatal":
        return new Fatal(fields)
    }
  })
)
const failures = Arbitrary.array(failure, { minLength: 1, maxLength: 6 }) as Arbitrary.Arbitrary<
  [ReconcileError, ...Array<ReconcileError>]
>
const runs = { arbitrary: { runs: 2_000 } }

/** Everything of a failure that decides or is told. */
const view = (error: ReconcileError) => ({
  tag: error._tag,
  reason: error.reason,
  text: textOf(error),
  operation: error.operation,
  delay: error._tag === "Temporary" ? millisOf(error.delay) : undefined,
  requeueAfter: error._tag === "NotReady" ? millisOf(error.requeueAfter) : undefined,
  atMost: atMostMillis(error)
})

/** No time at all is no wish. */
const millisOf = (input: Duration.Input | undefined): number | undefined =>
  input === undefined ? undefined : Duration.toMillis(input) || undefined

const stated = (error: ReconcileError): number | undefined => {
  const { delay, requeueAfter } = view(error)
  return delay ?? requeueAfter
}

describe("several failures as one", () => {
  it.prop(
    "take class and reason of the first with the highest rank: Temporary, Fatal, NotReady (B45)",
    [failures],
    ([errors]) => {
      const lead = ["Temporary", "Fatal", "NotReady"].flatMap((tag) => errors.filter(({ _tag }) => _tag === tag))[0]!
      const merged = mergeFailures(errors)
      assert.deepStrictEqual([merged._tag, merged.reason], [lead._tag, lead.reason])
    },
    runs
  )

  it.prop(
    "come back as soon as the soonest of them wants: a far delay never beats a near one (B45)",
    [failures],
    ([errors]) => {
      const merged = mergeFailures(errors)
      const wishes = errors.map(stated).filter((wish) => wish !== undefined)
      const soonest = wishes.length === 0 ? undefined : Math.min(...wishes)
      assert.strictEqual(errors.length === 1 ? stated(merged) : (stated(merged) ?? atMostMillis(merged)), soonest)
      // One of them on the backoff keeps the whole on the backoff, which may be sooner than any stated time.
      if (
        errors.length > 1 &&
        merged._tag === "Temporary" &&
        errors.some((error) => error._tag === "Temporary" && millisOf(error.delay) === undefined)
      )
        assert.isUndefined(merged.delay)
    },
    runs
  )

  it.prop(
    "keep every text, with the operation that it belongs to",
    [failures],
    ([errors]) => {
      const text = textOf(mergeFailures(errors))
      if (errors.length > 1)
        for (const error of errors)
          assert.include(
            text,
            error.operation === undefined ? textOf(error) : `${error.operation} failed: ${textOf(error)}`
          )
    },
    runs
  )

  it.prop(
    "may be merged in any grouping",
    [failures, failures, failures],
    ([a, b, c]) => {
      const flat = view(mergeFailures([...a, ...b, ...c]))
      assert.deepStrictEqual(view(mergeFailures([mergeFailures([...a, ...b]), ...c])), flat)
      assert.deepStrictEqual(view(mergeFailures([...a, mergeFailures([...b, ...c])])), flat)
      // Copying a failure, as `during` does, keeps what it was made of.
      const named = during("operating")(mergeFailures([...a, ...b]))
      assert.strictEqual(atMostMillis(named), atMostMillis(mergeFailures([...a, ...b])))
    },
    runs
  )

  it.prop(
    "are the failure itself if there is but one",
    [failure],
    ([error]) => {
      assert.strictEqual(mergeFailures([error]), error)
    },
    runs
  )

  it("a delay that is no time counts for none: it is on the backoff, and the soonest wish bounds that", () => {
    for (const delay of [NaN, Infinity, -1, 0, "soon" as any]) {
      const merged = mergeFailures([
        new Temporary({ reason: "A", delay }),
        new NotReady({ reason: "B", requeueAfter: 5 })
      ])
      assert.deepStrictEqual([view(merged).delay, view(merged).atMost], [undefined, 5])
    }
  })

  it.effect(
    "a failure that says nothing of what happens next, or a defect, is left to who settles, with all the others beside it",
    () =>
      Effect.gen(function* () {
        const exits = [Exit.succeed(1), Exit.fail(new Fatal({ reason: "A" })), Exit.die("bug"), Exit.fail("foreign")]
        const exit = yield* Effect.exit(mergeExits<number, unknown>(exits))
        assert.isTrue(Exit.isFailure(exit))
        if (Exit.isFailure(exit))
          assert.deepStrictEqual(
            exit.cause.reasons.map((reason) => reason._tag),
            ["Fail", "Die", "Fail"]
          )
        assert.deepStrictEqual(yield* mergeExits([Exit.succeed(1), Exit.succeed(2)]), [1, 2])
        assert.isTrue(Cause.hasDies((exit as Exit.Failure<any, any>).cause))
      })
  )
})
