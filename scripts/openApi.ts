/**
 * Makes `packages/apiserver/src/internal/openApiData.ts`: what the OpenAPI documents of the in-memory API are made of, as a running API server has it: the
 * definitions of the built-in kinds with all that they reach, and the parameters of requests.
 *
 *     node scripts/openApi.ts <kubeconfig>
 */
import { writeFileSync } from "node:fs"
import { deflateRawSync } from "node:zlib"
import { documentPath, type Json, request, type Server, serverOf, unstored, wanted } from "./apiServer.ts"

const target = new URL("../packages/apiserver/src/internal/openApiData.ts", import.meta.url)

/** What any request may take or answer. */
const everywhere = [
  "io.k8s.api.autoscaling.v1.Scale",
  ...["DeleteOptions", "Status", "Patch"].map((name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`)
]

const apiVersion = ({ group, version }: Json): string => (group === "" ? version : `${group}/${version}`)

const refsIn = (schema: Json): ReadonlyArray<string> =>
  typeof schema !== "object" || schema === null
    ? []
    : [
        ...(typeof schema.$ref === "string" ? [schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] : []),
        ...Object.values(schema).flatMap(refsIn)
      ]

const group = "openapi.example.com"
const custom = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `samples.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "samples", singular: "sample", kind: "Sample", listKind: "SampleList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }]
  }
}
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/** The document of a custom kind, which is defined for as long as this takes. */
const customDocument = async (server: Server): Promise<Json> => {
  await request(server, "POST", definitionsPath, custom)
  try {
    for (let tries = 0; tries < 100; tries++) {
      const found = await request(server, "GET", documentPath(`${group}/v1`)).catch(() => undefined)
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error("the custom kind had no document after 10 s")
  } finally {
    await request(server, "DELETE", `${definitionsPath}/${custom.metadata.name}`)
  }
}

/** By name; what a patch says of one differently, by `name of patch`. */
const parametersOf = (document: Json): Json => {
  const out: Record<string, Json> = {}
  const enter = (parameters: ReadonlyArray<Json>, suffix: string): void => {
    for (const parameter of parameters) {
      const known = out[parameter.name]
      if (known === undefined) out[parameter.name] = parameter
      else if (JSON.stringify(known) !== JSON.stringify(parameter)) out[`${parameter.name}${suffix}`] = parameter
    }
  }
  const paths: ReadonlyArray<Json> = Object.values(document.paths)
  for (const { parameters = [], patch: _, ...methods } of paths) {
    enter(parameters, "")
    for (const method of Object.values<Json>(methods)) enter(method.parameters ?? [], "")
  }
  for (const { patch } of paths) enter(patch?.parameters ?? [], " of patch")
  delete out.name
  return out
}

const main = async (): Promise<void> => {
  const server = serverOf(process.argv[2])
  const document = await customDocument(server)
  const known: Record<string, Json> = {}
  const open: Array<string> = [...everywhere]
  for (const [version, kinds] of [...Object.entries(wanted), ...Object.entries(unstored)]) {
    const { schemas } = (await request(server, "GET", documentPath(version))).components
    Object.assign(known, schemas)
    const names = new Set([...kinds, ...kinds.map((kind) => `${kind}List`)])
    for (const [name, schema] of Object.entries<Json>(schemas)) {
      const own = schema["x-kubernetes-group-version-kind"] ?? []
      if (own.length === 1 && apiVersion(own[0]) === version && names.has(own[0].kind)) open.push(name)
    }
  }
  // Of the common definitions a custom kind's document says most: every group version that they are registered in.
  Object.assign(known, document.components.schemas)
  const definitions: Record<string, Json> = {}
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (definitions[name] !== undefined) continue
    definitions[name] = known[name]
    open.push(...refsIn(definitions[name]))
  }
  const { gitVersion } = await request(server, "GET", "/version")
  const sorted = Object.fromEntries(Object.entries(definitions).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const text = JSON.stringify({ release: gitVersion, definitions: sorted, parameters: parametersOf(document) })
  const packed = deflateRawSync(text, { level: 9 }).toString("base64")
  writeFileSync(
    target,
    [
      `/** What OpenAPI documents are made of, made by scripts/openApi.ts from those of kube-apiserver ${gitVersion}. Not to be edited. */`,
      "",
      `/** ${Object.keys(sorted).length} definitions, ${text.length} bytes of JSON, deflated, in base64. */`,
      `export const packed =`,
      `  "${packed}"`,
      ""
    ].join("\n")
  )
}

await main()
