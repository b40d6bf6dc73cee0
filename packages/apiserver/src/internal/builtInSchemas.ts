/** Schemas of the built-in kinds, reduced from the OpenAPI documents of a real server. */
import type { Resource } from "@fixpoint/core/KubeObject"
import type { Schema } from "./structuralSchema.ts"

/** Undefined if the kind is not among those that the data has. */
export const builtInSchema = (_resource: Pick<Resource, "group" | "version" | "kind">): Schema | undefined => undefined
