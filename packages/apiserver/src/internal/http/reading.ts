/** Reads the bodies of requests, up to what the machine takes. */
import type * as http from "node:http"
import { bodyMost } from "../machine.ts"

/** What is thrown away of a body that is too large, so that its sender reads the answer before the connection closes. */
const discardMost = 67_108_864

/** Answers the bytes once all are there, or their number as far as it was counted if they are too many. A body that breaks off answers nothing. */
export const readBody = (incoming: http.IncomingMessage, use: (bytes: Buffer | number) => void): void => {
  let chunks: Array<Buffer> = []
  let size = 0
  const tooLarge = (): void => {
    chunks = []
    incoming.removeAllListeners("data").removeAllListeners("end")
    let discarded = 0
    incoming.on("data", (chunk: Buffer) => {
      discarded += chunk.length
      if (discarded > discardMost) incoming.socket.destroy()
    })
    use(size)
  }
  const announced = Number(incoming.headers["content-length"] ?? 0)
  if (announced > bodyMost) {
    size = announced
    return tooLarge()
  }
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size > bodyMost) return tooLarge()
    chunks.push(chunk)
  })
  incoming.on("end", () => use(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
}
