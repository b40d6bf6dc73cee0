/**
 * Two API servers compared: the same random requests are sent to both, and their answers must be the same but for uids, versions and times, and so
 * must what watches show of it all.
 *
 * Not compared: the order of managedFields, which depends on the second in which a write came; the order of several causes and the texts that list
 * several errors, which a real server draws by chance; how often a cause is repeated, which depends on how often a kind judges its metadata.
 *
 * Not sent: applies with empty metadata fields, which a real server answers by the state of its cache (F104); nulls as labels or annotations of whole
 * objects, which it stores and mends at the next write; what a Deployment's own rules refuse.
 */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { WatchEvent } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject, ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type Bench, make } from "./internal/contractBench.ts"
import { configMaps, deployments, gadgets, leases, namespaces, secrets, widgets } from "./internal/contractKinds.ts"
import { type Guard, type Request, request } from "./internal/differentialRequests.ts"

export type { Request }

const few: Arbitrary.Arbitrary<ReadonlyArray<Request>> = Arbitrary.array(request, { maxLength: 10 })

/** A sequence of 30 requests at most. Of three parts, since one long array would be drawn short most of the time. */
export const requests: Arbitrary.Arbitrary<ReadonlyArray<Request>> = Arbitrary.map(
  Arbitrary.all([few, few, few]),
  (parts) => parts.flat()
)

/** A JSON value in which uids, versions and times are replaced by when they were first seen. */
export type Answer = unknown

const nobody = "11111111-1111-1111-1111-111111111111"

/** What an execution knows of an object: what its requests refer to. */
interface Known {
  readonly first: KubeObject
  readonly last: KubeObject
}

const isObject = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Names each uid and version by the order in which they come. */
const normaliser = () => {
  const uids = new Map<string, string>()
  const versions = new Map<string, string>()
  const named = (names: Map<string, string>, letter: string, value: string): string => {
    const name = names.get(value) ?? `${letter}${names.size}`
    names.set(value, name)
    return name
  }
  const text = (value: string): string =>
    value
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uid) => named(uids, "uid", uid))
      .replace(
        /(the ResourceVersion in (?:the precondition|record)) \((\d+)\)/g,
        (_, what, version) => `${what} (${named(versions, "v", version)})`
      )
  const entry = (key: string, value: unknown): unknown => {
    if (key === "resourceVersion" && typeof value === "string") return named(versions, "v", value)
    if (["creationTimestamp", "deletionTimestamp", "time"].includes(key)) return "time"
    if (key === "managedFields" && Array.isArray(value)) {
      return value.map(walk).sort((x: any, y: any) => (whose(x) < whose(y) ? -1 : 1))
    }
    return walk(value)
  }
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return text(value)
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, entry(key, inner)]))
  }
  return walk
}

const whose = (entry: {
  readonly manager: string
  readonly operation: string
  readonly subresource?: string
}): string => `${entry.operation} ${entry.manager} ${entry.subresource ?? ""}`

/** Texts that a real server words by chance, or by the names of its own types, reduced to what is sure. */
const words = (text: string): string =>
  text
    // Of several errors in types a real server tells those that it meets before an unknown field, in an order drawn by chance.
    .replace(/^(failed to create typed patch object \([^)]*\)): [^]*$/, "$1")
    // The refusal of a patch quotes the whole object, in the order of the fields of a Go type.
    .replace(/Invalid value: "\{[^]*\}": /, "")
    .replace(/Go struct field \S+/, "a field")
    // A dry run names the key without its first part.
    .replace("Key: /registry/", "Key: /")

const refusal = ({ reason }: ApiError): unknown => {
  const told = ("causes" in reason ? reason.causes : []).map((cause) =>
    JSON.stringify({ field: cause.field, reason: cause.reason, message: words(cause.message ?? "") })
  )
  const causes = [...new Set(told)].sort()
  return { ...reason, causes, message: told.length > 1 ? "several" : words(reason.message) }
}

const guarded = (known: Known | undefined, uid: Guard, version: Guard) => {
  const of = (guard: Guard, read: (object: KubeObject) => string, wrong: string): string | undefined =>
    guard === "none"
      ? undefined
      : guard === "wrong"
        ? wrong
        : known === undefined
          ? undefined
          : read(guard === "now" ? known.last : known.first)
  const id = of(uid, (object) => object.metadata.uid, nobody)
  const resourceVersion = of(version, (object) => object.metadata.resourceVersion, "999999999")
  return {
    ...(id !== undefined && { uid: id }),
    ...(resourceVersion !== undefined && { resourceVersion })
  }
}

type Content = Readonly<Record<string, unknown>>

const without = (fields: Content): Content =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** A Deployment whose containers are the rows, once by name, and their environment the map. */
const deployment = ({ map, rows, size }: Content): Content => {
  const env = isObject(map) ? Object.entries(map).map(([name, value]) => ({ name, value })) : undefined
  const images = new Map<string, string>()
  for (const { k, v } of Array.isArray(rows) ? rows : []) images.set(k ?? "c", v ?? "i")
  if (images.size === 0) images.set("c", "i")
  const containers = [...images].map(([name, image]) => without({ name, image, env }))
  const template = { metadata: { labels: { a: "b" } }, spec: { containers } }
  return { spec: without({ replicas: size, selector: { matchLabels: { a: "b" } }, template }) }
}

/** What an object of the kind has of a request: each kind makes of the same values what it can. */
const content = ({ resource, spec, status }: Request): Content => {
  switch (resource) {
    case widgets:
      return without({ spec })
    case gadgets:
      return without({ spec, status })
    case configMaps:
      return without({ data: spec?.map })
    case secrets:
      return without({ stringData: spec?.map })
    case leases:
      return { spec: without({ holderIdentity: spec?.mode, leaseDurationSeconds: spec?.size }) }
    case deployments:
      return deployment(spec ?? {})
    default:
      return {}
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0)

/** Metadata without nulls in its maps, which mean something in a merge patch alone. */
const plain = (metadata: Content): Content =>
  Object.fromEntries(
    Object.entries(metadata).map(([field, value]) => [
      field,
      isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, text]) => text !== null)) : value
    ])
  )

const applicable = (metadata: Content): Content =>
  Object.fromEntries(Object.entries(plain(metadata)).filter(([, value]) => !isEmpty(value)))

/** Sends one request. A create bears no version, since its answer would be a mere 500. */
const send = (b: Bench, known: Known | undefined, asked: Request): Effect.Effect<unknown, ApiError> => {
  const { manager, name, resource } = asked
  const options = { fieldManager: manager, ...(asked.dryRun && { dryRun: true }) }
  const onStatus = { ...options, subresource: "status" } as const
  const guard = guarded(known, asked.uid, asked.version)
  const body = (inner: Readonly<Record<string, unknown>>, metadata: Readonly<Record<string, unknown>>): ObjectInput =>
    b.object(resource, name, inner, metadata)
  switch (asked.verb) {
    case "get":
      return b.get(resource, name)
    case "list":
      return Effect.map(b.list(resource), (page) => page.items)
    case "list by label":
      return Effect.map(b.list(resource, { labelSelector: "l=1" }), (page) => page.items)
    case "create":
      return b.create(body(content(asked), plain(asked.metadata)), options)
    case "replace":
      return b.replace(body(content(asked), { ...plain(asked.metadata), ...guard }), options)
    case "edit":
    case "edit status": {
      const last = known?.last ?? (body({}, {}) as KubeObject)
      const metadata = { ...last.metadata, ...plain(asked.metadata), ...guard }
      return asked.verb === "edit"
        ? b.replace({ ...last, ...content(asked), metadata } as ObjectInput, options)
        : b.replace({ ...last, status: asked.status, metadata } as ObjectInput, onStatus)
    }
    case "merge":
      return b.merge(resource, name, { ...content(asked), metadata: { ...asked.metadata, ...guard } }, options)
    case "merge status":
      return b.merge(resource, name, { status: asked.status, metadata: { ...asked.metadata, ...guard } }, onStatus)
    case "json":
      // A Deployment's spec has rules of its own, which are not the matter here.
      return b.json(
        resource,
        name,
        resource === deployments ? asked.operations.filter(({ path }) => !path.startsWith("/spec")) : asked.operations,
        options
      )
    case "apply":
    case "force":
      return b.apply(manager, body(content(asked), { ...applicable(asked.metadata), ...guard }), {
        ...options,
        force: asked.verb === "force"
      })
    case "apply status":
      return b.apply(manager, body({ status: asked.status }, { ...applicable(asked.metadata), ...guard }), onStatus)
    case "delete":
      return b.delete(resource, name, { dryRun: asked.dryRun })
    case "delete guarded":
      return b.delete(resource, name, { preconditions: guard })
    case "delete collection":
      return b.api.deleteCollection(resource, { namespace: b.ns, labelSelector: "l=1" })
  }
}

const remember = (memory: Map<string, Known>, key: string, answer: unknown): void => {
  if (!isObject(answer) || !isObject(answer.metadata) || answer.kind === "Status") return
  const object = answer as unknown as KubeObject
  if (object.metadata.uid === undefined || object.metadata.resourceVersion === undefined) return
  memory.set(key, { first: memory.get(key)?.first ?? object, last: object })
}

/** Custom resources begin with an empty spec, so that it has its defaults. */
const emptyOf = (resource: Resource): Content =>
  resource === deployments ? deployment({}) : resource === widgets || resource === gadgets ? { spec: {} } : {}

const last = { labels: { l: "1" } }

/** What watches from a version before all requests show, of all objects and of those with a label, up to an object that is made last. */
const seen = Effect.fnUntraced(function* (b: Bench, resource: Resource, since: string) {
  yield* b.create(b.object(resource, "zz", emptyOf(resource), last))
  return yield* Effect.forEach([{}, { labelSelector: "l=1" }], (selector) =>
    b.api.watch(resource, { namespace: b.ns, resourceVersion: since, ...selector }).pipe(
      Stream.filter((event: WatchEvent) => event.type !== "BOOKMARK"),
      Stream.takeUntil((event) => event.type === "ADDED" && event.object.metadata.name === "zz"),
      Stream.runCollect,
      Effect.timeout("20 seconds")
    )
  )
})

/**
 * Sends the requests one after another, in a new namespace of the given name where there is one object `a` of each kind that they are about, and watches the result. The contract's custom resources must be
 * installed (`ApiClientContract.prepare`).
 */
export const play = Effect.fnUntraced(function* (name: string, asked: ReadonlyArray<Request>) {
  const api = yield* ApiClient
  yield* api.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
  const b = make(api, name)
  const kinds = [...new Set(asked.map((one) => one.resource))]
  const memory = new Map<string, Known>()
  for (const resource of kinds) {
    const first = b.object(resource, "a", emptyOf(resource))
    remember(memory, `${resource.plural}/a`, yield* b.create(first, { fieldManager: "maker" }))
  }
  const since = yield* Effect.forEach(kinds, (resource) => b.now(resource))
  const normal = normaliser()
  const answers: Array<Answer> = []
  for (const one of asked) {
    const key = `${one.resource.plural}/${one.name}`
    const answer = yield* send(b, memory.get(key), one).pipe(
      Effect.tap((told) => Effect.sync(() => remember(memory, key, told))),
      Effect.catch((error) => Effect.succeed({ refused: refusal(error) }))
    )
    answers.push(normal(answer))
  }
  for (const [index, resource] of kinds.entries()) answers.push(normal(yield* seen(b, resource, since[index]!)))
  return answers
})

/** The first answer that differs, and the request that it answers; undefined if none does. Both must be answers to the requests. */
export const difference = (
  asked: ReadonlyArray<Request>,
  one: ReadonlyArray<Answer>,
  other: ReadonlyArray<Answer>
): { readonly request: Request | "watch"; readonly one: Answer; readonly other: Answer } | undefined => {
  const canonical = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(canonical)
      : isObject(value)
        ? Object.fromEntries(
            Object.keys(value)
              .sort()
              .map((key) => [key, canonical(value[key])])
          )
        : value
  const at = one.findIndex(
    (answer, index) => JSON.stringify(canonical(answer)) !== JSON.stringify(canonical(other[index]))
  )
  return at < 0 ? undefined : { request: asked[at] ?? "watch", one: canonical(one[at]), other: canonical(other[at]) }
}
