/** The kinds that the contract of `ApiClient` is told with: some of Kubernetes' own, and three of custom resources. */
import type { ObjectInput, Resource, Scope } from "@fixpoint/core/KubeObject"

/** The group of the contract's own kinds. */
export const group = "contract.example.com"

const builtIn = (group: string, kind: string, plural: string, scope: Scope = "Namespaced"): Resource => ({
  group,
  version: "v1",
  kind,
  plural,
  scope
})

export const configMaps = builtIn("", "ConfigMap", "configmaps")
export const secrets = builtIn("", "Secret", "secrets")
export const services = builtIn("", "Service", "services")
export const pods = builtIn("", "Pod", "pods")
export const events = builtIn("", "Event", "events")
export const newEvents = builtIn("events.k8s.io", "Event", "events")
export const namespaces = builtIn("", "Namespace", "namespaces", "Cluster")
export const deployments = builtIn("apps", "Deployment", "deployments")
export const leases = builtIn("coordination.k8s.io", "Lease", "leases")
export const crds = builtIn("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", "Cluster")
/** With the status subresource. */
export const widgets = builtIn(group, "Widget", "widgets")
/** As Widget, without the status subresource. */
export const gadgets = builtIn(group, "Gadget", "gadgets")
/** As Widget, cluster-scoped. */
export const zones = builtIn(group, "Zone", "zones", "Cluster")

const text = { type: "string" }

const conditions = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: {
    type: "object",
    required: ["type", "status"],
    properties: {
      type: text,
      status: text,
      reason: text,
      message: text,
      lastTransitionTime: { type: "string", format: "date-time" }
    }
  }
}

/** One field for each thing that a schema can ask of the server. */
const spec = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 0, maximum: 100 },
    mode: { type: "string", enum: ["a", "b"], default: "a" },
    name: { type: "string", maxLength: 10, minLength: 1, pattern: "^[a-z]+$" },
    maybe: { type: "string", nullable: true },
    plainDefault: { type: "string", default: "d" },
    port: { "x-kubernetes-int-or-string": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    map: { type: "object", additionalProperties: text },
    set: { type: "array", "x-kubernetes-list-type": "set", items: text },
    atomic: { type: "array", items: text },
    atomicMap: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: text },
    rows: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", required: ["k"], properties: { k: text, v: text, w: { type: "string", default: "w0" } } }
    },
    nested: { type: "object", properties: { x: text, deep: { type: "integer", default: 7 } } },
    nestedDefault: { type: "object", default: {}, properties: { deep: { type: "integer", default: 7 } } },
    when: { type: "string", format: "date-time" }
  }
}

const status = {
  type: "object",
  properties: {
    phase: text,
    count: { type: "integer", minimum: 0 },
    observedGeneration: { type: "integer" },
    conditions
  }
}

/** What a definition may have besides. */
export interface Definition {
  readonly spec?: object
  /** Default true. */
  readonly status?: boolean
}

/** The CustomResourceDefinition of a kind with the contract's schema. */
export const definition = (resource: Resource, options: Definition = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${resource.plural}.${resource.group}` },
  spec: {
    group: resource.group,
    scope: resource.scope,
    names: {
      plural: resource.plural,
      singular: resource.kind.toLowerCase(),
      kind: resource.kind,
      listKind: `${resource.kind}List`
    },
    versions: [
      {
        name: resource.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: options.spec ?? spec, status } } },
        ...(options.status !== false && { subresources: { status: {} } })
      }
    ]
  }
})

/** Those that the suite needs. */
export const definitions: ReadonlyArray<ObjectInput> = [
  definition(widgets),
  definition(gadgets, { status: false }),
  definition(zones)
]

const all = [configMaps, secrets, services, pods, events, newEvents, namespaces, deployments, leases, crds]
const byKind = new Map(
  [...all, widgets, gadgets, zones].map((resource) => [`${resource.group}/${resource.kind}`, resource] as const)
)

/** The resource that an object is of, by its apiVersion and kind. */
export const resourceOf = (object: ObjectInput): Resource => {
  const apiVersion = object.apiVersion ?? ""
  const slash = apiVersion.indexOf("/")
  const found = byKind.get(`${slash < 0 ? "" : apiVersion.slice(0, slash)}/${object.kind}`)
  if (found === undefined) throw new Error(`the contract knows no kind ${object.kind} of ${apiVersion}`)
  return found
}
