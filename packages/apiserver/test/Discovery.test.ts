/** Discovery of the built-in kinds and of custom ones: as a real server tells them, in every form. */
import { assert, describe, it, layer } from "@effect/vitest"
import type { Resource } from "@fixpoint/core/KubeObject"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Documents from "../src/internal/documents.ts"
import { compareVersions } from "../src/internal/kubeVersion.ts"
import * as Machine from "../src/internal/machine.ts"
import type { State } from "../src/internal/state.ts"
import { crd, crds, gadgets, group, widgetCrd, widgets } from "./fixtures.ts"
import * as RealServer from "./realServer.ts"

type Json = any

const at = { now: 0, seed: 1 }

const request = (state: State, method: "POST" | "DELETE", body: Json, name?: string): State => {
  const stepped = Machine.step(state, { ...at, ...crds, name, method, query: {}, body, userAgent: "test" })
  assert.isBelow(stepped.response.code, 300, JSON.stringify(stepped.response.body))
  return stepped.state
}

const toys: Resource = { group: "toys.example.com", version: "v1", kind: "Toy", plural: "toys", scope: "Cluster" }
/** Served by no other test, so that a control plane may be shared. */
const gizmos: Resource = { ...widgets, group: "discovery.example.com" }
const tools: Resource = { ...gadgets, group: "tools.example.com" }

const version = (name: string, more: object = {}): object => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  ...more
})

/** A kind with several versions, names and subresources. */
const toyCrd = (): Json => {
  const base: Json = crd(toys)
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" }
  const versions = [
    version("v1alpha1"),
    version("v1", { storage: true, subresources: { status: {}, scale } }),
    ...["v1beta2", "v1beta10", "v10", "v2"].map((name) => version(name)),
    version("old", { served: false }),
    version("foo")
  ]
  const names = { ...base.spec.names, shortNames: ["ty", "tys"], categories: ["all", "toys"] }
  return { ...base, spec: { ...base.spec, names, versions } }
}

const definitions = [crd(gizmos), crd(tools, { status: false }), toyCrd()]

const world = (): State => definitions.reduce((s, d) => request(s, "POST", d), Machine.boot(at))

const get = (state: State, path: string, accept?: string): Documents.Document | undefined =>
  Effect.runSync(Documents.documentAt(state, { path, accept, address: "h:1" }))

const body = (document: Documents.Document | undefined): Json =>
  typeof document?.body === "string" ? JSON.parse(document.body) : document?.body

const aggregatedAccept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
/** As client-go asks. */
const accept = `${aggregatedAccept},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`

describe("discovery", () => {
  it("versions of a group come as clients prefer them, whatever the order of the definition", () => {
    const names = ["v1alpha1", "foo1", "v1", "v11alpha2", "v3beta1", "v10", "v2", "v12alpha1", "v11beta2", "foo10"]
    assert.deepStrictEqual(names.toSorted(compareVersions), [
      "v10",
      "v2",
      "v1",
      "v11beta2",
      "v3beta1",
      "v12alpha1",
      "v11alpha2",
      "v1alpha1",
      "foo1",
      "foo10"
    ])
    const found = body(get(world(), "/apis/toys.example.com"))
    assert.deepStrictEqual(
      found.versions.map((one: Json) => one.version),
      ["v10", "v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "foo"]
    )
    assert.deepStrictEqual(found.preferredVersion, { groupVersion: "toys.example.com/v10", version: "v10" })
  })

  it("a kind is told of from the moment of its definition to its end", () => {
    const before = Machine.boot(at)
    assert.isUndefined(get(before, `/apis/${group}/v1`))
    assert.isUndefined(get(before, `/apis/${group}`))
    const during = request(before, "POST", widgetCrd())
    assert.strictEqual(body(get(during, `/apis/${group}/v1`)).resources[0].kind, "Widget")
    assert.notStrictEqual(get(before, "/apis", accept)!.etag, get(during, "/apis", accept)!.etag)
    const after = request(during, "DELETE", undefined, `${widgets.plural}.${group}`)
    assert.isUndefined(get(after, `/apis/${group}/v1`))
    assert.strictEqual(get(before, "/apis", accept)!.etag, get(after, "/apis", accept)!.etag)
  })

  it("a deprecated version names the best one to use instead", () => {
    const base = toyCrd()
    const versions = base.spec.versions.map((one: Json) => ({
      ...one,
      deprecated: ["v1beta2", "v10", "foo", "v1"].includes(one.name),
      ...(one.name === "v1" && { deprecationWarning: "leave it" })
    }))
    const state = request(Machine.boot(at), "POST", { ...base, spec: { ...base.spec, versions } })
    const warnings = (name: string): ReadonlyArray<string> =>
      Machine.step(state, { ...at, ...toys, version: name, method: "GET", query: {}, userAgent: "test" }).response
        .warnings
    const instead = "; use toys.example.com/v2 Toy"
    assert.deepStrictEqual(["v1beta2", "foo", "v10", "v1", "v2"].map(warnings), [
      [`toys.example.com/v1beta2 Toy is deprecated${instead}`],
      [`toys.example.com/foo Toy is deprecated${instead}`],
      ["toys.example.com/v10 Toy is deprecated"],
      ["leave it"],
      []
    ])
  })

  it("a path that leads nowhere is missed as the real server misses it", () => {
    const state = world()
    for (const path of ["/apis/nope", "/apis/nope/v1", "/apis/toys.example.com/v9", "/apis//v1", "/foo", "/"])
      assert.isUndefined(get(state, path), path)
    for (const path of ["/api/v2", "/apis/apps/v2"]) assert.strictEqual(get(state, path)?.code, 404, path)
    assert.deepStrictEqual(get(state, "/api/v1/"), get(state, "/api/v1"))
  })

  it("the form is the best that the client takes, and refused if it takes none", () => {
    const state = world()
    const form = (path: string, wanted?: string): string | number => {
      const found = get(state, path, wanted)!
      return found.code === 200
        ? found.contentType === aggregatedAccept
          ? "aggregated"
          : found.contentType
        : found.code
    }
    assert.strictEqual(form("/apis", accept), "aggregated")
    assert.strictEqual(form("/api", `${aggregatedAccept};profile=nopeer,${accept}`), "aggregated")
    assert.strictEqual(form("/apis", `${aggregatedAccept};q=0.3, application/json`), "application/json")
    assert.strictEqual(form("/apis", undefined), "application/json")
    assert.strictEqual(form("/apis", "text/html, */*;q=0.1"), "application/json")
    assert.strictEqual(form("/apis/apps/v1", accept), "application/json")
    assert.strictEqual(form("/apis/apps/v1", aggregatedAccept), 406)
    assert.strictEqual(form("/apis", aggregatedAccept.replace("v=v2", "v=v2beta1")), 406)
    assert.strictEqual(form("/apis", "application/vnd.kubernetes.protobuf"), 406)
    assert.strictEqual(form("/apis", "application/json;q=0"), 406)
  })
})

/** What of a document this server tells too: the resources that it serves, without hashes and addresses. */
const told = (real: Json, ours: Json): Json => {
  if (Array.isArray(real)) {
    const names = new Set((ours ?? []).map(nameOf))
    return real
      .filter((item) => typeof item !== "object" || names.has(nameOf(item)))
      .map((item) =>
        told(
          item,
          ours.find((own: Json) => nameOf(own) === nameOf(item))
        )
      )
  }
  if (typeof real !== "object" || real === null) return real
  return Object.fromEntries(
    Object.entries(real)
      .filter(([key]) => key !== "storageVersionHash" && key !== "serverAddress" && !buildFields.has(key))
      .filter(([key, value]) => !(Array.isArray(value) && key === "subresources" && ours?.[key] === undefined))
      .map(([key, value]) => [key, told(value, ours?.[key])])
  )
}

const buildFields = new Set(["gitCommit", "buildDate", "goVersion", "compiler", "platform"])

/** What tells an item of any of these lists from the others. */
const nameOf = (item: Json): string =>
  item?.metadata === undefined
    ? (["name", "groupVersion", "version", "subresource", "resource", "clientCIDR"].reduce(
        (f, k) => f ?? item?.[k],
        undefined
      ) ?? item)
    : (item.metadata.name ?? "")

describe.runIf(ControlPlane.available())("discovery and a real API server", () => {
  layer(SharedControlPlane.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("agree on the groups, versions, resources, verbs and names of all that is served", () =>
      Effect.gen(function* () {
        const server = RealServer.make(yield* ControlPlane.ControlPlane)
        for (const definition of definitions) yield* RealServer.serve(server, definition)
        const state = world()
        const paths = [
          "/version",
          "/api",
          "/apis",
          "/api/v1",
          ...body(get(state, "/apis")).groups.flatMap((one: Json) => [
            `/apis/${one.name}`,
            ...one.versions.map(({ groupVersion }: Json) => `/apis/${groupVersion}`)
          ])
        ]
        assert.isAbove(paths.length, 30)
        for (const path of paths) {
          const own = body(get(state, path))
          const real = yield* server.request("GET", path)
          assert.deepStrictEqual(told(real.body, own), told(own, own), path)
        }
        for (const path of ["/api", "/apis"]) {
          const own = body(get(state, path, accept))
          const real = yield* server.request("GET", path, undefined, { accept })
          assert.deepStrictEqual(told(real.body, own), own, path)
        }
      })
    )
  })
})
