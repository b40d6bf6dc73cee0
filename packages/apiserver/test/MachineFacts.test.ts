import type { KubeObject } from "@fixpoint/core/KubeObject"
import { assert, describe, it } from "@effect/vitest"
import * as History from "../src/internal/history.ts"
import * as Machine from "../src/internal/machine.ts"
import type { Request, Response } from "../src/internal/request.ts"
import * as SortedMap from "../src/internal/sortedMap.ts"
import type { State } from "../src/internal/state.ts"
import { crd, group, widgets } from "./fixtures.ts"
import { ask, begin, deepFreeze, type List } from "./traffic.ts"

const start = deepFreeze(begin())

/** Sends requests one after another and keeps the state between them. */
const server = (initial: State = start) => {
  let state = initial
  const send = (request: Partial<Request> & Pick<Request, "method">, now = 0): Response => {
    const stepped = Machine.step(state, {
      ...ask("Widget", { namespace: "default", seed: state.rv, ...request }, now),
      now
    })
    state = stepped.state
    return stepped.response
  }
  return { send, state: () => state }
}

const core = (plural: string) => ({ group: "", plural })
const status = ({ body, code }: Response) => {
  const { message, reason } = body as { readonly message?: string; readonly reason?: string }
  return [code, reason, typeof body === "string" ? body : message]
}

const widget = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name, ...metadata },
  spec
})

describe("paths and methods", () => {
  const cases: ReadonlyArray<readonly [string, Partial<Request> & Pick<Request, "method">, ReadonlyArray<unknown>]> = [
    [
      "an unknown plural of a group is a page not found (F36)",
      { method: "GET", plural: "nopes" },
      [404, undefined, "404 page not found\n"]
    ],
    [
      "an unknown group is a page not found (F36)",
      { method: "GET", group: "no.io" },
      [404, undefined, "404 page not found\n"]
    ],
    [
      "an unknown core resource is a Status (F36)",
      { method: "GET", ...core("nopes") },
      [404, "NotFound", "the server could not find the requested resource"]
    ],
    [
      "a subresource that is not enabled is an absent object (F37)",
      { method: "GET", name: "a", subresource: "scale" },
      [404, "NotFound", `widgets.${group} "a" not found`]
    ],
    [
      "a built-in kind takes no POST to a name (F38)",
      { method: "POST", ...core("configmaps"), name: "a", body: {} },
      [405, "MethodNotAllowed", "the server does not allow this method on the requested resource"]
    ],
    [
      "a custom resource takes a POST to a name as one to the collection (F38)",
      { method: "POST", name: "a", body: widget("a") },
      [409, "AlreadyExists", `widgets.${group} "a" already exists`]
    ],
    [
      "a PUT to the collection names nothing (F38)",
      { method: "PUT", body: {} },
      [400, "BadRequest", "name must be provided"]
    ],
    [
      "nothing is created by a status path (F137)",
      { method: "POST", name: "a", subresource: "status", body: {} },
      [405, "MethodNotAllowed", `create is not supported on resources of kind "widgets.${group}"`]
    ],
    [
      "an unreadable version of a get is an error of the server (F40)",
      { method: "GET", name: "a", query: { resourceVersion: "abc" } },
      [500, undefined, `resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`]
    ],
    [
      "an unreadable version of a list is one of the client (F40)",
      { method: "GET", query: { resourceVersion: "-1" } },
      [
        400,
        "BadRequest",
        `invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax`
      ]
    ],
    [
      "a version from the future is a timeout (F41)",
      { method: "GET", query: { resourceVersion: "99999999" } },
      [504, "Timeout", `Timeout: Too large resource version: 99999999, current: ${start.rv}`]
    ],
    [
      "a limit that is no number is refused (F42)",
      { method: "GET", query: { limit: "x" } },
      [400, "BadRequest", `strconv.ParseInt: parsing "x": invalid syntax`]
    ],
    [
      "text is no body (F22)",
      { method: "POST", contentType: "text/plain", body: widget("x") },
      [
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
      ]
    ],
    [
      "a strategic patch of a custom resource is an unknown format (F78)",
      { method: "PATCH", name: "a", contentType: "application/strategic-merge-patch+json", body: {} },
      [
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
      ]
    ],
    [
      "a body over 3 MiB is too large (F28)",
      { method: "POST", body: widget("x"), bodyBytes: 3_145_729 },
      [413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"]
    ],
    [
      "an object over 1.5 MiB is too large for etcd (F28)",
      { method: "POST", body: widget("x", { free: { text: "x".repeat(1_600_000) } }) },
      [500, undefined, "etcdserver: request is too large"]
    ],
    [
      "a JSON patch of more than 10,000 operations is too large (F28)",
      {
        method: "PATCH",
        name: "a",
        contentType: "application/json-patch+json",
        body: Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "Widget" }))
      },
      [
        413,
        "RequestEntityTooLarge",
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
      ]
    ],
    [
      "a kind of options that is none is refused in a DELETE (F117)",
      { method: "DELETE", name: "a", body: { kind: "Nope" } },
      [400, "BadRequest", `no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`]
    ],
    [
      "an unknown propagation is refused (F117)",
      { method: "DELETE", name: "a", body: { propagationPolicy: "Nope" } },
      [
        422,
        "Invalid",
        `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"`
      ]
    ],
    [
      "an apply without a manager is refused (F102)",
      { method: "PATCH", name: "a", contentType: "application/apply-patch+yaml", body: widget("a") },
      [
        422,
        "Invalid",
        `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`
      ]
    ],
    [
      "force belongs to an apply (F92)",
      { method: "PATCH", name: "a", contentType: "application/merge-patch+json", body: {}, query: { force: "true" } },
      [
        422,
        "Invalid",
        `PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`
      ]
    ],
    [
      "a collection of namespaces is not deleted (F118)",
      { method: "DELETE", ...core("namespaces"), namespace: undefined },
      [405, "MethodNotAllowed", "the server does not allow this method on the requested resource"]
    ],
    [
      "initial events are for watches (F67)",
      { method: "GET", query: { sendInitialEvents: "true" } },
      [
        422,
        "Invalid",
        `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`
      ]
    ]
  ]
  for (const [name, request, expected] of cases) {
    it(name, () => {
      const { send, state } = server()
      assert.deepStrictEqual(status(send(request)), expected)
      assert.strictEqual(state(), start)
    })
  }
})

describe("bodies", () => {
  it("a key that stands twice is warned of, and refused where that is asked for (F26)", () => {
    const { send } = server()
    const request = { method: "POST", body: widget("twice"), duplicates: ["spec.size"] } as const
    assert.deepStrictEqual(send(request).warnings, [`duplicate field "spec.size"`])
    assert.strictEqual(send({ ...request, query: { fieldValidation: "Strict" } }).code, 400)
  })

  it("a manager's name comes from the User-Agent up to the first slash, and is unknown without one (F29)", () => {
    const { send } = server()
    for (const [i, [userAgent, manager]] of [
      ["my-op v1/x y", "my-op v1"],
      ["", "unknown"],
      ["x".repeat(200), "x".repeat(128)]
    ].entries()) {
      const made = send({ method: "POST", body: widget(`m${i}`, { size: 1 }), userAgent: userAgent! })
        .body as KubeObject
      assert.strictEqual(made.metadata.managedFields?.[0]?.manager, manager)
    }
  })

  it("the scale of an object is another face of it, and writes its replicas (F140)", () => {
    const scaled = crd(
      { ...widgets, kind: "Scaled", plural: "scaleds" },
      {
        extra: { subresources: { scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.count" } } }
      }
    )
    const { send } = server()
    const plural = "scaleds"
    send({
      method: "POST",
      group: "apiextensions.k8s.io",
      plural: "customresourcedefinitions",
      namespace: undefined,
      body: scaled
    })
    send({ method: "POST", plural, body: { ...widget("s", { size: 1 }), kind: "Scaled" } })
    const scale = send({ method: "GET", plural, name: "s", subresource: "scale" }).body as KubeObject
    assert.deepInclude(scale, {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 1 },
      status: { replicas: 0 }
    })
    assert.strictEqual(scale.metadata.managedFields, undefined)
    const answer = send({
      method: "PATCH",
      plural,
      name: "s",
      subresource: "scale",
      contentType: "application/merge-patch+json",
      body: { spec: { replicas: 7 } }
    })
    assert.deepStrictEqual([answer.code, (answer.body as KubeObject).spec], [200, { replicas: 7 }])
    const { metadata, spec } = send({ method: "GET", plural, name: "s" }).body as KubeObject
    assert.deepStrictEqual([metadata.generation, (spec as { size: number }).size], [2, 7])
  })

  it("an object that does not say how many has no scale to read, and one to write", () => {
    const { send } = server()
    const plural = "scaleds"
    const paths = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.count" }
    send({
      method: "POST",
      group: "apiextensions.k8s.io",
      plural: "customresourcedefinitions",
      namespace: undefined,
      body: crd({ ...widgets, kind: "Scaled", plural }, { extra: { subresources: { scale: paths } } })
    })
    send({ method: "POST", plural, body: { ...widget("s", {}), kind: "Scaled" } })
    const scale = { plural, name: "s", subresource: "scale" } as const
    const missing = send({ method: "GET", ...scale })
    assert.deepStrictEqual(status(missing), [
      500,
      "InternalError",
      'Internal error occurred: the spec replicas field ".spec.size" does not exist'
    ])
    const patch = (body: object) =>
      send({ method: "PATCH", ...scale, contentType: "application/merge-patch+json", body })
    assert.deepStrictEqual(status(patch({ metadata: { labels: { a: "b" } } })), [
      400,
      "BadRequest",
      'the spec replicas field ".spec.size" cannot be empty'
    ])
    assert.deepStrictEqual((patch({ spec: { replicas: 2 } }).body as KubeObject).spec, { replicas: 2 })
  })
})

describe("lists", () => {
  it("a page token says version and key in base64url, and an old one begins the rest anew (F43, F45)", () => {
    const { send, state } = server()
    const page = send({ method: "GET", query: { limit: "1" } }).body as List
    const token = JSON.parse(Buffer.from(page.metadata.continue!, "base64url").toString())
    assert.deepStrictEqual(token, { v: "meta.k8s.io/v1", rv: start.rv, start: "/a\u0000" })
    assert.strictEqual(page.metadata.remainingItemCount, 1)
    const again = { limit: "1", continue: page.metadata.continue! }
    assert.deepStrictEqual(status(send({ method: "GET", query: { ...again, resourceVersion: "5" } })), [
      400,
      "BadRequest",
      "specifying resource version is not allowed when using continue"
    ])
    // Far more changes than the cache keeps, with time between them.
    for (let i = 0; i < 250; i++) {
      send(
        { method: "PATCH", name: "a", contentType: "application/merge-patch+json", body: { spec: { size: i % 2 } } },
        i * 80_000
      )
    }
    const { body, code } = send({ method: "GET", query: again })
    const rest = (body as List).metadata.continue!
    assert.deepStrictEqual([code, JSON.parse(Buffer.from(rest, "base64url").toString()).rv], [410, -1])
    const { items, metadata } = send({ method: "GET", query: { continue: rest } }).body as List
    assert.deepStrictEqual(
      [items.map((item) => item.metadata.name), metadata.resourceVersion],
      [["b"], String(state().rv)]
    )
  })

  it("version 0 ignores the limit, an old one with a limit is exact (F42)", () => {
    const { send } = server()
    send({ method: "POST", body: widget("c") })
    const names = (query: Request["query"]) =>
      (send({ method: "GET", query }).body as List).items.map(({ metadata }) => metadata.name)
    assert.deepStrictEqual(names({ limit: "2", resourceVersion: "0" }), ["a", "b", "c"])
    assert.deepStrictEqual(names({ limit: "9", resourceVersion: String(start.rv) }), ["a", "b"])
    assert.deepStrictEqual(
      names({ limit: "1", resourceVersion: String(start.rv), resourceVersionMatch: "NotOlderThan" }),
      ["a"]
    )
  })

  it("lists of built-in kinds go without kinds over the wire, those of custom resources with them (F34)", () => {
    const { send } = server()
    assert.isTrue(send({ method: "GET", ...core("configmaps") }).bareItems)
    assert.isFalse(send({ method: "GET" }).bareItems)
    assert.strictEqual((send({ method: "GET" }).body as List).metadata.continue, "")
    assert.deepStrictEqual((send({ method: "GET", namespace: "absent" }).body as List).items, [])
  })
})

describe("what a watch cache remembers", () => {
  const change = (rv: number, at: number): History.Change => ({
    resource: "widgets",
    key: "a",
    rv,
    at,
    type: "MODIFIED",
    object: {} as KubeObject,
    previous: {} as KubeObject
  })
  const fill = (history: History.History, count: number, at: number): History.History => {
    let filled = history
    const first = (History.after(history, 0).at(-1)?.rv ?? history.since) + 1
    for (let i = 0; i < count; i++) filled = History.append(filled, change(first + i, at))
    return filled
  }

  it("it forgets only what is old and has more than a cache of others after it (F56)", () => {
    const busy = fill(History.make(10), 300, 0)
    assert.strictEqual(History.after(busy, 10).length, 300)
    const later = fill(busy, 60, 85_000)
    assert.deepStrictEqual([later.since, History.after(later, 10).length], [10, 360])
    const tooLate = fill(later, 120, 85_000)
    assert.isAbove(tooLate.since, 10)
  })

  it("it does not grow with a quiet stream of changes", () => {
    let history = History.make(0)
    for (let i = 1; i <= 5_000; i++) history = History.append(history, change(i, i * 10_000))
    assert.strictEqual(history.length, 100)
    assert.isBelow(history.chunks.length, 4)
    assert.deepStrictEqual(
      History.after(history, 4_998).map(({ rv }) => rv),
      [4_999, 5_000]
    )
  })
})

describe("time", () => {
  it("a terminating namespace is due five seconds after its DELETE, and not before (F129)", () => {
    const { send, state } = server()
    send({ method: "POST", ...core("namespaces"), namespace: undefined, body: { metadata: { name: "n" } } })
    send({ method: "DELETE", ...core("namespaces"), namespace: undefined, name: "n" }, 1_000)
    assert.strictEqual(Machine.nextDue(state()), 6_000)
    assert.strictEqual(Machine.tick(state(), { now: 5_999, seed: 1 }).state, state())
    const { changes, state: gone } = Machine.tick(state(), { now: 6_000, seed: 1 })
    assert.deepStrictEqual(
      changes.map(({ key, type }) => `${type} ${key}`),
      ["DELETED n"]
    )
    assert.strictEqual(Machine.nextDue(gone), undefined)
  })
})

describe("the sorted map", () => {
  it("is a map, in the order of its keys, whatever is put in and taken out", () => {
    const reference = new Map<string, number>()
    let map = SortedMap.empty<number>()
    let seed = 1
    for (let i = 0; i < 20_000; i++) {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff
      const key = `k${(seed >> 8) % 900}`
      if ((seed >> 4) % 3 === 0) {
        map = SortedMap.remove(map, key)
        reference.delete(key)
      } else {
        map = SortedMap.set(map, key, i)
        reference.set(key, i)
      }
      if (i % 500 === 0) {
        const sorted = [...reference].toSorted(([a], [b]) => (a < b ? -1 : 1))
        assert.deepStrictEqual(
          SortedMap.values(map),
          sorted.map(([, value]) => value)
        )
        assert.strictEqual(map.size, reference.size)
        assert.strictEqual(SortedMap.get(map, key), reference.get(key))
        assert.deepStrictEqual(
          SortedMap.valuesWithPrefix(map, "k8"),
          sorted.filter(([name]) => name.startsWith("k8")).map(([, value]) => value)
        )
      }
    }
  })
})
