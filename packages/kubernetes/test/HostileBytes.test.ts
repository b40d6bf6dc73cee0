/** Bytes and JSON of any kind through the parts that read what a server sends, without a socket. */
import { assert, describe, it } from "@effect/vitest"
import type { WatchEvent } from "@fixpoint/core/ApiClient"
import { fromAnswer } from "@fixpoint/core/ApiError"
import type { Resource } from "@fixpoint/core/KubeObject"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Answer from "../src/internal/answer.ts"
import { Gathered } from "../src/internal/gathered.ts"
import * as Lines from "../src/internal/lines.ts"
import { describe as describeFailure } from "../src/internal/networkFailure.ts"
import * as OpenApi from "../src/internal/openapi.ts"
import * as Stored from "../src/internal/stored.ts"
import { textsOf } from "../src/internal/warnings.ts"
import { type Line, parse } from "../src/internal/watchEvent.ts"
import { chanceOf } from "./hostileServer.ts"
import { configMap, configMaps } from "./scriptedServer.ts"

const runs = { arbitrary: { runs: 1_000 } }

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))
const Seed = below(2 ** 31)

const watched = { resource: configMaps, namespace: "team" }

const linesOf = (chunks: Iterable<Buffer>): ReadonlyArray<Line> => {
  const found: Array<Line> = []
  let pending: Lines.Pending | undefined
  for (const chunk of chunks) {
    const split = Lines.split(pending, chunk)
    for (const line of split.lines) found.push(parse(line, watched))
    pending = split.pending
  }
  const rest = Lines.rest(pending)
  return rest === undefined ? found : [...found, parse(rest, watched)]
}

const eventsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<WatchEvent> =>
  lines.flatMap((line) => (line._tag === "Event" ? [line.event] : []))

const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`

/** What a server may put where something else belongs. */
const Odd = Schema.Union([
  Schema.Json,
  Schema.Literals(["", "a", "a/b", "..", "__proto__", "constructor", "\u0000", "\ud800", "9".repeat(400)])
])

const Field = Schema.Literals([
  "name",
  "namespace",
  "generateName",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "managedFields"
])

const isTexts = (u: unknown): boolean =>
  typeof u === "object" && u !== null && !Array.isArray(u) && Object.values(u).every((one) => typeof one === "string")
const isRecords = (u: unknown): boolean =>
  Array.isArray(u) && u.every((one) => typeof one === "object" && one !== null && !Array.isArray(one))

/** The type that code behind the client relies on. */
const isOfType = (field: typeof Field.Type, value: unknown): boolean => {
  switch (field) {
    case "generation":
    case "deletionGracePeriodSeconds":
      return Number.isFinite(value)
    case "labels":
    case "annotations":
      return isTexts(value)
    case "finalizers":
      return Array.isArray(value) && value.every((one) => typeof one === "string")
    case "ownerReferences":
    case "managedFields":
      return isRecords(value)
    default:
      return typeof value === "string"
  }
}

describe("a watch of hostile bytes", () => {
  it.prop(
    "random bytes between whole events are never an event, and the events come out whole (B10, B12)",
    [Seed],
    ([seed]) => {
      const chance = chanceOf(seed)
      const names: Array<string> = []
      const parts = Array.from({ length: 8 }, (_, i) => {
        if (chance.int(2) === 0) return Buffer.concat([chance.bytes(chance.int(40)), Buffer.from("\n")])
        names.push(`c${i}`)
        return Buffer.from(line("ADDED", { ...configMap(`c${i}`), data: { k: "日本🙂é" } }))
      })
      const bytes = Buffer.concat(parts)
      const chunks: Array<Buffer> = []
      for (let at = 0; at < bytes.length;) {
        const end = at + 1 + chance.int(30)
        chunks.push(bytes.subarray(at, end))
        at = end
      }
      const events = eventsOf(linesOf(chunks))
      assert.deepStrictEqual(
        events.map((event) => (event.type === "BOOKMARK" ? "" : event.object.metadata.name)),
        names
      )
      for (const event of events)
        assert.deepStrictEqual(event.type !== "BOOKMARK" && event.object.data, { k: "日本🙂é" })
    },
    runs
  )

  it("an event cut at every byte, into two chunks and into single bytes, is the same event (B10)", () => {
    const object = { ...configMap("a"), data: { "\u0000": "日本🙂\u2028é", __proto__x: "\ufeff" } }
    const bytes = Buffer.from(line("MODIFIED", object))
    const whole = eventsOf(linesOf([bytes]))
    assert.deepStrictEqual(whole, [{ type: "MODIFIED", object } as never])
    for (let at = 0; at <= bytes.length; at++)
      assert.deepStrictEqual(eventsOf(linesOf([bytes.subarray(0, at), bytes.subarray(at)])), whole)
    assert.deepStrictEqual(eventsOf(linesOf([...bytes].map((byte) => Buffer.from([byte])))), whole)
  })

  it.prop(
    "metadata with any value in any field is refused, or has the types that everything behind relies on (B12)",
    [Field, Odd, Schema.Literals(["ADDED", "MODIFIED", "DELETED"])],
    ([field, value, type]) => {
      const sent = JSON.stringify({ type, object: configMap("a", "1", { [field]: value }) })
      const read = parse(sent, watched)
      if (read._tag === "Error") assert.fail("an object is no error")
      if (read._tag === "Malformed") {
        assert.match(read.message, /^an event (ADDED|MODIFIED|DELETED) of an object /)
        return
      }
      const { event } = read
      if (event.type === "BOOKMARK") return assert.fail("an object is no bookmark")
      const { metadata } = event.object
      assert.strictEqual(metadata.namespace, "team")
      assert.match(metadata.name, /^[^/]+$/)
      assert.isString(metadata.resourceVersion)
      const kept: unknown = metadata[field]
      if (kept !== undefined && kept !== null) assert.isTrue(isOfType(field, kept), JSON.stringify(kept))
      if (kept === null) assert.strictEqual(field, "creationTimestamp")
    },
    { arbitrary: { runs: 4_000 } }
  )

  it("an object of another kind, name, namespace or scope is none, nor one in whose name a slash stands", () => {
    const zones: Resource = { group: "a.b", version: "v1", kind: "Zone", plural: "zones", scope: "Cluster" }
    const fault = (more: object, place: Stored.Place = { namespace: "team", name: "a" }) =>
      Stored.storedFault(configMaps, place, { ...configMap("a"), ...more })
    const meta = (more: object) => ({ metadata: { ...configMap("a").metadata, ...more } })
    assert.isUndefined(fault({}))
    assert.isUndefined(fault({}, {}))
    assert.deepStrictEqual(
      [
        fault({ kind: "Secret" }),
        fault({ apiVersion: "v2" }),
        fault(meta({ name: "b" })),
        fault(meta({ name: "" })),
        fault(meta({ name: "a/b" }), {}),
        fault(meta({ namespace: "other" })),
        fault(meta({ namespace: undefined })),
        fault(meta({ namespace: null }), {}),
        fault({ metadata: [] })
      ],
      [
        "an object of another kind",
        "an object of another kind",
        "an object of another name",
        "an object without a name",
        "an object without a name",
        "an object of another namespace",
        "an object without a namespace",
        "an object without a namespace",
        "not an object"
      ]
    )
    const zone = (metadata: object) => ({ apiVersion: "a.b/v1", kind: "Zone", metadata: { name: "z", ...metadata } })
    assert.isUndefined(Stored.storedFault(zones, { namespace: "ignored", name: "z" }, zone({})))
    assert.strictEqual(Stored.storedFault(zones, {}, zone({ namespace: "team" })), "an object in a namespace")
  })

  it("fields of `__proto__` and the like are fields, and change no object but their own", () => {
    const text = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},
      "metadata":{"name":"a","namespace":"team","uid":"u","resourceVersion":"1","labels":{"__proto__":"x","constructor":"y","toString":"z"}},
      "data":{"__proto__":"evil","hasOwnProperty":"h"}}}`
    const [event] = eventsOf(linesOf([Buffer.from(`${text.replaceAll("\n", "")}\n`)]))
    if (event === undefined || event.type === "BOOKMARK") return assert.fail("no event")
    assert.deepStrictEqual(Object.keys(event.object.metadata.labels ?? {}), ["__proto__", "constructor", "toString"])
    assert.deepStrictEqual(Object.entries(event.object.data as object), [
      ["__proto__", "evil"],
      ["hasOwnProperty", "h"]
    ])
    assert.strictEqual(Object.getPrototypeOf(event.object), Object.prototype)
    assert.isUndefined(({} as { polluted?: unknown }).polluted)
  })

  it("a field set that is nested 100,000 deep is refused instead of bringing down a cache that compares it", () => {
    const fields = "".concat('{"f:a":'.repeat(100_000), "{}", "}".repeat(100_000))
    const text = JSON.stringify({
      type: "ADDED",
      object: configMap("a", "1", { managedFields: [{ manager: "m", fieldsV1: "HERE" }] })
    })
    assert.deepStrictEqual(parse(text.replace('"HERE"', fields), watched), {
      _tag: "Malformed",
      message: "an event ADDED of an object with a metadata.managedFields of a wrong type"
    })
    assert.strictEqual(parse(text.replace('"HERE"', '{"f:a":{"f:b":{}}}'), watched)._tag, "Event")
  })

  it("a line in chunks of one byte is kept in a few pieces, not in one a byte", () => {
    let pending: Lines.Pending | undefined
    for (let i = 0; i < 200_000; i++) pending = Lines.split(pending, Buffer.from("x")).pending
    let pieces = 0
    for (let at = pending; at !== undefined; at = at.before) pieces++
    assert.strictEqual(pending?.bytes, 200_000)
    assert.isBelow(pieces, 70)
    assert.strictEqual(Lines.rest(pending)?.length, 200_000)
  })
})

describe("the body of an answer", () => {
  it.prop(
    "is put together from any chunks as it was, and cut at its limit",
    [Seed],
    ([seed]) => {
      const chance = chanceOf(seed)
      const bytes = Buffer.from("日本🙂é".repeat(chance.int(200)))
      const gathered = new Gathered(chance.int(2_000))
      let isWithin = true
      for (let at = 0; at < bytes.length;) {
        const end = Math.min(bytes.length, at + 1 + chance.int(3))
        isWithin = gathered.add(bytes.subarray(at, end))
        at = end
      }
      assert.strictEqual(gathered.bytes, bytes.length)
      assert.strictEqual(isWithin, bytes.length <= gathered.max)
      assert.strictEqual(gathered.text(), bytes.subarray(0, gathered.max).toString("utf8"))
    },
    runs
  )
})

describe("a list of hostile JSON", () => {
  it.prop(
    "is refused whole or holds stored objects only, and never loses the token of its rest (B12)",
    [Schema.Json, Odd, Odd, Odd],
    ([items, version, token, item]) => {
      const bodies: ReadonlyArray<unknown> = [
        { metadata: { resourceVersion: version, continue: token }, items },
        { metadata: { resourceVersion: "1", continue: token }, items: [configMap("a"), item] },
        { metadata: { resourceVersion: "1", continue: token }, items: [configMap("a")] },
        { metadata: item, items: [] },
        item
      ]
      for (const body of bodies) {
        const page = Answer.asPage(configMaps, "team", structuredClone(body))
        if (Result.isFailure(page)) {
          assert.match(page.failure, /^(not a list|a list with .+|a list whose token is no text)$/)
          continue
        }
        for (const object of page.success.items) assert.isUndefined(Stored.storedFault(configMaps, watched, object))
        assert.isTrue(token === null || token === "" || page.success.continue === token)
      }
    },
    runs
  )
})

describe("an error of hostile JSON", () => {
  const Status = Schema.Struct({
    kind: Odd,
    message: Odd,
    reason: Odd,
    code: Odd,
    details: Schema.Union([
      Odd,
      Schema.Struct({ causes: Schema.Union([Odd, Schema.Array(Odd)]), retryAfterSeconds: Odd, name: Odd })
    ]),
    metadata: Odd
  })

  it.prop(
    "is told in one short line, waits a day at most, and has causes of texts only",
    [
      Status,
      below(200),
      Schema.Union([Schema.String, Schema.Literals(["-5", "1e9", "1e400", "soon", "Infinity", "0x10"])])
    ],
    ([status, code, header]) => {
      for (const body of [status, JSON.stringify(status), header]) {
        const seconds = Answer.retryAfterSeconds({ "retry-after": header }, 0)
        if (seconds !== undefined) assert.isTrue(seconds >= 0 && seconds <= 86_400)
        const { message, reason } = fromAnswer(
          { verb: "get", resource: "configmaps" },
          {
            code: 400 + code,
            body: typeof body === "string" ? Answer.errorBody(body) : body,
            ...(seconds !== undefined && { retryAfterSeconds: seconds })
          }
        )
        assert.isBelow(message.length, 1_100)
        assert.notMatch(message, /[\p{Cc}\u2028\u2029]/u)
        if (!("causes" in reason)) return assert.fail("an answer has causes")
        assert.isTrue((reason.retryAfterMillis ?? 1) > 0 && (reason.retryAfterMillis ?? 0) <= 86_400_000)
        for (const cause of reason.causes)
          for (const text of [cause.field, cause.message, cause.reason]) assert.isTrue(typeof (text ?? "") === "string")
      }
    },
    runs
  )

  it("says nothing that speaks to the terminal, or looks like another line of the log", () => {
    const message = "no\u001b[2J\u001b]0;owned\u0007\r\n2026-01-01 ERROR forged\u2028\u0085more"
    const error = fromAnswer({ verb: "get", resource: "configmaps" }, { code: 500, body: { message } })
    assert.strictEqual(error.message, "get configmaps: 500 ServerError: no [2J ]0;owned 2026-01-01 ERROR forged more")
  })

  it("a wait of 1e400 seconds in the Status is a day", () => {
    const body = JSON.parse('{"details":{"retryAfterSeconds":1e400}}')
    const { reason } = fromAnswer({ verb: "get", resource: "configmaps" }, { code: 429, body })
    assert.strictEqual("retryAfterMillis" in reason && reason.retryAfterMillis, 86_400_000)
  })

  it.prop(
    "a failure of the network is told in one line whatever it is",
    [Odd, Odd],
    ([code, inner]) => {
      for (const error of [
        code,
        { code },
        { cause: { code: inner } },
        { errors: [inner] },
        { name: "HTTPParserError", code }
      ])
        assert.match(describeFailure(error, "https://x"), /^https:\/\/x: /)
    },
    runs
  )

  it("headers of warnings take no long time, however they are written (F25)", () => {
    const hostile = [
      "299 ".repeat(4_000),
      `299 - "${"\\".repeat(16_000)}`,
      `299 - "${'\\"'.repeat(8_000)}`,
      '299 - "'.repeat(2_000),
      `299 ${"x".repeat(16_000)} "`
    ]
    const started = performance.now()
    for (const header of hostile) textsOf(header)
    assert.isBelow(performance.now() - started, 2_000)
  })
})

describe("a hostile OpenAPI document", () => {
  const widget = { group: "example.com", version: "v1", kind: "Widget" }
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const gvk = { "x-kubernetes-group-version-kind": [widget] }

  it.prop(
    "of any JSON gives a schema or none, and does not throw",
    [Schema.Json, Odd],
    ([document, part]) => {
      for (const schemas of [document, { Widget: { ...gvk, properties: part } }, { Widget: part, __proto__x: part }])
        OpenApi.schemaOf({ components: { schemas } }, widget)
      OpenApi.documentPath({ paths: document }, widget)
      OpenApi.documentPath(document, widget)
    },
    runs
  )

  it("schemas that hold each other twice, forty deep, stay as many as they are", () => {
    const schemas: Record<string, unknown> = { S0: { ...gvk, properties: { a: ref("S1"), b: ref("S1") } } }
    for (let i = 1; i < 40; i++) schemas[`S${i}`] = { properties: { a: ref(`S${i + 1}`), b: ref(`S${i + 1}`) } }
    const started = performance.now()
    const schema = OpenApi.schemaOf({ components: { schemas } }, widget) as Record<string, Record<string, unknown>>
    assert.isBelow(performance.now() - started, 2_000)
    assert.deepStrictEqual(Object.keys(schema.properties ?? {}), ["a", "b"])
  })

  it("references to what every object inherits are no schemas", () => {
    const schemas = {
      Widget: { ...gvk, properties: { a: ref("__proto__"), b: ref("constructor"), c: ref("toString") } }
    }
    const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
    assert.deepStrictEqual(OpenApi.schemaOf({ components: { schemas } }, widget)?.properties, {
      a: anything,
      b: anything,
      c: anything
    })
  })
})
