/** The operator as a process, killed at seeded points of its work on a real control plane. `npm run kills` plays more of them. */
import { assert, describe, it } from "@effect/vitest"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import * as ControlPlane from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { contradictions, type Observed, orphans, repeated, unmet } from "./checks.ts"
import { killPoint } from "./killPoints.ts"
import { leavesNothing, playKill } from "./kills.ts"
import { direct, install } from "./livingWorld.ts"
import { type Act, nothing, script, wished } from "./wishes.ts"

/** In a suite, one of each kind; the command plays 30. */
const seeds = Array.from({ length: 8 }, (_, i) => i + 1)
const kindsOf = (seeds: ReadonlyArray<number>) => new Set(seeds.map((seed) => killPoint(seed).kind))

describe("what is looked for", () => {
  const rules = [{ resource: "articles", verbs: ["read"] }]
  const acts: ReadonlyArray<Act> = [
    { do: "set scope", name: "docs", members: ["ada"] },
    { do: "set role", name: "editor", wish: { scope: "docs", rules } }
  ]
  const wish = acts.reduce(wished, nothing)
  const condition = (status: "True" | "False", reason: string) => ({
    type: "Ready",
    status,
    reason,
    observedGeneration: 1,
    lastTransitionTime: "2026-01-01T00:00:05Z"
  })
  const object = (kind: string, name: string, more: Record<string, unknown>): KubeObject => ({
    apiVersion: "v1",
    kind,
    ...more,
    metadata: { name, uid: `uid-${name}`, resourceVersion: "1", generation: 1, ...(more["metadata"] as object) }
  })
  const role = object("Role", "editor", {
    metadata: { finalizers: ["access.example.com/cleanup"] },
    spec: { scope: "docs", rules },
    status: { scope: "docs", rules: 1, members: 1, observedGeneration: 1, conditions: [condition("True", "Synced")] }
  })
  const scope = object("Scope", "docs", {
    status: { roles: 1, observedGeneration: 1, conditions: [condition("True", "Synced")] }
  })
  const config = object("ConfigMap", "editor-rules", {
    metadata: {
      labels: { "access.example.com/scope": "docs" },
      ownerReferences: [{ apiVersion: "v1", kind: "Role", name: "editor", uid: "uid-editor", controller: true }]
    },
    data: { ada: "articles: read" }
  })
  const event = (type: string, message: string, more: object = {}): KubeObject =>
    object("Event", `event-${message}`, {
      type,
      reason: type === "Normal" ? "Reconciled" : "ScopeNotFound",
      message,
      count: 1,
      lastTimestamp: "2026-01-01T00:00:05Z",
      involvedObject: { kind: "Role", name: "editor", uid: "uid-editor" },
      ...more
    })
  const registered = { call: "register", uid: "uid-editor", name: "editor", did: true } as const
  const good: Observed = {
    roles: [role],
    scopes: [scope],
    configMaps: [config],
    events: [event("Normal", "created ConfigMap editor-rules, registered editor")],
    calls: [registered, { ...registered, did: false }]
  }
  const faultsOf = (observed: Observed): ReadonlyArray<string> => [
    ...unmet(wish, observed),
    ...contradictions(observed, new Set()),
    ...repeated(observed, acts),
    ...orphans(observed)
  ]

  it("a world as it should be has no fault", () => {
    assert.deepStrictEqual(faultsOf(good), [])
  })

  const bad: ReadonlyArray<readonly [string, Partial<Observed>, RegExp]> = [
    ["a Role that was lost", { roles: [] }, /Role editor is not there/],
    [
      "a Role that should be gone",
      { roles: [role, { ...role, metadata: { ...role.metadata, name: "old" } }] },
      /still/
    ],
    ["a child that was lost", { configMaps: [] }, /Role editor is Ready, and its ConfigMap is not/],
    ["a child that is another's", { configMaps: [{ ...config, data: { ada: "all" } }] }, /the ConfigMap is/],
    [
      "a child without its owner",
      { roles: [{ ...role, metadata: { ...role.metadata, uid: "other" } }] },
      /no Role any more/
    ],
    [
      "a count that is wrong",
      { scopes: [{ ...scope, status: { ...(scope.status as object), roles: 2 } }] },
      /says True Synced 2/
    ],
    ["a grant that was lost", { calls: [] }, /Ready, and is not registered/],
    ["a grant without a Role", { calls: [registered, { ...registered, uid: "uid-old" }] }, /no Role is held/],
    [
      "a grant made anew after its release",
      { calls: [registered, { ...registered, call: "release" }, registered] },
      /registered anew/
    ],
    [
      "a child of a Role that is not held",
      { roles: [{ ...role, metadata: { ...role.metadata, finalizers: [] } }] },
      /before its Role was held/
    ],
    ["an event told twice", { events: [...good.events, ...good.events] }, /told 2 times/],
    [
      "an event that its condition gives the lie",
      { events: [event("Warning", "no Scope docs", { lastTimestamp: "2026-01-01T00:00:07Z" })] },
      /is True Synced since/
    ]
  ]
  it.each(bad)("%s is found in a forged world", (_, part, text) => {
    assert.match(faultsOf({ ...good, ...part }).join("\n"), text)
  })

  it("the same seed gives the same script and point, and the seeds played here are of every kind", () => {
    assert.deepStrictEqual(script(7), script(7))
    assert.notDeepEqual(script(7), script(8))
    assert.strictEqual(killPoint(7).text, killPoint(7).text)
    assert.deepStrictEqual(kindsOf(seeds), kindsOf(Array.from({ length: 100 }, (_, i) => i + 1)))
  })
})

describe.runIf(ControlPlane.available())("an operator that is killed", () => {
  it.live(
    "at whichever point, and started again: nothing is lost, doubled, orphaned or contradicted, and then it is still (B63, B44, K11, C7)",
    () =>
      Effect.gen(function* () {
        yield* install
        const killed = yield* Effect.forEach(seeds, playKill, { concurrency: 4 })
        yield* Effect.forEach(killed, leavesNothing)
      }).pipe(
        Effect.scoped,
        Effect.provide(direct.pipe(Layer.provideMerge(ControlPlane.layer({ controllers: true })))),
        Effect.provide(Logger.layer([]))
      ),
    300_000
  )
})
