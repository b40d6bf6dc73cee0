/** Namespaces: what they refuse, and how they end. */
import assert from "node:assert/strict"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import { type Case, cases, eventually, refusedAs, same } from "./contractBench.ts"
import { configMaps, events, group, leases, namespaces, widgets } from "./contractKinds.ts"

export const namespaceRules: ReadonlyArray<Case> = cases("namespaces", {
  "nothing is made in an absent one, and that is judged before anything else (F126)": function* (b) {
    const absent = `${b.ns}-absent`
    const refusal = { _tag: "NotFound", code: 404, message: `namespaces "${absent}" not found` } as const
    yield* refusedAs(b.api.create(widgets, b.widget("a", {}, { namespace: absent })), refusal)
    yield* refusedAs(b.api.create(configMaps, b.configMap("X_", { k: 1 as any }, { namespace: absent })), {
      _tag: "BadRequest",
      code: 400
    })
    yield* refusedAs(b.api.create(widgets, b.widget("X_", { size: "no" }, { namespace: absent })), refusal)
    const body = b.configMap("a", {}, { namespace: absent })
    yield* refusedAs(
      b.api.patch(configMaps, { namespace: absent, name: "a" }, { type: "apply", body }, { fieldManager: "m" }),
      refusal
    )
  },

  "it has its label, its finalizer and a phase (F128)": function* (b) {
    const made = yield* b.get(namespaces, b.ns)
    same(
      [made.metadata.labels, made.spec, made.status, made.metadata.generation],
      [{ "kubernetes.io/metadata.name": b.ns }, { finalizers: ["kubernetes"] }, { phase: "Active" }, undefined]
    )
  },

  "deleted, it is terminating, and takes nothing new (F127, F128)": function* (b) {
    const ns = `${b.ns}-t`
    yield* b.create(b.object(namespaces, ns))
    const held = { namespace: ns, finalizers: ["x.io/a"] }
    yield* b.api.create(configMaps, b.configMap("held", {}, held))
    const answer = (yield* b.delete(namespaces, ns)) as KubeObject
    same([answer.kind, answer.status], ["Namespace", { phase: "Terminating" }])
    same("deletionGracePeriodSeconds" in answer.metadata, false)
    const terminating = (kind: string, name: string) =>
      ({
        _tag: "NamespaceTerminating",
        code: 403,
        message: `${kind} "${name}" is forbidden: unable to create new content in namespace ${ns} because it is being terminated`,
        causes: [
          {
            reason: "NamespaceTerminating",
            message: `namespace ${ns} is being terminated`,
            field: "metadata.namespace"
          }
        ]
      }) as const
    yield* refusedAs(b.api.create(configMaps, b.configMap("x", {}, { namespace: ns })), terminating("configmaps", "x"))
    yield* refusedAs(b.api.create(widgets, b.widget("x", {}, { namespace: ns })), terminating(`widgets.${group}`, "x"))
    const involvedObject = { kind: "Widget", namespace: ns, name: "w" }
    const event = b.event("x", { involvedObject })
    yield* refusedAs(
      b.api.create(events, { ...event, metadata: { name: "x", namespace: ns } }),
      terminating("events", "x")
    )
    const body = b.configMap("y", {}, { namespace: ns })
    yield* refusedAs(
      b.api.patch(configMaps, { namespace: ns, name: "y" }, { type: "apply", body }, { fieldManager: "m" }),
      terminating("configmaps", "y")
    )
    yield* refusedAs(
      b.api.replace(leases, { namespace: ns, name: "l" }, b.lease("l", {}, { namespace: ns })),
      terminating("leases.coordination.k8s.io", "l")
    )
    const patch = { type: "merge", body: { data: { k: "1" } } } as const
    same((yield* b.api.patch(configMaps, { namespace: ns, name: "held" }, patch)).data, { k: "1" })
    yield* b.api.patch(
      configMaps,
      { namespace: ns, name: "held" },
      { type: "merge", body: { metadata: { finalizers: [] } } }
    )
  },

  "deleted again, it answers the same (F128)": function* (b) {
    const ns = `${b.ns}-t`
    yield* b.create(b.object(namespaces, ns))
    yield* b.api.create(configMaps, b.configMap("held", {}, { namespace: ns, finalizers: ["x.io/a"] }))
    const first = (yield* b.delete(namespaces, ns)) as KubeObject
    const second = (yield* b.delete(namespaces, ns)) as KubeObject
    same([second.status, second.metadata.deletionTimestamp], [first.status, first.metadata.deletionTimestamp])
    const patch = { type: "merge", body: { metadata: { finalizers: [] } } } as const
    yield* b.api.patch(configMaps, { namespace: ns, name: "held" }, patch)
  },

  "the first namespaces cannot be deleted (F128)": function* (b) {
    for (const name of ["default", "kube-system"]) {
      yield* refusedAs(b.delete(namespaces, name, { dryRun: true }), {
        _tag: "Forbidden",
        code: 403,
        message: `namespaces "${name}" is forbidden: this namespace may not be deleted`
      })
    }
  },

  "namespaces are not deleted as a collection (F118)": function* (b) {
    yield* refusedAs(b.api.deleteCollection(namespaces, { labelSelector: `none=${b.unique}` }), {
      _tag: "Refused",
      code: 405,
      message: "the server does not allow this method on the requested resource"
    })
  }
})

export const namespaceEnd: ReadonlyArray<Case> = cases(
  "namespaces",
  {
    "deleted, it takes its content along, and goes when that is gone (F129)": function* (b) {
      const ns = `${b.ns}-t`
      const held = { namespace: ns, name: "held" }
      yield* b.create(b.object(namespaces, ns))
      yield* b.api.create(configMaps, b.configMap("free", {}, { namespace: ns }))
      yield* b.api.create(configMaps, b.configMap("held", {}, { namespace: ns, finalizers: ["x.io/a"] }))
      yield* b.delete(namespaces, ns)
      yield* eventually(
        refusedAs(b.api.get(configMaps, { namespace: ns, name: "free" }), { _tag: "NotFound", code: 404 })
      )
      yield* eventually(
        Effect.map(b.api.get(configMaps, held), (object) => assert.ok(object.metadata.deletionTimestamp !== undefined))
      )
      same((yield* b.get(namespaces, ns)).status?.["phase" as never], "Terminating")
      yield* b.api.patch(configMaps, held, { type: "merge", body: { metadata: { finalizers: [] } } })
      yield* eventually(refusedAs(b.get(namespaces, ns), { _tag: "NotFound", code: 404 }), 40)
    }
  },
  "controllers"
)
