/** What is wrong before anything is asked of a server. */
import { mkdirSync } from "node:fs"
import * as net from "node:net"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import { ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import { badInput, ends, played } from "./badInput.ts"
import { folder, kubeconfigFile, type KubeconfigInput, kubeconfigText } from "./cluster.ts"
import { start } from "./programs.ts"

/** Of no cluster: it must not come so far as to ask. */
const nowhere = "https://127.0.0.1:1"

const withText = (text: string) =>
  Effect.flatMap(kubeconfigFile(text), (KUBECONFIG) => ends("access", { KUBECONFIG, HOME: "/nonexistent" }))

const withConfig = (input: Partial<KubeconfigInput>) => withText(kubeconfigText({ server: nowhere, ...input }))

/** The kubeconfig with some of its text replaced. */
const replaced = (from: string, to: string) =>
  withText(kubeconfigText({ server: nowhere, user: { token: "s3cret-token" } }).replace(from, to))

const exec = (command: string, ...args: ReadonlyArray<string>) => ({
  user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command, args, interactiveMode: "Never" } }
})

const data = (text: string) => ({ cluster: { "certificate-authority-data": text } })

export const atStart = [
  badInput("no KUBECONFIG, no ~/.kube/config, not in a Pod", ends("access", { HOME: "/nonexistent" })),
  badInput(
    "KUBECONFIG names a file that is not there",
    ends("access", { KUBECONFIG: "/nonexistent/kubeconfig", HOME: "/nonexistent" })
  ),
  badInput(
    "the kubeconfig is a folder",
    Effect.gen(function* () {
      const path = join(yield* folder, "kubeconfig")
      mkdirSync(path)
      return yield* ends("access", { KUBECONFIG: path })
    })
  ),
  badInput("the kubeconfig is empty", withText("")),
  badInput("the kubeconfig is not YAML", withText('users: [{ name: u, user: { token: "s3cret-token" }]\n')),
  badInput("the kubeconfig is YAML of another shape", withText("- a\n- list\n")),
  badInput("the kubeconfig is another manifest", withText("apiVersion: v1\nkind: Secret\ndata: { token: czNjcmV0 }\n")),
  badInput(
    "the current context is not in the kubeconfig",
    replaced('"current-context":"main"', '"current-context":"prod"')
  ),
  badInput("the kubeconfig has no current context", replaced('"current-context":"main",', "")),
  badInput(
    "the context's cluster is not in the kubeconfig",
    replaced('"context":{"cluster":"cluster"', '"context":{"cluster":"prod"')
  ),
  badInput("the context's user is not in the kubeconfig", replaced('"user":"user"', '"user":"ada"')),
  badInput("the server is not a URL", withConfig({ server: "127.0.0.1" })),
  badInput("the CA file is not there", withConfig({ cluster: { "certificate-authority": "/nonexistent/ca.crt" } })),
  badInput("the CA's data is not base64", withConfig(data("-----BEGIN!"))),
  badInput("the CA's data is no certificate", withConfig(data(Buffer.from("no certificate").toString("base64")))),
  badInput(
    "the client's certificate has no key",
    withConfig({
      user: { "client-certificate-data": Buffer.from(rootCertificates[0]!).toString("base64") }
    })
  ),
  badInput("the token's file is not there", withConfig({ user: { tokenFile: "/nonexistent/token" } })),
  badInput("the exec plugin is not there", withConfig(exec("no-such-plugin"))),
  badInput(
    "the exec plugin fails",
    withConfig(exec("sh", "-c", "echo s3cret-token; echo 'your session has ended: log in' >&2; exit 3"))
  ),
  badInput("the exec plugin prints no credential", withConfig(exec("echo", "hello s3cret-token"))),
  badInput(
    "SIGTERM while the exec plugin runs",
    Effect.gen(function* () {
      const touched = join(yield* folder, "began")
      const KUBECONFIG = yield* kubeconfigFile(
        kubeconfigText({ server: nowhere, ...exec("sh", "-c", `touch ${touched}; exec sleep 20`) })
      )
      const running = yield* start("access", { KUBECONFIG })
      yield* running.says("health probe")
      yield* Effect.sleep("1 second")
      const { code } = yield* running.stop
      return played(running, [], `exit code ${code}`)
    })
  ),
  badInput(
    "the health probe's port is taken",
    Effect.gen(function* () {
      const server = net.createServer()
      const port = yield* Effect.acquireRelease(
        Effect.callback<number>((resume) => {
          server.listen(0, () => resume(Effect.succeed((server.address() as net.AddressInfo).port)))
        }),
        () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      const { kubeconfig } = yield* ControlPlane
      return yield* ends("access", { KUBECONFIG: kubeconfig, HEALTH_PORT: String(port) })
    })
  ),
  badInput(
    "the health probe's port is no number",
    Effect.flatMap(ControlPlane, ({ kubeconfig }) => ends("access", { KUBECONFIG: kubeconfig, HEALTH_PORT: "http" }))
  )
]
