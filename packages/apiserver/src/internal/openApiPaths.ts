/**
 * The operations of a kind, as OpenAPI describes them: clients look there for what a PATCH may take.
 *
 * Caveat: those of built-in kinds are described as those of custom ones, without the media types and paths that this server does not have.
 */
import type { Definition } from "./definition.ts"
import type { JsonObject } from "./json.ts"

/** Parameters of requests as a real server describes them, by name. */
export type Parameters = Readonly<Record<string, JsonObject>>

/** What of a kind its operations depend on. */
export type Subject = Pick<
  Definition,
  "apiVersion" | "custom" | "group" | "hasStatus" | "kind" | "namespaced" | "plural" | "scale" | "verbs" | "version"
>

interface Context {
  readonly definition: Subject
  /** The names of the schemas of the kind and of its list: `com.example.facts.v1.Widget`. */
  readonly schema: string
  readonly listSchema: string
  readonly parameters: Parameters
}

const meta = (name: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`
const scaleSchema = "io.k8s.api.autoscaling.v1.Scale"

export const refTo = (schema: string): JsonObject => ({ $ref: `#/components/schemas/${schema}` })

const content = (schema: string, types: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(types.map((type) => [type, { schema: refTo(schema) }]))

const media = ["application/json", "application/yaml"]
const patches = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"]
const strategic = "application/strategic-merge-patch+json"

const descriptions: Readonly<Record<string, string>> = { 200: "OK", 201: "Created", 202: "Accepted" }

const responses = (schema: string, codes: ReadonlyArray<number>): JsonObject => ({
  ...Object.fromEntries(
    codes.map((code) => [code, { description: descriptions[code], content: content(schema, media) }])
  ),
  401: { description: "Unauthorized" }
})

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `factsExampleCom` of facts.example.com, `core` of the core group. A group of Kubernetes' own goes by its first part. */
const groupWord = (group: string): string => {
  const [first = "", ...others] = (group === "" ? "core" : group.replace(/\.k8s\.io$/, "")).split(".")
  return first + others.map(capital).join("")
}

const inQuery = ({ parameters }: Context, names: ReadonlyArray<string>): ReadonlyArray<JsonObject> =>
  names.map((name) => parameters[name]!)

const listing = [
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "shardSelector",
  "timeoutSeconds",
  "watch"
]
const writing = ["dryRun", "fieldManager", "fieldValidation"]
const patching = ["dryRun", "fieldManager of patch", "fieldValidation", "force"]
const deleting = [
  "dryRun",
  "gracePeriodSeconds",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
  "orphanDependents",
  "propagationPolicy"
]

interface Sketch {
  readonly action: string
  /** What is done, before and after the name of the kind: `listFactsExampleComV1NamespacedWidget`. */
  readonly id: readonly [verb: string, suffix: string]
  readonly description: string
  readonly query: ReadonlyArray<string>
  readonly body?: { readonly schema: string; readonly types: ReadonlyArray<string>; readonly required: boolean }
  readonly answers: { readonly schema: string; readonly codes: ReadonlyArray<number> }
  readonly kind?: JsonObject
}

const operation = (context: Context, { action, answers, body, description, id, kind, query }: Sketch): JsonObject => {
  const { group, kind: own, namespaced, version } = context.definition
  const [verb, suffix] = id
  const scope = namespaced && suffix !== "ForAllNamespaces" ? "Namespaced" : ""
  const parameters = inQuery(context, query)
  return {
    tags: [`${groupWord(group)}_${version}`],
    description,
    operationId: `${verb.replace("@", capital(groupWord(group)) + capital(version))}${scope}${own}${suffix}`,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { content: content(body.schema, body.types), ...(body.required && { required: true }) }
    }),
    responses: responses(answers.schema, answers.codes),
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kind ?? { group, version, kind: own }
  }
}

/** `a Widget`, `an Ingress`. */
const one = (kind: string): string => `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`

const list = (context: Context, suffix: string): JsonObject => {
  const { definition, listSchema } = context
  return operation(context, {
    action: "list",
    id: ["list@", suffix],
    description: `${definition.custom ? "list" : "list or watch"} objects of kind ${definition.kind}`,
    query: suffix === "" ? listing : [],
    answers: { schema: listSchema, codes: [200] }
  })
}

const collection = (context: Context): JsonObject => {
  const { definition, schema } = context
  const { kind, verbs } = definition
  return {
    ...(verbs.includes("list") && { get: list(context, "") }),
    post: operation(context, {
      action: "post",
      id: ["create@", ""],
      description: `create ${one(kind)}`,
      query: writing,
      body: { schema, types: media, required: true },
      answers: { schema, codes: [200, 201, 202] }
    }),
    ...(verbs.includes("deletecollection") && {
      delete: operation(context, {
        action: "deletecollection",
        id: ["delete@Collection", ""],
        description: `delete collection of ${kind}`,
        query: listing,
        answers: { schema: meta("Status"), codes: [200] }
      })
    })
  }
}

/** Reading and writing one object, or one of its subresources. */
const object = (context: Context, subresource: "" | "scale" | "status"): JsonObject => {
  const { custom, kind } = context.definition
  const schema = subresource === "scale" ? scaleSchema : context.schema
  const what = subresource === "" ? `the specified ${kind}` : `${subresource} of the specified ${kind}`
  const suffix = capital(subresource)
  const taken =
    subresource === "scale" && !custom ? { kind: { group: "autoscaling", version: "v1", kind: "Scale" } } : {}
  return {
    get: operation(context, {
      action: "get",
      id: ["read@", suffix],
      description: `read ${what}`,
      query: custom ? ["resourceVersion"] : [],
      answers: { schema, codes: [200] },
      ...taken
    }),
    put: operation(context, {
      action: "put",
      id: ["replace@", suffix],
      description: `replace ${what}`,
      query: writing,
      body: { schema, types: media, required: true },
      answers: { schema, codes: [200, 201] },
      ...taken
    }),
    patch: operation(context, {
      action: "patch",
      id: ["patch@", suffix],
      description: `partially update ${what}`,
      query: patching,
      body: { schema: meta("Patch"), types: custom ? patches : [...patches, strategic], required: true },
      answers: { schema, codes: custom ? [200] : [200, 201] },
      ...taken
    })
  }
}

const remove = (context: Context): JsonObject => ({
  delete: operation(context, {
    action: "delete",
    id: ["delete@", ""],
    description: `delete ${one(context.definition.kind)}`,
    query: deleting,
    body: { schema: meta("DeleteOptions"), types: media, required: false },
    answers: { schema: meta("Status"), codes: [200, 202] }
  })
})

const nameParameter = (kind: string): JsonObject => ({
  name: "name",
  in: "path",
  description: `name of the ${kind}`,
  required: true,
  schema: { type: "string", uniqueItems: true }
})

/** Every path of a kind with what may be done there. */
export const pathsOf = (context: Context): JsonObject => {
  const { definition } = context
  const { apiVersion, group, hasStatus, kind, namespaced, plural, scale } = definition
  const root = `/${group === "" ? "api" : "apis"}/${apiVersion}`
  const place = namespaced ? ["namespace"] : []
  const all = `${root}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}`
  const each = `${all}/{name}`
  const ofOne = { parameters: [nameParameter(kind), ...inQuery(context, [...place, "pretty"])] }
  const whole = {
    [all]: { ...collection(context), parameters: inQuery(context, [...place, "pretty"]) }
  }
  if (!definition.verbs.includes("get")) return whole
  return {
    ...whole,
    [each]: { ...object(context, ""), ...remove(context), ...ofOne },
    ...(hasStatus && { [`${each}/status`]: { ...object(context, "status"), ...ofOne } }),
    ...(scale !== undefined && { [`${each}/scale`]: { ...object(context, "scale"), ...ofOne } }),
    ...(namespaced && {
      [`${root}/${plural}`]: {
        get: list(context, "ForAllNamespaces"),
        parameters: inQuery(context, [...listing, "pretty"].toSorted())
      }
    })
  }
}
