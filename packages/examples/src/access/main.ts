/**
 * Runs the operator on the cluster that kubectl would talk to, or whose Pod this is, until SIGTERM or Ctrl-C. Exit code 1 if it cannot start.
 * In persisted mode if DATABASE_URL or DATABASE_FOLDER says where.
 */
import * as Manager from "@fixpoint/core/Manager"
import * as HealthProbe from "@fixpoint/kubernetes/HealthProbe"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as Operator from "@fixpoint/kubernetes/Operator"
import * as Effect from "effect/Effect"
import { fieldManager, roles, scopes } from "./operator.ts"
import { policies } from "./policies.ts"
import { Registry } from "./Registry.ts"

const probe = HealthProbe.layer({ port: Number(process.env.HEALTH_PORT ?? 8081) })

const inCluster = Manager.run([roles, scopes]).pipe(
  Effect.provide([Kubernetes.layer, Registry.layerMemory, probe, policies.standard])
)

/** What it needs takes a quarter of a second to load: only where it is used. */
const persisted = Effect.gen(function* () {
  const Database = yield* Effect.promise(() => import("./persisted/Database.ts"))
  const { persistedRoles, persistedScopes } = yield* Effect.promise(() => import("./persisted/operator.ts"))
  yield* Manager.run([persistedRoles, persistedScopes]).pipe(
    Effect.provide([Kubernetes.layer, Database.layer, probe, policies.standard])
  )
})

const { DATABASE_FOLDER, DATABASE_URL } = process.env

Operator.runMain(fieldManager)(DATABASE_URL === undefined && DATABASE_FOLDER === undefined ? inCluster : persisted)
