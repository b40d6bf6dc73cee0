/** Answers that are not yet read by those who asked: together they are bounded, so that slow readers cannot fill the memory. */
import type * as http from "node:http"

export interface Outbox {
  /** Ends the answer with this body of so many bytes. */
  readonly send: (outgoing: http.ServerResponse, body: string | Buffer, bytes: number) => void
  /** Bytes that wait. */
  readonly waiting: () => number
}

/** Of all answers together; past it the connection that waits longest is cut. */
const bytesMost = 268_435_456

/** Smaller ones fit into the buffers of a socket and are not counted. */
const smallMost = 65_536

export const make = (): Outbox => {
  const waiting = new Map<http.ServerResponse, number>()
  let sum = 0
  const forget = (outgoing: http.ServerResponse): void => {
    sum -= waiting.get(outgoing) ?? 0
    waiting.delete(outgoing)
  }
  return {
    waiting: () => sum,
    send: (outgoing, body, bytes) => {
      if (bytes > smallMost) {
        waiting.set(outgoing, bytes)
        sum += bytes
        outgoing.once("close", () => forget(outgoing))
        for (const oldest of waiting.keys()) {
          if (sum <= bytesMost || oldest === outgoing) break
          forget(oldest)
          oldest.destroy()
        }
      }
      outgoing.end(body)
    }
  }
}
