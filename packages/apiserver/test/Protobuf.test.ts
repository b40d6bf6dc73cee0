/**
 * Bodies in protobuf against those that Go's own encoder wrote: `data/protobuf.json` has what client-go's serializer made of random objects of every kind, and
 * what Go's JSON says of the same objects.
 */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { virtualResources } from "../src/internal/accessReviews.ts"
import { definitions } from "../src/internal/builtInKinds.ts"
import { decodeBody, type Decoded } from "../src/internal/protobuf.ts"
import * as MemoryServer from "./memoryServer.ts"

type Json = any

const recorded: ReadonlyArray<{ readonly bytes: string; readonly json: Json }> = JSON.parse(
  readFileSync(new URL("./data/protobuf.json", import.meta.url), "utf8")
)

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"))

const body = (decoded: Decoded): Json => {
  assert.strictEqual(decoded._tag, "Decoded", decoded._tag === "Malformed" ? decoded.why : "")
  return decoded._tag === "Decoded" ? decoded.body : undefined
}

const why = (decoded: Decoded): string => (decoded._tag === "Malformed" ? decoded.why : "decoded")

type Bytes = ReadonlyArray<number>

const number = (value: number): Bytes => (value < 128 ? [value] : [(value & 127) | 128, ...number(value >>> 7)])
const text = (value: string): Bytes => [...new TextEncoder().encode(value)]
/** A field that says its length. */
const sized = (field: number, value: Bytes | string): Bytes => {
  const bytes = typeof value === "string" ? text(value) : value
  return [...number((field << 3) | 2), ...number(bytes.length), ...bytes]
}
const plain = (field: number, value: Bytes): Bytes => [...number(field << 3), ...value]

const magic = text("k8s\0")

const envelope = (apiVersion: string, kind: string, message: Bytes): Uint8Array =>
  Uint8Array.from([...magic, ...sized(1, [...sized(1, apiVersion), ...sized(2, kind)]), ...sized(2, message)])

const configMap = (message: Bytes): Decoded => decodeBody(envelope("v1", "ConfigMap", message))
const metadata = (message: Bytes): Json => body(configMap(sized(1, message))).metadata

describe("a body in protobuf", () => {
  it("says what Go's JSON says of the same object, for every kind that is served", () => {
    for (const { bytes, json } of recorded) assert.deepStrictEqual(body(decodeBody(bytesOf(bytes))), json)
    const kinds = new Set(recorded.map(({ json }) => `${json.apiVersion} ${json.kind}`))
    for (const { apiVersion, kind } of definitions.flatMap(({ served }) => served)) {
      assert.isTrue(kinds.has(`${apiVersion} ${kind}`), `nothing was recorded of ${apiVersion} ${kind}`)
    }
    for (const { group, kind, version } of virtualResources)
      assert.isTrue(kinds.has(`${group}/${version} ${kind}`), kind)
    assert.isTrue(kinds.has("autoscaling/v1 Scale"))
  })

  it("leaves out what Go leaves out of a zero, and says null where a list is missing", () => {
    assert.deepStrictEqual(body(decodeBody(envelope("apps/v1", "Deployment", []))), {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {},
      spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {}
    })
    assert.deepStrictEqual(metadata([...sized(1, ""), ...sized(8, []), ...plain(7, [0])]), {})
    assert.deepStrictEqual(metadata([...plain(10, [0]), ...sized(9, plain(1, [0]))]), {
      deletionGracePeriodSeconds: 0,
      deletionTimestamp: "1970-01-01T00:00:00Z"
    })
  })

  it("takes the last of a value, joins the parts of a message, and goes past what it does not know", () => {
    const unknown = [
      ...plain(900, [1]),
      ...sized(901, "x"),
      ...number((902 << 3) | 1),
      ...text("12345678"),
      ...number((903 << 3) | 5),
      ...text("1234"),
      ...number((904 << 3) | 3),
      ...plain(1, [5]),
      ...number((7 << 3) | 3),
      ...number((7 << 3) | 4),
      ...number((904 << 3) | 4)
    ]
    const found = configMap([
      ...sized(1, [...sized(1, "a"), ...unknown, ...sized(1, "b")]),
      ...unknown,
      ...sized(1, [...sized(3, "ns"), ...sized(14, "f"), ...sized(14, "g")])
    ])
    assert.deepStrictEqual(body(found).metadata, { name: "b", namespace: "ns", finalizers: ["f", "g"] })
  })

  it("reads lists of numbers in both of their forms", () => {
    const context = [...plain(4, [5]), ...sized(4, [...number(300), 7]), ...plain(4, [0])]
    const pod = body(decodeBody(envelope("v1", "Pod", sized(2, sized(14, context)))))
    assert.deepStrictEqual(pod.spec.securityContext, { supplementalGroups: [5, 300, 7, 0] })
  })

  it("keeps a key that names the prototype as a key", () => {
    const entry = [...sized(1, "__proto__"), ...sized(2, "x")]
    const { data } = body(configMap(sized(2, entry)))
    assert.deepStrictEqual(Object.keys(data), ["__proto__"])
    assert.strictEqual(Object.getPrototypeOf(data), Object.prototype)
  })

  it("takes the options of a request in any group version, and the kind of the path where the body names none", () => {
    const options = decodeBody(
      envelope("coordination.k8s.io/v1", "DeleteOptions", [...plain(1, [0]), ...sized(4, "Orphan")])
    )
    assert.deepStrictEqual(body(options), {
      apiVersion: "coordination.k8s.io/v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      propagationPolicy: "Orphan"
    })
    const nameless = Uint8Array.from([...magic, ...sized(2, sized(1, sized(1, "a")))])
    assert.deepStrictEqual(body(decodeBody(nameless, { apiVersion: "v1", kind: "ConfigMap" })), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" }
    })
    assert.match(why(decodeBody(nameless)), /^no kind ""/)
  })

  it("is taken for the options of a DELETE, as typed clients send them", () => {
    const memory = MemoryServer.make()
    const path = "/api/v1/namespaces/default/configmaps"
    memory.request("POST", path, { metadata: { name: "a" } })
    const remove = (message: Bytes) => {
      const options = body(decodeBody(envelope("v1", "DeleteOptions", message)))
      return memory.request("DELETE", `${path}/a`, options, { contentType: "application/vnd.kubernetes.protobuf" })
    }
    assert.strictEqual(remove(sized(2, sized(1, "another"))).code, 409)
    assert.strictEqual(remove(sized(4, "Background")).code, 200)
  })

  it("says in Go's words why bytes are no object", () => {
    const table: ReadonlyArray<readonly [string, Decoded, string]> = [
      [
        "no prefix",
        decodeBody(Uint8Array.from(text("{}"))),
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
      ],
      [
        "nothing",
        decodeBody(new Uint8Array(0)),
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
      ],
      ["a prefix alone", decodeBody(Uint8Array.from(magic)), "empty body"],
      ["an envelope cut", decodeBody(Uint8Array.from([...magic, 10, 127, 1])), "unexpected EOF"],
      ["a message cut", configMap([10, 127]), "unexpected EOF"],
      ["another type", configMap(plain(1, [1])), "proto: wrong wireType = 0 for field metadata"],
      ["no field", configMap([1, 1]), "proto: core.v1.ConfigMap: illegal tag 0 (wire type 1)"],
      ["an end without a group", configMap([12]), "proto: core.v1.ConfigMap: wiretype end group for non-group"],
      [
        "a long number",
        configMap([...plain(1, []), ...Array.from({ length: 11 }, () => 255)]),
        "proto: wrong wireType = 0 for field metadata"
      ],
      ["an endless number", configMap([...Array.from({ length: 10 }, () => 255), 1]), "proto: integer overflow"],
      [
        "a negative length",
        configMap([10, ...Array.from({ length: 9 }, () => 255), 1]),
        "proto: negative length found during unmarshaling"
      ],
      ["no wire type", configMap([((900 << 3) & 127) | 7 | 128, 900 >> 4]), "proto: illegal wireType 7"],
      ["a kind of nobody", decodeBody(envelope("v1", "Nobody", [])), 'no kind "Nobody" is registered for version "v1"'],
      [
        "a far time",
        configMap(sized(1, sized(9, plain(1, [255, 255, 255, 255, 255, 255, 255, 127])))),
        "proto: a time is not within the years 0 to 9999"
      ],
      ["broken JSON", configMap(sized(1, sized(17, sized(7, sized(1, "{"))))), "proto: a raw value is no JSON"]
    ]
    assert.deepStrictEqual(
      table.map(([name, found]) => [name, why(found)]),
      table.map(([name, , said]) => [name, said])
    )
    assert.deepStrictEqual(configMap([10, 127]), {
      _tag: "Malformed",
      why: "unexpected EOF",
      kind: { apiVersion: "v1", kind: "ConfigMap" }
    })
  })

  it("refuses what nests deeper than JSON bodies may", () => {
    const nested = (levels: number): Bytes => {
      let schema: Bytes = sized(5, "object")
      for (let level = 0; level < levels; level++) schema = sized(28, schema)
      const version = sized(4, sized(1, schema))
      return sized(2, sized(7, version))
    }
    const of = (levels: number): Decoded =>
      decodeBody(envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", nested(levels)))
    assert.strictEqual(of(400)._tag, "Decoded")
    assert.match(why(of(1000)), /^exceeded max depth/)
    assert.match(why(configMap(sized(1, sized(17, sized(7, sized(1, "[".repeat(100_000))))))), /^exceeded max depth/)
  })

  it("refuses a body that would become far more than it is", () => {
    const containers = (count: number): Decoded =>
      decodeBody(envelope("v1", "Pod", sized(2, Array.from({ length: count }, () => [0x12, 0]).flat())))
    assert.lengthOf(body(containers(42_000)).spec.containers, 42_000)
    assert.match(why(containers(60_000)), /^a body of more than 300000 values/)
  })

  it("is read whole or refused wherever it is cut", () => {
    for (const { bytes } of recorded) {
      const whole = bytesOf(bytes)
      for (let end = 0; end < whole.length; end++) assert.isString(decodeBody(whole.subarray(0, end))._tag)
    }
  })

  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  const any = Schema.Array(upTo(255)).check(Schema.isMaxLength(200))
  const place = upTo(recorded.length - 1)

  it.prop(
    "any bytes are read or refused, and never throw",
    [any, place],
    ([bytes, at]) => {
      const { apiVersion, kind } = recorded[at]!.json
      assert.isString(decodeBody(Uint8Array.from(bytes))._tag)
      assert.isString(decodeBody(Uint8Array.from([...magic, ...bytes]))._tag)
      assert.isString(decodeBody(envelope(apiVersion, kind, bytes))._tag)
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "an object whose bytes were changed is read or refused, and never throws",
    [place, any],
    ([at, changes]) => {
      const bytes = bytesOf(recorded[at]!.bytes)
      changes.slice(0, 20).forEach((byte, i) => (bytes[(byte * 31 + i * 977) % bytes.length] = changes.at(-1 - i)!))
      assert.isString(decodeBody(bytes)._tag)
    },
    { arbitrary: { runs: 1000 } }
  )
})
