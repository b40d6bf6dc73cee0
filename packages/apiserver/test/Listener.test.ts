import { ApiClient } from "@fixpoint/core/ApiClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as zlib from "node:zlib"
import * as ApiServer from "../src/ApiServer.ts"
import { makeCertificate } from "../src/Certificate.ts"
import { type AuditEntry, Listener } from "../src/Listener.ts"
import { configMaps, group, widgetCrd, widgets } from "./fixtures.ts"
import { ask, follow, until } from "./wireClient.ts"

const world = (options: ApiServer.Options = {}) => ApiServer.layer({ kinds: [widgetCrd()], seed: 1, ...options })

const maps = "/api/v1/namespaces/default/configmaps"
const widgetsPath = `/apis/${group}/v1/namespaces/default/widgets`
const cm = (name: string, data: object = { a: "1" }) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data
})
const widget = (name: string) => ({ apiVersion: `${group}/v1`, kind: "Widget", metadata: { name }, spec: { size: 1 } })

/** Over plain HTTP but where TLS is the matter. */
const listening = (options: Parameters<typeof ApiServer.listen>[0] = {}) => ApiServer.listen({ tls: false, ...options })

describe("ApiServer.listen", () => {
  it.live("what is written over HTTP is read in memory, and the other way round", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      const api = yield* ApiClient
      const made = yield* ask(to, "POST", maps, { body: cm("a") })
      assert.strictEqual(made.code, 201)
      assert.deepStrictEqual(yield* api.get(configMaps, { namespace: "default", name: "a" }), made.json)
      const patched = yield* api.patch(
        configMaps,
        { namespace: "default", name: "a" },
        {
          type: "merge",
          body: { data: { a: "2" } }
        }
      )
      assert.deepStrictEqual((yield* ask(to, "GET", `${maps}/a`)).json, patched)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("TLS by its own authority, the kubeconfig and the token lead to it, by the layer too", () =>
    Effect.gen(function* () {
      const to = yield* Listener
      assert.isTrue(to.url.startsWith("https://127.0.0.1:"))
      const config = JSON.parse(to.kubeconfig)
      assert.strictEqual(config.clusters[0].cluster.server, to.url)
      assert.strictEqual(
        Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64").toString(),
        to.ca
      )
      assert.strictEqual(config.users[0].user.token, to.token)
      assert.strictEqual((yield* ask(to, "GET", "/api/v1/namespaces/default")).code, 200)
    }).pipe(Effect.provide(Layer.provide(ApiServer.layerListener(), world())))
  )

  it.live("a port that is taken, a wrong certificate and no tokens are told in one line each", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      const said = (options: Parameters<typeof ApiServer.listen>[0]) =>
        Effect.map(Effect.flip(ApiServer.listen(options)), (error) => [error.reason._tag, error.message])
      assert.deepStrictEqual(yield* said({ port: to.port }), [
        "PortTaken",
        `the API server cannot listen: port ${to.port} of 127.0.0.1 is taken: choose another, or 0 for a free one`
      ])
      const [tag, message] = yield* said({ tls: { cert: makeCertificate("a").cert, key: makeCertificate("b").key } })
      assert.strictEqual(tag, "BadCertificate")
      assert.isFalse(message!.includes("\n"))
      assert.strictEqual((yield* said({ tokens: [] }))[0], "NoTokens")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("with the scope the port is free again, and open watches have ended cleanly", () =>
    Effect.gen(function* () {
      const { port, watch } = yield* Effect.gen(function* () {
        const to = yield* listening()
        const watch = yield* follow(to, `${maps}?watch=1`)
        yield* until("the watch is open", () => watch.code() === 200)
        yield* to.close
        yield* until("the watch has ended", () => watch.end() !== "open")
        return { port: to.port, watch: watch.end() }
      }).pipe(Effect.scoped)
      assert.strictEqual(watch, "clean")
      assert.strictEqual((yield* listening({ port })).port, port)
      assert.strictEqual(yield* Effect.flatMap(ApiServer.ApiServer, (server) => server.watches), 0)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("who may ask", () => {
  const tokens = [
    { token: "one", user: "ann", groups: ["devs"] },
    { token: "two", user: "bob", groups: [] }
  ]

  it.live("an unknown token is refused, none is anonymous and sees the free paths alone (F160, F161)", () =>
    Effect.gen(function* () {
      const to = yield* listening({ tokens })
      const told = (path: string, token: string) =>
        Effect.map(ask(to, "GET", path, { token }), ({ code, json }) => [code, json?.message])
      assert.deepStrictEqual(yield* told(maps, "nope"), [401, "Unauthorized"])
      assert.deepStrictEqual(yield* told(maps, ""), [
        403,
        'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"'
      ])
      assert.deepStrictEqual(yield* told(`${widgetsPath}/x/status`, ""), [
        403,
        `widgets.${group} "x" is forbidden: User "system:anonymous" cannot get resource "widgets/status" in API group "${group}" in the namespace "default"`
      ])
      assert.deepStrictEqual(yield* told("/api", ""), [
        403,
        'forbidden: User "system:anonymous" cannot get path "/api"'
      ])
      for (const path of ["/healthz", "/livez", "/readyz", "/version"]) {
        assert.strictEqual((yield* told(path, ""))[0], 200)
      }
      assert.strictEqual(
        (yield* ask(to, "GET", maps, { token: "", headers: { authorization: "Basic YTpi" } })).code,
        403
      )
      assert.strictEqual((yield* told(maps, "two"))[0], 200)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("where nobody need say who one is, who says nothing is the first token's and a wrong token is refused", () =>
    Effect.gen(function* () {
      const to = yield* listening({ trustAnonymous: true })
      assert.strictEqual((yield* ask(to, "GET", maps, { token: "" })).code, 200)
      assert.strictEqual((yield* ask(to, "GET", maps, { token: "wrong" })).code, 401)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a client's certificate of the given authority names its user, another is anonymous", () =>
    Effect.gen(function* () {
      const [known, foreign] = [makeCertificate("carol"), makeCertificate("mallory")]
      const seen: Array<string> = []
      const to = yield* ApiServer.listen({
        clientCa: known.cert,
        audit: ({ code, user }) => seen.push(`${user} ${code}`)
      })
      for (const cert of [known, foreign]) yield* ask(to, "GET", maps, { cert, token: "" })
      assert.deepStrictEqual(seen, ["carol 200", "system:anonymous 403"])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("the audit tells every request with its user, code and bytes, a watch when it has ended", () =>
    Effect.gen(function* () {
      const entries: Array<AuditEntry> = []
      const to = yield* listening({ tokens, audit: (entry) => entries.push(entry) })
      const server = yield* ApiServer.ApiServer
      const watch = yield* follow(to, `${maps}?watch=1`, { headers: { "user-agent": "test/1" } })
      yield* until("the watch is open", () => watch.code() === 200)
      yield* ask(to, "POST", maps, { body: cm("a"), token: "two" })
      yield* ask(to, "GET", "/nope")
      yield* server.cutWatches()
      yield* until("the watch was told", () => entries.length === 3)
      assert.deepStrictEqual(
        entries.map(({ code, method, path, user, userAgent, verb }) => [verb, method, path, user, userAgent, code]),
        [
          ["create", "POST", maps, "bob", "", 201],
          ["get", "GET", "/nope", "ann", "", 404],
          ["watch", "GET", `${maps}?watch=1`, "ann", "test/1", 200]
        ]
      )
      assert.strictEqual(entries[2]!.bytes, Buffer.byteLength(`${JSON.stringify(watch.lines[0])}\n`))
      assert.isTrue(entries.every(({ bytes, millis }) => bytes > 0 && millis >= 0))
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("requests are counted by verb, resource and code, as the real server counts them", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      yield* ask(to, "POST", widgetsPath, { body: widget("a") })
      yield* ask(to, "PATCH", `${widgetsPath}/a/status?fieldManager=m`, {
        body: { ...widget("a"), status: {} },
        headers: { "content-type": "application/apply-patch+yaml" }
      })
      yield* ask(to, "GET", `/apis/${group}/v1/widgets`)
      yield* ask(to, "DELETE", `${widgetsPath}/b`)
      const { text } = yield* ask(to, "GET", "/metrics")
      const lines = text.split("\n").filter((line) => line.startsWith("apiserver_request_total"))
      const label = (line: string, name: string): string => new RegExp(`${name}="([^"]*)"`).exec(line)?.[1] ?? "?"
      assert.deepStrictEqual(
        lines.map((line) =>
          ["verb", "resource", "subresource", "scope", "code"].map((name) => label(line, name)).join(" ")
        ),
        [
          "POST widgets  namespace 201",
          "APPLY widgets status resource 200",
          "LIST widgets  cluster 200",
          "DELETE widgets  resource 404"
        ]
      )
      assert.isTrue(lines.every((line) => line.endsWith(" 1") && label(line, "group") === group))
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("answers", () => {
  it.live("headers are those of the real server, and the client's own Audit-Id comes back (F53)", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      const { headers, text } = yield* ask(to, "GET", "/api/v1/namespaces/default", { headers: { "audit-id": "mine" } })
      assert.strictEqual(headers["audit-id"], "mine")
      assert.strictEqual(headers["cache-control"], "no-cache, private")
      assert.strictEqual(headers["content-type"], "application/json")
      assert.isTrue(text.startsWith('{"apiVersion"') && text.endsWith("}\n"))
      const indented = yield* ask(to, "GET", "/api/v1/namespaces/default?pretty=true")
      assert.isTrue(indented.text.startsWith('{\n  "apiVersion"'))
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("unknown paths are text or a Status as on the real server, slashes do not matter (F36, F38, F167)", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      const told = (method: string, path: string) =>
        Effect.map(ask(to, method, path), ({ code, json, text }) => [code, json?.message ?? text])
      const page = [404, "404 page not found\n"]
      const unknown = [404, "the server could not find the requested resource"]
      assert.deepStrictEqual(yield* told("GET", "/nope"), page)
      assert.deepStrictEqual(yield* told("GET", "/apis/nope.io/v1/things"), page)
      assert.deepStrictEqual(yield* told("GET", "/api/v1/nopes"), unknown)
      assert.deepStrictEqual(yield* told("GET", "/apis/apps/v1/nopes"), unknown)
      assert.deepStrictEqual(yield* told("GET", "//api/v1/nodes"), page)
      assert.deepStrictEqual(yield* told("GET", `${maps}/a/b/c`), unknown)
      for (const path of [`${maps}/`, "/api/v1/namespaces//configmaps", `${maps}?nope=1&&=%zz`]) {
        assert.strictEqual((yield* told("GET", path))[0], 200)
      }
      assert.strictEqual((yield* told("GET", "/api/v1/namespaces/default/config%6Daps"))[0], 200)
      assert.strictEqual((yield* told("GET", "/api/%zz"))[0], 400)
      for (const method of ["HEAD", "OPTIONS", "PROPFIND"])
        assert.strictEqual((yield* told(method, `${maps}/a`))[0], 405)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("items of built-in lists lack kind and version over HTTP, those of custom ones have them (F34)", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      yield* ask(to, "POST", maps, { body: cm("a") })
      yield* ask(to, "POST", widgetsPath, { body: widget("a") })
      const keys = (path: string, headers = {}) =>
        Effect.map(ask(to, "GET", path, { headers }), ({ json }) => Object.keys(json.items[0]).slice(0, 2))
      assert.deepStrictEqual(yield* keys(maps), ["metadata", "data"])
      assert.deepStrictEqual(yield* keys(`${maps}?pretty=1`), ["metadata", "data"])
      assert.deepStrictEqual(yield* keys(widgetsPath), ["apiVersion", "kind"])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("what a client accepts decides the form, and what nobody sends is refused (F50, F51, F52, F58)", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      const made = yield* ask(to, "POST", widgetsPath, {
        body: widget("a"),
        headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" }
      })
      assert.deepStrictEqual([made.code, made.json.kind], [201, "PartialObjectMetadata"])
      const told = (path: string, accept: string) =>
        Effect.map(ask(to, "GET", path, { headers: { accept } }), ({ code, json, text }) => [
          code,
          json?.kind ?? text.split("\n", 1)[0],
          json?.message
        ])
      const meta = (as: string, version = "v1") => `application/json;as=${as};v=${version};g=meta.k8s.io`
      const only =
        "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
      const one = `${widgetsPath}/a`
      assert.deepStrictEqual(yield* told(one, "text/html, application/json;q=0.1"), [200, "Widget", undefined])
      assert.deepStrictEqual(yield* told(one, "application/yaml"), [200, `apiVersion: ${group}/v1`, undefined])
      assert.deepStrictEqual(yield* told(one, "application/cbor"), [406, "Status", only])
      assert.deepStrictEqual(yield* told(one, "application/vnd.kubernetes.protobuf"), [406, "Status", only])
      assert.deepStrictEqual(yield* told(one, meta("Table")), [200, "Table", undefined])
      assert.deepStrictEqual(yield* told(one, `${meta("Table", "v9")},application/json`), [200, "Widget", undefined])
      assert.deepStrictEqual(yield* told(one, meta("Table", "v9")), [406, "Status", only])
      assert.deepStrictEqual(yield* told(`${one}?includeObject=Bad`, meta("Table")), [
        400,
        "Status",
        `Unable to convert to Table as requested: includeObject: Invalid value: "Bad": must be 'Metadata', 'Object', 'None', or empty`
      ])
      assert.deepStrictEqual(yield* told(`${widgetsPath}/none`, meta("Table")), [
        404,
        "Status",
        `widgets.${group} "none" not found`
      ])
      assert.deepStrictEqual(yield* told(widgetsPath, meta("PartialObjectMetadata")), [
        406,
        "Status",
        "you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)"
      ])
      assert.deepStrictEqual(yield* told(one, meta("PartialObjectMetadataList")), [
        500,
        "Status",
        "content is not a list"
      ])
      assert.strictEqual((yield* told(`${widgetsPath}?watch=1`, "application/yaml"))[0], 406)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("large answers are compressed for those who can read them (F167)", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      yield* ask(to, "POST", maps, { body: cm("small", { a: "x".repeat(120_000) }) })
      yield* ask(to, "POST", maps, { body: cm("large", { a: "x".repeat(140_000) }) })
      const encoding = (name: string, accepted: string) =>
        ask(to, "GET", `${maps}/${name}`, { headers: { "accept-encoding": accepted } })
      assert.isUndefined((yield* encoding("small", "gzip")).headers["content-encoding"])
      assert.isUndefined((yield* encoding("large", "br")).headers["content-encoding"])
      const { bytes, headers } = yield* encoding("large", "gzip, br")
      assert.deepStrictEqual([headers["content-encoding"], headers.vary], ["gzip", "Accept-Encoding"])
      assert.strictEqual(JSON.parse(zlib.gunzipSync(bytes).toString()).metadata.name, "large")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a document that has not changed is not sent again, one that has is (F169)", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
      const first = yield* ask(to, "GET", "/apis", { headers: { accept } })
      const etag = first.headers.etag!
      const again = yield* ask(to, "GET", "/apis", { headers: { accept, "if-none-match": etag } })
      assert.deepStrictEqual([again.code, again.text], [304, ""])
      yield* ask(to, "DELETE", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`)
      const changed = yield* ask(to, "GET", "/apis", { headers: { accept, "if-none-match": etag } })
      assert.strictEqual(changed.code, 200)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("hooks over HTTP", () => {
  it.live("a hook's refusal is the answer, its unreachable breaks the connection, and the log knows all (F165)", () =>
    Effect.gen(function* () {
      const codes: Array<number> = []
      const to = yield* listening({ audit: ({ code }) => codes.push(code) })
      const server = yield* ApiServer.ApiServer
      yield* server.hook({
        before: (call) =>
          call.operation.ref?.name === "busy"
            ? ApiServer.refused(call, { code: 429, retryAfterSeconds: 2 })
            : call.operation.ref?.name === "lost"
              ? ApiServer.unreachable(call)
              : Effect.void,
        after: (call) => (call.operation.verb === "create" ? ApiServer.unreachable(call) : Effect.void)
      })
      const busy = yield* ask(to, "GET", `${maps}/busy`)
      assert.deepStrictEqual([busy.code, busy.headers["retry-after"], busy.json.reason], [429, "2", "TooManyRequests"])
      assert.strictEqual((yield* Effect.flip(ask(to, "GET", `${maps}/lost`)))._tag, "Broken")
      assert.strictEqual((yield* Effect.flip(ask(to, "POST", maps, { body: cm("done") })))._tag, "Broken")
      assert.isTrue(Option.isSome(yield* server.object(configMaps, { namespace: "default", name: "done" })))
      yield* until("all are told", () => codes.length === 3)
      assert.deepStrictEqual(codes, [429, 0, 0])
      const log = yield* server.log
      assert.deepStrictEqual(
        log.map(({ code, operation }) => [operation.verb, operation.resource, code]),
        [["create", "configmaps", 201]]
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a hook that fails as no hook should is a 500 that is logged, and the server goes on", () =>
    Effect.suspend(() => {
      const logged: Array<string> = []
      return Effect.gen(function* () {
        const to = yield* listening()
        const server = yield* ApiServer.ApiServer
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* server.hook({ before: () => Effect.die(new Error("a bug")) })
            const { code, json } = yield* ask(to, "GET", maps)
            assert.deepStrictEqual([code, json.message], [500, "Internal error occurred: Error: a bug"])
          })
        )
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* server.hook({ before: () => Effect.interrupt })
            assert.strictEqual((yield* Effect.flip(ask(to, "GET", maps)))._tag, "Broken")
          })
        )
        assert.strictEqual((yield* ask(to, "GET", maps)).code, 200)
        assert.deepStrictEqual(logged, [`GET ${maps} met a fault of the API server`])
      }).pipe(
        Effect.scoped,
        Effect.provide(world()),
        Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String([message].flat()[0])))]))
      )
    })
  )

  it.live("the ApiClient in memory watches what clients of HTTP write", () =>
    Effect.gen(function* () {
      const to = yield* listening()
      const api = yield* ApiClient
      const names = api.watch(widgets).pipe(
        Stream.filter((event) => event.type !== "BOOKMARK"),
        Stream.map((event) => `${event.type} ${event.object.metadata.name}`),
        Stream.take(2),
        Stream.runCollect
      )
      const fiber = yield* Effect.forkChild(names, { startImmediately: true })
      yield* Effect.sleep(20)
      yield* ask(to, "POST", widgetsPath, { body: widget("a") })
      yield* ask(to, "DELETE", `${widgetsPath}/a`)
      assert.deepStrictEqual([...(yield* Fiber.join(fiber))], ["ADDED a", "DELETED a"])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})
