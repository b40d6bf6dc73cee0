/** A client that does nothing of itself: requests as they are written, answers as they come, connections to break. */
import type { Listening } from "../src/Listener.ts"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import * as tls from "node:tls"

export class Broken extends Data.TaggedError("Broken")<{ readonly message: string }> {}

export interface Answer {
  readonly code: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  readonly json: any
}

export interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  /** A value goes as JSON, text and bytes as they are. */
  readonly body?: unknown
  /** Default: the listener's own. Empty: none. */
  readonly token?: string
  readonly cert?: { readonly cert: string; readonly key: string }
}

type Where = Pick<Listening, "url" | "port" | "ca" | "token">

const bytesOf = (body: unknown): Buffer | undefined =>
  body === undefined
    ? undefined
    : Buffer.isBuffer(body)
      ? body
      : Buffer.from(typeof body === "string" ? body : JSON.stringify(body))

const open = ({ ca, port, token, url }: Where, method: string, path: string, asked: Asked): http.ClientRequest => {
  const own = asked.token ?? token
  const body = bytesOf(asked.body)
  const options: https.RequestOptions = {
    host: "127.0.0.1",
    port,
    method,
    path,
    agent: false,
    ...(url.startsWith("https") && { ca, ...asked.cert }),
    headers: {
      ...(own !== "" && { authorization: `Bearer ${own}` }),
      ...(body !== undefined && { "content-type": "application/json", "content-length": body.length }),
      ...asked.headers
    }
  }
  const request = url.startsWith("https") ? https.request(options) : http.request(options)
  request.end(body)
  return request
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Fails with Broken if the connection ends before the answer does. */
export const ask = (where: Where, method: string, path: string, asked: Asked = {}): Effect.Effect<Answer, Broken> =>
  Effect.callback((resume) => {
    const request = open(where, method, path, asked)
    const broken = (error: Error): void => resume(Effect.fail(new Broken({ message: error.message })))
    request.on("error", broken)
    request.on("response", (response) => {
      const chunks: Array<Buffer> = []
      response.on("error", broken)
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        const bytes = Buffer.concat(chunks)
        const text = bytes.toString()
        const { headers, statusCode } = response
        resume(Effect.succeed({ code: statusCode!, headers, bytes, text, json: parsed(text) }))
      })
    })
    return Effect.sync(() => request.destroy())
  })

export interface Followed {
  /** The lines so far, parsed. */
  readonly lines: Array<any>
  /** How it ended, if it has. */
  readonly end: () => "open" | "clean" | "broken"
  readonly code: () => number | undefined
}

/** A watch that is read until the scope ends. */
export const follow = (where: Where, path: string, asked: Asked = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const request = open(where, "GET", path, asked)
      const lines: Array<any> = []
      let end: ReturnType<Followed["end"]> = "open"
      let code: number | undefined
      let rest = ""
      request.on("error", () => (end = "broken"))
      request.on("response", (response) => {
        code = response.statusCode
        response.setEncoding("utf8")
        response.on("data", (text: string) => {
          const parts = (rest + text).split("\n")
          rest = parts.pop()!
          lines.push(...parts.map((line) => JSON.parse(line) as unknown))
        })
        response.on("error", () => (end = "broken"))
        response.on("end", () => (end = "clean"))
      })
      const followed: Followed = { lines, end: () => end, code: () => code }
      return { ...followed, request }
    }),
    ({ request }) => Effect.sync(() => void request.destroy())
  )

/** A bare socket, closed with the scope. `heard` is all that came so far. */
export const socket = ({ ca, port, url }: Where) =>
  Effect.acquireRelease(
    Effect.callback<
      { readonly socket: net.Socket; readonly heard: () => string; readonly closed: () => boolean },
      Broken
    >((resume) => {
      let heard = ""
      let closed = false
      const made = url.startsWith("https")
        ? tls.connect({ port, host: "127.0.0.1", ca, servername: "localhost" })
        : net.connect({ port, host: "127.0.0.1", allowHalfOpen: true })
      made.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")))
      made.on("end", () => (closed = true))
      made.on("close", () => (closed = true))
      made.on("error", (error) => resume(Effect.fail(new Broken({ message: error.message }))))
      made.once(url.startsWith("https") ? "secureConnect" : "connect", () =>
        resume(Effect.succeed({ socket: made, heard: () => heard, closed: () => closed }))
      )
    }),
    (held) => Effect.sync(() => void held.socket.destroy())
  )

/** Waits until it holds; a defect that says what was awaited after 30 s. */
export const until = (what: string, check: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let waited = 0; !check(); waited += 5) {
      if (waited > 30_000) return yield* Effect.die(new Error(`waited in vain until ${what}`))
      yield* Effect.sleep(5)
    }
  })
