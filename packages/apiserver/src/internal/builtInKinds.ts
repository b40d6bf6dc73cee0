/** The built-in kinds that are served from the start, and what each does beyond its schema. */
import { type BuiltIn, define } from "./builtInDefinition.ts"
import { networkPolicyRules, priorityClassRules } from "./clusterRules.ts"
import { customResourceDefinitionRules } from "./customResources.ts"
import type { Definition } from "./definition.ts"
import * as Events from "./events.ts"
import { autoscalerRules, cronJobRules, jobRules } from "./jobs.ts"
import { podKindRules } from "./pods.ts"
import { leaseRules } from "./leases.ts"
import { namespaceRules } from "./namespaces.ts"
import { configMapRules, secretRules, serviceAccountRules } from "./configuration.ts"
import { serviceRules } from "./services.ts"
import { daemonSetRules, deploymentRules, persistentVolumeClaimRules, replicaRules } from "./workloads.ts"

const kinds: ReadonlyArray<BuiltIn> = [
  {
    group: "",
    version: "v1",
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    cluster: true,
    status: true,
    name: "label",
    answersDeleted: true,
    noCollection: true,
    fields: { "status.phase": "status.phase" },
    plainLabels: true,
    rules: namespaceRules
  },
  { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", shortNames: ["cm"], rules: configMapRules },
  {
    group: "",
    version: "v1",
    kind: "Secret",
    plural: "secrets",
    fields: { type: "type" },
    plainLabels: true,
    rules: secretRules
  },
  {
    group: "",
    version: "v1",
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    status: true,
    name: "dns1035",
    createsOnUpdate: true,
    answersDeleted: true,
    fields: { "spec.clusterIP": "spec.clusterIP", "spec.type": "spec.type" },
    plainLabels: true,
    rules: serviceRules
  },
  {
    group: "",
    version: "v1",
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    shortNames: ["sa"],
    answersDeleted: true,
    rules: serviceAccountRules
  },
  {
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    status: true,
    generation: "spec",
    answersDeleted: true,
    plainLabels: true,
    fields: {
      "spec.nodeName": "spec.nodeName",
      "spec.restartPolicy": "spec.restartPolicy",
      "spec.schedulerName": "spec.schedulerName",
      "spec.serviceAccountName": "spec.serviceAccountName",
      "spec.hostNetwork": "spec.hostNetwork",
      "status.phase": "status.phase",
      "status.podIP": "status.podIP",
      "status.nominatedNodeName": "status.nominatedNodeName"
    },
    rules: podKindRules
  },
  {
    group: "",
    version: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    shortNames: ["pvc"],
    status: true,
    answersDeleted: true,
    rules: persistentVolumeClaimRules,
    first: { phase: "Pending" }
  },
  {
    group: "",
    version: "v1",
    kind: "ResourceQuota",
    plural: "resourcequotas",
    shortNames: ["quota"],
    status: true,
    answersDeleted: true,
    first: {}
  },
  { group: "", version: "v1", kind: "LimitRange", plural: "limitranges", shortNames: ["limits"] },
  {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    categories: ["all"],
    status: true,
    generation: "specAndAnnotations",
    rules: deploymentRules,
    scale: true
  },
  {
    group: "apps",
    version: "v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    categories: ["all"],
    status: true,
    generation: "spec",
    scale: true,
    rules: replicaRules,
    first: { replicas: 0 }
  },
  {
    group: "apps",
    version: "v1",
    kind: "StatefulSet",
    plural: "statefulsets",
    shortNames: ["sts"],
    categories: ["all"],
    status: true,
    generation: "spec",
    scale: true,
    rules: replicaRules,
    first: { replicas: 0, availableReplicas: 0 }
  },
  {
    group: "apps",
    version: "v1",
    kind: "DaemonSet",
    plural: "daemonsets",
    shortNames: ["ds"],
    categories: ["all"],
    status: true,
    generation: "spec",
    rules: daemonSetRules,
    first: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
  },
  {
    group: "batch",
    version: "v1",
    kind: "Job",
    plural: "jobs",
    categories: ["all"],
    status: true,
    generation: "spec",
    fields: { "status.successful": "status.successful" },
    plainLabels: true,
    rules: jobRules
  },
  {
    group: "batch",
    version: "v1",
    kind: "CronJob",
    plural: "cronjobs",
    shortNames: ["cj"],
    categories: ["all"],
    status: true,
    generation: "spec",
    rules: cronJobRules,
    first: {}
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "Ingress",
    plural: "ingresses",
    shortNames: ["ing"],
    status: true,
    generation: "spec",
    first: { loadBalancer: {} }
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    shortNames: ["netpol"],
    generation: "spec",
    rules: networkPolicyRules
  },
  {
    group: "policy",
    version: "v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    shortNames: ["pdb"],
    status: true,
    generation: "spec",
    first: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  },
  {
    group: "autoscaling",
    version: "v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    shortNames: ["hpa"],
    categories: ["all"],
    status: true,
    rules: autoscalerRules,
    first: { desiredReplicas: 0, currentMetrics: null }
  },
  {
    group: "scheduling.k8s.io",
    version: "v1",
    kind: "PriorityClass",
    plural: "priorityclasses",
    shortNames: ["pc"],
    cluster: true,
    generation: "content",
    rules: priorityClassRules
  },
  { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles", name: "path" },
  { group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings", name: "path" },
  {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    kind: "ClusterRole",
    plural: "clusterroles",
    cluster: true,
    name: "path"
  },
  {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    kind: "ClusterRoleBinding",
    plural: "clusterrolebindings",
    cluster: true,
    name: "path"
  },
  {
    group: "coordination.k8s.io",
    version: "v1",
    kind: "Lease",
    plural: "leases",
    versioned: true,
    createsOnUpdate: true,
    rules: leaseRules
  },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    cluster: true,
    status: true,
    generation: "spec",
    versioned: true,
    answersDeleted: true,
    rules: customResourceDefinitionRules
  }
]

const coreEvent = define({
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  name: "path",
  createsOnUpdate: true,
  plainLabels: true,
  fields: Events.coreFields,
  rules: Events.rules
})

/** Events are stored once and served by two groups (F156). */
const newEvent: Definition = {
  ...define({
    group: "events.k8s.io",
    version: "v1",
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    createsOnUpdate: true,
    plainLabels: true,
    fields: Events.newFields,
    rules: Events.rules
  }),
  resource: coreEvent.resource,
  storageVersion: coreEvent.apiVersion,
  toStorage: Events.toCore,
  fromStorage: Events.fromCore
}

/** Each with the definition of its storage version. */
export const definitions: ReadonlyArray<{ readonly served: ReadonlyArray<Definition>; readonly storage: Definition }> =
  [
    ...kinds.map(define).map((definition) => ({ served: [definition], storage: definition })),
    { served: [coreEvent, newEvent], storage: coreEvent }
  ]
