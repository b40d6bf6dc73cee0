/** A running API server as the scripts ask it: which kinds are wanted of it, and plain requests. */
import { readFileSync } from "node:fs"
import * as https from "node:https"
import { parse } from "yaml"

export type Json = any

/** `group/version` (`v1` for the core) and the kinds of it. */
export const wanted: Readonly<Record<string, ReadonlyArray<string>>> = {
  v1: [
    "Namespace",
    "ConfigMap",
    "Secret",
    "Service",
    "ServiceAccount",
    "Pod",
    "PersistentVolumeClaim",
    "Event",
    "ResourceQuota",
    "LimitRange"
  ],
  "apps/v1": ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"],
  "batch/v1": ["Job", "CronJob"],
  "networking.k8s.io/v1": ["Ingress", "NetworkPolicy"],
  "policy/v1": ["PodDisruptionBudget"],
  "autoscaling/v2": ["HorizontalPodAutoscaler"],
  "scheduling.k8s.io/v1": ["PriorityClass"],
  "rbac.authorization.k8s.io/v1": ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
  "coordination.k8s.io/v1": ["Lease"],
  "events.k8s.io/v1": ["Event"],
  "apiextensions.k8s.io/v1": ["CustomResourceDefinition"]
}

/** Kinds that are served and not stored. */
export const unstored: Readonly<Record<string, ReadonlyArray<string>>> = {
  "autoscaling/v1": ["Scale"],
  "authorization.k8s.io/v1": ["SelfSubjectAccessReview", "SelfSubjectRulesReview"],
  "authentication.k8s.io/v1": ["SelfSubjectReview"]
}

export interface Server {
  readonly url: string
  readonly ca: string | Buffer
  readonly token: string
}

/** Of the kubeconfig at this path, whose user must have a token. */
export const serverOf = (path: string | undefined): Server => {
  if (path === undefined) throw new Error("name a kubeconfig: node scripts/<script>.ts <kubeconfig>")
  const config: Json = parse(readFileSync(path, "utf8"))
  const { context } = config.contexts.find((one: Json) => one.name === config["current-context"])
  const { cluster } = config.clusters.find((one: Json) => one.name === context.cluster)
  const { user } = config.users.find((one: Json) => one.name === context.user)
  if (typeof user.token !== "string") throw new Error(`the user ${context.user} of ${path} has no token`)
  return {
    url: cluster.server,
    ca: cluster["certificate-authority-data"]
      ? Buffer.from(cluster["certificate-authority-data"], "base64")
      : readFileSync(cluster["certificate-authority"]),
    token: user.token
  }
}

export const table = "application/json;as=Table;v=v1;g=meta.k8s.io"

export const request = (
  server: Server,
  method: string,
  path: string,
  body?: unknown,
  accept = "application/json"
): Promise<Json> =>
  new Promise((resolve, reject) => {
    const sent = https.request(
      `${server.url}${path}`,
      {
        method,
        ca: server.ca,
        headers: {
          authorization: `Bearer ${server.token}`,
          accept,
          "content-type": "application/json"
        }
      },
      (answer) => {
        const chunks: Array<Buffer> = []
        answer.on("data", (chunk: Buffer) => chunks.push(chunk))
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          if (answer.statusCode !== undefined && answer.statusCode < 300) resolve(JSON.parse(text))
          else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`))
        })
      }
    )
    sent.on("error", reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

/** Where the OpenAPI document of a group version is. */
export const documentPath = (version: string): string => `/openapi/v3/${version === "v1" ? "api" : "apis"}/${version}`
