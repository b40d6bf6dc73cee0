/** What is wrong on the way to the server, or with who asks. */
import { rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import type * as net from "node:net"
import { rootCertificates } from "node:tls"
import { ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import { badInput, played, stops } from "./badInput.ts"
import { kubeconfigFile, type KubeconfigInput, kubeconfigText, site, until } from "./cluster.ts"
import { start } from "./programs.ts"

/** It waits and tries again; asked to stop, it ends in order. */
const waits = (input: KubeconfigInput, text: string) =>
  Effect.gen(function* () {
    const KUBECONFIG = yield* kubeconfigFile(kubeconfigText(input))
    const running = yield* start("access", { KUBECONFIG })
    yield* running.says(text)
    // What it repeats would come now.
    yield* Effect.sleep("2 seconds")
    const [url = ""] = /http:\/\/localhost:\d+\/readyz/.exec(running.output()) ?? []
    const { status } = yield* Effect.promise(() => fetch(url))
    const told = played(running, [], `waits and tries again; /readyz answers ${status}`)
    return { ...told, outcome: told.outcome + (yield* stops(running)) }
  })

const onReal = (cluster: (ca: string) => object, text: string, change: (url: string) => string = (url) => url) =>
  Effect.flatMap(ControlPlane, ({ ca, token, url }) =>
    waits({ server: change(url), cluster: cluster(ca), user: { token } }, text)
  )

const authority = (ca: string) => ({ "certificate-authority-data": Buffer.from(ca).toString("base64") })

/** A loopback server that answers in plain HTTP, for the scope. */
const plain = Effect.gen(function* () {
  const server = http.createServer((_, response) => void response.writeHead(404).end("404 page not found\n"))
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  return (server.address() as net.AddressInfo).port
})

export const onTheWay = [
  badInput("nothing listens where the server should be", waits({ server: "https://127.0.0.1:1" }, "ECONNREFUSED")),
  badInput(
    "the server's name does not resolve",
    waits({ server: "https://kubernetes.invalid:6443" }, "kubernetes.invalid:6443: ")
  ),
  badInput(
    "the CA is another one",
    onReal(() => authority(rootCertificates[0]!), "certificate")
  ),
  badInput(
    "no CA is given",
    onReal(() => ({}), "certificate")
  ),
  badInput(
    "the server's certificate is for another name",
    onReal((ca) => ({ ...authority(ca), "tls-server-name": "prod.example.com" }), "certificate")
  ),
  badInput(
    "https, where plain HTTP is spoken",
    Effect.flatMap(plain, (port) => waits({ server: `https://127.0.0.1:${port}` }, "TLS"))
  ),
  badInput(
    "plain HTTP, where TLS is spoken",
    onReal(
      () => ({}),
      "TLS",
      (url) => url.replace("https:", "http:")
    )
  ),
  badInput(
    "an HTTP server that is no API server",
    Effect.flatMap(plain, (port) => waits({ server: `http://127.0.0.1:${port}` }, "404"))
  ),
  badInput(
    "the server does not know the token (401)",
    Effect.flatMap(ControlPlane, ({ ca, url }) =>
      waits({ server: url, cluster: authority(ca), user: { token: "s3cret-token" } }, "401")
    )
  ),
  badInput(
    "the token's file holds an old token, goes away, and comes back with a good one",
    Effect.gen(function* () {
      const { token } = yield* ControlPlane
      const { api, at, cluster, env, Gadget, gadget, install, readyOf, url } = yield* site()
      yield* install(Gadget)
      yield* gadget("a")
      const file = `${(yield* env("admin")).KUBECONFIG}-token`
      writeFileSync(file, "s3cret-token")
      const KUBECONFIG = yield* kubeconfigFile(kubeconfigText({ server: url, cluster, user: { tokenFile: file } }))
      const running = yield* start("gadgets", { ...(yield* env("admin")), KUBECONFIG })
      yield* running.says("401")
      rmSync(file)
      yield* running.says("cannot read the tokenFile")
      writeFileSync(file, token)
      yield* until(
        "it is ready",
        Effect.map(readyOf("a"), (ready) => ready.startsWith("True"))
      )
      const told = played(running, [], "waits; goes on by itself with the good token")
      yield* api.delete(Gadget, at("a"))
      return { ...told, outcome: told.outcome + (yield* stops(running)) }
    })
  )
]
