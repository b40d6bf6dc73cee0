/** The answer over HTTP that makes a client see the very failure that a hook has given. */
import type { ApiError, Reason, Status } from "@fixpoint/core/ApiError"
import type { Response } from "../request.ts"

type Answered = Extract<Reason, { readonly code: number }>

/** The words of a Status, where they are not those of the tag. */
const words: Readonly<Partial<Record<Answered["_tag"], string>>> = {
  ApplyConflict: "Conflict",
  TestFailed: "Invalid",
  NamespaceTerminating: "Forbidden",
  ServerTimeout: "Timeout",
  ServerError: "InternalError"
}

/** Undefined if there is none: the connection breaks instead. */
export const responseOf = ({ reason, ref }: ApiError): Response | undefined => {
  if (reason._tag === "Unreachable") return undefined
  if (reason._tag === "Malformed") return { code: 200, body: reason.message, warnings: [] }
  const { _tag, causes, code, message, retryAfterMillis } = reason
  const retryAfterSeconds = retryAfterMillis === undefined ? undefined : Math.ceil(retryAfterMillis / 1_000)
  const body: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: _tag === "Expired" && reason.continueToken !== undefined ? { continue: reason.continueToken } : {},
    status: "Failure",
    message,
    ...(_tag !== "Refused" && { reason: words[_tag] ?? _tag }),
    details: {
      ...(_tag !== "TestFailed" && ref !== undefined && { name: ref.name }),
      ...(causes.length > 0 && { causes }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds })
    },
    code
  }
  return { code, body, warnings: [], ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
}
