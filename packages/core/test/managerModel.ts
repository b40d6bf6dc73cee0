/**
 * A whole operator in a small world that a random script shakes: users and strangers act, requests fail or lose their answers, watches lag and break, the
 * operator stops and dies. Then the world heals, and what must be so in the end is a function of the objects that users made.
 */
import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as EffectScope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient, formatResource } from "../src/ApiClient.ts"
import { ApiError, fromAnswer, type Operation, type Verb } from "../src/ApiError.ts"
import * as Cached from "../src/Cached.ts"
import * as Controller from "../src/Controller.ts"
import { Engine } from "../src/internal/engine.ts"
import type { KubeObject, ObjectRef } from "../src/KubeObject.ts"
import * as Manager from "../src/Manager.ts"
import * as Pass from "../src/Pass.ts"
import * as Reconciler from "../src/Reconciler.ts"
import * as Wake from "../src/Wake.ts"
import { api as memory, ConfigMap, events, refTo, Role, Scope } from "./world.ts"

interface Named {
  readonly namespace: string
  readonly name: string
}

const below = (n: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: n - 1 }))

const roleRefs: ReadonlyArray<Named> = [
  { namespace: "team", name: "a" },
  { namespace: "team", name: "b" },
  { namespace: "other", name: "a" }
]
const scopeRefs: ReadonlyArray<Named> = [
  { namespace: "team", name: "s" },
  { namespace: "other", name: "s" }
]
/** The second is in no namespace. */
const scopeNames = ["s", "nowhere"]
const foreign = "foreign.example.com/hold"
const own = "access.example.com/cleanup"
const waits = [0, 20, 300, 1_000, 6_000, 40_000, 400_000]
const lags = [0, 0, 30, 700]
const slownesses = [0, 0, 15, 2_500]

const Target = Schema.Literals(["role", "scope", "child"])
const step = <const Tag extends string, const Fields extends Schema.Struct.Fields>(_tag: Tag, fields: Fields) =>
  Schema.Struct({ _tag: Schema.Literal(_tag), ...fields })

/** What users, strangers and time do. */
const worldly = [
  step("CreateRole", { role: below(3), scope: below(2), rules: below(3) }),
  step("EditRole", { role: below(3), scope: below(2), rules: below(3) }),
  step("CreateScope", { scope: below(2), members: below(3) }),
  step("EditScope", { scope: below(2), members: below(3) }),
  step("Label", { target: Target, which: below(3), value: below(3) }),
  step("Delete", { target: Target, which: below(3) }),
  step("Recreate", { role: below(3), scope: below(2), rules: below(3) }),
  step("Hold", { target: Target, which: below(3), held: Schema.Boolean }),
  step("Rob", { role: below(3) }),
  step("EditChild", { role: below(3), value: below(2) }),
  /** Another manager applies a field of the child: one of its own, or one of ours, or takes all back. */
  step("Apply", { role: below(3), field: Schema.Literals(["other", "members", "nothing"]) }),
  step("Stranger", { role: below(3), present: Schema.Boolean }),
  step("Orphan", { role: below(3) }),
  step("Enqueue", { role: below(3) }),
  step("Resync", {}),
  step("Wait", { millis: below(waits.length) }),
  step("Wait", { millis: below(3) }),
  step("EditChild", { role: below(2), value: below(2) }),
  step("Delete", { target: Schema.Literal("child"), which: below(2) }),
  step("EditRole", { role: below(2), scope: below(2), rules: below(3) })
] as const

/** What goes wrong between the operator and the server. */
const faulty = [
  step("Fault", {
    kind: Schema.Literals(["500", "409", "429", "unreachable", "lost", "late", "slow", "interrupted"]),
    count: below(3)
  }),
  step("Cut", { broken: Schema.Boolean }),
  step("Compact", {}),
  step("Stop", {}),
  step("Start", {}),
  step("Crash", { calls: below(6), done: Schema.Boolean })
] as const

const Worldly = Schema.Union(worldly)
const AnyStep = Schema.Union([...worldly, ...faulty])
export type Step = typeof AnyStep.Type

/** What holds for a whole script. */
const Climate = Schema.Struct({
  /** How long a step of the reconciler waits in its middle, and how long the watch is behind. */
  slow: below(slownesses.length),
  lag: below(lags.length),
  /** How many turns other fibers get between two steps. */
  turns: Schema.Literals([0, 3, 10, 25, 60])
})

/** Scripts without and with faults. Each begins at rest: see `play`. */
export const scripts = (length: number) => ({
  calm: Arbitrary.all([
    Arbitrary.array(Arbitrary.schema(Worldly), { minLength: 4, maxLength: length }),
    Arbitrary.schema(Climate)
  ]),
  rough: Arbitrary.all([
    Arbitrary.array(Arbitrary.schema(AnyStep), { minLength: 4, maxLength: length }),
    Arbitrary.schema(Climate)
  ])
})

type FaultKind = Extract<Step, { readonly _tag: "Fault" }>["kind"]

/** One process of the operator: what it has left is ignored once it is dead. */
interface Life {
  dead: boolean
  stopped: boolean
  calls: number
  dieAt: number
  dieDone: boolean
}

interface Running {
  readonly life: Life
  readonly scope: EffectScope.Closeable
  readonly wakes: any
}

const pause = (times: number) => Effect.repeat(Effect.yieldNow, { times })

export class World {
  lag: number
  slow: number
  faults: Array<FaultKind> = []
  faultsMet = 0
  /** What is registered outside of the cluster, by uid. */
  readonly registered = new Map<string, string>()
  readonly inPass = new Set<string>()
  readonly violations: Array<string> = []
  readonly lines: Array<string> = []
  /** A line for each settled pass. */
  passes: Array<string> = []
  /** Requests of the operator but lists and watches. */
  requests: Array<string> = []
  writes = 0
  /** Changes that the API made for a user. */
  changes = 0
  starts = 0
  crashes = 0
  engines: Array<Engine> = []
  /** Uids of which somebody took our finalizer: they may go without a clean-up. */
  readonly robbed = new Set<string>()
  readonly strangers = new Map<string, KubeObject>()
  readonly api: ApiClient["Service"]
  readonly server: ApiServer.ApiServer["Service"]
  running: Running | undefined

  constructor(api: ApiClient["Service"], server: ApiServer.ApiServer["Service"], climate: typeof Climate.Type) {
    this.lag = lags[climate.lag]!
    this.slow = slownesses[climate.slow]!
    this.api = api
    this.server = server
  }

  /** The operator's way to the server. */
  client(life: Life): ApiClient["Service"] {
    const { api } = this
    const ask =
      (verb: Verb, isWrite: boolean) =>
      (resource: any, ref: ObjectRef | undefined, subresource: string | undefined, run: Effect.Effect<any, ApiError>) =>
        this.guard(
          life,
          { verb, resource: formatResource(resource, subresource), ...(ref !== undefined && { ref }) },
          isWrite,
          run
        )
    return {
      ...api,
      get: (resource, ref, options) => ask("get", false)(resource, ref, undefined, api.get(resource, ref, options)),
      list: (resource, options) => ask("list", false)(resource, undefined, undefined, api.list(resource, options)),
      create: (resource, object, options) =>
        ask("create", true)(resource, refTo(object), undefined, api.create(resource, object, options)),
      patch: (resource, ref, patch, options) =>
        ask(patch.type === "apply" ? "apply" : "patch", true)(
          resource,
          ref,
          options?.subresource,
          api.patch(resource, ref, patch, options)
        ),
      delete: (resource, ref, options) =>
        ask("delete", true)(resource, ref, undefined, api.delete(resource, ref, options)),
      watch: (resource, options) =>
        Stream.unwrap(
          Effect.as(
            this.guard(life, { verb: "watch", resource: formatResource(resource) }, false, Effect.void),
            api.watch(resource, options)
          )
        ).pipe(
          Stream.tap(() => Effect.suspend(() => (this.lag === 0 ? Effect.void : Effect.sleep(this.lag)))),
          Stream.tap(() => Effect.suspend(() => (life.dead ? Effect.never : Effect.void)))
        )
    }
  }

  private guard<A>(
    life: Life,
    operation: Operation,
    isWrite: boolean,
    run: Effect.Effect<A, ApiError>
  ): Effect.Effect<A, ApiError> {
    const unreachable = new ApiError({ ...operation, reason: { _tag: "Unreachable", message: "connection reset" } })
    const refused = (code: number, retryAfterSeconds?: number) =>
      fromAnswer(operation, { code, body: {}, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
    return Effect.suspend((): Effect.Effect<A, ApiError> => {
      if (life.dead) return Effect.fail(unreachable)
      const call = ++life.calls
      if (call === life.dieAt && !life.dieDone) {
        life.dead = true
        return Effect.fail(unreachable)
      }
      const done = Effect.flatMap(Effect.exit(run), (exit) => {
        if (call === life.dieAt && life.dieDone) life.dead = true
        return life.dead ? Effect.fail(unreachable) : exit
      })
      // What is told of outcomes is at most once (D8), and no part of the state.
      if (operation.resource === "events") return done
      if (operation.verb !== "list" && operation.verb !== "watch") {
        this.requests.push(`${operation.verb} ${operation.resource} ${operation.ref?.namespace}/${operation.ref?.name}`)
        if (isWrite && operation.resource !== "selfsubjectaccessreviews.authorization.k8s.io") this.writes++
      }
      const fault = this.faults.shift()
      if (fault !== undefined) this.faultsMet++
      switch (fault) {
        case undefined:
          return done
        case "500":
          return Effect.fail(refused(500))
        case "409":
          return Effect.fail(refused(409))
        case "429":
          return Effect.fail(refused(429, 3))
        case "unreachable":
          return Effect.fail(unreachable)
        case "lost":
          return Effect.andThen(done, Effect.fail(unreachable))
        case "late":
          return Effect.tap(done, () => Effect.sleep(400))
        case "interrupted":
          // The reflector tells such a client as broken, and goes on.
          return operation.verb === "list" || operation.verb === "watch" ? Effect.fail(unreachable) : Effect.interrupt
        case "slow":
          return Effect.andThen(Effect.sleep(400), done)
      }
    })
  }

  /** Something outside of the cluster, which a dead process does not reach. */
  private outside(life: Life, change: () => void) {
    return Effect.sync(() => {
      if (!life.dead) change()
    })
  }

  private controllers(life: Life) {
    const once = (controller: string, object: KubeObject) => {
      const key = `${controller} ${object.metadata.namespace}/${object.metadata.name}`
      return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.suspend(() => {
          if (life.stopped) this.violations.push(`a pass of ${key} began after the stop`)
          if (this.inPass.has(key)) this.violations.push(`${key} ran twice at once`)
          this.inPass.add(key)
          return Effect.ensuring(
            effect,
            Effect.sync(() => this.inPass.delete(key))
          )
        })
    }
    const linger = Effect.suspend(() => (this.slow === 0 ? Effect.void : Effect.sleep(this.slow)))
    const role = Reconciler.for(Role).pipe(
      Reconciler.status(({ object }) => ({ rules: object.spec.rules.length })),
      Reconciler.tap(({ object }) =>
        this.outside(life, () => void this.registered.set(object.metadata.uid, object.metadata.name))
      ),
      Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" }),
      Reconciler.tap(() => linger),
      Reconciler.child("config", ConfigMap, ({ object, scope }) => ({
        metadata: { name: `${object.metadata.name}-rules` },
        data: { rules: object.spec.rules.join(","), members: scope.spec.members.join(",") }
      })),
      Reconciler.tap(() => linger)
    )
    const scope = Reconciler.fromEffect(
      Scope,
      Effect.fnUntraced(function* (object) {
        const { name, namespace } = object.metadata
        const all = yield* Cached.list(Role, { namespace })
        yield* linger
        yield* Pass.status(Scope, { members: all.filter(({ spec }) => spec.scope === name).length })
      })
    )
    return [
      Controller.make({
        for: Role,
        owns: [ConfigMap],
        watches: [Scope],
        reconciler: role.pipe(
          Reconciler.finalizer(own, ({ raw, uid }) =>
            once(
              "clean",
              raw
            )(
              Effect.andThen(
                linger,
                this.outside(life, () => void this.registered.delete(uid))
              )
            )
          ),
          Reconciler.via((effect) => Effect.flatMap(Pass.current, ({ object }) => once("role", object)(effect)))
        )
      }),
      Controller.make({
        for: Scope,
        watches: [Role],
        reconciler: scope.pipe(
          Reconciler.via((effect) => Effect.flatMap(Pass.current, ({ object }) => once("scope", object)(effect)))
        )
      })
    ] as const
  }

  readonly start = Effect.fnUntraced(function* (this: World) {
    if (this.running !== undefined) return
    const life: Life = { dead: false, stopped: false, calls: 0, dieAt: -1, dieDone: false }
    this.starts++
    this.engines = []
    const scope = yield* EffectScope.make()
    const manager = Manager.layer(this.controllers(life), { grace: "10 seconds" }).pipe(
      Layer.provide(
        Layer.succeed(Manager.OnSettled, ({ controller, outcome, reason, ref, triggers }) => {
          if (life.dead) return
          if (life.stopped) this.violations.push(`a pass of ${controller} ${ref.name} ended after the stop`)
          this.passes.push(`${controller} ${ref.namespace}/${ref.name}: ${outcome} ${reason} <- ${triggers.join("; ")}`)
        })
      ),
      Layer.provide(Layer.succeed(ApiClient, this.client(life))),
      Layer.provide(
        Logger.layer([
          Logger.make(({ cause, logLevel, message }) => {
            if (!life.dead) this.lines.push(`${logLevel} ${[message].flat().map(String).join(" ")} ${String(cause)}`)
          })
        ])
      )
    ) as Layer.Layer<any, any, any>
    const listen = Engine.prototype.listen
    const { engines } = this
    Engine.prototype.listen = function (this: Engine) {
      engines.push(this)
      return listen.call(this)
    }
    const wakes = yield* Effect.exit(Layer.buildWithScope(Layer.fresh(manager), scope))
    Engine.prototype.listen = listen
    if (Exit.isFailure(wakes)) {
      yield* EffectScope.close(scope, Exit.void)
      return
    }
    this.running = { life, scope, wakes: wakes.value }
  })

  /** The clock goes on until the operator has ended. */
  readonly stop = Effect.fnUntraced(function* (this: World) {
    const { running } = this
    if (running === undefined) return
    this.running = undefined
    const fiber = yield* Effect.forkChild(EffectScope.close(running.scope, Exit.void), { startImmediately: true })
    for (let i = 0; fiber.pollUnsafe() === undefined && i < 80; i++) {
      yield* pause(20)
      if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("500 millis")
    }
    if (fiber.pollUnsafe() === undefined) this.violations.push("the operator did not stop within 40 s")
    else yield* Fiber.join(fiber)
    running.life.stopped = true
    this.inPass.clear()
  })

  readonly userDoes = (effect: Effect.Effect<unknown, ApiError>): Effect.Effect<void> =>
    Effect.flatMap(Effect.exit(effect), (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) this.changes++
      })
    )

  private refOf(target: typeof Target.Type, which: number): readonly [any, ObjectRef] {
    if (target === "scope") return [Scope, scopeRefs[which % 2]!]
    const role = roleRefs[which]!
    return target === "role" ? [Role, role] : [ConfigMap, childOf(role)]
  }

  private roleOf(which: number, scope: number, rules: number) {
    const ref = roleRefs[which]!
    return {
      apiVersion: "access.example.com/v1",
      kind: "Role",
      metadata: { ...ref },
      spec: { scope: scopeNames[scope]!, rules: ["read", "write"].slice(0, rules) }
    }
  }

  private scopeOf(which: number, members: number) {
    return {
      apiVersion: "access.example.com/v1",
      kind: "Scope",
      metadata: { ...scopeRefs[which]! },
      spec: { members: ["ann", "bob"].slice(0, members) }
    }
  }

  readonly take = Effect.fnUntraced(function* (this: World, one: Step) {
    const { api, server } = this
    const by = { fieldManager: "kubectl" }
    switch (one._tag) {
      case "CreateRole":
        return yield* this.userDoes(api.create(Role, this.roleOf(one.role, one.scope, one.rules), by))
      case "EditRole": {
        const { spec } = this.roleOf(one.role, one.scope, one.rules)
        return yield* this.userDoes(api.patch(Role, roleRefs[one.role]!, { type: "merge", body: { spec } }, by))
      }
      case "CreateScope":
        return yield* this.userDoes(api.create(Scope, this.scopeOf(one.scope, one.members), by))
      case "EditScope": {
        const { spec } = this.scopeOf(one.scope, one.members)
        return yield* this.userDoes(api.patch(Scope, scopeRefs[one.scope]!, { type: "merge", body: { spec } }, by))
      }
      case "Label": {
        const [kind, ref] = this.refOf(one.target, one.which)
        const body = { metadata: { labels: { of: String(one.value) } } }
        return yield* this.userDoes(api.patch(kind, ref, { type: "merge", body }, by))
      }
      case "Delete": {
        const [kind, ref] = this.refOf(one.target, one.which)
        return yield* this.userDoes(api.delete(kind, ref))
      }
      case "Recreate":
        yield* this.userDoes(api.delete(Role, roleRefs[one.role]!))
        yield* pause(15)
        return yield* this.userDoes(api.create(Role, this.roleOf(one.role, one.scope, one.rules), by))
      case "Hold": {
        const [kind, ref] = this.refOf(one.target, one.which)
        return yield* this.hold(kind, ref, one.held)
      }
      case "Rob": {
        const ref = roleRefs[one.role]!
        const found = yield* Effect.option(api.get(Role, ref))
        if (found._tag === "None" || found.value.metadata.deletionTimestamp !== undefined) return
        const finalizers = (found.value.metadata.finalizers ?? []).filter((name) => name !== own)
        this.robbed.add(found.value.metadata.uid)
        return yield* this.userDoes(api.patch(Role, ref, { type: "merge", body: { metadata: { finalizers } } }, by))
      }
      case "EditChild": {
        const body = { data: { members: ["mallory", "oscar"][one.value]! } }
        return yield* this.userDoes(
          api.patch(ConfigMap, childOf(roleRefs[one.role]!), { type: "merge", body } as any, by)
        )
      }
      case "Apply": {
        const ref = childOf(roleRefs[one.role]!)
        if ((yield* Effect.option(api.get(ConfigMap, ref)))._tag === "None") return
        const body = {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: ref.name },
          ...(one.field !== "nothing" && { data: { [one.field]: "helm" } })
        }
        return yield* this.userDoes(
          api.patch(ConfigMap, ref, { type: "apply", force: true, body }, { fieldManager: "helm" })
        )
      }
      case "Stranger": {
        const ref = childOf(roleRefs[one.role]!)
        const key = `${ref.namespace}/${ref.name}`
        if (!one.present) {
          const known = this.strangers.get(key)
          if (known === undefined) return
          this.strangers.delete(key)
          return yield* this.userDoes(api.delete(ConfigMap, ref, { preconditions: { uid: known.metadata.uid } }))
        }
        const made = yield* Effect.option(api.create(ConfigMap, { metadata: ref, data: { mine: "yes" } }, by))
        if (made._tag === "Some") {
          this.changes++
          this.strangers.set(key, made.value)
        }
        return
      }
      case "Orphan": {
        const body = { metadata: { ownerReferences: null } }
        return yield* this.userDoes(
          api.patch(ConfigMap, childOf(roleRefs[one.role]!), { type: "merge", body } as any, by)
        )
      }
      case "Enqueue":
        return yield* this.woken(Wake.enqueue(Role, roleRefs[one.role]!))
      case "Resync":
        return yield* this.woken(Effect.andThen(Effect.exit(Wake.resync(Role)), Effect.exit(Wake.resync(Scope))))
      case "Wait":
        return yield* TestClock.adjust(waits[one.millis]!)
      case "Fault":
        for (let i = 0; i <= one.count; i++) this.faults.push(one.kind)
        return
      case "Cut":
        return yield* server.cutWatches({ broken: one.broken })
      case "Compact":
        return yield* server.compact()
      case "Stop":
        return yield* this.stop()
      case "Start":
        return yield* this.start()
      case "Crash": {
        const { running } = this
        if (running === undefined) return
        running.life.dieAt = running.life.calls + 1 + one.calls
        running.life.dieDone = one.done
        return
      }
    }
  })

  private woken(effect: Effect.Effect<unknown, never, any>): Effect.Effect<void> {
    const { running } = this
    if (running === undefined) return Effect.void
    this.changes++
    return Effect.asVoid(Effect.forkDetach(Effect.provideContext(effect, running.wakes))) as Effect.Effect<void>
  }

  private readonly hold = Effect.fnUntraced(function* (this: World, kind: any, ref: ObjectRef, held: boolean) {
    const found = yield* Effect.option(this.api.get(kind, ref))
    if (found._tag === "None") return
    const { deletionTimestamp, finalizers = [], resourceVersion } = found.value.metadata
    if (finalizers.includes(foreign) === held || (held && deletionTimestamp !== undefined)) return
    const next = held ? [...finalizers, foreign] : finalizers.filter((name) => name !== foreign)
    yield* this.userDoes(
      this.api.patch(kind, ref, { type: "merge", body: { metadata: { resourceVersion, finalizers: next } } } as any, {
        fieldManager: "kubectl"
      })
    )
  })

  /** After each step: one that died is gone, and its successor comes when the script says so, or when all heals. */
  readonly bury = Effect.fnUntraced(function* (this: World) {
    if (this.running?.life.dead !== true) return
    this.crashes++
    yield* this.stop()
  })

  readonly heal = Effect.fnUntraced(function* (this: World) {
    yield* this.bury()
    this.faults = []
    this.lag = 0
    this.slow = 0
    if (this.running !== undefined) this.running.life.dieAt = -1
    yield* this.start()
    yield* pause(60)
    yield* TestClock.adjust("14 minutes")
    yield* pause(60)
  })
}

const childOf = (role: Named): Named => ({ namespace: role.namespace, name: `${role.name}-rules` })

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

interface Ready {
  readonly status: string
  readonly reason: string
  readonly observedGeneration: number
}

const readyOf = (object: KubeObject): Ready | undefined =>
  (object.status as any)?.conditions?.find(({ type }: any) => type === "Ready")

/** How the world ends if the operator keeps its word: what is wrong with it, a line each. */
const complaints = Effect.fnUntraced(function* (world: World) {
  const said: Array<string> = []
  const check = (isSo: boolean, text: string) => {
    if (!isSo) said.push(text)
  }
  const { server } = world
  const roles = yield* server.objects(Role)
  const scopes = yield* server.objects(Scope)
  const configs = (yield* server.objects(ConfigMap)).filter(({ metadata }) => metadata.name !== "kube-root-ca.crt")
  const uids = new Set(roles.map(({ metadata }) => metadata.uid))
  for (const role of roles) {
    const name = `Role ${keyOf(role)}`
    const ready = readyOf(role)
    const status = role.status as any
    const { deletionTimestamp, finalizers = [], generation, uid } = role.metadata
    if (deletionTimestamp !== undefined) {
      check(finalizers.join() === foreign, `${name} is deleted and held by ${finalizers.join()}`)
      check(!world.registered.has(uid), `${name} is deleted and still registered`)
      continue
    }
    check(finalizers.includes(own), `${name} has no finalizer of ours`)
    check(world.registered.has(uid), `${name} is not registered`)
    check(
      ready?.observedGeneration === generation && status?.observedGeneration === generation,
      `${name} has observed ${status?.observedGeneration}, Ready of ${ready?.observedGeneration}, and is of generation ${generation}`
    )
    const scope = scopes.find(({ metadata: { name, namespace } }) => `${namespace}/${name}` === scopeOf(role))
    const config = configs.find(
      ({ metadata: { name, namespace } }) =>
        namespace === role.metadata.namespace && name === `${role.metadata.name}-rules`
    )
    const expected = outcomeOf(role, scope, config)
    check(
      `${ready?.status} ${ready?.reason}` === expected,
      `${name} is ${ready?.status} ${ready?.reason}, not ${expected}`
    )
    if (expected === "False ScopeNotFound" || expected === "True Synced")
      check(status?.rules === (role.spec as any).rules.length, `${name} has status.rules ${status?.rules}`)
    if (expected !== "True Synced" || scope === undefined) continue
    const { helm: _, other: __, ...data } = (config?.data ?? {}) as Record<string, string>
    const wanted = { rules: (role.spec as any).rules.join(","), members: (scope.spec as any).members.join(",") }
    check(
      JSON.stringify(Object.entries(data).sort()) === JSON.stringify(Object.entries(wanted).sort()),
      `${name} has a child with ${JSON.stringify(config?.data)}`
    )
    check(
      config?.metadata.ownerReferences?.length === 1 && config.metadata.ownerReferences[0]!.uid === uid,
      `${name} has a child of ${config?.metadata.ownerReferences?.map(({ uid }) => uid).join()}`
    )
  }
  for (const uid of world.registered.keys())
    check(uids.has(uid) || world.robbed.has(uid), `${uid} is registered and is no Role`)
  for (const scope of scopes) {
    if (scope.metadata.deletionTimestamp !== undefined) continue
    const count = roles.filter((role) => scopeOf(role) === keyOf(scope)).length
    check(
      (scope.status as any)?.members === count,
      `Scope ${keyOf(scope)} has ${(scope.status as any)?.members} of ${count}`
    )
    check(readyOf(scope)?.status === "True", `Scope ${keyOf(scope)} is not ready`)
  }
  for (const config of configs) {
    const known = world.strangers.get(keyOf(config))
    const owners = config.metadata.ownerReferences ?? []
    if (known?.metadata.uid === config.metadata.uid)
      check(
        !("rules" in (config.data as any)) && owners.length === 0,
        `the stranger's ConfigMap ${keyOf(config)} was touched`
      )
    else
      check(
        owners.every(({ uid }) => uids.has(uid)) || config.metadata.deletionTimestamp !== undefined,
        `ConfigMap ${keyOf(config)} is of an owner that is gone`
      )
  }
  return said
})

const scopeOf = (role: KubeObject): string => `${role.metadata.namespace}/${(role.spec as any).scope}`

const outcomeOf = (role: KubeObject, scope: KubeObject | undefined, config: KubeObject | undefined): string => {
  if (scope === undefined) return "False ScopeNotFound"
  if (config?.metadata.deletionTimestamp !== undefined) return "False ChildTerminating"
  if (config !== undefined && !config.metadata.ownerReferences?.some(({ uid }) => uid === role.metadata.uid))
    return "False ChildNotOurs"
  const isUsurped = config?.metadata.managedFields?.some(
    ({ fieldsV1, manager, operation }) =>
      manager === "helm" && operation === "Apply" && (fieldsV1 as any)["f:data"]?.["f:members"] !== undefined
  )
  return isUsurped === true ? "False ApplyConflict" : "True Synced"
}

/** What is still kept beside what the live objects need. */
const leaks = Effect.fnUntraced(function* (world: World) {
  const said: Array<string> = []
  const { server } = world
  const roles = yield* server.objects(Role)
  const scopes = yield* server.objects(Scope)
  const counts = new Map([
    [Role.id as string, roles.length],
    [Scope.id as string, scopes.length],
    [ConfigMap.id as string, (yield* server.objects(ConfigMap)).length]
  ])
  for (const engine of world.engines) {
    const { name } = engine.controller
    const count = counts.get(engine.controller.for.id)!
    const sizes = engine.sizes()
    if (sizes.running + sizes.barriers > 0 || sizes.known !== count || sizes.keys > count)
      said.push(`${name} with ${count} objects keeps ${JSON.stringify(sizes)}`)
    const queue = yield* engine.queue.snapshot
    const failing = [...roles, ...scopes].filter((object) =>
      ["ChildNotOurs", "ApplyConflict"].includes(readyOf(object)?.reason ?? "")
    )
    if (
      queue.ready + queue.parked + queue.processing.length > 0 ||
      queue.delayed !== queue.backingOff ||
      queue.backingOff > failing.length ||
      queue.remembered > count
    )
      said.push(`the queue of ${name} with ${count} objects has ${JSON.stringify(queue)}`)
    for (const kind of engine.kinds) {
      const { objects, overlays, waiting } = (engine as any).storeOf(kind.id).sizes()
      if (overlays + waiting > 0 || objects !== counts.get(kind.id))
        said.push(
          `the store of ${kind.id} has ${objects} of ${counts.get(kind.id)} objects, ${overlays} overlays, ${waiting} waiting`
        )
    }
  }
  return said
})

/** Whether events tell the end: the last word about an object agrees with its Ready, and one outcome is one Event. For one process that lived. */
const contradictions = Effect.fnUntraced(function* (world: World) {
  const said: Array<string> = []
  const all = (yield* world.server.objects(events)) as ReadonlyArray<any>
  for (const object of [...(yield* world.server.objects(Role)), ...(yield* world.server.objects(Scope))]) {
    const ready = (object.status as any)?.conditions?.find(({ type }: any) => type === "Ready")
    const about = all.filter(({ involvedObject }) => involvedObject.uid === object.metadata.uid)
    // Their times are whole seconds.
    const newest = about.reduce((time, { lastTimestamp }) => (time > lastTimestamp ? time : lastTimestamp), "")
    const last = about.filter(({ lastTimestamp }) => lastTimestamp === newest)
    const name = `${object.kind} ${keyOf(object)}`
    const words = last.map(({ reason }) => reason).join()
    // A failure whose status could not be written either is told by its event alone (B53).
    if (
      world.faultsMet === 0 &&
      ready?.status === "True" &&
      last.some(({ type }) => type === "Warning") &&
      newest > ready.lastTransitionTime
    )
      said.push(`${name} is ready since ${ready.lastTransitionTime}, and ${words} was told at ${newest}`)
    const isWaiting = ready?.reason === "ScopeNotFound" || ready?.reason === "ChildTerminating"
    const expected = isWaiting ? ready.reason : "ReconcileFailed"
    if (ready?.status === "False" && !last.some(({ reason }) => reason === expected))
      said.push(`${name} is ${ready.reason}, and ${words} was the last that was told`)
    const told = new Map<string, any>()
    for (const one of [...about].sort((a, b) => (a.firstTimestamp < b.firstTimestamp ? -1 : 1))) {
      const text = `${one.type} ${one.reason} ${one.message}`
      const before = told.get(text)
      if (before !== undefined && Date.parse(one.firstTimestamp) - Date.parse(before.lastTimestamp) < 300_000)
        said.push(`${name}: two Events say ${text}`)
      told.set(text, one)
    }
  }
  return said
})

export interface Outcome {
  readonly world: World
  readonly said: ReadonlyArray<string>
}

/** Plays a script in a world of its own, heals it, and looks for what is wrong. `given`: a Role with its Scope is there and at rest first. */
export const play = (script: ReadonlyArray<Step>, climate: typeof Climate.Type): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    const world = new World(yield* ApiClient, yield* ApiServer.ApiServer, climate)
    // One Role at rest, one that waits for its Scope; the third place is empty.
    for (const one of [
      { _tag: "CreateScope", scope: 0, members: 1 },
      { _tag: "CreateRole", role: 0, scope: 0, rules: 1 },
      { _tag: "CreateRole", role: 1, scope: 1, rules: 2 }
    ] as const)
      yield* world.take(one)
    yield* world.start()
    yield* pause(150)
    yield* TestClock.adjust("10 seconds")
    for (const one of script) {
      yield* world.take(one)
      yield* world.bury()
      yield* pause(climate.turns)
    }
    yield* world.heal()
    const said: Array<string> = [...(yield* complaints(world))]
    const writes = world.writes
    const passes = world.passes.length
    world.passes = []
    world.requests = []
    yield* TestClock.adjust("1 hour")
    yield* pause(60)
    const roles = yield* world.server.objects(Role)
    const failing = new Set(
      roles.filter((role) => ["ChildNotOurs", "ApplyConflict"].includes(readyOf(role)?.reason ?? "")).map(keyOf)
    )
    const restless = world.passes.filter((line) => ![...failing].some((key) => line.includes(` ${key}: `)))
    if (restless.length > 0) said.push(`no rest: ${restless.slice(0, 5).join(" | ")}`)
    if (world.passes.length > 13 * failing.size) said.push(`${world.passes.length} passes of ${failing.size} that fail`)
    const busy = world.requests.filter((line) => ![...failing].some((key) => line.endsWith(` ${key}-rules`)))
    if (busy.length > 0) said.push(`requests at rest: ${busy.slice(0, 5).join(" | ")}`)
    said.push(...(yield* complaints(world)).map((line) => `an hour later ${line}`))
    said.push(...(yield* leaks(world)))
    if (world.starts === 1 && world.crashes === 0) said.push(...(yield* contradictions(world)))
    const bound = 14 * (world.changes + world.faultsMet + world.crashes + world.starts)
    if (writes > bound)
      said.push(`${writes} writes for ${world.changes} changes, ${world.faultsMet} faults, ${world.starts} starts`)
    // A change of a Scope runs its Roles too, and their status its Scope.
    const causes = world.changes + world.faultsMet + 5 * world.starts
    if (passes > 8 * causes) said.push(`${passes} passes for ${causes} causes`)
    yield* world.stop()
    const before = world.passes.length
    yield* TestClock.adjust("10 minutes")
    if (world.passes.length !== before) said.push("a pass after the stop")
    said.push(...world.violations, ...world.lines.filter((line) => line.includes("broke") || line.includes("Die(")))
    return { world, said }
  }).pipe(Effect.scoped, Effect.provide(memory({ seed: 1 }))) as any
