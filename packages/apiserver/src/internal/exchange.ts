/**
 * The way of one request through a running server: hooks, the step, the log, and for a watch its place among the open ones. The same way for the
 * `ApiClient` in memory and for HTTP.
 */
import type { ApiError, Operation } from "@fixpoint/core/ApiError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { Call, Calls } from "./calls.ts"
import type { Request, Response } from "./request.ts"
import * as Server from "./server.ts"
import { bookmark, type Watch } from "./watching.ts"

/** A server and what lies around it. */
export interface Running {
  readonly server: Server.Server
  readonly calls: Calls
}

export type Unstamped = Omit<Request, "now" | "seed">

const step = ({ calls, server }: Running, call: Call, request: Unstamped, now: number): Response => {
  const { changes, response } = Server.handle(server, request, now)
  calls.done(call, response.code, changes.length > 0, now)
  return response
}

/** A request at a stroke; only while no hook is there (`calls.hooked`). `now` is in milliseconds since 1970. */
export const answerNow = (running: Running, operation: Operation, request: Unstamped, now: number): Response =>
  step(running, running.calls.begin(operation, request.method !== "GET"), request, now)

/** A request of the whole length. Only hooks fail. Other fibers get a turn before and after the step, as over a network. */
export const answer = (running: Running, operation: Operation, request: Unstamped): Effect.Effect<Response, ApiError> =>
  Effect.gen(function* () {
    const { calls } = running
    const call = calls.begin(operation, request.method !== "GET")
    yield* calls.before(call)
    yield* Effect.yieldNow
    const response = step(running, call, request, yield* Clock.currentTimeMillis)
    yield* Effect.yieldNow
    yield* calls.after(call, response.code)
    return response
  })

/** Something else than a request of the machine, such as discovery, read from the state as it is. */
export const read = <A>(running: Running, operation: Operation, what: Effect.Effect<A>): Effect.Effect<A, ApiError> =>
  Effect.gen(function* () {
    const { calls } = running
    const call = calls.begin(operation, false)
    yield* calls.before(call)
    yield* Effect.yieldNow
    const now = yield* Clock.currentTimeMillis
    const found = yield* what
    calls.done(call, 200, false, now)
    yield* calls.after(call, 200)
    return found
  })

/** A watch without timeoutSeconds is ended by the server after 30 to 60 minutes. */
const watchSecondsLeast = 1_800
const bookmarkSeconds = 60
/** The last bookmark comes this long before the end, if the watch is not a short one (F65). */
const lastBookmarkSeconds = 2

const clockwork = (server: Server.Server, watch: Watch, sink: Server.Sink): Effect.Effect<void> =>
  Effect.gen(function* () {
    const end = watch.timeoutSeconds ?? watchSecondsLeast + (yield* Random.nextIntBetween(0, watchSecondsLeast))
    let elapsed = 0
    while (elapsed < end) {
      const last = end - lastBookmarkSeconds
      const next = elapsed < last && end > bookmarkSeconds ? Math.min(elapsed + bookmarkSeconds, last) : end
      yield* Effect.sleep((next - elapsed) * 1_000)
      elapsed = next
      if (elapsed < end && watch.bookmarks) sink.offer(bookmark(watch.definition, server.state.rv))
    }
    sink.end()
  })

/**
 * Opens a watch whose events go into the sink from the moment of its opening, so that no change falls between, until the scope ends or the sink is
 * ended. What it begins with is in the answer and not in the sink. A refusal is answered as a Response; only hooks fail.
 */
export const openWatch = (
  running: Running,
  operation: Operation,
  request: Unstamped,
  sink: Server.Sink
): Effect.Effect<Watch | Response, ApiError, Scope.Scope> =>
  Effect.gen(function* () {
    const { calls, server } = running
    const call = calls.begin(operation, false)
    yield* calls.before(call)
    yield* Effect.yieldNow
    const now = yield* Clock.currentTimeMillis
    const opened = Server.openWatch(server, request, now)
    if ("code" in opened) {
      calls.done(call, opened.code, false, now)
      return opened
    }
    calls.done(call, 200, false, now)
    if (opened.failed) return opened
    const unsubscribe = Server.subscribe(server, { watch: opened, sink })
    yield* Effect.addFinalizer(() => Effect.sync(unsubscribe))
    yield* calls.after(call, 200)
    yield* Effect.forkScoped(clockwork(server, opened, sink))
    return opened
  })
