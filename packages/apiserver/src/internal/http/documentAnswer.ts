/** Answers what is no resource: health, metrics, discovery, the version and the schemas. */
import * as Effect from "effect/Effect"
import { documentAt, type Document } from "../documents.ts"
import * as Discovery from "../discovery.ts"
import * as Exchange from "../exchange.ts"
import * as Refusal from "../refusal.ts"
import { conduct, send, sendBody, sendRefusal } from "./answering.ts"
import type { Site, Visit } from "./site.ts"

const plainText = "text/plain; charset=utf-8"
const metricsText = "text/plain; version=0.0.4; charset=utf-8"

const text = (site: Site, visit: Visit, code: number, body: string, contentType = plainText): void =>
  sendBody(site, visit, { code, warnings: [] }, { contentType, body })

const sendDocument = (site: Site, visit: Visit, found: Document | undefined): void => {
  if (found === undefined) return text(site, visit, 404, "404 page not found\n")
  const { body, cacheControl, code, contentType, etag, location } = found
  const headers: Record<string, string> = {
    ...(/^\/apis?$/.test(visit.url.path) && { Vary: "Accept" }),
    ...(etag !== undefined && { Etag: etag }),
    ...(cacheControl !== undefined && { "Cache-Control": cacheControl }),
    ...(location !== undefined && { Location: location })
  }
  if (code === 200 && etag !== undefined && visit.incoming.headers["if-none-match"] === etag) {
    return sendBody(site, visit, { code: 304, warnings: [] }, { contentType, body: "" }, headers)
  }
  const sent =
    body instanceof Uint8Array
      ? Buffer.from(body.buffer, body.byteOffset, body.length)
      : typeof body === "string"
        ? body
        : `${JSON.stringify(body)}\n`
  sendBody(site, visit, { code, warnings: [] }, { contentType, body: sent }, headers)
}

/** The paths that there are. */
const sendRoot = (site: Site, visit: Visit): void => {
  const served = Discovery.groupVersionsOf(site.running.server.state).filter(({ group }) => group !== "")
  const paths = [
    ..."/api /api/v1 /apis /apis/ /healthz /livez /metrics /openapi/v2 /openapi/v3 /readyz /version".split(" "),
    ...served.flatMap(({ group, version }) => [`/apis/${group}`, `/apis/${group}/${version}`])
  ]
  send(site, visit, { code: 200, body: { paths: [...new Set(paths)].toSorted() }, warnings: [] })
}

const health = /^\/(?:healthz|livez|readyz)(?:\/(?:ping|log|etcd))?$/

/** Of documents there are copies to read and none to write. */
export const answerDocument = (site: Site, visit: Visit): void => {
  const { incoming, url } = visit
  const { path } = url
  if (health.test(path)) return text(site, visit, 200, "ok")
  if (path === "/metrics") return text(site, visit, 200, site.metrics.text(), metricsText)
  if (path === "/") return sendRoot(site, visit)
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
    Effect.map(reading, (found) => {
      if (found === undefined || incoming.method === "GET") sendDocument(site, visit, found)
      else sendRefusal(site, visit, Refusal.methodNotAllowed())
    })
  )
}
