/** Metadata: what the server fills in, keeps, and refuses. */
import { type Case, cases, cause, isLater, ownership, refusedAs, rv, same } from "./contractBench.ts"
import { configMaps, deployments, gadgets, group, pods, secrets, services, widgets } from "./contractKinds.ts"
import assert from "node:assert/strict"

const rfc1123 =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const qualified =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

export const metadata: ReadonlyArray<Case> = cases("metadata", {
  "a created object has a uid, a time in whole seconds, generation 1 and a decimal version (F1)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    assert.match(made.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.match(made.metadata.creationTimestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.match(rv(made), /^\d+$/)
    same(made.metadata.generation, 1)
    same(Object.keys(made).sort(), ["apiVersion", "kind", "metadata", "spec"])
    same(
      [made.apiVersion, made.kind, made.metadata.namespace, made.metadata.name],
      [`${group}/v1`, "Widget", b.ns, "a"]
    )
  },

  "versions are one counter for all kinds (F2)": function* (b) {
    const first = yield* b.create(b.widget("a"))
    const second = yield* b.create(b.configMap("a"))
    const third = yield* b.merge(widgets, "a", { spec: { size: 2 } })
    assert.ok(isLater(rv(first), rv(second)) && isLater(rv(second), rv(third)))
  },

  "what only the server may say is ignored in a create (F3)": function* (b) {
    const made = yield* b.create(
      b.widget(
        "a",
        {},
        {
          uid: "11111111-1111-1111-1111-111111111111",
          creationTimestamp: "2001-01-01T00:00:00Z",
          generation: 77,
          selfLink: "/x",
          deletionTimestamp: "2001-01-01T00:00:00Z",
          deletionGracePeriodSeconds: 5
        }
      )
    )
    assert.notEqual(made.metadata.uid, "11111111-1111-1111-1111-111111111111")
    assert.ok((made.metadata.creationTimestamp ?? "") > "2002")
    same(
      [made.metadata.generation, made.metadata.deletionTimestamp, made.metadata.deletionGracePeriodSeconds],
      [1, undefined, undefined]
    )
    same("selfLink" in made.metadata, false)
  },

  "a create that bears a version is a server error, except an empty one or 0 (F4)": function* (b) {
    yield* refusedAs(b.create(b.widget("a", {}, { resourceVersion: "1" })), {
      _tag: "ServerError",
      code: 500,
      message: "resourceVersion should not be set on objects to be created"
    })
    yield* b.create(b.widget("b", {}, { resourceVersion: "" }))
    yield* b.create(b.configMap("b", {}, { resourceVersion: "0" }))
  },

  "a write that changes nothing keeps the version and the owners, whoever writes (F5)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const writes = [
      b.replace(made),
      b.replace(made, { fieldManager: "other" }),
      b.merge(widgets, "a", {}),
      b.merge(widgets, "a", { spec: { size: 1 } }, { fieldManager: "other" })
    ]
    for (const write of writes) {
      const answer = yield* write
      same([rv(answer), answer.metadata.managedFields], [rv(made), made.metadata.managedFields])
    }
  },

  "an update that changes nothing but bears an old version is a conflict (F5)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const moved = yield* b.merge(widgets, "a", { metadata: { labels: { x: "1" } } })
    const conflict = {
      _tag: "Conflict",
      code: 409,
      message: `Operation cannot be fulfilled on widgets.${group} "a": the object has been modified; please apply your changes to the latest version and try again`
    } as const
    yield* refusedAs(b.replace({ ...moved, metadata: { ...moved.metadata, resourceVersion: rv(made) } }), conflict)
    yield* refusedAs(b.merge(widgets, "a", { metadata: { resourceVersion: rv(made) } }), conflict)
  },

  "a replace that leaves out the server's metadata keeps it (F6)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const { creationTimestamp: _, generation: __, managedFields: ___, ...metadata } = made.metadata
    const answer = yield* b.replace({ ...made, metadata: { ...metadata, labels: { q: "1" } } })
    same(
      [answer.metadata.creationTimestamp, answer.metadata.generation, answer.metadata.labels],
      [made.metadata.creationTimestamp, 1, { q: "1" }]
    )
  },

  "the generation counts what is outside of metadata and status, where there is a status subresource (F7)": function* (
    b
  ) {
    yield* b.create(b.widget("a", { size: 1 }))
    const generations: Array<number | undefined> = []
    const edits = [
      { metadata: { labels: { x: "1" } } },
      { metadata: { annotations: { x: "1" } } },
      { metadata: { finalizers: ["x.io/f"] } },
      { spec: { size: 2 } },
      { spec: { size: 2 } },
      { status: { phase: "p" } },
      { metadata: { finalizers: null } }
    ]
    for (const edit of edits) generations.push((yield* b.merge(widgets, "a", edit)).metadata.generation)
    const status = yield* b.merge(widgets, "a", { status: { phase: "q" } }, { subresource: "status" })
    same([...generations, status.metadata.generation], [1, 1, 1, 2, 2, 2, 2, 2])
  },

  "without a status subresource the status counts too (F7)": function* (b) {
    yield* b.create(b.gadget("a", { size: 1 }))
    const label = yield* b.merge(gadgets, "a", { metadata: { labels: { x: "1" } } })
    const status = yield* b.merge(gadgets, "a", { status: { phase: "p" } })
    const spec = yield* b.merge(gadgets, "a", { spec: { size: 2 } })
    same(
      [label, status, spec].map((answer) => answer.metadata.generation),
      [1, 2, 3]
    )
  },

  "a deletion that waits for a finalizer raises the generation (F8)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }, { finalizers: ["x.io/a"] }))
    yield* b.delete(widgets, "a")
    same((yield* b.get(widgets, "a")).metadata.generation, 2)
  },

  "a ConfigMap and a Lease count no generations (F9)": function* (b) {
    const made = [yield* b.create(b.configMap("a", { k: "v" })), yield* b.create(b.lease("a", {}))]
    same(
      made.map((object) => "generation" in object.metadata),
      [false, false]
    )
    same("generation" in (yield* b.merge(configMaps, "a", { data: { k: "w" } })).metadata, false)
  },

  "an annotation raises a Deployment's generation, a label does not (F10)": function* (b) {
    const made = yield* b.create(b.deployment("a"))
    const label = yield* b.merge(deployments, "a", { metadata: { labels: { x: "1" } } })
    const annotation = yield* b.merge(deployments, "a", { metadata: { annotations: { x: "1" } } })
    const replicas = yield* b.merge(deployments, "a", { spec: { replicas: 2 } })
    same(
      [made, label, annotation, replicas].map((answer) => answer.metadata.generation),
      [1, 1, 2, 3]
    )
  },

  "generateName gives a name with five more letters, and is kept (F11)": function* (b) {
    const { name: _, ...metadata } = b.widget("a").metadata ?? {}
    const made = yield* b.create({ ...b.widget("a"), metadata: { ...metadata, generateName: "pre-" } })
    assert.match(made.metadata.name, /^pre-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    same(made.metadata.generateName, "pre-")
    const long = yield* b.create({ ...b.configMap("a"), metadata: { ...metadata, generateName: "p".repeat(100) } })
    same(long.metadata.name.length, 63)
    const both = yield* b.create(b.widget("both", {}, { generateName: "x-" }))
    same([both.metadata.name, both.metadata.generateName], ["both", "x-"])
  },

  "an object without a name is refused (F12)": function* (b) {
    yield* refusedAs(b.api.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: b.ns } }), {
      _tag: "Invalid",
      code: 422,
      message: `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`,
      causes: [cause("metadata.name", "Required value: name or generateName is required", "FieldValueRequired")]
    })
  },

  "a name that is no DNS name is refused with the rule (F13)": function* (b) {
    for (const name of ["Bad", "a_b"]) {
      yield* refusedAs(b.create(b.configMap(name)), {
        _tag: "Invalid",
        code: 422,
        message: `ConfigMap "${name}" is invalid: metadata.name: Invalid value: "${name}": ${rfc1123}`,
        causes: [cause("metadata.name", `Invalid value: "${name}": ${rfc1123}`)]
      })
    }
    const long = "a".repeat(254)
    yield* refusedAs(b.create(b.configMap(long)), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("metadata.name", `Invalid value: "${long}": must be no more than 253 characters`)]
    })
  },

  "a label's value has 63 bytes at most (F14)": function* (b) {
    const value = "x".repeat(64)
    yield* refusedAs(b.create(b.configMap("a", {}, { labels: { a: value } })), {
      _tag: "Invalid",
      code: 422,
      message: `ConfigMap "a" is invalid: metadata.labels: Invalid value: "${value}": must be no more than 63 bytes`,
      causes: [cause("metadata.labels", `Invalid value: "${value}": must be no more than 63 bytes`)]
    })
  },

  "the keys of labels and annotations are qualified names (F15)": function* (b) {
    for (const field of ["labels", "annotations"]) {
      yield* refusedAs(b.create(b.configMap("a", {}, { [field]: { "a b": "x" } })), {
        _tag: "Invalid",
        code: 422,
        causes: [cause(`metadata.${field}`, `Invalid value: "a b": ${qualified}`)]
      })
    }
    yield* b.create(b.configMap("b", {}, { annotations: { "Abc.IO/C": "x" } }))
  },

  "annotations hold 256 KiB together (F16)": function* (b) {
    yield* refusedAs(b.create(b.configMap("a", {}, { annotations: { a: "x".repeat(262_144) } })), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("metadata.annotations", "Too long: may not be more than 262144 bytes", "FieldValueTooLong")]
    })
    yield* b.create(b.configMap("b", {}, { annotations: { a: "x".repeat(262_143) } }))
  },

  "a finalizer without a domain is refused on built-in kinds and taken on others (F17)": function* (b) {
    yield* refusedAs(b.create(b.configMap("a", {}, { finalizers: ["foo"] })), {
      _tag: "Invalid",
      code: 422,
      causes: [
        cause(
          "metadata.finalizers[0]",
          `Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified`
        )
      ]
    })
    const made = yield* b.create(b.widget("a", {}, { finalizers: ["foo"] }))
    same(made.metadata.finalizers, ["foo"])
  },

  "the body's namespace must be the path's (F19)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* refusedAs(
      b.api.replace(widgets, b.here("a"), {
        ...b.widget("a", {}, { resourceVersion: "1" }),
        metadata: { name: "a", namespace: "default", resourceVersion: "1" }
      }),
      {
        _tag: "BadRequest",
        code: 400,
        message: "the namespace of the provided object does not match the namespace sent on the request"
      }
    )
  },

  "another kind or version than the path's is refused (F20)": function* (b) {
    yield* refusedAs(b.api.create(widgets, b.gadget("a")), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("kind", `Invalid value: "Gadget": must be Widget`)]
    })
    yield* refusedAs(b.api.create(widgets, { ...b.widget("a"), apiVersion: `${group}/v2` }), {
      _tag: "BadRequest",
      code: 400,
      message: `the API version in the data (${group}/v2) does not match the expected API version (${group}/v1)`
    })
  },

  "a creating manager owns what it sent and the defaults set with it (F30)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }, { labels: { x: "1" } }), { fieldManager: "maker" })
    same(ownership(made), [
      [
        "maker Update",
        {
          "f:metadata": { "f:labels": { ".": {}, "f:x": {} } },
          "f:spec": {
            ".": {},
            "f:mode": {},
            "f:nestedDefault": { ".": {}, "f:deep": {} },
            "f:plainDefault": {},
            "f:size": {}
          }
        }
      ]
    ])
    const [entry] = made.metadata.managedFields ?? []
    same([entry?.apiVersion, entry?.fieldsType], [`${group}/v1`, "FieldsV1"])
    assert.match(entry?.time ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  },

  "the manager is the one that the request names, fixpoint by default (F29, C10)": function* (b) {
    const made = yield* b.create(b.configMap("a", { k: "v" }))
    const changed = yield* b.merge(configMaps, "a", { data: { k: "w" } }, { fieldManager: "other" })
    same(
      ownership(made).map(([who]) => who),
      ["fixpoint Update"]
    )
    same(ownership(changed), [
      ["fixpoint Update", { "f:data": {} }],
      ["other Update", { "f:data": { "f:k": {} } }]
    ])
  },

  "a manager's name has 128 bytes at most (F29)": function* (b) {
    yield* b.create(b.configMap("a"), { fieldManager: "m".repeat(128) })
    yield* refusedAs(b.create(b.configMap("b"), { fieldManager: "m".repeat(129) }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("fieldManager", "Too long: may not be more than 128 bytes", "FieldValueTooLong")]
    })
  },

  "beyond ten updating managers the oldest become one entry (F32)": function* (b) {
    yield* b.create(b.configMap("a", { k0: "1" }), { fieldManager: "m0" })
    for (let index = 1; index <= 11; index++) {
      yield* b.merge(configMaps, "a", { data: { [`k${index}`]: "1" } }, { fieldManager: `m${index}` })
    }
    const entries = ownership(yield* b.get(configMaps, "a"))
    same(entries.length, 10)
    same(entries.filter(([who]) => who === "ancient-changes Update").length, 1)
  },

  "generations of built-in kinds: Pods and Deployments count, Secrets, Services and Events do not (F9)": function* (b) {
    const made = [
      yield* b.create(b.deployment("a")),
      yield* b.create(b.object(pods, "a", { spec: { containers: [{ name: "c", image: "i" }] } })),
      yield* b.create(b.object(secrets, "a")),
      yield* b.create(b.object(services, "a", { spec: { ports: [{ port: 80 }] } })),
      yield* b.create(b.event("a"))
    ]
    same(
      made.map((object) => object.metadata.generation),
      [1, 1, undefined, undefined, undefined]
    )
  },

  "a label that is no text is refused (F18)": function* (b) {
    yield* refusedAs(b.create(b.widget("a", {}, { labels: { a: 1 } })), { _tag: "BadRequest", code: 400 })
    yield* refusedAs(b.create(b.configMap("a", {}, { labels: { a: 1 } })), { _tag: "BadRequest", code: 400 })
    yield* b.create(b.widget("b"))
    yield* refusedAs(b.merge(widgets, "b", { metadata: { labels: { a: 1 } } }), {
      _tag: "Invalid",
      code: 422,
      causes: "any"
    })
  },

  "managedFields are cleared by one empty entry, and the later Updates stay unrecorded (F33)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const cleared = yield* b.merge(widgets, "a", { metadata: { managedFields: [{}] } })
    assert.ok(isLater(rv(made), rv(cleared)))
    same(ownership(cleared), [])
    same(ownership(yield* b.merge(widgets, "a", { spec: { size: 2 } })), [])
  },

  "an empty list of managedFields is ignored on a custom resource and clears a ConfigMap's (F33)": function* (b) {
    const widget = yield* b.create(b.widget("a", { size: 1 }))
    const configMap = yield* b.create(b.configMap("a", { k: "v" }))
    const kept = yield* b.merge(widgets, "a", { metadata: { managedFields: [] } })
    const cleared = yield* b.merge(configMaps, "a", { metadata: { managedFields: [] } })
    same([rv(kept), kept.metadata.managedFields], [rv(widget), widget.metadata.managedFields])
    same([isLater(rv(configMap), rv(cleared)), ownership(cleared)], [true, []])
  }
})
