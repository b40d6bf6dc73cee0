/** Random requests to the machine, and what holds of states whatever they were. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Machine from "../src/internal/machine.ts"
import type { Request, Response } from "../src/internal/request.ts"
import type { State } from "../src/internal/state.ts"
import { gadgetCrd, group, widgetCrd, zoneCrd } from "./fixtures.ts"

const small = (n: number) => Schema.Literals(Array.from({ length: n }, (_, i) => i))
/** One of the words; one that stands twice is drawn twice as often. */
const of = <const Words extends string>(words: Words) =>
  Schema.Literals(words.split(" ") as unknown as ReadonlyArray<Word<Words>>)
type Word<Words extends string> = Words extends `${infer First} ${infer Rest}` ? First | Word<Rest> : Words

/** Few names and kinds, so that requests meet. */
export const Op = Schema.Struct({
  verb: of("create create create replace merge merge json apply apply delete deletecollection tick"),
  kind: of("Widget Widget Gadget Zone ConfigMap ConfigMap"),
  namespace: of("default default default default default kube-public"),
  name: of("a a b"),
  subresource: of("none none none status"),
  manager: of("m1 m2"),
  /** What the request says of the version. */
  version: of("none now now now now old"),
  size: small(4),
  label: of("none x x y"),
  finalizer: of("keep keep keep add clear"),
  owner: of("none none none none none none none a a b b absent"),
  blocks: Schema.Boolean,
  propagation: of("none Background Foreground Orphan"),
  dryRun: small(12),
  invalid: small(20)
})
export type Op = typeof Op.Type

export const Ops = Arbitrary.array(Arbitrary.schema(Op), { minLength: 6, maxLength: 18 })

const kinds = {
  Widget: { group, plural: "widgets", apiVersion: `${group}/v1` },
  Gadget: { group, plural: "gadgets", apiVersion: `${group}/v1` },
  Zone: { group, plural: "zones", apiVersion: `${group}/v1` },
  ConfigMap: { group: "", plural: "configmaps", apiVersion: "v1" }
} as const
export type KindName = keyof typeof kinds
export const kindNames = Object.keys(kinds) as ReadonlyArray<KindName>

export const ask = (kind: KindName, more: Partial<Request> & Pick<Request, "method">, now = 0): Request => ({
  group: kinds[kind].group,
  version: "v1",
  plural: kinds[kind].plural,
  query: {},
  contentType: "application/json",
  userAgent: "test/1",
  now,
  seed: 1,
  ...more
})

const installed = (): State =>
  [widgetCrd(), gadgetCrd(), zoneCrd()].reduce(
    (state, crd) =>
      Machine.step(state, {
        ...ask("Zone", { method: "POST", body: crd }),
        group: "apiextensions.k8s.io",
        plural: "customresourcedefinitions"
      }).state,
    Machine.boot({ now: 0, seed: 1 })
  )

/** A server with the kinds of the traffic, and two objects of each: one that is free and one that a finalizer holds and the first owns. */
export const begin = (): State => {
  let state = installed()
  const drawn = {
    subresource: "none",
    manager: "m1",
    version: "none",
    size: 1,
    blocks: true,
    propagation: "none",
    dryRun: 1,
    invalid: 1
  } as const
  for (const kind of kindNames) {
    for (const [name, label, finalizer, owner] of [
      ["a", "none", "keep", "none"],
      ["b", "x", "add", kind === "Widget" || kind === "Zone" ? "none" : "a"]
    ] as const) {
      const op: Op = { ...drawn, verb: "create", kind, namespace: "default", name, label, finalizer, owner }
      const { response, state: next } = Machine.step(state, requestOf(state, op, 0, -state.rv)!)
      if (response.code !== 201) throw new Error(JSON.stringify(response.body))
      state = next
    }
  }
  return state
}

export const listOf = (state: State, kind: KindName, query: Request["query"] = {}, namespace?: string): Response =>
  Machine.step(state, ask(kind, { method: "GET", query, namespace })).response

export interface List {
  readonly items: ReadonlyArray<KubeObject>
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
}

export const itemsOf = (state: State, kind: KindName, query: Request["query"] = {}): ReadonlyArray<KubeObject> =>
  (listOf(state, kind, query).body as List).items

export const find = (
  state: State,
  op: Pick<Op, "kind" | "namespace"> & { readonly name: string }
): KubeObject | undefined =>
  itemsOf(state, op.kind).find(
    ({ metadata }) => metadata.name === op.name && (op.kind === "Zone" || metadata.namespace === op.namespace)
  )

const ownersOf = (state: State, op: Op): ReadonlyArray<unknown> | undefined => {
  if (op.owner === "none") return undefined
  const owner = find(state, { kind: "Widget", namespace: op.namespace, name: op.owner === "absent" ? "c" : op.owner })
  const uid = op.owner === "absent" || owner === undefined ? "00000000-0000-4000-8000-000000000000" : owner.metadata.uid
  return [{ apiVersion: `${group}/v1`, kind: "Widget", name: op.owner, uid, blockOwnerDeletion: op.blocks }]
}

const bodyOf = (state: State, op: Op): Record<string, unknown> => {
  const live = find(state, op)
  const owners = ownersOf(state, op)
  const version = op.version === "none" ? undefined : op.version === "old" ? "1" : live?.metadata.resourceVersion
  const creates = op.verb === "create" || (op.verb === "apply" && live === undefined)
  const metadata = {
    name: op.name,
    ...(op.kind !== "Zone" && { namespace: op.namespace }),
    ...(op.label !== "none" && { labels: { app: op.label } }),
    ...(op.finalizer !== "keep" && { finalizers: op.finalizer === "add" ? ["x.io/a"] : [] }),
    ...(owners !== undefined && { ownerReferences: owners }),
    ...(version !== undefined && !creates && { resourceVersion: version })
  }
  const size = op.invalid === 0 ? 1_000 : op.size
  const content =
    op.kind === "ConfigMap" ? { data: { size: String(size) } } : { spec: { size }, status: { count: op.size } }
  return { apiVersion: kinds[op.kind].apiVersion, kind: op.kind, metadata, ...content }
}

const operationsOf = (op: Op): ReadonlyArray<unknown> => [
  ...(op.version === "old" ? [{ op: "test", path: "/metadata/uid", value: "another" }] : []),
  op.kind === "ConfigMap"
    ? { op: "add", path: "/data", value: { size: String(op.size) } }
    : { op: "replace", path: "/spec", value: { size: op.size } },
  ...(op.finalizer === "clear" ? [{ op: "remove", path: "/metadata/finalizers/0" }] : [])
]

/** The request that an op stands for in a state. */
export const requestOf = (state: State, op: Op, now: number, seed: number): Request | undefined => {
  if (op.verb === "tick") return undefined
  const namespace = op.kind === "Zone" ? undefined : op.namespace
  const subresource = op.subresource === "none" ? undefined : op.subresource
  const query = { fieldManager: op.manager, ...(op.dryRun === 0 && { dryRun: "All" }) }
  const base = { namespace, query, seed }
  const one = { ...base, name: op.name }
  switch (op.verb) {
    case "create":
      return ask(op.kind, { ...base, method: "POST", body: bodyOf(state, op) }, now)
    case "replace":
      return ask(op.kind, { ...one, method: "PUT", subresource, body: bodyOf(state, op) }, now)
    case "merge":
      return ask(
        op.kind,
        {
          ...one,
          method: "PATCH",
          subresource,
          contentType: "application/merge-patch+json",
          body: bodyOf(state, op)
        },
        now
      )
    case "json":
      return ask(
        op.kind,
        { ...one, method: "PATCH", contentType: "application/json-patch+json", body: operationsOf(op) },
        now
      )
    case "apply":
      return ask(
        op.kind,
        {
          ...one,
          method: "PATCH",
          subresource,
          contentType: "application/apply-patch+yaml",
          body: bodyOf(state, op),
          query: { ...query, ...(op.blocks && { force: "true" }) }
        },
        now
      )
    case "delete":
      return ask(
        op.kind,
        {
          ...one,
          method: "DELETE",
          body: {
            ...(op.propagation !== "none" && { propagationPolicy: op.propagation }),
            ...(op.dryRun === 0 && { dryRun: ["All"] }),
            ...(op.version === "old" && { preconditions: { resourceVersion: "1" } })
          }
        },
        now
      )
    case "deletecollection":
      return ask(
        op.kind,
        { ...base, method: "DELETE", query: op.label === "none" ? {} : { labelSelector: `app=${op.label}` } },
        now
      )
  }
}

const frozen = new WeakSet<object>()

/** Makes any later change of the value, or of anything in it, throw. */
export const deepFreeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || frozen.has(value)) return value
  frozen.add(value)
  Object.freeze(value)
  for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key])
  return value
}

export interface Stage {
  readonly before: State
  readonly request: Request | undefined
  readonly stepped: Machine.Stepped
}

/** Runs the ops from a new server; every state and body is frozen as soon as it exists. Half a second passes with each. */
export const run = (ops: ReadonlyArray<Op>, start = deepFreeze(begin())): ReadonlyArray<Stage> => {
  const stages: Array<Stage> = []
  let state = start
  ops.forEach((op, i) => {
    const now = i * 500
    const request = deepFreeze(requestOf(state, op, now, i + 1))
    const stepped =
      request === undefined
        ? { ...Machine.tick(state, { now, seed: i + 1 }), response: { code: 200, body: undefined, warnings: [] } }
        : Machine.step(state, request)
    deepFreeze(stepped)
    stages.push({ before: state, request, stepped })
    state = stepped.state
  })
  return stages
}
