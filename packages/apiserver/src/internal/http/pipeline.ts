/**
 * The requests of one connection one after another, as in Go's server: Node begins all that a client has sent ahead at once, and others would wait
 * for the lot.
 */
import type * as http from "node:http"
import type { Socket } from "node:net"

/** No client sends so many ahead: the connection is cut. */
const aheadMost = 256

interface Line {
  last: http.ServerResponse
  waiting: number
}

export interface Pipeline {
  /** Begins now, or when what came before on the connection has been answered. Never, if the connection has gone by then. */
  readonly inOrder: (incoming: http.IncomingMessage, outgoing: http.ServerResponse, begin: () => void) => void
}

export const makePipeline = (): Pipeline => {
  const lines = new WeakMap<Socket, Line>()
  return {
    inOrder: ({ socket }, outgoing, begin) => {
      const line = lines.get(socket)
      if (line === undefined || line.last.writableFinished) {
        lines.set(socket, { last: outgoing, waiting: 0 })
        return begin()
      }
      if (line.waiting >= aheadMost) return void socket.destroy()
      const { last } = line
      line.last = outgoing
      line.waiting++
      last.once("close", () =>
        setImmediate(() => {
          line.waiting--
          if (!socket.destroyed) begin()
        })
      )
    }
  }
}
