import { ApiServer, type Call, unreachable } from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Wake from "@fixpoint/core/Wake"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Role, Scope } from "../src/access/kinds.ts"
import { cleanup } from "../src/access/role.ts"
import { Registry, RegistryError } from "../src/access/Registry.ts"
import { at, forms, inTime, memory, quiet, requests, roleManifest, scopeManifest, start, state } from "./world.ts"

/** Before: the call does not reach its system. After: it was done, and the operator never learns of it. */
type Moment = "before" | "after"

/** When the operator dies: at which of its calls, to the server or to the registry. None: it lives, and its calls are counted. */
class Death {
  calls = 0
  isDead = false
  /** Off while nobody is to die. */
  isWatching = false
  private readonly point: number | undefined
  private readonly moment: Moment
  private readonly open = new Map<number, number>()

  constructor(point?: number, moment: Moment = "before") {
    this.point = point
    this.moment = moment
  }

  /** True if the call is lost before it is done. */
  begins(call: number): boolean {
    if (!this.isWatching) return false
    if (this.isDead) return true
    this.open.set(call, ++this.calls)
    this.isDead = this.calls === this.point && this.moment === "before"
    return this.isDead
  }

  /** True if its answer is lost. */
  ends(call: number): boolean {
    if (!this.isWatching) return false
    this.isDead ||= this.open.get(call) === this.point && this.moment === "after"
    return this.isDead
  }
}

/** A dead process reaches nothing, and nothing reaches it: its calls fail from then on. */
const mortal = (death: Death, layer: ReturnType<typeof memory>): ReturnType<typeof memory> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const context = yield* Effect.context<ApiClient | ApiServer | Registry>()
      const server = yield* ApiServer
      // What only the user does to Roles.
      const isUsers = ({ operation: { resource, verb } }: Call) =>
        resource === "roles.access.example.com" && (verb === "delete" || verb === "replace")
      yield* server.hook({
        before: (call) => (!isUsers(call) && death.begins(call.number) ? Effect.fail(unreachable(call)) : Effect.void),
        after: (call) => (!isUsers(call) && death.ends(call.number) ? Effect.fail(unreachable(call)) : Effect.void)
      })
      const inner = yield* Registry
      let calls = 0
      const guard = <A>(done: Effect.Effect<A, RegistryError>): Effect.Effect<A, RegistryError> =>
        Effect.suspend(() => {
          const lost = new RegistryError({ message: "nobody is there to hear the answer" })
          const call = --calls
          if (death.begins(call)) return lost
          return Effect.flatMap(done, (answer) => (death.ends(call) ? lost : Effect.succeed(answer)))
        })
      const registry = Registry.of({
        register: (uid, name) => guard(inner.register(uid, name)),
        release: (uid) => guard(inner.release(uid)),
        entries: inner.entries
      })
      return Context.add(context, Registry, registry)
    })
  ).pipe(Layer.provide(layer))

interface Scenario {
  /** What is so when the operator that may die starts. */
  readonly given: Effect.Effect<unknown, ApiError, ApiClient>
  /** Whether it is at rest before the user acts. */
  readonly settled: boolean
  readonly user: Effect.Effect<unknown, ApiError, ApiClient | ApiServer>
}

const objects = Effect.gen(function* () {
  const api = yield* ApiClient
  yield* api.create(Scope, scopeManifest("docs"))
  yield* api.create(Scope, scopeManifest("wiki", ["alan"]))
  yield* api.create(Role, roleManifest("editor"))
  yield* api.create(Role, roleManifest("stray", { scope: "nowhere" }))
})

/** Looks at the Role behind the API, so that the user's own requests are no calls of the operator's. */
const moved = Effect.gen(function* () {
  const api = yield* ApiClient
  const server = yield* ApiServer
  for (const role of yield* server.objects(Role))
    if (role.metadata.name === "editor")
      yield* api.replace(Role, at("editor"), { ...role, spec: { ...(role.spec as object), scope: "wiki" } })
})

const scenarios: Readonly<Record<string, Scenario>> = {
  "the convergence": { given: objects, settled: false, user: Effect.void },
  "a move to another Scope": { given: objects, settled: true, user: moved },
  "a deletion": {
    given: objects,
    settled: true,
    user: ApiClient.use((api) => api.delete(Role, at("editor")))
  }
}

/** What is registered outside of the cluster belongs to a Role that is there and cannot go without a clean-up (K11). */
const nothingIsOrphaned = Effect.gen(function* () {
  const server = yield* ApiServer
  const held = (yield* server.objects(Role))
    .filter(({ metadata }) => metadata.finalizers?.includes(cleanup))
    .map(({ metadata }) => metadata.uid)
  const registry = yield* Registry
  assert.includeMembers(held, [...(yield* registry.entries).keys()])
})

/** The scenario, with a new operator after the death if there is one; answers the state in the end. */
const play = ({ given, settled, user }: Scenario, death: Death) =>
  Effect.gen(function* () {
    yield* given
    death.isWatching = !settled
    const first = yield* start(forms["the pipeline"], "1 millis")
    yield* quiet
    death.isWatching = true
    yield* user
    yield* quiet
    yield* nothingIsOrphaned
    yield* inTime(first.stop)
    death.isWatching = false
    const second = yield* start()
    yield* quiet
    yield* TestClock.adjust("1 minute")
    yield* quiet
    const came = yield* state
    const server = yield* ApiServer
    yield* server.clearLog
    yield* Effect.provideContext(Effect.all([Wake.resync(Role), Wake.resync(Scope)]), second.wakes)
    yield* quiet
    assert.deepStrictEqual(yield* requests, [], "it is at rest")
    return came
  }).pipe(Effect.scoped, Effect.provide(mortal(death, memory())))

describe.each(Object.entries(scenarios))("the operator dies during %s", (_, scenario) => {
  it.effect(
    "at whichever of its calls, done or not: the next one comes to the same state, nothing is orphaned meanwhile or made twice outside (B63, C7)",
    () =>
      Effect.gen(function* () {
        const alive = new Death()
        const expected = yield* play(scenario, alive)
        assert.isAtLeast(alive.calls, 4)
        for (let point = 1; point <= alive.calls; point++)
          for (const moment of ["before", "after"] as const) {
            const death = new Death(point, moment)
            const came = yield* play(scenario, death)
            assert.isTrue(death.isDead, `there is no call ${point}`)
            assert.deepStrictEqual(came, expected, `died ${moment} call ${point} of ${alive.calls}`)
          }
      }),
    300_000
  )
})
