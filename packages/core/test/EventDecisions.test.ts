/** What becomes of a saying depends on the policy, on what was said before and on the saying alone (D15, D18): not on the time of day, chance, or who else says something. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { fitted, placeOf } from "../src/internal/eventBody.ts"
import { EventSeries, nameOf, type Saying, type Series } from "../src/internal/eventSeries.ts"
import {
  decide,
  type EventCall,
  kopf,
  type Level,
  type PostingPolicy,
  standard,
  type Subject
} from "../src/PostingPolicy.ts"
import { object } from "./settled.ts"

/** Equal, but another: new objects all the way down, their keys in the opposite order. Errors stay, they have no keys. */
const mirrorOf = <A>(value: A): A => {
  if (Array.isArray(value)) return value.map(mirrorOf) as A
  if (typeof value !== "object" || value === null || value instanceof Error) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, mirrorOf(inner)])
  ) as A
}

const frozen = <A>(value: A): A => {
  if (typeof value === "object" && value !== null && !(value instanceof Error)) {
    Object.values(value).forEach(frozen)
    Object.freeze(value)
  }
  return value
}

const broken = (): never => {
  throw new Error("nothing ambient may be asked")
}

/** With a clock and dice that throw. */
const alone = <A>(run: () => A): A => {
  const { now } = Date
  const { random } = Math
  const performanceNow = performance.now
  Object.assign(Date, { now: broken })
  Object.assign(Math, { random: broken })
  Object.assign(performance, { now: broken })
  try {
    return run()
  } finally {
    Object.assign(Date, { now })
    Object.assign(Math, { random })
    Object.assign(performance, { now: performanceNow })
  }
}

const levels: ReadonlyArray<Level> = ["All", "Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None", 15, 35, 60]
const oneOf = <A extends string | number | boolean>(values: ReadonlyArray<A>): Schema.Codec<A> =>
  Schema.Literals(values as never) as never

const Policy = Schema.Struct({
  enabled: Schema.Boolean,
  loggers: Schema.Boolean,
  besideWarning: Schema.Boolean,
  level: oneOf(levels)
})
const Call = Schema.Struct({
  _tag: oneOf(["event", "info", "warn", "exception", "log"] as const),
  names: Schema.Array(oneOf(["a", "b", "c"])),
  reason: Schema.String,
  message: Schema.String,
  type: Schema.String,
  at: Schema.Int,
  error: oneOf(["TypeError", "text", "none"]),
  level: oneOf(levels),
  inPass: Schema.Boolean,
  housekeeping: Schema.Boolean,
  passesLogger: Schema.Boolean,
  besideWarning: Schema.Boolean
})

const callOf = ({ error, names, ...call }: typeof Call.Type): EventCall => ({
  ...call,
  about: names.map((name) => object({ name, uid: name })),
  error: { TypeError: new TypeError("boom"), text: "boom", none: undefined }[error]
})

const Op = Schema.Struct({
  op: oneOf(["say", "say", "say", "take", "posted", "put back", "given up", "moved"] as const),
  type: oneOf(["Normal", "Warning", "Error"]),
  uid: oneOf(["u1", "u2", "u3", "u4", "u5"]),
  text: Schema.Int,
  gap: oneOf([0, 1, 60_000, 360_001]),
  budgets: oneOf(["standard", "kopf"])
})
type Op = typeof Op.Type

/** A machine whose answers are written down. */
class Machine {
  readonly told: Array<unknown> = []
  private readonly series = new EventSeries(4)
  private readonly flying: Array<Series> = []
  private readonly seenAs: <A>(value: A) => A
  private at = 1_000_000

  constructor(seenAs: <A>(value: A) => A) {
    this.seenAs = seenAs
  }

  do({ budgets, gap, op, text, type, uid }: Op): void {
    this.at += gap
    if (op === "say") {
      const about: Subject = object({ uid, name: uid })
      const saying: Saying = {
        about,
        place: placeOf(about, "describable", ""),
        words: fitted({ type, reason: "R", action: "", message: `text ${text}` }),
        at: this.at,
        budgets: (budgets === "kopf" ? kopf : standard).budgets
      }
      this.told.push(this.series.say(this.seenAs(saying)))
    } else if (op === "take") {
      const next = this.series.take()
      if (next !== undefined) this.flying.push(next)
      this.told.push(next && { ...next, name: nameOf("e-", next.id) })
    } else this.land(op)
    this.told.push([this.series.waiting, this.series.inFlight, { ...this.series.totals.dropped }])
  }

  private land(op: Exclude<Op["op"], "say" | "take">): void {
    const next = this.flying.shift()
    if (next === undefined) return
    if (op === "posted") this.series.done(next, this.seenAs({ name: nameOf("e-", next.id), count: next.count }))
    else if (op === "put back") this.series.putBack(next)
    else if (op === "given up") this.series.giveUp(next, "refused")
    else this.series.move(next, this.seenAs(placeOf(next.about, "operator-namespace", "home")))
  }
}

describe("a decision", () => {
  it.prop(
    "depends on the policy and the call alone, not on the order of their keys, who made them, a clock or chance, and changes neither (D15)",
    [Arbitrary.schema(Policy), Arbitrary.schema(Call)],
    ([some, drawn]) => {
      const policy: PostingPolicy = frozen({ ...standard, ...some })
      const call = frozen(callOf(drawn))
      const first = alone(() => decide(policy, call))
      assert.deepStrictEqual(
        alone(() => decide(mirrorOf(policy), mirrorOf(call))),
        first
      )
      decide({ ...policy, enabled: !policy.enabled, loggers: true }, callOf(drawn))
      assert.deepStrictEqual(decide(policy, call), first)
    },
    { arbitrary: { runs: 2_000 } }
  )

  it.prop(
    "on what is counted and what waits depends on the sayings before it alone: two machines agree, whatever a third is told meanwhile (D17, D18)",
    [
      Arbitrary.array(Arbitrary.schema(Op), { maxLength: 120 }),
      Arbitrary.array(Arbitrary.schema(Op), { maxLength: 40 })
    ],
    ([ops, others]) => {
      const first = new Machine((value) => frozen(value))
      alone(() => ops.forEach((op) => first.do(op)))
      const second = new Machine(mirrorOf)
      const third = new Machine((value) => value)
      ops.forEach((op, i) => {
        second.do(op)
        if (others[i] !== undefined) third.do(others[i])
      })
      assert.deepStrictEqual(second.told, first.told)
    },
    { arbitrary: { runs: 1_000 } }
  )
})
