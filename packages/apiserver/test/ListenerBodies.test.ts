import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApiServer from "../src/ApiServer.ts"
import { parse } from "../src/internal/http/body.ts"
import * as JsonText from "../src/internal/http/jsonText.ts"
import { group, widgetCrd } from "./fixtures.ts"
import { ask, socket, until } from "./wireClient.ts"

const world = () => ApiServer.layer({ kinds: [widgetCrd()], seed: 1 })
const listening = ApiServer.listen({ tls: false })

const maps = "/api/v1/namespaces/default/configmaps"
const widgetsPath = `/apis/${group}/v1/namespaces/default/widgets`
const utf8 = new TextEncoder()

describe("bodies over HTTP", () => {
  it.live("keys that occur twice are told and refused where the client wishes (F26)", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const twice = (name: string) => `{"metadata":{"name":"${name}"},"data":{"a":"1","b":"{\\"a\\":1}","a":"2"}}`
      const told = yield* ask(to, "POST", maps, { body: twice("a") })
      assert.deepStrictEqual([told.code, told.json.data.a], [201, "2"])
      assert.strictEqual(told.headers.warning, '299 - "duplicate field \\"data.a\\""')
      const strict = yield* ask(to, "POST", `${maps}?fieldValidation=Strict`, { body: twice("b") })
      assert.deepStrictEqual(
        [strict.code, strict.json.message],
        [
          400,
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"'
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("what is no JSON is refused in Go's words, and what is no body at all too (F21, F22)", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const told = (body: string | Buffer, headers = {}) =>
        Effect.map(ask(to, "POST", maps, { body, headers }), ({ code, json }) => [code, json.message])
      const unrecognized = (why: string) => [
        400,
        `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ${why}`
      ]
      assert.deepStrictEqual(
        yield* told("{not json"),
        unrecognized("invalid character 'n' looking for beginning of object key string ({not json)")
      )
      assert.deepStrictEqual(yield* told(""), unrecognized("unexpected end of JSON input (<empty>)"))
      assert.deepStrictEqual(
        yield* told(Buffer.from([0x1f, 0x8b, 8, 0])),
        unrecognized("invalid character '\\x1f' looking for beginning of value (1f8b0800)")
      )
      assert.strictEqual((yield* told("{}", { "content-type": "text/plain" }))[0], 415)
      assert.deepStrictEqual(
        yield* Effect.map(
          ask(to, "PATCH", `${maps}/a`, { body: "{", headers: { "content-type": "application/merge-patch+json" } }),
          ({ json }) => json.message
        ),
        "error decoding patch: unexpected end of JSON input"
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("YAML is read where the type says so, and clients may send JSON under its name", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const yaml =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  when: 2026-11-30T00:00:00Z\n  on: 'yes'\n"
      const made = yield* ask(to, "POST", maps, { body: yaml, headers: { "content-type": "application/yaml" } })
      assert.deepStrictEqual([made.code, made.json.data], [201, { when: "2026-11-30T00:00:00Z", on: "yes" }])
      const apply = (body: unknown) =>
        ask(to, "PATCH", `${maps}/b?fieldManager=m`, {
          body,
          headers: { "content-type": "application/apply-patch+yaml" }
        })
      assert.strictEqual((yield* apply(yaml.replace("name: a", "name: b"))).code, 201)
      const json = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" }, data: { x: "1" } }
      assert.deepStrictEqual((yield* apply(json)).json.data, { x: "1" })
      const bomb =
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]"
      const refused = yield* ask(to, "POST", maps, { body: bomb, headers: { "content-type": "application/yaml" } })
      assert.strictEqual(refused.code, 400)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a body too large is refused without being kept, whether its length was announced or not (F28)", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const body = JSON.stringify({ metadata: { name: "a" }, data: { a: "x".repeat(3_200_000) } })
      const message = "Request entity too large: limit is 3145728"
      const announced = yield* ask(to, "POST", maps, { body })
      assert.deepStrictEqual([announced.code, announced.json.message], [413, message])
      const chunked = yield* socket(to)
      chunked.socket.write(
        `POST ${maps} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${to.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      )
      chunked.socket.write(`${body.length.toString(16)}\r\n${body}\r\n`)
      yield* until("the answer has come", () => chunked.heard().includes(message))
      assert.isTrue(chunked.heard().startsWith("HTTP/1.1 413"))
      assert.strictEqual((yield* ask(to, "GET", maps)).json.items.length, 0)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("deep nesting and too many parts are refused, and no key reaches a prototype", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const deep = (levels: number) => `{"metadata":{"name":"a"},"x":${"[".repeat(levels)}${"]".repeat(levels)}}`
      assert.strictEqual((yield* ask(to, "POST", maps, { body: deep(100_000) })).code, 400)
      assert.strictEqual((yield* ask(to, "POST", maps, { body: deep(400) })).code, 201)
      const many = JSON.stringify({
        metadata: { name: "b" },
        data: Object.fromEntries([...Array(40_000).keys()].map((i) => [`k${i}`, ""]))
      })
      assert.include((yield* ask(to, "POST", maps, { body: many })).json.message, "exceeded max number")
      const evil =
        '{"__proto__":{"polluted":1},"metadata":{"name":"c","labels":{"__proto__":"x"}},"data":{"__proto__":"y","constructor":"z"}}'
      const made = yield* ask(to, "POST", `${maps}?__proto__=1&constructor=2`, { body: evil })
      assert.isUndefined(({} as { polluted?: number }).polluted)
      assert.strictEqual(made.code, 422)
      const spec = `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1,"__proto__":{"size":2}}}`
      const widget = yield* ask(to, "POST", widgetsPath, { body: spec })
      assert.deepStrictEqual(
        [widget.code, widget.json.spec.size, Object.hasOwn(widget.json.spec, "__proto__")],
        [201, 1, false]
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("characters that are split between packets are whole, and bytes that are none are replaced", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const body = Buffer.from('{"metadata":{"name":"a"},"data":{"a":"päöü€😀"}}')
      const held = yield* socket(to)
      held.socket.write(
        `POST ${maps} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${to.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
      )
      for (const byte of body) {
        held.socket.write(Buffer.from([byte]))
        yield* Effect.sleep(1)
      }
      yield* until("the answer has come", () => held.heard().includes("201 Created"))
      assert.strictEqual((yield* ask(to, "GET", `${maps}/a`)).json.data.a, "päöü€😀")
      const invalid = Buffer.concat([
        Buffer.from('{"metadata":{"name":"b"},"data":{"a":"'),
        Buffer.from([0xff, 0xc3]),
        Buffer.from('"}}')
      ])
      assert.strictEqual((yield* ask(to, "POST", maps, { body: invalid })).json.data.a, "\uFFFD\uFFFD")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("a duration of no unit, or none at all, is refused; others pass (F166)", () =>
    Effect.gen(function* () {
      const to = yield* listening
      const told = (timeout: string) =>
        Effect.map(ask(to, "GET", `${maps}?timeout=${timeout}`), ({ code, json }) => [code, json.message])
      const text = "invalid timeout specified in the request URL - time:"
      assert.deepStrictEqual(yield* told("5"), [400, `${text} missing unit in duration "5"`])
      assert.deepStrictEqual(yield* told("abc"), [400, `${text} invalid duration "abc"`])
      for (const passes of ["32s", "1m30s", "0s", "-1s", "1.5h"]) assert.strictEqual((yield* told(passes))[0], 200)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("JSON as text", () => {
  it.prop(
    "the keys of a text that has none twice are those of its value, and Go has no complaint of it (F21, F26)",
    { value: Schema.Json },
    ({ value }) => {
      for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
        assert.strictEqual(JsonText.shapeOf(text).keys, JsonText.countKeys(JSON.parse(text)))
        assert.deepStrictEqual(JsonText.duplicates(text), [])
      }
    },
    { arbitrary: { runs: 1_000 } }
  )

  it.prop(
    "any bytes under any type are read or refused, and never throw",
    {
      bytes: Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
        maxLength: 60
      })
    },
    ({ bytes }) => {
      for (const type of ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", undefined]) {
        const { body } = parse(Uint8Array.from(bytes), type)
        assert.strictEqual(body.bodyBytes, bytes.length)
      }
    },
    { arbitrary: { runs: 1_000 } }
  )

  const complaints: ReadonlyArray<readonly [string, string]> = [
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ['{"a"', "unexpected end of JSON input"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["nul", "invalid character ' ' in literal null (expecting 'l')"],
    ["nuxl", "invalid character 'x' in literal null (expecting 'l')"],
    ["{} x", "invalid character 'x' after top-level value"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12G4"', "invalid character 'G' in \\u hexadecimal character escape"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ["-x", "invalid character 'x' in numeric literal"],
    ["01", "invalid character '1' after top-level value"]
  ]
  it.each(complaints)("Go says of %j: %s (F21)", (text, said) => {
    assert.strictEqual(JsonText.complaint(text), said)
  })

  it("paths of double keys name the places in lists and below, each time that a key comes again (F26)", () => {
    const text = '{"a":1,"b":[{"c":1,"c":2},{"c":1}],"a":{"d":1,"d":2,"d":3}}'
    assert.deepStrictEqual(JsonText.duplicates(text), ["b[0].c", "a", "a.d", "a.d"])
    assert.strictEqual(utf8.encode(text).length, text.length)
  })
})
