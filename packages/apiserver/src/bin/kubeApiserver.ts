/**
 * The in-memory API behind the command line of kube-apiserver, for tools that start that program for tests. Of its flags `--secure-port`, `--cert-dir`,
 * `--tls-cert-file` and `--tls-private-key-file`, `--token-auth-file`, `--client-ca-file` and `--bind-address` are heeded; flags that mean nothing here are
 * taken silently; unknown ones are named on stderr. It listens on 127.0.0.1 alone, asks no etcd, and forgets all when it ends.
 * `FIXPOINT_LIST_DELAY=RESOURCE=MS` in the environment answers lists of that resource so many milliseconds late, for clients that count on a server's being slow.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as ApiServer from "../ApiServer.ts"
import { type Certificate, makeCertificate } from "../Certificate.ts"
import { Mistake, run } from "./foreground.ts"
import { type KubeFlags, parseKubeFlags, parseTokens } from "./kubeFlags.ts"

const attempt = <A>(flag: string, f: () => A): Effect.Effect<A, Mistake> =>
  Effect.try({
    try: f,
    catch: (error) => new Mistake({ message: `--${flag}: ${error instanceof Error ? error.message : String(error)}` })
  })

const readText = (flag: string, file: string): Effect.Effect<string, Mistake> =>
  attempt(flag, () => fs.readFileSync(file, "utf8"))

/** The pair that lies in the folder, or a new one, which is written there as the real server does. The key is for the user alone. */
const certificateIn = (folder: string): Certificate => {
  const [crt, key] = [path.join(folder, "apiserver.crt"), path.join(folder, "apiserver.key")]
  if (fs.existsSync(crt) && fs.existsSync(key)) {
    return { cert: fs.readFileSync(crt, "utf8"), key: fs.readFileSync(key, "utf8") }
  }
  const made = makeCertificate("kube-apiserver")
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(key, made.key, { mode: 0o600 })
  fs.writeFileSync(crt, made.cert)
  return made
}

const certificateOf = (values: KubeFlags["values"]): Effect.Effect<Certificate, Mistake> =>
  Effect.gen(function* () {
    const [certFile, keyFile] = [values.get("tls-cert-file"), values.get("tls-private-key-file")]
    if (certFile !== undefined && keyFile !== undefined) {
      return {
        cert: yield* readText("tls-cert-file", certFile),
        key: yield* readText("tls-private-key-file", keyFile)
      }
    }
    const folder = values.get("cert-dir")
    return folder === undefined
      ? makeCertificate("kube-apiserver")
      : yield* attempt("cert-dir", () => certificateIn(folder))
  })

const portOf = (values: KubeFlags["values"]): Effect.Effect<number, Mistake> =>
  attempt("secure-port", () => {
    const text = values.get("secure-port") ?? "6443"
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (port < 1 || port > 65_535) throw new Error(`${text} is no port: give a number from 1 to 65535`)
    return port
  })

/** From `widgets.example.com=25`. */
const listDelayOf = (text: string | undefined): Effect.Effect<ApiServer.Hook | undefined, Mistake> => {
  if (text === undefined) return Effect.succeed(undefined)
  const [, resource, millis] = /^([^=]+)=(\d+)$/.exec(text) ?? []
  if (millis === undefined) return new Mistake({ message: `FIXPOINT_LIST_DELAY: ${text} is not RESOURCE=MS` })
  return Effect.succeed({
    before: ({ operation }) =>
      operation.verb === "list" && operation.resource === resource ? Effect.sleep(Number(millis)) : Effect.void
  })
}

const say = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stderr.write(`${text}\n`))

const program = Effect.gen(function* () {
  const { unknown, values } = parseKubeFlags(process.argv.slice(2))
  if (values.has("version")) return void process.stdout.write("Kubernetes v1.36.3\n")
  if (unknown.length > 0) {
    yield* say(`kube-apiserver (in memory): unknown flags, ignored: ${unknown.map((name) => `--${name}`).join(" ")}`)
  }
  const bind = values.get("bind-address") ?? "127.0.0.1"
  if (!/^(?:127\.|0\.0\.0\.0$|localhost$|::1?$)/.test(bind)) {
    return yield* new Mistake({ message: `--bind-address ${bind}: this server listens on 127.0.0.1 alone` })
  }
  const tokenFile = values.get("token-auth-file")
  const text = tokenFile === undefined ? undefined : yield* readText("token-auth-file", tokenFile)
  const tokens = text === undefined ? undefined : yield* attempt("token-auth-file", () => parseTokens(text))
  const authority = values.get("client-ca-file")
  const clientCa = authority === undefined ? undefined : yield* readText("client-ca-file", authority)
  const options = {
    port: yield* portOf(values),
    tls: yield* certificateOf(values),
    ...(tokens !== undefined && tokens.length > 0 && { tokens }),
    ...(clientCa !== undefined && { clientCa })
  }
  const delay = yield* listDelayOf(process.env.FIXPOINT_LIST_DELAY)
  yield* Effect.gen(function* () {
    if (delay !== undefined) yield* (yield* ApiServer.ApiServer).hook(delay)
    const { url } = yield* ApiServer.listen(options)
    yield* say(`kube-apiserver (in memory): serving on ${url}`)
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.provide(ApiServer.layer()))
})

run("kube-apiserver", program)
