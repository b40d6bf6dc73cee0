/**
 * Credentials of a kubeconfig: tokens, client certificates, and by @kubernetes/client-node exec plugins, OIDC and the like. All of that library takes
 * 0.4 s and 80 MiB to load, so it is imported when a user has a plugin and not before; its HTTP is not used.
 */
import { readFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { Cluster, Context, KubeConfig, User } from "@kubernetes/client-node"
import * as Effect from "effect/Effect"
import type { Access, Source, Tls } from "../Credentials.ts"
import { KubernetesError } from "../KubernetesError.ts"

/** What one or more files say together. */
interface Config {
  readonly clusters: ReadonlyArray<Cluster>
  readonly users: ReadonlyArray<User>
  readonly contexts: ReadonlyArray<Context>
  readonly currentContext: string | undefined
}

const invalid = (message: string): KubernetesError => new KubernetesError({ reason: "InvalidKubeconfig", message })

/** A reason without any of the file's text: YAML errors quote lines, and lines hold tokens. */
const faultOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return "unknown error"
  const { code, mark, message, name, reason } = error as {
    code?: unknown
    mark?: { line?: unknown }
    message?: unknown
    name?: unknown
    reason?: unknown
  }
  if (name === "YAMLException") {
    const words = String(reason)
      .replaceAll(/"[^"]*"/g, '"..."')
      .replaceAll(/[!<].*/g, "...")
    return `not YAML: ${words}${typeof mark?.line === "number" ? ` in line ${mark.line + 1}` : ""}`
  }
  if (typeof code === "string") return code
  // What client-node finds: "clusters[0].cluster.server is missing".
  return error instanceof TypeError ? "not a kubeconfig" : String(message).split("\n")[0]!.slice(0, 200)
}

const absolute = <A extends object>(one: A, folder: string, ...files: ReadonlyArray<keyof A>): A => {
  const found = files.filter((file) => one[file])
  return { ...one, ...Object.fromEntries(found.map((file) => [file, resolve(folder, String(one[file]))])) }
}

// A Pod has no kubeconfig and needs none of it.
const readers = Effect.promise(() =>
  Promise.all([import("js-yaml"), import("@kubernetes/client-node/dist/config_types.js")])
)

const parse = (
  [yaml, { newClusters, newContexts, newUsers }]: Effect.Success<typeof readers>,
  text: string,
  folder: string
): Config => {
  const file = yaml.load(text) as Record<string, any>
  return {
    clusters: newClusters(file.clusters).map((cluster) => absolute(cluster, folder, "caFile")),
    users: newUsers(file.users).map((user) => absolute(user, folder, "certFile", "keyFile")),
    contexts: newContexts(file.contexts),
    currentContext: file["current-context"]
  }
}

/** Merged as kubectl does: the first that sets a name or the current context wins. */
const merge = (before: Config, next: Config): Config => {
  const add = <A extends { readonly name: string }>(to: ReadonlyArray<A>, from: ReadonlyArray<A>): ReadonlyArray<A> => {
    const all = [...to]
    for (const one of from) if (!all.some(({ name }) => name === one.name)) all.push(one)
    return all
  }
  return {
    clusters: add(before.clusters, next.clusters),
    users: add(before.users, next.users),
    contexts: add(before.contexts, next.contexts),
    currentContext: before.currentContext || next.currentContext
  }
}

const load = (paths: ReadonlyArray<string>): Effect.Effect<Config, KubernetesError> =>
  Effect.gen(function* () {
    const found = yield* readers
    let config: Config = { clusters: [], users: [], contexts: [], currentContext: undefined }
    for (const path of paths) {
      const text = yield* Effect.tryPromise({
        try: () => readFile(path, "utf8"),
        catch: (error) => invalid(`cannot read the kubeconfig ${path}: ${faultOf(error)}`)
      })
      const before = config
      config = yield* Effect.try({
        try: () => merge(before, parse(found, text, dirname(path))),
        catch: (error) => invalid(`the kubeconfig ${path} is malformed: ${faultOf(error)}`)
      })
    }
    return config
  })

/** The one context that counts, whole. */
interface Chosen {
  readonly context: Context
  readonly cluster: Cluster
  readonly user: User
}

const select = (
  config: Config,
  paths: ReadonlyArray<string>,
  wanted: string | undefined
): Effect.Effect<Chosen, KubernetesError> =>
  Effect.gen(function* () {
    const where = paths.join(", ")
    const name = wanted ?? config.currentContext
    const known = config.contexts.map((context) => context.name).join(", ")
    if (!name) {
      return yield* invalid(
        `the kubeconfig ${where} has no current-context: set one, or give the option context (it has: ${known})`
      )
    }
    const context = config.contexts.find((one) => one.name === name)
    if (context === undefined)
      return yield* invalid(`the kubeconfig ${where} has no context ${name} (it has: ${known})`)
    const cluster = config.clusters.find((one) => one.name === context.cluster)
    if (cluster === undefined) {
      return yield* invalid(
        `the context ${name} of the kubeconfig ${where} names the cluster ${context.cluster}, which is not in it`
      )
    }
    const user = config.users.find((one) => one.name === context.user)
    if (user === undefined && context.user) {
      return yield* invalid(
        `the context ${name} of the kubeconfig ${where} names the user ${context.user}, who is not in it`
      )
    }
    if (!URL.canParse(cluster.server)) {
      return yield* invalid(`the cluster ${cluster.name} of the kubeconfig ${where} has a server that is not a URL`)
    }
    if (cluster.proxyUrl !== undefined && !/^https?:/.test(cluster.proxyUrl)) {
      return yield* invalid(
        `the cluster ${cluster.name} of the kubeconfig ${where} has a proxy-url that is not http or https; no other is supported`
      )
    }
    return { context, cluster, user: user ?? { name: "anonymous" } }
  })

const hasPlugin = ({ authProvider, exec }: User): boolean => Boolean(authProvider) || Boolean(exec)

/** client-node with one context: it keeps what a plugin gave until that ends. */
const withPlugins = ({ cluster, context, user }: Chosen): Effect.Effect<KubeConfig> =>
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

const open = (paths: ReadonlyArray<string>, wanted: string | undefined) =>
  Effect.gen(function* () {
    const chosen = yield* select(yield* load(paths), paths, wanted)
    return {
      ...chosen,
      text: JSON.stringify([chosen.cluster, chosen.user]),
      plugins: hasPlugin(chosen.user) ? yield* withPlugins(chosen) : undefined
    }
  })

type Opened = Effect.Success<ReturnType<typeof open>>

/** A plugin that waits for somebody, or for ever, must not hold up an operator. */
const pluginSeconds = 60

const names = ["ca", "cert", "key", "pfx", "passphrase", "servername", "rejectUnauthorized"] as const

const fromPlugin = async (plugins: KubeConfig): Promise<Access> => {
  const options: Record<string, any> = {}
  await plugins.applyToHTTPSOptions(options)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value)
  if (typeof options.auth === "string" && headers.authorization === undefined) {
    headers.authorization = `Basic ${Buffer.from(options.auth).toString("base64")}`
  }
  const tls: Record<string, unknown> = {}
  for (const name of names) if (options[name] !== undefined) tls[name] = options[name]
  return { headers, tls: tls as Tls }
}

const material = async (file: string | undefined, data: string | undefined): Promise<Buffer | undefined> =>
  file ? await readFile(file) : data ? Buffer.from(data, "base64") : undefined

/** What stands in the files themselves, read as client-node reads it. */
const fromFiles = async ({ cluster, user }: Chosen): Promise<Access> => {
  const [ca, cert, key] = await Promise.all([
    material(cluster.caFile, cluster.caData),
    material(user.certFile, user.certData),
    material(user.keyFile, user.keyData)
  ])
  const { impersonateUser, password, token, username } = user
  const authorization = token
    ? `Bearer ${token}`
    : username
      ? `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`
      : undefined
  return {
    headers: {
      ...(impersonateUser && { "impersonate-user": impersonateUser }),
      ...(authorization !== undefined && { authorization })
    },
    tls: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(cluster.tlsServerName && { servername: cluster.tlsServerName }),
      ...(cluster.skipTLSVerify && { rejectUnauthorized: false })
    }
  }
}

const accessOf = (opened: Opened, where: string): Effect.Effect<Access, KubernetesError> =>
  Effect.tryPromise({
    try: () => (opened.plugins === undefined ? fromFiles(opened) : fromPlugin(opened.plugins)),
    catch: (error) =>
      new KubernetesError({
        reason: "NoCredentials",
        message: `no credentials from the kubeconfig ${where}: ${faultOf(error)}`
      })
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${pluginSeconds} seconds`,
      orElse: () =>
        Effect.fail(
          new KubernetesError({
            reason: "NoCredentials",
            message: `no credentials from the kubeconfig ${where}: its plugin did not end within ${pluginSeconds} s`
          })
        )
    })
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
