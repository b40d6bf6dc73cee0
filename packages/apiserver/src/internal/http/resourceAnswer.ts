/** Answers requests of objects and collections: through the machine, in the form that the client accepts. */
import type * as http from "node:http"
import { formatResource } from "@fixpoint/core/ApiClient"
import type { Operation, Verb } from "@fixpoint/core/ApiError"
import * as Effect from "effect/Effect"
import * as Exchange from "../exchange.ts"
import * as Refusal from "../refusal.ts"
import type { Method, Response } from "../request.ts"
import { definitionAt } from "../state.ts"
import * as Accept from "./accept.ts"
import { conduct, send, sendRefusal } from "./answering.ts"
import type { Body } from "./body.ts"
import type { ResourceTarget } from "./path.ts"
import * as Shaping from "./shaping.ts"
import type { Site, Visit } from "./site.ts"
import { answerWatch } from "./watchAnswer.ts"

const operationOf = (verb: string, target: ResourceTarget): Operation => ({
  verb: (verb === "update" ? "replace" : verb) as Verb,
  resource: formatResource(target, target.subresource),
  ...(target.name !== undefined && { ref: { namespace: target.namespace, name: target.name } })
})

const requestOf = (
  { incoming, url, user }: Visit,
  { group, name, namespace, plural, subresource, version, watched }: ResourceTarget,
  body: Body | undefined
): Exchange.Unstamped => {
  const headers: http.IncomingHttpHeaders = incoming.headers
  return {
    // Custom resources answer a HEAD as a GET, whose body Node leaves out.
    method: incoming.method === "HEAD" ? "GET" : (incoming.method as Method),
    group,
    version,
    plural,
    namespace,
    name: watched ? undefined : name,
    subresource,
    // The old form of a watch of one object.
    query: watched && name !== undefined ? { ...url.query, fieldSelector: `metadata.name=${name}` } : url.query,
    ...body,
    contentType: headers["content-type"]?.toLowerCase(),
    userAgent: headers["user-agent"] ?? "",
    user
  }
}

/** Through the hooks if there are any, and else at a stroke. */
const answerOnce = (
  site: Site,
  visit: Visit,
  operation: Operation,
  request: Exchange.Unstamped,
  answered: (response: Response) => void
): void => {
  const { running } = site
  if (!running.calls.hooked()) return answered(Exchange.answerNow(running, operation, request, site.now()))
  conduct(site, visit, Effect.map(Exchange.answer(running, operation, request), answered))
}

/** May throw a Refusal. */
export const answerResource = (site: Site, visit: Visit, target: ResourceTarget, body: Body | undefined): void => {
  const { incoming, url, verb } = visit
  const { group, plural, version } = target
  const { accept } = incoming.headers
  // A CRD that goes with this very request still says how its objects are shown.
  const definition = definitionAt(site.running.server.state, group, version, plural)
  const custom = definition?.custom === true
  const form = Accept.negotiate(accept, { custom, stream: verb === "watch" })
  if (form === undefined)
    throw Refusal.notAcceptable(Accept.notAcceptable(accept ?? "", custom, verb === "list" || verb === "watch"))
  const operation = operationOf(verb, target)
  const request = requestOf(visit, target, body)
  if (verb === "watch") {
    const shown = Shaping.shapeEvents(form, url.query, site.now)
    return answerWatch(site, visit, operation, request, shown)
  }
  answerOnce(site, visit, operation, request, (response) => {
    try {
      send(site, visit, Shaping.shapeAnswer(definition, response, form, url.query, site.now()), form)
    } catch (refusal) {
      if (!(refusal instanceof Refusal.Refusal)) throw refusal
      sendRefusal(site, visit, refusal)
    }
  })
}
