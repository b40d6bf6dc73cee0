/**
 * OpenAPI v3 documents, one a group version, and the index that leads to them. `kubectl explain`, `apply` and `diff` read the schemas of kinds there.
 *
 * Assumption: the schemas of built-in kinds are those of the release from which the data was made.
 */
import * as Effect from "effect/Effect"
import { virtualResources } from "./accessReviews.ts"
import type { Definition } from "./definition.ts"
import { digest } from "./digest.ts"
import { apiVersionOf, type GroupVersion, groupVersionsOf } from "./discovery.ts"
import { isList, isObject, type JsonObject } from "./json.ts"
import { type Parameters, pathsOf, type Subject } from "./openApiPaths.ts"
import { customSchemas, schemaName } from "./openApiSchemas.ts"
import * as SortedMap from "./sortedMap.ts"
import type { State } from "./state.ts"

/** What documents are made of. */
export interface OpenApiData {
  /** Of the server that they come from: `v1.36.3`. */
  readonly release: string
  /** Schemas by name; `#/components/schemas/<name>` leads to one. */
  readonly definitions: Readonly<Record<string, JsonObject>>
  readonly parameters: Parameters
}

let loaded: Promise<OpenApiData> | undefined

const unpack = async (): Promise<OpenApiData> => {
  const { packed } = await import("./openApiData.ts")
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0))
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))
  return JSON.parse(await new Response(inflated).text()) as OpenApiData
}

/** Some 150 KB to read and 1 MB to keep, from the first time that anyone asks for a document. */
export const load: Effect.Effect<OpenApiData> = Effect.promise(() => (loaded ??= unpack()))

/** The paths of the documents, without their root. */
export const documentPath = (one: Pick<GroupVersion, "group" | "version">): string =>
  `${one.group === "" ? "api" : "apis"}/${apiVersionOf(one)}`

/** Bumped where the same definitions would be described in other words. */
const edition = "v1.36.3"

const told = new WeakMap<Definition, string>()

/** What the document of a kind depends on. */
const substance = (definition: Definition): string => {
  const known = told.get(definition)
  if (known !== undefined) return known
  const { categories: _, custom, hasStatus, kind, listKind, namespaced, plural, scale, schema } = definition
  const text = JSON.stringify([kind, listKind, plural, namespaced, hasStatus, scale !== undefined, custom && schema])
  told.set(definition, text)
  return text
}

const definitionsOf = (
  state: State,
  { group, version }: Pick<GroupVersion, "group" | "version">
): ReadonlyArray<Definition> => SortedMap.valuesWithPrefix(state.served, `${group}/${version}/`)

/** With what is only asked for. */
const subjectsOf = (
  state: State,
  { group, version }: Pick<GroupVersion, "group" | "version">
): ReadonlyArray<Definition | (Subject & { readonly listKind: string })> => [
  ...definitionsOf(state, { group, version }),
  ...virtualResources
    .filter((one) => one.group === group && one.version === version)
    .map((one) => ({
      ...one,
      apiVersion: apiVersionOf(one),
      listKind: `${one.kind}List`,
      custom: false,
      hasStatus: false,
      scale: undefined
    }))
]

/** Of the document as it is made from this state: another one has another tag. */
export const tagOf = (state: State, one: GroupVersion): string =>
  digest([edition, documentPath(one), ...definitionsOf(state, one).map(substance)].join("\n"))

/** Where the document is for as long as it does not change. */
export const documentUrl = (state: State, one: GroupVersion): string =>
  `/openapi/v3/${documentPath(one)}?hash=${tagOf(state, one)}`

/** Leads to the document of each group version, each. */
export const index = (state: State): JsonObject => ({
  paths: Object.fromEntries(
    groupVersionsOf(state).map((one) => [documentPath(one), { serverRelativeURL: documentUrl(state, one) }])
  )
})

const root = "#/components/schemas/"

/** The names of schemas to which a value refers. */
const refsIn = (value: unknown): ReadonlyArray<string> => {
  if (isList(value)) return value.flatMap(refsIn)
  if (!isObject(value)) return []
  const { $ref } = value
  const own = typeof $ref === "string" && $ref.startsWith(root) ? [$ref.slice(root.length)] : []
  return [...own, ...Object.values(value).flatMap(refsIn)]
}

const groupVersionKind = "x-kubernetes-group-version-kind"

/** The names of the schemas of built-in kinds, by `group/version/kind`. What is registered everywhere has none. */
const namesOf = (data: OpenApiData): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(data.definitions).flatMap(([name, schema]) => {
      const [own, another] = (schema[groupVersionKind] ?? []) as ReadonlyArray<Record<string, string>>
      return own === undefined || another !== undefined ? [] : [[`${own.group}/${own.version}/${own.kind}`, name]]
    })
  )

/** A schema that is registered in many groups, as a built-in group speaks of it: of the core and of itself. */
const narrowed = (schema: JsonObject, { group, version }: GroupVersion): JsonObject => {
  const all = (schema[groupVersionKind] ?? []) as ReadonlyArray<JsonObject>
  if (all.length < 2) return schema
  const core = all.filter((one) => one.group === "" && one.version === "v1")
  const own = group === "" ? [] : core.map(({ kind }) => ({ group, kind, version }))
  return { ...schema, [groupVersionKind]: [...core, ...own] }
}

const security = {
  BearerToken: { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" }
}

/** The document of a group version that is served. */
export const document = (state: State, data: OpenApiData, one: GroupVersion): JsonObject => {
  const names = namesOf(data)
  const nameOf = (kind: string): string => names.get(`${one.group}/${one.version}/${kind}`)!
  const schemas: Record<string, JsonObject> = {}
  const paths: Record<string, unknown> = {}
  for (const definition of subjectsOf(state, one)) {
    const { kind, listKind } = definition
    const [schema, listSchema] = one.custom
      ? [schemaName(definition), schemaName({ ...definition, kind: listKind })]
      : [nameOf(kind), nameOf(listKind)]
    if ("schema" in definition && one.custom) Object.assign(schemas, customSchemas(definition))
    Object.assign(paths, pathsOf({ definition, schema, listSchema, parameters: data.parameters }))
  }
  const open = [...refsIn(paths), ...refsIn(schemas)]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const found = data.definitions[name]
    if (schemas[name] !== undefined || found === undefined) continue
    schemas[name] = one.custom ? found : narrowed(found, one)
    open.push(...refsIn(found))
  }
  return {
    openapi: "3.0.0",
    info: one.custom
      ? { title: "Kubernetes CRD Swagger", version: "v0.1.0" }
      : { title: "Kubernetes", version: data.release.replace(/^v(\d+\.\d+)\..*$/, "$1") },
    paths,
    components: { schemas, ...(!one.custom && { securitySchemes: security }) }
  }
}
