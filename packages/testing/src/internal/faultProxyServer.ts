/** The sockets of a `FaultProxy`: takes requests over TLS, asks the server, and relays what the rules leave. */
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import type { TLSSocket } from "node:tls"
import { makeCertificate } from "@fixpoint/apiserver/Certificate"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Deed, Ending, Logged, Rule } from "../FaultProxy.ts"
import * as Body from "./faultProxyBody.ts"
import * as Rules from "./faultProxyRules.ts"

export interface Upstream {
  readonly url: string
  readonly ca: string
}

const logMax = 10_000
/** Of a request; and of an answer that a rule wants to have whole. */
const bodyMax = 8 * 1024 * 1024
const answerMax = 256 * 1024 * 1024

/** The headers that are of one connection and not of the exchange. */
const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "content-length"])

const relayed = (headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))

/** The other side ended or broke. */
class Broken {
  readonly _tag = "Broken"
}

/** What has come, undefined if it is more than `max` bytes. */
const whole = (stream: http.IncomingMessage, max: number): Effect.Effect<Buffer | undefined, Broken> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    let bytes = 0
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= max) chunks.push(chunk)
    })
    stream.once("end", () => resume(Effect.succeed(bytes > max ? undefined : Buffer.concat(chunks))))
    stream.once("close", () => resume(Effect.fail(new Broken())))
    stream.once("error", () => resume(Effect.fail(new Broken())))
  })

interface Exchange {
  readonly watch: boolean
  readonly outgoing: http.ServerResponse
  fiber: Fiber.Fiber<void> | undefined
}

/** What a rule's deeds left of the exchange. */
type Left = "goes on" | "is over"

class ProxyServer {
  count = 0
  private armed: ReadonlyArray<Rules.Armed> = []
  private entries: Array<{ -readonly [K in keyof Logged]: Logged[K] }> = []
  private readonly upstream: Upstream
  private readonly agent: https.Agent
  private readonly clock: Clock.Clock
  private readonly exchanges = new Set<Exchange>()
  /** By the client's port. The TLS sockets over them cannot be reset. */
  private readonly sockets = new Map<number, net.Socket>()

  constructor(upstream: Upstream, clock: Clock.Clock) {
    this.upstream = upstream
    this.clock = clock
    this.agent = new https.Agent({ keepAlive: true, ca: upstream.ca })
  }

  add(rule: Rule): void {
    this.armed = [...this.armed, { rule, met: 0 }]
  }

  heal(): void {
    this.armed = []
  }

  log(): ReadonlyArray<Logged> {
    return this.entries.slice(-logMax).map((entry) => ({ ...entry }))
  }

  clearLog(): void {
    this.count = 0
    this.entries = []
  }

  /** A connection on the outer port. */
  connected(socket: net.Socket): void {
    const port = socket.remotePort ?? 0
    this.sockets.set(port, socket)
    socket.once("close", () => this.sockets.delete(port))
    socket.on("error", () => {})
  }

  cutWatches(how: Ending): number {
    const open = [...this.exchanges].filter(({ watch }) => watch)
    for (const { outgoing } of open) this.end(outgoing, how)
    return open.length
  }

  stallWatches(): number {
    const open = [...this.exchanges].filter(({ watch }) => watch)
    for (const exchange of open) this.abandon(exchange)
    return open.length
  }

  close(): void {
    for (const exchange of this.exchanges) this.abandon(exchange)
    for (const socket of this.sockets.values()) socket.destroy()
    this.agent.destroy()
  }

  /** Nothing more is relayed; the connection stays as it is. */
  private abandon(exchange: Exchange): void {
    this.exchanges.delete(exchange)
    exchange.fiber?.interruptUnsafe()
  }

  private end({ socket }: http.ServerResponse, how: Ending): void {
    if (socket === null) return
    if (how === "FIN") socket.end(() => socket.destroy())
    else this.sockets.get(socket.remotePort ?? 0)?.resetAndDestroy()
  }

  private note(request: Rules.Request): { -readonly [K in keyof Logged]: Logged[K] } {
    const { method, path, query, watch } = request
    const entry = { at: this.clock.currentTimeMillisUnsafe(), method, path, query, watch, code: undefined }
    this.count++
    this.entries.push(entry)
    if (this.entries.length >= 2 * logMax) this.entries = this.entries.slice(-logMax)
    return entry
  }

  /** A request came. */
  handle(incoming: http.IncomingMessage, outgoing: http.ServerResponse): void {
    const { watch } = Rules.requestOf("", incoming.url ?? "", "")
    const exchange: Exchange = { watch, outgoing, fiber: undefined }
    this.exchanges.add(exchange)
    outgoing.on("error", () => {})
    outgoing.once("close", () => this.abandon(exchange))
    exchange.fiber = Effect.runFork(
      Effect.scoped(this.exchange(incoming, outgoing)).pipe(
        // The server is gone or broke off: so do we.
        Effect.catch(() => Effect.sync(() => this.end(outgoing, "RST"))),
        Effect.ensuring(Effect.sync(() => this.exchanges.delete(exchange)))
      )
    )
  }

  private exchange(
    incoming: http.IncomingMessage,
    outgoing: http.ServerResponse
  ): Effect.Effect<void, Broken, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const body = yield* whole(incoming, bodyMax)
      if (body === undefined) return void outgoing.writeHead(413).end()
      const request = Rules.requestOf(incoming.method ?? "GET", incoming.url ?? "/", body.toString("utf8"))
      const entry = this.note(request)
      const { armed, claimed } = Rules.claim(this.armed, request)
      this.armed = armed
      const follow = (rule: Rule): Effect.Effect<Left> => this.follow(rule.deeds, outgoing, entry)
      const at = (moment: "request" | "answer") => claimed.filter((rule) => rule.at === moment)
      for (const rule of at("request")) if ((yield* follow(rule)) === "is over") return
      const answer = yield* this.ask(incoming, body)
      const rules = at("answer")
      // So that it is done when the deeds are: the server may answer before it has stored what it answers.
      const read = rules.length === 0 || request.watch ? undefined : yield* whole(answer, answerMax)
      for (const rule of rules) if ((yield* follow(rule)) === "is over") return
      entry.code = answer.statusCode
      outgoing.writeHead(answer.statusCode ?? 502, relayed(answer.headers))
      const pieces = read === undefined ? answer : [read]
      yield* this.relay(pieces, outgoing, Body.begin(claimed), follow)
    })
  }

  /** The head of the server's answer. The end of the scope closes what is left of it. */
  private ask(incoming: http.IncomingMessage, body: Buffer): Effect.Effect<http.IncomingMessage, Broken, Scope.Scope> {
    const asked = Effect.acquireRelease(
      Effect.sync(() => {
        const request = https.request(this.upstream.url + (incoming.url ?? "/"), {
          agent: this.agent,
          method: incoming.method ?? "GET",
          headers: { ...relayed(incoming.headers), ...(body.length > 0 && { "content-length": body.length }) }
        })
        request.on("error", () => {})
        return request
      }),
      (request) => Effect.sync(() => void request.destroy())
    )
    return Effect.flatMap(asked, (request) =>
      Effect.callback<http.IncomingMessage, Broken>((resume) => {
        request.once("response", (answer) => {
          answer.on("error", () => {})
          resume(Effect.succeed(answer))
        })
        request.once("close", () => resume(Effect.fail(new Broken())))
        request.end(body)
      })
    )
  }

  private relay(
    pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
    outgoing: http.ServerResponse,
    start: Body.Body,
    follow: (rule: Rule) => Effect.Effect<Left>
  ): Effect.Effect<void, Broken> {
    return Effect.gen(function* () {
      const source = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
      outgoing.flushHeaders()
      let body = start
      for (;;) {
        const next = yield* Effect.tryPromise({ try: async () => source.next(), catch: () => new Broken() })
        const step = next.done === true ? { body, parts: Body.finish(body) } : Body.take(body, next.value)
        body = step.body
        for (const part of step.parts) {
          if (part._tag === "Bytes") yield* written(outgoing, part.bytes)
          else if ((yield* follow(part.rule)) === "is over") return
        }
        if (next.done === true) return void outgoing.end()
      }
    })
  }

  private follow(deeds: ReadonlyArray<Deed>, outgoing: http.ServerResponse, entry: { code: number | undefined }) {
    return Effect.gen({ self: this }, function* (): Effect.fn.Return<Left> {
      for (const deed of deeds) {
        switch (deed._tag) {
          case "Run":
            yield* deed.effect
            break
          case "Delay":
            yield* Effect.sleep(deed.millis)
            break
          case "Stall":
            return "is over"
          case "Cut":
            this.end(outgoing, deed.how)
            return "is over"
          case "Answer":
            entry.code = deed.code
            outgoing.statusCode = deed.code
            outgoing.setHeader("content-type", "text/plain")
            if (deed.retryAfterSeconds !== undefined) outgoing.setHeader("retry-after", deed.retryAfterSeconds)
            outgoing.end(`${http.STATUS_CODES[deed.code] ?? "refused"}\n`)
            return "is over"
        }
      }
      return "goes on"
    })
  }
}

/** Handed to the client's socket; waits where that is full. */
const written = (outgoing: http.ServerResponse, bytes: Buffer): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (outgoing.write(bytes)) return resume(Effect.void)
    const drained = (): void => resume(Effect.void)
    outgoing.once("drain", drained)
    return Effect.sync(() => void outgoing.off("drain", drained))
  })

const listening = (server: net.Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.once("error", (error) => resume(Effect.die(error)))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as net.AddressInfo).port)))
    }),
    () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )

/** Listens while the scope is open. `certificate` is its own authority. */
export const make = (
  upstream: Upstream
): Effect.Effect<
  { readonly certificate: string; readonly port: number; readonly server: ProxyServer },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const server = new ProxyServer(upstream, yield* Clock.Clock)
    const { cert, key } = makeCertificate("fault-proxy")
    const inner = https.createServer({ cert, key }, (incoming, outgoing) => server.handle(incoming, outgoing))
    // Connections end when a rule, the client or the server of all ends them.
    Object.assign(inner, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0, timeout: 0 })
    // Handshakes that fail are the client's affair.
    inner.on("tlsClientError", (_, socket: TLSSocket) => void socket.destroy())
    const outer = net.createServer((socket) => {
      server.connected(socket)
      inner.emit("connection", socket)
    })
    const port = yield* listening(outer)
    yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
    return { certificate: cert, port, server }
  })
