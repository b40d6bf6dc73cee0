/** The operator of a persisted resource dies at each of its calls in turn, to the API or to the store, and another one takes over. */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient } from "../src/ApiClient.ts"
import { ApiError } from "../src/ApiError.ts"
import * as Controller from "../src/Controller.ts"
import * as EventPoster from "../src/EventPoster.ts"
import * as Kind from "../src/Kind.ts"
import type { ObjectRef } from "../src/KubeObject.ts"
import * as Manager from "../src/Manager.ts"
import * as Wake from "../src/Wake.ts"
import { finalizer, Grant, layerRecords, makeRecords, persistedGrants, type Records } from "./records.ts"
import { events, quiet } from "./world.ts"

/** Before: the call does not reach its system. After: it was done, and the operator never learns of it. */
type Moment = "before" | "after"

/** At which of its calls the operator dies. None: it lives, and its calls are counted. */
class Death {
  readonly calls: Array<string> = []
  isDead = false
  private readonly point: number | undefined
  private readonly moment: Moment

  constructor(point?: number, moment: Moment = "before") {
    this.point = point
    this.moment = moment
  }

  /** The call, as far as the operator lives to make it and to hear of it. */
  guard<A, E, R>(text: string, call: Effect.Effect<A, E, R>, lost: E): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      if (this.isDead) return Effect.fail(lost)
      const isPoint = this.calls.push(text) === this.point
      if (isPoint && this.moment === "before") {
        this.isDead = true
        return Effect.fail(lost)
      }
      return Effect.flatMap(Effect.exit(call), (answer) => {
        this.isDead ||= isPoint
        return this.isDead ? Effect.fail(lost) : answer
      })
    })
  }
}

const silence = new Error("nobody is there to hear the answer")

const mortalApi = (api: ApiClient["Service"], death: Death): ApiClient["Service"] => {
  const guard = <A>(verb: ApiError["verb"], plural: string, call: Effect.Effect<A, ApiError>) =>
    death.guard(
      `${verb} ${plural}`,
      call,
      new ApiError({ verb, resource: plural, reason: { _tag: "Unreachable", message: silence.message } })
    )
  return ApiClient.of({
    ...api,
    get: (resource, ...rest) => guard("get", resource.plural, api.get(resource, ...rest)),
    list: (resource, ...rest) => guard("list", resource.plural, api.list(resource, ...rest)),
    create: (resource, ...rest) => guard("create", resource.plural, api.create(resource, ...rest)),
    patch: (resource, ref, patch, options) =>
      guard(
        "patch",
        `${patch.type} ${resource.plural}${options?.subresource === undefined ? "" : "/status"}`,
        api.patch(resource, ref, patch, options)
      )
  })
}

const mortalRecords = (records: Records["Service"], death: Death): Records["Service"] => ({
  ...records,
  knows: (scope) => death.guard("knows", records.knows(scope), silence),
  put: (row) => death.guard("put", records.put(row), silence),
  remove: (uid) => death.guard("remove", records.remove(uid), silence),
  evict: (row) => death.guard("evict", records.evict(row), silence)
})

const editor: ObjectRef = { namespace: "team", name: "editor" }

/** One life of the operator over the API and the store. */
const born = (records: Records["Service"], death: Death) =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const operator = Layer.fresh(
      Manager.layer([Controller.make({ for: Grant, reconciler: persistedGrants() })], { grace: "1 millis" }).pipe(
        Layer.provideMerge(EventPoster.layer),
        Layer.provide(Layer.succeed(EventPoster.Options, { grace: "1 millis" })),
        Layer.provide(Layer.succeed(ApiClient, mortalApi(yield* ApiClient, death))),
        Layer.provide(layerRecords(mortalRecords(records, death)))
      )
    )
    const context: Context.Context<any> = yield* Layer.buildWithScope(operator, scope)
    const ended = Effect.gen(function* () {
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* quiet
      yield* TestClock.adjust("10 millis")
      yield* quiet
      assert.isDefined(closing.pollUnsafe(), "it ends in time")
    })
    return { context, ended }
  })

interface Step {
  readonly name: string
  /** What somebody does. */
  readonly does: (world: {
    readonly api: ApiClient["Service"]
    readonly records: Records["Service"]
    readonly wake: Effect.Effect<void>
  }) => Effect.Effect<unknown, unknown>
  /** What comes of it: Ready, and the rules of the record. */
  readonly comesTo: readonly [ready: string, rules: string | undefined]
}

const edit = (api: ApiClient["Service"], spec: object) =>
  api.patch(Grant, editor, { type: "merge", body: { spec } }, { fieldManager: "user" })

const life: ReadonlyArray<Step> = [
  {
    name: "it is made where a stale record has its name",
    does: ({ api, records }) => {
      records.rows.set("stale", { uid: "stale", name: "team/editor", rules: "old" })
      const metadata = { namespace: "team", name: "editor" }
      return api.create(Grant, { metadata, spec: { scope: "docs", rules: ["read"] } }, { fieldManager: "user" })
    },
    comesTo: ["True Synced", "read"]
  },
  { name: "it is edited", does: ({ api }) => edit(api, { rules: ["write"] }), comesTo: ["True Synced", "write"] },
  {
    name: "it names a scope that is missing",
    does: ({ api }) => edit(api, { scope: "wiki", rules: ["admin"] }),
    comesTo: ["False ScopeNotFound", "write"]
  },
  {
    name: "the scope is there",
    does: ({ records, wake }) => {
      records.scopes.add("wiki")
      return wake
    },
    comesTo: ["True Synced", "admin"]
  },
  { name: "it is edited again", does: ({ api }) => edit(api, { rules: ["none"] }), comesTo: ["True Synced", "none"] },
  { name: "it is deleted", does: ({ api }) => api.delete(Grant, editor), comesTo: ["gone", undefined] }
]

/** What a life without a death tells. */
const allTold: Readonly<Record<string, number>> = { Created: 1, Updated: 2, ScopeNotFound: 1, Deleted: 1 }

const stateOf = Effect.fnUntraced(function* (records: Records["Service"]) {
  const [object] = yield* ApiServer.ApiServer.use((server) => server.objects(Grant))
  const condition = (object?.status as any)?.conditions?.find(({ type }: any) => type === "Ready")
  const ready =
    object === undefined ? "gone" : condition === undefined ? "none" : `${condition.status} ${condition.reason}`
  return { object, ready, rows: [...records.rows.values()] }
})

/** Whatever has happened: a record is of an object that cannot go without it. */
const nothingIsOrphaned = Effect.fnUntraced(function* (records: Records["Service"], when: string) {
  const { object, rows } = yield* stateOf(records)
  for (const { uid } of rows)
    if (uid !== "stale") {
      assert.strictEqual(object?.metadata.uid, uid, `${when}: an orphan`)
      assert.include(object?.metadata.finalizers ?? [], finalizer, `${when}: a record that a deletion would leave`)
    }
})

/** The whole life, with a new operator as soon as the first is dead; gives how often each event was told. */
const play = (death: Death) =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const records = makeRecords()
    let operator = yield* born(records, death)
    let isSecond = false
    yield* quiet
    for (const { comesTo, does, name } of life) {
      const wake = Effect.suspend(() => Effect.provideContext(Wake.enqueue(Grant, editor), operator.context))
      yield* does({ api, records, wake })
      yield* quiet
      // What is tried again is tried again, by the first operator or in vain.
      for (let i = 0; i < 8; i++) {
        yield* TestClock.adjust("2 seconds")
        yield* quiet
      }
      yield* nothingIsOrphaned(records, name)
      if (death.isDead && !isSecond) {
        isSecond = true
        yield* operator.ended
        operator = yield* born(records, new Death())
        for (let i = 0; i < 8; i++) {
          yield* quiet
          yield* TestClock.adjust("2 seconds")
        }
        yield* quiet
      }
      const { object, ready, rows } = yield* stateOf(records)
      const [expected, rules] = comesTo
      assert.strictEqual(ready, expected, name)
      const row = { uid: object?.metadata.uid, name: "team/editor", rules }
      assert.deepStrictEqual(rows as ReadonlyArray<unknown>, rules === undefined ? [] : [row], name)
    }
    const server = yield* ApiServer.ApiServer
    const told: Record<string, number> = {}
    for (const event of yield* server.objects(events)) {
      const { count, reason } = event as unknown as { readonly count: number; readonly reason: string }
      told[reason] = (told[reason] ?? 0) + count
    }
    return told
  })

const world = () =>
  ApiServer.layer({
    kinds: [Kind.customResourceDefinition(Grant)],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }],
    seed: 1
  })

describe("the operator of a persisted resource dies", () => {
  it.effect(
    "before or after whichever of its calls: the next one comes to the same end, with one record an object, none orphaned meanwhile, none lost, and no change told twice (K11, K20, K30, K32, X4, X9, B63)",
    () =>
      Effect.gen(function* () {
        const alive = new Death()
        assert.deepStrictEqual(yield* Effect.scoped(Effect.provide(play(alive), world())), allTold)
        assert.includeMembers(alive.calls, [
          "put",
          "evict",
          "remove",
          "knows",
          "patch json grants",
          "patch apply grants/status"
        ])
        for (const [i, call] of alive.calls.entries())
          for (const moment of ["before", "after"] as const) {
            const death = new Death(i + 1, moment)
            const when = `died ${moment} call ${i + 1}, ${call}`
            const told = yield* play(death).pipe(
              Effect.scoped,
              Effect.provide(world()),
              Effect.mapError((error) => new Error(when, { cause: error })),
              Effect.catchDefect((defect) => Effect.die(new Error(`${when}: ${String(defect)}`, { cause: defect })))
            )
            assert.isTrue(death.isDead, `there is no call ${i + 1}`)
            for (const [reason, count] of Object.entries(told))
              assert.isAtMost(count, allTold[reason] ?? 0, `${when}: ${reason}`)
            // Nothing repairs that: an event is said after the write that it tells of, and at most once (X9).
            const isBetween =
              moment === "before" ? call.endsWith(" events") : call.startsWith("patch") && call.includes("grants")
            for (const [reason, count] of Object.entries(allTold))
              if (!isBetween) assert.strictEqual(told[reason], count, `${when}: ${reason}`)
          }
      }),
    300_000
  )
})
