/** An HTTP or HTTPS server on loopback whose answers a test writes by hand, and clients for it. */
import * as http from "node:http"
import * as https from "node:https"
import { type AddressInfo, connect, type Socket } from "node:net"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { Resource } from "@fixpoint/core/KubeObject"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Kubernetes from "../src/Kubernetes.ts"
import type { Certificate } from "@fixpoint/apiserver/Certificate"

export const configMaps: Resource = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced"
}

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

export interface Scripted {
  readonly url: string
  readonly port: number
  /** In the order in which they came. */
  readonly asked: ReadonlyArray<Asked>
  /** Connections ever made. */
  readonly connections: () => number
  /** Of those, the ones that are still open. */
  readonly open: () => number
}

export type Answer = (asked: Asked, response: http.ServerResponse) => void

/** Runs for the scope. */
export const serve = (answer: Answer, certificate?: Certificate, atPort = 0) =>
  Effect.gen(function* () {
    const asked: Array<Asked> = []
    const sockets = new Set<Socket>()
    let connections = 0
    const listener: http.RequestListener = (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const one = {
          method: request.method ?? "",
          url: request.url ?? "",
          headers: request.headers,
          text: Buffer.concat(chunks).toString("utf8")
        }
        asked.push(one)
        answer(one, response)
      })
    }
    const server =
      certificate === undefined
        ? http.createServer(listener)
        : https.createServer({ cert: certificate.cert, key: certificate.key }, listener)
    server.on("connection", (socket: Socket) => {
      connections++
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => sockets.delete(socket))
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(atPort, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.callback<void>((resume) => {
          for (const socket of sockets) socket.destroy()
          server.close(() => resume(Effect.void))
        })
    )
    const { port } = server.address() as AddressInfo
    const scripted: Scripted = {
      url: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`,
      port,
      asked,
      connections: () => connections,
      open: () => sockets.size
    }
    return scripted
  })

/** An HTTP proxy that tunnels and forwards, and counts. */
export const serveProxy = Effect.gen(function* () {
  const sockets = new Set<Socket>()
  let passed = 0
  const server = http.createServer((request, response) => {
    passed++
    const onward = http.request(request.url ?? "", { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  server.on("connect", (request, near: Socket) => {
    passed++
    const [host, port] = (request.url ?? "").split(":")
    const far = connect(Number(port), host, () => {
      near.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      far.pipe(near).pipe(far)
    })
    sockets.add(far)
    far.on("error", () => near.destroy())
  })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed: () => passed }
})

/** The client that a Layer gives, for the scope. */
export const clientOf = (options: Kubernetes.Options, surroundings?: Kubernetes.Surroundings) =>
  Effect.map(Layer.build(Kubernetes.layerWith(options, surroundings)), (context) => Context.get(context, ApiClient))

export const json = (
  response: http.ServerResponse,
  code: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {}
) => void response.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

export const configMap = (name: string, resourceVersion = "1", more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion, ...more }
})

/** Polls until it holds, at most about half a minute. */
export const until = (what: string, holds: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let i = 0; i < 3_000; i++) {
      if (holds()) return
      yield* Effect.sleep("10 millis")
    }
    return yield* Effect.die(new Error(`did not happen within half a minute: ${what}`))
  })
