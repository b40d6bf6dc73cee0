/** What becomes of one HTTP request: who asks, what for, and which part of the server answers. */
import { randomUUID } from "node:crypto"
import type * as http from "node:http"
import * as Refusal from "../refusal.ts"
import * as Access from "./access.ts"
import { sendDefect, sendRefusal } from "./answering.ts"
import * as Body from "./body.ts"
import { answerDocument } from "./documentAnswer.ts"
import { parseUrl, type Url } from "./path.ts"
import { readBody } from "./reading.ts"
import { answerResource } from "./resourceAnswer.ts"
import type { Site, Visit } from "./site.ts"

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"])

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

const idOf = ({ headers }: http.IncomingMessage): string => {
  const own = headers["audit-id"]
  return typeof own === "string" && own.length <= 64 && /^[\x21-\x7e]+$/.test(own) ? own : randomUUID()
}

/** May throw a Refusal. */
const answer = (site: Site, visit: Visit, guarded: (f: () => void) => void): void => {
  const { incoming, url, user, verb } = visit
  const { path, target } = url
  const forbidden = Access.refusal(user, verb, path, target)
  if (forbidden !== undefined) throw forbidden
  const method = incoming.method!
  if (target._tag === "Other") return answerDocument(site, visit)
  if (!methods.has(method)) throw Refusal.methodNotAllowed()
  if (method === "GET") return answerResource(site, visit, target, undefined)
  readBody(incoming, (bytes) =>
    guarded(() => {
      const type = incoming.headers["content-type"]
      const body = typeof bytes === "number" ? { bodyBytes: bytes } : Body.parse(bytes, type)
      answerResource(site, visit, target, body)
    })
  )
}

/** Answers one request. Never throws. */
export const handle =
  (site: Site): ((incoming: http.IncomingMessage, outgoing: http.ServerResponse) => void) =>
  (incoming, outgoing) => {
    const url = parseUrl(incoming.url ?? "")
    if (url === undefined) {
      outgoing.writeHead(400, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" })
      outgoing.end("400 Bad Request")
      return
    }
    const user = site.userOf(incoming)
    const visit: Visit = {
      incoming,
      outgoing,
      url,
      user: user ?? Access.anonymous,
      verb: verbOf(incoming.method ?? "", url, incoming.headers["content-type"]),
      auditId: idOf(incoming),
      began: performance.now()
    }
    const guarded = (f: () => void): void => {
      try {
        f()
      } catch (error) {
        if (error instanceof Refusal.Refusal) sendRefusal(site, visit, error)
        else sendDefect(site, visit, error)
      }
    }
    guarded(() => {
      if (user === undefined) throw Refusal.unauthorized()
      answer(site, visit, guarded)
    })
  }
