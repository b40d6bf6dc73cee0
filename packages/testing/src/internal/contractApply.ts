/** Server-side apply: who owns what, and what that does. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import { type Case, cases, cause, eventually, isLater, ownership, refusedAs, rv, same } from "./contractBench.ts"
import { configMaps, gadgets, group, widgets } from "./contractKinds.ts"

const defaults = { mode: "a", nestedDefault: { deep: 7 }, plainDefault: "d" }
const conflictWith = (who: string, field: string) => ({
  reason: "FieldManagerConflict",
  message: `conflict with ${who}`,
  field
})

export const apply: ReadonlyArray<Case> = cases("apply", {
  "an absent object is made, owned by what was sent alone (F86, F30)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { size: 1 }))
    same(made.spec, { ...defaults, size: 1 })
    same(ownership(made), [["m1 Apply", { "f:spec": { "f:size": {} } }]])
    same(made.metadata.generation, 1)
  },

  "the same again writes nothing (F86)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { size: 1 }))
    same(yield* b.apply("m1", b.widget("a", { size: 1 })), made)
    const configMap = yield* b.apply("m1", b.configMap("a", { k: "1" }))
    same(yield* b.apply("m1", b.configMap("a", { k: "1" })), configMap)
  },

  "another manager that sends the same becomes an owner too, once, with an entry without a time (F31, F86)": function* (
    b
  ) {
    const made = yield* b.apply("m1", b.widget("a", { size: 1 }))
    const shared = yield* b.apply("m2", b.widget("a", { size: 1 }))
    assert.ok(isLater(rv(made), rv(shared)))
    same(shared.metadata.generation, 1)
    same(
      ownership(shared)
        .map(([who]) => who)
        .sort(),
      ["m1 Apply", "m2 Apply"]
    )
    same(
      (shared.metadata.managedFields ?? []).filter((entry) => entry.time === undefined).map((entry) => entry.manager),
      ["m2"]
    )
    same(yield* b.apply("m2", b.widget("a", { size: 1 })), shared)
  },

  "another value of an owned field is a conflict that names field and owner (F91)": function* (b) {
    yield* b.apply("m1", b.widget("a", { size: 1, map: { x: "1" } }))
    yield* refusedAs(b.apply("m2", b.widget("a", { size: 2 })), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 1 conflict: conflict with "m1": .spec.size`,
      causes: [conflictWith(`"m1"`, ".spec.size")]
    })
    yield* refusedAs(b.apply("m2", b.widget("a", { size: 2, map: { x: "2" } })), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.size\n- .spec.map.x`,
      causes: [conflictWith(`"m1"`, ".spec.size"), conflictWith(`"m1"`, ".spec.map.x")]
    })
  },

  "a conflict with an updating manager names its version, and its subresource (F91)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }), { fieldManager: "maker" })
    yield* b.merge(widgets, "a", { spec: { mode: "b" } }, { fieldManager: "upd" })
    yield* b.merge(widgets, "a", { status: { phase: "p" } }, { fieldManager: "upd", subresource: "status" })
    yield* refusedAs(b.apply("m2", b.widget("a", { mode: "a" })), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 1 conflict: conflict with "upd" using ${group}/v1: .spec.mode`,
      causes: [conflictWith(`"upd" using ${group}/v1`, ".spec.mode")]
    })
    yield* refusedAs(b.applyStatus("m2", "a", { phase: "q" }), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 1 conflict: conflict with "upd" with subresource "status" using ${group}/v1: .status.phase`,
      causes: [conflictWith(`"upd" with subresource "status" using ${group}/v1`, ".status.phase")]
    })
  },

  "force takes the fields, and an entry left empty goes (F92)": function* (b) {
    yield* b.apply("m1", b.widget("a", { size: 1, map: { x: "1" } }))
    const part = yield* b.apply("m2", b.widget("a", { size: 2 }), { force: true })
    same((part.spec as any).size, 2)
    same(
      new Map(ownership(part)),
      new Map([
        ["m1 Apply", { "f:spec": { "f:map": { "f:x": {} } } }],
        ["m2 Apply", { "f:spec": { "f:size": {} } }]
      ])
    )
    const all = yield* b.apply("m2", b.widget("a", { size: 2, map: { x: "2" } }), { force: true })
    same(ownership(all), [["m2 Apply", { "f:spec": { "f:map": { "f:x": {} }, "f:size": {} } }]])
  },

  "a field given up goes, and a default comes back (F93)": function* (b) {
    yield* b.apply("m1", b.widget("a", { size: 1, mode: "b", map: { x: "1", y: "2" } }))
    const answer = yield* b.apply("m1", b.widget("a", { map: { y: "2" } }))
    same(answer.spec, { ...defaults, map: { y: "2" } })
    same(ownership(answer), [["m1 Apply", { "f:spec": { "f:map": { "f:y": {} } } }]])
    same(answer.metadata.generation, 2)
  },

  "a field given up stays while another owns it (F93)": function* (b) {
    yield* b.apply("m1", b.widget("a", { size: 1 }))
    yield* b.apply("m2", b.widget("a", { size: 1 }))
    const kept = yield* b.apply("m1", b.widget("a", {}))
    same([(kept.spec as any).size, ownership(kept).map(([who]) => who)], [1, ["m2 Apply", "m1 Apply"]])
    const gone = yield* b.apply("m2", b.widget("a", {}))
    same((gone.spec as any).size, undefined)
  },

  "an applied map member given up leaves the empty map or nothing (F93)": function* (b) {
    yield* b.apply("m1", b.configMap("a", { k: "1", l: "2" }))
    same((yield* b.apply("m1", b.configMap("a", { k: "1" }))).data, { k: "1" })
    const empty = yield* b.apply("m1", b.configMap("a"))
    same([empty.data, ownership(empty)], [undefined, []])
  },

  "a foreign update of a value takes it, so that giving it up keeps it (F93)": function* (b) {
    yield* b.apply("m1", b.configMap("a", { a: "1" }))
    const taken = yield* b.merge(configMaps, "a", { data: { a: "2" } }, { fieldManager: "upd" })
    same(ownership(taken), [["upd Update", { "f:data": { "f:a": {} } }]])
    const answer = yield* b.apply("m1", b.configMap("a", {}))
    same(answer.data, { a: "2" })
  },

  "a foreign replace of the whole object owns only what it changed (F93)": function* (b) {
    const made = yield* b.apply("m1", b.configMap("a", { a: "1" }))
    yield* b.replace({ ...made, data: { a: "1", b: "2" } }, { fieldManager: "upd" })
    const answer = yield* b.apply("m1", b.configMap("a", { c: "1" }))
    same(answer.data, { b: "2", c: "1" })
  },

  "an object made by create stays with its maker where the apply does not claim it (F94)": function* (b) {
    yield* b.create(b.configMap("a", { k1: "1", k2: "2" }), { fieldManager: "old" })
    const answer = yield* b.apply("m1", b.configMap("a", { k1: "1" }))
    same(answer.data, { k1: "1", k2: "2" })
    same(ownership(answer), [
      ["m1 Apply", { "f:data": { "f:k1": {} } }],
      ["old Update", { "f:data": { ".": {}, "f:k1": {}, "f:k2": {} } }]
    ])
    yield* refusedAs(b.apply("m1", b.configMap("a", { k1: "9" })), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 1 conflict: conflict with "old" using v1: .data.k1`,
      causes: [conflictWith(`"old" using v1`, ".data.k1")]
    })
  },

  "an apply by the name of the updating maker is an entry of its own (F94)": function* (b) {
    yield* b.create(b.configMap("a", { k1: "1", k2: "2" }), { fieldManager: "old" })
    const answer = yield* b.apply("old", b.configMap("a", { k1: "1" }))
    same([answer.data, ownership(answer).map(([who]) => who)], [{ k1: "1", k2: "2" }, ["old Apply", "old Update"]])
  },

  "maps by key, sets and atomics are owned entry by entry, value by value and whole (F95)": function* (b) {
    const made = yield* b.apply(
      "m1",
      b.widget("a", { rows: [{ k: "a", v: "1" }], set: ["x"], atomic: ["p"], atomicMap: { a: "1" } })
    )
    same(ownership(made), [
      [
        "m1 Apply",
        {
          "f:spec": {
            "f:atomic": {},
            "f:atomicMap": {},
            "f:rows": { 'k:{"k":"a"}': { ".": {}, "f:k": {}, "f:v": {} } },
            "f:set": { 'v:"x"': {} }
          }
        }
      ]
    ])
    same((made.spec as any).rows, [{ k: "a", v: "1", w: "w0" }])
  },

  "two managers share a list by key, and a set, each giving up only its own (F95, F96)": function* (b) {
    yield* b.apply("m1", b.widget("a", { rows: [{ k: "a", v: "1" }], set: ["x"] }))
    const both = yield* b.apply("m2", b.widget("a", { rows: [{ k: "b", v: "2" }], set: ["y"] }))
    const read = (object: any) => [object.spec.rows?.map((row: any) => row.k), object.spec.set]
    same(read(both), [
      ["a", "b"],
      ["x", "y"]
    ])
    const less = yield* b.apply("m1", b.widget("a", { rows: [], set: [] }))
    same(read(less), [["b"], ["y"]])
  },

  "the order of a list is the applier's, then the others' (F96)": function* (b) {
    yield* b.apply("m1", b.widget("a", { rows: [{ k: "a" }], set: ["x"] }))
    yield* b.apply("m2", b.widget("a", { rows: [{ k: "b" }], set: ["y"] }))
    const answer = yield* b.apply("m1", b.widget("a", { rows: [{ k: "c" }, { k: "a" }], set: ["z", "x"] }))
    const { rows, set } = answer.spec as any
    same(
      [rows.map((row: any) => row.k), set],
      [
        ["c", "a", "b"],
        ["z", "x", "y"]
      ]
    )
  },

  "an atomic list or map is one field, in conflicts too (F95)": function* (b) {
    yield* b.apply("m1", b.widget("a", { atomic: ["p"], atomicMap: { a: "1" } }))
    yield* refusedAs(b.apply("m3", b.widget("a", { atomic: ["q"], atomicMap: { b: "1" } })), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.atomic\n- .spec.atomicMap`,
      causes: [conflictWith(`"m1"`, ".spec.atomic"), conflictWith(`"m1"`, ".spec.atomicMap")]
    })
  },

  "a conflict inside a list entry is named by its key (F95)": function* (b) {
    yield* b.apply("m1", b.widget("a", { rows: [{ k: "a", v: "1" }] }))
    yield* refusedAs(b.apply("m2", b.widget("a", { rows: [{ k: "a", v: "2" }] })), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 1 conflict: conflict with "m1": .spec.rows[k="a"].v`,
      causes: [conflictWith(`"m1"`, `.spec.rows[k="a"].v`)]
    })
  },

  "finalizers merge as a set (F96)": function* (b) {
    const one = yield* b.apply("m1", b.widget("a", {}, { finalizers: ["x.io/a"] }))
    const two = yield* b.apply("m2", b.widget("a", {}, { finalizers: ["x.io/b"] }))
    const less = yield* b.apply("m1", b.widget("a", {}))
    same(
      [one, two, less].map((object) => object.metadata.finalizers),
      [["x.io/a"], ["x.io/a", "x.io/b"], ["x.io/b"]]
    )
    same(ownership(two)[0], ["m1 Apply", { "f:metadata": { "f:finalizers": { 'v:"x.io/a"': {} } }, "f:spec": {} }])
  },

  "owner references merge by uid (F96)": function* (b) {
    const owner = (name: string, uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid })
    yield* b.apply("m1", b.gadget("a", {}, { ownerReferences: [owner("a", "u1")], finalizers: ["x.io/hold"] }))
    const both = yield* b.apply("m2", b.gadget("a", {}, { ownerReferences: [owner("b", "u2")] }))
    same((both.metadata.ownerReferences ?? []).map((reference) => reference.uid).sort(), ["u1", "u2"])
    same(ownership(both).find(([who]) => who === "m2 Apply")?.[1], {
      "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u2"}': {} } },
      "f:spec": {}
    })
  },

  "labels are owned one by one (F30)": function* (b) {
    yield* b.apply("m1", b.widget("a", {}, { labels: { x: "1" } }))
    const both = yield* b.apply("m2", b.widget("a", {}, { labels: { y: "2" } }))
    same(both.metadata.labels, { x: "1", y: "2" })
    same((yield* b.apply("m1", b.widget("a", {}))).metadata.labels, { y: "2" })
  },

  "a nested object's members are owned, not the object (F30)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { nested: { x: "1" }, free: { a: { b: 1 } } }))
    same(ownership(made), [
      ["m1 Apply", { "f:spec": { "f:free": { "f:a": { ".": {}, "f:b": {} } }, "f:nested": { "f:x": {} } } }]
    ])
    const answer = yield* b.apply("m1", b.widget("a", {}))
    same(answer.spec, defaults)
  },

  "an empty object that is sent is owned and kept (F95)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { map: {}, free: {}, atomic: [], rows: [], set: [] }))
    same(made.spec, { ...defaults, map: {}, free: {}, atomic: [], rows: [], set: [] })
    same(yield* b.apply("m1", b.widget("a", { map: {}, free: {}, atomic: [], rows: [], set: [] })), made)
  },

  "a value equal to the default is owned where it was sent (F30)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { nested: {}, rows: [{ k: "a" }], mode: "a" }))
    same((made.spec as any).nested, { deep: 7 })
    same(ownership(made), [
      ["m1 Apply", { "f:spec": { "f:mode": {}, "f:nested": {}, "f:rows": { 'k:{"k":"a"}': { ".": {}, "f:k": {} } } } }]
    ])
  },

  "apply entries stand before update entries (F32)": function* (b) {
    yield* b.create(b.configMap("a", { a: "1" }), { fieldManager: "aa" })
    yield* b.merge(configMaps, "a", { data: { b: "1" } }, { fieldManager: "zz" })
    const answer = yield* b.apply("mm", b.configMap("a", { c: "1" }))
    same(
      ownership(answer).map(([who]) => who),
      ["mm Apply", "aa Update", "zz Update"]
    )
  },

  "a status apply owns under its subresource, apart from the main entry (F98)": function* (b) {
    yield* b.apply("m1", b.widget("a", { size: 1 }))
    const answer = yield* b.apply(
      "m1",
      {
        ...b.widget("a", { size: 50 }, { labels: { no: "no" } }),
        status: { phase: "p", conditions: [{ type: "Ready", status: "True" }] }
      },
      { subresource: "status" }
    )
    same([answer.metadata.generation, (answer.spec as any).size, answer.metadata.labels], [1, 1, undefined])
    same(answer.status, { phase: "p", conditions: [{ type: "Ready", status: "True" }] })
    same(
      new Map(ownership(answer)),
      new Map([
        ["m1 Apply", { "f:spec": { "f:size": {} } }],
        [
          "m1 Apply status",
          {
            "f:status": {
              "f:conditions": { 'k:{"type":"Ready"}': { ".": {}, "f:status": {}, "f:type": {} } },
              "f:phase": {}
            }
          }
        ]
      ])
    )
    const main = yield* b.apply("m1", b.widget("a", { size: 2 }))
    same(main.status, answer.status)
  },

  "conditions are shared by type, and each manager gives up its own (F98)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* b.applyStatus("m1", "a", { phase: "p", conditions: [{ type: "Ready", status: "True" }] })
    const both = yield* b.applyStatus("m2", "a", { conditions: [{ type: "Synced", status: "True" }] })
    const types = (object: any) => (object.status?.conditions ?? []).map((condition: any) => condition.type)
    same(types(both), ["Ready", "Synced"])
    const less = yield* b.applyStatus("m1", "a", { phase: "p" })
    same([types(less), (less.status as any).phase], [["Synced"], "p"])
    const none = yield* b.applyStatus("m1", "a", {})
    same([types(none), (none.status as any).phase], [["Synced"], undefined])
  },

  "the same status apply writes nothing (F86)": function* (b) {
    yield* b.create(b.widget("a"))
    const first = yield* b.applyStatus("m1", "a", { observedGeneration: 1 })
    same(yield* b.applyStatus("m1", "a", { observedGeneration: 1 }), first)
  },

  "status in a main apply is ignored, not owned, and dropped from a new object (F99)": function* (b) {
    const made = yield* b.apply("m1", { ...b.widget("a", { size: 1 }), status: { phase: "p" } })
    same([made.status, ownership(made)], [undefined, [["m1 Apply", { "f:spec": { "f:size": {} } }]]])
    same(yield* b.apply("m1", { ...b.widget("a", { size: 1 }), status: { phase: "p" } }), made)
    const gadget = yield* b.apply("m1", { ...b.gadget("a", { size: 1 }), status: { phase: "p" } })
    same(gadget.status, { phase: "p" })
  },

  "nulls: a nullable field is stored null, a defaulted one is the default, quietly (F103)": function* (b) {
    const body = b.widget("a", { maybe: null, plainDefault: null, free: { q: null } })
    const made = yield* b.apply("m1", body)
    same((made.spec as any).plainDefault, "d")
    same((made.spec as any).maybe, null)
    same(yield* b.apply("m1", body), made)
  },

  "empty labels, annotations, finalizers or owners are never quiet on a custom resource (F104)": function* (b) {
    const empties = { l: { labels: {} }, a: { annotations: {} }, f: { finalizers: [] }, o: { ownerReferences: [] } }
    for (const [name, metadata] of Object.entries(empties)) {
      const first = yield* b.apply("m1", b.widget(name, {}, metadata))
      // The server compares with its cache; while that lags, it compares with what is stored, and then it is quiet.
      yield* eventually(
        Effect.map(b.api.get(widgets, b.here(name), { resourceVersion: "0" }), (cached) => same(rv(cached), rv(first)))
      )
      const second = yield* b.apply("m1", b.widget(name, {}, metadata))
      assert.ok(isLater(rv(first), rv(second)), JSON.stringify(metadata))
      const configMap = yield* b.apply("m1", b.configMap(name, { k: "1" }, metadata))
      same(rv(yield* b.apply("m1", b.configMap(name, { k: "1" }, metadata))), rv(configMap))
    }
  },

  "an object under deletion takes an apply, but no new finalizer (F110)": function* (b) {
    yield* b.create(b.widget("a", {}, { finalizers: ["x.io/a"] }))
    yield* b.delete(widgets, "a")
    const answer = yield* b.apply("m1", b.widget("a", { size: 1 }))
    same((answer.spec as any).size, 1)
    same((yield* b.applyStatus("m1", "a", { phase: "p" })).status, { phase: "p" })
    const forbidden = cause(
      "metadata.finalizers",
      `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/b"}`,
      "FieldValueForbidden"
    )
    yield* refusedAs(b.apply("m1", b.widget("a", { size: 1 }, { finalizers: ["x.io/b"] })), {
      _tag: "Invalid",
      code: 422,
      causes: [forbidden, forbidden]
    })
  },

  "a dry run of an absent object answers it and makes nothing (F27)": function* (b) {
    const tried = yield* b.apply("m1", b.widget("a", { size: 1 }), { dryRun: true })
    same(tried.spec, { ...defaults, size: 1 })
    yield* refusedAs(b.get(widgets, "a"), { _tag: "NotFound", code: 404 })
  },

  "a Gadget's status is owned by the main entry (F99)": function* (b) {
    const made = yield* b.apply("m1", { ...b.gadget("a", { size: 1 }), status: { phase: "p" } })
    same(ownership(made), [["m1 Apply", { "f:spec": { "f:size": {} }, "f:status": { "f:phase": {} } }]])
    same((yield* b.apply("m1", b.gadget("a", { size: 1 }))).status, undefined)
    same((yield* b.get(gadgets, "a")).metadata.generation, 2)
  }
})
