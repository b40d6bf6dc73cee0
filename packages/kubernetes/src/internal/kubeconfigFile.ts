/** What kubeconfig files say: read, checked, merged as kubectl merges them, and the one context that counts. Knows no credentials' contents. */
import { readFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type * as Yaml from "js-yaml"
import type { Cluster, User } from "@kubernetes/client-node"
import * as Effect from "effect/Effect"
import { KubernetesError } from "../KubernetesError.ts"
import { fileFault } from "./fileFault.ts"

type Fields = Readonly<Record<string, any>>

export interface KubeUser extends User {
  /** Read anew at each load. */
  readonly tokenFile?: string
}

export interface KubeContext {
  readonly name: string
  readonly cluster: string
  readonly user: string
  readonly namespace?: string
}

interface Config {
  readonly clusters: ReadonlyArray<Cluster>
  readonly users: ReadonlyArray<KubeUser>
  readonly contexts: ReadonlyArray<KubeContext>
  readonly currentContext: string | undefined
}

/** The one context that counts, whole. */
export interface Chosen {
  readonly context: KubeContext
  readonly cluster: Cluster
  readonly user: KubeUser
}

const invalid = (message: string): KubernetesError => new KubernetesError({ reason: "InvalidKubeconfig", message })

const isFields = (u: unknown): u is Fields => typeof u === "object" && u !== null && !Array.isArray(u)

/** A text that the file gives, or a fault that says where. */
const textAt = (value: unknown, where: string): string => {
  if (typeof value === "string" && value !== "") return value
  throw new Error(
    `${where} ${value === undefined || value === null || value === "" ? "is missing" : "is no text: put it in quotes"}`
  )
}

/** The entries of a list, each with its name and its own fields, which bear the list's name in the singular. */
const entries = (
  file: Fields,
  list: string,
  own: string
): ReadonlyArray<{ name: string; at: string; fields: Fields }> => {
  const all: unknown = file[list] ?? []
  if (!Array.isArray(all)) throw new Error(`${list} is not a list`)
  return all.map((entry: unknown, i) => {
    const at = `${list}[${i}]`
    if (!isFields(entry)) throw new Error(`${at} is not an object`)
    const fields: unknown = entry[own] ?? (own === "user" ? {} : undefined)
    if (!isFields(fields)) throw new Error(`${at}.${own} is missing`)
    return { name: textAt(entry.name, `${at}.name`), at: `${at}.${own}`, fields }
  })
}

/** As client-node's plugins want them. Paths are those of the file's folder. */
const read = (file: Fields, folder: string): Config => {
  const path = (value: unknown): string | undefined => (value ? resolve(folder, String(value)) : undefined)
  return {
    clusters: entries(file, "clusters", "cluster").map(({ at, fields, name }) => ({
      name,
      server: textAt(fields.server, `${at}.server`),
      caFile: path(fields["certificate-authority"])!,
      caData: fields["certificate-authority-data"],
      skipTLSVerify: fields["insecure-skip-tls-verify"] === true,
      tlsServerName: fields["tls-server-name"],
      proxyUrl: fields["proxy-url"]
    })),
    users: entries(file, "users", "user").map(({ fields, name }) => ({
      name,
      token: fields.token,
      tokenFile: path(fields.tokenFile)!,
      username: fields.username,
      password: fields.password,
      certFile: path(fields["client-certificate"])!,
      certData: fields["client-certificate-data"],
      keyFile: path(fields["client-key"])!,
      keyData: fields["client-key-data"],
      impersonateUser: fields.as,
      authProvider: fields["auth-provider"],
      exec: fields.exec && {
        ...fields.exec,
        // A command without a slash is looked for on the PATH.
        command: String(fields.exec.command ?? "").includes("/") ? path(fields.exec.command) : fields.exec.command
      }
    })),
    contexts: entries(file, "contexts", "context").map(({ at, fields, name }) => ({
      name,
      cluster: textAt(fields.cluster, `${at}.cluster`),
      user: fields.user ?? "",
      namespace: fields.namespace
    })),
    currentContext: file["current-context"]
  }
}

/** A reason without any of the file's text: YAML errors quote lines, and lines hold tokens. */
const yamlFault = (error: unknown): string => {
  const { mark, reason } = error as { mark?: { line?: unknown }; reason?: unknown }
  const words = String(reason)
    .replaceAll(/"[^"]*"/g, '"..."')
    .replaceAll(/[!<].*/g, "...")
  return `it is not YAML: ${words}${typeof mark?.line === "number" ? ` in line ${mark.line + 1}` : ""}`
}

const parse = (yaml: typeof Yaml, text: string, folder: string): Config => {
  if (text.trim() === "") throw new Error("it is empty")
  let file: unknown
  let fault: string | undefined
  try {
    file = yaml.load(text)
  } catch (error) {
    fault = yamlFault(error)
  }
  // Not from within the catch: as a cause the YAML error would carry the file's lines along.
  if (fault !== undefined) throw new Error(fault)
  if (!isFields(file)) throw new Error("it has no clusters, users and contexts")
  if (file.kind !== undefined && file.kind !== "Config")
    throw new Error(`it is a manifest of kind ${String(file.kind).slice(0, 64)}`)
  return read(file, folder)
}

/** The first that sets a name or the current context wins. */
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

// A Pod has no kubeconfig and needs no YAML.
const library = Effect.promise(() => import("js-yaml"))

const load = (paths: ReadonlyArray<string>): Effect.Effect<Config, KubernetesError> =>
  Effect.gen(function* () {
    const yaml = yield* library
    let config: Config = { clusters: [], users: [], contexts: [], currentContext: undefined }
    for (const path of paths) {
      const text = yield* Effect.tryPromise({
        try: () => readFile(path, "utf8"),
        catch: (error) => invalid(`cannot read the kubeconfig ${path}: ${fileFault(error)}`)
      })
      const before = config
      config = yield* Effect.try({
        try: () => merge(before, parse(yaml, text, dirname(path))),
        catch: (error) => invalid(`the kubeconfig ${path} is malformed: ${(error as Error).message}`)
      })
    }
    return config
  })

const listed = (names: ReadonlyArray<{ readonly name: string }>): string =>
  names.length === 0 ? "it has none" : `it has ${names.map(({ name }) => name).join(", ")}`

const select = (
  config: Config,
  paths: ReadonlyArray<string>,
  wanted: string | undefined
): Effect.Effect<Chosen, KubernetesError> =>
  Effect.gen(function* () {
    const where = paths.join(", ")
    const name = wanted ?? config.currentContext
    if (!name)
      return yield* invalid(
        `the kubeconfig ${where} has no current-context: choose one by kubectl config use-context, or by the option context (${listed(config.contexts)})`
      )
    const context = config.contexts.find((one) => one.name === name)
    if (context === undefined)
      return yield* invalid(
        `the kubeconfig ${where} has no context ${name}: choose another (${listed(config.contexts)})`
      )
    const of = `the context ${name} of the kubeconfig ${where}`
    const cluster = config.clusters.find((one) => one.name === context.cluster)
    if (cluster === undefined)
      return yield* invalid(
        `${of} names the cluster ${context.cluster}, which is not in it (${listed(config.clusters)})`
      )
    const user = config.users.find((one) => one.name === context.user)
    if (user === undefined && context.user)
      return yield* invalid(`${of} names the user ${context.user}, who is not in it (${listed(config.users)})`)
    const its = `the cluster ${cluster.name} of the kubeconfig ${where}`
    if (!URL.canParse(cluster.server) || !/^https?:/.test(cluster.server))
      return yield* invalid(`${its} has a server that is no URL: it must be https://host:port`)
    if (cluster.proxyUrl !== undefined && !/^https?:/.test(cluster.proxyUrl))
      return yield* invalid(`${its} has a proxy-url that is not http or https; no other is supported`)
    return { context, cluster, user: user ?? { name: "anonymous" } }
  })

/** Reads the files, and fails in one line that says which one, where and what to do. */
export const choose = (
  paths: ReadonlyArray<string>,
  wanted: string | undefined
): Effect.Effect<Chosen, KubernetesError> => Effect.flatMap(load(paths), (config) => select(config, paths, wanted))
