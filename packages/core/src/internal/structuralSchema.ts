/**
 * From the JSON Schema that Effect prints to the structural schema that a CRD may hold. What cannot be said there is refused, with the path and
 * the mend, when the manifest is made and not by the API server (C12, F144).
 */
import * as Schema from "effect/Schema"
import type { JsonSchema } from "../ApiClient.ts"

interface Node extends JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly anyOf?: ReadonlyArray<Node>
  readonly allOf?: ReadonlyArray<Node>
  readonly not?: Node
  readonly items?: Node
  readonly prefixItems?: ReadonlyArray<Node>
  readonly properties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: boolean | Node
  readonly minimum?: number
  readonly maximum?: number
}

/** Thrown while a manifest is made: a mistake of the program, told in one line. */
class UnstructuralSchema extends Error {
  override readonly name = "UnstructuralSchema"
}

const refuse = (path: string, what: string, mend: string): never => {
  throw new UnstructuralSchema(`${path === "" ? "the schema" : path}: a CRD cannot hold ${what}: ${mend}`)
}

/** The structural schema of a codec's encoded side. Throws `UnstructuralSchema`. */
export const fromCodec = (codec: Schema.Codec<any, any>): JsonSchema => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(codec, {
    includeAnnotationKey: (key) => key.startsWith("x-kubernetes-")
  })
  return new Conversion(definitions as Readonly<Record<string, Node>>).node(schema as Node, "", [])
}

class Conversion {
  private readonly definitions: Readonly<Record<string, Node>>

  constructor(definitions: Readonly<Record<string, Node>>) {
    this.definitions = definitions
  }

  node(node: Node, path: string, open: ReadonlyArray<string>): JsonSchema {
    if (node.$ref !== undefined) {
      const name = node.$ref.split("/").at(-1)!
      if (open.includes(name))
        refuse(path, "a recursive type", "use Schema.Unknown for the inner part, or name the levels")
      const { $ref: _, ...beside } = node
      return this.node({ ...this.definitions[name], ...beside }, path, [...open, name])
    }
    if (node.prefixItems !== undefined) refuse(path, "a tuple", "use a struct with named fields")
    if (node.anyOf !== undefined) return this.union(node, node.anyOf, path, open)
    if (node.allOf !== undefined) return this.node(merged(node, node.allOf), path, open)
    // A struct without fields: anything but null to the codec, an object to everyone else.
    if (node.type === undefined && node.not?.type === "null") return { type: "object" }
    const { additionalProperties, items, maximum, minimum, properties, type, ...rest } = node
    if (type === undefined) return { ...rest, "x-kubernetes-preserve-unknown-fields": true }
    if (type === "null") refuse(path, "a field that is always null", "leave it out")
    return {
      type,
      ...rest,
      // Effect prints the bounds of safe integers for every Int; they are the codec's, not the author's.
      ...(type === "integer" && { format: "int64" }),
      ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
      ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER && { minimum }),
      ...(items !== undefined && { items: this.node(items, `${path}[]`, open) }),
      ...(properties !== undefined && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([key, value]) => [
            key,
            this.node(value, path === "" ? key : `${path}.${key}`, open)
          ])
        )
      }),
      // Beside properties it would be refused by the server (F144) and means nothing here: unknown fields are pruned.
      ...(typeof additionalProperties === "object" &&
        properties === undefined && { additionalProperties: this.node(additionalProperties, `${path}{}`, open) })
    }
  }

  private union(node: Node, branches: ReadonlyArray<Node>, path: string, open: ReadonlyArray<string>): JsonSchema {
    const { anyOf: _, ...beside } = node
    const some = branches.filter((branch) => branch.type !== "null")
    const rest = some.length < branches.length ? { ...beside, nullable: true } : beside
    if (some.length === 1) return { ...this.node(some[0]!, path, open), ...rest }
    const types = some
      .map((branch) => branch.type ?? "")
      .sort()
      .join()
    if (types === "integer,string") return { ...rest, "x-kubernetes-int-or-string": true }
    if (types.startsWith("number,string")) return refuse(path, "NaN and Infinity", "use Schema.Finite or Schema.Int")
    const enums = some.flatMap((branch) =>
      Array.isArray(branch.enum) && branch.type === "string" ? branch.enum : [undefined]
    )
    if (!enums.includes(undefined)) return { ...rest, type: "string", enum: enums }
    return refuse(path, "a union of shapes", "use one struct with optional fields")
  }
}

// Several checks on one value are printed as allOf; a structural schema wants them beside the type. The later of two equal words would hide the
// earlier, so the stricter bound is kept.
const merged = (node: Node, parts: ReadonlyArray<Node>): Node => {
  const { allOf: _, ...own } = node
  const result: Record<string, unknown> = { ...own }
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) {
      const before = result[key]
      if (typeof before === "number" && typeof value === "number")
        result[key] =
          key.startsWith("min") || key === "exclusiveMinimum" ? Math.max(before, value) : Math.min(before, value)
      else if (key === "pattern" && typeof before === "string") result[key] = `(?=${before})${String(value)}`
      else result[key] = value
    }
  }
  return result
}
