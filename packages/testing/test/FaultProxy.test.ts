import * as https from "node:https"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as FaultProxy from "@fixpoint/testing/FaultProxy"
import { makeCertificate } from "@fixpoint/apiserver/Certificate"
import * as Body from "../src/internal/faultProxyBody.ts"
import * as Rules from "../src/internal/faultProxyRules.ts"

const rule = (rule: Partial<FaultProxy.Rule>): FaultProxy.Rule => ({ match: {}, at: "request", deeds: [], ...rule })

describe("rules", () => {
  const claims = (rules: ReadonlyArray<FaultProxy.Rule>, targets: ReadonlyArray<readonly [string, string]>) => {
    let armed: ReadonlyArray<Rules.Armed> = rules.map((rule) => ({ rule, met: 0 }))
    const met = targets.map(([method, target]) => {
      const step = Rules.claim(armed, Rules.requestOf(method, target, ""))
      armed = step.armed
      return step.claimed.map((one) => rules.indexOf(one))
    })
    return { met, left: armed.length }
  }

  it("a rule counts from its nth request on for as many as it says, and is forgotten after its last", () => {
    const gets = Array.from({ length: 5 }, () => ["GET", "/a"] as const)
    const second = rule({ nth: 2, times: 2 })
    assert.deepStrictEqual(claims([second], gets), { met: [[], [0], [0], [], []], left: 0 })
    const always = rule({ times: Infinity })
    assert.deepStrictEqual(claims([always], gets), { met: [[0], [0], [0], [0], [0]], left: 1 })
  })

  it("each rule counts the requests that fit it alone, also with a pattern that remembers where it stopped", () => {
    const writes = rule({ match: { method: "PATCH", path: /\/status$/g }, nth: 2 })
    const watches = rule({ match: { watch: true, query: /sendInitialEvents=true/ } })
    const lists = rule({ match: { watch: false, method: "GET" }, nth: 1 })
    assert.deepStrictEqual(
      claims(
        [writes, watches, lists],
        [
          ["PATCH", "/a/status?x=1"],
          ["PATCH", "/a"],
          ["GET", "/a?watch=true"],
          ["GET", "/a?watch=1&sendInitialEvents=true"],
          ["PATCH", "/b/status"],
          ["GET", "/a?watch=false"]
        ]
      ).met,
      [[], [], [], [1], [0], [2]]
    )
  })
})

describe("the body of an answer", () => {
  /** The parts as texts; a rule as its index in brackets. */
  const parts = (rules: ReadonlyArray<FaultProxy.Rule>, chunks: ReadonlyArray<Buffer>): string => {
    let body = Body.begin(rules)
    const all: Array<Body.Part> = []
    for (const chunk of chunks) {
      const step = Body.take(body, chunk)
      body = step.body
      all.push(...step.parts)
    }
    all.push(...Body.finish(body))
    return all
      .map((part) => (part._tag === "Bytes" ? part.bytes.toString("latin1") : `[${rules.indexOf(part.rule)}]`))
      .join("")
  }
  const cutInto = (text: string, size: number): ReadonlyArray<Buffer> => {
    const bytes = Buffer.from(text)
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
  }

  it.each([1, 2, 3, 100])("places are the same in chunks of %i bytes, and a torn character is torn", (size) => {
    const rules = [
      rule({ at: { afterBytes: 3 } }),
      rule({ at: { insideLine: 2 } }),
      rule({ at: { insideLine: /ü/ } }),
      rule({ at: { afterBytes: 1_000 } }),
      rule({ at: { insideLine: 4 } })
    ]
    const text = "first\nsecond\nthe ü\nlast"
    assert.strictEqual(parts(rules, cutInto(text, size)), "fir[0]st\nsec[1]ond\nthe \u00c3[2]\u00bc\nla[4]st")
  })

  it("a line that never ends is not held without bound", () => {
    const body = Body.take(Body.begin([rule({ at: { insideLine: 7 } })]), Buffer.alloc(5 * 1024 * 1024, "x")).body
    assert.strictEqual(body.held.length, 0)
  })

  it.prop(
    "whatever the rules and the chunks, every byte is relayed once and in order",
    {
      sizes: Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))), {
        minLength: 1,
        maxLength: 20
      }),
      places: Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))), {
        maxLength: 4
      }),
      lines: Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))), {
        maxLength: 3
      })
    },
    ({ lines, places, sizes }) => {
      const text = "ä\nbcd\n\nefgh ïj\nklmno pqrst\nuvw"
      const chunks: Array<Buffer> = []
      let rest = Buffer.from(text)
      for (let i = 0; rest.length > 0; i++) {
        const size = Math.max(1, sizes[i % sizes.length]!)
        chunks.push(rest.subarray(0, size))
        rest = rest.subarray(size)
      }
      const rules = [
        ...places.map((afterBytes) => rule({ at: { afterBytes } })),
        ...lines.map((insideLine) => rule({ at: { insideLine } }))
      ]
      const came = parts(rules, chunks).replaceAll(/\[\d+\]/g, "")
      assert.strictEqual(Buffer.from(came, "latin1").toString("utf8"), text)
    },
    { arbitrary: { runs: 1_000 } }
  )
})

/** A server that tells what reached it. */
const server = Effect.acquireRelease(
  Effect.callback<{ url: string; ca: string; reached: Array<string>; close: () => void }>((resume) => {
    const { cert, key } = makeCertificate("upstream")
    const reached: Array<string> = []
    const listener = https.createServer({ cert, key }, (request, response) => {
      let body = ""
      request.on("data", (part) => void (body += String(part)))
      request.once("end", () => {
        reached.push(`${request.method} ${request.url} ${request.headers.authorization ?? "nobody"} ${body}`)
        response.setHeader("x-kept", "yes")
        response.write('{"a":"ü"}\n')
        if (!request.url!.includes("watch")) response.end("done")
      })
    })
    listener.listen(0, "127.0.0.1", () => {
      const { port } = listener.address() as AddressInfo
      const close = (): void => {
        listener.closeAllConnections()
        listener.close()
      }
      resume(Effect.succeed({ url: `https://127.0.0.1:${port}`, ca: cert, reached, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const make = Effect.gen(function* () {
  const upstream = yield* server
  const proxy = yield* FaultProxy.make({ ...upstream, token: "t" })
  return { upstream, proxy }
})

interface Asking {
  readonly method?: string
  /** So many milliseconds the first byte may take before it says `silent`: a busy machine brings it late. */
  readonly patience?: number
  /** The same for each further byte. */
  readonly silence?: number
  /** Is told the body as far as it came. */
  readonly heard?: (text: string) => void
}

/** What a client sees: the code, the body as far as it came, and how it ended. */
const ask = (
  { ca, url }: FaultProxy.FaultProxy,
  path: string,
  { heard = () => {}, method = "GET", patience = 20_000, silence = 20_000 }: Asking = {}
) =>
  Effect.callback<string>((resume) => {
    let text = ""
    let code = 0
    const request = https.request(
      `${url}${path}`,
      { ca, agent: false, method, headers: { authorization: "Bearer t" } },
      (response) => {
        code = response.statusCode ?? 0
        response.setEncoding("latin1")
        response.on("data", (part) => {
          text += String(part)
          clearTimeout(timer)
          timer = setTimeout(() => end("silent"), silence)
          heard(text)
        })
        response.once("end", () => end(response.headers["retry-after"] ?? "end"))
        response.once("error", (error: NodeJS.ErrnoException) => end(`${error.code} ${error.message}`))
      }
    )
    let timer = setTimeout(() => end("silent"), patience)
    const end = (how: string): void => {
      clearTimeout(timer)
      request.destroy()
      resume(Effect.succeed(`${code} ${JSON.stringify(text)} ${how}`))
    }
    request.once("error", (error: NodeJS.ErrnoException) => end(String(error.code)))
    request.end(method === "GET" ? undefined : "body")
  })

describe("over real sockets", () => {
  const whole = '200 "{\\"a\\":\\"Ã¼\\"}\\ndone" end'

  it.live("what no rule concerns is passed on as it is, with its Authorization, and is logged", () =>
    Effect.gen(function* () {
      const { proxy, upstream } = yield* make
      assert.strictEqual(yield* ask(proxy, "/a?b=c", { method: "POST" }), whole)
      assert.deepStrictEqual(upstream.reached, ["POST /a?b=c Bearer t body"])
      const [entry] = yield* proxy.log
      assert.deepInclude(entry, { method: "POST", path: "/a", query: "b=c", watch: false, code: 200 })
      yield* proxy.clearLog
      assert.deepStrictEqual([yield* proxy.count, (yield* proxy.log).length], [0, 0])
      assert.include(proxy.kubeconfig, proxy.url)
    }).pipe(Effect.scoped)
  )

  it.live(
    "a request that is ended before it is sent does not reach the server, one whose answer is lost was done",
    () =>
      Effect.gen(function* () {
        const { proxy, upstream } = yield* make
        yield* proxy.add({ match: { path: /never/ }, at: "request", deeds: [FaultProxy.cut("RST")] })
        yield* proxy.add({ match: { path: /done/ }, at: "answer", deeds: [FaultProxy.cut("RST")] })
        yield* proxy.add({ match: { path: /closed/ }, at: "answer", deeds: [FaultProxy.cut("FIN")] })
        assert.strictEqual(yield* ask(proxy, "/never"), '0 "" ECONNRESET')
        assert.deepStrictEqual(upstream.reached, [])
        assert.strictEqual(yield* ask(proxy, "/done", { method: "POST" }), '0 "" ECONNRESET')
        assert.strictEqual(yield* ask(proxy, "/closed", { method: "POST" }), '0 "" ECONNRESET')
        assert.deepStrictEqual(upstream.reached, ["POST /done Bearer t body", "POST /closed Bearer t body"])
        assert.strictEqual(yield* ask(proxy, "/never"), whole, "each rule was for one request")
        assert.deepStrictEqual(
          (yield* proxy.log).map(({ code, path }) => [path, code]),
          [
            ["/never", undefined],
            ["/done", undefined],
            ["/closed", undefined],
            ["/never", 200]
          ]
        )
      }).pipe(Effect.scoped)
  )

  it.live("effects are run, delays waited for, and answers given in the order that the rule says", () =>
    Effect.gen(function* () {
      const { proxy, upstream } = yield* make
      const seen: Array<string> = []
      const note = (text: string) => FaultProxy.run(Effect.sync(() => void seen.push(text)))
      yield* proxy.add({ match: {}, at: "request", deeds: [note("first"), FaultProxy.delay(50), note("second")] })
      yield* proxy.add({ match: {}, at: "answer", deeds: [note("third")] })
      yield* proxy.add({ match: {}, nth: 2, at: "request", deeds: [FaultProxy.answer(429, 7)] })
      assert.strictEqual(yield* ask(proxy, "/a"), whole)
      assert.deepStrictEqual(seen, ["first", "second", "third"])
      assert.strictEqual(yield* ask(proxy, "/a"), '429 "Too Many Requests\\n" 7')
      assert.strictEqual(upstream.reached.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("a body is torn inside a character, or stops, and the connection ends or stays open as the rule says", () =>
    Effect.gen(function* () {
      const { proxy } = yield* make
      yield* proxy.add({ match: { path: /torn/ }, at: { insideLine: 1 }, deeds: [FaultProxy.cut("FIN")] })
      yield* proxy.add({
        match: { path: /reset/ },
        at: { insideLine: /ü/ },
        deeds: [FaultProxy.delay(50), FaultProxy.cut("RST")]
      })
      yield* proxy.add({ match: { path: /still/ }, at: { afterBytes: 4 }, deeds: [FaultProxy.stall] })
      assert.match(yield* ask(proxy, "/torn"), /^200 "\{\\"a\\":\\"Ã" ECONNRESET/)
      assert.match(yield* ask(proxy, "/reset"), /^200 "\{\\"a\\":\\"Ã" ECONNRESET/)
      assert.strictEqual(yield* ask(proxy, "/still", { silence: 300 }), '200 "{\\"a\\"" silent')
    }).pipe(Effect.scoped)
  )

  it.live("open watches are cut or left half-open, and other requests are not concerned", () =>
    Effect.gen(function* () {
      const { proxy } = yield* make
      const line = '200 "{\\"a\\":\\"Ã¼\\"}\\n"'
      /** A watch, and what is done once its first line has come. */
      const watching = <A>(then: Effect.Effect<A>) =>
        Effect.gen(function* () {
          const came = yield* Deferred.make<void>()
          const heard = () => Deferred.doneUnsafe(came, Effect.void)
          const watch = ask(proxy, "/w?watch=true", { heard, silence: 1_000 })
          return yield* Effect.all([watch, Effect.andThen(Deferred.await(came), then)], { concurrency: "unbounded" })
        })
      for (const how of ["FIN", "RST"] as const) {
        const [came, count] = yield* watching(proxy.cutWatches(how))
        assert.isTrue(came.startsWith(`${line} ECONNRESET`), came)
        assert.strictEqual(count, 1)
      }
      const [came, [count, other]] = yield* watching(Effect.all([proxy.stallWatches, ask(proxy, "/a")]))
      assert.deepStrictEqual([came, count, other], [`${line} silent`, 1, whole])
      assert.strictEqual(yield* proxy.cutWatches("RST"), 0, "what is stalled is no longer held")
    }).pipe(Effect.scoped)
  )

  it.live(
    "a server that is away is a connection that breaks; healing forgets the rules; the end of the scope ends all",
    () =>
      Effect.gen(function* () {
        const upstream = yield* server
        const proxy = yield* Effect.scoped(
          Effect.gen(function* () {
            const proxy = yield* FaultProxy.make({ ...upstream, token: "t" })
            yield* proxy.add({ match: {}, times: Infinity, at: "request", deeds: [FaultProxy.stall] })
            assert.strictEqual(yield* ask(proxy, "/a", { patience: 300 }), '0 "" silent')
            yield* proxy.heal
            assert.strictEqual(yield* ask(proxy, "/a"), whole)
            upstream.close()
            assert.strictEqual(yield* ask(proxy, "/a"), '0 "" ECONNRESET')
            return proxy
          })
        )
        assert.strictEqual(yield* ask(proxy, "/a"), '0 "" ECONNREFUSED')
      }).pipe(Effect.scoped)
  )
})
