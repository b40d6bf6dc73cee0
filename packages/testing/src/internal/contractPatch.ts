/** Merge patch, JSON patch, and the status subresource by all verbs. */
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import { type Case, cases, cause, isLater, ownership, refused, refusedAs, rv, same } from "./contractBench.ts"
import { configMaps, deployments, gadgets, group, secrets, widgets } from "./contractKinds.ts"

const another = "11111111-1111-1111-1111-111111111111"
const modified = {
  _tag: "Conflict",
  code: 409,
  message: `Operation cannot be fulfilled on widgets.${group} "a": the object has been modified; please apply your changes to the latest version and try again`
} as const
const versionWanted = {
  _tag: "Invalid",
  code: 422,
  message: `widgets.${group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
  causes: [cause("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")]
} as const
const absent = { _tag: "NotFound", code: 404, message: `widgets.${group} "absent" not found` } as const

export const mergePatch: ReadonlyArray<Case> = cases("merge patch", {
  "null deletes, an absent null does nothing, a defaulted one is the default again (F82)": function* (b) {
    yield* b.create(b.widget("a", { size: 1, mode: "b", map: { a: "1", b: "2" }, nested: { x: "1" } }))
    const answer = yield* b.merge(widgets, "a", { spec: { map: { a: null }, nested: null, when: null, mode: null } })
    same(answer.spec, { map: { b: "2" }, mode: "a", nestedDefault: { deep: 7 }, plainDefault: "d", size: 1 })
  },

  "lists are replaced whole (F82)": function* (b) {
    yield* b.create(b.widget("a", { atomic: ["x", "y"], rows: [{ k: "a", v: "1" }] }))
    const answer = yield* b.merge(widgets, "a", { spec: { atomic: ["z"], rows: [{ k: "b" }] } })
    const { atomic, rows } = answer.spec as any
    same([atomic, rows], [["z"], [{ k: "b", w: "w0" }]])
  },

  "nulls in a new object are dropped, in a list kept (F82)": function* (b) {
    yield* b.create(b.widget("a"))
    const answer = yield* b.merge(widgets, "a", { spec: { free: { x: null, y: { z: null }, l: [null, 1] } } })
    same((answer.spec as any).free, { y: {}, l: [null, 1] })
  },

  "without a version none is lost, whoever else writes (F73)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* Effect.forEach(
      Array.from({ length: 20 }, (_, index) => index),
      (index) => b.merge(widgets, "a", { metadata: { annotations: { [`n${index}`]: "1" } } }),
      { concurrency: 10 }
    )
    same(Object.keys((yield* b.get(widgets, "a")).metadata.annotations ?? {}).length, 20)
  },

  "a version guards it (F71)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const moved = yield* b.merge(widgets, "a", { spec: { size: 2 } })
    yield* refusedAs(b.merge(widgets, "a", { metadata: { resourceVersion: rv(made) }, spec: { size: 5 } }), modified)
    const now = yield* b.merge(widgets, "a", { metadata: { resourceVersion: rv(moved) }, spec: { size: 6 } })
    same((now.spec as any).size, 6)
  },

  "an empty version is refused on a custom resource and taken on a ConfigMap (F73)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* b.create(b.configMap("a", { k: "1" }))
    for (const resourceVersion of ["", null, "0"]) {
      yield* refusedAs(b.merge(widgets, "a", { metadata: { resourceVersion }, spec: { size: 1 } }), versionWanted)
      yield* b.merge(configMaps, "a", { metadata: { resourceVersion }, data: { k: `${resourceVersion}x` } })
    }
  },

  "another uid on main is immutable, not a conflict (F76)": function* (b) {
    yield* b.create(b.widget("a"))
    const immutable = cause("metadata.uid", `Invalid value: "${another}": field is immutable`)
    yield* refusedAs(b.merge(widgets, "a", { metadata: { uid: another }, spec: { size: 3 } }), {
      _tag: "Invalid",
      code: 422,
      causes: [immutable, immutable]
    })
  },

  "an absent one is not found (F79)": function* (b) {
    yield* refusedAs(b.merge(widgets, "absent", { spec: { size: 1 } }), absent)
    yield* refusedAs(b.merge(widgets, "absent", { status: {} }, { subresource: "status" }), absent)
    yield* refusedAs(b.merge(configMaps, "absent", {}), {
      _tag: "NotFound",
      code: 404,
      message: `configmaps "absent" not found`
    })
  },

  "another kind or version is refused (F82)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* refusedAs(b.merge(widgets, "a", { kind: "Gadget" }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("kind", `Invalid value: "Gadget": must be Widget`)]
    })
    yield* refusedAs(b.merge(widgets, "a", { apiVersion: `${group}/v9` }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("apiVersion", `Invalid value: "${group}/v9": must be ${group}/v1`)]
    })
  },

  "what the server alone says of an object is not changed by it (F24)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    const answer = yield* b.merge(widgets, "a", {
      metadata: { creationTimestamp: "2001-01-01T00:00:00Z", generation: 9, selfLink: "/x" }
    })
    same(answer, made)
    const nulls = yield* b.merge(widgets, "a", { metadata: { uid: null, creationTimestamp: null } })
    same([nulls.metadata.uid, nulls.metadata.creationTimestamp], [made.metadata.uid, made.metadata.creationTimestamp])
  },

  "it owns what it changed, and takes it from who owned it (F30, F93)": function* (b) {
    yield* b.create(b.configMap("a", { k: "1", l: "1" }), { fieldManager: "one" })
    const answer = yield* b.merge(configMaps, "a", { data: { k: "2", l: "1" } }, { fieldManager: "two" })
    same(ownership(answer), [
      ["one Update", { "f:data": { ".": {}, "f:l": {} } }],
      ["two Update", { "f:data": { "f:k": {} } }]
    ])
  },

  "a Secret's stringData is owned as data by an update (F109)": function* (b) {
    yield* b.create(b.object(secrets, "a"), { fieldManager: "maker" })
    const answer = yield* b.merge(secrets, "a", { stringData: { x: "1" } }, { fieldManager: "two" })
    same(
      [answer.data, ownership(answer)],
      [
        { x: "MQ==" },
        [
          ["maker Update", { "f:type": {} }],
          ["two Update", { "f:data": { ".": {}, "f:x": {} } }]
        ]
      ]
    )
  },

  "a dry run keeps what is stored (F27)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const tried = yield* b.merge(widgets, "a", { spec: { size: 2 } }, { dryRun: true })
    same([rv(tried), tried.metadata.generation, (tried.spec as any).size], [rv(made), 2, 2])
    same(yield* b.get(widgets, "a"), made)
  },

  "an invalid result is refused with all causes (F133)": function* (b) {
    yield* b.create(b.widget("a"))
    const { reason } = yield* refused(b.merge(widgets, "a", { spec: { size: 101, mode: "c" } }))
    // The server draws their order by chance.
    same(
      [reason._tag, "causes" in reason && [...reason.causes].sort((x, y) => (x.field! < y.field! ? -1 : 1))],
      [
        "Invalid",
        [
          cause("spec.mode", `Unsupported value: "c": supported values: "a", "b"`, "FieldValueNotSupported"),
          cause("spec.size", "Invalid value: 101: spec.size in body should be less than or equal to 100")
        ]
      ]
    )
    assert.ok(reason.message.startsWith(`Widget.${group} "a" is invalid: [`))
  }
})

const testFailed = {
  _tag: "TestFailed",
  code: 422,
  message: "the server rejected our request due to an error in our request"
} as const

export const jsonPatch: ReadonlyArray<Case> = cases("json patch", {
  "a test that fails and a path that is not there are told alike (F80)": function* (b) {
    yield* b.create(b.widget("a", { size: 1, atomic: ["a"] }))
    const failing = [
      { op: "test", path: "/spec/size", value: 99 },
      { op: "test", path: "/spec/absent", value: 1 },
      { op: "test", path: "/metadata/resourceVersion", value: "1" },
      { op: "test", path: "/metadata/uid", value: "x" },
      { op: "remove", path: "/spec/absent" },
      { op: "remove", path: "/spec/atomic/7" },
      { op: "add", path: "/spec/nested/absent/x", value: 1 },
      { op: "add", path: "/spec/atomic/9", value: "z" }
    ] as const
    for (const operation of failing) yield* refusedAs(b.json(widgets, "a", [operation]), testFailed)
  },

  "a test that holds lets the rest pass, all or nothing (F80)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const set = { op: "add", path: "/spec/size", value: 2 } as const
    yield* refusedAs(b.json(widgets, "a", [set, { op: "test", path: "/spec/size", value: 1 }]), testFailed)
    same(yield* b.get(widgets, "a"), made)
    const answer = yield* b.json(widgets, "a", [
      { op: "test", path: "/metadata/uid", value: made.metadata.uid },
      { op: "test", path: "/spec/absent", value: null },
      set
    ])
    same((answer.spec as any).size, 2)
  },

  "add appends, inserts and sets; escapes, move, copy and negative indexes work (F81)": function* (b) {
    yield* b.create(b.widget("a", { atomic: ["a", "b"], map: { "a/b": "1", "c~d": "2" } }))
    const answer = yield* b.json(widgets, "a", [
      { op: "add", path: "/spec/atomic/-", value: "c" },
      { op: "add", path: "/spec/atomic/0", value: "z" },
      { op: "remove", path: "/spec/atomic/-1" },
      { op: "replace", path: "/spec/map/a~1b", value: "9" },
      { op: "remove", path: "/spec/map/c~0d" },
      { op: "move", from: "/spec/map/a~1b", path: "/spec/map/moved" },
      { op: "copy", from: "/spec/map/moved", path: "/spec/map/copied" }
    ])
    const { atomic, map } = answer.spec as any
    same([atomic, map], [["z", "a", "b"], { moved: "9", copied: "9" }])
  },

  "replacing a missing member acts as add (F81)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }))
    const answer = yield* b.json(widgets, "a", [{ op: "replace", path: "/spec/when", value: "2020-01-01T00:00:00Z" }])
    same((answer.spec as any).when, "2020-01-01T00:00:00Z")
  },

  "replacing the version guards it with a conflict (F71)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const moved = yield* b.merge(widgets, "a", { spec: { size: 2 } })
    const guarded = (version: string) =>
      b.json(widgets, "a", [
        { op: "replace", path: "/metadata/resourceVersion", value: version },
        { op: "add", path: "/spec/size", value: 3 }
      ])
    yield* refusedAs(guarded(rv(made)), modified)
    same(((yield* guarded(rv(moved))).spec as any).size, 3)
  },

  "removing the version is refused on a custom resource (F81)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* refusedAs(b.json(widgets, "a", [{ op: "remove", path: "/metadata/resourceVersion" }]), versionWanted)
  },

  "no operations write nothing (F5)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    same(yield* b.json(widgets, "a", []), made)
  },

  "an absent one is not found (F79)": function* (b) {
    yield* refusedAs(b.json(widgets, "absent", []), absent)
  },

  "more than 10,000 operations are too many (F28)": function* (b) {
    yield* b.create(b.configMap("a", { k: "1" }))
    const many = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/k", value: "1" }) as const)
    yield* refusedAs(b.json(configMaps, "a", many), { _tag: "Refused", code: 413 })
  }
})

export const status: ReadonlyArray<Case> = cases("status", {
  "a status patch writes the status alone, whatever else it bears (F85)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }), { fieldManager: "one" })
    const answer = yield* b.merge(
      widgets,
      "a",
      {
        metadata: {
          labels: { l: "1" },
          annotations: { a: "1" },
          finalizers: ["x.io/s"],
          ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "x" }]
        },
        spec: { size: 9 },
        status: { phase: "p" }
      },
      { subresource: "status", fieldManager: "two" }
    )
    const { labels, annotations, finalizers, ownerReferences, generation } = answer.metadata
    same(
      [labels, annotations, finalizers, ownerReferences, generation],
      [undefined, undefined, undefined, undefined, 1]
    )
    same([answer.spec, answer.status], [made.spec, { phase: "p" }])
    same(ownership(answer)[1], ["two Update status", { "f:status": { ".": {}, "f:phase": {} } }])
  },

  "the uid of a namesake is ignored by a status patch of a custom resource (F77)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    const options = { subresource: "status" } as const
    const merged = yield* b.merge(widgets, "a", { metadata: { uid: another }, status: { phase: "p" } }, options)
    same([merged.metadata.uid, merged.status], [made.metadata.uid, { phase: "p" }])
    const json = yield* b.json(
      widgets,
      "a",
      [
        { op: "replace", path: "/metadata/uid", value: another },
        { op: "add", path: "/status/phase", value: "q" }
      ],
      options
    )
    same([json.metadata.uid, json.status], [made.metadata.uid, { phase: "q" }])
  },

  "a version guards a status patch (F71)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    yield* b.merge(widgets, "a", { metadata: { labels: { x: "1" } } })
    const options = { subresource: "status" } as const
    yield* refusedAs(
      b.merge(widgets, "a", { metadata: { resourceVersion: rv(made) }, status: { phase: "p" } }, options),
      modified
    )
    yield* refusedAs(
      b.json(
        widgets,
        "a",
        [
          { op: "replace", path: "/metadata/resourceVersion", value: rv(made) },
          { op: "add", path: "/status", value: { phase: "p" } }
        ],
        options
      ),
      modified
    )
  },

  "a JSON patch can test the uid on the status path (F80)": function* (b) {
    yield* b.create(b.widget("a"))
    const operations = [
      { op: "test", path: "/metadata/uid", value: another },
      { op: "add", path: "/status", value: { phase: "p" } }
    ] as const
    yield* refusedAs(b.json(widgets, "a", operations, { subresource: "status" }), testFailed)
  },

  "the status path of a Deployment writes annotations too, at the same generation (F10)": function* (b) {
    const made = yield* b.create(b.deployment("a"))
    const body = {
      metadata: { annotations: { n: "1" }, labels: { l: "1" } },
      status: { conditions: [{ type: "Available", status: "True" }] }
    }
    const answer = yield* b.merge(deployments, "a", body, { subresource: "status", fieldManager: "two" })
    same([answer.metadata.generation, answer.metadata.annotations], [made.metadata.generation, { n: "1" }])
    same(answer.status, {
      conditions: [{ type: "Available", status: "True", lastTransitionTime: null, lastUpdateTime: null }]
    })
  },

  "a kind without the subresource answers as if the object was absent (F37)": function* (b) {
    yield* b.create(b.gadget("a"))
    const refusal = { _tag: "NotFound", code: 404 } as const
    yield* refusedAs(b.merge(gadgets, "a", { status: { phase: "p" } }, { subresource: "status" }), refusal)
    yield* refusedAs(b.replace({ ...b.gadget("a"), status: {} }, { subresource: "status" }), refusal)
    yield* refusedAs(b.apply("m1", { ...b.gadget("a"), status: {} }, { subresource: "status" }), refusal)
  },

  "a main patch of the status writes nothing (F137)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    same(yield* b.merge(widgets, "a", { status: { phase: "p" } }), made)
  },

  "an invalid status is refused (F100)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* refusedAs(b.merge(widgets, "a", { status: { count: -1 } }, { subresource: "status" }), {
      _tag: "Invalid",
      code: 422,
      message: `Widget.${group} "a" is invalid: status.count: Invalid value: -1: count in body should be greater than or equal to 0`,
      causes: [cause("status.count", "Invalid value: -1: count in body should be greater than or equal to 0")]
    })
    yield* refusedAs(b.merge(widgets, "a", { status: { conditions: [{ type: "A" }] } }, { subresource: "status" }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("status.conditions[0].status", "Required value", "FieldValueRequired")]
    })
  },

  "unknown fields of a status are pruned (F25)": function* (b) {
    yield* b.create(b.widget("a"))
    const answer = yield* b.merge(widgets, "a", { status: { nope: 1, count: 1 } }, { subresource: "status" })
    same(answer.status, { count: 1 })
  },

  "a spec edit leaves the status, and a status edit the generation (F7)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }))
    const first = yield* b.merge(widgets, "a", { status: { phase: "p" } }, { subresource: "status" })
    const second = yield* b.merge(widgets, "a", { spec: { size: 2 } })
    same([first.metadata.generation, second.metadata.generation, second.status], [1, 2, { phase: "p" }])
    assert.ok(isLater(rv(first), rv(second)))
  }
})
