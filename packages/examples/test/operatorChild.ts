/** The access operator of one namespace as a program, with a registry in a file: what tests of kills and faults run and kill. */
import { flushCompileCache } from "node:module"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as Operator from "@fixpoint/kubernetes/Operator"
import * as Controller from "@fixpoint/core/Controller"
import * as Manager from "@fixpoint/core/Manager"
import * as Effect from "effect/Effect"
import { ConfigMap, Role, Scope } from "../src/access/kinds.ts"
import { fieldManager } from "../src/access/operator.ts"
import { role } from "../src/access/role.ts"
import { scope } from "../src/access/scope.ts"
import type { Limits } from "./operatorProcess.ts"
import { layerFile } from "./registryFile.ts"

// A process that is killed would never write it, so that the next start compiled all anew.
flushCompileCache()

const { LIMITS, NAMESPACE, REGISTRY } = process.env
const namespaces = [NAMESPACE ?? ""]

Manager.run([
  Controller.make({ for: Role, owns: [ConfigMap], watches: [Scope], reconciler: role, namespaces }),
  Controller.make({ for: Scope, polls: [Role], reconciler: scope, namespaces })
]).pipe(
  Effect.provide([Kubernetes.layerWith(JSON.parse(LIMITS ?? "{}") as Limits), layerFile(REGISTRY ?? "")]),
  Operator.runMain(fieldManager)
)
