/** What wakes keys beside the caches: mapped watches and streams from outside. Thin coats; each lasts as long as its scope. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { formatRef, type KubeObject } from "../KubeObject.ts"
import type { Store } from "../Store.ts"
import type { External, Mapped } from "../Watch.ts"
import { decoded } from "./decoded.ts"
import type { Engine } from "./engine.ts"
import { keyOf } from "./key.ts"

interface Pending {
  readonly previous: KubeObject | undefined
  readonly next: KubeObject | undefined
}

/**
 * Wakes what the mapping says of an object before and after its changes. Changes that come faster than they are mapped are joined, so no more wait than
 * there are objects.
 */
export const followMapped = Effect.fnUntraced(function* (
  engine: Engine,
  { kind, map }: Mapped<any, any>,
  store: Store
): Effect.fn.Return<void, never, any> {
  const pending = new Map<string, Pending>()
  const latch = Latch.makeUnsafe(false)
  const end = store.onChange(({ next, previous, ref }) => {
    const before = pending.get(keyOf(ref))
    pending.set(keyOf(ref), { previous: before === undefined ? previous : before.previous, next })
    latch.openUnsafe()
  })
  yield* Effect.addFinalizer(() => Effect.sync(end))

  const mapOne = (state: KubeObject | undefined): Effect.Effect<void, never, any> => {
    const object = state === undefined ? undefined : decoded(kind, state)
    if (object === undefined || Result.isFailure(object)) return Effect.void
    return Effect.suspend(() => map(object.success)).pipe(
      Effect.map((refs) => {
        for (const ref of refs)
          engine.queue.addUnsafe(keyOf(ref), {
            origin: "mapped",
            trigger: `${kind.kind} ${formatRef(object.success.metadata)}`
          })
      }),
      // A mapping that dies loses this wake alone, and says so.
      Effect.catchCause((cause) =>
        Effect.logError(
          `mapping ${kind.kind} ${formatRef(object.success.metadata)} to keys of ${engine.controller.name} failed`,
          cause
        )
      )
    )
  }

  yield* latch.await.pipe(
    Effect.andThen(
      Effect.suspend(() => {
        latch.closeUnsafe()
        const batch = [...pending.values()]
        pending.clear()
        return Effect.forEach(batch, ({ next, previous }) => Effect.andThen(mapOne(previous), mapOne(next)), {
          discard: true
        })
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
})

const restartMillis = { first: 1_000, max: 60_000 }

/** Wakes what a stream names. One that dies or ends is told and started anew, ever more slowly: a wake from outside must not end in silence (B9). */
export const followExternal = (engine: Engine, { refs }: External<any>): Effect.Effect<void, never, any> => {
  let attempt = 0
  const once = Effect.suspend(() =>
    Stream.runForEach(refs, (ref) =>
      Effect.suspend(() => {
        attempt = 0
        return engine.queue.add(keyOf(ref), { origin: "enqueue", trigger: "from outside" })
      })
    )
  )
  const wait = Effect.flatMap(Random.next, (jitter) =>
    Effect.sleep(Math.min(restartMillis.max, restartMillis.first * 2 ** attempt++) * (0.5 + jitter / 2))
  )
  return once.pipe(
    Effect.andThen(Effect.logWarning(`a stream that wakes ${engine.controller.name} has ended; starting it again`)),
    Effect.catchCause((cause) =>
      Effect.logError(`a stream that wakes ${engine.controller.name} broke; starting it again`, cause)
    ),
    Effect.andThen(wait),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  ) as Effect.Effect<void, never, any>
}
