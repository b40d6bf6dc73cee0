/**
 * Tells kubelet and people over HTTP how the Managers of this process are: `/livez` and `/healthz` whether it is worth keeping, `/readyz` whether it does its
 * work (D23), with the problems in lines, or as JSON for those who accept that.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Manager } from "@fixpoint/core"
 * import { HealthProbe, Kubernetes, Operator } from "@fixpoint/kubernetes"
 *
 * Manager.run([]).pipe(
 *   Effect.provide([Kubernetes.layer, HealthProbe.layer({ port: 8081 })]),
 *   Operator.runMain("access-operator")
 * )
 * ```
 *
 * Guarantees: it listens before a Manager starts, so a slow or failing cluster looks unready, not dead. What it tells holds no secret.
 * Caveats: plain HTTP, and anybody who reaches the port may ask.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as Manager from "@fixpoint/core/Manager"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** It cannot listen. `message` is one line that says where, why and what to do. */
export class HealthProbeError extends Data.TaggedError("HealthProbeError")<{ readonly message: string }> {}

export interface Options {
  /** 0 takes a free one; the log says which. Default 8081. */
  readonly port?: number
  /** An address of this machine, such as `127.0.0.1` for loopback alone. Default: all, since kubelet asks from outside of the Pod. */
  readonly host?: string
}

export interface Answer {
  readonly code: 200 | 404 | 405 | 503
  readonly phase: Manager.Health["phase"]
  readonly problems: ReadonlyArray<string>
}

/** Who asks in another way than a probe does waits no longer than this, in milliseconds. */
const askMillis = 5_000
const connectionsMax = 64

const phases: ReadonlyArray<Manager.Health["phase"]> = ["stopped", "draining", "starting", "running"]

/** What several Managers are together: the least of them counts. None yet is one that starts. */
const together = (all: ReadonlyArray<Manager.Health>): Manager.Health => ({
  phase: phases.find((phase) => all.some((one) => one.phase === phase)) ?? "starting",
  ready: all.length > 0 && all.every(({ ready }) => ready),
  problems: all.flatMap(({ problems }) => problems)
})

/** Pure. A Manager that has stopped does nothing any more, and only a new process helps; everything else mends itself and must not be killed for it. */
export const answer = (
  request: { readonly method: string; readonly path: string },
  all: ReadonlyArray<Manager.Health>
): Answer => {
  const { phase, problems, ready } = together(all)
  const codeOf = (): Answer["code"] => {
    switch (request.path) {
      case "/readyz":
        return ready ? 200 : 503
      case "/livez":
      case "/healthz":
        return phase === "stopped" ? 503 : 200
      default:
        return 404
    }
  }
  const isRead = request.method === "GET" || request.method === "HEAD"
  return { code: isRead ? codeOf() : 405, phase, problems }
}

const textOf = ({ code, phase, problems }: Answer): string =>
  code === 404
    ? "not found: ask for /readyz, /livez or /healthz\n"
    : code === 405
      ? "only GET\n"
      : [code === 200 ? `ok: ${phase}` : `not ready: ${phase}`, ...problems].map((line) => `${line}\n`).join("")

const respond = (response: http.ServerResponse, told: Answer, json: boolean): void => {
  const { code, phase, problems } = told
  response.writeHead(code, {
    "content-type": json ? "application/json" : "text/plain; charset=utf-8",
    "cache-control": "no-store",
    ...(code === 405 && { allow: "GET, HEAD" })
  })
  response.end(json ? `${JSON.stringify({ ok: code === 200, phase, problems })}\n` : textOf(told))
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there: give it another port",
  EACCES: "this user may not: give it a port above 1023",
  EADDRNOTAVAIL: "this machine has no such address: give it another host",
  ENOTFOUND: "the host name is unknown: give it an address"
}

const listen = (server: http.Server, { host, port = 8081 }: Options): Effect.Effect<void, HealthProbeError> =>
  Effect.callback((resume) => {
    const where = `${host ?? "all addresses"}, port ${port}`
    const refuse = (code: string | undefined, message: string) =>
      resume(
        Effect.fail(
          new HealthProbeError({
            message: `the health probe cannot listen on ${where}: ${reasons[code ?? ""] ?? message}${code === undefined ? "" : ` (${code})`}`
          })
        )
      )
    server.on("error", (error: NodeJS.ErrnoException) => refuse(error.code, error.message))
    if (Number.isInteger(port) && port >= 0 && port <= 65_535)
      server.listen({ port, ...(host !== undefined && { host }) }, () => resume(Effect.void))
    else refuse(undefined, "a port is a whole number from 0 to 65535")
  })

/** Listens while it is open; tells of each Manager that starts with it. */
export const layer = (options: Options = {}): Layer.Layer<never, HealthProbeError> =>
  Layer.effect(
    Manager.OnStart,
    Effect.gen(function* () {
      const managers: Array<Manager.Manager["Service"]> = []
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const server = http.createServer(
        { requestTimeout: askMillis, headersTimeout: askMillis },
        (request, response) => {
          request.resume()
          const asked = { method: request.method ?? "", path: (request.url ?? "").split("?")[0]! }
          const json = request.headers.accept?.includes("application/json") === true
          run(
            Effect.map(Effect.all(managers.map(({ health }) => health)), (all) =>
              respond(response, answer(asked, all), json)
            )
          )
        }
      )
      server.maxConnections = connectionsMax
      yield* Effect.acquireRelease(listen(server, options), () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
      )
      const { port } = server.address() as AddressInfo
      yield* Effect.logInfo(`health probe: http://${options.host ?? "localhost"}:${port}/readyz`)
      return (manager: Manager.Manager["Service"]) => void managers.push(manager)
    })
  )
