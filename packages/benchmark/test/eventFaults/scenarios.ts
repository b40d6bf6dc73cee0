/** What is done to the posting, and what else is compared. */
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import * as Effect from "effect/Effect"

export interface Scenario {
  /** A word, also for the namespace. */
  readonly name: string
  readonly title: string
  /** What the other side is; `none` twice shows how much two equal sides differ. */
  readonly poster: "none" | "posting"
  /** Undefined: nothing is wrong, and nothing is held to a limit. */
  readonly begin: ((proxy: FaultProxy.FaultProxy) => Effect.Effect<void>) | undefined
}

const onEvents =
  (...deeds: ReadonlyArray<FaultProxy.Deed>) =>
  (proxy: FaultProxy.FaultProxy): Effect.Effect<void> =>
    proxy.add({ match: { path: /\/events(\/|$)/ }, times: Infinity, at: "request", deeds })

/** All connections end, and each new request meets a reset. */
const vanish = (proxy: FaultProxy.FaultProxy): Effect.Effect<void> =>
  proxy
    .add({ match: {}, times: Infinity, at: "request", deeds: [FaultProxy.cut("RST")] })
    .pipe(Effect.andThen(proxy.cutWatches("RST")), Effect.asVoid)

export const scenarios: ReadonlyArray<Scenario> = [
  { name: "twins", title: "no posting, twice", poster: "none", begin: undefined },
  { name: "healthy", title: "no fault", poster: "posting", begin: undefined },
  { name: "forbidden", title: "403", poster: "posting", begin: onEvents(FaultProxy.answer(403)) },
  { name: "hanging", title: "hangs for 30 s", poster: "posting", begin: onEvents(FaultProxy.delay(30_000)) },
  { name: "broken", title: "500", poster: "posting", begin: onEvents(FaultProxy.answer(500)) },
  { name: "vanished", title: "the server vanishes", poster: "posting", begin: vanish }
]

/** Requests that post events. */
export const posts: FaultProxy.Match = { path: /\/events(\/|$)/ }
