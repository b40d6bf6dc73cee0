/** Runs the operator on the cluster that kubectl would talk to, or whose Pod this is, until SIGTERM or Ctrl-C. Exit code 1 if it cannot start. */
import * as Manager from "@fixpoint/core/Manager"
import * as HealthProbe from "@fixpoint/kubernetes/HealthProbe"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as Operator from "@fixpoint/kubernetes/Operator"
import * as Effect from "effect/Effect"
import { fieldManager, roles, scopes } from "./operator.ts"
import { policies } from "./policies.ts"
import { Registry } from "./Registry.ts"

const probe = HealthProbe.layer({ port: Number(process.env.HEALTH_PORT ?? 8081) })

Manager.run([roles, scopes]).pipe(
  Effect.provide([Kubernetes.layer, Registry.layerMemory, probe, policies.standard]),
  Operator.runMain(fieldManager)
)
