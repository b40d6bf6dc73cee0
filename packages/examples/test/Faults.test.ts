import { ApiServer, refused, unreachable } from "@fixpoint/apiserver/ApiServer"
import { assert, it } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Controller from "@fixpoint/core/Controller"
import * as Wake from "@fixpoint/core/Wake"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { ConfigMap, Role, Scope } from "../src/access/kinds.ts"
import { roles } from "../src/access/operator.ts"
import { scope } from "../src/access/scope.ts"
import { at, inTime, memory, quiet, requests, roleManifest, scopeManifest, start, state } from "./world.ts"

/** The same worlds in each run of the suite; `SEED=...` in the environment draws others. */
const seed = process.env["SEED"] ?? 1

/** What a user or the cluster does, in any order; those that make no sense at the moment are refused by the server. */
const Step = Schema.Literals([
  "make Scope docs",
  "remove Scope docs",
  "make Role",
  "remove Role",
  "move Role to wiki",
  "move Role to docs",
  "grow Scope docs",
  "edit ConfigMap",
  "remove ConfigMap",
  "cut watches",
  "break watches",
  "forget the past",
  "restart",
  "a minute"
])

/** How requests of the operator and the user fare while it lasts: one letter a request, over and over. */
const Fare = Schema.Literals(["answered", "answered", "refused", "lost before", "lost after", "conflict"])

const script = Arbitrary.array(Arbitrary.schema(Step), { minLength: 4, maxLength: 14 })
const fares = Arbitrary.array(Arbitrary.schema(Fare), { minLength: 1, maxLength: 9 })

const rule = { resource: "articles", verbs: ["read"] }

const acted = (step: typeof Step.Type): Effect.Effect<unknown, ApiError, ApiClient | ApiServer> =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const server = yield* ApiServer
    const merge = (spec: object) => ({ type: "merge", body: { spec } }) as const
    switch (step) {
      case "make Scope docs":
        return yield* api.create(Scope, scopeManifest("docs"))
      case "remove Scope docs":
        return yield* api.delete(Scope, at("docs"))
      case "make Role":
        return yield* api.create(Role, roleManifest("editor", { rules: [rule] }))
      case "remove Role":
        return yield* api.delete(Role, at("editor"))
      case "move Role to wiki":
        return yield* api.patch(Role, at("editor"), merge({ scope: "wiki" }))
      case "move Role to docs":
        return yield* api.patch(Role, at("editor"), merge({ scope: "docs" }))
      case "grow Scope docs":
        return yield* api.patch(Scope, at("docs"), merge({ members: ["ada", "alan", "grace"] }))
      case "edit ConfigMap":
        return yield* api.patch(
          ConfigMap,
          at("editor-rules"),
          { type: "merge", body: { data: { ada: "all" }, metadata: { labels: null } } as any },
          { fieldManager: "vim" }
        )
      case "remove ConfigMap":
        return yield* api.delete(ConfigMap, at("editor-rules"))
      case "cut watches":
        return yield* server.cutWatches()
      case "break watches":
        return yield* server.cutWatches({ broken: true })
      case "forget the past":
        return yield* Effect.andThen(server.compact(), server.cutWatches())
      case "a minute":
        return yield* TestClock.adjust("1 minute")
      case "restart":
        return undefined
    }
  })

/** What must be so in the end, whatever happened: told from what the user wants now. */
const fixedPoint = Effect.gen(function* () {
  const server = yield* ApiServer
  const scopes = yield* server.objects(Scope)
  const roles = yield* server.objects(Role)
  const configMaps = yield* server.objects(ConfigMap)
  const names = roles.map(({ metadata }) => metadata.name)
  assert.deepStrictEqual(
    (yield* state).registered.filter((name) => !names.includes(name)),
    [],
    "nothing is left registered"
  )
  for (const role of roles) {
    const scope = scopes.find(({ metadata }) => metadata.name === (role.spec as any).scope)
    const ready = (role.status as any)?.conditions?.find((one: any) => one.type === "Ready")
    assert.strictEqual(ready?.reason, scope === undefined ? "ScopeNotFound" : "Synced", JSON.stringify(role.status))
    if (scope === undefined) continue
    const config = configMaps.find(({ metadata }) => metadata.name === "editor-rules")
    for (const member of (scope.spec as any).members)
      assert.strictEqual((config?.data as any)?.[member], "articles: read")
    assert.strictEqual(config?.metadata.labels?.["access.example.com/scope"], scope.metadata.name)
  }
  for (const scope of scopes)
    assert.strictEqual(
      (scope.status as any)?.roles,
      roles.filter(({ spec }) => (spec as any).scope === scope.metadata.name).length,
      `Scope ${scope.metadata.name} counts`
    )
})

/** Without the Scope's timer, which would hide a wake that was lost. */
const untimed = [roles, Controller.make({ for: Scope, polls: [Role], reconciler: scope })] as const

it.effect.prop(
  "whatever the user, the watches and the answers do, the operator comes to its fixed point once they let it, and is still there",
  { script, fares },
  ({ fares, script }) =>
    Effect.gen(function* () {
      const api = yield* ApiClient
      const server = yield* ApiServer
      yield* api.create(Scope, scopeManifest("wiki", ["alan"]))
      let isFaulty = true
      const fareOf = (call: number) => (isFaulty ? fares[call % fares.length]! : "answered")
      yield* server.hook({
        before: (call) => {
          const fare = fareOf(call.number)
          if (fare === "refused") return Effect.fail(refused(call, { code: 503 }))
          if (fare === "conflict" && call.mutating)
            return Effect.fail(
              refused(call, { code: 409, body: { kind: "Status", reason: "Conflict", message: "it has moved" } })
            )
          return fare === "lost before" ? Effect.fail(unreachable(call)) : Effect.void
        },
        after: (call) => (fareOf(call.number) === "lost after" ? Effect.fail(unreachable(call)) : Effect.void)
      })
      let operator = yield* start(untimed)
      for (const step of script) {
        if (step === "restart") {
          yield* inTime(operator.stop)
          operator = yield* start(untimed)
        }
        yield* Effect.ignore(acted(step))
        yield* quiet
      }
      isFaulty = false
      yield* inTime(TestClock.adjust("15 minutes"))
      yield* quiet
      yield* fixedPoint
      yield* server.clearLog
      yield* Effect.provideContext(Effect.all([Wake.resync(Role), Wake.resync(Scope)]), operator.wakes)
      yield* quiet
      assert.deepStrictEqual(yield* requests, [], "it is at rest")
    }).pipe(Effect.scoped, Effect.provide(memory())),
  { arbitrary: { runs: 1_000, seed }, timeout: 600_000 }
)
