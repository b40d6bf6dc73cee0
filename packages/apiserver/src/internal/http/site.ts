/** What all requests of one listener share, and what each of them is. */
import type * as http from "node:http"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { AuditEntry } from "../../Listener.ts"
import type { Running } from "../exchange.ts"
import type { User } from "./access.ts"
import type { makeEventLines } from "./encoding.ts"
import type { Lane, Turns } from "./fairness.ts"
import type { Metrics } from "./metrics.ts"
import type { Inbox } from "./reading.ts"
import type { Outbox } from "./outbox.ts"
import type { Url } from "./path.ts"

export interface Site {
  readonly running: Running
  /** Milliseconds since 1970, by the clock of the server. */
  readonly now: () => number
  readonly fork: <E>(effect: Effect.Effect<void, E>) => Fiber.Fiber<void, E>
  /** Undefined: nobody has that token (401). */
  readonly userOf: (incoming: http.IncomingMessage) => User | undefined
  readonly audit: ((entry: AuditEntry) => void) | undefined
  readonly metrics: Metrics
  readonly inbox: Inbox
  readonly outbox: Outbox
  readonly lane: Lane
  readonly turns: Turns
  /** Ends each open watch cleanly. */
  readonly watches: Set<() => void>
  readonly eventLine: ReturnType<typeof makeEventLines>
}

/** One request on its way. */
export interface Visit {
  readonly incoming: http.IncomingMessage
  readonly outgoing: http.ServerResponse
  readonly url: Url
  readonly user: User
  /** As RBAC and metrics name it: get, list, watch, create, update, patch, apply, delete, deletecollection; of other paths the method. */
  readonly verb: string
  readonly auditId: string
  /** By the monotonic clock, in milliseconds. */
  readonly began: number
}

/** Counts a request that is over and tells the audit. */
export const conclude = (
  site: Site,
  { began, incoming, url, user, verb }: Visit,
  code: number,
  bytes: number
): void => {
  site.metrics.count(url.target, verb, code)
  site.audit?.({
    verb,
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    user: user.name,
    userAgent: incoming.headers["user-agent"] ?? "",
    code,
    millis: performance.now() - began,
    bytes
  })
}
