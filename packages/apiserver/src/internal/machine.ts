/**
 * The server as a function: a state and a request give a state and an answer. Nothing else comes in; time and chance are in the request.
 *
 * Guarantees: no state is ever changed in place; a request that is refused, or changes nothing, answers the very state that it was given.
 */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as AccessReviews from "./accessReviews.ts"
import { definitions } from "./builtInKinds.ts"
import * as Controllers from "./controllers.ts"
import type { Definition } from "./definition.ts"
import * as Deleting from "./deleting.ts"
import { isBuiltInGroup } from "./discovery.ts"
import type { Change } from "./history.ts"
import { initialNamespaces } from "./namespaces.ts"
import * as Listing from "./listing.ts"
import { isLonger, timestamp } from "./objectMeta.ts"
import { draw } from "./random.ts"
import * as Patching from "./patching.ts"
import * as Refusal from "./refusal.ts"
import type { Request, Response } from "./request.ts"
import * as Selectors from "./selector.ts"
import { definitionAt, empty, serve, type State, type Transaction } from "./state.ts"
import * as Watching from "./watching.ts"
import * as Writing from "./writing.ts"

export interface Stepped {
  readonly state: State
  readonly response: Response
  /** What was stored by the request and its consequences, in the order of versions. */
  readonly changes: ReadonlyArray<Change>
  /** Resources of which every open watch ends after these changes. */
  readonly ended: ReadonlyArray<string>
}

const transaction = (state: State, { now, seed }: Pick<Request, "now" | "seed">): Transaction => ({
  state,
  changes: [],
  ended: [],
  warnings: [],
  now,
  time: timestamp(now),
  draw: draw(seed)
})

const refused = (
  { body, code, retryAfterSeconds }: Refusal.Refusal,
  warnings: ReadonlyArray<string> = []
): Response => ({
  code,
  body,
  warnings,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds })
})

/** Answers one request, and lets the control plane do what follows from it. */
export const step = (state: State, request: Request): Stepped => {
  const txn = transaction(state, request)
  try {
    const response = respond(txn, request)
    Controllers.settle(txn)
    return { state: txn.state, response, changes: txn.changes, ended: txn.ended }
  } catch (refusal) {
    if (!(refusal instanceof Refusal.Refusal)) throw refusal
    return { state, response: refused(refusal, txn.warnings), changes: [], ended: [] }
  }
}

/** Lets time pass: what the control plane does late is done now, if it is due. */
export const tick = (state: State, at: Pick<Request, "now" | "seed">): Omit<Stepped, "response"> => {
  const txn = transaction(state, at)
  Controllers.tick(txn)
  Controllers.settle(txn)
  return { state: txn.state, changes: txn.changes, ended: txn.ended }
}

/** When `tick` has something to do next, in milliseconds since 1970. */
export const nextDue = (state: State): number | undefined => Controllers.nextDue(state.due)

/** Begins a watch, or refuses it; nothing changes by it. */
export const watch = (state: State, request: Request): Watching.Watch | Response => {
  try {
    const definition = resolve(state, request)
    return Watching.open(state, definition, request.namespace, request)
  } catch (refusal) {
    if (!(refusal instanceof Refusal.Refusal)) throw refusal
    return refused(refusal)
  }
}

/** A server as it is after its start: the built-in kinds, and the namespaces that are always there. */
export const boot = (at: Pick<Request, "now" | "seed">): State => {
  let state = definitions.reduce((before, { served, storage }) => serve(before, served, storage), empty)
  initialNamespaces.forEach((name, i) => {
    state = step(state, {
      method: "POST",
      group: "",
      version: "v1",
      plural: "namespaces",
      query: {},
      body: { metadata: { name } },
      contentType: "application/json",
      userAgent: "kube-apiserver",
      now: at.now,
      seed: at.seed + i
    }).state
  })
  // The caches begin after that.
  return definitions.reduce((before, { served, storage }) => serve(before, served, storage), state)
}

/** Of a body, in bytes (F28). */
export const bodyMost = 3_145_728

const readable: ReadonlySet<string> = new Set([
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf"
])

const checkBody = ({ body, bodyBytes, contentType, method }: Request): void => {
  if (method === "GET" || (body === undefined && (bodyBytes ?? 0) === 0)) return
  const type = (contentType ?? "application/json").split(";")[0]!.trim()
  if (method !== "PATCH" && !readable.has(type)) {
    throw Refusal.unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${[...readable].join(", ")}`
    )
  }
  if (bodyBytes !== undefined && bodyBytes > bodyMost) throw Refusal.tooLarge(bodyMost)
}

const resolve = (state: State, request: Request): Definition => {
  const definition = definitionAt(state, request.group, request.version, request.plural)
  if (definition === undefined) throw Refusal.unknownPath(isBuiltInGroup(request.group) ? "" : request.group)
  // A namespace in the path of a cluster-scoped kind, or none where one object is meant, leads nowhere.
  const misplaced = definition.namespaced
    ? request.namespace === undefined && (request.name !== undefined || request.method !== "GET")
    : request.namespace !== undefined
  if (misplaced && definition.namespaced && !definition.custom && request.name === undefined) {
    throw Refusal.methodNotAllowed()
  }
  if (misplaced) throw Refusal.unknownPath(definition.custom || request.group !== "" ? "x" : "")
  return definition
}

const respond = (txn: Transaction, request: Request): Response => {
  checkBody(request)
  const reviewed = AccessReviews.respond(txn, request, () => writeOptions(request, "CreateOptions"))
  if (reviewed !== undefined) return reviewed
  const definition = resolve(txn.state, request)
  if (request.unreadable !== undefined) throw Refusal.unreadable(definition, request.method, request.unreadable)
  if (definition.warning !== undefined) txn.warnings.push(definition.warning)
  checkSubresource(definition, request)
  if (request.name === undefined) return respondToCollection(txn, definition, request)
  return respondToOne(txn, definition, request)
}

const checkSubresource = (definition: Definition, { method, name, subresource }: Request): void => {
  if (subresource === undefined) return
  const known =
    (subresource === "status" && definition.hasStatus) || (subresource === "scale" && definition.scale !== undefined)
  if (!known) throw definition.custom ? Refusal.notFound(definition, name ?? "") : Refusal.unknownPath("")
  if (method === "POST" || method === "DELETE") {
    throw definition.custom
      ? Refusal.notSupported(definition, method === "POST" ? "create" : "delete")
      : Refusal.methodNotAllowed()
  }
}

const respondToCollection = (txn: Transaction, definition: Definition, request: Request): Response => {
  const { namespace, query } = request
  switch (request.method) {
    case "GET": {
      const listed = Listing.list(txn.state, definition, namespace, request)
      return { ...listed, warnings: txn.warnings }
    }
    case "POST":
      return Writing.create(txn, { definition, namespace, request, options: writeOptions(request, "CreateOptions") })
    case "DELETE": {
      if (!definition.verbs.includes("deletecollection")) throw Refusal.methodNotAllowed()
      const selector = Selectors.both(query.labelSelector, query.fieldSelector, definition.fieldLabels)
      return Deleting.collection(txn, definition, namespace, request, selector)
    }
    case "PUT":
    case "PATCH":
      throw definition.custom ? Refusal.badRequest("name must be provided") : Refusal.methodNotAllowed()
  }
}

const respondToOne = (txn: Transaction, definition: Definition, request: Request): Response => {
  const { namespace, subresource } = request
  switch (request.method) {
    case "GET": {
      const found = Listing.get(txn.state, definition, namespace, request)
      if (subresource !== "scale") return { ...found, warnings: txn.warnings }
      return { ...found, body: Writing.scaleOf(found.body as KubeObject, definition), warnings: txn.warnings }
    }
    case "POST":
      // A custom resource takes it as a POST to the collection (F38).
      if (!definition.custom) throw Refusal.methodNotAllowed()
      return Writing.create(txn, { definition, namespace, request, options: writeOptions(request, "CreateOptions") })
    case "PUT":
      return Writing.replace(txn, { definition, namespace, request, options: writeOptions(request, "UpdateOptions") })
    case "PATCH":
      return Patching.patch(txn, { definition, namespace, request, options: writeOptions(request, "PatchOptions") })
    case "DELETE":
      return Deleting.one(txn, definition, namespace, request)
  }
}

const managerMost = 128

/** Who writes if the query does not say: the User-Agent up to its first slash (F29). */
const managerOf = (userAgent: string): string => {
  const [name = ""] = userAgent.split("/")
  return name === "" ? "unknown" : [...name].slice(0, managerMost).join("")
}

const checkManager = (manager: string, kind: string): void => {
  // What nearly every client is called.
  if (manager.length <= managerMost && /^[\w.-]*$/.test(manager)) return
  if (isLonger(manager, managerMost)) {
    throw Refusal.invalidOptions(kind, Refusal.fieldTooLong("fieldManager", managerMost))
  }
  const at = [...manager].findIndex((letter) => !/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(letter))
  if (at < 0) return
  const code = [...manager][at]!.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")
  throw Refusal.invalidOptions(
    kind,
    Refusal.fieldInvalid("fieldManager", manager, `invalid character U+${code} (at position ${at})`)
  )
}

const writeOptions = ({ query, userAgent }: Request, kind: string): Writing.WriteOptions => {
  const { dryRun, fieldManager = "", fieldValidation = "", force } = query
  if (dryRun !== undefined && dryRun !== "All") {
    throw Refusal.invalidOptions(kind, Refusal.fieldUnsupported("dryRun", [dryRun], ["All"]))
  }
  if (!["", "Ignore", "Strict", "Warn"].includes(fieldValidation)) {
    throw Refusal.invalidOptions(
      kind,
      Refusal.fieldUnsupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"])
    )
  }
  checkManager(fieldManager, kind)
  return {
    manager: fieldManager === "" ? managerOf(userAgent) : fieldManager,
    managerGiven: fieldManager !== "",
    dryRun: dryRun === "All",
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as Writing.WriteOptions["fieldValidation"]),
    force: force === "true" || force === "1"
  }
}
