/**
 * One HTTP exchange over an undici dispatcher, as Effects: `whole` for an answer that ends, `streamed` for one that goes on. Handlers are given to
 * `dispatch` itself: a Readable in between costs a third of a request's CPU. Interruption aborts the exchange, and HTTP/1.1 then closes its socket.
 */
import type { IncomingHttpHeaders } from "node:http"
import { gunzip } from "node:zlib"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Dispatcher } from "undici"
import { Gathered } from "./gathered.ts"

/** Why an exchange failed: undici's or the socket's error, seen by `networkFailure.describe` alone. */
export interface Broken {
  readonly _tag: "Broken"
  readonly error: unknown
}

const broken = (error: unknown): Effect.Effect<never, Broken> => Effect.fail({ _tag: "Broken", error })

export interface Whole {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The reason given to sockets that are closed by us; nobody reads it. */
const interrupted = new Error("interrupted")

const tooLarge = (bytesMax: number): Error =>
  Object.assign(new Error(`more than ${bytesMax} bytes`), { code: "ERR_ANSWER_TOO_LARGE" })

/** Of the body of a refusal no more is read. */
export const refusalBytesMax = 1024 * 1024

/** Lists of objects shrink to a twentieth; what would grow to much more than that is a bomb. */
const unpackedMax = (packed: Buffer): number => 64 * (1024 * 1024 + packed.length)

/** Each costs a turn of the event loop; the default of 16 KiB makes a large list slower than it would be unpacked. */
const unpackedChunk = 1024 * 1024

/**
 * The whole answer, of any code. It fails if the body is larger than `bytesMax`; that of a refusal is cut at 1 MiB. With `gzip` it may come packed; else that
 * is taken for what it looks like.
 */
export const whole = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { bytesMax, gzip }: { readonly bytesMax: number; readonly gzip: boolean }
): Effect.Effect<Whole, Broken> =>
  Effect.callback((resume) => {
    let controller: Dispatcher.DispatchController | undefined
    let aborted = false
    let code = 0
    let headers: IncomingHttpHeaders = {}
    let body = new Gathered(bytesMax)

    const give = (text: () => string): void => {
      try {
        resume(Effect.succeed({ code, headers, body: text() }))
      } catch (error) {
        // Texts have a greatest length.
        resume(broken(error))
      }
    }
    const finish = (): void => {
      if (!gzip || headers["content-encoding"] !== "gzip") return give(() => body.text())
      const packed = body.whole()
      const limits = { maxOutputLength: Math.min(bytesMax, unpackedMax(packed)), chunkSize: unpackedChunk }
      gunzip(packed, limits, (error, unpacked) => {
        // What cannot be unpacked is no JSON either, and is told so.
        give(() => (error === null ? unpacked.toString("utf8") : ""))
      })
    }
    const leave = (controller: Dispatcher.DispatchController): void => {
      if (code < 400) resume(broken(tooLarge(bytesMax)))
      else finish()
      controller.abort(interrupted)
    }

    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started
        // Interrupted while it waited for a connection: it is not sent.
        if (aborted) started.abort(interrupted)
      },
      onResponseStart(controller, status, received) {
        code = status
        headers = received
        if (code >= 400) body = new Gathered(Math.min(bytesMax, refusalBytesMax))
        else if (Number(received["content-length"]) > bytesMax) leave(controller)
      },
      onResponseData(controller, chunk) {
        if (!body.add(chunk)) leave(controller)
      },
      onResponseEnd: finish,
      onResponseError(_, error) {
        resume(broken(error))
      }
    })
    return Effect.sync(() => {
      aborted = true
      controller?.abort(interrupted)
    })
  })

export interface Streamed {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  /** What has come since the last read, waiting for something; undefined at the end. For one reader. */
  readonly read: Effect.Effect<ReadonlyArray<Buffer> | undefined, Broken>
}

/** So many bytes wait for the reader at most, and one chunk more; then the socket is not read until they are taken. */
const inboxBytes = 1024 * 1024
/** What a chunk costs beside its content: a server may send each byte as a chunk of its own. */
const chunkBytes = 256

/** What came in, and who waits for it. */
class Inbox implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined
  #aborted = false
  #head: { readonly code: number; readonly headers: IncomingHttpHeaders } | undefined
  #chunks: Array<Buffer> = []
  #bytes = 0
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted) controller.abort(interrupted)
  }

  onResponseStart(_: Dispatcher.DispatchController, code: number, headers: IncomingHttpHeaders): void {
    if (code < 200) return
    this.#head = { code, headers }
    this.#wake?.()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length + chunkBytes
    if (this.#bytes >= inboxBytes) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    this.#end ??= {}
    this.#wake?.()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  abort(): void {
    this.#aborted = true
    if (this.#end === undefined) this.#controller?.abort(interrupted)
  }

  /** Until `done` says so, asked again after everything that comes. */
  #until(done: () => boolean): Effect.Effect<void> {
    return Effect.suspend(() =>
      done()
        ? Effect.void
        : Effect.callback<void>((resume) => {
            this.#wake = () => {
              if (!done()) return
              this.#wake = undefined
              resume(Effect.void)
            }
            return Effect.sync(() => {
              this.#wake = undefined
            })
          })
    )
  }

  get head(): Effect.Effect<{ readonly code: number; readonly headers: IncomingHttpHeaders }, Broken> {
    return Effect.flatMap(
      this.#until(() => this.#head !== undefined || this.#end !== undefined),
      () => (this.#head === undefined ? broken(this.#end?.error) : Effect.succeed(this.#head))
    )
  }

  get read(): Effect.Effect<ReadonlyArray<Buffer> | undefined, Broken> {
    return Effect.flatMap(
      this.#until(() => this.#chunks.length > 0 || this.#end !== undefined),
      () => {
        if (this.#chunks.length > 0) {
          const chunks = this.#chunks
          this.#chunks = []
          const paused = this.#bytes >= inboxBytes
          this.#bytes = 0
          if (paused && this.#end === undefined) this.#controller?.resume()
          return Effect.succeed(chunks)
        }
        return this.#end?.error === undefined ? Effect.succeed(undefined) : broken(this.#end.error)
      }
    )
  }
}

/** The head of an answer, of any code, and its body as it comes. Closing the scope closes the socket. */
export const streamed = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions
): Effect.Effect<Streamed, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    const inbox = new Inbox()
    yield* Effect.addFinalizer(() => Effect.sync(() => inbox.abort()))
    dispatcher.dispatch(options, inbox)
    const { code, headers } = yield* inbox.head
    return { code, headers, read: inbox.read }
  })
