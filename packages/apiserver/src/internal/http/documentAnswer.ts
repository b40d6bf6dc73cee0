/** Answers what is no resource: health, metrics, discovery, the version and the schemas. */
import * as Effect from "effect/Effect"
import { documentAt, type Document } from "../documents.ts"
import * as Exchange from "../exchange.ts"
import { conduct, sendBytes } from "./answering.ts"
import type { Site, Visit } from "./site.ts"

const plainText = "text/plain; charset=utf-8"
const metricsText = "text/plain; version=0.0.4; charset=utf-8"

const text = (site: Site, visit: Visit, code: number, body: string, contentType = plainText): void =>
  sendBytes(site, visit, { code, warnings: [] }, { contentType, bytes: Buffer.from(body) })

const sendDocument = (site: Site, visit: Visit, found: Document | undefined): void => {
  if (found === undefined) return text(site, visit, 404, "404 page not found\n")
  const { body, cacheControl, code, contentType, etag, location } = found
  const headers: Record<string, string> = {
    Vary: "Accept",
    ...(etag !== undefined && { Etag: etag }),
    ...(cacheControl !== undefined && { "Cache-Control": cacheControl }),
    ...(location !== undefined && { Location: location })
  }
  if (code === 200 && etag !== undefined && visit.incoming.headers["if-none-match"] === etag) {
    return sendBytes(site, visit, { code: 304, warnings: [] }, { contentType, bytes: Buffer.alloc(0) }, headers)
  }
  const bytes =
    body instanceof Uint8Array
      ? Buffer.from(body.buffer, body.byteOffset, body.length)
      : Buffer.from(typeof body === "string" ? body : `${JSON.stringify(body)}\n`)
  sendBytes(site, visit, { code, warnings: [] }, { contentType, bytes }, headers)
}

const health = /^\/(?:healthz|livez|readyz)(?:\/|$)/

/** Of documents there are copies to read and none to write: any other method finds nothing. */
export const answerDocument = (site: Site, visit: Visit): void => {
  const { incoming, url } = visit
  const { path } = url
  if (health.test(path)) return text(site, visit, 200, "ok")
  if (path === "/metrics") return text(site, visit, 200, site.metrics.text(), metricsText)
  if (incoming.method !== "GET" && incoming.method !== "HEAD") return sendDocument(site, visit, undefined)
  const { server } = site.running
  const request = { path, query: url.query, accept: incoming.headers.accept, address: incoming.headers.host }
  const reading = Exchange.read(
    site.running,
    { verb: "discover", resource: path },
    Effect.suspend(() => documentAt(server.state, request))
  )
  conduct(
    site,
    visit,
    Effect.map(reading, (found) => sendDocument(site, visit, found))
  )
}
