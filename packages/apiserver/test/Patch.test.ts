import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { equals } from "../src/internal/json.ts"
import { jsonPatch, mergePatch } from "../src/internal/patch.ts"
import { Random } from "./specimen.ts"

type Json = any

const runs = { arbitrary: { runs: 2_000 } }
const seed: [typeof Schema.Int, typeof Schema.Int, typeof Schema.Int] = [Schema.Int, Schema.Int, Schema.Int]
const randomOf = ([a, b, c]: readonly [number, number, number]): Random =>
  new Random((a + 200) * 1_000_003 + (b + 200) * 1_009 + c)

const names = ["a", "b", "c/d", "e~f", "__proto__", "constructor", "0"]

const own = (entries: ReadonlyArray<readonly [string, Json]>): Json => {
  const out: Json = {}
  for (const [name, value] of entries)
    Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true })
  return out
}

const json = (random: Random, depth: number, nulls: boolean): Json => {
  if (depth === 0 || random.chance(0.3)) return random.pick([1, 2, "x", "", true, ...(nulls ? [null] : [])])
  if (random.chance(0.3)) return Array.from({ length: random.below(4) }, () => json(random, depth - 1, nulls))
  return object(random, depth, nulls)
}

const object = (random: Random, depth: number, nulls: boolean): Json =>
  own(names.filter(() => random.chance(0.4)).map((name) => [name, json(random, depth - 1, nulls)] as const))

const frozen = <A>(value: A): A => {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value)
    for (const child of Object.values(value)) frozen(child)
  }
  return value
}

const merged = (target: Json, patch: Json): Json => {
  const result = mergePatch(frozen(target), frozen(patch))
  if (result._tag !== "Patched") throw new Error(result.message)
  return result.value
}

/** The patch that makes `to` of `from`, where neither has a null. */
const difference = (from: Json, to: Json): Json => {
  const isMap = (value: Json): boolean => typeof value === "object" && value !== null && !Array.isArray(value)
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])]
  return own(
    keys.flatMap((key): ReadonlyArray<readonly [string, Json]> => {
      if (!Object.hasOwn(to, key)) return [[key, null]]
      if (!Object.hasOwn(from, key)) return [[key, to[key]]]
      if (equals(from[key], to[key])) return []
      return [[key, isMap(from[key]) && isMap(to[key]) ? difference(from[key], to[key]) : to[key]]]
    })
  )
}

describe("merge patch", () => {
  it.prop(
    "a patch sent again changes nothing, and answers the target itself",
    seed,
    (s) => {
      const random = randomOf(s)
      const patch = object(random, 3, true)
      const once = merged(object(random, 3, false), patch)
      // Where a list took the place of an object, its nulls go at the second time only (F82).
      const twice = merged(once, patch)
      return merged(twice, patch) === twice
    },
    runs
  )

  it.prop(
    "the difference of two objects makes one of the other",
    seed,
    (s) => {
      const random = randomOf(s)
      const [from, to] = [object(random, 3, false), object(random, 3, false)]
      return equals(merged(from, difference(from, to)), to)
    },
    runs
  )

  it.prop(
    "members that the patch does not name keep their reference",
    seed,
    (s) => {
      const random = randomOf(s)
      const [target, patch] = [object(random, 3, false), object(random, 2, true)]
      const after = merged(target, patch)
      return Object.keys(target).every((name) => Object.hasOwn(patch, name) || after[name] === target[name])
    },
    runs
  )

  it("nulls delete, and are dropped from what is new but not from lists (F82)", () => {
    assert.deepStrictEqual(merged({ a: 1, b: { c: 1 } }, { a: null, b: { c: null, d: null }, e: { f: null, g: 1 } }), {
      b: {},
      e: { g: 1 }
    })
    assert.deepStrictEqual(merged({ a: [1] }, { a: [null, { b: null, c: 1 }] }), { a: [null, { c: 1 }] })
    assert.deepStrictEqual(merged({ a: {} }, { a: [{ b: null }] }), { a: [{ b: null }] })
  })

  it.each([
    [[], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
    [3, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"],
    ["x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"],
    [null, "Invalid JSON Patch"]
  ])("refuses the body %j (F82)", (body, message) => {
    assert.deepStrictEqual(mergePatch({}, body), { _tag: "BadRequest", message })
  })

  it("__proto__ is a key like any other", () => {
    const after = merged({}, JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"x": 1}}'))
    assert.deepStrictEqual(Object.keys(after), ["__proto__", "constructor"])
    assert.isUndefined(({} as Json).polluted)
    assert.isFalse(Object.hasOwn(merged(after, JSON.parse('{"__proto__": null}')), "__proto__"))
  })
})

const pointer = (path: ReadonlyArray<string | number>): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/** Every place in the value but the root. */
const places = (
  value: Json,
  path: ReadonlyArray<string | number> = []
): ReadonlyArray<ReadonlyArray<string | number>> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, child]) => {
        const here = [...path, Array.isArray(value) ? Number(key) : key]
        return [here, ...places(child, here)]
      })

const at = (value: Json, path: ReadonlyArray<string | number>): Json => path.reduce((node, key) => node[key], value)

const patched = (target: Json, operations: Json): Json => {
  const result = jsonPatch(frozen(target), frozen(operations))
  return result._tag === "Patched" ? result.value : result
}
const rejected = { _tag: "Rejected" }

describe("JSON patch", () => {
  it.prop(
    "a test of what stands there holds, of anything else does not (F80)",
    seed,
    (s) => {
      const random = randomOf(s)
      const target = object(random, 3, true)
      for (const path of places(target)) {
        assert.strictEqual(patched(target, [{ op: "test", path: pointer(path), value: at(target, path) }]), target)
        assert.deepStrictEqual(patched(target, [{ op: "test", path: pointer(path), value: "other" }]), rejected)
      }
    },
    runs
  )

  it.prop(
    "what is removed and added again is as it was",
    seed,
    (s) => {
      const random = randomOf(s)
      const target = object(random, 3, true)
      const all = places(target)
      if (all.length === 0) return
      const path = random.pick(all)
      const after = patched(target, [
        { op: "remove", path: pointer(path) },
        { op: "add", path: pointer(path), value: at(target, path) }
      ])
      assert.isTrue(equals(after, target), JSON.stringify([target, path, after]))
    },
    runs
  )

  it.prop(
    "a move is a copy and a remove, wherever it goes",
    seed,
    (s) => {
      const random = randomOf(s)
      const target = object(random, 3, true)
      const all = places(target)
      if (all.length === 0) return
      const from = pointer(random.pick(all))
      const moved = patched(target, [{ op: "move", from, path: "/moved" }])
      const copied = patched(target, [
        { op: "copy", from, path: "/moved" },
        { op: "remove", path: from }
      ])
      assert.isTrue(equals(moved, copied))
    },
    runs
  )

  it.prop(
    "a patch that fails anywhere does nothing",
    seed,
    (s) => {
      const random = randomOf(s)
      const target = object(random, 3, true)
      const operations = [
        { op: "add", path: "/a", value: 1 },
        { op: "remove", path: "/a" },
        { op: "remove", path: "/nothing/there" }
      ]
      assert.deepStrictEqual(patched(target, operations), rejected)
    },
    runs
  )

  it.prop(
    "parts that no operation touches keep their reference",
    seed,
    (s) => {
      const random = randomOf(s)
      const target = object(random, 3, true)
      const after = patched(target, [{ op: "add", path: "/new", value: 1 }])
      return Object.keys(target).every((name) => after[name] === target[name])
    },
    runs
  )

  it.each([
    ["replace of a missing member adds it", { a: {} }, [{ op: "replace", path: "/a/b", value: 1 }], { a: { b: 1 } }],
    ["-1 counts from the end", { a: [1, 2] }, [{ op: "replace", path: "/a/-1", value: 3 }], { a: [1, 3] }],
    ["-1 adds at the end", { a: [1, 2] }, [{ op: "add", path: "/a/-1", value: 3 }], { a: [1, 2, 3] }],
    ["- adds at the end", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
    ["an index inserts", { a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
    ["escapes are read once", { "~1": 1 }, [{ op: "replace", path: "/~01", value: 2 }], { "~1": 2 }],
    ["a slash is ~1", { "a/b": 1 }, [{ op: "remove", path: "/a~1b" }], {}],
    ["a missing value is null", {}, [{ op: "add", path: "/a" }], { a: null }],
    ["null holds for what is missing", {}, [{ op: "test", path: "/a", value: null }], {}],
    ["a copy of what is missing is null", {}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
    ["the whole is replaced", { a: 1 }, [{ op: "replace", path: "", value: { b: 1 } }], { b: 1 }],
    ["no operation at all", { a: 1 }, [], { a: 1 }],
    ["null is no operation at all", { a: 1 }, null, { a: 1 }],
    ["a missing value is not removed", {}, [{ op: "remove", path: "/a" }], rejected],
    ["a missing value is not moved", {}, [{ op: "move", from: "/a", path: "/b" }], rejected],
    ["no missing parent is made", {}, [{ op: "add", path: "/a/b", value: 1 }], rejected],
    ["a null parent is none", { a: null }, [{ op: "add", path: "/a/b", value: 1 }], rejected],
    ["a text is no parent", { a: "x" }, [{ op: "add", path: "/a/0", value: 1 }], rejected],
    ["an index too far", { a: [1] }, [{ op: "add", path: "/a/2", value: 1 }], rejected],
    ["an index too far before", { a: [1] }, [{ op: "remove", path: "/a/-2" }], rejected],
    ["a name is no index", { a: [1] }, [{ op: "remove", path: "/a/x" }], rejected],
    ["a path without a slash has no parent", {}, [{ op: "add", path: "", value: 1 }], rejected],
    ["an unknown operation", {}, [{ op: "nope", path: "/a" }], rejected],
    ["no operation named", {}, [{}], rejected],
    ["an empty operation", {}, [null], rejected]
  ] as ReadonlyArray<readonly [string, Json, Json, Json]>)("%s (F80, F81)", (_, target, operations, result) => {
    assert.deepStrictEqual(patched(target, operations), result)
  })

  it("a body that is no list of operations is no patch (F81)", () => {
    const message = (body: Json): Json => {
      const result = jsonPatch({}, body)
      return result._tag === "BadRequest" ? result.message : result
    }
    assert.strictEqual(
      message({}),
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
    )
    assert.strictEqual(
      message(["x"]),
      "error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"
    )
  })

  it("copies that double a value are stopped at the size of a body", () => {
    const operations = Array.from({ length: 100 }, () => ({ op: "copy", from: "/a", path: "/a/x" }))
    assert.deepStrictEqual(patched({ a: { text: "x".repeat(1_000) } }, operations), rejected)
  })

  it("__proto__ is a key like any other", () => {
    const after = patched({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }])
    assert.deepStrictEqual(Object.keys(after), ["__proto__"])
    assert.isUndefined(({} as Json).polluted)
    assert.deepStrictEqual(patched({}, [{ op: "add", path: "/constructor/prototype", value: 1 }]), rejected)
  })
})
