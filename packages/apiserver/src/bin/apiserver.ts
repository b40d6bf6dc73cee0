/** The in-memory API in the foreground, for kubectl and operators under development: prints how to reach it and runs until SIGINT or SIGTERM. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as ApiServer from "../ApiServer.ts"
import type { AuditEntry } from "../Listener.ts"
import { writeAssets } from "./assets.ts"
import { Mistake, run } from "./foreground.ts"
import { readCrds } from "./manifests.ts"

const usage = `Usage: npm run apiserver -- [options]
  --port PORT        of 127.0.0.1 to listen on (default: a free one)
  --kubeconfig FILE  where to write the kubeconfig (default: a file in a temporary folder)
  --crds DIR         serves the CustomResourceDefinitions in its .yaml, .yml and .json files
  --plain            HTTP instead of HTTPS, for whoever reaches the port, since kubectl sends no token over HTTP
  --audit            prints a line for each request that is over
  --assets DIR       writes a kube-apiserver into DIR that starts this server, and links to the etcd and kubectl
                     of KUBEBUILDER_ASSETS, so that DIR serves as KUBEBUILDER_ASSETS; then ends
  --help             prints this`

interface Arguments {
  readonly port: number
  readonly kubeconfig: string | undefined
  readonly crds: string | undefined
  readonly assets: string | undefined
  readonly plain: boolean
  readonly audit: boolean
  readonly help: boolean
}

const readArguments = (args: ReadonlyArray<string>): Effect.Effect<Arguments, Mistake> =>
  Effect.try({
    try: () => {
      const { values } = parseArgs({
        args: [...args],
        options: {
          port: { type: "string", default: "0" },
          kubeconfig: { type: "string" },
          crds: { type: "string" },
          assets: { type: "string" },
          plain: { type: "boolean", default: false },
          audit: { type: "boolean", default: false },
          help: { type: "boolean", short: "h", default: false }
        }
      })
      const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : -1
      if (port < 0 || port > 65_535) throw new Error(`--port ${values.port}: give a number from 0 to 65535`)
      return { ...values, port, kubeconfig: values.kubeconfig, crds: values.crds, assets: values.assets }
    },
    catch: (error) => new Mistake({ message: `${(error as Error).message.split(". ", 1)[0]!} (see --help)` })
  })

/** Readable by the user alone: it bears a token. A file of one's own choice stays; a temporary one goes with the scope. */
const writeKubeconfig = (file: string | undefined, text: string): Effect.Effect<string, Mistake, Scope.Scope> => {
  const write = (target: string): string => {
    fs.writeFileSync(target, text, { mode: 0o600 })
    fs.chmodSync(target, 0o600)
    return target
  }
  if (file !== undefined) {
    return Effect.try({
      try: () => write(path.resolve(file)),
      catch: (error) => new Mistake({ message: `--kubeconfig ${file}: ${(error as Error).message}` })
    })
  }
  const folder = Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-apiserver-"))),
    (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
  )
  return Effect.map(folder, (made) => write(path.join(made, "kubeconfig")))
}

const print = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stdout.write(`${text}\n`))

const auditLine = ({ bytes, code, method, millis, path: asked, user, userAgent }: AuditEntry): string =>
  `${method} ${asked} ${code} ${millis.toFixed(1)} ms ${bytes} B by ${user} (${userAgent})`

const program = Effect.gen(function* () {
  const { assets, audit, crds, help, kubeconfig, plain, port } = yield* readArguments(process.argv.slice(2))
  if (help) return yield* print(usage)
  if (assets !== undefined) return yield* writeAssets(assets, process.env.KUBEBUILDER_ASSETS)
  const kinds = crds === undefined ? [] : yield* readCrds(crds)
  yield* Effect.gen(function* () {
    const listening = yield* ApiServer.listen({
      port,
      tls: !plain,
      // On loopback, as with `kubectl proxy`: whoever reaches the port may ask.
      trustAnonymous: plain,
      ...(audit && { audit: (entry: AuditEntry) => void process.stdout.write(`${auditLine(entry)}\n`) })
    })
    const file = yield* writeKubeconfig(kubeconfig, listening.kubeconfig)
    yield* print(`export KUBECONFIG=${file}`)
    yield* print(
      `# ${listening.url} is up: run the line above in another shell, then kubectl get namespaces; end with Ctrl-C`
    )
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.provide(ApiServer.layer({ kinds })))
})

run("apiserver", program)
