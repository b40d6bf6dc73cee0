/** The operator that the type tests use: a Role is ready when its Scope is there and its ConfigMap is as desired. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Controller, Fatal, Kind, KubeObject, Pass, Reconciler, Temporary, Wake } from "@fixpoint/core"

export class Scope extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Scope",
  scope: "Namespaced",
  spec: Schema.Struct({ members: Schema.Array(Schema.String) }),
  status: Schema.Struct({ members: Schema.Int })
}) {}

export class Role extends Kind.make({
  group: "access.example.com",
  version: "v1",
  kind: "Role",
  scope: "Namespaced",
  spec: Schema.Struct({ scope: Schema.String, rules: Schema.Array(Schema.String) }),
  status: Schema.Struct({ rules: Schema.Int })
}) {}

export class ConfigMap extends Kind.make({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  fields: { data: Schema.Record(Schema.String, Schema.String) }
}) {}

export class DatabaseError extends Data.TaggedError("DatabaseError")<{ readonly code: number }> {}
export class Database extends Context.Service<
  Database,
  { readonly grant: (role: string) => Effect.Effect<number, DatabaseError> }
>()("typetest/Database") {}

export const rulesFor = (role: Role, scope: Scope): Kind.Desired<ConfigMap> => ({
  metadata: { name: `${role.metadata.name}-rules` },
  data: { rules: role.spec.rules.join(","), members: scope.spec.members.join(",") }
})

/** Twelve stages, with blocks in blocks, and no annotation. */
export const role = Reconciler.for(Role).pipe(
  Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" }),
  Reconciler.child("config", ConfigMap, ({ object, scope }) => rulesFor(object, scope)),
  Reconciler.during(
    "granting the role",
    Reconciler.bind("grants", ({ object }) => Database.use((db) => db.grant(object.metadata.name))),
    Reconciler.mapError((error) =>
      error.code === 503
        ? new Temporary({ delay: "7 seconds", cause: error })
        : new Fatal({ reason: "Denied", cause: error })
    )
  ),
  Reconciler.tap(({ grants }) => (grants > 0 ? Pass.changed("granted") : Effect.void)),
  Reconciler.when(
    ({ scope }) => scope.spec.members.length > 0,
    Reconciler.bind("first", ({ scope }) => Effect.succeed(scope.spec.members[0]!))
  ),
  Reconciler.all(
    [
      Reconciler.tap(({ scope }) => Wake.enqueue(Scope, KubeObject.ref(scope))),
      Reconciler.bind("count", ({ first, object }) =>
        Effect.succeed(first === undefined ? 0 : object.spec.rules.length)
      )
    ],
    { concurrency: 2 }
  ),
  Reconciler.status(({ count }) => ({ rules: count })),
  Reconciler.condition("Granted", ({ grants }) =>
    grants > 0
      ? { status: "True", reason: "Granted", message: "" }
      : { status: "False", reason: "Denied", message: "no grants" }
  ),
  Reconciler.finalizer("access.example.com/cleanup", ({ ref }) =>
    Database.use((db) => db.grant(ref.name)).pipe(Effect.mapError((cause) => new Temporary({ cause })))
  ),
  Reconciler.via(Effect.withSpan("role")),
  Reconciler.timeout("30 seconds")
)

export const scope = Reconciler.fromEffect(
  Scope,
  Effect.fnUntraced(function* (object) {
    yield* Wake.enqueue(Role, { namespace: object.metadata.namespace, name: "auditor" })
  })
)

export const roles = Controller.make({ for: Role, owns: [ConfigMap], watches: [Scope], reconciler: role })
export const scopes = Controller.make({ for: Scope, reconciler: scope })
