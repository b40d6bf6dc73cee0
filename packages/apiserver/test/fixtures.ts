/** Kinds that the tests of this package serve: those of the measured server. */
import type { ObjectInput, Resource } from "@fixpoint/core/KubeObject"

export const group = "facts.example.com"

const resource = (kind: string, plural: string, scope: Resource["scope"] = "Namespaced"): Resource => ({
  group,
  version: "v1",
  kind,
  plural,
  scope
})

/** With the status subresource. */
export const widgets = resource("Widget", "widgets")
/** Without. */
export const gadgets = resource("Gadget", "gadgets")
export const zones = resource("Zone", "zones", "Cluster")

const core = (kind: string, plural: string): Resource => ({
  group: "",
  version: "v1",
  kind,
  plural,
  scope: "Namespaced"
})
export const configMaps = core("ConfigMap", "configmaps")
export const secrets = core("Secret", "secrets")
export const services = core("Service", "services")
export const events = core("Event", "events")
export const namespaces: Resource = { ...core("Namespace", "namespaces"), scope: "Cluster" }
export const leases: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced"
}
export const deployments: Resource = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced"
}
export const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}

const string = { type: "string" }
const integer = { type: "integer" }

const conditions = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: {
    type: "object",
    required: ["type", "status"],
    properties: {
      type: string,
      status: string,
      reason: string,
      message: string,
      lastTransitionTime: { type: "string", format: "date-time" }
    }
  }
}

export const specSchema = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 0, maximum: 100 },
    mode: { type: "string", enum: ["a", "b"], default: "a" },
    name: { type: "string", maxLength: 10, minLength: 1, pattern: "^[a-z]+$" },
    maybe: { type: "string", nullable: true },
    maybeDefault: { type: "string", nullable: true, default: "d" },
    plainDefault: { type: "string", default: "d" },
    port: { "x-kubernetes-int-or-string": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    map: { type: "object", additionalProperties: string },
    set: { type: "array", "x-kubernetes-list-type": "set", items: string },
    atomic: { type: "array", items: string },
    rows: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: {
        type: "object",
        required: ["k"],
        properties: { k: string, v: string, w: { type: "string", default: "w0" } }
      }
    },
    nested: { type: "object", properties: { x: string, deep: { type: "integer", default: 7 } } },
    when: { type: "string", format: "date-time" },
    max: integer,
    min: integer
  }
}

const statusSchema = {
  type: "object",
  properties: {
    phase: string,
    count: { type: "integer", minimum: 0 },
    observedGeneration: integer,
    dflt: { type: "string", default: "sd" },
    conditions
  }
}

interface CrdOptions {
  readonly status?: boolean
  readonly extra?: object
  readonly spec?: object
}

export const crd = (
  resource: Resource,
  { extra = {}, spec = specSchema, status = true }: CrdOptions = {}
): ObjectInput => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${resource.plural}.${resource.group}` },
  spec: {
    group: resource.group,
    scope: resource.scope === "Cluster" ? "Cluster" : "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec, status: statusSchema } } },
        ...(status && { subresources: { status: {} } }),
        ...extra
      }
    ],
    names: {
      plural: resource.plural,
      singular: resource.kind.toLowerCase(),
      kind: resource.kind,
      listKind: `${resource.kind}List`
    }
  }
})

export const widgetCrd = (options?: CrdOptions): ObjectInput => crd(widgets, options)
export const gadgetCrd = (): ObjectInput => crd(gadgets, { status: false })
export const zoneCrd = (): ObjectInput => crd(zones)
