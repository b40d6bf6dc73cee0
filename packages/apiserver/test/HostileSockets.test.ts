/** Clients that send ahead, by raw sockets to a listener in this process. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ApiServer from "../src/ApiServer.ts"
import { request, speak } from "./hostile/wire.ts"

const token = "hostile"
const maps = "/api/v1/namespaces/default/configmaps"

const listening = Effect.gen(function* () {
  const { connections, port } = yield* ApiServer.listen({
    tls: false,
    tokens: [{ token, user: "admin", groups: ["system:masters"] }]
  })
  const say = (parts: ReadonlyArray<Buffer>, answers = 1) => Effect.promise(() => speak(port, parts, { answers }))
  return { connections, say }
})

const asked = (name: string): Buffer => request({ token }, "GET", `${maps}/${name}`)

describe("requests that are sent ahead", () => {
  it.live("are answered in their order, also where one of them takes longer", () =>
    Effect.gen(function* () {
      const { say } = yield* listening
      const large = JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "large" },
        data: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, "v"]))
      })
      const all = [request({ token }, "POST", maps, large), ...Array.from({ length: 200 }, (_, i) => asked(`n${i}`))]
      const { codes, text } = yield* say([Buffer.concat(all)], 201)
      assert.deepStrictEqual(codes, [201, ...Array.from({ length: 200 }, () => 404)])
      const names = [...text.matchAll(/configmaps \\"(n\d+)\\" not found/g)].map(([, name]) => name)
      assert.deepStrictEqual(
        names,
        Array.from({ length: 200 }, (_, i) => `n${i}`)
      )
    }).pipe(Effect.scoped, Effect.provide(ApiServer.layer()))
  )

  it.live("by the thousand are cut off, and nobody else is", () =>
    Effect.gen(function* () {
      const { connections, say } = yield* listening
      const flood = yield* say([Buffer.concat(Array.from({ length: 5_000 }, () => asked("n")))], 5_000)
      assert.isTrue(flood.ended)
      assert.isBelow(flood.codes.length, 1_000)
      assert.deepStrictEqual((yield* say([asked("other")])).codes, [404])
      for (let looks = 0; (yield* connections) > 0; looks++) {
        assert.isBelow(looks, 300, "connections are left over")
        yield* Effect.sleep("100 millis")
      }
    }).pipe(Effect.scoped, Effect.provide(ApiServer.layer()))
  )
})
