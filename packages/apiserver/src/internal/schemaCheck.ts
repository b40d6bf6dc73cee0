/** Which schemas a CustomResourceDefinition may bear (F144, F145, F146). */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { Schema } from "./structuralSchema.ts"

export const check = (_schema: Schema): ReadonlyArray<StatusCause> => []
