/**
 * What is applied to a cluster to run the operator, made from the Kinds and the controllers: `npm run manifests` writes it. One file an object, named
 * by its kind (C11); RBAC says what the declarations of the controllers need and no more.
 */
import * as Controller from "@fixpoint/core/Controller"
import * as Kind from "@fixpoint/core/Kind"
import type { ObjectInput } from "@fixpoint/core/KubeObject"
import { stringify } from "yaml"
import { Role, Scope } from "./kinds.ts"
import { roles, scopes } from "./operator.ts"

export interface ManifestFile {
  /** Below the folder of the example's manifests. */
  readonly path: string
  readonly text: string
}

/** `RoleBinding` is `role-binding`, `HTTPRoute` is `http-route`. */
export const kebab = (kind: string): string =>
  kind.replace(/([A-Z]+)([A-Z][a-z])|([a-z\d])([A-Z])/g, "$1$3-$2$4").toLowerCase()

/** What the CRDs of the example say. */
export const definitions: ReadonlyArray<ObjectInput> = [Role, Scope].map(Kind.customResourceDefinition)

const name = "access-operator"
const namespace = "access-system"
const labels = { "app.kubernetes.io/name": name }
/** The program beside this module, as built. */
const program = "./main.js"

const rbac: ReadonlyArray<ObjectInput> = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name, labels },
    rules: Controller.rbac([roles, scopes])
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name, labels },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name, namespace }]
  }
]

/** Of the probe; the program takes it from HEALTH_PORT. */
const healthPort = 8081

const container = {
  name: "operator",
  image: `${name}:0.1.0`,
  command: ["node", `packages/examples/dist/access/${program.slice(2)}`],
  env: [{ name: "HEALTH_PORT", value: String(healthPort) }],
  ports: [{ name: "health", containerPort: healthPort }],
  livenessProbe: { httpGet: { path: "/livez", port: "health" } },
  readinessProbe: { httpGet: { path: "/readyz", port: "health" } },
  resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "256Mi" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] }
  }
}

/** One replica, and never two at once: the next one starts when the former has ended. */
const deployment: ObjectInput = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace, labels },
  spec: {
    replicas: 1,
    strategy: { type: "Recreate" },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: name,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
        containers: [container]
      }
    }
  }
}

const header = "# Made by `npm run manifests`: change the sources instead.\n"

const file = (path: string, object: ObjectInput): ManifestFile => ({
  path,
  text: header + stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })
})

/** All files, in the order in which they are applied. */
export const files = (): ReadonlyArray<ManifestFile> => [
  ...[Role, Scope].map((kind) => file(`crds/${kebab(kind.kind)}.yaml`, Kind.customResourceDefinition(kind))),
  ...[...rbac, deployment].map((object) => file(`operator/${kebab(object.kind ?? "")}.yaml`, object))
]
