/** What becomes of one HTTP request: who asks, what for, and which part of the server answers. */
import { randomUUID } from "node:crypto"
import type * as http from "node:http"
import type { ApiError, Operation, Verb } from "@fixpoint/core/ApiError"
import { formatResource } from "@fixpoint/core/ApiClient"
import * as Effect from "effect/Effect"
import * as Exchange from "../exchange.ts"
import * as Refusal from "../refusal.ts"
import type { Method, Response } from "../request.ts"
import { definitionAt } from "../state.ts"
import * as Accept from "./accept.ts"
import * as Access from "./access.ts"
import { breakOff, send, sendFailure } from "./answering.ts"
import * as Body from "./body.ts"
import { answerDocument } from "./documentAnswer.ts"
import { parseUrl, type ResourceTarget, type Url } from "./path.ts"
import { readBody } from "./reading.ts"
import type { Site, Visit } from "./site.ts"
import { answerWatch } from "./watchAnswer.ts"

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"])

const refused = ({ body, code, retryAfterSeconds }: Refusal.Refusal): Response => ({
  code,
  body,
  warnings: [],
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds })
})

const isOn = (flag: string | undefined): boolean => flag !== undefined && flag !== "false" && flag !== "0"

const isApply = (contentType: string | undefined): boolean =>
  contentType?.startsWith("application/apply-patch") === true

/** As RBAC names what is asked; a watch of one object is a get (F64). */
const verbOf = (method: string, { query, target }: Url, contentType: string | undefined): string => {
  if (target._tag !== "Resource") return method.toLowerCase()
  switch (method) {
    case "GET":
      if (target.watched || (target.name === undefined && isOn(query.watch))) return "watch"
      return target.name === undefined ? "list" : "get"
    case "POST":
      return "create"
    case "PUT":
      return "update"
    case "PATCH":
      return isApply(contentType) ? "apply" : "patch"
    case "DELETE":
      return target.name === undefined ? "deletecollection" : "delete"
    default:
      return method.toLowerCase()
  }
}

const operationOf = (verb: string, target: ResourceTarget): Operation => ({
  verb: (verb === "update" ? "replace" : verb) as Verb,
  resource: formatResource(target, target.subresource),
  ...(target.name !== undefined && { ref: { namespace: target.namespace, name: target.name } })
})

/** Node joins a header that comes twice, or keeps the first; here one is as good as none. */
const header = (value: string | Array<string> | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

const idOf = ({ headers }: http.IncomingMessage): string => {
  const own = header(headers["audit-id"])
  return own !== undefined && own.length <= 64 && /^[\x21-\x7e]+$/.test(own) ? own : randomUUID()
}

/** The answer to a request of the machine, with hooks if there are any. */
const exchange = (
  site: Site,
  visit: Visit,
  operation: Operation,
  request: Exchange.Unstamped,
  answered: (response: Response) => void
): void => {
  const { running } = site
  if (!running.calls.hooked()) return answered(Exchange.answerNow(running, operation, request, site.now()))
  const fiber = site.fork(
    Exchange.answer(running, operation, request).pipe(
      Effect.matchEffect({
        onSuccess: (response) => Effect.sync(() => answered(response)),
        onFailure: (error: ApiError) => Effect.sync(() => sendFailure(site, visit, error))
      }),
      Effect.onInterrupt(() => Effect.sync(() => breakOff(site, visit)))
    )
  )
  visit.outgoing.once("close", () => fiber.interruptUnsafe())
}

const requestOf = (
  { incoming, url, user }: Visit,
  target: ResourceTarget,
  body: Body.Body | undefined
): Exchange.Unstamped => {
  const { group, name, namespace, plural, subresource, version } = target
  // The old form of a watch of one object.
  const query =
    target.watched && name !== undefined ? { ...url.query, fieldSelector: `metadata.name=${name}` } : url.query
  return {
    method: incoming.method as Method,
    group,
    version,
    plural,
    namespace,
    name: target.watched ? undefined : name,
    subresource,
    query,
    ...body,
    contentType: header(incoming.headers["content-type"]),
    userAgent: incoming.headers["user-agent"] ?? "",
    user
  }
}

const answerResource = (site: Site, visit: Visit, target: ResourceTarget, body: Body.Body | undefined): void => {
  const { incoming, verb } = visit
  const accept = header(incoming.headers.accept)
  const form = Accept.negotiate(accept, verb === "watch")
  const { group, plural, version } = target
  if (form === undefined) {
    const custom = definitionAt(site.running.server.state, group, version, plural)?.custom === true
    return send(site, visit, refused(Refusal.notAcceptable(Accept.notAcceptable(accept ?? "", custom))))
  }
  const operation = operationOf(verb, target)
  const request = requestOf(visit, target, body)
  if (verb !== "watch") {
    return exchange(site, visit, operation, request, (response) => send(site, visit, response, form))
  }
  answerWatch(
    site,
    visit,
    operation,
    request,
    { name: "json", shape: (object) => object },
    (response) => send(site, visit, response),
    (error) => sendFailure(site, visit, error)
  )
}

const answer = (site: Site, visit: Visit): void => {
  const { incoming, url, user, verb } = visit
  const { path, target } = url
  const forbidden = Access.refusal(user, verb, path, target)
  if (forbidden !== undefined) return send(site, visit, refused(forbidden))
  const method = incoming.method!
  if (target._tag === "Other") return answerDocument(site, visit)
  if (!methods.has(method)) return send(site, visit, refused(Refusal.methodNotAllowed()))
  if (method === "GET") return answerResource(site, visit, target, undefined)
  readBody(incoming, (bytes) => {
    const type = header(incoming.headers["content-type"])
    const body = typeof bytes === "number" ? { bodyBytes: bytes } : Body.parse(bytes, type)
    answerResource(site, visit, target, body)
  })
}

/** Answers one request. Never throws: a fault of ours is answered 500 and handed to `defect`. */
export const handle = (
  site: Site,
  defect: (error: unknown) => void
): ((incoming: http.IncomingMessage, outgoing: http.ServerResponse) => void) => {
  return (incoming, outgoing) => {
    const url = parseUrl(incoming.url ?? "")
    if (url === undefined) {
      outgoing.writeHead(400, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" })
      outgoing.end("400 Bad Request")
      return
    }
    const type = header(incoming.headers["content-type"])
    const user = site.userOf(incoming)
    const visit: Visit = {
      incoming,
      outgoing,
      url,
      user: user ?? Access.anonymous,
      verb: verbOf(incoming.method ?? "", url, type),
      auditId: idOf(incoming),
      began: performance.now()
    }
    try {
      if (user === undefined) send(site, visit, refused(Refusal.unauthorized()))
      else answer(site, visit)
    } catch (error) {
      defect(error)
      send(site, visit, refused(Refusal.internal(`Internal error occurred: ${String(error)}`)))
    }
  }
}
