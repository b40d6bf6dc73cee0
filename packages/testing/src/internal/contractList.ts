/** List, get, selectors and pages. */
import assert from "node:assert/strict"
import * as ApiClient from "@fixpoint/core/ApiClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type Bench, type Case, cases, isLater, names, refusedAs, rv, same } from "./contractBench.ts"
import { configMaps, events, group, leases, namespaces, secrets, services, widgets } from "./contractKinds.ts"

const listed = (b: Bench, options: ApiClient.ListOptions) =>
  Effect.map(b.list(widgets, options), (page) => names(page.items))

/** Seven widgets w0..w6, labelled n = 0..6 and app = y or x in turn, and one without labels. */
const seven = (b: Bench) =>
  Effect.andThen(
    Effect.forEach(
      Array.from({ length: 7 }, (_, index) => index),
      (index) =>
        b.create(b.widget(`w${index}`, { size: index }, { labels: { n: `${index}`, app: index % 2 ? "x" : "y" } }))
    ),
    b.create(b.widget("bare"))
  )

export const list: ReadonlyArray<Case> = cases("list", {
  "items are sorted by name, and bear apiVersion and kind, also of built-in kinds (F34)": function* (b) {
    for (const name of ["b", "c", "a"]) {
      yield* b.create(b.widget(name))
      yield* b.create(b.configMap(name))
    }
    for (const resource of [widgets, configMaps]) {
      const page = yield* b.list(resource)
      const mine = page.items.filter((item) => item.metadata.name.length === 1)
      same(
        mine.map((item) => [item.kind, item.metadata.name]),
        [
          [resource.kind, "a"],
          [resource.kind, "b"],
          [resource.kind, "c"]
        ]
      )
      same(mine[0]?.apiVersion, resource === widgets ? `${group}/v1` : "v1")
      same([page.continue, page.remainingItemCount], [undefined, undefined])
      assert.match(page.resourceVersion, /^\d+$/)
    }
  },

  "across namespaces they are sorted by namespace/name as one text, so that a-b comes before a (F34)": function* (b) {
    const other = `${b.ns}-b`
    yield* b.create(b.object(namespaces, other))
    const label = { labels: { run: b.unique } }
    yield* b.create(b.widget("z", {}, label))
    yield* b.api.create(widgets, b.widget("a", {}, { ...label, namespace: other }))
    const page = yield* b.api.list(widgets, { labelSelector: `run=${b.unique}` })
    same(
      page.items.map((item) => [item.metadata.namespace, item.metadata.name]),
      [
        [other, "a"],
        [b.ns, "z"]
      ]
    )
  },

  "an absent namespace has nothing (F34)": function* (b) {
    same((yield* b.api.list(widgets, { namespace: `${b.ns}-absent` })).items, [])
  },

  "the version of a list is not older than any item's, nor than the last write (F2)": function* (b) {
    yield* b.create(b.widget("a"))
    const made = yield* b.create(b.widget("b"))
    const page = yield* b.list(widgets)
    assert.ok(!isLater(page.resourceVersion, rv(made)))
  },

  "an absent object is not found, by the name of its resource (F35)": function* (b) {
    yield* refusedAs(b.get(widgets, "x"), { _tag: "NotFound", code: 404, message: `widgets.${group} "x" not found` })
    yield* refusedAs(b.get(configMaps, "x"), { _tag: "NotFound", code: 404, message: `configmaps "x" not found` })
  },

  "an unknown kind, version or group is not found (F36)": function* (b) {
    const unknown = [
      { ...widgets, plural: "nopes" },
      { ...widgets, version: "v9" },
      { ...widgets, group: "nope.example.com" }
    ]
    for (const resource of unknown) {
      yield* refusedAs(b.api.list(resource, { namespace: b.ns }), {
        _tag: "NotFound",
        code: 404,
        message: "404 page not found"
      })
    }
    yield* refusedAs(b.api.list({ ...configMaps, plural: "nopes" }, { namespace: b.ns }), {
      _tag: "NotFound",
      code: 404,
      message: "the server could not find the requested resource"
    })
  },

  "a list as of an old version is exact where that is asked, else the newest (F39)": function* (b) {
    const first = yield* b.create(b.widget("a", { size: 1 }))
    yield* b.create(b.widget("b"))
    const resourceVersion = rv(first)
    const exact = yield* b.list(widgets, { resourceVersion, resourceVersionMatch: "Exact" })
    same([names(exact.items), exact.resourceVersion], [["a"], resourceVersion])
    for (const options of [
      {},
      { resourceVersion: "0" },
      { resourceVersion },
      { resourceVersion, resourceVersionMatch: "NotOlderThan" as const }
    ]) {
      // A list from the cache may lag behind the write by a moment where no version is demanded.
      const page = yield* b.list(widgets, options)
      if (options.resourceVersion === undefined) same(names(page.items), ["a", "b"])
      else assert.ok(names(page.items).includes("a"))
    }
  },

  "a match without a version is refused (F39)": function* (b) {
    yield* refusedAs(b.list(widgets, { resourceVersionMatch: "Exact" }), {
      _tag: "Invalid",
      code: 422,
      message: /resourceVersionMatch is forbidden unless resourceVersion is provided/,
      causes: "any"
    })
    yield* refusedAs(b.list(widgets, { resourceVersion: "0", resourceVersionMatch: "Exact" }), {
      _tag: "Invalid",
      code: 422,
      message: /"exact" is forbidden for resourceVersion "0"/i,
      causes: "any"
    })
  },

  "a version that is no number is refused (F40)": function* (b) {
    yield* refusedAs(b.list(widgets, { resourceVersion: "abc" }), {
      _tag: "BadRequest",
      code: 400,
      message: `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`
    })
    yield* b.create(b.widget("a"))
    yield* refusedAs(b.api.get(widgets, b.here("a"), { resourceVersion: "abc" }), { _tag: "ServerError", code: 500 })
  },

  "a version from the future times out, with the time to wait (F41)": function* (b) {
    yield* refusedAs(b.list(widgets, { resourceVersion: "99999999" }), {
      _tag: "ServerTimeout",
      code: 504,
      message: /^Timeout: Too large resource version: 99999999, current: \d+$/,
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterMillis: 1_000
    })
  }
})

export const selectors: ReadonlyArray<Case> = cases("selectors", {
  "labels are chosen by equality, sets, presence and order (F47)": function* (b) {
    yield* seven(b)
    const expected: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["app=x", ["w1", "w3", "w5"]],
      ["app==x", ["w1", "w3", "w5"]],
      ["app!=x", ["bare", "w0", "w2", "w4", "w6"]],
      ["app in (x,z)", ["w1", "w3", "w5"]],
      ["app notin (x)", ["bare", "w0", "w2", "w4", "w6"]],
      ["app", ["w0", "w1", "w2", "w3", "w4", "w5", "w6"]],
      ["!app", ["bare"]],
      ["n>4", ["w5", "w6"]],
      ["n<2", ["w0", "w1"]],
      ["app=x,n=1", ["w1"]],
      ["app=", []]
    ]
    for (const [labelSelector, chosen] of expected) same(yield* listed(b, { labelSelector }), chosen, labelSelector)
  },

  "a selector that cannot be read is refused (F47)": function* (b) {
    yield* refusedAs(b.list(widgets, { labelSelector: "a b=c" }), {
      _tag: "BadRequest",
      code: 400,
      message: "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"
    })
    for (const labelSelector of ["=x", "app in (x", "app=x y", "n>a"]) {
      yield* refusedAs(b.list(widgets, { labelSelector }), { _tag: "BadRequest", code: 400 })
    }
  },

  "fields: name and namespace everywhere (F48)": function* (b) {
    yield* seven(b)
    same(yield* listed(b, { fieldSelector: "metadata.name=w1" }), ["w1"])
    same(yield* listed(b, { fieldSelector: "metadata.name==w1" }), ["w1"])
    same((yield* listed(b, { fieldSelector: "metadata.name!=w1" })).length, 7)
    same((yield* listed(b, { fieldSelector: `metadata.namespace=${b.ns}` })).length, 8)
    same(yield* listed(b, { fieldSelector: "metadata.name=w1,metadata.name=w2" }), [])
    same(yield* listed(b, { fieldSelector: "metadata.name=w1", labelSelector: "app=y" }), [])
  },

  "other fields are refused, by kinds in other words (F48)": function* (b) {
    yield* refusedAs(b.list(widgets, { fieldSelector: "spec.size=1" }), {
      _tag: "BadRequest",
      code: 400,
      message: "field label not supported: spec.size"
    })
    yield* refusedAs(b.list(configMaps, { fieldSelector: "spec.size=1" }), {
      _tag: "BadRequest",
      code: 400,
      message: `"spec.size" is not a known field selector: only "metadata.name", "metadata.namespace"`
    })
    yield* refusedAs(b.list(widgets, { fieldSelector: "x" }), {
      _tag: "BadRequest",
      code: 400,
      message: "invalid selector: 'x'; can't understand 'x'"
    })
    yield* refusedAs(b.list(leases, { fieldSelector: "spec.holderIdentity=x" }), { _tag: "BadRequest", code: 400 })
  },

  "some built-in kinds know fields of their own (F49)": function* (b) {
    yield* b.create(b.object(secrets, "a", { type: "x/y" }))
    yield* b.create(b.object(services, "a", { spec: { ports: [{ port: 80 }], clusterIP: "None" } }))
    yield* b.create(b.event("a", { reason: "One" }))
    yield* b.create(b.event("b", { reason: "Two" }))
    const chosen = (resource: typeof secrets, fieldSelector: string) =>
      Effect.map(b.list(resource, { fieldSelector }), (page) => names(page.items))
    same(yield* chosen(secrets, "type=x/y"), ["a"])
    same(yield* chosen(services, "spec.clusterIP=None"), ["a"])
    same(yield* chosen(events, "reason=One"), ["a"])
    same(yield* chosen(events, "involvedObject.name=w,type=Normal"), ["a", "b"])
    same(yield* chosen(events, "involvedObject.uid=other"), [])
  }
})

export const pages: ReadonlyArray<Case> = cases("pages", {
  "every page is as of the first, and bears its version (F43)": function* (b) {
    yield* seven(b)
    const first = yield* b.list(widgets, { limit: 3 })
    yield* b.create(b.widget("w9"))
    yield* b.delete(widgets, "w5")
    yield* b.merge(widgets, "w6", { spec: { size: 66 } })
    const second = yield* b.list(widgets, { limit: 3, continue: first.continue! })
    const third = yield* b.list(widgets, { limit: 3, continue: second.continue! })
    same(
      [first, second, third].map((page) => names(page.items)),
      [
        ["bare", "w0", "w1"],
        ["w2", "w3", "w4"],
        ["w5", "w6"]
      ]
    )
    same((third.items[1]!.spec as any).size, 6)
    same([second.resourceVersion, third.resourceVersion], [first.resourceVersion, first.resourceVersion])
    same([first.remainingItemCount, second.remainingItemCount, third.remainingItemCount], [5, 2, undefined])
    same([typeof second.continue, third.continue], ["string", undefined])
  },

  "with a selector nothing tells how many remain (F43)": function* (b) {
    yield* seven(b)
    const page = yield* b.list(widgets, { limit: 2, labelSelector: "app=x" })
    same([names(page.items), typeof page.continue, page.remainingItemCount], [["w1", "w3"], "string", undefined])
  },

  "a limit beyond the items is no limit (F42)": function* (b) {
    yield* seven(b)
    const page = yield* b.list(widgets, { limit: 8 })
    same([page.items.length, page.continue], [8, undefined])
  },

  "a limit is ignored at version 0, and exact at an old one (F42)": function* (b) {
    yield* seven(b)
    const { resourceVersion } = yield* b.list(widgets)
    yield* b.create(b.widget("w9"))
    const old = yield* b.list(widgets, { limit: 100, resourceVersion })
    same([old.items.length, old.resourceVersion], [8, resourceVersion])
    const newest = yield* b.list(widgets, { limit: 2, resourceVersion, resourceVersionMatch: "NotOlderThan" })
    same([newest.items.length, typeof newest.continue], [2, "string"])
    const cached = yield* b.list(widgets, { limit: 2, resourceVersion: "0" })
    assert.ok(cached.items.length >= 8)
  },

  "without a limit a token gives the rest (F44)": function* (b) {
    yield* seven(b)
    const { continue: token } = yield* b.list(widgets, { limit: 3 })
    same((yield* b.list(widgets, { continue: token! })).items.length, 5)
  },

  "a token with a version, or no token at all, is refused (F44)": function* (b) {
    yield* seven(b)
    const { continue: token, resourceVersion } = yield* b.list(widgets, { limit: 3 })
    yield* refusedAs(b.list(widgets, { limit: 3, continue: token!, resourceVersion }), {
      _tag: "BadRequest",
      code: 400,
      message: "specifying resource version is not allowed when using continue"
    })
    yield* refusedAs(b.list(widgets, { limit: 3, continue: "garbage" }), {
      _tag: "BadRequest",
      code: 400,
      message: /^invalid continue token: /
    })
  },

  "the pages of the port are all of them, once (F43)": function* (b) {
    yield* seven(b)
    const all = yield* ApiClient.pages(widgets, { namespace: b.ns, limit: 3 }).pipe(
      Stream.runCollect,
      Effect.provideService(ApiClient.ApiClient, b.api)
    )
    same(
      all.map((page) => page.items.length),
      [3, 3, 2]
    )
    same(new Set(all.flatMap((page) => names(page.items))).size, 8)
  }
})
