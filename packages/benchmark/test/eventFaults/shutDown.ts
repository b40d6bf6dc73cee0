/** The end of an operator while events wait. */
import type { ApiError } from "@fixpoint/core/ApiError"
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildError, operator } from "./children.ts"
import type { Line } from "./orders.ts"
import { posts } from "./scenarios.ts"
import type { World } from "./world.ts"

export interface ShutDown {
  readonly name: string
  readonly title: string
  /** Said at once, right before the end. */
  readonly count: number
  /** Of these, when the end began. */
  readonly waiting: number
  /** On the server afterwards. */
  readonly posted: number
  readonly seconds: number
  readonly lines: ReadonlyArray<Line>
}

interface Case {
  readonly name: string
  readonly title: string
  readonly rule: Pick<FaultProxy.Rule, "times" | "deeds"> | undefined
}

const cases: ReadonlyArray<Case> = [
  { name: "end-healthy", title: "no fault", rule: undefined },
  {
    name: "end-failing",
    title: "the first 9 requests are answered by 500",
    rule: { times: 9, deeds: [FaultProxy.answer(500)] }
  },
  {
    name: "end-hanging",
    title: "the server hangs",
    rule: { times: Number.POSITIVE_INFINITY, deeds: [FaultProxy.delay(30_000)] }
  }
]

const shutDown = (
  world: World,
  { name, rule, title }: Case,
  count: number
): Effect.Effect<ShutDown, ApiError | ChildError, Scope.Scope> =>
  Effect.gen(function* () {
    const ending = yield* operator(yield* world.settle(name, "posting", { steady: 0, changing: 0 }))
    if (rule !== undefined) yield* world.proxy.add({ match: posts, at: "request", ...rule })
    const { lines, millis, waitingAtEnd } = yield* ending.ask({ _tag: "flood", count }, "ended")
    yield* world.proxy.heal
    const posted = (yield* world.eventsIn(name)).length
    return { name, title, count, waiting: waitingAtEnd, posted, seconds: millis / 1_000, lines }
  })

export const all = (
  world: World,
  count: number
): Effect.Effect<ReadonlyArray<ShutDown>, ApiError | ChildError, Scope.Scope> =>
  Effect.forEach(cases, (one) => Effect.scoped(shutDown(world, one, count)))
