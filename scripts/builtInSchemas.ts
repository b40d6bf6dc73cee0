/**
 * Makes `packages/apiserver/src/internal/builtInSchemaData.ts`: the schemas of built-in kinds, reduced from the OpenAPI documents of a running API server to what
 * list types, map keys, patch strategies, types, required fields, enums and defaults need. Defaults that the documents leave out are asked of the server:
 * sample objects are created by dry runs, and what comes back besides is a default. And `tableColumnData.ts` beside it: the columns of their Tables.
 *
 *     node scripts/builtInSchemas.ts <kubeconfig>
 */
import { writeFileSync } from "node:fs"
import { documentPath, type Json, request, type Server, serverOf, table, wanted } from "./apiServer.ts"

const internal = new URL("../packages/apiserver/src/internal/", import.meta.url)
const target = new URL("builtInSchemaData.ts", internal)
const columnTarget = new URL("tableColumnData.ts", internal)

/** Types that are not what their schema says. */
const special: Readonly<Record<string, Json>> = {
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { "x-kubernetes-int-or-string": true },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { format: "quantity" }
}

const patching = ["x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"]

const kept = [
  ...patching,
  "type",
  "format",
  "required",
  "enum",
  "x-kubernetes-map-type",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys"
]

const refOf = (schema: Json): string | undefined => {
  const ref: string | undefined = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0].$ref : undefined)
  return ref?.slice(ref.lastIndexOf("/") + 1)
}

const listType = (schema: Json): Json =>
  schema["x-kubernetes-list-type"] === undefined && schema["x-kubernetes-patch-strategy"]?.startsWith("merge")
    ? schema["x-kubernetes-patch-merge-key"] === undefined
      ? { "x-kubernetes-list-type": "set" }
      : { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [schema["x-kubernetes-patch-merge-key"]] }
    : {}

/** `isField`: only the fields of objects have defaults; those of items would stand for nulls. */
const reduce = (schema: Json, isField: boolean): Json => {
  const filled = isField && schema.default !== undefined ? { default: schema.default } : {}
  const some = (names: ReadonlyArray<string>): Json =>
    Object.fromEntries(names.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]))
  const ref = refOf(schema)
  if (ref !== undefined) {
    return { ...(special[ref] ?? { $ref: ref }), ...some(["x-kubernetes-map-type", ...patching]), ...filled }
  }
  if (schema.type === undefined) return { "x-kubernetes-preserve-unknown-fields": true }
  const map = (own: Record<string, Json>): Json =>
    Object.fromEntries(Object.entries(own).map(([name, property]) => [name, reduce(property, true)]))
  return {
    ...some(kept),
    ...listType(schema),
    ...(schema.properties !== undefined && { properties: map(schema.properties) }),
    ...(schema.items !== undefined && { items: reduce(schema.items, false) }),
    ...(schema.additionalProperties !== undefined && {
      additionalProperties:
        typeof schema.additionalProperties === "object"
          ? reduce(schema.additionalProperties, false)
          : schema.additionalProperties
    }),
    ...filled
  }
}

const refsIn = (schema: Json): ReadonlyArray<string> =>
  typeof schema !== "object" || schema === null
    ? []
    : [...(typeof schema.$ref === "string" ? [schema.$ref] : []), ...Object.values(schema).flatMap(refsIn)]

const pod = {
  metadata: { labels: { a: "b" } },
  spec: {
    containers: [
      {
        name: "c",
        image: "i",
        ports: [{ containerPort: 80 }],
        env: [
          { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "B", value: "x" }
        ],
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { grpc: { port: 80 } },
        lifecycle: { preStop: { httpGet: { port: 80 } } }
      }
    ],
    volumes: [
      { name: "a", configMap: { name: "x" } },
      { name: "b", secret: { secretName: "x" } },
      { name: "c", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.name" } }] } },
      { name: "d", projected: { sources: [{ serviceAccountToken: { path: "p" } }] } },
      { name: "e", hostPath: { path: "/x" } }
    ]
  }
}
const never = { ...pod, spec: { ...pod.spec, restartPolicy: "Never" } }
const selector = { matchLabels: { a: "b" } }

const samples: Readonly<Record<string, Json>> = {
  "v1 Service": { spec: { ports: [{ port: 80 }] } },
  "v1 PersistentVolumeClaim": { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } } },
  "apps/v1 Deployment": { spec: { selector, template: pod } },
  "apps/v1 ReplicaSet": { spec: { selector, template: pod } },
  "apps/v1 StatefulSet": { spec: { selector, template: pod } },
  "apps/v1 DaemonSet": { spec: { selector, template: pod } },
  "batch/v1 Job": { spec: { template: never } },
  "batch/v1 CronJob": { spec: { schedule: "* * * * *", jobTemplate: { spec: { template: never } } } },
  "autoscaling/v2 HorizontalPodAutoscaler": {
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } }
  },
  "networking.k8s.io/v1 NetworkPolicy": { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } }
}

/** What depends on other fields, or is drawn, and so is no default of a field. */
const contextual = new Set([
  "apiVersion",
  "kind",
  "metadata",
  "status",
  "imagePullPolicy",
  "clusterIP",
  "clusterIPs",
  "ipFamilies",
  "ipFamilyPolicy",
  "internalTrafficPolicy",
  "targetPort",
  "rollingUpdate",
  "selector",
  "completions",
  "parallelism",
  "metrics",
  "policyTypes",
  "fsGroup",
  "serviceAccount",
  "storageClassName"
])

const isObject = (u: unknown): u is Record<string, Json> => typeof u === "object" && u !== null && !Array.isArray(u)

/** Of a Job, but not of what a CronJob makes Jobs of: the schema is the same. */
const ofJobs = ["backoffLimit", "completionMode", "manualSelector", "podReplacementPolicy", "suspend"]

const isNothing = (value: Json): boolean =>
  value === false || value === 0 || value === "" || (isObject(value) && Object.keys(value).length === 0)

/** Enters into the definitions what the answer has besides what was sent. */
const learn = (
  definitions: Record<string, Json>,
  schema: Json,
  sent: Json,
  answer: Json,
  skipped: ReadonlySet<string>
): void => {
  const own = schema.$ref === undefined ? schema : definitions[schema.$ref]
  if (Array.isArray(answer) && Array.isArray(sent)) {
    for (const [at, item] of answer.entries())
      if (at < sent.length) learn(definitions, own.items ?? {}, sent[at], item, skipped)
    return
  }
  if (!isObject(answer) || !isObject(sent)) return
  for (const [name, value] of Object.entries(answer)) {
    const property = own.properties?.[name]
    if (property === undefined || skipped.has(name) || value === null) continue
    if (sent[name] !== undefined) learn(definitions, property, sent[name], value, skipped)
    else {
      // A struct, which is never absent: its default says so no longer.
      if (isObject(property.default) && isObject(value) && Object.keys(value).length > 0) property["x-struct"] = true
      // A pointer, which is absent before it is set.
      if (property.default === undefined && isNothing(value)) property["x-pointer"] = true
      property.default = value
      if (isObject(value)) learn(definitions, property, {}, value, skipped)
    }
  }
}

const main = async (): Promise<void> => {
  const server = serverOf(process.argv[2])
  const documents: Record<string, Json> = {}
  const kinds: Record<string, string> = {}
  for (const [version, names] of Object.entries(wanted)) {
    const document = await request(server, "GET", documentPath(version))
    Object.assign(documents, document.components.schemas)
    for (const [definition, schema] of Object.entries<Json>(document.components.schemas)) {
      for (const gvk of schema["x-kubernetes-group-version-kind"] ?? []) {
        const own = gvk.group === "" ? gvk.version : `${gvk.group}/${gvk.version}`
        if (own === version && names.includes(gvk.kind)) kinds[`${own} ${gvk.kind}`] = definition
      }
    }
  }
  const definitions: Record<string, Json> = {}
  const open = Object.values(kinds)
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (definitions[name] !== undefined) continue
    definitions[name] = reduce(documents[name], false)
    open.push(...refsIn(definitions[name]))
  }
  const plurals = await pluralsOf(server)
  for (const [kind, sample] of Object.entries(samples)) {
    const [version = "", name = ""] = kind.split(" ")
    const collection = `${rootOf(version)}/namespaces/default/${plurals[kind]}?dryRun=All`
    const body = { apiVersion: version, kind: name, metadata: { name: "sample" }, ...sample }
    const answer = await request(server, "POST", collection, body)
    const skipped = kind === "batch/v1 Job" ? new Set([...contextual, ...ofJobs]) : contextual
    learn(definitions, { $ref: kinds[kind] }, body, answer, skipped)
  }
  const { gitVersion } = await request(server, "GET", "/version")
  write(gitVersion, kinds, definitions)
  await writeColumns(server, gitVersion, plurals)
}

const rootOf = (version: string): string => `/${version === "v1" ? "api" : "apis"}/${version}`

/** By `group/version Kind`. */
const pluralsOf = async (server: Server): Promise<Record<string, string>> => {
  const plurals: Record<string, string> = {}
  for (const [version, names] of Object.entries(wanted)) {
    const { resources } = await request(server, "GET", rootOf(version))
    for (const { kind, name } of resources) {
      if (names.includes(kind) && !name.includes("/")) plurals[`${version} ${kind}`] = name
    }
  }
  return plurals
}

const writeColumns = async (server: Server, version: string, plurals: Record<string, string>): Promise<void> => {
  const columns: Record<string, string> = {}
  const descriptions = new Map<string, number>()
  const numberOf = (description: string): number => {
    if (!descriptions.has(description)) descriptions.set(description, descriptions.size)
    return descriptions.get(description)!
  }
  for (const [kind, plural] of Object.entries(plurals)) {
    const path = `${rootOf(kind.split(" ")[0]!)}/${plural}?limit=1`
    const { columnDefinitions } = await request(server, "GET", path, undefined, table)
    columns[kind] = quoted(
      JSON.stringify(
        columnDefinitions.map((column: Json) => ({ ...column, description: numberOf(column.description) }))
      )
    )
  }
  writeFileSync(
    columnTarget,
    [
      `/** Columns of the Tables of built-in kinds, made by scripts/builtInSchemas.ts from those of kube-apiserver ${version}. Not to be edited. */`,
      "",
      "/** By `group/version Kind`, as JSON: most are never read. A description is the number of one below. */",
      "export const columns: Readonly<Record<string, string>> = {",
      ...lines(columns),
      "}",
      "",
      "export const descriptions: ReadonlyArray<string> = [",
      [...descriptions.keys()].map((text) => `  ${JSON.stringify(text)}`).join(",\n"),
      "]",
      ""
    ].join("\n")
  )
}

const lines = (object: Record<string, string>): ReadonlyArray<string> =>
  Object.entries(object)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text], at, all) => `  ${JSON.stringify(name)}: ${text}${at === all.length - 1 ? "" : ","}`)

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

const write = (version: string, kinds: Record<string, string>, definitions: Record<string, Json>): void => {
  writeFileSync(
    target,
    [
      `/** Schemas of built-in kinds, made by scripts/builtInSchemas.ts from the OpenAPI documents of kube-apiserver ${version}. Not to be edited. */`,
      "",
      "/** The definition of a kind, by `group/version Kind`. */",
      "export const kinds: Readonly<Record<string, string>> = {",
      ...lines(Object.fromEntries(Object.entries(kinds).map(([kind, name]) => [kind, JSON.stringify(name)]))),
      "}",
      "",
      "/** Definitions as JSON: most are never read. `$ref` names another one. */",
      "export const definitions: Readonly<Record<string, string>> = {",
      ...lines(
        Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [name, quoted(JSON.stringify(schema))]))
      ),
      "}",
      ""
    ].join("\n")
  )
}

await main()
