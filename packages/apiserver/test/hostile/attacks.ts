/** What hostile clients do to the listener. Each says how many requests it made and how many answers it got. */
import type { Socket } from "node:net"
import type { Address } from "./target.ts"
import { type Chance, chanceOf, Crowd, each, type Heard, request, sleep, speak } from "./wire.ts"

export interface Toll {
  readonly requests: number
  readonly answers: number
  /** What was not as it must be; empty if all is well. */
  readonly faults: ReadonlyArray<string>
}

export interface Attack {
  readonly name: string
  /** `scale` 1 is the whole attack; tests run smaller ones. */
  readonly run: (target: Address, scale: number) => Promise<Toll>
}

const maps = "/api/v1/namespaces/default/configmaps"
const map = (name: string, more: object = {}): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more })

const tollOf = (heard: ReadonlyArray<Heard>, faults: ReadonlyArray<string> = []): Toll => ({
  requests: heard.length,
  answers: heard.reduce((sum, { codes }) => sum + codes.length, 0),
  faults
})

const many = (count: number, scale: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(1, Math.round(count * scale)) }, (_, i) => i)

/** The real server answers patches with unknown fields by a 500 too. */
const untyped = /failed to create typed patch object|unable to find api field in struct/

/** Faults where an answer has none of the codes; 0 stands for an end without an answer. */
const expectCodes = (
  what: string,
  heard: ReadonlyArray<Heard>,
  codes: ReadonlyArray<number>
): ReadonlyArray<string> => [
  ...new Set(
    heard
      .filter(({ text }) => !untyped.test(text))
      .map((one) => one.codes[0] ?? 0)
      .filter((code) => !codes.includes(code))
      .map((code) => `${what}: ${code}`)
  )
]

const post = (target: Address, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Buffer =>
  request(target, "POST", maps, body, headers)

/** Only an apply may be forced. */
const patchOf = (target: Address, path: string, type: string, body: string): Buffer =>
  request(target, "PATCH", `${path}?fieldManager=x${type.includes("apply") ? "&force=true" : ""}`, body, {
    "content-type": type
  })

/** A good request with some bytes changed. */
const damaged = (target: Address, chance: Chance): Buffer => {
  const bytes = Buffer.from(
    chance.pick([
      () => request(target, "GET", `${maps}?limit=5&labelSelector=a%3Db`),
      () => post(target, map(`m${chance.int(50)}`, { data: { k: "日本🙂" } })),
      () => request(target, "DELETE", `${maps}/m${chance.int(50)}`),
      () =>
        request(target, "PATCH", `${maps}/m${chance.int(50)}?fieldManager=x`, '{"data":{"a":"b"}}', {
          "content-type": "application/merge-patch+json"
        })
    ])()
  )
  for (let i = 0; i < 1 + chance.int(6); i++) bytes[chance.int(bytes.length)] = chance.int(256)
  return bytes
}

const randomBytes: Attack = {
  name: "random bytes",
  run: async ({ port }, scale) => {
    const heard = await each(many(2_000, scale), 50, (seed) => {
      const chance = chanceOf(seed)
      return speak(port, [chance.bytes(1 + chance.int(2_000))], { finish: true, patienceMillis: 20_000 })
    })
    return tollOf(heard)
  }
}

const damagedRequests: Attack = {
  name: "requests with damaged bytes",
  run: async (target, scale) => {
    const heard = await each(many(4_000, scale), 50, (seed) =>
      speak(target.port, [damaged(target, chanceOf(10_000 + seed))], { finish: true, patienceMillis: 20_000 })
    )
    return tollOf(heard, expectNo5xx(heard))
  }
}

const expectNo5xx = (heard: ReadonlyArray<Heard>): ReadonlyArray<string> => [
  ...new Set(
    heard.flatMap(({ codes, text }) =>
      codes.some((code) => code >= 500) && !untyped.test(text) ? [text.slice(text.indexOf("{"), 2_000)] : []
    )
  )
]

/** Shapes by which a proxy and a server come to think differently of where a request ends. */
const smuggling = (target: Address): ReadonlyArray<readonly [what: string, bytes: string | Buffer]> => {
  const head = `POST ${maps} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.token}\r\ncontent-type: application/json\r\n`
  const inner = `GET ${maps}/smuggled HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.token}\r\n\r\n`
  return [
    ["a length and chunks", `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
    ["chunks and a length", `${head}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n${inner}`],
    ["two lengths", `${head}content-length: 2\r\ncontent-length: 30\r\n\r\n{}${inner}`],
    ["a length of two numbers", `${head}content-length: 2, 30\r\n\r\n{}${inner}`],
    ["a signed length", `${head}content-length: +2\r\n\r\n{}${inner}`],
    ["a negative length", `${head}content-length: -2\r\n\r\n{}${inner}`],
    ["a length in hexadecimal", `${head}content-length: 0x2\r\n\r\n{}${inner}`],
    ["a length beyond all numbers", `${head}content-length: ${"9".repeat(40)}\r\n\r\n{}${inner}`],
    ["an unknown coding", `${head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`],
    ["chunked not at the end", `${head}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`],
    ["chunked twice", `${head}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
    ["a space before the colon", `${head}content-length : 2\r\n\r\n{}${inner}`],
    ["a folded header", `${head}x: y\r\n z\r\ncontent-length: 2\r\n\r\n{}`],
    ["line ends without CR", `${head.replaceAll("\r\n", "\n")}content-length: 2\n\n{}`],
    ["a lone CR", `${head}x: y\rz: w\r\ncontent-length: 2\r\n\r\n{}`],
    ["NUL in a header", `${head}x: a\0b\r\ncontent-length: 2\r\n\r\n{}`],
    ["a chunk of no size", `${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ["a negative chunk", `${head}transfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`],
    ["a chunk beyond all numbers", `${head}transfer-encoding: chunked\r\n\r\n${"f".repeat(30)}\r\n{}`],
    [
      "a chunk's extension without end",
      `${head}transfer-encoding: chunked\r\n\r\n2;${"x".repeat(100_000)}\r\n{}\r\n0\r\n\r\n`
    ],
    ["no version", `GET ${maps}\r\n\r\n`],
    ["HTTP/0.9", `GET ${maps} HTTP/0.9\r\n\r\n`],
    ["HTTP/2 from the start", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0"],
    ["no host", `GET ${maps} HTTP/1.1\r\n\r\n`],
    ["a method that nobody knows", `FROB ${maps} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ["a tunnel", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["another protocol", `GET ${maps} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`],
    ["a URL elsewhere", `GET http://example.com${maps} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ["a path that climbs", request(target, "GET", "/api/v1/../../etc/passwd")],
    ["a path of broken escapes", request(target, "GET", "/api/v1/%zz%ff%c0%ae")],
    ["a path with NUL", request(target, "GET", "/api/v1/%00")],
    ["an expectation that nobody meets", request(target, "GET", maps, "", { expect: "the impossible" })],
    ["a header of a megabyte", request(target, "GET", maps, "", { x: "y".repeat(1_000_000) })],
    ["a URL of a megabyte", request(target, "GET", `${maps}?x=${"y".repeat(1_000_000)}`)],
    ["100,000 headers", `GET ${maps} HTTP/1.1\r\nhost: x\r\n${"x: y\r\n".repeat(100_000)}\r\n`],
    [
      "headers named like what all objects have",
      request(target, "GET", maps, "", { ["__proto__" as string]: "x", constructor: "y" })
    ]
  ]
}

const smuggled: Attack = {
  name: "smuggling and malformed heads",
  run: async (target, scale) => {
    const shapes = many(20, scale).flatMap(() => smuggling(target))
    const heard = await each(shapes, 40, ([, bytes]) =>
      speak(target.port, [bytes], { finish: true, patienceMillis: 15_000 })
    )
    const faults = heard.flatMap(({ codes, text }, i) => {
      const what = shapes[i]![0]
      if (codes.some((code) => code >= 500)) return [`${what}: ${codes.join()}`]
      // Whatever the first request is taken for, the one in its body is none.
      return /smuggled" not found/.test(text) && codes.length > 1 && /length|coding|chunk|colon/.test(what)
        ? [`${what}: the request in its body was answered`]
        : []
    })
    return tollOf(heard, [...new Set(faults)])
  }
}

const slowHeads: Attack = {
  name: "2,000 slow heads",
  run: async ({ port }, scale) => {
    const crowd = new Crowd()
    const count = many(2_000, scale).length
    await crowd.open(port, count, (socket) => void socket.write("GET /api HTTP/1.1\r\n"))
    let seconds = 0
    // The server gives a head 10 s.
    while (crowd.closed < count && seconds++ < 20) {
      for (const socket of crowd.sockets) if (socket.writable) socket.write("x")
      await sleep(1_000)
    }
    const faults = crowd.closed < count ? [`${count - crowd.closed} slow heads are still waited for after 20 s`] : []
    crowd.leave()
    return { requests: count, answers: crowd.closed, faults }
  }
}

const slowBodies: Attack = {
  name: "500 slow bodies",
  run: async (target, scale) => {
    const crowd = new Crowd()
    const count = many(500, scale).length
    const head = post(target, "x", { "content-length": "3000000" })
    await crowd.open(target.port, count, (socket) => {
      socket.write(head)
      socket.write(Buffer.alloc(100_000, " "))
    })
    for (let i = 0; i < 4; i++) {
      for (const socket of crowd.sockets) socket.write(" ")
      await sleep(1_000)
    }
    crowd.leave()
    return { requests: count, answers: 0, faults: [] }
  }
}

const hugeBodies: Attack = {
  name: "bodies of 20 MiB, announced and in chunks",
  run: async (target, scale) => {
    const body = Buffer.alloc(20 * 1024 * 1024, " ")
    const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")])
    const heard = await each(many(24, scale), 4, (i) =>
      i % 2 === 0
        ? speak(target.port, [post(target, body)])
        : speak(target.port, [
            `POST ${maps} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.token}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
            chunked
          ])
    )
    return tollOf(heard, expectCodes("a body of 20 MiB", heard, [413]))
  }
}

const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth)

const deepBodies: Attack = {
  name: "JSON nested 100,000 deep, in every kind of body",
  run: async (target, scale) => {
    const bodies = [
      deep("[", "]", 100_000),
      deep('{"a":', "}", 100_000).replace("}", "1}"),
      map("deep", { data: "HERE" }).replace('"HERE"', deep("[", "]", 100_000)),
      map("deep", { metadata: { name: "deep", labels: "HERE" } }).replace(
        '"HERE"',
        deep('{"a":', "}", 400).replace("}", "1}")
      ),
      `[{"op":"add","path":"/data","value":${deep("[", "]", 100_000)}}]`,
      `[{"op":"add","path":"${"/a".repeat(100_000)}","value":1}]`
    ]
    const types = [
      "application/json",
      "application/merge-patch+json",
      "application/json-patch+json",
      "application/strategic-merge-patch+json",
      "application/apply-patch+yaml",
      "application/yaml"
    ]
    const all = many(4, scale).flatMap(() => bodies.flatMap((body) => types.map((type) => [body, type] as const)))
    const heard = await each(all, 8, ([body, type]) =>
      speak(target.port, [
        type === "application/json" || type === "application/yaml"
          ? post(target, body, { "content-type": type })
          : patchOf(target, `${maps}/probe`, type, body)
      ])
    )
    return tollOf(heard, expectCodes("a deep body", heard, [400, 404, 415, 422]))
  }
}

const laughs = (levels: number): string => {
  const lines = ['a0: &a0 "lol"']
  for (let i = 1; i < levels; i++) lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join()}]`)
  return lines.join("\n")
}

const yamlBombs: Attack = {
  name: "YAML bombs",
  run: async (target, scale) => {
    const bodies = [
      laughs(12),
      `a: &a [*a]`,
      `a: &a {b: *a}`,
      `${"- ".repeat(50_000)}x`,
      `${"[".repeat(100_000)}`,
      `? ${"? ".repeat(5_000)}x`,
      `"${"\\u0000".repeat(20_000)}"`,
      `!!js/function "function(){}"`,
      `!!python/object/apply:os.system ["x"]`,
      `__proto__: {polluted: 1}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}`,
      `<<: {a: 1}\n<<: {b: 2}`,
      `a: ${"x ".repeat(120_000)}`,
      `{${"a: b, ".repeat(20_000)}}`,
      "\t\t\t: :\n - -",
      "%YAML 9.9\n---\n...\n---",
      ...many(10, 1).map((i) => chanceOf(i).bytes(3_000).toString("latin1"))
    ]
    const all = many(6, scale).flatMap(() => bodies)
    const heard = await each(all, 8, (body, i) =>
      speak(target.port, [
        i % 2 === 0
          ? post(target, body, { "content-type": "application/yaml" })
          : request(target, "PATCH", `${maps}/yaml?fieldManager=x`, body, {
              "content-type": "application/apply-patch+yaml"
            })
      ])
    )
    return tollOf(heard, expectCodes("a YAML bomb", heard, [201, 400, 409, 415, 422]))
  }
}

const largeBodies: Attack = {
  name: "bodies of 3 MiB with 300,000 fields",
  run: async (target, scale) => {
    const fields = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":"v"`).join(",")
    const bodies = [
      map("large", { data: "HERE" }).replace('"HERE"', `{${fields(200_000)}}`),
      map("large", { metadata: { name: "large", labels: "HERE" } }).replace('"HERE"', `{${fields(200_000)}}`),
      map("large", { data: "HERE" }).replace('"HERE"', `[${"1,".repeat(1_400_000)}1]`),
      map("large", { data: { k: "é".repeat(1_400_000) } }),
      map("large", { data: "HERE" }).replace('"HERE"', `{${'"same":"v",'.repeat(200_000)}"same":"v"}`)
    ]
    const heard = await each(
      many(3, scale).flatMap(() => bodies),
      2,
      (body) => speak(target.port, [post(target, body)])
    )
    return tollOf(heard, expectCodes("a large body", heard, [201, 400, 409, 413, 422]))
  }
}

const numbers: Attack = {
  name: "numbers of three million digits",
  run: async (target, scale) => {
    const pods = "/api/v1/namespaces/default/pods"
    const digits = "9".repeat(2_900_000)
    const pod = (cpu: string): string =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "counted" },
        spec: { containers: [{ name: "a", image: "a", resources: { requests: { cpu: "HERE" } } }] }
      }).replace('"HERE"', cpu)
    const bodies = [
      `"${digits}"`,
      `"0.${digits}"`,
      `"1e${digits}"`,
      `"1e-${digits}"`,
      digits,
      `1e${digits}`,
      `-0.${digits}`
    ]
    const all = many(4, scale).flatMap(() => bodies)
    const heard = await each(all, 2, (cpu) => speak(target.port, [request(target, "POST", pods, pod(cpu))]))
    await speak(target.port, [request(target, "DELETE", `${pods}/counted?gracePeriodSeconds=0`)])
    return tollOf(heard, expectCodes("a long number", heard, [201, 400, 409, 422]))
  }
}

const manyChanges: Attack = {
  name: "patches of ten thousand changes",
  run: async (target, scale) => {
    const keys = (count: number, value: string): string =>
      Array.from({ length: count }, (_, i) => `"k${i}":${value}`).join(",")
    await speak(target.port, [
      post(
        target,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched"},"data":{${keys(15_000, '"v"')}}}`
      )
    ])
    const bodies: ReadonlyArray<readonly [type: string, body: string]> = [
      [
        "application/json-patch+json",
        `[${Array.from({ length: 8_000 }, (_, i) => `{"op":"add","path":"/data/n${i}","value":"x"}`).join(",")}]`
      ],
      [
        "application/json-patch+json",
        `[${Array.from({ length: 8_000 }, () => `{"op":"copy","from":"/data/k1","path":"/data/k2"}`).join(",")}]`
      ],
      [
        "application/json-patch+json",
        `[${Array.from({ length: 8_000 }, () => `{"op":"test","path":"/data/k1","value":"v"}`).join(",")}]`
      ],
      ["application/merge-patch+json", `{"data":{${keys(30_000, '"w"')}}}`],
      ["application/merge-patch+json", `{"data":{${keys(30_000, "null")}}}`],
      ["application/strategic-merge-patch+json", `{"data":{${keys(30_000, '"u"')}}}`],
      [
        "application/apply-patch+yaml",
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched"},"data":{${keys(30_000, '"a"')}}}`
      ]
    ]
    const heard = await each(
      many(3, scale).flatMap(() => bodies),
      2,
      ([type, body]) => speak(target.port, [patchOf(target, `${maps}/patched`, type, body)])
    )
    await speak(target.port, [request(target, "DELETE", `${maps}/patched`)])
    return tollOf(heard, expectCodes("a large patch", heard, [200, 400, 404, 413, 422]))
  }
}

const protobufs: Attack = {
  name: "protobuf of random bytes",
  run: async (target, scale) => {
    const heard = await each(many(1_000, scale), 20, (seed) => {
      const chance = chanceOf(20_000 + seed)
      const body = Buffer.concat([Buffer.from("k8s\0"), chance.bytes(chance.int(500))])
      return speak(target.port, [post(target, body, { "content-type": "application/vnd.kubernetes.protobuf" })])
    })
    return tollOf(heard, expectCodes("protobuf", heard, [400, 415, 422]))
  }
}

const prototypes: Attack = {
  name: "`__proto__` as every kind of key",
  run: async (target, scale) => {
    const evil = '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}'
    const named = (name: string, text: string): Buffer =>
      post(target, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},${text}}`)
    const patch = (type: string, body: string): Buffer => patchOf(target, `${maps}/probe`, type, body)
    const texts: ReadonlyArray<Buffer> = [
      named("p1", `"data":{"__proto__":"x","constructor":"y","toString":"z"}`),
      named("p2", `"__proto__":${evil}`),
      post(target, `{"apiVersion":"v1","kind":"ConfigMap","__proto__":{"metadata":{"name":"p3"}}}`),
      post(
        target,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p4","labels":{"__proto__":"x","constructor":"y"}}}`
      ),
      post(
        target,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p5","labels":{"constructor":"y"},"annotations":{"toString":"z"},"__proto__":{"finalizers":["a/b"]}}}`
      ),
      request(target, "GET", `${maps}/__proto__`),
      request(target, "GET", "/apis/__proto__/constructor/toString"),
      request(target, "GET", "/api/v1/__proto__"),
      request(target, "GET", "/api/v1/namespaces/__proto__/constructor/toString"),
      request(target, "GET", `${maps}?__proto__=x&constructor=y&labelSelector=__proto__%3Dx`),
      request(target, "GET", `${maps}?labelSelector=constructor%20in%20(y)&fieldSelector=__proto__%3Dx`),
      request(target, "GET", `${maps}?labelSelector=toString`),
      patch("application/merge-patch+json", evil),
      patch("application/merge-patch+json", `{"data":${evil}}`),
      patch("application/merge-patch+json", `{"metadata":{"labels":{"__proto__":null,"constructor":null}}}`),
      patch("application/strategic-merge-patch+json", evil),
      patch(
        "application/strategic-merge-patch+json",
        `{"data":{"__proto__":"x","$patch":"replace"},"$setElementOrder/__proto__":["a"]}`
      ),
      patch("application/json-patch+json", `[{"op":"add","path":"/__proto__/polluted","value":"yes"}]`),
      patch("application/json-patch+json", `[{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]`),
      patch("application/json-patch+json", `[{"op":"add","path":"/data/__proto__","value":"x"}]`),
      patch("application/json-patch+json", `[{"op":"copy","from":"/metadata","path":"/__proto__"}]`),
      patch(
        "application/json-patch+json",
        `[{"op":"test","path":"/toString","value":null},{"op":"remove","path":"/__proto__"}]`
      ),
      patch("application/json-patch+json", `[{"__proto__":{"op":"remove","path":"/data"}}]`),
      patch(
        "application/apply-patch+yaml",
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"probe"},"data":{"__proto__":"x","constructor":"y"}}`
      ),
      patch(
        "application/apply-patch+yaml",
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"probe"},"__proto__":${evil}}`
      )
    ]
    const heard = await each(
      many(20, scale).flatMap(() => texts),
      10,
      (bytes) => speak(target.port, [bytes])
    )
    const faults = [...expectNo5xx(heard)]
    // The probe bears what was sent, as fields, and nothing else has got any.
    const { text } = await speak(target.port, [request(target, "GET", `${maps}/p1`)])
    if (!text.includes('"data":{"__proto__":"x","constructor":"y","toString":"z"}')) faults.push(`p1 is ${text}`)
    const fresh = await speak(target.port, [request(target, "GET", "/api/v1/namespaces/default")])
    if (fresh.text.includes("polluted")) faults.push("a prototype was polluted")
    return tollOf(heard, faults)
  }
}

const patternsOf = (pattern: string): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "traps.hostile.example.com" },
  spec: {
    group: "hostile.example.com",
    scope: "Namespaced",
    names: { kind: "Trap", listKind: "TrapList", plural: "traps", singular: "trap" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { text: { type: "string", pattern } } } }
          }
        }
      }
    ]
  }
})

const patterns: Attack = {
  name: "patterns that explode, and texts for them",
  run: async (target, scale) => {
    const heard: Array<Heard> = []
    const faults: Array<string> = []
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    const hostile = ["(a+)+$", "^(a|a)*b$", "^(.*)*x$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"]
    for (const pattern of hostile.slice(0, many(hostile.length, scale).length)) {
      heard.push(await speak(target.port, [request(target, "POST", crds, JSON.stringify(patternsOf(pattern)))]))
      for (const text of [`${"a".repeat(40)}!`, `${"a".repeat(5_000)}!`, `${"x".repeat(200_000)}!`]) {
        const trap = { apiVersion: "hostile.example.com/v1", kind: "Trap", metadata: { name: "t" }, spec: { text } }
        const path = "/apis/hostile.example.com/v1/namespaces/default/traps"
        const one = await speak(target.port, [request(target, "POST", path, JSON.stringify(trap))])
        heard.push(one)
        if (one.codes[0] !== 422)
          faults.push(`${pattern} on ${text.length} letters: ${one.codes[0] ?? "no answer in 60 s"}`)
      }
      heard.push(await speak(target.port, [request(target, "DELETE", `${crds}/traps.hostile.example.com`)]))
    }
    return tollOf(heard, faults)
  }
}

/** A CRD whose names, schema or columns are made to confuse. */
const oddDefinitions = (): ReadonlyArray<
  readonly [plural: string, version: object, objects: ReadonlyArray<string>]
> => {
  const string = { type: "string" }
  const schema = (properties: string, more: object = {}): object => ({
    schema: { openAPIV3Schema: { type: "object", properties: `HERE${properties}HERE`, ...more } }
  })
  const proto = `{"__proto__":{"type":"object","properties":{"polluted":{"type":"string","default":"yes"}},"default":{}},"constructor":{"type":"object","properties":{"prototype":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},"toString":{"type":"string","default":"x"}}`
  const deepSchema = `{"spec":${'{"type":"object","properties":{"a":'.repeat(150)}{"type":"string"}${"}}".repeat(150)}}`
  const wide = JSON.stringify({
    spec: {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`f${i}`, { ...string, default: "d" }]))
    }
  })
  return [
    [
      "protos",
      schema(proto),
      [
        `"__proto__":{"polluted":"no"}`,
        `"constructor":{"prototype":{"polluted":"yes"}}`,
        `"toString":"y","hasOwnProperty":1`
      ]
    ],
    [
      "constructors",
      schema('{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}'),
      [`"spec":{"__proto__":{"polluted":"yes"}}`, `"spec":${'{"a":'.repeat(400)}1${"}".repeat(400)}`]
    ],
    ["deeps", schema(deepSchema), [`"spec":${'{"a":'.repeat(151)}"x"${"}".repeat(151)}`]],
    ["wides", schema(wide), [`"spec":{}`]],
    [
      "columns",
      {
        ...schema('{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}'),
        additionalPrinterColumns: [
          { name: "a", type: "string", jsonPath: ".spec.__proto__.polluted" },
          { name: "b", type: "integer", jsonPath: `${".a".repeat(2_000)}` },
          { name: "c", type: "date", jsonPath: '.spec[?(@.x=="' + "y".repeat(5_000) + '")].z' },
          { name: "d", type: "string", jsonPath: ".spec[*][*][*][*][*][*]" }
        ]
      },
      [`"spec":[[[[[[1]]]]]]`, `"spec":{"a":[${"[1,2,3],".repeat(500)}[]]}`]
    ],
    [
      "rules",
      schema('{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}', {
        "x-kubernetes-validations": [
          { rule: `${"(".repeat(5_000)}true${")".repeat(5_000)}` },
          { rule: "self.all(x, self.all(y, self.all(z, true)))" }
        ]
      }),
      [`"spec":{"a":1}`]
    ]
  ]
}

const definitions: Attack = {
  name: "definitions made to confuse, and objects of them",
  run: async (target, scale) => {
    const heard: Array<Heard> = []
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    const path = (plural: string): string => `/apis/odd.example.com/v1/namespaces/default/${plural}`
    for (const _ of many(5, scale)) {
      for (const [plural, version, objects] of oddDefinitions()) {
        const kind = plural === "constructors" ? "Constructor" : "Odd"
        const definition = JSON.stringify({
          apiVersion: "apiextensions.k8s.io/v1",
          kind: "CustomResourceDefinition",
          metadata: { name: `${plural}.odd.example.com` },
          spec: {
            group: "odd.example.com",
            scope: "Namespaced",
            names: {
              kind,
              listKind: `${kind}List`,
              plural,
              singular: plural.slice(0, -1),
              shortNames: ["tostring", "valueof"]
            },
            versions: [{ name: "v1", served: true, storage: true, ...version }]
          }
        }).replaceAll(/"HERE(.*?[^\\])HERE"/g, (_, text: string) => JSON.parse(`"${text}"`) as string)
        heard.push(await speak(target.port, [request(target, "POST", crds, definition)]))
        for (const object of objects) {
          const text = `{"apiVersion":"odd.example.com/v1","kind":"${kind}","metadata":{"name":"o"},${object}}`
          heard.push(await speak(target.port, [request(target, "POST", path(plural), text)]))
          const apply = { "content-type": "application/apply-patch+yaml" }
          heard.push(
            await speak(target.port, [
              request(target, "PATCH", `${path(plural)}/o?fieldManager=x&force=true`, text, apply)
            ])
          )
          const merge = { "content-type": "application/merge-patch+json" }
          heard.push(await speak(target.port, [request(target, "PATCH", `${path(plural)}/o`, `{${object}}`, merge)]))
          const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }
          heard.push(await speak(target.port, [request(target, "GET", path(plural), "", table)]))
          heard.push(await speak(target.port, [request(target, "DELETE", `${path(plural)}/o`)]))
        }
        heard.push(await speak(target.port, [request(target, "GET", "/openapi/v3/apis/odd.example.com/v1")]))
        heard.push(await speak(target.port, [request(target, "DELETE", `${crds}/${plural}.odd.example.com`)]))
      }
    }
    const fresh = await speak(target.port, [request(target, "GET", `${maps}/probe`)])
    const faults = fresh.text.includes("polluted") ? ["a prototype was polluted"] : []
    return tollOf(heard, [...faults, ...expectNo5xx(heard)])
  }
}

const aborts: Attack = {
  name: "aborts in the middle of bodies and answers",
  run: async (target, scale) => {
    const list = request(target, "GET", `${maps}?x=${"y".repeat(10)}`)
    const half = post(target, map("half", { data: { k: "x".repeat(50_000) } })).subarray(0, 20_000)
    const heard = await each(many(1_000, scale), 50, async (i) => {
      const crowd = new Crowd()
      await crowd.open(target.port, 1, (socket: Socket) => {
        socket.write(i % 2 === 0 ? half : list)
        setTimeout(() => (i % 3 === 0 ? socket.resetAndDestroy() : socket.destroy()), i % 7)
      })
      await sleep(10)
      return { text: "", codes: [], ended: true }
    })
    return tollOf(heard)
  }
}

const halfClosed: Attack = {
  name: "connections that are half closed",
  run: async (target, scale) => {
    const heard = await each(many(1_000, scale), 50, () =>
      speak(target.port, [request(target, "GET", `${maps}/probe`)], { finish: true })
    )
    return tollOf(heard, expectCodes("half closed", heard, [200]))
  }
}

const pipelined: Attack = {
  name: "200 requests in one write",
  run: async (target, scale) => {
    const one = request(target, "GET", `${maps}/probe`)
    const all = Buffer.concat(Array.from({ length: 200 }, () => one))
    const heard = await each(many(20, scale), 5, () => speak(target.port, [all], { answers: 200 }))
    const short = heard.filter(({ codes }) => codes.length !== 200)
    return {
      requests: heard.length * 200,
      answers: heard.reduce((sum, { codes }) => sum + codes.length, 0),
      faults: short.length > 0 ? [`${short.length} of ${heard.length} pipelines were not answered whole`] : []
    }
  }
}

/** Makes a list of about 8 MB. */
const fill = async (target: Address, count: number): Promise<void> => {
  const data = { k: "x".repeat(8_000) }
  await each(Array.from({ length: count }), 20, (_, i) =>
    speak(target.port, [post(target, map(`bulk-${i}`, { data }))])
  )
}

const empty = async (target: Address): Promise<void> => {
  await speak(target.port, [request(target, "DELETE", `${maps}?labelSelector=!keep`)])
}

const slowReaders: Attack = {
  name: "lists of 8 MB that nobody reads",
  run: async (target, scale) => {
    await fill(target, Math.round(1_000 * Math.sqrt(scale)))
    const crowd = new Crowd()
    const count = many(100, scale).length
    await crowd.open(target.port, count, (socket) => {
      socket.pause()
      socket.write(request(target, "GET", maps))
    })
    await sleep(5_000)
    crowd.leave()
    await empty(target)
    return { requests: count, answers: 0, faults: [] }
  }
}

const slowWatchers: Attack = {
  name: "watches that nobody reads, and changes for them",
  run: async (target, scale) => {
    const crowd = new Crowd()
    const count = many(200, scale).length
    await crowd.open(target.port, count, (socket) => {
      socket.pause()
      socket.write(request(target, "GET", `${maps}?watch=true`))
    })
    const data = { k: "x".repeat(50_000) }
    await speak(target.port, [post(target, map("loud", { data }))])
    for (let i = 0; i < 400 * scale; i++) {
      const body = JSON.stringify({ data: { i: String(i) } })
      await speak(target.port, [
        request(target, "PATCH", `${maps}/loud`, body, { "content-type": "application/merge-patch+json" })
      ])
    }
    await sleep(1_000)
    crowd.leave()
    await empty(target)
    return { requests: count, answers: 0, faults: [] }
  }
}

const watches: Attack = {
  name: "10,000 watches and 1,000 changes, all told",
  run: async (target, scale) => {
    const crowd = new Crowd()
    const count = many(10_000, scale).length
    const changes = many(1_000, scale).length
    const told = new Uint32Array(count)
    await crowd.open(target.port, count, (socket, index) => {
      let rest = ""
      socket.on("data", (chunk) => {
        rest += chunk.toString("latin1")
        for (let at = rest.indexOf("ticker-"); at >= 0; at = rest.indexOf("ticker-", at + 1)) told[index]!++
        rest = rest.slice(-6)
      })
      socket.write(
        request(
          target,
          "GET",
          `/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dticker`
        )
      )
    })
    await sleep(500)
    const all = (): number => told.reduce((sum, n) => sum + Math.min(n, changes + 1), 0)
    const allTold = async (most: number): Promise<void> => {
      for (let i = 0; i < 3_000 && all() < most; i++) await sleep(20)
    }
    await speak(target.port, [post(target, map("ticker", { data: { i: "ticker-first" } }))])
    for (let i = 0; i < changes; i++) {
      // Each change is written ten thousand times; a server that is too far ahead of its readers ends their watches.
      await allTold(count * (i - 20))
      const body = JSON.stringify({ data: { i: `ticker-${i}` } })
      await speak(target.port, [
        request(target, "PATCH", `${maps}/ticker`, body, { "content-type": "application/merge-patch+json" })
      ])
    }
    await allTold(count * (changes + 1))
    const answers = all()
    const missing = count * (changes + 1) - answers
    crowd.leave()
    await empty(target)
    return { requests: count, answers, faults: missing > 0 ? [`${missing} events were not told`] : [] }
  }
}

const handshakes: Attack = {
  name: "TLS handshakes that stall or break",
  run: async ({ tlsPort }, scale) => {
    const crowd = new Crowd()
    const count = many(500, scale).length
    await crowd.open(tlsPort, count, () => undefined)
    const heard = await each(many(1_000, scale), 50, (seed) => {
      const chance = chanceOf(30_000 + seed)
      const record = Buffer.concat([
        Buffer.from([22, 3, 1, chance.int(256), chance.int(256)]),
        chance.bytes(chance.int(600))
      ])
      return speak(tlsPort, [chance.int(2) === 0 ? record : "GET / HTTP/1.1\r\n\r\n"], {
        finish: true,
        patienceMillis: 3_000
      })
    })
    crowd.leave()
    return { requests: count + heard.length, answers: 0, faults: [] }
  }
}

const calm: Attack = {
  name: "nothing, for comparison",
  run: async (_, scale) => {
    await sleep(5_000 * scale)
    return { requests: 0, answers: 0, faults: [] }
  }
}

/** In the order in which they run. */
export const attacks: ReadonlyArray<Attack> = [
  calm,
  randomBytes,
  damagedRequests,
  smuggled,
  handshakes,
  slowHeads,
  slowBodies,
  hugeBodies,
  deepBodies,
  yamlBombs,
  largeBodies,
  numbers,
  manyChanges,
  protobufs,
  prototypes,
  patterns,
  definitions,
  aborts,
  halfClosed,
  pipelined,
  slowReaders,
  slowWatchers,
  watches
]
