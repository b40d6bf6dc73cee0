/** Raw bytes to a server, and what comes back. */
import { connect, type Socket } from "node:net"
import type { Address } from "./target.ts"

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

export interface Heard {
  readonly text: string
  /** The codes of all answers in it. */
  readonly codes: ReadonlyArray<number>
  /** Whether the server ended the connection, or we gave up. */
  readonly ended: boolean
}

export interface Manner {
  /** We end our side after the last byte. */
  readonly finish?: boolean
  /** How long we listen at most. Default 60 s, since the machine may be busy. */
  readonly patienceMillis?: number
  /** We are content with so many answers. Default 1. */
  readonly answers?: number
}

/** The codes of answers; a body that looks like an answer would count too. */
export const codesOf = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code))

/** At most so much of what a server says is kept. */
const keptMost = 1_000_000

/** Sends the parts, one after another as the socket takes them, and listens. Never fails. */
export const speak = (
  port: number,
  parts: ReadonlyArray<string | Buffer>,
  { answers = 1, finish = false, patienceMillis = 60_000 }: Manner = {}
): Promise<Heard> => {
  const { promise, resolve } = Promise.withResolvers<Heard>()
  const socket = connect(port, "127.0.0.1")
  let text = ""
  let bytes = 0
  let over = false
  const end = (ended: boolean): void => {
    if (over) return
    over = true
    clearTimeout(timer)
    socket.destroy()
    resolve({ text, codes: codesOf(text), ended })
  }
  const timer = setTimeout(() => end(false), patienceMillis)
  socket.on("error", () => end(true))
  socket.on("close", () => end(true))
  socket.on("data", (chunk) => {
    bytes += chunk.length
    if (text.length < keptMost) text += chunk.toString("latin1")
    if (!finish && isWhole(text, bytes) && codesOf(text).length >= answers) end(false)
  })
  socket.on("connect", () => {
    for (const part of parts) if (!socket.destroyed) socket.write(part)
    if (finish) socket.end()
  })
  return promise
}

/** Whether the last answer has come to its end, as far as a length says. */
const isWhole = (text: string, bytes: number): boolean => {
  const at = text.lastIndexOf("HTTP/1.1 ")
  const head = text.indexOf("\r\n\r\n", at)
  if (head < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(at, head))?.[1]
  return length === undefined || bytes - head - 4 >= Number(length)
}

/** A well-formed request. */
export const request = (
  { token }: Pick<Address, "token">,
  method: string,
  path: string,
  body: string | Buffer = "",
  headers: Readonly<Record<string, string>> = {}
): Buffer => {
  const bytes = Buffer.from(body)
  const all: Readonly<Record<string, string>> = {
    host: "x",
    authorization: `Bearer ${token}`,
    ...(bytes.length > 0 && { "content-type": "application/json", "content-length": String(bytes.length) }),
    ...headers
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), bytes])
}

/** Runs all, so many at a time. */
export const each = async <A, B>(
  items: ReadonlyArray<A>,
  atOnce: number,
  run: (item: A, index: number) => Promise<B>
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      results[index] = await run(items[index]!, index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  return results
}

export const sleep = (millis: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, millis)
  return promise
}

/** Sockets that are open together; those that the server closes are counted. */
export class Crowd {
  readonly sockets: Array<Socket> = []
  closed = 0
  text = ""

  /** Opens so many more, at most 500 on their way at once. */
  async open(port: number, count: number, greet: (socket: Socket, index: number) => void): Promise<void> {
    await each(Array.from({ length: count }), 500, (_, index) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const socket = connect(port, "127.0.0.1", () => {
        greet(socket, index)
        resolve()
      })
      socket.on("error", () => resolve())
      socket.on("close", () => this.closed++)
      this.sockets.push(socket)
      return promise
    })
  }

  leave(): void {
    for (const socket of this.sockets) socket.destroy()
  }
}
