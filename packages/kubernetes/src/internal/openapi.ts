/** Takes one schema out of an OpenAPI v3 document, pure (F170). */
import type { JsonSchema } from "@fixpoint/core/ApiClient"
import type { Resource } from "@fixpoint/core/KubeObject"
import { apiVersion } from "@fixpoint/core/KubeObject"
import { isRecord } from "./stored.ts"

/** The path of the document of a group and version, from the index; undefined if there is none. */
export const documentPath = (
  index: unknown,
  { group, version }: Pick<Resource, "group" | "version">
): string | undefined => {
  const paths = isRecord(index) ? index.paths : undefined
  const entry = isRecord(paths) ? paths[group === "" ? `api/${version}` : `apis/${group}/${version}`] : undefined
  const url = isRecord(entry) ? entry.serverRelativeURL : undefined
  // Only a path of the same server: no document may send us, and our token, elsewhere.
  return typeof url === "string" && url.startsWith("/") && !url.startsWith("//") ? url : undefined
}

const isOf = (schema: unknown, resource: Pick<Resource, "group" | "version" | "kind">): boolean => {
  const kinds = isRecord(schema) ? schema["x-kubernetes-group-version-kind"] : undefined
  return (
    Array.isArray(kinds) &&
    kinds.some(
      (kind) =>
        isRecord(kind) &&
        kind.group === resource.group &&
        kind.version === resource.version &&
        kind.kind === resource.kind
    )
  )
}

const prefix = "#/components/schemas/"

/** What stands for a schema that holds itself (JSONSchemaProps), or one that the document lacks: anything. */
const anything: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true }

/**
 * The schema of a kind with all `$ref`s followed; undefined if the document has none. Kubernetes writes a reference with a default or a text as
 * `allOf: [{ $ref }]`: that is folded into its place. The same reference is the same value, so a schema that is used often is kept once.
 */
export const schemaOf = (
  document: unknown,
  resource: Pick<Resource, "group" | "version" | "kind">
): JsonSchema | undefined => {
  const components = isRecord(document) ? document.components : undefined
  const schemas = isRecord(components) && isRecord(components.schemas) ? components.schemas : {}
  const found = Object.entries(schemas).find(([, schema]) => isOf(schema, resource))
  if (found === undefined) return undefined
  const done = new Map<string, JsonSchema>()
  const within = new Set<string>()

  const follow = (name: string): JsonSchema => {
    const known = done.get(name)
    if (known !== undefined) return known
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
    if (within.has(name) || !isRecord(schema)) return anything
    within.add(name)
    const resolved = resolve(schema) as JsonSchema
    within.delete(name)
    done.set(name, resolved)
    return resolved
  }

  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve)
    if (!isRecord(node)) return node
    const { $ref: ref, allOf, ...own } = node
    if (typeof ref === "string" && ref.startsWith(prefix)) {
      return { ...follow(ref.slice(prefix.length)), ...(resolve(own) as JsonSchema) }
    }
    const only: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
    if (isRecord(only) && typeof only.$ref === "string") {
      return { ...(resolve(only) as JsonSchema), ...(resolve(own) as JsonSchema) }
    }
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]))
  }

  return follow(found[0])
}

/** How messages name a kind whose plural is not known. */
export const kindName = (resource: Pick<Resource, "group" | "version" | "kind">): string =>
  `${resource.kind} (${apiVersion(resource)})`
