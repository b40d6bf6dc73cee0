/** Delete, finalizers, preconditions, collections, owners and the garbage collector. */
import assert from "node:assert/strict"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import {
  type Bench,
  type Case,
  cases,
  cause,
  eventually,
  isLater,
  names,
  refusedAs,
  rv,
  same,
  told
} from "./contractBench.ts"
import {
  configMaps,
  deployments,
  events,
  gadgets,
  group,
  leases,
  namespaces,
  pods,
  secrets,
  services,
  widgets
} from "./contractKinds.ts"

const another = "11111111-1111-1111-1111-111111111111"
const hold = { finalizers: ["x.io/a"] }
const gone = { _tag: "NotFound", code: 404 } as const

export const deletion: ReadonlyArray<Case> = cases("delete", {
  "without finalizers it is gone at once, and the answer is a Status with its uid (F111)": function* (b) {
    const widget = yield* b.create(b.widget("a"))
    same(yield* b.delete(widgets, "a"), {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", group, kind: "widgets", uid: widget.metadata.uid }
    })
    const configMap = yield* b.create(b.configMap("a"))
    same(yield* b.delete(configMaps, "a"), {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", kind: "configmaps", uid: configMap.metadata.uid }
    })
    yield* refusedAs(b.get(widgets, "a"), gone)
    yield* refusedAs(b.delete(widgets, "a"), { ...gone, message: `widgets.${group} "a" not found` })
    yield* refusedAs(b.delete(configMaps, "a"), { ...gone, message: `configmaps "a" not found` })
  },

  "Secrets, Leases, Deployments and Events answer a Status, Services and Pods themselves (F111)": function* (b) {
    yield* b.create(b.object(secrets, "a"))
    yield* b.create(b.lease("a"))
    yield* b.create(b.deployment("a"))
    yield* b.create(b.event("a"))
    yield* b.create(b.object(services, "a", { spec: { ports: [{ port: 80 }] } }))
    yield* b.create(b.object(pods, "a", { spec: { containers: [{ name: "c", image: "i" }] } }))
    const kinds: Array<string> = []
    for (const resource of [secrets, leases, deployments, events, services, pods]) {
      kinds.push((yield* b.delete(resource, "a")).kind)
      yield* refusedAs(b.get(resource, "a"), gone)
    }
    same(kinds, ["Status", "Status", "Status", "Status", "Service", "Pod"])
  },

  "with a finalizer it waits: a deletion time, no grace, one generation more (F112)": function* (b) {
    const made = yield* b.create(b.widget("a", { size: 1 }, hold))
    const answer = (yield* b.delete(widgets, "a")) as KubeObject
    same(answer.kind, "Widget")
    assert.match(answer.metadata.deletionTimestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    same([answer.metadata.deletionGracePeriodSeconds, answer.metadata.generation], [0, 2])
    assert.ok(isLater(rv(made), rv(answer)))
    same(yield* b.get(widgets, "a"), answer)
    const again = (yield* b.delete(widgets, "a")) as KubeObject
    same(rv(again), rv(answer))
  },

  "a grace period means nothing to a custom resource (F112)": function* (b) {
    yield* b.create(b.widget("a", {}, hold))
    const answer = (yield* b.delete(widgets, "a", { gracePeriodSeconds: 30 })) as KubeObject
    same(answer.metadata.deletionGracePeriodSeconds, 0)
  },

  "while it is being deleted it may change, but not come back (F113)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }, hold))
    yield* b.delete(widgets, "a")
    const spec = yield* b.merge(widgets, "a", { spec: { size: 2 } })
    same(spec.metadata.generation, 3)
    const label = yield* b.merge(widgets, "a", { metadata: { labels: { x: "1" }, deletionTimestamp: null } })
    same(label.metadata.deletionTimestamp, spec.metadata.deletionTimestamp)
    const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = label.metadata
    const replaced = yield* b.replace({ ...label, metadata, spec: { size: 3 } })
    same(replaced.metadata.deletionTimestamp, spec.metadata.deletionTimestamp)
    same((yield* b.merge(widgets, "a", { status: { phase: "p" } }, { subresource: "status" })).status, { phase: "p" })
  },

  "no finalizer may be added or swapped meanwhile (F114)": function* (b) {
    yield* b.create(b.widget("a", {}, hold))
    yield* b.create(b.configMap("a", {}, hold))
    yield* b.delete(widgets, "a")
    yield* b.delete(configMaps, "a")
    const forbidden = (name: string) =>
      cause(
        "metadata.finalizers",
        `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"${name}"}`,
        "FieldValueForbidden"
      )
    for (const resource of [widgets, configMaps]) {
      yield* refusedAs(b.merge(resource, "a", { metadata: { finalizers: ["x.io/a", "x.io/b"] } }), {
        _tag: "Invalid",
        code: 422,
        causes: [forbidden("x.io/b"), forbidden("x.io/b")]
      })
    }
    yield* refusedAs(b.merge(widgets, "a", { metadata: { finalizers: ["x.io/other"] } }), {
      _tag: "Invalid",
      code: 422,
      causes: [forbidden("x.io/other"), forbidden("x.io/other")]
    })
  },

  "the last finalizer's removal ends it: the answer bears the version before (F115, F62)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }, { finalizers: ["x.io/a", "x.io/b"] }))
    yield* b.delete(widgets, "a")
    const one = yield* b.merge(widgets, "a", { metadata: { finalizers: ["x.io/b"] } })
    same(one.metadata.finalizers, ["x.io/b"])
    const last = yield* b.merge(widgets, "a", { metadata: { finalizers: [] } })
    same([rv(last), last.metadata.finalizers ?? []], [rv(one), []])
    yield* refusedAs(b.get(widgets, "a"), gone)
    yield* refusedAs(b.merge(widgets, "a", { metadata: { finalizers: [] } }), gone)
  },

  "the last finalizer may go together with an edit, which is answered and lost (F115)": function* (b) {
    yield* b.create(b.widget("a", { size: 1 }, hold))
    yield* b.delete(widgets, "a")
    const last = yield* b.merge(widgets, "a", { metadata: { finalizers: null }, spec: { size: 5 } })
    same([(last.spec as any).size, last.metadata.generation], [5, 3])
    yield* refusedAs(b.get(widgets, "a"), gone)
  },

  "a JSON patch that tests and removes the last finalizer ends it (F115)": function* (b) {
    yield* b.create(b.configMap("a", {}, hold))
    yield* b.delete(configMaps, "a")
    yield* b.json(configMaps, "a", [
      { op: "test", path: "/metadata/finalizers/0", value: "x.io/a" },
      { op: "remove", path: "/metadata/finalizers/0" }
    ])
    yield* refusedAs(b.get(configMaps, "a"), gone)
  },

  "removing a finalizer while it is not being deleted keeps it (F115)": function* (b) {
    yield* b.create(b.widget("a", {}, hold))
    yield* b.merge(widgets, "a", { metadata: { finalizers: [] } })
    same((yield* b.get(widgets, "a")).metadata.finalizers, undefined)
  },

  "preconditions hold it to a uid and a version (F116)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    yield* refusedAs(b.delete(widgets, "a", { preconditions: { uid: another } }), {
      _tag: "Conflict",
      code: 409,
      message: `Operation cannot be fulfilled on Widget.${group} "a": the UID in the precondition (${another}) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`
    })
    yield* refusedAs(b.delete(widgets, "a", { preconditions: { resourceVersion: "1" } }), {
      _tag: "Conflict",
      code: 409,
      message: `Operation cannot be fulfilled on Widget.${group} "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${rv(made)}). The object might have been modified`
    })
    yield* refusedAs(b.delete(widgets, "absent", { preconditions: { uid: another } }), gone)
    yield* b.delete(widgets, "a", { preconditions: { uid: made.metadata.uid, resourceVersion: rv(made) } })
  },

  "preconditions are judged also while it is being deleted (F116)": function* (b) {
    yield* b.create(b.configMap("a", {}, hold))
    yield* b.delete(configMaps, "a")
    yield* refusedAs(b.delete(configMaps, "a", { preconditions: { uid: another } }), { _tag: "Conflict", code: 409 })
  },

  "a dry run answers and keeps it (F27)": function* (b) {
    const made = yield* b.create(b.widget("a"))
    same((yield* b.delete(widgets, "a", { dryRun: true })).kind, "Status")
    same(yield* b.get(widgets, "a"), made)
  },

  "a collection's delete answers the objects as they were, and takes those that nothing holds (F118)": function* (b) {
    const label = { labels: { col: "1" } }
    for (const name of ["a", "b", "c"])
      yield* b.create(b.widget(name, {}, name === "c" ? { ...label, ...hold } : label))
    yield* b.create(b.widget("other"))
    const since = yield* b.now(widgets)
    const answer = yield* b.api.deleteCollection(widgets, { namespace: b.ns, labelSelector: "col=1" })
    same(
      answer.map((object) => [object.kind, object.metadata.name, object.metadata.deletionTimestamp]),
      [
        ["Widget", "a", undefined],
        ["Widget", "b", undefined],
        ["Widget", "c", undefined]
      ]
    )
    same(names((yield* b.list(widgets)).items), ["c", "other"])
    const seen = yield* b.watched(widgets, 3, { resourceVersion: since })
    same(new Set(told(seen).map(String)), new Set(["DELETED,a", "DELETED,b", "MODIFIED,c"]))
    same(new Set(seen.map((event) => (event.type === "BOOKMARK" ? "" : rv(event.object)))).size, 3)
  },

  "a collection's delete that matches nothing answers nothing (F118)": function* (b) {
    yield* b.create(b.configMap("a"))
    same(yield* b.api.deleteCollection(configMaps, { namespace: b.ns, labelSelector: "none" }), [])
    same(
      yield* b.api
        .deleteCollection(configMaps, { namespace: b.ns, fieldSelector: "metadata.name=a" })
        .pipe(Effect.map(names)),
      ["a"]
    )
  },

  "propagation leaves a finalizer for the garbage collector, or none (F119)": function* (b) {
    const answers: Array<unknown> = []
    for (const policy of ["Foreground", "Orphan", "Background"] as const) {
      const name = policy.toLowerCase()
      // A finalizer of its own keeps the collector from ending it before it is looked at.
      yield* b.create(b.gadget(name, {}, hold))
      const answer = (yield* b.delete(gadgets, name, { propagationPolicy: policy })) as KubeObject
      answers.push([...(answer.metadata.finalizers ?? [])].sort())
    }
    same(answers, [["foregroundDeletion", "x.io/a"], ["orphan", "x.io/a"], ["x.io/a"]])
  }
})

const ownerOf = (object: KubeObject, more: object = {}) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...more
})

export const ownerRules: ReadonlyArray<Case> = cases("owners", {
  "two controllers are refused (F121)": function* (b) {
    const [one, two] = [yield* b.create(b.widget("own")), yield* b.create(b.widget("own2"))]
    const told = `Only one reference can have Controller set to true. Found "true" in references for Widget/own and Widget/own2`
    yield* refusedAs(
      b.create(
        b.configMap(
          "a",
          {},
          { ownerReferences: [ownerOf(one, { controller: true }), ownerOf(two, { controller: true })] }
        )
      ),
      {
        _tag: "Invalid",
        code: 422,
        message: new RegExp(`^ConfigMap "a" is invalid: metadata.ownerReferences: Invalid value: .*: ${told}$`),
        causes: "any"
      }
    )
  },

  "an owner without uid, name, kind or version is refused (F122)": function* (b) {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "x" }
    const wrong = [
      ["uid", "metadata.ownerReferences.uid", `Invalid value: "": must not be empty`],
      ["name", "metadata.ownerReferences.name", `Invalid value: "": must not be empty`],
      ["kind", "metadata.ownerReferences.kind", `Invalid value: "": must not be empty`],
      ["apiVersion", "metadata.ownerReferences.apiVersion", `Invalid value: "": version must not be empty`]
    ] as const
    for (const [field, path, told] of wrong) {
      yield* refusedAs(b.create(b.configMap("a", {}, { ownerReferences: [{ ...owner, [field]: "" }] })), {
        _tag: "Invalid",
        code: 422,
        causes: [cause(path, told)]
      })
    }
  },

  "an absent owner is taken, and one listed twice (F123)": function* (b) {
    const own = yield* b.create(b.widget("own"))
    yield* b.create(b.configMap("a", {}, { ...hold, ownerReferences: [ownerOf(own), ownerOf(own)] }))
    const made = yield* b.create(
      b.configMap(
        "b",
        {},
        { ...hold, ownerReferences: [{ apiVersion: "nope.io/v1", kind: "Nope", name: "nope", uid: "x" }] }
      )
    )
    same(made.metadata.ownerReferences?.length, 1)
  }
})

const isGone = (b: Bench, resource: Resource, name: string) => eventually(refusedAs(b.get(resource, name), gone))

export const garbage: ReadonlyArray<Case> = cases(
  "owners",
  {
    "a child whose owner is absent is deleted (F124)": function* (b) {
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "nope", uid: another }
      yield* b.create(b.configMap("a", {}, { ownerReferences: [owner] }))
      yield* isGone(b, configMaps, "a")
    },

    "a child of a namesake of its owner is deleted (F124)": function* (b) {
      const owner = yield* b.create(b.configMap("own"))
      yield* b.create(b.configMap("a", {}, { ownerReferences: [ownerOf(owner, { uid: another })] }))
      yield* isGone(b, configMaps, "a")
      yield* b.get(configMaps, "own")
    },

    "of two owners the absent one's reference is removed (F124)": function* (b) {
      const owner = yield* b.create(b.configMap("own"))
      const absent = { apiVersion: "v1", kind: "ConfigMap", name: "nope", uid: another }
      yield* b.create(b.configMap("a", {}, { ownerReferences: [ownerOf(owner), absent] }))
      yield* eventually(
        Effect.map(b.get(configMaps, "a"), (object) =>
          same(
            object.metadata.ownerReferences?.map((reference) => reference.name),
            ["own"]
          )
        )
      )
    },

    "a child in another namespace than its owner is deleted (F125)": function* (b) {
      const owner = yield* b.create(b.configMap("own"))
      const other = `${b.ns}-other`
      yield* b.create(b.object(namespaces, other))
      yield* b.api.create(configMaps, b.configMap("a", {}, { namespace: other, ownerReferences: [ownerOf(owner)] }))
      yield* eventually(refusedAs(b.api.get(configMaps, { namespace: other, name: "a" }), gone))
    },

    "in the background the owner goes first, then the child (F120)": function* (b) {
      const owner = yield* b.create(b.configMap("own"))
      const child = ownerOf(owner, { controller: true, blockOwnerDeletion: true })
      yield* b.create(b.configMap("a", {}, { ownerReferences: [child] }))
      const since = yield* b.now(configMaps)
      yield* b.delete(configMaps, "own")
      same(told(yield* b.watched(configMaps, 2, { resourceVersion: since })), [
        ["DELETED", "own"],
        ["DELETED", "a"]
      ])
    },

    "in the foreground the child goes first (F120)": function* (b) {
      const owner = yield* b.create(b.configMap("own"))
      const child = ownerOf(owner, { controller: true, blockOwnerDeletion: true })
      yield* b.create(b.configMap("a", {}, { ownerReferences: [child] }))
      const since = yield* b.now(configMaps)
      yield* b.delete(configMaps, "own", { propagationPolicy: "Foreground" })
      same(told(yield* b.watched(configMaps, 3, { resourceVersion: since })), [
        ["MODIFIED", "own"],
        ["DELETED", "a"],
        ["DELETED", "own"]
      ])
    },

    "orphaned, the child loses its reference and stays (F120)": function* (b) {
      const owner = yield* b.create(b.configMap("own"))
      yield* b.create(b.configMap("a", {}, { ownerReferences: [ownerOf(owner)] }))
      const since = yield* b.now(configMaps)
      yield* b.delete(configMaps, "own", { propagationPolicy: "Orphan" })
      same(told(yield* b.watched(configMaps, 3, { resourceVersion: since })), [
        ["MODIFIED", "own"],
        ["MODIFIED", "a"],
        ["DELETED", "own"]
      ])
      same((yield* b.get(configMaps, "a")).metadata.ownerReferences, undefined)
    },

    "in the foreground the owner waits for a held child that blocks it (F120)": function* (b) {
      const owner = yield* b.create(b.configMap("own"))
      yield* b.create(
        b.configMap("a", {}, { ...hold, ownerReferences: [ownerOf(owner, { blockOwnerDeletion: true })] })
      )
      yield* b.delete(configMaps, "own", { propagationPolicy: "Foreground" })
      yield* eventually(
        Effect.map(b.get(configMaps, "a"), (object) => assert.ok(object.metadata.deletionTimestamp !== undefined))
      )
      same((yield* b.get(configMaps, "own")).metadata.finalizers, ["foregroundDeletion"])
      yield* b.merge(configMaps, "a", { metadata: { finalizers: null } })
      yield* isGone(b, configMaps, "own")
    }
  },
  "controllers"
)
