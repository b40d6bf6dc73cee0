/** Structural schemas: what they are, what they make of values, what they refuse, and which of them may be served. */
export { isObject, type JsonObject } from "./json.ts"
export type { Schema } from "./schema.ts"
export { check, type CheckOptions } from "./schemaCheck.ts"
export { applyDefaults, dropNulls, prune } from "./schemaShaping.ts"
export { hasRules, validate, type ValidationOptions } from "./schemaValidation.ts"
