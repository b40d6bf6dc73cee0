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
import * as Lines from "./lines.ts"
import { type Line, parse } from "./watchEvent.ts"

export type Failure =
  | Exclude<Line, { readonly _tag: "Event" }>
  | { readonly _tag: "Unreachable"; readonly message: string }

/** The longest line taken: the server stores no object beyond 3 MiB (F28). */
const lineBytes = 32 * 1024 * 1024
/** How much later than asked a server may end a watch before it counts as gone. */
const graceMillis = 10_000
/** Of an error's body no more is read. */
const textBytes = 1024 * 1024

const unreachable = (message: string): Failure => ({ _tag: "Unreachable", message })

/** The body of a refused watch. */
export const text = (body: HttpStream, idleMillis: number): Effect.Effect<string, { readonly message: string }> =>
  Effect.gen(function* () {
    const chunks: Array<Buffer> = []
    let bytes = 0
    while (bytes < textBytes) {
      const next = yield* body.read
      if (next === undefined) break
      for (const chunk of next) {
        chunks.push(chunk)
        bytes += chunk.length
      }
    }
    return Buffer.concat(chunks).toString("utf8")
  }).pipe(
    Effect.timeoutOrElse({
      duration: idleMillis,
      orElse: () => Effect.fail({ message: `an answer ${body.code} that does not end` })
    })
  )

/** The events of some lines up to the first that is none. */
const read = (
  lines: ReadonlyArray<string>
): { readonly events: Array<WatchEvent>; readonly failure: Failure | undefined } => {
  const events: Array<WatchEvent> = []
  for (const line of lines) {
    const parsed = parse(line)
    if (parsed._tag !== "Event") return { events, failure: parsed }
    events.push(parsed.event)
  }
  return { events, failure: undefined }
}

/** A stream that ended: cleanly, or inside a line (B12). A last line may lack its end. */
const last = (
  pending: Lines.Pending | undefined
): { readonly events: Array<WatchEvent>; readonly failure: Failure | undefined } => {
  const line = Lines.rest(pending)
  if (line === undefined) return { events: [], failure: undefined }
  const read = parse(line)
  if (read._tag === "Event") return { events: [read.event], failure: undefined }
  if (read._tag === "Error" || !line.startsWith("{")) return { events: [], failure: read }
  return { events: [], failure: unreachable("the stream ended inside an event") }
}

/** The events, in the chunks that they came in. Those before a failure come first. */
export const events = <E>(
  body: HttpStream,
  options: {
    readonly origin: string
    readonly idleMillis: number
    /** What was asked of the server; 0 leaves it to the server. */
    readonly timeoutSeconds: number
    readonly failure: (failure: Failure) => E
  }
): Stream.Stream<WatchEvent, E> => {
  const type = headerOf(body.headers, "content-type")
  if (type !== undefined && !type.includes("json")) {
    return Stream.fail(options.failure({ _tag: "Malformed", message: `a watch answered with ${type}` }))
  }
  let pending: Lines.Pending | undefined
  let failure: Failure | undefined
  let ended = false

  const pull = (endMillis: number): Pull.Pull<Arr.NonEmptyReadonlyArray<WatchEvent>, E> => {
    const wait = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const left = Math.max(0, endMillis - now)
      const silent = options.idleMillis <= left
      return Effect.timeoutOrElse(
        Effect.mapError(body.read, ({ message }) => unreachable(message)),
        {
          duration: Math.min(options.idleMillis, left),
          orElse: () =>
            Effect.fail(
              unreachable(
                silent
                  ? `${options.origin}: no byte in ${options.idleMillis / 1_000} s`
                  : `${options.origin}: not ended after the ${options.timeoutSeconds} s asked for`
              )
            )
        }
      )
    })

    /** Takes what was read; the events of it, with a failure kept for the next pull. */
    const take = (chunks: ReadonlyArray<Buffer> | undefined): Array<WatchEvent> => {
      if (chunks === undefined) {
        ended = true
        const end = last(pending)
        pending = undefined
        failure = end.failure
        return end.events
      }
      const found: Array<WatchEvent> = []
      for (const chunk of chunks) {
        const split = Lines.split(pending, chunk)
        pending = split.pending
        const some = read(split.lines)
        for (const event of some.events) found.push(event)
        if (some.failure !== undefined || (pending !== undefined && pending.bytes > lineBytes)) {
          failure = some.failure ?? { _tag: "Malformed", message: `a line of more than ${lineBytes} bytes` }
          break
        }
      }
      return found
    }

    const next: Pull.Pull<Arr.NonEmptyReadonlyArray<WatchEvent>, E> = Effect.suspend(() => {
      if (failure !== undefined) return Effect.fail(options.failure(failure))
      if (ended) return Cause.done()
      return Effect.flatMap(Effect.mapError(wait, options.failure), (chunks) => {
        const found = take(chunks)
        return Arr.isReadonlyArrayNonEmpty(found) ? Effect.succeed(found) : next
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
