/** Sends answers: headers as the real server sets them, gzip for large bodies, and the end of a connection where an answer is lost. */
import * as zlib from "node:zlib"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Refusal from "../refusal.ts"
import type { Response } from "../request.ts"
import * as Accept from "./accept.ts"
import { encode, type Encoded } from "./encoding.ts"
import { responseOf } from "./failure.ts"
import { conclude, type Site, type Visit } from "./site.ts"

/** Bodies of this many bytes and more are compressed for those who can read it (F167). */
const gzipLeast = 131_072

/** How long a sender whose body is not wanted has for reading the answer, before the connection goes. */
const lingerMillis = 1_000

/** Indented for those who ask, and for people with curl (F53). */
const isPretty = ({ incoming, url }: Visit, form: Accept.Form): boolean => {
  const wish = url.query.pretty
  if (wish !== undefined) return wish === "true" || wish === "1" || wish === ""
  return form.pretty || incoming.headers["user-agent"]?.startsWith("curl") === true
}

/** Header texts may not hold control characters, nor anything beyond Latin-1. */
const headerText = (text: string): string =>
  text.replaceAll(/[^\t\x20-\x7e]/g, (char) => encodeURIComponent(char.toWellFormed()))

const warningHeader = (text: string): string =>
  `299 - "${headerText(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`

/** All warnings of an answer together have so many characters; where they would have more, each is cut (as the real server does). */
const warningsMost = 4_096
const warningMost = 256

const warningsOf = (warnings: Response["warnings"]): Array<string> => {
  const whole = warnings.reduce((sum, { length }) => sum + length, 0) <= warningsMost
  let left = warningsMost
  const out: Array<string> = []
  for (const warning of warnings) {
    const text = whole ? warning : warning.slice(0, warningMost)
    left -= text.length
    if (left < 0) break
    out.push(warningHeader(text))
  }
  return out
}

/** The headers of every answer. */
export const headersOf = (
  { auditId }: Visit,
  { retryAfterSeconds, warnings }: Pick<Response, "warnings" | "retryAfterSeconds">,
  contentType: string
): Record<string, string | number | Array<string>> => ({
  "Audit-Id": auditId,
  "Cache-Control": "no-cache, private",
  "Content-Type": contentType,
  ...(warnings.length > 0 && { Warning: warningsOf(warnings) }),
  ...(retryAfterSeconds !== undefined && { "Retry-After": retryAfterSeconds })
})

const sniffless = (code: number, { contentType }: Encoded): boolean =>
  code === 403 || contentType.startsWith("text/plain")

/** Sends a body with the given headers beside those of every answer. */
export const sendBody = (
  site: Site,
  visit: Visit,
  response: Pick<Response, "code" | "warnings" | "retryAfterSeconds">,
  encoded: Encoded,
  further: Readonly<Record<string, string>> = {}
): void => {
  const { incoming, outgoing } = visit
  if (outgoing.destroyed || outgoing.headersSent) return
  const { code } = response
  const headers = { ...headersOf(visit, response, encoded.contentType), ...further }
  if (sniffless(code, encoded)) headers["X-Content-Type-Options"] = "nosniff"
  const { body } = encoded
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.length
  const finish = (sent: string | Buffer, bytes: number): void => {
    headers["Content-Length"] = bytes
    if (site.inbox.isUnread(incoming)) {
      outgoing.writeHead(code, { ...headers, Connection: "close" })
      outgoing.write(sent)
      // Closing at once would reset the connection under a sender that has not read this yet.
      setTimeout(() => outgoing.destroy(), lingerMillis).unref()
    } else {
      outgoing.writeHead(code, headers)
      site.outbox.send(outgoing, sent, bytes)
    }
    conclude(site, visit, code, bytes)
  }
  if (size < gzipLeast || !/\bgzip\b/.test(String(incoming.headers["accept-encoding"] ?? ""))) {
    return finish(body, size)
  }
  headers["Vary"] = "Accept-Encoding"
  zlib.gzip(body, { level: 1 }, (error, bytes) => {
    if (outgoing.destroyed) return
    if (error === null) headers["Content-Encoding"] = "gzip"
    if (error === null) finish(bytes, bytes.length)
    else finish(body, size)
  })
}

/** Sends the answer of a request. */
export const send = (site: Site, visit: Visit, response: Response, form: Accept.Form = Accept.json): void => {
  const { media } = form
  sendBody(site, visit, response, encode(response, { media, pretty: isPretty(visit, form) }))
}

/** Sends why not. */
export const sendRefusal = (site: Site, visit: Visit, { body, code, retryAfterSeconds }: Refusal.Refusal): void =>
  send(site, visit, { code, body, warnings: [], ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })

/** A fault of ours: it is logged, and the client is told that it was none of its own. */
export const sendDefect = (site: Site, visit: Visit, error: unknown): void => {
  site.fork(Effect.logError(`${visit.incoming.method} ${visit.url.path} met a fault of the API server`, error))
  const { outgoing } = visit
  if (outgoing.headersSent) outgoing.destroy()
  else sendRefusal(site, visit, Refusal.internal(`Internal error occurred: ${String(error)}`))
}

/**
 * Runs an effect that sends the answer. A hook's failure is an answer or a connection that breaks; so is an interruption, which is how a hook lets a
 * caller crash. A client that goes away ends it.
 */
export const conduct = (site: Site, visit: Visit, effect: Effect.Effect<void, ApiError>): void => {
  const fiber = site.fork(effect)
  fiber.addObserver((exit) => {
    if (Exit.isSuccess(exit)) return
    const error = Cause.findErrorOption(exit.cause)
    const response = Option.isSome(error) ? responseOf(error.value) : undefined
    if (response !== undefined) send(site, visit, response)
    else if (Option.isSome(error) || Cause.hasInterruptsOnly(exit.cause)) visit.incoming.socket.destroy()
    else sendDefect(site, visit, Cause.squash(exit.cause))
  })
  visit.outgoing.once("close", () => fiber.interruptUnsafe())
}
