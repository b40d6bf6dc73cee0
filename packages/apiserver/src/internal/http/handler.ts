/** What becomes of one HTTP request: who asks, what for, and which part of the server answers. */
import { randomUUID } from "node:crypto"
import type * as http from "node:http"
import { isObject } from "../json.ts"
import * as Refusal from "../refusal.ts"
import type { Schema } from "../schema.ts"
import { definitionAt, stored } from "../state.ts"
import * as Access from "./access.ts"
import { sendDefect, sendRefusal } from "./answering.ts"
import * as Body from "./body.ts"
import { answerDocument } from "./documentAnswer.ts"
import { parseUrl, type ResourceTarget, type Url } from "./path.ts"
import { makePipeline } from "./pipeline.ts"
import { answerResource } from "./resourceAnswer.ts"
import { conclude, type Site, type Visit } from "./site.ts"

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"])

const isOn = (flag: string | undefined): boolean => flag !== undefined && flag !== "false" && flag !== "0"

const isApply = (contentType: string | undefined): boolean =>
  contentType?.startsWith("application/apply-patch") === true

/** As RBAC names what is asked; a watch of one object is a get (F64). */
const verbOf = (method: string, { query, target }: Url, contentType: string | undefined): string => {
  if (target._tag !== "Resource") return method.toLowerCase()
  switch (method) {
    case "HEAD":
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

/** How long a request may take at most: here none takes long, but the text must be a duration of Go (F166). */
const checkTimeout = (text: string | undefined): void => {
  if (text === undefined || text === "" || /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text))
    return
  const why = /^[-+]?(?:\d+\.?\d*|\.\d+)$/.test(text) ? "missing unit in" : "invalid"
  throw Refusal.badRequest(
    `invalid timeout specified in the request URL - time: ${why} duration ${JSON.stringify(text)}`
  )
}

/** Only custom resources know the method. */
const isHead = ({ running }: Site, method: string, { group, plural, version }: ResourceTarget): boolean =>
  method === "HEAD" && definitionAt(running.server.state, group, version, plural)?.custom === true

const methodUnknown = ({ running }: Site, { group, plural, version }: ResourceTarget): Refusal.Refusal => {
  const definition = definitionAt(running.server.state, group, version, plural)
  return definition?.custom === true ? Refusal.notSupported(definition, "") : Refusal.methodNotAllowed()
}

/** What is larger takes long: bodies in bytes, and in keys and items; targets in characters; collections in objects; who is told of a change, in watches. */
const bytesMost = 16_384
const partsMost = 512
const targetMost = 2_048
const objectsMost = 1_000
const watchesMost = 1_000

/** A read, or a deletion, of so much that others should not wait for it. */
const isLongRead = (
  { running }: Site,
  { incoming }: Visit,
  { group, name, plural, version }: ResourceTarget
): boolean => {
  if (incoming.url!.length > targetMost) return true
  if (name !== undefined || incoming.method === "POST") return false
  const { state } = running.server
  const definition = definitionAt(state, group, version, plural)
  return definition !== undefined && stored(state, definition.resource).objects.size > objectsMost
}

const sizes = new WeakMap<Schema, number>()

/** How many fields a schema has. */
const sizeOf = (schema: Schema): number => {
  let size = sizes.get(schema)
  if (size === undefined) {
    const { additionalProperties, items, properties } = schema
    const below = [...Object.values(properties ?? {}), items, additionalProperties]
    size = below.reduce<number>((sum, child) => sum + (isObject(child) ? sizeOf(child as Schema) : 0), 1)
    sizes.set(schema, size)
  }
  return size
}

/** A change of which many watches are told, each at once; or of an object that a large schema may fill with defaults. */
const isLongWrite = ({ running }: Site, { group, plural, version }: ResourceTarget): boolean => {
  const definition = definitionAt(running.server.state, group, version, plural)
  if (definition === undefined) return false
  const watches = running.server.watchers.get(definition.resource)?.size ?? 0
  return watches > watchesMost || (definition.custom && sizeOf(definition.schema) > partsMost)
}

/** What takes long waits its turn. Nothing is done for a client that has gone meanwhile. */
const inLane = (site: Site, { incoming }: Visit, job: () => void): void => {
  const accepted = site.lane.run(() => {
    if (!incoming.socket.destroyed) job()
  })
  if (!accepted) throw Refusal.tooManyRequests()
}

/** May throw a Refusal. */
const answer = (site: Site, visit: Visit, guarded: (f: () => void) => void): void => {
  const { incoming, url, user, verb } = visit
  const { path, target } = url
  const forbidden = Access.refusal(user, verb, path, target)
  if (forbidden !== undefined) throw forbidden
  const method = incoming.method!
  if (verb !== "watch" && path.startsWith("/api")) checkTimeout(url.query.timeout)
  if (target._tag === "Other") {
    site.lane.pass()
    return answerDocument(site, visit)
  }
  if (!methods.has(method) && !isHead(site, method, target)) throw methodUnknown(site, target)
  if (method === "GET" || method === "HEAD") {
    const run = (): void => answerResource(site, visit, target, undefined)
    if (!isLongRead(site, visit, target)) {
      site.lane.pass()
      return run()
    }
    return inLane(site, visit, () => guarded(run))
  }
  const type = incoming.headers["content-type"]?.toLowerCase()
  const use = (bytes: Buffer | number): void =>
    guarded(() => {
      if (typeof bytes === "number") return answerResource(site, visit, target, { bodyBytes: bytes })
      const read = (): Body.Read => Body.parse(bytes, type)
      const run = ({ body, parts }: Body.Read): void => {
        const act = (): void => answerResource(site, visit, target, body)
        if (parts <= partsMost && !isLongRead(site, visit, target) && !isLongWrite(site, target)) {
          site.lane.pass()
          return act()
        }
        inLane(site, visit, () => guarded(act))
      }
      if (bytes.length <= bytesMost && !Body.isSlow(bytes, type)) return run(read())
      inLane(site, visit, () => guarded(() => answerResource(site, visit, target, read().body)))
    })
  site.inbox.read(incoming, use, (refusal) => sendRefusal(site, visit, refusal))
}

/** Answers one request. Never throws. */
const serve = (site: Site, incoming: http.IncomingMessage, outgoing: http.ServerResponse): void => {
  const url = parseUrl(incoming.url ?? "")
  if (url === undefined) {
    outgoing.writeHead(400, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" })
    outgoing.end("400 Bad Request")
    return
  }
  // What fails on the way to a client that has gone is told by its close.
  outgoing.on("error", () => undefined)
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
  // Whether a hook, a client or a full outbox has broken it.
  outgoing.once("close", () => {
    if (!outgoing.headersSent) conclude(site, visit, 0, 0)
  })
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

/** Answers requests, those of one connection in their order. Never throws. */
export const handle = (site: Site): ((incoming: http.IncomingMessage, outgoing: http.ServerResponse) => void) => {
  const { inOrder } = makePipeline()
  return (incoming, outgoing) => inOrder(incoming, outgoing, () => serve(site, incoming, outgoing))
}
