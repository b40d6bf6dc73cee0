/** Uses that must not compile. `node packages/core/typetest/messages.ts` prints what the compiler says of each; a test compares it with `messages.txt`. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import {
  type ApiClient,
  Cached,
  Controller,
  Fatal,
  Manager,
  NotReady,
  Owned,
  Pass,
  Reconciler,
  Temporary,
  Wake,
  Watch
} from "@fixpoint/core"
import { ConfigMap, Database, Role, role, Scope, scopes } from "./access.ts"

class Untagged extends Data.Error<{}> {}
const empty = Reconciler.for(Role)
const granting = empty.pipe(
  Reconciler.bind("grants", ({ object }) => Database.use((db) => db.grant(object.metadata.name)))
)
const needing = empty.pipe(
  Reconciler.need("scope", Scope, ({ object }) => object.spec.scope, { reason: "ScopeNotFound" })
)
declare const api: Layer.Layer<ApiClient.ApiClient>

// @ts-expect-error a failure that says nothing about what happens next
Controller.make({ for: Role, reconciler: granting })

// @ts-expect-error a read that nobody watches
Controller.make({ for: Role, reconciler: needing })

// @ts-expect-error a wake that nobody serves, at the program's edge
Effect.runFork(Effect.provide(Effect.orDie(Manager.run([scopes])), api))

// @ts-expect-error a failure without a tag, in a function given inline
Controller.make({ for: Role, reconciler: Reconciler.fromEffect(Role, () => Effect.fail(new Untagged())) })

// @ts-expect-error the same read in a long pipeline
Controller.make({ for: Role, owns: [ConfigMap], reconciler: role })

// @ts-expect-error a write that is not declared
Controller.make({ for: Role, watches: [Scope], reconciler: role })

// @ts-expect-error a removal that is not declared
Controller.make({ for: Role, reconciler: Reconciler.fromEffect(Role, () => Owned.remove(ConfigMap, "old")) })

const stray = Watch.mapped(Scope, () => Effect.as(Cached.list(ConfigMap), []))
// @ts-expect-error a mapped watch that reads what nobody watches
Controller.make({ for: Role, watches: [stray], reconciler: empty })

// @ts-expect-error a clean-up that reads what nobody watches
Controller.make({ for: Role, reconciler: empty.pipe(Reconciler.finalizer("a.example/x", () => Cached.list(Scope))) })

// @ts-expect-error a reconciler of another kind
Controller.make({ for: Scope, watches: [Scope], reconciler: needing })

// @ts-expect-error a timer is no kind
Controller.make({ for: Role, polls: [Watch.every("1 hour")], reconciler: empty })

// @ts-expect-error a stream that fails, and nobody mends
Watch.external(Stream.fail("no connection"))

// @ts-expect-error a status field that the kind does not have
empty.pipe(Reconciler.status(({ object }) => ({ rules: 1, rulez: object.spec.rules.length })))

// @ts-expect-error a status field of another type
empty.pipe(Reconciler.status(() => ({ rules: "1" })))

// @ts-expect-error a status field that the kind does not have, in a generator
Pass.status(Role, { rulez: 1 })

// @ts-expect-error a field of a child that its kind does not have
empty.pipe(Reconciler.child("config", ConfigMap, () => ({ metadata: { name: "x" }, data: {}, date: {} })))

const nested = () => ({ metadata: { name: "x" }, spec: { scope: "", rules: [], rulez: 1 } })
// @ts-expect-error the same, further down
empty.pipe(Reconciler.child("role", Role, nested))

// @ts-expect-error the same, in its metadata
empty.pipe(Reconciler.child("config", ConfigMap, () => ({ metadata: { name: "x", label: {} }, data: {} })))

// @ts-expect-error the same, in one of many
empty.pipe(Reconciler.children("configs", ConfigMap, () => [{ metadata: { name: "x" }, data: {}, date: {} }]))

// @ts-expect-error a child that is not as its kind says
empty.pipe(Reconciler.child("config", ConfigMap, () => ({ metadata: { name: "x" }, data: { size: 1 } })))

// @ts-expect-error a child without a name
empty.pipe(Reconciler.child("config", ConfigMap, () => ({ metadata: {}, data: {} })))

// @ts-expect-error what becomes of a conflict, misspelt
empty.pipe(Reconciler.child("config", ConfigMap, () => ({ metadata: { name: "x" }, data: {} }), { conflicts: "win" }))

// @ts-expect-error a result that no earlier stage made
empty.pipe(Reconciler.tap(({ scope }) => Effect.log(scope)))

const maybe = empty.pipe(
  Reconciler.when(
    () => true,
    Reconciler.bind("n", () => Effect.succeed(1))
  )
)
// @ts-expect-error a result that may not be there
maybe.pipe(Reconciler.tap(({ n }) => Effect.succeed(n.toFixed())))

const either = empty.pipe(
  Reconciler.orElse(
    Reconciler.bind("n", () => Effect.succeed(1)),
    Reconciler.tap(() => Effect.void)
  )
)
// @ts-expect-error a result that only one of two ways makes
either.pipe(Reconciler.tap(({ n }) => Effect.log(n)))

// @ts-expect-error a reference without a reason
empty.pipe(Reconciler.need("scope", Scope, () => "docs", {}))

// @ts-expect-error a reference that is no name
empty.pipe(Reconciler.need("scope", Scope, ({ object }) => object.spec, { reason: "ScopeNotFound" }))

// @ts-expect-error a condition that is the engine's
empty.pipe(Reconciler.condition("Ready", () => ({ status: "True", reason: "Mine", message: "" })))

// @ts-expect-error the same, in a generator
Pass.condition({ type: "Ready", status: "True", reason: "Mine", message: "" })

// @ts-expect-error a condition that is neither true, false nor unknown
empty.pipe(Reconciler.condition("Granted", () => ({ status: "Yes", reason: "Mine", message: "" })))

// @ts-expect-error a clean-up that says nothing about what its failure means
empty.pipe(Reconciler.finalizer("a.example/x", ({ ref }) => Database.use((db) => db.grant(ref.name))))

// @ts-expect-error a finalizer that the server would refuse
empty.pipe(Reconciler.finalizer("cleanup", () => Effect.void))

// @ts-expect-error a clean-up that a function would lose
Reconciler.toStep(empty.pipe(Reconciler.finalizer("a.example/x", () => Effect.void)))

// @ts-expect-error a tag that no failure has
granting.pipe(Reconciler.catchTag("NetworkError", () => new Temporary({})))

// @ts-expect-error a failure mapped as what it is not
granting.pipe(Reconciler.mapError((error: Fatal) => error))

// @ts-expect-error a branch of all that needs what its sibling makes
empty.pipe(Reconciler.all([Reconciler.bind("a", () => Effect.succeed(1)), Reconciler.tap(({ a }) => Effect.log(a))]))

// @ts-expect-error a delay beside a Fatal
export const madeFatal = new Fatal({ reason: "Denied", delay: "1 minute" })

// @ts-expect-error a NotReady without a reason
export const madeNotReady = new NotReady({ message: "not yet" })

// @ts-expect-error a selection misspelt
Wake.resync(Role, { namspace: "team" })

// @ts-expect-error an object of a kind is never made with new
export const madeRole = new Role()
