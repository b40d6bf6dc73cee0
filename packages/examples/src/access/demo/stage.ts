/** Plays acts one after another: what the user does is noted, what must come of it is waited for, and what does not come is told. */
import type { ApiClient } from "@fixpoint/core/ApiClient"
import type * as Manager from "@fixpoint/core/Manager"
import type { UsageError } from "@fixpoint/kubernetes/Operator"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Registry } from "../Registry.ts"
import * as Observer from "./observer.ts"
import type { Shown, ShownAct, Verdict } from "./render.ts"
import type { Screen } from "./screen.ts"
import { empty, fingerprint, type View } from "./view.ts"
import { Ground } from "./world.ts"

/** An expectation that did not come true. */
export class Missed extends Data.TaggedError("Missed")<{ readonly message: string }> {}

/** Where the acts are played. */
export class Stage extends Context.Service<
  Stage,
  {
    /** Tells what the user does. */
    readonly note: (text: string) => Effect.Effect<void>
    /** Looks until it holds; after the patience of the ground the act has failed. Answers what it saw. */
    readonly expect: (
      text: string,
      holds: (view: View) => boolean
    ) => Effect.Effect<View, Missed | Observer.LookError, Needs>
    /** Until nothing has changed and no pass has run for a second. */
    readonly rest: (text: string) => Effect.Effect<View, Missed | Observer.LookError, Needs>
  }
>()("@fixpoint/examples/demo/Stage") {}

type Needs = ApiClient | Ground | Manager.Manager | Registry

export interface Act {
  readonly title: string
  readonly play: Effect.Effect<void, Missed | Observer.LookError | UsageError, Stage | Needs>
}

const pause = 50
const restMillis = 1_000

interface State {
  acts: ReadonlyArray<ShownAct>
  view: View
}

/** Plays all acts, whatever becomes of the ones before, and answers how they went. */
export const play = Effect.fnUntraced(function* (
  title: string,
  acts: ReadonlyArray<Act>,
  screen: Screen,
  tally: Observer.Tally
): Effect.fn.Return<ReadonlyArray<ShownAct>, Observer.LookError | UsageError, Needs> {
  const { patience } = yield* Ground
  const state: State = {
    acts: acts.map((act) => ({ title: act.title, verdict: "later", notes: [] })),
    view: empty
  }
  const shown = (): Shown => ({ title, ...state })
  const change = (number: number, f: (act: ShownAct) => ShownAct): void => {
    state.acts = state.acts.map((act, i) => (i === number ? f(act) : act))
  }
  const look = Effect.tap(Observer.look(tally), (view) => {
    state.view = view
    return screen.draw(shown())
  })
  const wait = (
    text: string,
    note: (text: string) => Effect.Effect<void>,
    holds: (view: View, now: number) => boolean
  ) =>
    Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      for (;;) {
        const view = yield* look
        const now = yield* Clock.currentTimeMillis
        if (holds(view, now)) {
          yield* note(`ok ${text}`)
          return view
        }
        if (now - started > patience) return yield* new Missed({ message: text })
        yield* Effect.sleep(pause)
      }
    })
  for (const [number, act] of acts.entries()) {
    const note = (text: string) => {
      change(number, (act) => ({ ...act, notes: [...act.notes, text] }))
      return screen.note(shown(), text)
    }
    const end = (verdict: Verdict) => {
      change(number, (act) => ({ ...act, verdict }))
      return Effect.andThen(
        look,
        Effect.suspend(() => screen.end(shown()))
      )
    }
    change(number, (act) => ({ ...act, verdict: "now" }))
    yield* screen.act(shown(), number + 1)
    yield* act.play.pipe(
      Effect.provideService(Stage, {
        note,
        expect: (text, holds) => wait(text, note, holds),
        rest: (text) => wait(text, note, resting())
      }),
      Effect.matchEffect({
        onSuccess: () => end("passed"),
        onFailure: (error) => Effect.andThen(note(`MISSED ${error.message}`), end("failed"))
      })
    )
  }
  return state.acts
})

/** Holds once what is seen has been the same for a second. */
const resting = (): ((view: View, now: number) => boolean) => {
  let seen: string | undefined
  let since = 0
  return (view, now) => {
    const text = `${view.passes} ${fingerprint(view)}`
    if (text !== seen) {
      seen = text
      since = now
    }
    return now - since >= restMillis
  }
}
