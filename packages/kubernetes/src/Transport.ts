/**
 * HTTP to one API server: two pools of its own, credentials on each request, failures in one clear line.
 *
 * Guarantees: requests share at most `connections` sockets, kept alive between requests; each watch has its own beside them, so open watches starve
 * no request. HTTP/1.1 only: with undici's HTTP/2 a GOAWAY leaves requests unsettled for ever while a watch is open. A 401 renews the credentials
 * once and, if that brought others, asks once more; nothing was done by then. Nothing else is retried. Interruption closes the socket. New TLS
 * material takes new sockets; exchanges that run on old ones go on.
 * An answer that is larger than its request allows is left.
 * Caveats: only lists are asked for compressed. Redirects are not followed.
 */
import type { IncomingHttpHeaders } from "node:http"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Dispatcher } from "undici"
import type { Access, Credentials } from "./Credentials.ts"
import { type Broken, type Streamed, streamed, type Whole, whole } from "./internal/exchange.ts"
import { describe } from "./internal/networkFailure.ts"
import { makePools } from "./internal/pools.ts"

/** No answer. `message` is one line that names the server and the cause, never headers or bodies. Whether the request was done is unknown. */
export class TransportError extends Data.TaggedError("TransportError")<{ readonly message: string }> {}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** With its query, as `/api/v1/nodes?limit=1`. */
  readonly path: string
  readonly contentType?: string
  readonly body?: string
  /** Of the answer's body at most, or the request fails. Default 64 MiB: no object is larger than 3 MiB (F28). Of a refusal 1 MiB is read. */
  readonly answerBytesMax?: number
  /** Whether the answer may come gzipped, which pays for large ones: less to decrypt, and for the server less to encrypt. */
  readonly gzip?: boolean
}

export interface HttpAnswer {
  /** Any: also 401, if renewed credentials did not help. */
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An answer whose body goes on. */
export interface HttpStream {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  /** What has come since the last read, waiting for something if nothing has; undefined at the end. For one reader. */
  readonly read: Effect.Effect<ReadonlyArray<Buffer> | undefined, TransportError>
}

export interface Transport {
  /** `https://host:port`, for messages. */
  readonly origin: string
  /** A text from the server without the tokens that it was sent: an echoing proxy must not bring them into a log. */
  readonly conceal: (text: string) => string
  readonly request: (request: HttpRequest) => Effect.Effect<HttpAnswer, TransportError>
  /** On a connection of its own, without a limit of time once the answer has begun. Closing the scope closes the connection. */
  readonly stream: (request: HttpRequest) => Effect.Effect<HttpStream, TransportError, Scope.Scope>
}

export interface TransportOptions {
  /**
   * A request fails when the server is silent for so long, and in any case after twice as long, waiting for a free connection included (B5). Default
   * 30 s: the server's own limit is 60 s.
   */
  readonly requestTimeout?: Duration.Input
  /** Sockets for requests at most; watches have theirs beside them. Default 16. */
  readonly connections?: number
  /** Default `fixpoint`. */
  readonly userAgent?: string
}

const answerBytesMax = 64 * 1024 * 1024
/** Tokens that are kept out of texts: the latest ones, since an answer may come after a renewal. */
const tokensMax = 8

const makeTokens = () => {
  const tokens = new Set<string>()
  return {
    remember: ({ headers }: Access): void => {
      const token = headers.authorization?.replace(/^\S+ +/, "")
      if (token === undefined || token === "" || tokens.has(token)) return
      const [oldest] = tokens
      if (tokens.size >= tokensMax && oldest !== undefined) tokens.delete(oldest)
      tokens.add(token)
    },
    conceal: (text: string): string => [...tokens].reduce((shown, token) => shown.replaceAll(token, "***"), text)
  }
}

const headersOf = ({ contentType, gzip }: HttpRequest): Readonly<Record<string, string>> => ({
  accept: "application/json",
  ...(contentType !== undefined && { "content-type": contentType }),
  ...(gzip === true && { "accept-encoding": "gzip" })
})

/** Opens no connection before the first request; closing the scope ends all exchanges. */
export const make = (
  credentials: Credentials,
  options: TransportOptions = {}
): Effect.Effect<Transport, never, Scope.Scope> =>
  Effect.gen(function* () {
    const silenceMillis = Duration.toMillis(options.requestTimeout ?? "30 seconds")
    const userAgent = options.userAgent ?? "fixpoint"
    const { origin, pathname } = new URL(credentials.server)
    const base = pathname.replace(/\/+$/, "")
    const tokens = makeTokens()

    const pools = makePools({
      origin,
      proxy: credentials.proxy,
      silenceMillis,
      connections: options.connections ?? 16
    })
    yield* Effect.addFinalizer(() => Effect.promise(pools.destroy))

    const optionsOf = (request: HttpRequest, access: Access): Dispatcher.DispatchOptions => {
      tokens.remember(access)
      return {
        origin,
        method: request.method,
        path: `${base}${request.path}`,
        body: request.body ?? null,
        headers: { ...headersOf(request), "user-agent": userAgent, ...access.headers }
      }
    }

    const failed = ({ error }: Broken) => new TransportError({ message: describe(error, origin) })

    /** With the current credentials, and once more with others if they are refused. */
    const admitted = <A extends { readonly code: number }, R>(
      send: (access: Access) => Effect.Effect<A, Broken, R>
    ): Effect.Effect<A, TransportError, R> =>
      Effect.flatMap(credentials.current, (access) =>
        Effect.flatMap(send(access), (answer) =>
          answer.code !== 401
            ? Effect.succeed(answer)
            : Effect.flatMap(credentials.renew(access), (renewed) =>
                renewed === access ? Effect.succeed(answer) : send(renewed)
              )
        )
      ).pipe(Effect.mapError(failed))

    const limited = <A, R>(effect: Effect.Effect<A, TransportError, R>): Effect.Effect<A, TransportError, R> =>
      Effect.timeoutOrElse(effect, {
        duration: 2 * silenceMillis,
        orElse: () =>
          Effect.fail(new TransportError({ message: `${origin}: no answer within ${(2 * silenceMillis) / 1_000} s` }))
      })

    return {
      origin,
      conceal: tokens.conceal,
      request: (request) =>
        admitted<Whole, never>((access) =>
          whole(pools.pair(access.tls).requests, optionsOf(request, access), {
            bytesMax: request.answerBytesMax ?? answerBytesMax,
            gzip: request.gzip === true
          })
        ).pipe(limited),
      stream: (request) =>
        Effect.map(
          admitted<Streamed, Scope.Scope>((access) =>
            streamed(pools.pair(access.tls).watches, optionsOf(request, access))
          ).pipe(limited),
          ({ code, headers, read }) => ({ code, headers, read: Effect.mapError(read, failed) })
        )
    }
  })
