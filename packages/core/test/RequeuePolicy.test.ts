import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { fromAnswer } from "../src/ApiError.ts"
import { failuresOf, type Memory, settle } from "../src/internal/settle.ts"
import { WorkQueue } from "../src/internal/workQueue.ts"
import { Fatal, fromApiError, NotReady, Temporary } from "../src/ReconcileError.ts"
import * as RequeuePolicy from "../src/RequeuePolicy.ts"
import { facts, object } from "./settled.ts"

const policy = RequeuePolicy.standard

describe("RequeuePolicy", () => {
  it("doubles from one second to five minutes, for any number of failures (D2)", () => {
    const steps = [0, 1, 2, 3, 8, 9, 40, 10_000].map((attempt) => RequeuePolicy.stepMillis(policy, attempt))
    assert.deepStrictEqual(steps, [1_000, 2_000, 4_000, 8_000, 256_000, 300_000, 300_000, 300_000])
  })

  it("fifty operators that fail together come back spread over the whole step (B20)", () => {
    const times = Array.from({ length: 50 }, (_, i) => RequeuePolicy.backoffMillis(policy, 5, i / 50))
    assert.isAtLeast(Math.max(...times) - Math.min(...times), 0.2 * RequeuePolicy.stepMillis(policy, 5))
  })

  it("an unlucky random source makes no hot loop: a wait is at least a hundredth of its step", () => {
    assert.deepStrictEqual(
      [0, 1e-9, 0.01].map((jitter) => RequeuePolicy.backoffMillis(policy, 0, jitter)),
      [10, 10, 10]
    )
  })

  it("a jitter that is none is the whole step", () => {
    assert.deepStrictEqual(
      [NaN, -1, 2, Infinity].map((jitter) => RequeuePolicy.backoffMillis(policy, 0, jitter)),
      [1_000, 1_000, 1_000, 1_000]
    )
  })

  it("a policy that could not wait is refused when it is made", () => {
    for (const options of [{ first: 0 }, { max: Infinity }, { recheck: NaN }, { safetyNet: -1 }])
      assert.throws(() => RequeuePolicy.make(options), /finite time above zero/)
    assert.throws(() => RequeuePolicy.make({ first: "1 hour" }), /first is above max/)
  })
})

const outcomes = ["Temporary", "defect", "conflict", "Fatal", "NotReady", "success"] as const
const Script = Schema.Struct({
  outcomes: Schema.Array(Schema.Literals(outcomes)),
  jitters: Schema.Array(Schema.Literals([0, 0.01, 0.3, 0.7, 0.99])),
  wakes: Schema.Array(
    Schema.Struct({
      after: Schema.Literals([0, 1, 50, 150, 999, 5_000, 40_000]),
      origin: Schema.Literals(["changed", "owned", "mapped", "enqueue"])
    })
  )
})

const horizon = 600_000

const exitOf = (outcome: (typeof outcomes)[number], pass: number): Exit.Exit<unknown, unknown> => {
  const message = `something else went wrong in pass ${pass}`
  switch (outcome) {
    case "Temporary":
      return Exit.fail(new Temporary({ message }))
    case "defect":
      return Exit.die(message)
    case "conflict":
      return Exit.fail(fromApiError(fromAnswer({ verb: "patch", resource: "x" }, { code: 409, body: { message } })))
    case "Fatal":
      return Exit.fail(new Fatal({ message }))
    case "NotReady":
      return Exit.fail(new NotReady({ reason: "Waiting", message }))
    case "success":
      return Exit.void
  }
}

interface Ran {
  readonly at: number
  readonly outcome: (typeof outcomes)[number]
}

/** Runs the script on the real queue and the real settle until the horizon; what comes after the script's end is its last outcome. */
const run = ({
  jitters,
  outcomes,
  wakes
}: typeof Script.Type): { readonly passes: ReadonlyArray<Ran>; readonly woken: ReadonlyArray<number> } => {
  const queue = new WorkQueue<Memory>()
  const passes: Array<Ran> = []
  const woken = [0]
  queue.add("a", { origin: "initial" }, 0)
  let next = 0
  let wakeAt = wakes[0]?.after ?? Infinity
  for (let now = 0; now <= horizon;) {
    for (let taken = queue.take(now); taken !== undefined; taken = queue.take(now)) {
      const outcome = outcomes[Math.min(passes.length, outcomes.length - 1)] ?? "Temporary"
      // The jitter belongs to the attempt, as in a run without wakes.
      const attempt = failuresOf(taken.memory, object())?.count ?? 0
      const settlement = settle(
        facts({
          exit: exitOf(outcome, passes.length),
          memory: taken.memory,
          due: taken.due,
          retryIn: taken.retryIn,
          startedAt: now,
          now,
          jitter: jitters[attempt % Math.max(1, jitters.length)] ?? 0.5
        })
      )
      passes.push({ at: now, outcome })
      assert.isBelow(passes.length, 5_000)
      const { backingOff, memory, requeue } = settlement
      queue.done("a", { backingOff, memory, ...(requeue._tag === "after" && { after: requeue.millis }) }, now)
    }
    now = Math.min(queue.nextDue() ?? Infinity, wakeAt)
    if (now === wakeAt && now <= horizon) {
      queue.add("a", { origin: wakes[next]!.origin }, now)
      woken.push(now)
      next++
      wakeAt = next < wakes.length ? now + wakes[next]!.after : Infinity
    }
  }
  return { passes, woken }
}

/** How many passes the backoff alone allows of a streak of failures that begins at `from`. */
const allowed = ({ jitters }: typeof Script.Type, from: number, conflicts: boolean): number => {
  let passes = 0
  for (let at = from; at <= horizon; passes++) {
    const jitter = jitters[passes % Math.max(1, jitters.length)] ?? 0.5
    at += Math.ceil((conflicts ? RequeuePolicy.conflictMillis : RequeuePolicy.backoffMillis)(policy, passes, jitter))
    if (passes > 5_000) return passes
  }
  return passes
}

describe("the law of backoff", () => {
  it.prop(
    "a failing key, told otherwise in every pass, runs within ten minutes no oftener than the backoff allows and real wakes ask (D27, B33, D6)",
    [Arbitrary.schema(Script)],
    ([script]) => {
      const { passes, woken } = run(script)
      // Streaks of failures: a success ends one; waiting neither ends nor counts.
      let streak: { from: number; passes: number; conflicts: boolean } | undefined
      let until = 0
      const check = (): void => {
        if (streak === undefined) return
        const real = woken.filter((at) => at >= streak!.from && at <= until).length
        assert.isAtMost(streak.passes, allowed(script, streak.from, streak.conflicts) + real)
      }
      for (const { at, outcome } of passes) {
        until = at
        if (outcome === "success") {
          check()
          streak = undefined
        } else {
          streak ??= { from: at, passes: 0, conflicts: false }
          streak.passes++
          streak.conflicts ||= outcome === "conflict"
        }
      }
      check()
    },
    { arbitrary: { runs: 1_500 } }
  )

  it("a key that fails alone runs ten times in ten minutes at whole steps (D2)", () => {
    const { passes } = run({ outcomes: ["Temporary"], jitters: [0.99], wakes: [] })
    assert.deepStrictEqual(
      passes.map(({ at }) => at),
      [0, 990, 2_970, 6_930, 14_850, 30_690, 62_370, 125_730, 252_450, 505_890]
    )
  })
})
