/** A server on a socket of loopback around the handler, for as long as a scope lives. */
import { randomBytes } from "node:crypto"
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { TLSSocket } from "node:tls"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Certificate, makeCertificate } from "../../Certificate.ts"
import { ListenError, type Listening, type ListenOptions, type ListenReason, type Token } from "../../Listener.ts"
import type { Running } from "../exchange.ts"
import * as Access from "./access.ts"
import { makeEventLines } from "./encoding.ts"
import { makeLane, makeTurns } from "./fairness.ts"
import { handle } from "./handler.ts"
import { kubeconfigOf } from "./kubeconfig.ts"
import * as Metrics from "./metrics.ts"
import * as Outbox from "./outbox.ts"
import { makeInbox } from "./reading.ts"
import type { Site } from "./site.ts"

/** Slow senders: a head must be there after 10 s, the whole request after 60 s; then 408 and the end. */
const limits: http.ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
  noDelay: true
}

/** More are turned away: each costs memory, and a process has so many files. */
const connectionsMost = 20_000

/** How long open answers may take to end at the close. */
const graceMillis = 500

const reasonOf = (error: NodeJS.ErrnoException, port: number): ListenReason => {
  if (error.code === "EADDRINUSE") return { _tag: "PortTaken", port }
  if (error.code === "EACCES") return { _tag: "PortForbidden", port }
  return { _tag: "Failed", detail: error.message }
}

const makeServer = (
  certificate: Certificate | undefined,
  clientCa: string | undefined
): Effect.Effect<http.Server | https.Server, ListenError> =>
  Effect.try({
    try: () => {
      if (certificate === undefined) return http.createServer(limits)
      // A client without a certificate, or with a foreign one, may still have a token.
      const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }
      const tls = { ...certificate, ...clients, ALPNProtocols: ["http/1.1"], handshakeTimeout: 10_000 }
      return https.createServer({ ...limits, ...tls })
    },
    catch: (error) =>
      new ListenError({
        reason: { _tag: "BadCertificate", detail: error instanceof Error ? error.message : String(error) }
      })
  })

const listen = (server: http.Server | https.Server, port: number): Effect.Effect<number, ListenError> =>
  Effect.callback((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new ListenError({ reason: reasonOf(error, port) })))
    )
    server.listen(port, "127.0.0.1", 4_096, () => resume(Effect.succeed((server.address() as AddressInfo).port)))
  })

/** Remembers the open sockets; an error of one is its own affair. */
const trackSockets = (server: http.Server | https.Server): Set<Socket> => {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.once("close", () => sockets.delete(socket))
  })
  return sockets
}

/** Ends what is open in order, and what is left after a moment by force. */
const closing = (
  server: http.Server | https.Server,
  sockets: ReadonlySet<Socket>,
  watches: Site["watches"]
): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const began = performance.now()
    const timer = setInterval(() => {
      server.closeIdleConnections()
      if (performance.now() - began > graceMillis) for (const socket of sockets) socket.destroy()
    }, 20)
    server.close(() => {
      clearInterval(timer)
      resume(Effect.void)
    })
    for (const end of watches) end()
  })

/** Who a connection is by its certificate is asked once. */
const authenticator = (
  tokens: ReadonlyArray<Token>,
  { clientCa, trustAnonymous = false }: ListenOptions
): Site["userOf"] => {
  const users = Access.usersOf(tokens)
  const [first = Access.anonymous] = users.values()
  const nobody = trustAnonymous ? first : Access.anonymous
  if (clientCa === undefined) return ({ headers }) => Access.userOf(users, headers.authorization, nobody)
  const known = new WeakMap<Socket, Access.User | undefined>()
  return ({ headers, socket }) => {
    if (!known.has(socket)) {
      const certified = socket instanceof TLSSocket && socket.authorized
      known.set(socket, certified ? Access.userOfSubject(socket.getPeerCertificate().subject) : undefined)
    }
    return known.get(socket) ?? Access.userOf(users, headers.authorization, nobody)
  }
}

const siteOf = (
  running: Running,
  options: ListenOptions,
  tokens: ReadonlyArray<Token>,
  context: Context.Context<never>
): Site => {
  const clock = Context.get(context, Clock.Clock)
  return {
    running,
    now: () => clock.currentTimeMillisUnsafe(),
    fork: Effect.runForkWith(context),
    userOf: authenticator(tokens, options),
    audit: options.audit,
    metrics: Metrics.make(),
    inbox: makeInbox(),
    outbox: Outbox.make(),
    lane: makeLane(),
    turns: makeTurns(),
    watches: new Set(),
    eventLine: makeEventLines()
  }
}

/** Listens until the scope ends. */
export const make = (running: Running, options: ListenOptions): Effect.Effect<Listening, ListenError, Scope.Scope> =>
  Effect.gen(function* () {
    const tokens = options.tokens ?? [
      { token: randomBytes(24).toString("hex"), user: "admin", uid: "admin", groups: ["system:masters"] }
    ]
    const first = tokens[0]
    if (first === undefined) return yield* new ListenError({ reason: { _tag: "NoTokens" } })
    const tls = options.tls ?? true
    const certificate = tls === true ? makeCertificate("fixpoint-apiserver") : tls === false ? undefined : tls
    const server = yield* makeServer(certificate, options.clientCa)
    const context = yield* Effect.context<never>()
    const site = siteOf(running, options, tokens, context)
    server.maxConnections = connectionsMost
    server.on("request", handle(site))
    const sockets = trackSockets(server)
    const close = yield* Effect.cached(closing(server, sockets, site.watches))
    const port = yield* listen(server, options.port ?? 0)
    yield* Effect.addFinalizer(() => close)
    const url = `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`
    return {
      url,
      port,
      ca: certificate?.cert,
      token: first.token,
      kubeconfig: kubeconfigOf(url, certificate?.cert, first),
      connections: Effect.sync(() => sockets.size),
      close
    }
  })
