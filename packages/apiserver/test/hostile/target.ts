/** The process that is attacked: the in-memory API behind HTTP and HTTPS. It says where it listens, and on demand what it holds. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ApiServer from "../../src/ApiServer.ts"

export interface Address {
  readonly port: number
  readonly tlsPort: number
  readonly token: string
}

/** After a full collection of garbage. */
export interface Held {
  readonly heapMiB: number
  readonly rssMiB: number
  readonly connections: number
}

const token = "hostile"

const main = Effect.gen(function* () {
  const tokens = [{ token, user: "admin", groups: ["system:masters"] }]
  const plain = yield* ApiServer.listen({ tls: false, tokens })
  const tls = yield* ApiServer.listen({ tokens })
  process.on("message", () => {
    globalThis.gc?.()
    const [a, b] = Effect.runSync(Effect.all([plain.connections, tls.connections]))
    const { heapUsed, rss } = process.memoryUsage()
    const held: Held = { heapMiB: heapUsed / 2 ** 20, rssMiB: rss / 2 ** 20, connections: a + b }
    process.send?.(held)
  })
  const address: Address = { port: plain.port, tlsPort: tls.port, token }
  process.send?.(address)
  return yield* Effect.never
})

// Ends with its parent, whatever becomes of that.
process.on("disconnect", () => process.exit(0))
Effect.runFork(Effect.scoped(main).pipe(Effect.provide(Layer.fresh(ApiServer.layer()))))
