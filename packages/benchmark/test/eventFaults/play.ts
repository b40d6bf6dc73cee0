/** Plays one scenario: two operators side by side, of which one works at a time, in the order A B B A; then the fault is healed. */
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Round } from "../../src/Pairs.ts"
import { type ChildError, type Operator, operator } from "./children.ts"
import type { ByPass, Line, Looked, Ran } from "./orders.ts"
import { posts, type Scenario } from "./scenarios.ts"
import type { World } from "./world.ts"

export interface Sizes {
  /** How long the fault lasts at least. */
  readonly seconds: number
  /** How long one side works before it is the other's turn. */
  readonly turnMillis: number
  readonly warmUpMillis: number
  readonly objects: ByPass<number>
  readonly perSecond: ByPass<number>
  /** How long posting may take to resume. */
  readonly resumeSeconds: number
}

export const standard: Sizes = {
  seconds: 60,
  turnMillis: 1_000,
  warmUpMillis: 5_000,
  objects: { steady: 200, changing: 200 },
  perSecond: { steady: 300, changing: 150 },
  resumeSeconds: 100
}

/** To see that everything runs; the figures mean nothing. */
export const tiny: Sizes = {
  seconds: 3,
  turnMillis: 250,
  warmUpMillis: 500,
  objects: { steady: 5, changing: 5 },
  perSecond: { steady: 40, changing: 20 },
  resumeSeconds: 30
}

/** How posting came back. */
export interface Resumed {
  /** Until the server was given an event again; undefined: not within the time. */
  readonly seconds: number | undefined
  /** Until nothing waited. */
  readonly drainedSeconds: number | undefined
  /** Objects of which an event tells what happened after the fault. */
  readonly told: number
  readonly objects: number
  readonly lines: ReadonlyArray<Line>
}

export interface Played {
  readonly scenario: Scenario
  readonly rounds: ByPass<ReadonlyArray<Round>>
  /** Microseconds of CPU and milliseconds without a processor, a pass. */
  readonly cpu: readonly [baseline: number, other: number]
  readonly starved: readonly [baseline: number, other: number]
  /** At the end of the fault, looked at for the first time since its begin. */
  readonly baseline: Looked
  readonly other: Looked
  readonly resumed: Resumed | undefined
}

const passesOf = (all: ReadonlyArray<Ran>): number =>
  all.reduce((sum, { passes }) => sum + passes.steady.length + passes.changing.length, 0)

const perPass = (all: ReadonlyArray<Ran>, of: (ran: Ran) => number): number =>
  all.reduce((sum, ran) => sum + of(ran), 0) / passesOf(all)

type Pair = readonly [baseline: Ran, other: Ran]

const roundsOf = (pairs: ReadonlyArray<Pair>, kind: keyof ByPass<unknown>): ReadonlyArray<Round> =>
  pairs.map(([baseline, other]) => ({ baseline: baseline.passes[kind], other: other.passes[kind] }))

const now = Clock.currentTimeMillis

/** The rounds of the fault. */
const measured = Effect.fnUntraced(function* (a: Operator, b: Operator, sizes: Sizes) {
  const turn = { _tag: "run", millis: sizes.turnMillis, perSecond: sizes.perSecond } as const
  const began = yield* now
  const pairs: Array<Pair> = []
  while ((yield* now) - began < sizes.seconds * 1_000) {
    const first = pairs.length % 2 === 0 ? a : b
    const one = yield* first.ask(turn, "ran")
    const two = yield* (first === a ? b : a).ask(turn, "ran")
    pairs.push(first === a ? [one, two] : [two, one])
  }
  return pairs
})

const isSince = (event: KubeObject, millis: number): boolean =>
  Date.parse(String(event.lastTimestamp)) >= Math.floor(millis / 1_000) * 1_000

const until = Effect.fnUntraced(function* <E>(check: Effect.Effect<boolean, E>, seconds: number) {
  const began = yield* now
  for (;;) {
    const isSo = yield* check
    const passed = ((yield* now) - began) / 1_000
    if (isSo) return passed
    if (passed > seconds) return undefined
    yield* Effect.sleep("100 millis")
  }
})

/** Heals the fault while the operator works on slowly, and looks for what is told of each object afterwards. */
const resumption = Effect.fnUntraced(function* (world: World, b: Operator, namespace: string, sizes: Sizes) {
  const { objects, perSecond, resumeSeconds, turnMillis } = sizes
  const { eventsIn, proxy } = world
  let answered = false
  const mark = FaultProxy.run(Effect.sync(() => void (answered = true)))
  yield* proxy.heal
  yield* proxy.add({ match: posts, times: Infinity, at: "answer", deeds: [mark] })
  const slowly = { steady: perSecond.steady / 10, changing: perSecond.changing / 10 }
  const work = b.ask({ _tag: "run", millis: turnMillis, perSecond: slowly }, "ran")
  const worked = Effect.suspend(() => (answered ? Effect.succeed(true) : Effect.map(work, () => answered)))
  const healed = yield* now
  const seconds = yield* until(worked, resumeSeconds)
  const isDrained = Effect.map(b.ask({ _tag: "look", collect: false }, "looked"), (looked) => {
    lines.push(...looked.lines)
    return looked.waiting + looked.inFlight === 0
  })
  const lines: Array<Line> = []
  const drained = yield* until(isDrained, resumeSeconds)
  const drainedSeconds = drained === undefined ? undefined : ((yield* now) - healed) / 1_000
  const after = yield* now
  yield* b.ask({ _tag: "all" }, "ready")
  yield* until(isDrained, 30)
  const told = new Set(
    (yield* eventsIn(namespace))
      .filter((event) => isSince(event, after))
      .map((event) => (event.involvedObject as { readonly name: string }).name)
  )
  return { seconds, drainedSeconds, told: told.size, objects: objects.steady + objects.changing, lines }
})

/** What waits is posted, and what was begun is done. */
const drained = (side: Operator) =>
  Effect.map(side.ask({ _tag: "look", collect: false }, "looked"), ({ inFlight, waiting }) => waiting + inFlight === 0)

export const play = (
  world: World,
  scenario: Scenario,
  sizes: Sizes
): Effect.Effect<Played, ApiError | ChildError, Scope.Scope> =>
  Effect.gen(function* () {
    const { objects, perSecond, warmUpMillis } = sizes
    const [a, b] = yield* Effect.forEach(["baseline", "other"] as const, (side) =>
      world
        .settle(`${scenario.name}-${side}`, side === "baseline" ? "none" : scenario.poster, objects)
        .pipe(Effect.flatMap(operator))
    )
    for (const side of [a!, b!]) yield* side.ask({ _tag: "run", millis: warmUpMillis, perSecond }, "ran")
    yield* until(drained(b!), sizes.resumeSeconds)
    for (const side of [a!, b!]) yield* side.ask({ _tag: "look", collect: true }, "looked")
    yield* scenario.begin?.(world.proxy) ?? Effect.void
    const pairs = yield* measured(a!, b!, sizes)
    const baseline = yield* a!.ask({ _tag: "look", collect: true }, "looked")
    const other = yield* b!.ask({ _tag: "look", collect: true }, "looked")
    const sides = [pairs.map(([one]) => one), pairs.map(([, two]) => two)] as const
    const resumed =
      scenario.begin === undefined ? undefined : yield* resumption(world, b!, `${scenario.name}-other`, sizes)
    yield* world.proxy.heal
    return {
      scenario,
      rounds: { steady: roundsOf(pairs, "steady"), changing: roundsOf(pairs, "changing") },
      cpu: [perPass(sides[0], ({ cpuMicros }) => cpuMicros), perPass(sides[1], ({ cpuMicros }) => cpuMicros)],
      starved: [perPass(sides[0], (ran) => ran.starvedMillis), perPass(sides[1], (ran) => ran.starvedMillis)],
      baseline,
      other,
      resumed
    }
  })
