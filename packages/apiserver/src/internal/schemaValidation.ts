/** Validation of values against structural schemas, with the server's texts (F133). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { Schema } from "./structuralSchema.ts"

export const validate = (_schema: Schema, _value: unknown, _old?: unknown): ReadonlyArray<StatusCause> => []
