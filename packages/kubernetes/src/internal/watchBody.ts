/** The body of a watch as events: reads chunks, keeps the time limits, ends or fails in one of few ways. */
import type { WatchEvent } from "@fixpoint/core/ApiClient"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { HttpStream } from "../Transport.ts"
import { headerOf } from "./answer.ts"
import { refusalBytesMax } from "./exchange.ts"
import { Gathered } from "./gathered.ts"
import * as Lines from "./lines.ts"
import { type Line, parse, type Watched } from "./watchEvent.ts"

export type Failure =
  | Exclude<Line, { readonly _tag: "Event" }>
  | { readonly _tag: "Unreachable"; readonly message: string }

/** The longest line taken: the server stores no object beyond 3 MiB (F28). */
const lineBytes = 32 * 1024 * 1024
/** How much later than asked a server may end a watch before it counts as gone. */
const graceMillis = 10_000

const unreachable = (message: string): Failure => ({ _tag: "Unreachable", message })

/** The body of a refused watch. */
export const text = (body: HttpStream, idleMillis: number): Effect.Effect<string, { readonly message: string }> =>
  Effect.gen(function* () {
    const gathered = new Gathered(refusalBytesMax)
    while (gathered.bytes < gathered.max) {
      const next = yield* body.read
      if (next === undefined) break
      for (const chunk of next) gathered.add(chunk)
    }
    return gathered.text()
  }).pipe(
    Effect.timeoutOrElse({
      duration: idleMillis,
      orElse: () => Effect.fail({ message: `an answer ${body.code} that does not end` })
    })
  )

/** How far a body is read: what has begun, and whether and how it is over. */
interface Reading {
  readonly pending: Lines.Pending | undefined
  readonly over: "clean" | Failure | undefined
}

interface Step {
  readonly events: ReadonlyArray<WatchEvent>
  readonly reading: Reading
}

/** The end of the body: clean, or inside a line (B12). A last line may lack its end. */
const finish = ({ pending }: Reading, watched: Watched): Step => {
  const over = (end: "clean" | Failure, events: ReadonlyArray<WatchEvent> = []): Step => ({
    events,
    reading: { pending: undefined, over: end }
  })
  const line = Lines.rest(pending)
  if (line === undefined) return over("clean")
  const read = parse(line, watched)
  if (read._tag === "Event") return over("clean", [read.event])
  return over(read._tag === "Error" || !line.startsWith("{") ? read : unreachable("the stream ended inside an event"))
}

/** The events of what came, up to the first line that is none: nothing behind that is read. */
const take = (reading: Reading, chunks: ReadonlyArray<Buffer>, watched: Watched): Step => {
  const events: Array<WatchEvent> = []
  let pending = reading.pending
  for (const chunk of chunks) {
    const split = Lines.split(pending, chunk)
    pending = split.pending
    for (const line of split.lines) {
      const read = parse(line, watched)
      if (read._tag !== "Event") return { events, reading: { pending: undefined, over: read } }
      events.push(read.event)
    }
    if (pending !== undefined && pending.bytes > lineBytes) {
      const over: Failure = { _tag: "Malformed", message: `a line of more than ${lineBytes} bytes` }
      return { events, reading: { pending: undefined, over } }
    }
  }
  return { events, reading: { pending, over: undefined } }
}

export interface Limits {
  /** For messages. */
  readonly origin: string
  readonly idleMillis: number
  /** What was asked of the server; 0 leaves it to the server. */
  readonly timeoutSeconds: number
}

/** The next chunks, undefined at the end; a failure if they do not come in time. `endMillis`: when the server should long have ended. */
const wait = (
  body: HttpStream,
  { idleMillis, origin, timeoutSeconds }: Limits,
  endMillis: number
): Effect.Effect<ReadonlyArray<Buffer> | undefined, Failure> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const left = Math.max(0, endMillis - now)
    return Effect.timeoutOrElse(
      Effect.mapError(body.read, ({ message }) => unreachable(message)),
      {
        duration: Math.min(idleMillis, left),
        orElse: () =>
          Effect.fail(
            unreachable(
              idleMillis <= left
                ? `${origin}: no byte in ${idleMillis / 1_000} s`
                : `${origin}: not ended after the ${timeoutSeconds} s asked for`
            )
          )
      }
    )
  })

/** The events, in the chunks that they came in. Those before a failure come first. */
export const events = <E>(
  body: HttpStream,
  options: Limits & { readonly watched: Watched; readonly failure: (failure: Failure) => E }
): Stream.Stream<WatchEvent, E> => {
  const type = headerOf(body.headers, "content-type")
  if (type !== undefined && !type.includes("json")) {
    return Stream.fail(options.failure({ _tag: "Malformed", message: `a watch answered with ${type}` }))
  }

  const pull = (endMillis: number): Pull.Pull<Arr.NonEmptyReadonlyArray<WatchEvent>, E> => {
    let reading: Reading = { pending: undefined, over: undefined }
    const next: Pull.Pull<Arr.NonEmptyReadonlyArray<WatchEvent>, E> = Effect.suspend(() => {
      if (reading.over === "clean") return Cause.done()
      if (reading.over !== undefined) return Effect.fail(options.failure(reading.over))
      return Effect.flatMap(Effect.mapError(wait(body, options, endMillis), options.failure), (chunks) => {
        const step = chunks === undefined ? finish(reading, options.watched) : take(reading, chunks, options.watched)
        reading = step.reading
        return Arr.isReadonlyArrayNonEmpty(step.events) ? Effect.succeed(step.events) : next
      })
    })
    return next
  }

  return Stream.fromPull(
    Effect.map(Clock.currentTimeMillis, (now) =>
      pull(options.timeoutSeconds > 0 ? now + options.timeoutSeconds * 1_000 + graceMillis : Infinity)
    )
  )
}
