/** Objects of every built-in kind, in the states that their tables tell apart. */

type Json = any

export interface Sample {
  /** The collection, `/api/v1/namespaces/N/pods`. */
  readonly collection: string
  readonly body: Json
  /** Written to /status afterwards. */
  readonly status?: Json
}

const long = "2020-01-01T00:00:00Z"
const labels = { app: "a" }
const container = { name: "c", image: "i:1" }
const template = {
  metadata: { labels },
  spec: { containers: [container, { name: "d", image: "j" }], nodeSelector: { zone: "z", disk: "ssd" } }
}
const selector = { matchLabels: labels }

const terminated = (exitCode: number, more: object = {}): Json => ({
  terminated: { exitCode, startedAt: long, finishedAt: long, ...more }
})
const waiting = (reason: string): Json => ({ waiting: { reason } })
const running = { running: { startedAt: long } }

const container1 = (state: Json, more: object = {}): Json => ({
  name: "c",
  image: "i",
  imageID: "",
  ready: false,
  restartCount: 0,
  state,
  ...more
})

const podStatuses: ReadonlyArray<readonly [name: string, status: Json, spec?: Json]> = [
  ["pending", {}],
  ["reason", { phase: "Failed", reason: "Evicted" }],
  ["succeeded", { phase: "Succeeded", containerStatuses: [container1(terminated(0, { reason: "Completed" }))] }],
  ["gated", { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }],
  [
    "running",
    {
      phase: "Running",
      podIP: "10.1.1.1",
      podIPs: [{ ip: "10.1.1.1" }],
      conditions: [
        { type: "Ready", status: "True" },
        { type: "example.com/gate", status: "True" }
      ],
      containerStatuses: [container1(running, { ready: true, restartCount: 2, lastState: terminated(1) })]
    },
    { readinessGates: [{ conditionType: "example.com/gate" }, { conditionType: "example.com/shut" }] }
  ],
  ["crashing", { phase: "Running", containerStatuses: [container1(waiting("CrashLoopBackOff"), { restartCount: 3 })] }],
  ["signalled", { phase: "Running", containerStatuses: [container1(terminated(0, { signal: 9 }))] }],
  ["coded", { phase: "Running", containerStatuses: [container1(terminated(3))] }],
  [
    "half-done",
    {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        container1(terminated(0, { reason: "Completed" })),
        container1(running, { name: "d", ready: true })
      ]
    },
    { containers: [container, { name: "d", image: "j" }] }
  ],
  [
    "not-ready",
    {
      phase: "Running",
      containerStatuses: [
        container1(terminated(0, { reason: "Completed" })),
        container1(running, { name: "d", ready: true })
      ]
    },
    { containers: [container, { name: "d", image: "j" }] }
  ],
  [
    "init-waiting",
    { phase: "Pending", initContainerStatuses: [container1(waiting("ImagePullBackOff"), { name: "n" })] },
    { initContainers: [{ name: "n", image: "i" }] }
  ],
  [
    "init-running",
    {
      phase: "Pending",
      initContainerStatuses: [
        container1(terminated(0), { name: "n", restartCount: 4, lastState: terminated(1) }),
        container1(waiting("PodInitializing"), { name: "m" })
      ],
      containerStatuses: [container1(waiting("PodInitializing"))]
    },
    {
      initContainers: [
        { name: "n", image: "i" },
        { name: "m", image: "i" }
      ]
    }
  ],
  [
    "init-failed",
    { phase: "Pending", initContainerStatuses: [container1(terminated(2), { name: "n" })] },
    { initContainers: [{ name: "n", image: "i" }] }
  ],
  [
    "sidecar",
    {
      phase: "Running",
      conditions: [{ type: "Initialized", status: "True" }],
      initContainerStatuses: [container1(running, { name: "s", ready: true, started: true, restartCount: 1 })],
      containerStatuses: [container1(running, { ready: true })]
    },
    { initContainers: [{ name: "s", image: "i", restartPolicy: "Always" }] }
  ]
]

const pods = (n: string): ReadonlyArray<Sample> =>
  podStatuses.map(([name, status, spec]) => ({
    collection: `/api/v1/namespaces/${n}/pods`,
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: { containers: [container], ...spec }
    },
    status
  }))

const service = (n: string, name: string, spec: Json, status?: Json): Sample => ({
  collection: `/api/v1/namespaces/${n}/services`,
  body: { apiVersion: "v1", kind: "Service", metadata: { name }, spec },
  ...(status !== undefined && { status })
})

const port = { port: 80 }
const services = (n: string): ReadonlyArray<Sample> => [
  service(n, "plain", {
    ports: [port, { name: "u", port: 53, protocol: "UDP" }].map((p, i) => ({ ...p, name: `p${i}` })),
    selector: { b: "2", a: "1" }
  }),
  service(n, "headless", { clusterIP: "None", externalIPs: ["1.2.3.4", "1.2.3.5"] }),
  service(n, "external", { type: "ExternalName", externalName: "example.com" }),
  service(n, "node", { type: "NodePort", ports: [port] }),
  service(n, "pending", { type: "LoadBalancer", ports: [port] }),
  service(
    n,
    "balanced",
    { type: "LoadBalancer", ports: [port], externalIPs: ["1.2.3.6"] },
    { loadBalancer: { ingress: [{ ip: "9.9.9.9" }, { hostname: "b.example.com" }, { ip: "10.9.9.9" }] } }
  )
]

const workload = (n: string, group: string, kind: string, spec: Json, status?: Json, name = "w"): Sample => ({
  collection: `/apis/${group}/namespaces/${n}/${kind.toLowerCase()}s`,
  body: { apiVersion: group, kind, metadata: { name }, spec },
  ...(status !== undefined && { status })
})

const counts = { replicas: 3, readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 }
const never = { ...template, spec: { ...template.spec, restartPolicy: "Never" } }
const complex = {
  matchExpressions: [
    { key: "z", operator: "Exists" },
    { key: "tier", operator: "In", values: ["b", "a"] },
    { key: "gone", operator: "DoesNotExist" },
    { key: "env", operator: "NotIn", values: ["x"] }
  ],
  matchLabels: labels
}
const complexTemplate = { ...template, metadata: { labels: { ...labels, z: "1", tier: "a" } } }

const jobCondition = (type: string): Json => ({ type, status: "True", lastTransitionTime: long, lastProbeTime: long })

const workloads = (n: string): ReadonlyArray<Sample> => [
  workload(n, "apps/v1", "Deployment", { selector, template, replicas: 3 }, counts),
  workload(n, "apps/v1", "Deployment", { selector: complex, template: complexTemplate }, undefined, "complex"),
  workload(n, "apps/v1", "ReplicaSet", { selector, template, replicas: 3 }, { ...counts, updatedReplicas: undefined }),
  workload(n, "apps/v1", "ReplicaSet", { selector: complex, template: complexTemplate }, undefined, "complex"),
  workload(n, "apps/v1", "StatefulSet", { selector, template, serviceName: "s", replicas: 3 }, counts),
  workload(
    n,
    "apps/v1",
    "DaemonSet",
    { selector, template },
    {
      desiredNumberScheduled: 5,
      currentNumberScheduled: 4,
      numberReady: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
      numberMisscheduled: 0
    }
  ),
  workload(n, "batch/v1", "Job", { template: never }, undefined, "fresh"),
  workload(
    n,
    "batch/v1",
    "Job",
    { template: never, parallelism: 4, completions: 4 },
    { startTime: long, succeeded: 1 }
  ),
  workload(
    n,
    "batch/v1",
    "Job",
    { template: never, suspend: true },
    { conditions: [jobCondition("Suspended")] },
    "held"
  ),
  workload(n, "batch/v1", "CronJob", { schedule: "0 * * * *", jobTemplate: { spec: { template: never } } }),
  workload(
    n,
    "batch/v1",
    "CronJob",
    { schedule: "1 * * * *", timeZone: "Etc/UTC", suspend: true, jobTemplate: { spec: { template: never } } },
    { lastScheduleTime: long, active: [{ kind: "Job", name: "j" }] },
    "zoned"
  ),
  workload(n, "policy/v1", "PodDisruptionBudget", { minAvailable: "50%", selector }, undefined, "min"),
  workload(
    n,
    "policy/v1",
    "PodDisruptionBudget",
    { maxUnavailable: 1, selector },
    {
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2
    }
  )
]

const resource = (name: string, target: Json): Json => ({ type: "Resource", resource: { name, target } })
const external = (target: Json): Json => ({ type: "External", external: { metric: { name: "q" }, target } })
const utilization = { type: "Utilization", averageUtilization: 80 }
const scaler = (n: string, name: string, metrics: ReadonlyArray<Json>, status?: Json): Sample =>
  workload(
    n,
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    { maxReplicas: 5, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "w" }, metrics },
    status,
    name
  )

const scalers = (n: string): ReadonlyArray<Sample> => [
  scaler(n, "cpu", [resource("cpu", utilization)], {
    currentReplicas: 2,
    desiredReplicas: 3,
    currentMetrics: [
      { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 42, averageValue: "1" } } }
    ]
  }),
  scaler(n, "unmeasured", [
    resource("cpu", utilization),
    resource("memory", { type: "AverageValue", averageValue: "1Gi" }),
    external({ type: "Value", value: "7" })
  ]),
  scaler(n, "external", [
    external({ type: "AverageValue", averageValue: "3" }),
    external({ type: "Value", value: "7" })
  ]),
  scaler(n, "pods", [
    { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "10" } } },
    {
      type: "Object",
      object: {
        metric: { name: "m" },
        describedObject: { apiVersion: "v1", kind: "Service", name: "s" },
        target: { type: "Value", value: "4" }
      }
    }
  ]),
  scaler(n, "container", [
    { type: "ContainerResource", containerResource: { name: "cpu", container: "c", target: utilization } }
  ])
]

const simple = (collection: string, apiVersion: string, kind: string, name: string, content: Json = {}): Sample => ({
  collection,
  body: { apiVersion, kind, metadata: { name }, ...content }
})

const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] }
const subjects = [
  { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
  { kind: "User", name: "v", apiGroup: "rbac.authorization.k8s.io" },
  { kind: "Group", name: "g", apiGroup: "rbac.authorization.k8s.io" },
  { kind: "ServiceAccount", name: "s", namespace: "n" }
]
const roleRef = (kind: string): Json => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: "r" })
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }

const access = (n: string): ReadonlyArray<Sample> => {
  const rbac = "/apis/rbac.authorization.k8s.io/v1"
  const version = "rbac.authorization.k8s.io/v1"
  return [
    simple(`${rbac}/namespaces/${n}/roles`, version, "Role", "r", { rules: [rule] }),
    simple(`${rbac}/namespaces/${n}/rolebindings`, version, "RoleBinding", "b", { roleRef: roleRef("Role"), subjects }),
    simple(`${rbac}/clusterroles`, version, "ClusterRole", `${n}-r`, { rules: [rule] }),
    simple(`${rbac}/clusterrolebindings`, version, "ClusterRoleBinding", `${n}-b`, {
      roleRef: roleRef("ClusterRole")
    })
  ]
}

const claims = (n: string): ReadonlyArray<Sample> => {
  const collection = `/api/v1/namespaces/${n}/persistentvolumeclaims`
  return [
    simple(collection, "v1", "PersistentVolumeClaim", "open", { spec: claimSpec }),
    {
      ...simple(collection, "v1", "PersistentVolumeClaim", "bound", {
        spec: { ...claimSpec, volumeName: "pv", storageClassName: "fast" }
      }),
      status: { phase: "Bound", accessModes: ["ReadWriteMany", "ReadWriteOnce"], capacity: { storage: "1024Mi" } }
    }
  ]
}

const configuration = (n: string): ReadonlyArray<Sample> => [
  simple(`/api/v1/namespaces/${n}/configmaps`, "v1", "ConfigMap", "c", { data: { a: "1" }, binaryData: { b: "MQ==" } }),
  simple(`/api/v1/namespaces/${n}/secrets`, "v1", "Secret", "s", { stringData: { a: "1", b: "2" } }),
  simple(`/api/v1/namespaces/${n}/serviceaccounts`, "v1", "ServiceAccount", "s"),
  simple(`/api/v1/namespaces/${n}/limitranges`, "v1", "LimitRange", "l", {
    spec: { limits: [{ type: "Pod", max: { cpu: "1" } }] }
  }),
  simple(`/api/v1/namespaces/${n}/resourcequotas`, "v1", "ResourceQuota", "new", { spec: { hard: { pods: "1" } } }),
  {
    ...simple(`/api/v1/namespaces/${n}/resourcequotas`, "v1", "ResourceQuota", "counted"),
    status: { hard: { pods: "3", cpu: "1000m", "limits.cpu": "2" }, used: { pods: "1", "limits.cpu": "0.5" } }
  },
  simple("/apis/scheduling.k8s.io/v1/priorityclasses", "scheduling.k8s.io/v1", "PriorityClass", `${n}-p`, { value: 7 }),
  simple(`/apis/coordination.k8s.io/v1/namespaces/${n}/leases`, "coordination.k8s.io/v1", "Lease", "l", {
    spec: { holderIdentity: "me" }
  }),
  simple(`/apis/coordination.k8s.io/v1/namespaces/${n}/leases`, "coordination.k8s.io/v1", "Lease", "free")
]

const backend = { service: { name: "s", port: { number: 80 } } }
const hostRule = (host: string | undefined): Json => ({
  ...(host !== undefined && { host }),
  http: { paths: [{ path: "/", pathType: "Prefix", backend }] }
})

const networks = (n: string): ReadonlyArray<Sample> => {
  const group = "networking.k8s.io/v1"
  const ingresses = `/apis/${group}/namespaces/${n}/ingresses`
  const policies = `/apis/${group}/namespaces/${n}/networkpolicies`
  return [
    simple(ingresses, group, "Ingress", "any", { spec: { rules: [hostRule(undefined)] } }),
    {
      ...simple(ingresses, group, "Ingress", "many", {
        spec: {
          ingressClassName: "nginx",
          tls: [{ hosts: ["a.example.com"] }],
          rules: ["a", "b", "c", "d", "e"].map((host) => hostRule(`${host}.example.com`))
        }
      }),
      status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }, { ip: "1.1.1.1" }] } }
    },
    simple(policies, group, "NetworkPolicy", "all", { spec: { podSelector: {} } }),
    simple(policies, group, "NetworkPolicy", "some", { spec: { podSelector: complex } })
  ]
}

const events = (n: string): ReadonlyArray<Sample> => {
  const involvedObject = { apiVersion: "v1", kind: "Pod", namespace: n, name: "p", fieldPath: "spec.containers{c}" }
  const core = (name: string, content: Json): Sample =>
    simple(`/api/v1/namespaces/${n}/events`, "v1", "Event", name, { involvedObject, ...content })
  return [
    core("old", {
      type: "Normal",
      reason: "Started",
      message: " started \n",
      firstTimestamp: long,
      lastTimestamp: "2024-01-01T00:00:00Z",
      count: 3,
      source: { component: "kubelet", host: "node" }
    }),
    core("bare", { reason: "X", message: "m" }),
    simple(`/apis/events.k8s.io/v1/namespaces/${n}/events`, "events.k8s.io/v1", "Event", "new", {
      eventTime: "2020-01-01T00:00:00.000000Z",
      reportingController: "example.com/c",
      reportingInstance: "i",
      action: "Do",
      type: "Warning",
      reason: "Failed",
      note: "note",
      regarding: involvedObject,
      series: { count: 5, lastObservedTime: "2023-01-01T00:00:00.000000Z" }
    })
  ]
}

/** In the namespace `n`, which the caller makes. */
export const samples = (n: string): ReadonlyArray<Sample> => [
  ...pods(n),
  ...services(n),
  ...workloads(n),
  ...scalers(n),
  ...access(n),
  ...claims(n),
  ...configuration(n),
  ...networks(n),
  ...events(n)
]
