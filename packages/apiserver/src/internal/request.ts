/** A request as HTTP bears it, read but not judged, and its answer: what a listener on a socket would make of bytes. */
import type { Status } from "@fixpoint/core/ApiError"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Request {
  readonly method: Method
  /** `""` is the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
  readonly query: Readonly<Record<string, string | undefined>>
  /** The parsed body. Undefined if there was none. */
  readonly body?: unknown
  /** Of the body, in bytes; reckoned from the body if absent and needed. */
  readonly bodyBytes?: number
  readonly contentType?: string | undefined
  /** Paths of JSON keys that occurred twice in the body, if the listener looked (F26). */
  readonly duplicates?: ReadonlyArray<string>
  /** Why the body is none that can be read, in Go's words, and its beginning, if the listener found it so. `body` is absent then. */
  readonly unreadable?: { readonly why: string; readonly quoted: string }
  readonly userAgent: string
  /** Who asks. Default: an admin. */
  readonly user?: { readonly name: string; readonly groups: ReadonlyArray<string>; readonly uid?: string }
  /** Milliseconds since 1970. */
  readonly now: number
  /** Any 32-bit number: all that the server draws by chance comes from it. */
  readonly seed: number
}

export interface Response {
  readonly code: number
  /** An object, a list or a Status; text where the server answers text. */
  readonly body: unknown
  /** Texts of Warning headers, without the code 299 (F25). */
  readonly warnings: ReadonlyArray<string>
  readonly retryAfterSeconds?: number
  /** The items of this list go without apiVersion and kind over the wire (F34). */
  readonly bareItems?: boolean
}

export const isStatus = (body: unknown): body is Status =>
  typeof body === "object" && body !== null && (body as { kind?: unknown }).kind === "Status"
