/** CustomResourceDefinitions: how a kind comes, changes and goes. */
import assert from "node:assert/strict"
import type { KubeObject, ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { type Bench, type Case, cases, cause, eventually, names, refusedAs, rv, same, told } from "./contractBench.ts"
import { crds, definition, widgets } from "./contractKinds.ts"

/** A kind of the case's own, defined and served. */
const ownKind = Effect.fnUntraced(function* (b: Bench, kind: string, spec?: object, more: object = {}) {
  const resource: Resource = {
    group: `${b.unique}.example.com`,
    version: "v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    scope: "Namespaced"
  }
  const base = definition(resource, spec === undefined ? {} : { spec })
  const versions = base.spec.versions.map((version) => ({ ...version, ...more }))
  yield* b.create({ ...base, spec: { ...base.spec, versions } } as ObjectInput)
  yield* eventually(b.api.list(resource, { namespace: b.ns }))
  return resource
})

const nameOf = (resource: Resource): string => `${resource.plural}.${resource.group}`

const condition = (object: KubeObject, type: string): readonly [string, string] | undefined => {
  const found = ((object.status as any)?.conditions ?? []).find((one: any) => one.type === type)
  return found === undefined ? undefined : [found.status, found.reason]
}

const withSpec = (resource: Resource, spec: object): ObjectInput => definition(resource, { spec }) as ObjectInput

export const definitionLife: ReadonlyArray<Case> = cases("definitions", {
  "a kind is served once its definition is established (F130, F131)": function* (b) {
    const resource: Resource = { ...widgets, group: `${b.unique}.example.com`, kind: "Thing", plural: "things" }
    yield* refusedAs(b.api.list(resource, { namespace: b.ns }), { _tag: "NotFound", code: 404 })
    const made = yield* b.create(definition(resource) as ObjectInput)
    const { conversion, names } = made.spec as any
    same([conversion, names.listKind, (made.status as any).storedVersions], [{ strategy: "None" }, "ThingList", ["v1"]])
    yield* eventually(
      Effect.map(b.get(crds, nameOf(resource)), (object) => {
        same(condition(object, "NamesAccepted"), ["True", "NoConflicts"])
        same(condition(object, "Established"), ["True", "InitialNamesAccepted"])
      })
    )
    yield* eventually(b.api.list(resource, { namespace: b.ns }))
    same((yield* b.api.create(resource, b.object(resource, "a", { spec: {} }))).kind, "Thing")
  },

  "a kind whose name is taken in its group is not established (F132)": function* (b) {
    const resource = yield* ownKind(b, "Thing")
    const other = { ...resource, plural: "others" }
    yield* b.create(definition(other) as ObjectInput)
    yield* eventually(
      Effect.map(b.get(crds, nameOf(other)), (object) => {
        same(condition(object, "NamesAccepted"), ["False", "ListKindConflict"])
        same(condition(object, "Established"), ["False", "NotAccepted"])
      })
    )
  },

  "deleting it deletes its objects, ends their watches, and the kind is unknown (F68, F147)": function* (b) {
    const resource = yield* ownKind(b, "Thing")
    for (const name of ["a", "b"]) yield* b.api.create(resource, b.object(resource, name))
    const since = (yield* b.api.list(resource, { namespace: b.ns })).resourceVersion
    const watching = yield* Effect.forkScoped(
      Stream.runCollect(b.api.watch(resource, { namespace: b.ns, resourceVersion: since }))
    )
    // The watch must be open before its kind goes.
    yield* Effect.sleep("300 millis")
    const answer = (yield* b.delete(crds, nameOf(resource))) as KubeObject
    same(answer.metadata.finalizers, ["customresourcecleanup.apiextensions.k8s.io"])
    same(condition(answer, "Terminating"), ["True", "InstanceDeletionPending"])
    const seen = yield* Effect.timeout(Fiber.join(watching), "20 seconds")
    same(new Set(told(seen).map(String)), new Set(["DELETED,a", "DELETED,b"]))
    yield* eventually(refusedAs(b.api.list(resource, { namespace: b.ns }), { _tag: "NotFound", code: 404 }))
    yield* eventually(refusedAs(b.get(crds, nameOf(resource)), { _tag: "NotFound", code: 404 }))
  },

  "while a held object keeps it, the kind takes nothing new (F147)": function* (b) {
    const resource = yield* ownKind(b, "Thing")
    yield* b.api.create(resource, b.object(resource, "held", {}, { finalizers: ["x.io/a"] }))
    yield* b.delete(crds, nameOf(resource))
    const held = { namespace: b.ns, name: "held" }
    yield* eventually(
      Effect.map(b.api.get(resource, held), (object) => assert.ok(object.metadata.deletionTimestamp !== undefined))
    )
    yield* refusedAs(b.api.create(resource, b.object(resource, "n")), {
      _tag: "Forbidden",
      code: 403,
      message: `${nameOf(resource)} "n" is forbidden: create not allowed while custom resource definition is terminating`
    })
    yield* refusedAs(b.create(definition(resource) as ObjectInput), {
      _tag: "AlreadyExists",
      code: 409,
      message: `object is being deleted: customresourcedefinitions.apiextensions.k8s.io "${nameOf(resource)}" already exists`
    })
    yield* b.api.patch(resource, held, { type: "merge", body: { metadata: { finalizers: [] } } })
    yield* eventually(refusedAs(b.get(crds, nameOf(resource)), { _tag: "NotFound", code: 404 }))
  },

  "a new default shows at once in what is stored, at the same version (F135)": function* (b) {
    const resource = yield* ownKind(b, "Thing", {
      type: "object",
      properties: { n: { type: "integer" }, s: { type: "string" } }
    })
    const made = yield* b.api.create(resource, b.object(resource, "a", { spec: { n: 1, s: "x" } }))
    const changed = withSpec(resource, {
      type: "object",
      properties: { n: { type: "integer" }, d: { type: "string", default: "new" } }
    })
    yield* b.merge(crds, nameOf(resource), { spec: changed.spec })
    yield* eventually(
      Effect.map(b.api.get(resource, b.here("a")), (object) => {
        same([object.spec, rv(object)], [{ n: 1, d: "new" }, rv(made)])
      })
    )
  },

  "what a stricter schema made invalid may be edited elsewhere, not to another bad value (F136)": function* (b) {
    const resource = yield* ownKind(b, "Thing", { type: "object", properties: { n: { type: "integer" } } })
    yield* b.api.create(resource, b.object(resource, "a", { spec: { n: 50 } }))
    const changed = withSpec(resource, {
      type: "object",
      properties: { n: { type: "integer", maximum: 10 }, d: { type: "string", default: "new" } }
    })
    yield* b.merge(crds, nameOf(resource), { spec: changed.spec })
    // The default tells that the new schema is in force.
    yield* eventually(Effect.map(b.api.get(resource, b.here("a")), (object) => same((object.spec as any).d, "new")))
    const patch = (body: ObjectInput) => b.api.patch(resource, b.here("a"), { type: "merge", body })
    same((yield* patch({ metadata: { labels: { x: "1" } } })).metadata.labels, { x: "1" })
    yield* refusedAs(patch({ spec: { n: 51 } }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("spec.n", "Invalid value: 51: spec.n in body should be less than or equal to 10")]
    })
    same(((yield* patch({ spec: { n: 5 } })).spec as any).n, 5)
  },

  "a change of its spec ends the watches of its objects cleanly, and their versions are too old (F69)": function* (b) {
    const resource = yield* ownKind(b, "Thing")
    const made = yield* b.api.create(resource, b.object(resource, "a"))
    const watching = yield* Effect.forkScoped(
      Stream.runCollect(b.api.watch(resource, { namespace: b.ns, resourceVersion: rv(made) }))
    )
    yield* Effect.sleep("300 millis")
    const versions = [
      {
        ...(definition(resource).spec.versions[0] as object),
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }]
      }
    ]
    yield* b.merge(crds, nameOf(resource), { spec: { versions } })
    const seen = yield* Effect.timeout(Fiber.join(watching), "20 seconds")
    same(
      seen.filter((event) => event.type !== "BOOKMARK"),
      []
    )
    yield* eventually(b.api.list(resource, { namespace: b.ns }))
    yield* refusedAs(
      Stream.runCollect(b.api.watch(resource, { namespace: b.ns, resourceVersion: rv(made), timeoutSeconds: 5 })),
      { _tag: "Expired", code: 410, message: /^too old resource version: / }
    )
  },

  "its scope and group stay (F143)": function* (b) {
    const resource = yield* ownKind(b, "Thing")
    yield* refusedAs(b.merge(crds, nameOf(resource), { spec: { scope: "Cluster" } }, { dryRun: true }), {
      _tag: "Invalid",
      code: 422,
      causes: [cause("spec.scope", `Invalid value: "Cluster": field is immutable`)]
    })
  },

  "fields may be declared selectable (F139)": function* (b) {
    const resource = yield* ownKind(b, "Thing", undefined, {
      selectableFields: [{ jsonPath: ".spec.mode" }, { jsonPath: ".spec.size" }]
    })
    for (const [index, mode] of ["a", "b", "a"].entries()) {
      yield* b.api.create(resource, b.object(resource, `t${index}`, { spec: { mode, size: index } }))
    }
    const chosen = (fieldSelector: string) =>
      Effect.map(b.api.list(resource, { namespace: b.ns, fieldSelector }), (page) => names(page.items))
    same(yield* chosen("spec.mode=a"), ["t0", "t2"])
    same(yield* chosen("spec.mode!=a"), ["t1"])
    same(yield* chosen("spec.size=2"), ["t2"])
    same(yield* chosen("spec.mode=a,metadata.name=t0"), ["t0"])
    yield* refusedAs(chosen(".spec.mode=a"), {
      _tag: "BadRequest",
      code: 400,
      message: "field label not supported: .spec.mode"
    })
  },

  "the scale subresource writes the replicas of the object (F140)": function* (b) {
    const resource = yield* ownKind(b, "Thing", undefined, {
      subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.count" } }
    })
    yield* b.api.create(resource, b.object(resource, "a", { spec: { size: 1 } }))
    const scaled = yield* b.api.patch(
      resource,
      b.here("a"),
      { type: "merge", body: { spec: { replicas: 7 } } },
      { subresource: "scale" }
    )
    same([scaled.apiVersion, scaled.kind, scaled.spec], ["autoscaling/v1", "Scale", { replicas: 7 }])
    same("managedFields" in scaled.metadata, false)
    const object = yield* b.api.get(resource, b.here("a"))
    same([(object.spec as any).size, object.metadata.generation, rv(object)], [7, 2, rv(scaled)])
  },

  "a version that objects are stored in cannot be dropped (F142)": function* (b) {
    const resource = yield* ownKind(b, "Thing")
    const [one] = definition(resource).spec.versions
    const name = nameOf(resource)
    const versions = [
      { ...one, storage: false },
      { ...one, name: "v2" }
    ]
    const moved = yield* b.merge(crds, name, { spec: { versions } })
    same((moved.status as any).storedVersions, ["v1", "v2"])
    yield* refusedAs(b.merge(crds, name, { spec: { versions: versions.slice(1) } }), {
      _tag: "Invalid",
      code: 422,
      message: /status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions; /,
      causes: "any"
    })
  },

  "its status is not written by the main path (F143)": function* (b) {
    const resource = yield* ownKind(b, "Thing")
    const answer = yield* b.merge(crds, nameOf(resource), { status: { storedVersions: ["v9"] } })
    same((answer.status as any).storedVersions, ["v1"])
  },

  "another version than the stored one prunes by its own schema, and shows no defaults of its own (F141)": function* (
    b
  ) {
    const resource: Resource = { ...widgets, group: `${b.unique}.example.com`, kind: "Multi", plural: "multis" }
    const text = { type: "string" }
    const version = (name: string, storage: boolean, properties: object) => ({
      name,
      storage,
      served: true,
      schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } }
    })
    const base = definition(resource)
    yield* b.create({
      ...base,
      spec: {
        ...base.spec,
        versions: [
          version("v1", true, { a: text, d1: { ...text, default: "one" } }),
          version("v2", false, { a: text, b: text, d2: { ...text, default: "two" } })
        ]
      }
    } as ObjectInput)
    const second = { ...resource, version: "v2" }
    yield* eventually(b.api.list(second, { namespace: b.ns }))
    const made = yield* b.api.create(second, b.object(second, "a", { spec: { a: "1", b: "2" } }))
    // What the storage version lacks is lost, its defaults too, and reading does not bring them back.
    same((yield* b.api.get(second, b.here("a"))).spec, { a: "1" })
    const first = yield* eventually(b.api.get(resource, b.here("a")))
    same([made.apiVersion, made.spec], [`${resource.group}/v2`, { a: "1" }])
    same([first.apiVersion, first.spec], [`${resource.group}/v1`, { a: "1", d1: "one" }])
    same(first.metadata.managedFields?.[0]?.apiVersion, `${resource.group}/v2`)
  }
})
