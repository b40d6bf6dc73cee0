import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApiError from "../src/ApiError.ts"

const operation = {
  verb: "patch",
  resource: "widgets.example.com/status",
  ref: { namespace: "ns1", name: "a" }
} as const
const from = (code: number, body: unknown, retryAfterSeconds?: number) =>
  ApiError.fromAnswer(operation, { code, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })

describe("ApiError", () => {
  it("is one line that says what was asked, of what, and what was answered", () => {
    assert.strictEqual(
      from(409, { kind: "Status", reason: "Conflict", message: "the object has been modified" }).message,
      "patch widgets.example.com/status ns1/a: 409 Conflict: the object has been modified"
    )
  })

  it.each([
    [
      403,
      'roles.access.example.com is forbidden: User "u" cannot watch resource "roles" in API group "access.example.com" at the cluster scope',
      "grant this account list and watch on roles.access.example.com in the whole cluster: Controller.rbac prints the rules"
    ],
    [
      403,
      'configmaps "a" is forbidden: User "u" cannot patch resource "configmaps" in API group "" in the namespace "ns1"',
      "grant this account patch on configmaps in namespace ns1: Controller.rbac prints the rules"
    ],
    [
      403,
      'widgets "a" is forbidden: User "u" cannot patch resource "widgets/status" in API group "example.com" in the namespace "ns1"',
      "grant this account patch on widgets.example.com/status in namespace ns1: Controller.rbac prints the rules"
    ],
    [403, 'admission webhook "w.example.com" denied the request: no', undefined],
    [
      401,
      "Unauthorized",
      "this account's credentials are not accepted: have they expired, or are they another cluster's?"
    ],
    [413, "Request entity too large: limit is 3145728", "make the object smaller"],
    [
      500,
      "etcdserver: request is too large",
      "the object would be larger than the server stores, 1.5 MiB by default: make it or its status smaller"
    ],
    [
      500,
      "failed to create typed patch object: .status.note: field not declared in schema",
      "the CRD is not that of this operator: apply what Kind.customResourceDefinition gives"
    ],
    [500, "internal error", undefined]
  ])("says what may be done about a %i: %s", (code, message, remedy) => {
    const { message: told } = from(code, { kind: "Status", message })
    assert.isTrue(told.endsWith(remedy === undefined ? `: ${message}` : `: ${message}; ${remedy}`), told)
  })

  it("asks for create and patch where an apply is refused, since it makes what is not there", () => {
    const message = 'User "u" cannot patch resource "configmaps" in API group "" in the namespace "ns1"'
    const error = ApiError.fromAnswer({ ...operation, verb: "apply" }, { code: 403, body: { message } })
    assert.include(error.message, "; grant this account create and patch on configmaps in namespace ns1:")
  })

  it("reads a Status, a Status without kind, plain text and nothing (F36, F165, F166)", () => {
    assert.strictEqual(from(404, "404 page not found\n").reason.message, "404 page not found")
    assert.strictEqual(from(429, "Too many requests, please try again later.\n", 1).reason._tag, "TooManyRequests")
    assert.strictEqual(from(504, { reason: "Timeout", message: "Timeout: ..." }).reason._tag, "ServerTimeout")
    assert.strictEqual(from(500, undefined).reason.message, "the server answered 500")
  })

  it("tells the 409s, the 422s and the 403s apart (F70, F71, F80, F91, F127)", () => {
    const tag = (code: number, body: object) => from(code, body).reason._tag
    assert.strictEqual(tag(409, { reason: "AlreadyExists" }), "AlreadyExists")
    assert.strictEqual(tag(409, { reason: "Conflict" }), "Conflict")
    assert.strictEqual(
      tag(409, { reason: "Conflict", details: { causes: [{ reason: "FieldManagerConflict" }] } }),
      "ApplyConflict"
    )
    assert.strictEqual(tag(422, { reason: "Invalid", details: {} }), "TestFailed")
    assert.strictEqual(tag(422, { reason: "Invalid", details: { name: "a", causes: [{}] } }), "Invalid")
    assert.strictEqual(
      tag(403, { reason: "Forbidden", details: { causes: [{ reason: "NamespaceTerminating" }] } }),
      "NamespaceTerminating"
    )
    assert.strictEqual(tag(403, { reason: "Forbidden" }), "Forbidden")
    assert.strictEqual(tag(410, { reason: "Expired" }), "Expired")
    assert.strictEqual(tag(415, {}), "Refused")
  })

  it("takes the longer of the two delays and the token of the rest of a list (F41, F45)", () => {
    const both = from(504, { reason: "Timeout", details: { retryAfterSeconds: 1 } }, 5).reason
    assert.strictEqual("retryAfterMillis" in both ? both.retryAfterMillis : undefined, 5_000)
    const expired = from(410, { reason: "Expired", metadata: { continue: "next" } }).reason
    assert.strictEqual(expired._tag === "Expired" ? expired.continueToken : undefined, "next")
  })

  it("does not carry a whole object into a log: a server's text is cut", () => {
    assert.isBelow(
      from(422, { reason: "Invalid", message: "x".repeat(1_000_000), details: { name: "a" } }).message.length,
      1_200
    )
  })

  it.effect.prop(
    "reads any body under any code without throwing, always on one line",
    [Schema.Int, Schema.Json],
    ([code, body]) =>
      Effect.sync(() => {
        for (const answer of [
          { code: 400 + (Math.abs(code) % 200), body },
          { code: 422, body: { message: body, reason: body, details: { causes: [body], name: body } } }
        ])
          assert.notInclude(ApiError.fromAnswer(operation, answer).message, "\n")
      }),
    { arbitrary: { runs: 1_000 } }
  )
})
