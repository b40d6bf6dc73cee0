/**
 * The `ApiClient` of a real cluster. `Kubernetes.layer` finds it as kubectl and Pods do; `layerWith` is told.
 *
 * Looked for in this order: the options `server` or `kubeconfig`; the files in KUBECONFIG; `~/.kube/config`; the service account of the Pod. Nothing
 * is sent when the Layer is built, but credentials are read, and a plugin of the kubeconfig is run.
 */
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"
import { ApiClient } from "@fixpoint/core/ApiClient"
import { OwnNamespace } from "@fixpoint/core/OwnNamespace"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Credentials from "./Credentials.ts"
import * as InCluster from "./internal/inCluster.ts"
import * as Kubeconfig from "./internal/kubeconfig.ts"
import { KubernetesError } from "./KubernetesError.ts"
import * as RestClient from "./RestClient.ts"
import * as Transport from "./Transport.ts"

export interface Options extends Transport.TransportOptions, RestClient.RestClientOptions {
  /** A file. Default: as the header says. */
  readonly kubeconfig?: string
  /** Of the kubeconfig. Default: its current one. */
  readonly context?: string
  /** `https://host:port`: then nothing else is looked for, and `token`, `ca`, `cert` and `key` are the credentials. */
  readonly server?: string
  readonly token?: Redacted.Redacted<string>
  /** The authority that signs the server's certificate, PEM. Default: the ones that Node.js knows. */
  readonly ca?: string
  /** A client certificate, PEM, with `key`. */
  readonly cert?: string
  readonly key?: Redacted.Redacted<string>
  /** Replaces the namespace that was found. */
  readonly namespace?: string
}

/** Where a Layer looks; `Kubernetes.layer` looks in the process. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** Of the service account's files. */
  readonly folder: string
}

const ownProcess = (): Surroundings => ({ env: process.env, home: homedir(), folder: InCluster.defaultFolder })

const explicit = (server: string, options: Options): Effect.Effect<Credentials.Source, KubernetesError> => {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    return Effect.fail(
      new KubernetesError({
        reason: "InvalidOptions",
        message: `the option server is not a http or https URL: ${server}`
      })
    )
  }
  if (new URL(server).username !== "") {
    return Effect.fail(
      new KubernetesError({
        reason: "InvalidOptions",
        message: "the option server holds a user: give a token or a certificate"
      })
    )
  }
  if ((options.cert === undefined) !== (options.key === undefined)) {
    return Effect.fail(
      new KubernetesError({
        reason: "InvalidOptions",
        message: "the options cert and key belong together: one is missing"
      })
    )
  }
  return Effect.succeed(
    Credentials.fixed({
      server: server.replace(/\/+$/, ""),
      namespace: "default",
      access: {
        headers: options.token === undefined ? {} : { authorization: `Bearer ${Redacted.value(options.token)}` },
        tls: {
          ...(options.ca !== undefined && { ca: options.ca }),
          ...(options.cert !== undefined && { cert: options.cert }),
          ...(options.key !== undefined && { key: Redacted.value(options.key) })
        }
      }
    })
  )
}

const inCluster = ({ env, folder }: Surroundings): Effect.Effect<Credentials.Source, KubernetesError> | undefined => {
  const host = env.KUBERNETES_SERVICE_HOST
  const port = env.KUBERNETES_SERVICE_PORT
  return host && port ? InCluster.source({ host, port, folder }) : undefined
}

/** The source that the header's order finds. */
const sourceOf = (options: Options, surroundings: Surroundings): Effect.Effect<Credentials.Source, KubernetesError> => {
  if (options.server !== undefined) return explicit(options.server, options)
  if (options.kubeconfig !== undefined) return Kubeconfig.source([options.kubeconfig], options.context)
  const named = (surroundings.env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "")
  const present = named.filter((path) => existsSync(path))
  if (present.length > 0) return Kubeconfig.source(present, options.context)
  const usual = join(surroundings.home, ".kube", "config")
  // A KUBECONFIG that names only missing files is a mistake to be told, not a wish for another file.
  if (named.length === 0 && existsSync(usual)) return Kubeconfig.source([usual], options.context)
  return (
    inCluster(surroundings) ??
    Effect.fail(
      new KubernetesError({
        reason: "NotConfigured",
        message: `no cluster is configured: KUBECONFIG ${
          named.length === 0 ? `is not set, there is no ${usual}` : `names no file that exists (${named.join(", ")})`
        }, and this is no Pod (KUBERNETES_SERVICE_HOST is not set): set KUBECONFIG to the path of a kubeconfig`
      })
    )
  )
}

/** undici would refuse them at the first request only. */
const checkLimits = ({ connections, idleLimit, requestTimeout }: Options): Effect.Effect<void, KubernetesError> => {
  const isSpan = (limit: Duration.Input | undefined): boolean => {
    const millis = limit === undefined ? 1 : Duration.toMillis(limit)
    return millis >= 1 && millis <= 2 ** 31 - 1
  }
  const fault = !isSpan(requestTimeout)
    ? "requestTimeout is not between 1 ms and 24 days"
    : !isSpan(idleLimit)
      ? "idleLimit is not between 1 ms and 24 days"
      : connections !== undefined && !(Number.isInteger(connections) && connections > 0)
        ? "connections is not a whole number above 0"
        : undefined
  return fault === undefined
    ? Effect.void
    : Effect.fail(new KubernetesError({ reason: "InvalidOptions", message: `the option ${fault}` }))
}

const layerOf = (
  source: Effect.Effect<Credentials.Source, KubernetesError>,
  options: Options
): Layer.Layer<ApiClient, KubernetesError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      yield* checkLimits(options)
      const found = yield* source
      const credentials = yield* Credentials.make(found)
      const transport = yield* Transport.make(credentials, options)
      return Context.make(ApiClient, RestClient.make(transport, options)).pipe(
        Context.add(OwnNamespace, options.namespace ?? credentials.namespace)
      )
    })
  )

/** `layer` with options, or elsewhere than in the process. Also gives `OwnNamespace`. */
export const layerWith = (options: Options, surroundings?: Surroundings): Layer.Layer<ApiClient, KubernetesError> =>
  layerOf(
    Effect.suspend(() => sourceOf(options, surroundings ?? ownProcess())),
    options
  )

/** The cluster that is found, as the header says. Also gives `OwnNamespace`. */
export const layer: Layer.Layer<ApiClient, KubernetesError> = layerWith({})

/** The cluster whose Pod this is, whatever kubeconfig there may be. */
export const layerInCluster = (
  options: Omit<Options, "server" | "kubeconfig" | "context"> = {},
  surroundings?: Surroundings
): Layer.Layer<ApiClient, KubernetesError> =>
  layerOf(
    Effect.suspend(
      () =>
        inCluster(surroundings ?? ownProcess()) ??
        Effect.fail(
          new KubernetesError({
            reason: "NotConfigured",
            message:
              "this is no Pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set): run it in one, or give a kubeconfig"
          })
        )
    ),
    options
  )
