/**
 * The documents about the API itself: discovery, the version, and the schemas of what is served. What a GET of their paths answers.
 *
 * Guarantees: a kind is in every document from the state in which it is established, and in none once it is gone.
 */
import * as Effect from "effect/Effect"
import { digest } from "./digest.ts"
import * as Discovery from "./discovery.ts"
import { clauses } from "./http/accept.ts"
import type { JsonObject } from "./json.ts"
import * as OpenApi from "./openApi.ts"
import * as OpenApiV2 from "./openApiV2.ts"
import * as Refusal from "./refusal.ts"
import type { State } from "./state.ts"

export interface DocumentRequest {
  /** Without the query: `/apis/apps/v1`. */
  readonly path: string
  /** Parameters by name. */
  readonly query?: Readonly<Record<string, string | undefined>>
  /** The Accept header, if there was one. */
  readonly accept?: string | undefined
  /** Where the client reached the server, `host:port`: `/api` tells it. */
  readonly address?: string | undefined
}

export interface Document {
  /** 200; 301 where `location` says; 404 and 406, with a Status but for schemas. */
  readonly code: number
  readonly contentType: string
  /** JSON as a value; a text or bytes are a body as it stands. */
  readonly body: JsonObject | string | Uint8Array
  /** With its quotes: a request whose If-None-Match has it may be answered by a 304. */
  readonly etag?: string
  readonly location?: string
  /** For the header of this name. */
  readonly cacheControl?: string
}

const json = "application/json"
const aggregatedJson = `${json};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`

/** Which of the forms the client would rather have; undefined if it takes none of them. */
const negotiate = (accept = "", aggregates = false): "plain" | "aggregated" | undefined => {
  for (const { parameters, quality, type } of clauses(accept.trim() === "" ? "*/*" : accept)) {
    if (quality <= 0) continue
    if (type === "*/*" || type === "application/*") return "plain"
    if (type !== json) continue
    const as = parameters.get("as")
    if (as === undefined) return "plain"
    const wanted = as === "APIGroupDiscoveryList" && parameters.get("g") === "apidiscovery.k8s.io"
    if (aggregates && wanted && parameters.get("v") === "v2") return "aggregated"
  }
  return undefined
}

const failed = ({ body, code }: Refusal.Refusal): Document => ({
  code,
  contentType: json,
  body: body as JsonObject & typeof body
})

const found = (body: JsonObject | undefined): Document | undefined =>
  body === undefined ? undefined : { code: 200, contentType: json, body }

/** As kubectl prints it, and as clients compare it: nothing of how this program was built. */
const version = {
  major: "1",
  minor: "36",
  emulationMajor: "1",
  emulationMinor: "36",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "35",
  gitVersion: "v1.36.3",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: ""
}

const plainAt = (state: State, path: string, address: string): JsonObject | undefined => {
  const parts = path.slice(1).split("/")
  const [root, group, groupVersion] = parts
  switch (`${root} ${parts.length}`) {
    case "api 1":
      return Discovery.apiVersions(address)
    case "apis 1":
      return Discovery.apiGroupList(state)
    case "api 2":
      return Discovery.apiResourceList(state, "", group!)
    case "apis 2":
      return group === "" ? undefined : Discovery.apiGroup(state, group!)
    case "apis 3":
      return group === "" ? undefined : Discovery.apiResourceList(state, group!, groupVersion!)
  }
  return undefined
}

const discoveryAt = (state: State, path: string, { accept, address = "" }: DocumentRequest): Document | undefined => {
  // Whatever is asked for, and written for people.
  if (path === "/version") return { code: 200, contentType: json, body: JSON.stringify(version, undefined, 2) }
  const plain = plainAt(state, path, address)
  if (plain === undefined) {
    // Another version of a built-in group is missed by name.
    const group = /^\/api(?:s\/([^/]+))?\/[^/]+$/.exec(path)
    return group && Discovery.isBuiltInGroup(group[1] ?? "") ? failed(Refusal.unknownPath("")) : undefined
  }
  const form = negotiate(accept, path === "/api" || path === "/apis")
  if (form === undefined) return failed(Refusal.notAcceptable(`only the following media types are accepted: ${json}`))
  if (form === "plain") return found(plain)
  const text = JSON.stringify(Discovery.aggregated(state, path === "/api"))
  return { code: 200, contentType: aggregatedJson, body: text, etag: `"${digest(text)}"` }
}

/** Bodies made so far of what is served: forgotten as soon as anything else is served. Some 5 MB if every one is asked for. */
const made = new WeakMap<State["served"], Map<string, string | Uint8Array>>()

const once = <A extends string | Uint8Array>({ served }: State, key: string, make: () => A): A => {
  const bodies = made.get(served) ?? new Map<string, string | Uint8Array>()
  made.set(served, bodies)
  const found = (bodies.get(key) as A | undefined) ?? make()
  bodies.set(key, found)
  return found
}

/** The document of a group version: for ever under the name that the index gives it, and moved there under an older one. */
const schemasAt = (state: State, request: DocumentRequest, path: string): Effect.Effect<Document | undefined> => {
  const one = Discovery.groupVersionsOf(state).find((own) => OpenApi.documentPath(own) === path)
  if (one === undefined) return Effect.succeed({ code: 404, contentType: json, body: "" })
  if (negotiate(request.accept) === undefined) return Effect.succeed({ code: 406, contentType: json, body: "" })
  const tag = OpenApi.tagOf(state, one)
  const etag = `"${tag}"`
  const hash = request.query?.hash ?? ""
  if (hash !== "" && hash !== tag) {
    return Effect.succeed({ code: 301, contentType: json, body: "", etag, location: OpenApi.documentUrl(state, one) })
  }
  return Effect.map(OpenApi.load, (data) => ({
    code: 200,
    contentType: json,
    body: once(state, path, () => JSON.stringify(OpenApi.document(state, data, one))),
    etag,
    cacheControl: hash === "" ? "no-cache, private" : "public, max-age=31536000, immutable"
  }))
}

const oldBinary = "application/com.github.proto-openapi.spec.v2"

/** OpenAPI v2. Go clients ask for its binary form alone, under either of two names. */
const allSchemas = (state: State, { accept = "" }: DocumentRequest): Effect.Effect<Document> => {
  const binary = clauses(accept).some(
    ({ type }) => type === `${oldBinary}@v1.0+protobuf` || type === `${oldBinary}.v1.0+protobuf`
  )
  if (!binary && negotiate(accept) === undefined) return Effect.succeed({ code: 406, contentType: json, body: "" })
  return Effect.map(OpenApi.load, (data): Document =>
    binary
      ? {
          code: 200,
          contentType: `${oldBinary}.v1.0+protobuf`,
          body: once(state, oldBinary, () => OpenApiV2.binary(state, data))
        }
      : {
          code: 200,
          contentType: json,
          body: once(state, "openapi/v2", () => JSON.stringify(OpenApiV2.document(state, data)))
        }
  )
}

/** The document at a path, by a GET; undefined if the path leads to none. */
export const documentAt = (state: State, request: DocumentRequest): Effect.Effect<Document | undefined> =>
  Effect.suspend((): Effect.Effect<Document | undefined> => {
    const path = request.path.replace(/\/$/, "")
    if (path === "/openapi/v3") {
      return Effect.succeed({ code: 200, contentType: "text/plain; charset=utf-8", body: OpenApi.index(state) })
    }
    if (path === "/openapi/v2") return allSchemas(state, request)
    const [, inside] = /^\/openapi\/v3\/(.+)$/.exec(path) ?? []
    return inside === undefined ? Effect.succeed(discoveryAt(state, path, request)) : schemasAt(state, request, inside)
  })
