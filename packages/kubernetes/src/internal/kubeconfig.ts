/**
 * Credentials of a kubeconfig, by @kubernetes/client-node: tokens, client certificates, exec plugins, OIDC. It is imported when the first kubeconfig
 * is read and not before; its HTTP is not used.
 */
import { readFile } from "node:fs/promises"
import { dirname } from "node:path"
import type { KubeConfig } from "@kubernetes/client-node"
import * as Effect from "effect/Effect"
import type { Access, Source, Tls } from "../Credentials.ts"
import { KubernetesError } from "../KubernetesError.ts"

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

const libraries = Effect.promise(() => import("@kubernetes/client-node"))

/** Files merged as kubectl does: the first that sets a name or the current context wins. */
const merge = (into: KubeConfig, next: KubeConfig): void => {
  const add = <A extends { readonly name: string }>(to: Array<A>, from: ReadonlyArray<A>): void => {
    for (const one of from) if (!to.some(({ name }) => name === one.name)) to.push(one)
  }
  add(into.clusters, next.clusters)
  add(into.users, next.users)
  add(into.contexts, next.contexts)
  if (!into.currentContext && next.currentContext) into.setCurrentContext(next.currentContext)
}

const load = (paths: ReadonlyArray<string>): Effect.Effect<KubeConfig, KubernetesError> =>
  Effect.gen(function* () {
    const { KubeConfig } = yield* libraries
    const config = new KubeConfig()
    for (const path of paths) {
      const text = yield* Effect.tryPromise({
        try: () => readFile(path, "utf8"),
        catch: (error) => invalid(`cannot read the kubeconfig ${path}: ${faultOf(error)}`)
      })
      yield* Effect.try({
        try: () => {
          const one = new KubeConfig()
          one.loadFromString(text)
          one.makePathsAbsolute(dirname(path))
          merge(config, one)
        },
        catch: (error) => invalid(`the kubeconfig ${path} is malformed: ${faultOf(error)}`)
      })
    }
    return config
  })

const select = (config: KubeConfig, paths: ReadonlyArray<string>, wanted: string | undefined) =>
  Effect.gen(function* () {
    const where = paths.join(", ")
    const name = wanted ?? config.currentContext
    const known = config.contexts.map((context) => context.name).join(", ")
    if (!name) {
      return yield* invalid(
        `the kubeconfig ${where} has no current-context: set one, or give the option context (it has: ${known})`
      )
    }
    const context = config.getContextObject(name)
    if (context === null) return yield* invalid(`the kubeconfig ${where} has no context ${name} (it has: ${known})`)
    config.setCurrentContext(name)
    const cluster = config.getCurrentCluster()
    if (cluster === null) {
      return yield* invalid(
        `the context ${name} of the kubeconfig ${where} names the cluster ${context.cluster}, which is not in it`
      )
    }
    if (config.getCurrentUser() === null) {
      if (context.user) {
        return yield* invalid(
          `the context ${name} of the kubeconfig ${where} names the user ${context.user}, who is not in it`
        )
      }
      // Without a user client-node applies no CA either.
      config.addUser({ name: "anonymous" })
      Object.assign(context, { user: "anonymous" })
    }
    if (!URL.canParse(cluster.server)) {
      return yield* invalid(`the cluster ${cluster.name} of the kubeconfig ${where} has a server that is not a URL`)
    }
    if (cluster.proxyUrl !== undefined && !/^https?:/.test(cluster.proxyUrl)) {
      return yield* invalid(
        `the cluster ${cluster.name} of the kubeconfig ${where} has a proxy-url that is not http or https; no other is supported`
      )
    }
    return { cluster, namespace: context.namespace || "default" }
  })

const open = (paths: ReadonlyArray<string>, context: string | undefined) =>
  Effect.gen(function* () {
    const config = yield* load(paths)
    const chosen = yield* select(config, paths, context)
    return { config, ...chosen, text: JSON.stringify([chosen.cluster, config.getCurrentUser()]) }
  })

/** A plugin that waits for somebody, or for ever, must not hold up an operator. */
const pluginSeconds = 60

const accessOf = (config: KubeConfig, where: string): Effect.Effect<Access, KubernetesError> =>
  Effect.tryPromise({
    try: async () => {
      // client-node refuses plain http unless told to skip TLS, which then means nothing.
      const cluster = config.getCurrentCluster()
      if (cluster?.server.startsWith("http:")) Object.assign(cluster, { skipTLSVerify: true })
      const options: Record<string, any> = {}
      await config.applyToHTTPSOptions(options)
      const headers: Record<string, string> = {}
      for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value)
      if (typeof options.auth === "string" && headers.authorization === undefined) {
        headers.authorization = `Basic ${Buffer.from(options.auth).toString("base64")}`
      }
      const tls: Record<string, unknown> = {}
      for (const name of ["ca", "cert", "key", "pfx", "passphrase", "servername", "rejectUnauthorized"]) {
        if (options[name] !== undefined) tls[name] = options[name]
      }
      return { headers, tls: tls as Tls }
    },
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
    const { cluster, namespace } = held
    const where = paths.join(", ")
    return {
      server: cluster.server.replace(/\/+$/, ""),
      namespace,
      ...(cluster.proxyUrl !== undefined && { proxy: cluster.proxyUrl }),
      load: (renew) =>
        Effect.gen(function* () {
          const read = yield* open(paths, context)
          if (renew || read.text !== held.text) held = read
          return yield* accessOf(held.config, where)
        }),
      renewIntervalMillis: 5_000
    }
  })
