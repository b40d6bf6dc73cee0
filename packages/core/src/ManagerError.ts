/** Why a Manager does not start. */
import { Failure } from "./internal/failure.ts"

/**
 * Ends the program: no retry mends it.
 *
 * - `DuplicateController`: two controllers of one name.
 * - `StatusWrittenTwice`: two controllers of one kind whose status they write, not kept apart by `namespaces`.
 * - `StatusSubresourceMissing`: the CRD has no status subresource, so each status write would raise the generation (B48, X14).
 * - `ScopeDiffers`: the CRD is namespaced and the Kind is not, or the other way.
 *
 * The last two do not end a program whose CRD was installed after its start: its controller waits until the CRD is mended, and says so.
 */
export class ManagerError extends Failure("ManagerError")<{
  readonly reason: {
    readonly _tag: "DuplicateController" | "StatusWrittenTwice" | "StatusSubresourceMissing" | "ScopeDiffers"
    readonly message: string
  }
}> {
  override get message(): string {
    return this.reason.message
  }
}
