import { assert, describe, layer } from "@effect/vitest"
import { ControlPlane, available } from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as ApiServer from "../src/ApiServer.ts"
import * as RealServer from "./realServer.ts"
import { type Answer, ask } from "./wireClient.ts"

const group = "listener.example.com"
const namespace = "listener-conformance"

const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { size: { type: "integer" } } } }
          }
        }
      }
    ]
  }
}

const maps = `/api/v1/namespaces/${namespace}/configmaps`
const things = `/apis/${group}/v1/namespaces/${namespace}/things`

type Headers = Readonly<Record<string, string>>
interface Case {
  readonly method: string
  readonly path: string
  readonly headers?: Headers
  readonly body?: string
  readonly token?: string
}

const types = {
  json: { "content-type": "application/json" },
  yaml: { "content-type": "application/yaml" },
  merge: { "content-type": "application/merge-patch+json" },
  patch: { "content-type": "application/json-patch+json" },
  apply: { "content-type": "application/apply-patch+yaml" }
} satisfies Readonly<Record<string, Headers>>

const of = (method: string, path: string, headers: Headers = {}, body?: string): Case => ({
  method,
  path,
  headers,
  ...(body !== undefined && { body })
})
const get = (path: string, headers: Headers = {}): Case => of("GET", path, headers)
const accept = (path: string, wish: string): Case => get(path, { accept: wish })
const nobody = (path: string): Case => ({ method: "GET", path, token: "" })

const paths: ReadonlyArray<Case> = [
  ...["", "/", "/a", "/a/", "/a%2Fb", "/%61", "/none", "/none/status", "/a/b/c", "/a?watch=1"].map((end) =>
    get(maps + end)
  ),
  ...["/a/nope", "/a/b/c", "/none/scale"].map((end) => get(things + end)),
  ..."/api/v1//namespaces //api/v1/namespaces /api/v1/namespaces//configmaps /api/v1/nopes /api/v2/configmaps"
    .split(" ")
    .map((path) => get(path)),
  ..."/apis/apps/v1/nopes /apis/apps/v2/deployments /apis/nope.io/v1/things /nope /nope/ /healthz/nope"
    .split(" ")
    .map((path) => get(path)),
  ...[`/apis/${group}/v2/things`, `/apis/${group}/v1/nopes`, `/apis/${group}/v1/things/a`].map((path) => get(path)),
  ..."/api/v1/configmaps/a /api/v1/namespaces/default/namespaces /healthz /livez /readyz /version /version/"
    .split(" ")
    .map((path) => get(path)),
  ...["HEAD", "OPTIONS", "PROPFIND"].flatMap((method) => [of(method, `${maps}/a`), of(method, things)]),
  ...["HEAD", "POST"].flatMap((method) => ["/version", "/nope"].map((path) => of(method, path))),
  of("HEAD", "/healthz"),
  of("POST", "/api/v1/configmaps", types.json, '{"metadata":{"name":"x"}}'),
  of("DELETE", "/api/v1/configmaps"),
  of("POST", `/apis/${group}/v1/things`, types.json, "{}"),
  ...[
    "?limit=x",
    "?timeoutSeconds=x",
    "?timeout=5",
    "?timeout=abc",

    "?labelSelector=a+b",
    "?labelSelector=%zz"
  ].map((query) => get(maps + query)),
  get("/api?timeout=abc")
]

const bodies: ReadonlyArray<Case> = [
  ...["", "{", "{x", "[]", "3", '"x"', '{"a":1,}', "nul"].flatMap((body) => [
    of("POST", maps, types.json, body),
    of("POST", things, types.json, body),
    of("PATCH", `${maps}/a`, types.merge, body)
  ]),
  ...["{x", '{"kind":"Nope","apiVersion":"v1"}'].map((body) => of("DELETE", `${maps}/none`, types.json, body)),
  of("PATCH", `${things}/a`, types.patch, "{x"),
  of("PATCH", `${things}/a?fieldManager=m`, types.apply, ""),
  of("PUT", maps, types.json, "{}"),
  of("PUT", things, types.json, "{}"),
  of("PATCH", things, types.merge, "{}"),
  of("PATCH", `${things}/a`, {}, "{}"),
  of("POST", maps, {}, '{"metadata":{"name":"untyped"}}'),
  of("POST", maps, { "content-type": "APPLICATION/JSON; charset=utf-8" }, '{"metadata":{"name":"capitals"}}'),
  of("POST", maps, types.yaml, "metadata:\n  name: yaml\n"),
  of("POST", maps, types.json, "metadata:\n  name: yaml\n"),
  of("POST", maps, { "content-type": "text/plain" }, "{}"),
  of("POST", maps, { "content-type": "application/vnd.kubernetes.protobuf" }, "garbage"),
  of("POST", maps, types.json, '{"metadata":{"name":"half"},"data":{"a":"\\ud800","a":"2"}}')
]

const meta = (as: string, version = "v1"): string => `application/json;as=${as};v=${version};g=meta.k8s.io`
const forms: ReadonlyArray<Case> = ["a", "", "none"].flatMap((end) =>
  [maps, things].flatMap((kind) =>
    [
      ..."application/json application/* */* application/yaml text/plain application/cbor garbage ,,,".split(" "),
      "*/*;q=0.1, application/yaml",
      "application/json;charset=utf-8",
      ...["Table", "PartialObjectMetadata", "PartialObjectMetadataList"].map((as) => meta(as)),
      meta("Table", "v1beta1"),
      meta("Table", "v9"),
      `${meta("Table", "v9")},application/json`
    ].map((wish) => accept(`${kind}/${end}`, wish))
  )
)

const access: ReadonlyArray<Case> = [
  ...[maps, `${things}/a/status`, "/api", "/apis", "/nope", "/metrics", "/livez/ping"].map(nobody),
  ..."/healthz /livez /readyz /version".split(" ").map(nobody),
  ...[maps, "/healthz"].map((path): Case => ({ method: "GET", path, token: "nobody's" })),
  { method: "GET", path: maps, token: "", headers: { authorization: "Basic YTpi" } },
  { method: "GET", path: maps, token: "", headers: { authorization: "Bearer" } }
]

/** Of a Status what it says, of other JSON its kind, of YAML its text without what differs by chance. */
const told = ({ code, headers, json, text }: Answer): unknown => {
  const shown =
    json?.kind === "Status"
      ? { message: json.message, reason: json.reason, status: json.status, details: json.details ?? {} }
      : json !== undefined
        ? (json.kind ?? Object.keys(json))
        : headers["content-type"] === "application/yaml"
          ? text.split("\n").filter((line) => /^(?:apiVersion|kind|message|reason|code):/.test(line))
          : text
  return {
    code,
    type: headers["content-type"],
    sniff: headers["x-content-type-options"],
    warning: headers.warning,
    shown
  }
}

const name = ({ body, headers = {}, method, path, token }: Case): string =>
  [method, path, ...Object.values(headers), body, token].filter((part) => part !== undefined).join(" | ")

describe.runIf(available())("the listener beside a real server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect(
      "paths, bodies, forms and access are answered alike (F21, F22, F36, F38, F51, F52, F160, F161, F166)",
      () =>
        Effect.gen(function* () {
          const connection = yield* ControlPlane
          yield* RealServer.serve(RealServer.make(connection), crd)
          const real = { ...connection, port: Number(new URL(connection.url).port) }
          const ours = yield* ApiServer.listen()
          const seeds: ReadonlyArray<Case> = [
            of("POST", "/api/v1/namespaces", types.json, JSON.stringify({ metadata: { name: namespace } })),
            of("POST", maps, types.json, '{"metadata":{"name":"a"},"data":{"a":"1"}}'),
            of(
              "POST",
              things,
              types.json,
              JSON.stringify({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } })
            )
          ]
          const asked = (where: Parameters<typeof ask>[0], one: Case) =>
            ask(where, one.method, one.path, one).pipe(
              Effect.timeout("20 seconds"),
              Effect.match({ onFailure: ({ message }): unknown => message, onSuccess: told })
            )
          for (const seed of seeds) {
            yield* asked(real, seed)
            yield* asked(ours, seed)
          }
          const cases = [...paths, ...bodies, ...forms, ...access]
          const found = yield* Effect.forEach(
            cases,
            (one) =>
              Effect.gen(function* () {
                const wanted = yield* asked(real, one)
                const got = yield* asked(ours, one)
                return JSON.stringify(wanted) === JSON.stringify(got) ? [] : [[name(one), { wanted, got }] as const]
              }),
            { concurrency: 8 }
          )
          const differences = Object.fromEntries(found.flat())
          assert.deepStrictEqual(differences, {})
        }).pipe(Effect.provide(ApiServer.layer({ kinds: [crd] })), Effect.scoped),
      120_000
    )
  })
})
