/**
 * A server on loopback that speaks in raw bytes, so that it may break every rule of HTTP, TLS and Kubernetes. What it does is drawn from a seed or
 * written by the test.
 */
import { type AddressInfo, createServer, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import * as Effect from "effect/Effect"
import type { Certificate } from "@fixpoint/apiserver/Certificate"

/** Numbers and bytes that a seed decides. */
export interface Chance {
  /** From 0 up to, without, `below`. */
  readonly int: (below: number) => number
  readonly pick: <A>(among: ReadonlyArray<A>) => A
  readonly bytes: (length: number) => Buffer
}

export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0
  const int = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * below)
  }
  return {
    int,
    pick: (among) => among[int(among.length)]!,
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(256)))
  }
}

/** One request, as its bytes came. */
export interface Visit {
  readonly socket: Socket
  /** The head, or as much of it as came first. */
  readonly text: string
  readonly url: string
  /** Counted from 0 over all connections. */
  readonly nth: number
  /** Nothing happens once the client has gone. */
  readonly write: (bytes: string | Buffer) => void
  /** Again and again until the client goes. */
  readonly repeat: (everyMillis: number, bytes: (i: number) => string | Buffer) => void
}

export type Attack = (visit: Visit) => void

export interface Hostile {
  readonly url: string
  readonly visits: () => number
  /** Connections that are open. */
  readonly open: () => number
  /** The requests' first lines. */
  readonly lines: ReadonlyArray<string>
  /** From now on it does this. */
  readonly become: (attack: Attack) => void
}

/** Runs for the scope. `onConnection` may do something before a word is spoken. */
export const serveRaw = (
  first: Attack,
  options: { readonly certificate?: Certificate; readonly onConnection?: (socket: Socket) => void } = {}
) =>
  Effect.gen(function* () {
    let attack = first
    let visits = 0
    const lines: Array<string> = []
    const sockets = new Set<Socket>()
    const timers = new Set<NodeJS.Timeout>()

    const listen = (socket: Socket): void => {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => sockets.delete(socket))
      options.onConnection?.(socket)
      const write = (bytes: string | Buffer): void => {
        if (!socket.destroyed && socket.writable) socket.write(bytes)
      }
      socket.on("data", (chunk: Buffer) => {
        const text = chunk.toString("latin1")
        if (!/^[A-Z]+ \//.test(text)) return
        lines.push(text.slice(0, text.indexOf("\r\n")))
        attack({
          socket,
          text,
          url: text.split(" ")[1] ?? "",
          nth: visits++,
          write,
          repeat: (everyMillis, bytes) => {
            let i = 0
            const timer = setInterval(() => {
              if (socket.writableLength < 1024 * 1024) write(bytes(i++))
            }, everyMillis)
            timers.add(timer)
            socket.on("close", () => clearInterval(timer))
          }
        })
      })
    }

    const { certificate } = options
    const server =
      certificate === undefined
        ? createServer(listen)
        : createTlsServer({ cert: certificate.cert, key: certificate.key }, listen)
    server.on("tlsClientError", () => {})
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.callback<void>((resume) => {
          for (const timer of timers) clearInterval(timer)
          for (const socket of sockets) socket.destroy()
          server.close(() => resume(Effect.void))
        })
    )
    const hostile: Hostile = {
      url: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
      visits: () => visits,
      open: () => sockets.size,
      lines,
      become: (next) => {
        attack = next
      }
    }
    return hostile
  })

/** A well-formed answer around any body. */
export const answer = (body: string | Buffer, code = 200, headers = "content-type: application/json\r\n"): Buffer => {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${code} X\r\n${headers}content-length: ${bytes.length}\r\n\r\n`), bytes])
}

export const chunk = (body: string | Buffer): Buffer => {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")])
}

/** The head of an answer whose body comes in chunks. */
export const chunkedHead = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"

export const lastChunk = "0\r\n\r\n"
