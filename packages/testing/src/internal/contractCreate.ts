/** Create, and replace. */
import assert from "node:assert/strict"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import { type Case, cases, cause, isLater, refused, refusedAs, rv, same } from "./contractBench.ts"
import { configMaps, deployments, group, leases, secrets, services, widgets, zones } from "./contractKinds.ts"

const another = "11111111-1111-1111-1111-111111111111"
const modified = (resource: string, name: string) =>
  ({
    _tag: "Conflict",
    code: 409,
    message: `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`
  }) as const
const versionWanted = {
  _tag: "Invalid",
  code: 422,
  message: `widgets.${group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
  causes: [cause("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")]
} as const

export const create: ReadonlyArray<Case> = cases("create", {
  "a second one of a name is refused as existing (F70)": function* (b) {
    yield* b.create(b.widget("a"))
    yield* b.create(b.configMap("a"))
    yield* refusedAs(b.create(b.widget("a")), {
      _tag: "AlreadyExists",
      code: 409,
      message: `widgets.${group} "a" already exists`
    })
    yield* refusedAs(b.create(b.configMap("a")), {
      _tag: "AlreadyExists",
      code: 409,
      message: `configmaps "a" already exists`
    })
  },

  "one that is being deleted still holds its name (F70, F113)": function* (b) {
    yield* b.create(b.widget("a", {}, { finalizers: ["x.io/a"] }))
    yield* b.delete(widgets, "a")
    yield* refusedAs(b.create(b.widget("a")), {
      _tag: "AlreadyExists",
      code: 409,
      message: `object is being deleted: widgets.${group} "a" already exists`
    })
  },

  "a dry run answers as if, and stores nothing (F27)": function* (b) {
    const tried = yield* b.create(b.widget("a", { size: 1 }), { dryRun: true })
    assert.ok(tried.metadata.uid.length > 0)
    same("resourceVersion" in tried.metadata, false)
    yield* refusedAs(b.get(widgets, "a"), { _tag: "NotFound", code: 404 })
  },

  "a cluster-scoped object has no namespace (F1)": function* (b) {
    const made = yield* b.create(b.zone(`z${b.unique}`, { size: 1 }))
    same("namespace" in made.metadata, false)
    same((yield* b.get(zones, made.metadata.name)).metadata.uid, made.metadata.uid)
  },

  "status is dropped where it is a subresource, and stored where not (F99)": function* (b) {
    const widget = yield* b.create({ ...b.widget("a"), status: { phase: "p" } })
    const gadget = yield* b.create({ ...b.gadget("a"), status: { phase: "p" } })
    same([widget.status, gadget.status], [undefined, { phase: "p" }])
  },

  "nulls of a new object are dropped, kept or defaulted by its schema (F103, F135)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: null, maybe: null, plainDefault: null }))
    same(made.spec, { maybe: null, mode: "a", nestedDefault: { deep: 7 }, plainDefault: "d" })
  },

  "a Secret's stringData moves to its data, and its type is Opaque (F84)": function* (b) {
    const made = yield* b.create(b.object(secrets, "a", { stringData: { a: "x" }, data: { b: "eA==" } }))
    same([made.data, made.stringData, made.type], [{ a: "eA==", b: "eA==" }, undefined, "Opaque"])
  },

  "a Secret's data that is no base64 is refused (F21)": function* (b) {
    yield* refusedAs(b.create(b.object(secrets, "a", { data: { x: "9" } })), {
      _tag: "BadRequest",
      code: 400,
      message: `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0`
    })
  },

  "a Service has its defaults (F84)": function* (b) {
    const made = yield* b.create(b.object(services, "a", { spec: { ports: [{ port: 80 }] } }))
    const { clusterIP, clusterIPs, ...spec } = made.spec as Record<string, unknown>
    same(spec, {
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      sessionAffinity: "None",
      type: "ClusterIP"
    })
    same(clusterIPs, [clusterIP])
  },

  "a Deployment has its defaults": function* (b) {
    const made = yield* b.create(b.deployment("a"))
    same(made.spec, {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: {
          containers: [
            {
              name: "c",
              image: "i",
              resources: {},
              imagePullPolicy: "Always",
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File"
            }
          ],
          restartPolicy: "Always",
          terminationGracePeriodSeconds: 30,
          dnsPolicy: "ClusterFirst",
          securityContext: {},
          schedulerName: "default-scheduler"
        }
      },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600
    })
  },

  "a ConfigMap's values hold 1 MiB together (F28)": function* (b) {
    const half = "x".repeat(524_288)
    yield* b.create(b.configMap("a", { a: half, b: half }))
    yield* refusedAs(b.create(b.configMap("b", { a: half, b: half, c: "x" })), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("[]", "Too long: may not be more than 1048576 bytes", "FieldValueTooLong")]
    })
  },

  "a body of more than 3 MiB is too large (F28)": function* (b) {
    yield* refusedAs(b.create(b.widget("a", { free: { x: "x".repeat(3_200_000) } })), {
      _tag: "Refused",
      code: 413,
      message: "Request entity too large: limit is 3145728"
    })
  },

  "a type that does not fit a built-in kind is refused before anything else (F21)": function* (b) {
    yield* refusedAs(b.create(b.configMap("a", { k: 1 })), {
      _tag: "BadRequest",
      code: 400,
      message:
        /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/
    })
  },

  "unknown fields are pruned, and refused by a strict request (F25)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1, nope: 1, nested: { x: "1", y: 2 } }))
    same(made.spec, { mode: "a", nested: { deep: 7, x: "1" }, nestedDefault: { deep: 7 }, plainDefault: "d", size: 1 })
    yield* refusedAs(b.create(b.widget("b", { nope: 1 }), { fieldValidation: "Strict" }), {
      _tag: "BadRequest",
      code: 400,
      message: `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.nope"`
    })
  }
})

export const replace: ReadonlyArray<Case> = cases("replace", {
  "an old version is a conflict (F71)": function* (b) {
    const widget = yield* b.create(b.widget("a", { size: 1 }))
    const configMap = yield* b.create(b.configMap("a", { k: "1" }))
    yield* b.merge(widgets, "a", { spec: { size: 2 } })
    yield* b.merge(configMaps, "a", { data: { k: "2" } })
    yield* refusedAs(b.replace(widget), modified(`widgets.${group}`, "a"))
    yield* refusedAs(b.replace(configMap), modified("configmaps", "a"))
  },

  "a future version is a conflict too (F71)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    yield* refusedAs(
      b.replace({ ...made, metadata: { ...made.metadata, resourceVersion: "999999999" } }),
      modified(`widgets.${group}`, "a")
    )
  },

  "a custom resource wants a version, a ConfigMap does not (F72)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }))
    yield* b.create(b.configMap("a", { k: "1" }))
    yield* refusedAs(b.replace(b.widget("a", { size: 3 })), versionWanted)
    yield* refusedAs(b.replace(b.widget("a", { size: 3 }, { resourceVersion: "0" })), versionWanted)
    yield* refusedAs(b.replace({ ...b.widget("a"), status: {} }, { subresource: "status" }), versionWanted)
    same((yield* b.replace(b.configMap("a", { k: "3" }))).data, { k: "3" })
  },

  "an absent one is not found, except a Lease, which is made (F74)": function* (b) {
    yield* refusedAs(b.replace(b.configMap("a")), { _tag: "NotFound", code: 404, message: `configmaps "a" not found` })
    yield* refusedAs(b.replace(b.widget("a")), {
      _tag: "NotFound",
      code: 404,
      message: `widgets.${group} "a" not found`
    })
    const made = yield* b.replace(b.lease("a", {}, { resourceVersion: "5" }))
    same((yield* b.get(leases, "a")).metadata.uid, made.metadata.uid)
  },

  "an absent Event or Service is made too (F74)": function* (b) {
    yield* b.replace(b.event("a"))
    yield* b.replace(b.object(services, "a", { spec: { ports: [{ port: 80 }] } }))
    yield* refusedAs(b.replace(b.object(secrets, "a")), { _tag: "NotFound", code: 404 })
  },

  "a body without a name is refused (F23)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    const { name: _, ...metadata } = made.metadata
    yield* refusedAs(b.api.replace(widgets, b.here("a"), { ...made, metadata }), {
      _tag: "BadRequest",
      code: 400,
      message: "the name of the object (a based on URL) was undeterminable: name must be provided"
    })
  },

  "another uid is a conflict that tells both (F75)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    const body = { ...made, metadata: { ...made.metadata, uid: another } }
    const refusal = {
      _tag: "Conflict",
      code: 409,
      message: `Operation cannot be fulfilled on widgets.${group} "a": StorageError: invalid object, Code: 4, Key: /registry/${group}/widgets/${b.ns}/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${another}, UID in object meta: ${made.metadata.uid}`
    } as const
    yield* refusedAs(b.replace(body), refusal)
    yield* refusedAs(b.replace(body, { subresource: "status" }), refusal)
  },

  "a ConfigMap's null values are empty texts, in a create and in a replace (F107)": function* (b) {
    same((yield* b.create(b.configMap("a", { x: null }))).data, { x: "" })
    same((yield* b.replace(b.configMap("a", { x: null, y: null }))).data, { x: "", y: "" })
  },

  "a bad label is told once in a create, and as often as it is judged in an update (F15)": function* (b) {
    const labels = { "a b": "1" }
    const counted = (request: Effect.Effect<KubeObject, ApiError>) =>
      Effect.map(refused(request), ({ reason }) => [reason._tag, "causes" in reason && reason.causes.length])
    yield* b.create(b.widget("a"))
    const widget = yield* b.get(widgets, "a")
    yield* b.create(b.configMap("a"))
    const configMap = yield* b.get(configMaps, "a")
    const bad = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, labels } })
    same(yield* counted(b.create(b.widget("b", {}, { labels }))), ["Invalid", 1])
    same(yield* counted(b.create(b.configMap("b", {}, { labels }))), ["Invalid", 1])
    same(yield* counted(b.replace(bad(widget))), ["Invalid", 3])
    same(yield* counted(b.replace(bad(configMap))), ["Invalid", 4])
  },

  "the name of the body must be the path's (F23)": function* (b) {
    yield* b.create(b.configMap("a"))
    yield* refusedAs(b.api.replace(configMaps, b.here("a"), b.configMap("b")), {
      _tag: "BadRequest",
      code: 400,
      message: "the name of the object (b) does not match the name on the URL (a)"
    })
  },

  "the main path leaves the status alone, and the status path all but the status (F85, F137)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const main = yield* b.replace({ ...made, spec: { size: 2 }, status: { phase: "main" } })
    same([main.status, (main.spec as any).size], [undefined, 2])
    const sub = yield* b.replace(
      {
        ...main,
        metadata: { ...main.metadata, labels: { a: "b" }, annotations: { a: "b" }, finalizers: ["x.io/a"] },
        spec: { size: "not a number" },
        status: { phase: "sub" }
      },
      { subresource: "status" }
    )
    same([sub.status, (sub.spec as any).size], [{ phase: "sub" }, 2])
    same([sub.metadata.labels, sub.metadata.annotations, sub.metadata.finalizers], [undefined, undefined, undefined])
    const { status: _, ...without } = sub
    same((yield* b.replace(without)).status, { phase: "sub" })
    same((yield* b.replace(without, { subresource: "status" })).status, undefined)
  },

  "a main replace that changes only the status writes nothing (F137)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const answer = yield* b.replace({ ...made, status: { phase: "x" } })
    same([rv(answer), answer.status], [rv(made), undefined])
  },

  "the answer bears a later version, and a get the same (F1)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const answer = yield* b.replace({ ...made, spec: { size: 2 } })
    assert.ok(isLater(rv(made), rv(answer)))
    same(yield* b.get(widgets, "a"), answer)
  },

  "a dry run keeps what is stored (F27)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }))
    const tried = yield* b.replace({ ...made, spec: { size: 2 } }, { dryRun: true })
    same([rv(tried), tried.metadata.generation, (tried.spec as any).size], [rv(made), 2, 2])
    same(yield* b.get(widgets, "a"), made)
  },

  "what is immutable stays: a Deployment's selector (F83)": function* (b) {
    yield* b.create(b.deployment("a"))
    yield* refusedAs(b.merge(deployments, "a", { spec: { selector: { matchLabels: { z: "z" } } } }), {
      _tag: "Invalid",
      code: 422,
      message: /field is immutable/,
      causes: [
        cause(
          "spec.template.metadata.labels",
          `Invalid value: {"a":"b"}: \`selector\` does not match template \`labels\``
        ),
        cause("spec.selector", `Invalid value: {"matchLabels":{"a":"b","z":"z"}}: field is immutable`)
      ]
    })
  },

  "an immutable ConfigMap keeps its data (F83)": function* (b) {
    yield* b.create({ ...b.configMap("a", { a: "1" }), immutable: true })
    yield* refusedAs(b.merge(configMaps, "a", { data: { a: "2" } }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("data", "Forbidden: field is immutable when `immutable` is set", "FieldValueForbidden")]
    })
    same((yield* b.merge(configMaps, "a", { metadata: { labels: { x: "y" } } })).metadata.labels, { x: "y" })
  }
})
