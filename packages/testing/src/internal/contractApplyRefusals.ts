/** Server-side apply: guards, bodies that are refused, and values that are told apart or not. */
import type { ObjectInput } from "@fixpoint/core/KubeObject"
import { type Case, cases, cause, isLater, ownership, refusedAs, rv, same } from "./contractBench.ts"
import { configMaps, deployments, group, secrets, services, widgets } from "./contractKinds.ts"

const another = "11111111-1111-1111-1111-111111111111"
const modified = {
  _tag: "Conflict",
  code: 409,
  message: `Operation cannot be fulfilled on widgets.${group} "a": the object has been modified; please apply your changes to the latest version and try again`
} as const

export const applyRefusals: ReadonlyArray<Case> = cases("apply", {
  "a uid forbids to make the object anew (F87)": function* (b) {
    yield* refusedAs(b.apply("m1", b.widget("a", {}, { uid: another })), {
      _tag: "Conflict",
      code: 409,
      message: `Operation cannot be fulfilled on widgets.${group} "a": uid mismatch: the provided object specified uid ${another}, and no existing object was found`
    })
    yield* refusedAs(b.get(widgets, "a"), { _tag: "NotFound", code: 404 })
  },

  "a body that does not fit the schema is told before a uid that fits nothing (F87, F97)": function* (b) {
    yield* refusedAs(b.apply("m1", b.widget("a", { nope: 1 }, { uid: another })), {
      _tag: "ServerError",
      code: 500,
      message: `failed to create typed patch object (${b.ns}/a; ${group}/v1, Kind=Widget): .spec.nope: field not declared in schema`
    })
  },

  "a version alone does not: the object is made (F88)": function* (b) {
    same((yield* b.apply("m1", b.widget("a", {}, { resourceVersion: "5" }))).metadata.generation, 1)
  },

  "a dry run that would make the object answers the version that it was sent (F27, F88)": function* (b) {
    const tried = yield* b.apply("m1", b.configMap("a", {}, { resourceVersion: "5" }), { dryRun: true })
    same(rv(tried), "5")
  },

  "a status apply never makes the object (F89)": function* (b) {
    const refusal = { _tag: "NotFound", code: 404, message: `widgets.${group} "a" not found` } as const
    yield* refusedAs(b.applyStatus("m1", "a", { phase: "p" }), refusal)
    yield* refusedAs(b.applyStatus("m1", "a", { phase: "p" }, { uid: another }), refusal)
  },

  "the uid of a dead namesake does not guard the status of a custom resource (F90)": function* (b) {
    const first = yield* b.apply("m1", b.widget("a", {}))
    yield* b.delete(widgets, "a")
    const second = yield* b.apply("m1", b.widget("a", {}))
    const answer = yield* b.applyStatus("m1", "a", { phase: "ghost" }, { uid: first.metadata.uid })
    same([answer.metadata.uid, answer.status], [second.metadata.uid, { phase: "ghost" }])
  },

  "an old version guards the status, and an empty one is refused (F90)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", {}))
    yield* b.merge(widgets, "a", { metadata: { labels: { x: "1" } } })
    yield* refusedAs(b.applyStatus("m1", "a", { phase: "p" }, { resourceVersion: rv(made) }), modified)
    yield* refusedAs(b.applyStatus("m1", "a", { phase: "p" }, { resourceVersion: "" }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")]
    })
  },

  "another uid on main is immutable (F76)": function* (b) {
    yield* b.apply("m1", b.widget("a", { size: 1 }))
    const immutable = cause("metadata.uid", `Invalid value: "${another}": field is immutable`)
    yield* refusedAs(b.apply("m1", b.widget("a", { size: 2 }, { uid: another })), {
      _tag: "Invalid",
      code: 422,
      causes: [immutable, immutable]
    })
  },

  "the right uid passes and writes nothing more (F76)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { size: 1 }))
    same(yield* b.apply("m1", b.widget("a", { size: 1 }, { uid: made.metadata.uid })), made)
  },

  "an old version is a conflict, even where nothing would change (F5, F71)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { size: 1 }))
    const moved = yield* b.merge(widgets, "a", { metadata: { labels: { x: "1" } } })
    for (const size of [1, 2]) {
      yield* refusedAs(b.apply("m1", b.widget("a", { size }, { resourceVersion: rv(made) }), { force: true }), modified)
    }
    const now = yield* b.apply("m1", b.widget("a", { size: 2 }, { resourceVersion: rv(moved) }))
    same((now.spec as any).size, 2)
  },

  "a body that does not fit the schema is a server error that names the path (F97)": function* (b) {
    yield* b.apply("m1", b.widget("a", {}))
    const prefix = `failed to create typed patch object (${b.ns}/a; ${group}/v1, Kind=Widget): `
    const wrong = [
      [{ nope: 1 }, ".spec.nope: field not declared in schema"],
      [{ rows: [{ k: "a" }, { k: "a" }] }, `.spec.rows: duplicate entries for key [k="a"]`],
      [{ set: ["a", "a"] }, `.spec.set: duplicate entries for key [="a"]`],
      [{ size: "x" }, ".spec.size: expected numeric (int or float), got string"]
    ] as const
    for (const [spec, told] of wrong) {
      yield* refusedAs(b.apply("m1", b.widget("a", spec)), { _tag: "ServerError", code: 500, message: prefix + told })
    }
  },

  "a list entry without its key is a server error (F97)": function* (b) {
    yield* refusedAs(b.apply("m1", b.widget("a", { rows: [{ v: "a" }] })), {
      _tag: "ServerError",
      code: 500,
      message: `failed to create typed patch object (${b.ns}/a; ${group}/v1, Kind=Widget): .spec.rows: element 0: associative list with keys has an element that omits all key fields ["k"] (and doesn't have default values for any key fields)`
    })
  },

  "a create with duplicates is invalid instead (F97)": function* (b) {
    yield* refusedAs(b.create(b.widget("a", { rows: [{ k: "a" }, { k: "a" }] })), {
      _tag: "Invalid",
      code: 422,
      message: `Widget.${group} "a" is invalid: spec.rows[1]: Duplicate value: {"k":"a"}`,
      causes: [cause("spec.rows[1]", `Duplicate value: {"k":"a"}`, "FieldValueDuplicate")]
    })
    yield* refusedAs(b.create(b.widget("a", { set: ["a", "a"] })), {
      _tag: "Invalid",
      code: 422,
      message: `Widget.${group} "a" is invalid: spec.set[1]: Duplicate value: "a"`,
      causes: [cause("spec.set[1]", `Duplicate value: "a"`, "FieldValueDuplicate")]
    })
  },

  "managedFields in the body are refused, even empty (F101)": function* (b) {
    for (const managedFields of [[], [{ manager: "x", operation: "Apply" }]]) {
      yield* refusedAs(b.apply("m1", b.widget("a", {}, { managedFields })), {
        _tag: "BadRequest",
        code: 400,
        message: "metadata.managedFields must be nil"
      })
    }
  },

  "where the object is, name and metadata may come from the path; kind and version may not (F102)": function* (b) {
    const bare = { apiVersion: `${group}/v1`, kind: "Widget" }
    const applied = (body: ObjectInput) =>
      b.api.patch(widgets, b.here("a"), { type: "apply", body }, { fieldManager: "m1" })
    yield* refusedAs(applied(bare), {
      _tag: "BadRequest",
      code: 400,
      message: "the name of the object (a based on URL) was undeterminable: name must be provided"
    })
    yield* b.create(b.widget("a"))
    same((yield* applied(bare)).metadata.name, "a")
    same((yield* applied({ ...bare, metadata: {} })).metadata.name, "a")
    yield* refusedAs(applied({ ...bare, kind: "Gadget" }), {
      _tag: "BadRequest",
      code: 400,
      message: `invalid object type: ${group}/v1, Kind=Gadget`
    })
    yield* refusedAs(applied({ ...bare, apiVersion: `${group}/v2` }), {
      _tag: "BadRequest",
      code: 400,
      message: `invalid object type: ${group}/v2, Kind=Widget`
    })
  },

  "what the server alone says is ignored in a body (F102)": function* (b) {
    const made = yield* b.apply("m1", b.widget("a", { size: 1 }))
    const again = yield* b.apply(
      "m1",
      b.widget("a", { size: 1 }, { creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 })
    )
    same(again, made)
  },

  "a null on a plain field is refused by its type (F103)": function* (b) {
    yield* refusedAs(b.apply("m1", b.widget("a", { size: null })), {
      _tag: "Invalid",
      code: 422,
      message: `Widget.${group} "a" is invalid: spec.size: Invalid value: "null": spec.size in body must be of type integer: "null"`,
      causes: [
        cause(
          "spec.size",
          `Invalid value: "null": spec.size in body must be of type integer: "null"`,
          "FieldValueTypeInvalid"
        )
      ]
    })
  },

  "an invalid value is refused by the schema (F133)": function* (b) {
    yield* refusedAs(b.apply("m1", b.widget("a", { size: 101 })), {
      _tag: "Invalid",
      code: 422,
      message: `Widget.${group} "a" is invalid: spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100`,
      causes: [cause("spec.size", "Invalid value: 101: spec.size in body should be less than or equal to 100")]
    })
  },

  "quantities are stored in their canonical form, quiet for one manager, a conflict for another (F106)": function* (b) {
    const limits = (cpu: string, memory: string) => ({ resources: { limits: { cpu, memory } } })
    const made = yield* b.apply("m1", b.deployment("a", limits("1000m", "1024Mi")))
    same((made.spec as any).template.spec.containers[0].resources, { limits: { cpu: "1", memory: "1Gi" } })
    same(rv(yield* b.apply("m1", b.deployment("a", limits("1000m", "1024Mi")))), rv(made))
    same(rv(yield* b.apply("m1", b.deployment("a", limits("1", "1Gi")))), rv(made))
    yield* refusedAs(b.apply("m2", b.deployment("a", limits("1000m", "1024Mi"))), {
      _tag: "ApplyConflict",
      code: 409,
      message: `Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.template.spec.containers[name="c"].resources.limits.cpu\n- .spec.template.spec.containers[name="c"].resources.limits.memory`,
      causes: ["cpu", "memory"].map((name) => ({
        reason: "FieldManagerConflict",
        message: `conflict with "m1"`,
        field: `.spec.template.spec.containers[name="c"].resources.limits.${name}`
      }))
    })
    same(isLater(rv(made), rv(yield* b.apply("m3", b.deployment("a", limits("1", "1Gi"))))), true)
  },

  "containers, ports and env are owned by their keys on a Deployment (F95, F107)": function* (b) {
    const made = yield* b.apply(
      "m1",
      b.deployment("a", { env: [{ name: "E", value: "" }], ports: [{ containerPort: 80 }] })
    )
    same(ownership(made), [
      [
        "m1 Apply",
        {
          "f:spec": {
            "f:selector": {},
            "f:template": {
              "f:metadata": { "f:labels": { "f:a": {} } },
              "f:spec": {
                "f:containers": {
                  'k:{"name":"c"}': {
                    ".": {},
                    "f:env": { 'k:{"name":"E"}': { ".": {}, "f:name": {}, "f:value": {} } },
                    "f:image": {},
                    "f:name": {},
                    "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } }
                  }
                }
              }
            }
          }
        }
      ]
    ])
    same((made.spec as any).template.spec.containers[0].env, [{ name: "E" }])
  },

  "a port's target that is a number in quotes is refused (F108)": function* (b) {
    const body = b.object(services, "a", { spec: { ports: [{ port: 80, targetPort: "80" }] } })
    yield* refusedAs(b.apply("m1", body), {
      _tag: "Invalid",
      code: 422,
      message: `Service "a" is invalid: spec.ports[0].targetPort: Invalid value: "80": must contain at least one letter (a-z)`,
      causes: [cause("spec.ports[0].targetPort", `Invalid value: "80": must contain at least one letter (a-z)`)]
    })
  },

  "a Secret's stringData leaves old keys behind (F109)": function* (b) {
    const secret = (stringData: object) => b.object(secrets, "a", { stringData })
    const made = yield* b.apply("m1", secret({ a: "x" }))
    same([made.data, ownership(made)], [{ a: "eA==" }, [["m1 Apply", { "f:stringData": { "f:a": {} } }]]])
    same((yield* b.apply("m1", secret({ b: "y" }))).data, { a: "eA==", b: "eQ==" })
  },

  "a ConfigMap's empty and null values (F107)": function* (b) {
    const made = yield* b.apply("m1", b.configMap("a", { a: "", b: null }))
    same(made.data, { a: "", b: "" })
    same(rv(yield* b.apply("m1", b.configMap("a", { a: "", b: null }))), rv(made))
    const empty = yield* b.apply("m1", b.configMap("b", {}))
    same("data" in empty, false)
    same(rv(yield* b.get(configMaps, "b")), rv(empty))
  },

  "a Deployment's status is written by its own path (F98)": function* (b) {
    const made = yield* b.create(b.deployment("a"))
    const body = { ...b.object(deployments, "a", { status: { replicas: 3 } }) }
    const answer = yield* b.apply("m1", body, { subresource: "status" })
    same([(answer.status as any).replicas, answer.metadata.generation], [3, made.metadata.generation])
    same(ownership(answer).find(([who]) => who === "m1 Apply status")?.[1], { "f:status": { "f:replicas": {} } })
  },

  "another uid guards a Deployment's status (F77)": function* (b) {
    yield* b.create(b.deployment("a"))
    const immutable = cause("metadata.uid", `Invalid value: "${another}": field is immutable`)
    const body = b.object(deployments, "a", { status: { replicas: 3 } }, { uid: another })
    yield* refusedAs(b.apply("m1", body, { subresource: "status" }), {
      _tag: "Invalid",
      code: 422,
      causes: [immutable, immutable]
    })
  }
})
