/** Strategic merge patches that each show one rule, and the objects that they patch. */

type Json = any

const labels = { app: "a" }
const selector = { matchLabels: labels }

const containers = [
  {
    name: "web",
    image: "web:1",
    args: ["-a", "-b"],
    env: [
      { name: "A", value: "1" },
      { name: "B", value: "2" },
      { name: "C", value: "3" }
    ],
    ports: [
      { name: "http", containerPort: 80 },
      { name: "https", containerPort: 443 }
    ],
    resources: { limits: { cpu: "1" }, requests: { cpu: "500m", memory: "1Gi" } },
    volumeMounts: [{ name: "data", mountPath: "/data" }]
  },
  { name: "side", image: "side:1" }
]

const volumes = [
  { name: "data", emptyDir: {} },
  { name: "conf", configMap: { name: "c" } }
]

export const bases: Readonly<Record<string, Json>> = {
  deployments: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "base",
      labels: { x: "1", y: "2" },
      annotations: { note: "n" },
      finalizers: ["a/a", "b/b", "c/c"]
    },
    spec: {
      replicas: 2,
      selector,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: "25%" } },
      template: { metadata: { labels }, spec: { containers, volumes, nodeSelector: { a: "1" } } }
    }
  },
  services: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "base" },
    spec: {
      clusterIP: "None",
      selector: { a: "1", b: "2" },
      ports: [
        { name: "http", port: 80, targetPort: 8080 },
        { name: "https", port: 443 }
      ]
    }
  },
  pods: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "base", labels },
    spec: { containers: [{ name: "c", image: "i:1" }], activeDeadlineSeconds: 50 }
  },
  configmaps: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "base" },
    data: { a: "1", b: "2" },
    binaryData: { c: "MQ==" }
  },
  secrets: { apiVersion: "v1", kind: "Secret", metadata: { name: "base" }, data: { a: "MQ==", b: "Mg==" } },
  serviceaccounts: {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "base" },
    imagePullSecrets: [{ name: "p" }, { name: "q" }],
    secrets: [{ name: "s" }, { name: "t" }]
  }
}

const pod = (spec: Json): Json => ({ spec: { template: { spec } } })
const web = (content: Json): Json => pod({ containers: [{ name: "web", ...content }] })

const deploymentPatches: ReadonlyArray<Json> = [
  {},
  null,
  { spec: { replicas: 5 } },
  { spec: { replicas: null, paused: true } },
  { metadata: { labels: { x: null, z: "3" } } },
  { metadata: { labels: null } },
  { metadata: { annotations: { $patch: "replace", only: "1" } } },
  { metadata: { annotations: { $patch: "delete" } } },
  { metadata: { annotations: { $patch: "merge", only: "1" } } },
  { metadata: { annotations: { $patch: "other" } } },
  { metadata: { annotations: { $retainKeys: ["only"], only: "1" } } },
  { metadata: { annotations: { $retainKeys: ["only"], other: "1" } } },
  { metadata: { annotations: { $retainKeys: "only" } } },
  { metadata: { finalizers: ["d/d"] } },
  { metadata: { finalizers: ["c/c", "d/d", "a/a"] } },
  { metadata: { "$deleteFromPrimitiveList/finalizers": ["b/b"] } },
  {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["b/b", "x/x"], "$setElementOrder/finalizers": ["c/c", "a/a"] }
  },
  { metadata: { "$deleteFromPrimitiveList/finalizers": null } },
  { metadata: { $deleteFromPrimitiveList: ["b/b"] } },
  { metadata: { "$setElementOrder/finalizers": ["c/c", "b/b", "a/a"] } },
  { metadata: { "$setElementOrder/finalizers": ["c/c"] } },
  { metadata: { "$setElementOrder/finalizers": ["e/e", "a/a"], finalizers: ["e/e"] } },
  { metadata: { "$setElementOrder/finalizers": ["a/a"], finalizers: ["e/e"] } },
  { metadata: { "$setElementOrder/finalizers": "a/a" } },
  { metadata: { $setElementOrder: ["a/a"] } },
  { metadata: { "$setElementOrder/nothing": ["a"] } },
  { metadata: { "$setElementOrder/labels": ["a"] } },
  { metadata: { name: "other" } },
  { kind: "Other" },
  { apiVersion: "v1" },
  { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
  { spec: { strategy: { type: "Recreate" } } },
  { spec: { strategy: { rollingUpdate: { maxSurge: "10%" } } } },
  { spec: { strategy: { $patch: "replace", type: "Recreate" } } },
  web({ image: "web:2" }),
  web({ image: null }),
  web({ ports: [{ name: "http", containerPort: 8080 }] }),
  pod({ containers: [{ name: "web", $patch: "replace", image: "only" }] }),
  pod({ volumes: [{ name: "data", hostPath: { path: "/x" } }] }),
  { spec: { template: null } },
  { $patch: "replace", metadata: { name: "base" } },
  web({ args: ["-c"] }),
  web({ args: null }),
  web({ env: [{ name: "B", value: "9" }] }),
  web({ env: [{ name: "D", value: "4" }] }),
  web({ env: [{ name: "B", $patch: "delete" }] }),
  web({ env: [{ $patch: "replace" }, { name: "Z", value: "0" }] }),
  web({ env: [{ $patch: "delete" }] }),
  web({ env: [{ $patch: "merge", name: "A" }] }),
  web({ env: [{ $patch: "other", name: "A" }] }),
  web({ env: [{ value: "no name" }] }),
  web({ env: null }),
  web({ env: [] }),
  web({ "$setElementOrder/env": [{ name: "C" }, { name: "A" }, { name: "B" }] }),
  web({ "$setElementOrder/env": [{ name: "C" }, { name: "D" }, { name: "A" }], env: [{ name: "D", value: "4" }] }),
  web({ "$setElementOrder/env": [{ name: "A" }, { name: "C" }], env: [{ name: "B", $patch: "delete" }] }),
  web({ "$setElementOrder/env": [{ name: "A" }], env: [{ name: "D", value: "4" }] }),
  web({ "$setElementOrder/env": [{ value: "A" }], env: [{ name: "A", value: "4" }] }),
  web({ "$setElementOrder/volumeDevices": [] }),
  web({ ports: [{ containerPort: 80, name: "web" }] }),
  web({ ports: [{ containerPort: 81, protocol: "UDP" }] }),
  web({ ports: [{ containerPort: 443, $patch: "delete" }] }),
  web({ resources: { limits: { cpu: "2", memory: "2048Mi" } } }),
  web({ resources: { requests: { cpu: null } } }),
  web({ resources: { $patch: "replace", limits: { memory: "1Gi" } } }),
  web({ volumeMounts: [{ mountPath: "/other", name: "conf" }] }),
  web({ livenessProbe: { httpGet: { port: "http" } } }),
  web({ securityContext: { runAsUser: 5, $patch: "replace" } }),
  pod({ containers: [{ name: "new", image: "n", env: [{ name: "E", value: null }] }] }),
  pod({ containers: [{ name: "side", $patch: "delete" }] }),
  pod({ containers: [{ image: "no name" }] }),
  pod({ containers: ["text"] }),
  pod({ containers: [["list"]] }),
  pod({ containers: "text" }),
  pod({
    "$setElementOrder/containers": [{ name: "side" }, { name: "web" }],
    containers: [{ name: "web", image: "w:3" }]
  }),
  pod({ volumes: [{ name: "data", emptyDir: null, hostPath: { path: "/x" } }] }),
  pod({ volumes: [{ name: "data", $retainKeys: ["name", "hostPath"], hostPath: { path: "/x" } }] }),
  pod({ volumes: [{ name: "more", emptyDir: { sizeLimit: "1024Mi" } }] }),
  pod({ nodeSelector: { b: "2" } }),
  pod({ nodeSelector: { $patch: "replace", b: "2" } }),
  pod({ tolerations: [{ key: "k", operator: "Exists" }] }),
  pod({ imagePullSecrets: [{ name: "p" }] }),
  pod({ hostAliases: [{ ip: "1.1.1.1", hostnames: ["a"] }] }),
  pod({ unknown: 1 }),
  pod({ unknown: { $patch: "delete" } }),
  {
    spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "2020-01-01T00:00:00Z" } } } }
  },
  { spec: { selector: { matchLabels: { app: "b" } } } },
  { spec: { replicas: "three" } },
  { spec: { replicas: 1.5 } },
  { spec: { replicas: true } },
  { spec: { paused: "yes" } },
  { spec: "text" },
  { spec: [1] },
  web({ image: 5 }),
  web({ image: { a: 1 } }),
  web({ args: "text" }),
  web({ resources: { limits: { cpu: "lots" } } }),
  { $patch: "delete" },
  [],
  "text",
  5
]

const servicePatches: ReadonlyArray<Json> = [
  { spec: { ports: [{ port: 80, targetPort: 9090 }] } },
  { spec: { ports: [{ port: 8443, name: "new" }] } },
  { spec: { ports: [{ port: 443, $patch: "delete" }] } },
  { spec: { "$setElementOrder/ports": [{ port: 443 }, { port: 80 }], ports: [{ port: 80, name: "h" }] } },
  { spec: { ports: [{ $patch: "replace" }, { port: 1 }] } },
  { spec: { selector: { b: null, c: "3" } } },
  { spec: { selector: { $patch: "replace", c: "3" } } },
  { spec: { externalIPs: ["1.2.3.4"] } },
  { spec: { sessionAffinity: "ClientIP" } },
  { spec: { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } } }
]

const dataPatches: ReadonlyArray<Json> = [
  { data: { a: null, c: "Mw==" } },
  { data: { $patch: "replace", c: "Mw==" } },
  { data: null },
  { data: { a: 5 } },
  { data: { a: { b: "c" } } },
  { data: [] },
  { metadata: { labels: { a: "b" } }, data: { $retainKeys: ["a"] } },
  { metadata: { resourceVersion: "1" } },
  { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" }] } }
]

const accountPatches: ReadonlyArray<Json> = [
  { imagePullSecrets: [{ name: "r" }] },
  { imagePullSecrets: [{ name: "p", $patch: "delete" }] },
  { secrets: [{ name: "u" }] },
  { secrets: [{ name: "s", namespace: "n" }] },
  { "$setElementOrder/secrets": [{ name: "t" }, { name: "s" }] },
  { automountServiceAccountToken: false }
]

const podPatches: ReadonlyArray<Json> = [
  { metadata: { labels: { app: null, b: "c" } } },
  { spec: { containers: [{ name: "c", image: "i:2" }] } },
  { spec: { containers: [{ name: "d", image: "i:2" }] } },
  { spec: { containers: [{ name: "c", command: ["x"] }] } },
  { spec: { activeDeadlineSeconds: 30 } },
  { spec: { activeDeadlineSeconds: 60 } },
  { spec: { activeDeadlineSeconds: null } },
  { spec: { nodeName: "n" } },
  { spec: { priority: null, preemptionPolicy: null } },
  { spec: { tolerations: [{ key: "k", operator: "Exists" }] } },
  { spec: { containers: [{ name: "c", ports: [{ containerPort: 80 }] }] } }
]

/** By the plural of what they patch. */
export const patches: Readonly<Record<string, ReadonlyArray<Json>>> = {
  deployments: deploymentPatches,
  services: servicePatches,
  pods: podPatches,
  configmaps: dataPatches,
  secrets: [...dataPatches, { stringData: { z: "text" } }],
  serviceaccounts: accountPatches
}

/** Draws for `randomPatch`: `below(n)` is a whole number under n. */
export interface Draws {
  readonly below: (n: number) => number
  readonly chance: (p: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

const letters = ["A", "B", "C", "D", "E"]

const some = (draws: Draws, items: ReadonlyArray<string>): ReadonlyArray<string> =>
  items
    .map((item) => [draws.below(1_000), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
    .slice(0, 1 + draws.below(items.length))

const randomMap = (draws: Draws): Json => ({
  ...Object.fromEntries(some(draws, letters).map((key) => [key, draws.chance(0.3) ? null : String(draws.below(3))])),
  ...(draws.chance(0.2) && { $patch: draws.pick(["replace", "delete"]) })
})

/** A list of maps by name: items to merge, to delete, to replace all, and perhaps an order. */
const randomItems = (draws: Draws, field: string, item: (name: string) => Json, names = letters): Json => {
  const chosen = some(draws, names)
  const items = chosen.map((name) => (draws.chance(0.25) ? { name, $patch: "delete" } : item(name)))
  const kept = items.filter(({ $patch }) => $patch === undefined).map(({ name }) => name)
  const order = draws.chance(0.8) ? [...kept, ...names.filter((name) => !chosen.includes(name))] : some(draws, names)
  return {
    [field]: draws.chance(0.1) ? [{ $patch: "replace" }, ...items] : items,
    ...(draws.chance(0.4) && { [`$setElementOrder/${field}`]: order.map((name) => ({ name })) })
  }
}

const randomFinalizers = (draws: Draws): Json => {
  const names = ["a/a", "b/b", "c/c", "d/d"]
  return draws.chance(0.5)
    ? { "$deleteFromPrimitiveList/finalizers": some(draws, names) }
    : {
        finalizers: some(draws, names),
        ...(draws.chance(0.5) && { "$setElementOrder/finalizers": draws.chance(0.7) ? names : some(draws, names) })
      }
}

const randomContainer =
  (draws: Draws) =>
  (name: string): Json => ({
    name,
    image: `${name}:${draws.below(3)}`,
    ...(draws.chance(0.5) &&
      randomItems(draws, "env", (env) => ({ name: env, value: draws.chance(0.2) ? null : String(draws.below(3)) }))),
    ...(draws.chance(0.3) && { args: draws.chance(0.3) ? null : some(draws, letters) }),
    ...(draws.chance(0.3) && {
      ports: [80, 81, 82]
        .filter(() => draws.chance(0.5))
        .map((containerPort) => ({ containerPort, ...(draws.chance(0.3) && { $patch: "delete" }) }))
    }),
    ...(draws.chance(0.2) && { resources: { limits: draws.chance(0.5) ? { cpu: "1" } : { $patch: "delete" } } })
  })

/** A patch of the Deployment that nearly always leaves a valid one: the container `web` stays. */
export const randomPatch = (draws: Draws): Json => ({
  ...(draws.chance(0.5) && {
    metadata: {
      ...(draws.chance(0.6) && { labels: randomMap(draws) }),
      ...(draws.chance(0.6) && { annotations: randomMap(draws) }),
      ...(draws.chance(0.6) && randomFinalizers(draws))
    }
  }),
  spec: {
    ...(draws.chance(0.3) && { replicas: draws.chance(0.2) ? null : draws.below(5) }),
    ...(draws.chance(0.2) && {
      strategy: draws.pick([
        { $retainKeys: ["type"], type: "Recreate" },
        { $retainKeys: ["type", "rollingUpdate"], type: "RollingUpdate", rollingUpdate: { maxSurge: 2 } },
        { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } }
      ])
    }),
    template: {
      spec: {
        ...(draws.chance(0.7) &&
          randomItems(draws, "containers", randomContainer(draws), ["web", "x", "y"].slice(draws.chance(0.6) ? 1 : 0))),
        ...(draws.chance(0.4) && randomItems(draws, "volumes", (name) => ({ name, emptyDir: {} }), ["v", "w", "u"])),
        ...(draws.chance(0.3) && { nodeSelector: randomMap(draws) })
      }
    }
  }
})
