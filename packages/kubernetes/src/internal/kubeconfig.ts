/**
 * Credentials of a kubeconfig: tokens, client certificates, exec plugins, and by @kubernetes/client-node what old kubeconfigs have as auth-provider, such as
 * OIDC. All of that library takes 0.4 s and 80 MiB to load, so it is imported for those and not before; its HTTP is not used.
 */
import { createPrivateKey, X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createSecureContext } from "node:tls"
import type { KubeConfig } from "@kubernetes/client-node"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Access, Source, Tls } from "../Credentials.ts"
import { KubernetesError } from "../KubernetesError.ts"
import * as ExecPlugin from "./execPlugin.ts"
import { fileFault } from "./fileFault.ts"
import { choose, type Chosen } from "./kubeconfigFile.ts"

/** A plugin that waits for somebody, or for ever, must not hold up an operator. */
const pluginSeconds = 60

const missing = (where: string, message: string): KubernetesError =>
  new KubernetesError({ reason: "NoCredentials", message: `no credentials from the kubeconfig ${where}: ${message}` })

/** A file or data of the kubeconfig; undefined where it has neither. Fails with what is wrong with it, named by its field. */
const material = (
  field: string,
  file: string | undefined,
  data: string | undefined,
  check: (pem: Buffer) => unknown,
  what: string
): Effect.Effect<Buffer | undefined, ExecPlugin.PluginFault> =>
  Effect.gen(function* () {
    if (!file && !data) return undefined
    const name = file ? `the ${field} ${file}` : `its ${field}-data`
    if (!file && !/^[\sA-Za-z0-9+/]+={0,2}\s*$/.test(data!))
      return yield* Effect.fail({ message: `${name} is not base64: encode the PEM file with base64` })
    const pem = file
      ? yield* Effect.tryPromise({
          try: () => readFile(file),
          catch: (error) => ({ message: `cannot read ${name}: ${fileFault(error)}` })
        })
      : Buffer.from(data!, "base64")
    yield* Effect.try({ try: () => check(pem), catch: () => ({ message: `${name} is no PEM ${what}` }) })
    return pem
  })

const isCertificate = (pem: Buffer) => new X509Certificate(pem)

const authority = ({ caData, caFile }: Chosen["cluster"]) =>
  material("certificate-authority", caFile, caData, isCertificate, "certificate")

/** The client's own certificate with its key. */
const identity = Effect.fnUntraced(function* ({ certData, certFile, keyData, keyFile }: Chosen["user"]) {
  const cert = yield* material("client-certificate", certFile, certData, isCertificate, "certificate")
  const key = yield* material("client-key", keyFile, keyData, createPrivateKey, "private key")
  if ((cert === undefined) !== (key === undefined))
    return yield* Effect.fail({
      message: `its user has a ${key === undefined ? "client-certificate but no client-key" : "client-key but no client-certificate"}: they belong together`
    })
  if (cert === undefined || key === undefined) return {}
  yield* Effect.try({
    try: () => createSecureContext({ cert, key }),
    catch: () => ({ message: "the client-key of its user is not that of the client-certificate" })
  })
  return { cert, key }
})

const tokenOf = ({ token, tokenFile }: Chosen["user"]): Effect.Effect<string | undefined, ExecPlugin.PluginFault> => {
  if (token || !tokenFile) return Effect.succeed(token)
  return Effect.tryPromise({
    try: () => readFile(tokenFile, "utf8"),
    catch: (error) => ({ message: `cannot read the tokenFile ${tokenFile}: ${fileFault(error)}` })
  }).pipe(
    Effect.map((text) => text.trim()),
    Effect.filterOrFail(
      (text) => text !== "",
      () => ({ message: `the tokenFile ${tokenFile} is empty` })
    )
  )
}

/** What stands in the files themselves, and what a plugin printed. */
const ownAccess = Effect.fnUntraced(function* ({ cluster, user }: Chosen, printed: ExecPlugin.Credential | undefined) {
  const ca = yield* authority(cluster)
  const own = yield* identity(user)
  const { impersonateUser, password, username } = user
  const token = printed?.token ?? (yield* tokenOf(user))
  const authorization = token
    ? `Bearer ${token}`
    : username
      ? `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`
      : undefined
  const tls: Tls = {
    ...(ca !== undefined && { ca }),
    ...own,
    ...(printed?.clientCertificateData && { cert: printed.clientCertificateData }),
    ...(printed?.clientKeyData && { key: printed.clientKeyData }),
    ...(cluster.tlsServerName && { servername: cluster.tlsServerName }),
    ...(cluster.skipTLSVerify && { rejectUnauthorized: false })
  }
  const access: Access = {
    headers: {
      ...(impersonateUser && { "impersonate-user": impersonateUser }),
      ...(authorization !== undefined && { authorization })
    },
    tls
  }
  return access
})

/** client-node with one context: it keeps what an auth-provider gave until that ends. */
const legacy = ({ cluster, context, user }: Chosen): Effect.Effect<KubeConfig> =>
  Effect.map(
    Effect.promise(() => import("@kubernetes/client-node")),
    ({ KubeConfig }) => {
      const config = new KubeConfig()
      // It refuses plain http unless told to skip TLS, which then means nothing.
      const reached = cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster
      config.loadFromOptions({ clusters: [reached], users: [user], contexts: [context], currentContext: context.name })
      return config
    }
  )

const names = ["ca", "cert", "key", "pfx", "passphrase", "servername", "rejectUnauthorized"] as const

const fromLegacy = (config: KubeConfig): Effect.Effect<Access, ExecPlugin.PluginFault> =>
  Effect.tryPromise({
    try: async () => {
      const options: Record<string, any> = {}
      await config.applyToHTTPSOptions(options)
      const headers: Record<string, string> = {}
      for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value)
      const tls: Record<string, unknown> = {}
      for (const name of names) if (options[name] !== undefined) tls[name] = options[name]
      return { headers, tls: tls as Tls }
    },
    // Its message may hold what a provider answered.
    catch: (error) => ({ message: `its auth-provider failed: ${fileFault(error)}` })
  })

interface Opened extends Chosen {
  readonly text: string
  readonly legacy: KubeConfig | undefined
  /** What the exec plugin printed, until it ends. */
  printed: ExecPlugin.Credential | undefined
}

const open = (paths: ReadonlyArray<string>, wanted: string | undefined): Effect.Effect<Opened, KubernetesError> =>
  Effect.gen(function* () {
    const chosen = yield* choose(paths, wanted)
    return {
      ...chosen,
      text: JSON.stringify([chosen.cluster, chosen.user]),
      legacy: chosen.user.authProvider && !chosen.user.exec ? yield* legacy(chosen) : undefined,
      printed: undefined
    }
  })

const isOver = (expiration: string | undefined, now: number): boolean =>
  expiration !== undefined && !(Date.parse(expiration) > now)

/** What the exec plugin of the user prints, run only when what it printed before has ended. */
const printedFor = Effect.fnUntraced(function* (opened: Opened) {
  if (!opened.user.exec) return undefined
  const now = yield* Clock.currentTimeMillis
  if (opened.printed === undefined || isOver(opened.printed.expirationTimestamp, now))
    opened.printed = yield* ExecPlugin.run(opened.user.exec, {
      server: opened.cluster.server,
      ca: yield* authority(opened.cluster)
    })
  return opened.printed
})

const accessOf = (opened: Opened, where: string): Effect.Effect<Access, KubernetesError> =>
  (opened.legacy === undefined
    ? Effect.flatMap(printedFor(opened), (printed) => ownAccess(opened, printed))
    : fromLegacy(opened.legacy)
  ).pipe(
    Effect.timeoutOrElse({
      duration: `${pluginSeconds} seconds`,
      orElse: () => Effect.fail({ message: `its plugin did not end within ${pluginSeconds} s` })
    }),
    Effect.mapError(({ message }) => missing(where, message))
  )

/**
 * `paths`: one or more, merged. `context`: default the current one. Changes of the files are taken up, but not another server or namespace; as long
 * as they stay the same, a plugin's token is kept until its end.
 */
export const source = (
  paths: ReadonlyArray<string>,
  context: string | undefined
): Effect.Effect<Source, KubernetesError> =>
  Effect.gen(function* () {
    let held = yield* open(paths, context)
    const { cluster, context: chosen } = held
    const where = paths.join(", ")
    return {
      server: cluster.server.replace(/\/+$/, ""),
      namespace: chosen.namespace || "default",
      ...(cluster.proxyUrl !== undefined && { proxy: cluster.proxyUrl }),
      load: (renew) =>
        Effect.gen(function* () {
          const read = yield* open(paths, context)
          if (renew || read.text !== held.text) held = read
          return yield* accessOf(held, where)
        }),
      renewIntervalMillis: 5_000
    }
  })
