/** Uses that must compile, with the types that they must infer. */
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import {
  type ApiClient,
  type ApiError,
  Cached,
  Controller,
  Fatal,
  Kind,
  type KubeObject,
  Manager,
  NotReady,
  Owned,
  Pass,
  ReconcileError,
  Reconciler,
  Temporary,
  Wake,
  Watch
} from "@fixpoint/core"
import { ConfigMap, Database, type DatabaseError, Role, role, roles, rulesFor, Scope, scopes } from "./access.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Equal<A, B>): void => {}
const scopeOf = (role: Role): KubeObject.ObjectRef => ({ namespace: role.metadata.namespace, name: role.spec.scope })
const scopeNotFound = { reason: "ScopeNotFound" }
const empty = Reconciler.for(Role)

// ---- what is inferred

type Of<T> = T extends Reconciler.Reconciler<infer Ctx, infer E, infer R> ? [Ctx, E, R] : never
const infers = <Ctx, E = never, R = never>() => ({
  of: <T extends Reconciler.Reconciler<any, any, any>>(_: T, __: Equal<Of<T>, [Ctx, E, R]>): void => {}
})
type ScopeReads = Cached.Reads<"access.example.com/Scope">
type MapNeeds = Pass.Pass | Cached.Reads<"ConfigMap"> | Owned.Writes<"ConfigMap">

infers<
  {
    readonly object: Role
    readonly scope: Scope
    readonly config: ConfigMap
    readonly grants: number
    readonly first?: string
    readonly count: number
  },
  NotReady | Temporary | Fatal,
  ScopeReads | MapNeeds | Wake.Wakes<"access.example.com/Scope"> | Database | Reconciler.Finalizes<Database>
>().of(role, true)
same<typeof roles, Controller.Controller<typeof Role, Database | Wake.Wakes<"access.example.com/Scope">>>(true)
same<Kind.Type<typeof Role>, Role>(true)
same<Kind.Id<typeof Role>, "access.example.com/Role">(true)
same<Kind.Status<Role>, { readonly rules?: number }>(true)

// ---- each combinator

infers<{ readonly object: Role }>().of(empty, true)
infers<{ readonly object: Role; readonly scope: Scope }, NotReady, ScopeReads>().of(
  empty.pipe(Reconciler.need("scope", Scope, ({ object }) => scopeOf(object), { ...scopeNotFound, message: "none" })),
  true
)
infers<{ readonly object: Role; readonly config: ConfigMap }, ReconcileError.ReconcileError, MapNeeds>().of(
  empty.pipe(
    Reconciler.child("config", ConfigMap, () => ({ metadata: { name: "x" }, data: {} }), { conflicts: "force" })
  ),
  true
)
infers<
  { readonly object: Role; readonly configs: ReadonlyMap<string, ConfigMap> },
  ReconcileError.ReconcileError,
  MapNeeds
>().of(
  empty.pipe(
    Reconciler.children(
      "configs",
      ConfigMap,
      ({ object }) => object.spec.rules.map((rule) => ({ metadata: { name: rule }, data: { rule } })),
      { key: (child) => child.data.rule ?? "", prune: (child) => child.metadata.name.startsWith("rule-") }
    )
  ),
  true
)
infers<{ readonly object: Role }, never, Pass.Pass>().of(empty.pipe(Reconciler.status(() => ({ rules: 1 }))), true)
infers<{ readonly object: Role }, never, Pass.Pass>().of(
  empty.pipe(Reconciler.condition("Granted", () => ({ status: "Unknown", reason: "Asking", message: "" }))),
  true
)
infers<{ readonly object: Role }, never, Reconciler.Finalizes<Database>>().of(
  empty.pipe(Reconciler.finalizer("access.example.com/x", () => Effect.as(Database, 1))),
  true
)
// A clean-up may fail as a pass may; it knows the object decoded, if it can be.
infers<{ readonly object: Role }, never, Reconciler.Finalizes<never>>().of(
  empty.pipe(
    Reconciler.finalizer("access.example.com/x", ({ decoded, raw }) =>
      decoded._tag === "Success" && decoded.success.spec.rules.length > 9
        ? new Fatal({ reason: raw.metadata.name })
        : new NotReady({ reason: "StillUsed" })
    )
  ),
  true
)
infers<{ readonly object: Role; readonly n: number }, Fatal | Temporary, Database>().of(
  empty.pipe(
    // A union of failures infers without help.
    Reconciler.bind("n", ({ object }) =>
      object.spec.rules.length > 9
        ? new Fatal({ reason: "TooMany" })
        : object.spec.rules.length > 8
          ? new Temporary({})
          : Effect.as(Database, 1)
    )
  ),
  true
)
// A name may be given another value, of another type.
infers<{ readonly object: Role; readonly n: string }>().of(
  empty.pipe(
    Reconciler.bind("n", () => Effect.succeed(1)),
    Reconciler.bind("n", ({ n }) => Effect.succeed(n.toFixed()))
  ),
  true
)
infers<{ readonly object: Role; readonly a: number; readonly b?: string }>().of(
  empty.pipe(
    Reconciler.bind("a", () => Effect.succeed(1)),
    Reconciler.when(
      ({ a }) => a > 0,
      flow(
        Reconciler.tap(({ object }) => Effect.log(object.metadata.name)),
        Reconciler.bind("b", ({ a }) => Effect.succeed(a.toFixed()))
      )
    )
  ),
  true
)
infers<{ readonly object: Role; readonly sizes: ReadonlyArray<number> }, Fatal>().of(
  empty.pipe(
    Reconciler.forEach(
      "sizes",
      ({ object }) => object.spec.rules,
      (rule, { object }) => (rule === object.spec.scope ? Effect.succeed(rule.length) : new Fatal({ reason: "Odd" })),
      { concurrency: "unbounded" }
    )
  ),
  true
)
infers<{ readonly object: Role; readonly a: number; readonly b: string }, Temporary, Database>().of(
  empty.pipe(
    Reconciler.all([
      Reconciler.bind("a", () => Effect.as(Database, 1)),
      flow(
        Reconciler.bind("b", () => Effect.succeed("b")),
        Reconciler.tap(() => new Temporary({}))
      )
    ])
  ),
  true
)
infers<
  { readonly object: Role; readonly limit: number } | { readonly object: Role; readonly limit: string },
  Fatal,
  Database
>().of(
  empty.pipe(
    Reconciler.orElse(
      Reconciler.bind("limit", () => Database.use((db) => db.grant("x"))),
      flow(
        Reconciler.bind("limit", () => Effect.succeed("none")),
        Reconciler.tap(() => new Fatal({}))
      )
    )
  ),
  true
)
// In a branch of all, a name that only one of two ways makes is not there for sure.
infers<
  | { readonly object: Role; readonly a: number; readonly c: string }
  | { readonly object: Role; readonly b: number; readonly c: string }
>().of(
  empty.pipe(
    Reconciler.all([
      Reconciler.orElse(
        Reconciler.bind("a", () => Effect.succeed(1)),
        Reconciler.bind("b", () => Effect.succeed(1))
      ),
      Reconciler.bind("c", () => Effect.succeed("c"))
    ])
  ),
  true
)
infers<{ readonly object: Role }>().of(empty.pipe(Reconciler.all([])), true)
const granting = empty.pipe(
  Reconciler.bind("grants", ({ object }) => Database.use((db) => db.grant(object.metadata.name)))
)
type Granted = { readonly object: Role; readonly grants: number }
infers<Granted, DatabaseError, Database>().of(granting, true)
infers<Granted, ReconcileError.ReconcileError, Database>().of(
  granting.pipe(Reconciler.mapError(ReconcileError.classify)),
  true
)
infers<Granted, Temporary | Fatal, Database>().of(
  granting.pipe(
    Reconciler.catchTag("DatabaseError", ({ code }) =>
      code === 503 ? new Temporary({ delay: "1 minute" }) : new Fatal({ reason: "Denied" })
    )
  ),
  true
)
infers<Granted, Temporary, Database>().of(
  granting.pipe(
    Reconciler.via(Effect.retry({ times: 2, while: (error) => error.code === 503 })),
    Reconciler.via(Effect.catchTag("DatabaseError", (cause) => Effect.fail(new Temporary({ cause }))))
  ),
  true
)
// A service given by an operator is not given to a clean-up, which no operator acts on.
infers<Granted, DatabaseError, Reconciler.Finalizes<Database>>().of(
  granting.pipe(
    Reconciler.finalizer("access.example.com/x", () => Effect.asVoid(Database)),
    Reconciler.via(Effect.provideService(Database, { grant: () => Effect.succeed(1) }))
  ),
  true
)
infers<Granted, DatabaseError | Temporary, Database>().of(granting.pipe(Reconciler.timeout("1 minute")), true)
infers<Granted, Temporary | Fatal, Database | Pass.Pass>().of(
  granting.pipe(
    Reconciler.mapError((cause) => new Temporary({ cause })),
    Reconciler.withRetry({ retries: 3, timeout: "1 hour" })
  ),
  true
)
// A limit on what cannot fail as Temporary adds no failure.
infers<{ readonly object: Role }, never, Pass.Pass>().of(empty.pipe(Reconciler.withRetry({ retries: 3 })), true)
infers<{ readonly object: Role; readonly grants: number; readonly more: string }, Temporary, Database>().of(
  empty.pipe(
    Reconciler.during(
      "granting",
      Reconciler.bind("grants", () => Database.use((db) => db.grant("x"))),
      Reconciler.bind("more", ({ grants }) => Effect.succeed(grants.toFixed())),
      Reconciler.tap(() => Effect.void),
      Reconciler.tap(() => Effect.void),
      Reconciler.tap(() => Effect.void),
      Reconciler.mapError((cause) => new Temporary({ cause }))
    )
  ),
  true
)
const step = Reconciler.toStep(granting)
same<ReturnType<typeof step>, Effect.Effect<Granted, DatabaseError, Database>>(true)

// ---- one function, in every form that Effect has

export const forms = [
  Controller.make({ for: Role, reconciler: Reconciler.fromEffect(Role, () => Effect.void) }),
  Controller.make({
    for: Role,
    reconciler: Reconciler.fromEffect(Role, (role) =>
      role.spec.rules.length > 9 ? new Fatal({ reason: "TooMany" }) : new Temporary({})
    )
  }),
  Controller.make({
    for: Role,
    watches: [Scope],
    reconciler: Reconciler.fromEffect(Role, (role) => Cached.need(Scope, scopeOf(role), scopeNotFound))
  }),
  Controller.make({
    for: Role,
    owns: [ConfigMap],
    watches: [Scope],
    reconciler: Reconciler.fromEffect(Role, (role) =>
      Effect.gen(function* () {
        const scope = yield* Cached.need(Scope, scopeOf(role), scopeNotFound)
        const config = yield* Owned.apply(ConfigMap, rulesFor(role, scope))
        yield* Pass.status(Role, { rules: role.spec.rules.length })
        yield* Pass.condition({ type: "Granted", status: "True", reason: "Granted", message: "" })
        yield* Wake.enqueue(Scope, { namespace: "team", name: "docs" })
        if (config.data.rules === "") return yield* new NotReady({ reason: "NoRules" })
        yield* Pass.requeueAfter("1 hour")
      })
    )
  }),
  Controller.make({
    for: Role,
    watches: [Scope],
    reconciler: Reconciler.fromEffect(
      Role,
      Effect.fnUntraced(function* (role) {
        const db = yield* Database
        yield* Cached.need(Scope, scopeOf(role), scopeNotFound)
        return yield* Effect.mapError(db.grant(role.metadata.name), ReconcileError.classify)
      })
    )
  }),
  Controller.make({
    for: Role,
    reconciler: Reconciler.fromEffect(
      Role,
      Effect.fn("role")(function* (role) {
        if (role.spec.rules.length === 0) return yield* new Fatal({ reason: "Empty" })
      })
    )
  })
]

// A pipeline inside a generator; one given inline; the const form of a kind; a kind without status.
export const nested = Reconciler.fromEffect(
  Role,
  Effect.fnUntraced(function* (object) {
    const { grants } = yield* step(object)
    return grants
  })
)
export const inline = Controller.make({
  for: Role,
  watches: [Scope],
  reconciler: Reconciler.for(Role).pipe(
    Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, scopeNotFound),
    Reconciler.when(
      ({ scope }) => scope.spec.members.length > 0,
      flow(
        Reconciler.tap(({ scope }) => Pass.changed(scope.metadata.name)),
        Reconciler.bind("first", ({ scope }) => Effect.succeed(scope.spec.members[0]))
      )
    ),
    Reconciler.status(({ first, object }) => ({ rules: object.spec.rules.length + (first?.length ?? 0) }))
  )
})
const Plain = Kind.make({
  group: "",
  version: "v1",
  kind: "Plain",
  scope: "Cluster",
  spec: Schema.Struct({ size: Schema.Int })
})
export const plain = Controller.make({
  for: Plain,
  reconciler: Reconciler.for(Plain).pipe(Reconciler.bind("size", ({ object }) => Effect.succeed(object.spec.size)))
})

// What a lambda returns keeps its literal types, may come from branches, and is looked at however deep.
class Job extends Kind.make({
  group: "batch",
  version: "v1",
  kind: "Job",
  scope: "Namespaced",
  spec: Schema.Struct({
    restart: Schema.Literals(["Never", "Always"]),
    template: Schema.Struct({
      labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
      containers: Schema.Array(
        Schema.Struct({ name: Schema.String, port: Schema.Union([Schema.Int, Schema.String]), env: Schema.Unknown })
      )
    })
  }),
  status: Schema.Struct({ phase: Schema.Literals(["Running", "Done"]) })
}) {}
export const literal = Reconciler.for(Job).pipe(
  Reconciler.child("next", Job, () => ({
    metadata: { name: "next" },
    spec: {
      restart: "Never",
      template: { labels: { any: "label" }, containers: [{ name: "a", port: 80, env: { free: ["form"] } }] }
    }
  })),
  Reconciler.child("last", Job, ({ next }) =>
    next.spec.restart === "Always"
      ? { metadata: { name: "last" }, spec: { restart: "Never", template: { containers: [] } } }
      : { metadata: { name: "last", labels: { a: "b" } }, spec: next.spec }
  ),
  Reconciler.status(({ next, object }) => ({ phase: object.spec.restart === next.spec.restart ? "Done" : "Running" }))
)

// Helpers with generics: over the kind in a generator, over the context in a pipe.
const owned = <K extends Kind.Any>(kind: K, desired: Kind.Desired<Kind.Type<K>>) =>
  Effect.asVoid(Owned.apply(kind, desired))
const needScope = <Ctx extends { readonly object: Role }, E, R>(self: Reconciler.Reconciler<Ctx, E, R>) =>
  self.pipe(Reconciler.bind("scope", ({ object }) => Cached.need(Scope, scopeOf(object), scopeNotFound)))
const labelled = <K extends Kind.Any>(kind: K) => Reconciler.for(kind).pipe(Reconciler.tap(() => Pass.changed(kind.id)))
export const helped = Controller.make({
  for: Role,
  owns: [ConfigMap],
  watches: [Scope],
  reconciler: labelled(Role).pipe(
    needScope,
    Reconciler.tap(({ object, scope }) => owned(ConfigMap, rulesFor(object, scope)))
  )
})

// ---- controllers

// A mapped watch reads what the controller may read, and needs what it needs; so does a stream from outside.
const watched = Controller.make({
  for: Role,
  owns: [ConfigMap],
  reconciler: role,
  watches: [
    Watch.mapped(Scope, (scope) =>
      Effect.gen(function* () {
        yield* Database
        const all = yield* Cached.list(Role, { labels: { team: "a" } })
        return all.filter((role) => role.spec.scope === scope.metadata.name).map((role) => role.metadata)
      })
    ),
    Watch.every("1 hour", { idle: "10 minutes", jitter: 0.2 }),
    Watch.external(
      Stream.fromEffect(Wake.resync(Scope)).pipe(
        Stream.map(() => scopeOf({} as Role)),
        Stream.orDie
      )
    )
  ]
})
same<typeof watched, Controller.Controller<typeof Role, Database | Wake.Wakes<"access.example.com/Scope">>>(true)
// Polled, and written without being owned.
export const polling = Controller.make({
  for: Role,
  name: "polling",
  polls: [Scope],
  writes: [ConfigMap],
  workers: 2,
  reconciler: Reconciler.fromEffect(Role, () => Effect.andThen(Cached.list(Scope), Owned.remove(ConfigMap, "old")))
})
const connected = roles.pipe(Controller.provide(Layer.effect(Database, Effect.fail("no connection" as const))))
same<typeof connected, Controller.Controller<typeof Role, Wake.Wakes<"access.example.com/Scope">, "no connection">>(
  true
)
same<Controller.Error<typeof connected>, "no connection">(true)
const resync = roles.resync({ namespace: "team" })
same<
  typeof resync,
  Effect.Effect<number, Wake.NotSetUp | Wake.ManagerStopped | ApiError.ApiError, Wake.Wakes<"access.example.com/Role">>
>(true)

// ---- managers

const program = Manager.run([roles, scopes])
same<typeof program, Effect.Effect<never, Manager.ManagerError, ApiClient.ApiClient | Database>>(true)
// Provided by an outer Manager, or an error at the edge.
const half = Manager.run([roles])
same<
  typeof half,
  Effect.Effect<never, Manager.ManagerError, ApiClient.ApiClient | Database | Wake.Wakes<"access.example.com/Scope">>
>(true)
const wakes = Manager.layer([roles, scopes])
same<
  typeof wakes,
  Layer.Layer<
    Manager.Manager | Wake.Wakes<"access.example.com/Role" | "access.example.com/Scope">,
    Manager.ManagerError,
    ApiClient.ApiClient | Database
  >
>(true)
