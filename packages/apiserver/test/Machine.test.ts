import type { KubeObject } from "@fixpoint/core/KubeObject"
import { assert, describe, it } from "@effect/vitest"
import { equals } from "../src/internal/json.ts"
import * as Machine from "../src/internal/machine.ts"
import type { State } from "../src/internal/state.ts"
import type { Watch, WireEvent } from "../src/internal/watching.ts"
import {
  ask,
  begin,
  deepFreeze,
  itemsOf,
  type KindName,
  kindNames,
  type List,
  listOf,
  Ops,
  run,
  type Stage
} from "./traffic.ts"

const runs = { arbitrary: { runs: 1_000 } }

// Frozen once: the states of all runs share it.
const start = deepFreeze(begin())

const endOf = (stages: ReadonlyArray<Stage>): State => stages.at(-1)!.stepped.state

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`

const opened = (state: State, kind: KindName, query: Record<string, string>): Watch => {
  const watch = Machine.watch(state, ask(kind, { method: "GET", query: { watch: "1", ...query } }))
  if ("code" in watch) throw new Error(JSON.stringify(watch.body))
  return watch
}

/** What a cache holds that began with these objects and heard these events. */
const replay = (objects: ReadonlyArray<KubeObject>, events: ReadonlyArray<WireEvent>): ReadonlyArray<KubeObject> => {
  const cache = new Map(objects.map((object) => [keyOf(object), object]))
  for (const event of events) {
    if (event.type === "ERROR" || event.type === "BOOKMARK") continue
    const key = keyOf(event.object)
    assert.strictEqual(cache.has(key), event.type !== "ADDED", `${event.type} ${key}`)
    if (event.type === "DELETED") cache.delete(key)
    else cache.set(key, event.object)
  }
  return [...cache.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

describe("the machine, whatever is asked", () => {
  it.prop(
    "every stored change has a version of its own, one above the last, and no earlier state is touched (F2)",
    [Ops],
    ([ops]) => {
      for (const { before, stepped } of run(ops, start)) {
        const versions = stepped.changes.map(({ rv }) => rv)
        assert.deepStrictEqual(
          versions,
          Array.from(versions, (_, i) => before.rv + 1 + i)
        )
        assert.strictEqual(stepped.state.rv, before.rv + versions.length)
        for (const { object, rv } of stepped.changes) assert.strictEqual(object.metadata.resourceVersion, String(rv))
      }
    },
    runs
  )

  it.prop(
    "what is refused, tried, read or changes nothing leaves the very state that was (F5, F27)",
    [Ops],
    ([ops]) => {
      for (const { before, request, stepped } of run(ops, start)) {
        const tried = request?.query.dryRun !== undefined || stepped.response.code >= 400
        if (tried) assert.strictEqual(stepped.changes.length, 0)
        if (stepped.changes.length === 0) assert.strictEqual(stepped.state, before)
        assert.strictEqual(Machine.step(before, ask("Widget", { method: "GET" })).state, before)
      }
    },
    runs
  )

  it.prop(
    "a cache that follows from any version holds what a list holds, with and without a selector (F54, F60, F63)",
    [Ops],
    ([ops]) => {
      const stages = run(ops, start)
      const end = endOf(stages)
      for (const kind of kindNames) {
        for (const query of [{}, { labelSelector: "app=x" }]) {
          const present = itemsOf(end, kind, query)
          assert.deepStrictEqual(replay([], opened(end, kind, query).initial), present)
          for (const { before } of stages) {
            const watch = opened(before, kind, { ...query, resourceVersion: String(before.rv) })
            const events = stages
              .flatMap(({ stepped }) => stepped.changes)
              .filter((change) => change.resource === watch.definition.resource && change.rv > watch.from)
              .flatMap((change) => watch.event(change) ?? [])
            assert.deepStrictEqual(replay(itemsOf(before, kind, query), [...watch.initial, ...events]), present)
            // The same, resumed later from that version.
            const resumed = opened(end, kind, { ...query, resourceVersion: String(before.rv) })
            assert.deepStrictEqual(resumed.initial, events)
          }
        }
      }
    },
    runs
  )

  it.prop(
    "generation counts changes of content and the beginning of deletion, and nothing else (F7, F8, F9)",
    [Ops],
    ([ops]) => {
      for (const { stepped } of run(ops, start)) {
        for (const { object, previous, resource, type } of stepped.changes) {
          if (resource === "configmaps" || resource === "events") {
            assert.strictEqual(object.metadata.generation, undefined)
          } else if (previous === undefined) assert.strictEqual(object.metadata.generation, 1)
          else if (type === "DELETED") assert.strictEqual(object.metadata.generation, previous.metadata.generation)
          else {
            const begun =
              object.metadata.deletionTimestamp !== undefined && previous.metadata.deletionTimestamp === undefined
            const content =
              !equals(object.spec, previous.spec) ||
              (resource.startsWith("gadgets") && !equals(object.status, previous.status))
            assert.strictEqual(
              object.metadata.generation,
              previous.metadata.generation! + (begun ? 1 : 0) + (content ? 1 : 0)
            )
          }
        }
      }
    },
    runs
  )

  it.prop(
    "the pages of a list are the whole list, whatever happens between them (F43)",
    [Ops, Ops],
    ([ops, more]) => {
      const state = endOf(run(ops, start))
      const later = run(more, state).map(({ stepped }) => stepped.state)
      for (const kind of kindNames) {
        const whole = listOf(state, kind).body as List
        const pages: Array<KubeObject> = []
        let token: string | undefined
        let then = state
        do {
          const page: List = listOf(then, kind, { limit: "1", ...(token !== undefined && { continue: token }) })
            .body as List
          assert.strictEqual(page.metadata.resourceVersion, whole.metadata.resourceVersion)
          pages.push(...page.items)
          token = page.metadata.continue === "" ? undefined : page.metadata.continue
          const remaining = token === undefined ? 0 : whole.items.length - pages.length
          assert.strictEqual(page.metadata.remainingItemCount ?? 0, remaining)
          then = later[(pages.length * 3) % later.length]!
        } while (token !== undefined)
        assert.deepStrictEqual(pages, whole.items)
      }
    },
    runs
  )

  it.prop(
    "an exact list of any version is the list that was taken then (F39)",
    [Ops],
    ([ops]) => {
      const stages = run(ops, start)
      const end = endOf(stages)
      for (const { before } of stages) {
        for (const kind of kindNames) {
          const query = { resourceVersion: String(before.rv), resourceVersionMatch: "Exact" }
          assert.deepStrictEqual(listOf(end, kind, query).body, listOf(before, kind).body)
        }
      }
    },
    runs
  )

  it.prop(
    "nothing lives whose owners have all gone, and nothing under deletion is left that nothing holds (F62, F120, F124)",
    [Ops],
    ([ops]) => {
      for (const { stepped } of run(ops, start)) {
        const all = kindNames.flatMap((kind) => itemsOf(stepped.state, kind))
        const uids = new Set(all.map(({ metadata }) => metadata.uid))
        assert.strictEqual(uids.size, all.length)
        for (const { kind, metadata } of all) {
          if (metadata.deletionTimestamp !== undefined) assert.isAbove(metadata.finalizers?.length ?? 0, 0)
          const owners = metadata.ownerReferences ?? []
          // A cluster-scoped object can have no owner in a namespace: the collector leaves it alone (F125).
          if (kind === "Zone" || owners.length === 0 || metadata.deletionTimestamp !== undefined) continue
          assert.isTrue(
            owners.some(({ uid }) => uids.has(uid)),
            `${kind} ${metadata.name} is an orphan`
          )
        }
      }
    },
    runs
  )

  it.prop(
    "the same requests give the same answers: nothing but the request decides",
    [Ops],
    ([ops]) => {
      const [one, other] = [run(ops, start), run(ops, start)]
      assert.deepStrictEqual(
        one.map(({ stepped }) => [stepped.response, stepped.changes]),
        other.map(({ stepped }) => [stepped.response, stepped.changes])
      )
    },
    runs
  )
})
