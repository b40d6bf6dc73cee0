/** Runs the operator on the cluster that kubectl would talk to, or whose Pod this is, until SIGTERM or Ctrl-C. Exit code 1 if it cannot start. */
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { FieldManager } from "@fixpoint/core/FieldManager"
import * as Manager from "@fixpoint/core/Manager"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { fieldManager, roles, scopes } from "./operator.ts"
import { orExplain, teardown } from "./program.ts"
import { Registry } from "./Registry.ts"

Manager.run([roles, scopes]).pipe(
  Effect.provide([Kubernetes.layer, Registry.layerMemory, Layer.succeed(FieldManager, fieldManager)]),
  orExplain(fieldManager),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
