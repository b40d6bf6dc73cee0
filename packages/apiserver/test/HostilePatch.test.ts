/** Patches that are made to take long, or to nest deeper than any stack. The bounds tell a second from minutes on a busy machine, not more. */
import { assert, describe, it } from "@effect/vitest"
import { jsonPatch, mergePatch } from "../src/internal/patch.ts"
import * as Memory from "./memoryServer.ts"

const within = (millis: number, run: () => void): void => {
  const before = process.cpuUsage()
  run()
  const { system, user } = process.cpuUsage(before)
  assert.isBelow((user + system) / 1_000, millis)
}

const numbered = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]))

describe("a patch of many changes", () => {
  it("copies what it changes once, not once for each change", () => {
    const target = Object.freeze({ data: Object.freeze(numbered(20_000, "v")), list: Object.freeze([1, 2, 3]) })
    within(3_000, () => {
      const operations = Array.from({ length: 10_000 }, (_, i) => ({ op: "add", path: `/data/n${i}`, value: "x" }))
      const patched = jsonPatch(target, operations)
      if (patched._tag !== "Patched") return assert.fail(patched._tag)
      assert.strictEqual(Object.keys((patched.value as typeof target).data).length, 30_000)
      assert.strictEqual((patched.value as typeof target).list, target.list)
    })
    within(3_000, () => {
      const operations = Array.from({ length: 10_000 }, () => ({ op: "add", path: "/list/0", value: 0 }))
      assert.strictEqual(jsonPatch(target, operations)._tag, "Patched")
    })
    within(3_000, () => {
      const merged = mergePatch(target, { data: { ...numbered(30_000, "w") } })
      assert.strictEqual(merged._tag, "Patched")
      const emptied = mergePatch(target, { data: { ...numbered(20_000, null) } })
      assert.deepStrictEqual(emptied, { _tag: "Patched", value: { data: {}, list: [1, 2, 3] } })
    })
    assert.strictEqual(Object.keys(target.data).length, 20_000)
  })

  it("changes one of two places that it has copied, and not the other", () => {
    const patched = jsonPatch({ a: { b: [1] } }, [
      { op: "add", path: "/a/c", value: { d: 1 } },
      { op: "copy", from: "/a", path: "/e" },
      { op: "add", path: "/a/b/0", value: 0 },
      { op: "remove", path: "/e/c/d" },
      { op: "move", from: "/e", path: "/f" },
      { op: "add", path: "/f/g", value: 2 }
    ])
    assert.deepStrictEqual(patched, {
      _tag: "Patched",
      value: { a: { b: [0, 1], c: { d: 1 } }, f: { b: [1], c: {}, g: 2 } }
    })
  })

  it("leaves what the patch itself brings as it is", () => {
    const value = Object.freeze({ x: Object.freeze({}) })
    const patched = jsonPatch({}, [
      { op: "add", path: "/a", value },
      { op: "add", path: "/b", value },
      { op: "add", path: "/a/x/y", value: 1 }
    ])
    assert.deepStrictEqual(patched, { _tag: "Patched", value: { a: { x: { y: 1 } }, b: { x: {} } } })
  })

  it("that puts parts into each other until they are deeper than the stack is refused", () => {
    const nested = JSON.parse(`${'{"a":'.repeat(400)}{}${"}".repeat(400)}`) as object
    const path = "/a".repeat(400)
    const operations = Array.from({ length: 200 }, () => [
      { op: "add", path: "/y", value: nested },
      { op: "move", from: "/x", path: `/y${path}/a` },
      { op: "move", from: "/y", path: "/x" }
    ]).flat()
    assert.deepStrictEqual(jsonPatch({ x: {} }, operations), { _tag: "Rejected" })
    const shallow = operations.slice(0, 3)
    assert.strictEqual(jsonPatch({ x: {} }, shallow)._tag, "Patched")
  })

  it("of a list with a merge key takes its time once an item", () => {
    const memory = Memory.make()
    const ports = (count: number, name: string) =>
      Array.from({ length: count }, (_, i) => ({ name: `${name}${i}`, port: i + 1, protocol: "TCP" }))
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: ports(1, "p") } }
    const path = "/api/v1/namespaces/default/services"
    assert.strictEqual(memory.request("POST", path, service).code, 201)
    within(5_000, () => {
      const body = {
        spec: {
          ports: ports(5_000, "q"),
          "$setElementOrder/ports": ports(5_000, "q").map(({ port, protocol }) => ({ port, protocol }))
        }
      }
      const patched = memory.request("PATCH", `${path}/s`, body, {
        contentType: "application/strategic-merge-patch+json"
      })
      assert.strictEqual(patched.code, 200, JSON.stringify(patched.body).slice(0, 300))
    })
  })
})
