/** Why a Manager does not start. */
import { Failure } from "./internal/failure.ts"

/**
 * Ends the program: no retry mends it.
 *
 * - `DuplicateController`: two controllers of one name.
 * - `StatusWrittenTwice`: two controllers of one kind whose status they write, not kept apart by `namespaces`.
 * - `StatusSubresourceMissing`: the CRD has no status subresource, so each status write would raise the generation (B48, X14).
 */
export class ManagerError extends Failure("ManagerError")<{
  readonly reason: {
    readonly _tag: "DuplicateController" | "StatusWrittenTwice" | "StatusSubresourceMissing"
    readonly message: string
  }
}> {
  override get message(): string {
    return this.reason.message
  }
}
