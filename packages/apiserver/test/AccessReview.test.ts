import { assert, describe, it, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import { virtualResources } from "../src/internal/accessReviews.ts"
import * as MemoryServer from "./memoryServer.ts"
import * as RealServer from "./realServer.ts"

const who = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
const may = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
const rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

describe("reviews of access", () => {
  it("tell who asks: the user of the request, an admin where none is named", () => {
    const memory = MemoryServer.make()
    const user = { name: "eve", groups: ["team"] }
    assert.deepStrictEqual(memory.request("POST", who, {}, { user }).body.status, {
      userInfo: { username: "eve", groups: ["team"] }
    })
    assert.strictEqual(memory.request("POST", who, {}).body.status.userInfo.username, "admin")
  })

  it("are stored nowhere", () => {
    const memory = MemoryServer.make()
    assert.strictEqual(memory.request("POST", who, {}).code, 201)
    assert.strictEqual(memory.request("GET", who).code, 405)
    assert.strictEqual(memory.request("GET", `${who}/x`).code, 404)
  })

  it("are named for discovery by their plurals", () => {
    assert.deepStrictEqual(
      virtualResources.map(({ group, plural, version }) => `/apis/${group}/${version}/${plural}`),
      [who, may, rules]
    )
  })
})

const requests: ReadonlyArray<readonly [method: "GET" | "POST" | "PUT", path: string, body?: unknown]> = [
  ["POST", who, { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" }],
  ["POST", who, {}],
  // Clients of Go send the answer along, empty.
  ["POST", may, { spec: { nonResourceAttributes: { path: "/healthz", verb: "get" } }, status: { allowed: false } }],
  ["POST", may, { spec: { nonResourceAttributes: { path: "/healthz", verb: "get" } }, status: { allow: true } }],
  [
    "POST",
    rules,
    { spec: { namespace: "default" }, status: { resourceRules: null, nonResourceRules: null, incomplete: false } }
  ],
  ["POST", who, { status: { userInfo: { username: "z" } } }],
  ["POST", who, [1]],
  ["GET", who],
  ["GET", `${who}/x`],
  ["PUT", `${who}/x`, {}],
  ["POST", `${who}?dryRun=Bad`, {}],
  ["POST", `${who}?fieldValidation=Strict`, { x: 1 }],
  ["POST", may, { spec: { resourceAttributes: { namespace: "default", verb: "get", resource: "pods" } } }],
  ["POST", may, { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } }],
  ["POST", may, { spec: { resourceAttributes: { verb: "get", fieldSelector: { rawSelector: "a=b" } } } }],
  ["POST", may, {}],
  ["POST", may, { spec: { resourceAttributes: {}, nonResourceAttributes: {} } }],
  ["POST", `${may}?fieldValidation=Strict`, { spec: { nonResourceAttributes: { path: "/x" } }, x: 1 }],
  ["POST", rules, { kind: "SelfSubjectRulesReview", apiVersion: "authorization.k8s.io/v1", spec: { namespace: "a" } }],
  ["POST", rules, {}],
  ["POST", rules, { spec: null }],
  ["POST", rules, { spec: { namespace: 5 } }]
]

/** Times are not compared, and rules in no order: a real server has none. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner) => {
      if (key === "time" || key === "creationTimestamp") return "T"
      if (key === "resourceRules" || key === "nonResourceRules") {
        return inner.map((rule: unknown) => JSON.stringify(rule)).toSorted()
      }
      return inner
    })
  )

describe.runIf(ControlPlane.available())("reviews of access and a real API server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("agree on what an admin asks, and on what is no question", () =>
      Effect.gen(function* () {
        const real = RealServer.make(yield* ControlPlane.ControlPlane)
        const memory = MemoryServer.make()
        const { groups, uid, username: name } = (yield* real.request("POST", who, {})).body.status.userInfo
        for (const [method, path, body] of requests) {
          const theirs = yield* real.request(method, path, body)
          const ours = memory.request(method, path, body, { user: { name, uid, groups } })
          const what = `${method} ${path} ${JSON.stringify(body)}`
          assert.deepStrictEqual([ours.code, comparable(ours.body)], [theirs.code, comparable(theirs.body)], what)
        }
      })
    )
  })
})
