import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Answer from "../src/internal/answer.ts"
import * as OpenApi from "../src/internal/openapi.ts"
import { textsOf } from "../src/internal/warnings.ts"
import { parse } from "../src/internal/watchEvent.ts"
import * as Urls from "../src/internal/urls.ts"
import { configMap, configMaps } from "./scriptedServer.ts"

const runs = { arbitrary: { runs: 2_000 } }

const watched = { resource: configMaps, namespace: "team" }

describe("a line of a watch", () => {
  it.prop(
    "no JSON whatever makes an object of what is no stored object, and nothing throws (B12)",
    [Schema.Json, Schema.Literals(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "FOO", ""])],
    ([object, type]) => {
      for (const line of [JSON.stringify({ type, object }), JSON.stringify(object), JSON.stringify([object])]) {
        const read = parse(line, watched)
        if (read._tag === "Event") assert.strictEqual(read.event.type, "BOOKMARK")
      }
    },
    runs
  )

  it.prop(
    "no beginning of an event counts as one (B12)",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))],
    ([n]) => {
      const whole = JSON.stringify({ type: "ADDED", object: { ...configMap("a"), data: { 日本: "🙂" } } })
      assert.strictEqual(parse(whole, watched)._tag, "Event")
      assert.strictEqual(parse(whole.slice(0, n % whole.length), watched)._tag, "Malformed")
    },
    runs
  )
})

describe("a path", () => {
  it.prop(
    "any name that may be sent comes out of the URL as it was, at its place",
    [Schema.String, Schema.String],
    ([namespace, name]) => {
      if (Urls.segmentFault("namespace", namespace) ?? Urls.segmentFault("name", name)) return
      const { pathname } = new URL(Urls.single(configMaps, namespace, name, "status"), "http://x")
      assert.deepStrictEqual(pathname.split("/").map(decodeURIComponent), [
        "",
        "api",
        "v1",
        "namespaces",
        namespace,
        "configmaps",
        name,
        "status"
      ])
    },
    runs
  )
})

describe("Retry-After", () => {
  const seconds = (value: string | undefined, date?: string) =>
    Answer.retryAfterSeconds({ "retry-after": value, date }, Date.parse("2026-01-01T00:00:00Z"))

  it("is seconds or a date, never negative, at most a day, and nothing else (B19)", () => {
    assert.deepStrictEqual(
      [
        seconds("7"),
        seconds(" 1.5 "),
        seconds("-3"),
        seconds("1e99"),
        seconds("Thu, 01 Jan 2026 00:01:00 GMT"),
        seconds("Thu, 01 Jan 2026 00:01:00 GMT", "Thu, 01 Jan 2026 00:00:50 GMT"),
        seconds("Thu, 01 Jan 2015 00:01:00 GMT"),
        seconds("soon"),
        seconds(""),
        seconds(undefined)
      ],
      [7, 1.5, 0, 86_400, 60, 10, 0, undefined, undefined, undefined]
    )
  })
})

describe("warnings", () => {
  it("are read out of one header or several, with quotes and commas in them (F25)", () => {
    assert.deepStrictEqual(textsOf('299 - "unknown field \\"a\\"", 299 - "b, c"'), ['unknown field "a"', "b, c"])
    assert.deepStrictEqual(textsOf(['299 - "a"', '300 - "b"', "nonsense"]), ["a"])
  })
})

describe("an OpenAPI document", () => {
  const gvk = [{ group: "example.com", version: "v1", kind: "Widget" }]
  const widget = { group: "example.com", version: "v1", kind: "Widget" }
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const document = (schemas: object) => ({ components: { schemas } })

  it("gives a schema with its references followed, defaults beside them kept, and rings cut (F170)", () => {
    const schema = OpenApi.schemaOf(
      document({
        "com.example.Other": { type: "object", "x-kubernetes-group-version-kind": [{ ...gvk[0], kind: "Other" }] },
        "com.example.Widget": {
          type: "object",
          "x-kubernetes-group-version-kind": gvk,
          properties: {
            part: { default: {}, allOf: [ref("Part")], description: "of it" },
            parts: { type: "array", items: ref("Part"), "x-kubernetes-list-type": "atomic" },
            gone: ref("Gone"),
            either: { oneOf: [{ type: "string" }, { type: "integer" }] }
          }
        },
        Part: { type: "object", description: "a part", properties: { inner: ref("Part"), size: { type: "integer" } } }
      }),
      widget
    )
    const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
    const part = { type: "object", description: "a part", properties: { inner: anything, size: { type: "integer" } } }
    assert.deepStrictEqual(schema?.properties, {
      part: { ...part, default: {}, description: "of it" },
      parts: { type: "array", items: part, "x-kubernetes-list-type": "atomic" },
      gone: anything,
      either: { oneOf: [{ type: "string" }, { type: "integer" }] }
    })
    assert.isUndefined(OpenApi.schemaOf(document({}), widget))
    assert.isUndefined(OpenApi.schemaOf(undefined, widget))
  })

  it("is fetched from the same server only: an index must not send our token elsewhere", () => {
    const path = (serverRelativeURL: unknown) =>
      OpenApi.documentPath({ paths: { "apis/example.com/v1": { serverRelativeURL } } }, widget)
    assert.strictEqual(path("/openapi/v3/apis/example.com/v1?hash=1"), "/openapi/v3/apis/example.com/v1?hash=1")
    assert.deepStrictEqual(
      [path("//evil.example/x"), path("https://evil.example/x"), path(1)],
      [undefined, undefined, undefined]
    )
    assert.isUndefined(OpenApi.documentPath({ paths: {} }, widget))
  })
})

describe("an answer", () => {
  it("of another shape than a list or an object is none, and does not throw", () => {
    const odd: ReadonlyArray<unknown> = [null, 1, "x", [], {}, { metadata: 1 }, { metadata: {}, items: [] }]
    for (const body of odd) {
      assert.isTrue(Result.isFailure(Answer.asPage(configMaps, undefined, body)))
      assert.isTrue(Result.isFailure(Answer.asDiscovered("x", body)))
    }
    const page = (items: unknown) => Answer.asPage(configMaps, undefined, { metadata: { resourceVersion: "1" }, items })
    assert.isTrue(Result.isFailure(page({})))
    assert.isTrue(Result.isFailure(page([null])))
    assert.isTrue(Result.isSuccess(page(null)))
  })
})
