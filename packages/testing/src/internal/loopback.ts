/** Ports and plain requests on this machine. */
import * as fs from "node:fs"
import * as https from "node:https"
import * as net from "node:net"
import * as Effect from "effect/Effect"
import type { Ground } from "./controlPlaneFiles.ts"

/** That many loopback ports that nobody listens on. All are held until the last is found, so that they differ. */
export const freePorts = (count: number): Effect.Effect<ReadonlyArray<number>> =>
  Effect.promise(async () => {
    const servers = await Promise.all(
      Array.from(
        { length: count },
        () =>
          new Promise<net.Server>((resolve, reject) => {
            const server = net.createServer()
            server.once("error", reject)
            server.listen(0, "127.0.0.1", () => resolve(server))
          })
      )
    )
    const ports = servers.map((server) => (server.address() as net.AddressInfo).port)
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    return ports
  })

/** True if the API server answers 200 there within a second. */
export const answers = (ground: Ground, path: string): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    if (!fs.existsSync(ground.ca)) return resume(Effect.succeed(false))
    const request = https.get(
      `${ground.url}${path}`,
      {
        ca: fs.readFileSync(ground.ca),
        agent: false,
        timeout: 1_000,
        headers: { authorization: `Bearer ${ground.token}` }
      },
      (response) => {
        response.resume()
        resume(Effect.succeed(response.statusCode === 200))
      }
    )
    request.once("timeout", () => request.destroy())
    request.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => void request.destroy())
  })
