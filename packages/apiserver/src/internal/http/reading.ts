/** Reads the bodies of requests, up to what the machine takes, and all that are on their way together up to a bound of their own. */
import type * as http from "node:http"
import { bodyMost } from "../machine.ts"
import * as Refusal from "../refusal.ts"

/** Of all bodies on their way together, in bytes: past it senders are asked to come again (429). */
const waitingMost = 268_435_456

export interface Inbox {
  /**
   * Answers the bytes once all are there, or their number as far as it was counted if they are too many. A body that breaks off answers nothing.
   * `refused` is called instead where there is no room.
   */
  readonly read: (
    incoming: http.IncomingMessage,
    use: (bytes: Buffer | number) => void,
    refused: (refusal: Refusal.Refusal) => void
  ) => void
  /** The body was not wanted and is left unread: the connection must not serve another request. */
  readonly isUnread: (incoming: http.IncomingMessage) => boolean
  /** Bytes that wait for the rest of their body. */
  readonly waiting: () => number
}

export const makeInbox = (most: number = waitingMost): Inbox => {
  let waiting = 0
  const unread = new WeakSet<http.IncomingMessage>()
  const leaveUnread = (incoming: http.IncomingMessage): void => {
    unread.add(incoming)
    // A listener keeps Node from reading it to its end by itself.
    incoming.on("data", () => undefined).pause()
  }
  return {
    isUnread: (incoming) => unread.has(incoming),
    waiting: () => waiting,
    read: (incoming, use, refused) => {
      const announced = Number(incoming.headers["content-length"] ?? 0)
      if (announced > bodyMost) {
        leaveUnread(incoming)
        return use(announced)
      }
      let chunks: Array<Buffer> = []
      let size = 0
      const release = (): void => {
        waiting -= size
        size = 0
        chunks = []
      }
      const take = (chunk: Buffer): void => {
        size += chunk.length
        waiting += chunk.length
        chunks.push(chunk)
        if (size <= bodyMost && waiting <= most) return
        const counted = size
        release()
        incoming.off("data", take).off("end", finish).off("close", release)
        leaveUnread(incoming)
        if (counted > bodyMost) use(counted)
        else refused(Refusal.tooManyRequests())
      }
      const finish = (): void => {
        const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
        incoming.off("close", release)
        release()
        use(bytes)
      }
      incoming.on("data", take).on("end", finish).on("close", release)
    }
  }
}
