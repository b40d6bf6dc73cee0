/** Merge and JSON patches of a free-form object, against a real API server. */
import { assert, describe, layer } from "@effect/vitest"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import { equals } from "../src/internal/json.ts"
import { jsonPatch, mergePatch } from "../src/internal/patch.ts"
import * as RealServer from "./realServer.ts"
import { Random } from "./specimen.ts"

type Json = any

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "frees.patch.example.com" },
  spec: {
    group: "patch.example.com",
    scope: "Namespaced",
    names: { plural: "frees", singular: "free", kind: "Free", listKind: "FreeList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
          }
        }
      }
    ]
  }
}

const names = ["a", "b", "c/d", "e~f", "0", "__proto__"]

const json = (random: Random, depth: number): Json => {
  if (depth === 0 || random.chance(0.3)) return random.pick([1, 2, "x", "", true, null])
  if (random.chance(0.4)) return Array.from({ length: random.below(4) }, () => json(random, depth - 1))
  return Object.fromEntries(names.filter(() => random.chance(0.4)).map((name) => [name, json(random, depth - 1)]))
}

const pointer = (path: ReadonlyArray<string>): string =>
  path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/** A path that often leads somewhere. */
const path = (random: Random, target: Json): string => {
  const keys: Array<string> = ["spec"]
  let node = target.spec
  while (random.chance(0.7)) {
    const isNode = typeof node === "object" && node !== null
    const present = isNode ? Object.keys(node) : []
    const key =
      present.length > 0 && random.chance(0.8) ? random.pick(present) : random.pick([...names, "-", "-1", "1", "7"])
    keys.push(key)
    node = isNode && Object.hasOwn(node, key) ? node[key] : undefined
  }
  return pointer(keys)
}

const operation = (random: Random, target: Json): Json => {
  const op = random.pick(["add", "remove", "replace", "test", "move", "copy", ...(random.chance(0.05) ? ["nope"] : [])])
  return {
    op,
    path: path(random, target),
    ...((op === "move" || op === "copy") && { from: path(random, target) }),
    ...((op === "add" || op === "replace" || op === "test") && random.chance(0.95) && { value: json(random, 2) })
  }
}

describe.runIf(ControlPlane.available())("patches and a real API server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("agree on random patches (F80, F81, F82)", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        yield* RealServer.serve(server, definition)
        const list = "/apis/patch.example.com/v1/namespaces/default/frees"
        const made = yield* server.request("POST", list, {
          apiVersion: "patch.example.com/v1",
          kind: "Free",
          metadata: { name: "f" },
          spec: {}
        })
        let live = made.body
        const random = new Random(Number(process.env.SEED ?? 1))
        for (let step = 0; step < Number(process.env.STEPS ?? 600); step++) {
          const isMerge = random.chance(0.4)
          const body = isMerge
            ? { spec: json(random, 3) }
            : Array.from({ length: 1 + random.below(3) }, () => operation(random, live))
          const ours = isMerge ? mergePatch(live, body) : jsonPatch(live, body)
          const real = yield* server.request("PATCH", `${list}/f`, body, {
            contentType: isMerge ? RealServer.merge : RealServer.json
          })
          const what = `step ${step}: ${JSON.stringify(body)} of ${JSON.stringify(live.spec)}`
          if (ours._tag === "Rejected") {
            assert.deepStrictEqual([real.code, real.body.details], [422, {}], what)
            continue
          }
          assert.strictEqual(ours._tag, "Patched", what)
          const { spec } = (ours as { readonly value: Json }).value
          const fits = spec === undefined || spec === null || (typeof spec === "object" && !Array.isArray(spec))
          assert.strictEqual(real.code, fits ? 200 : 422, `${what}: ${JSON.stringify(real.body)}`)
          if (!fits) {
            assert.isDefined(real.body.details.causes, what)
            continue
          }
          assert.isTrue(
            equals(real.body.spec, spec ?? undefined),
            `${what}\nthe server: ${JSON.stringify(real.body.spec)}\nours: ${JSON.stringify(spec)}`
          )
          live = real.body
        }
      })
    )
  })
})
