/** The program of `gadgets`, as a user would write it. */
import * as Manager from "@fixpoint/core/Manager"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as Operator from "@fixpoint/kubernetes/Operator"
import * as Effect from "effect/Effect"
import { controllersOf, fieldManager, type Options } from "./gadgets.ts"

const options = JSON.parse(process.env.GADGETS ?? "{}") as Options

Manager.run(controllersOf(options)).pipe(Effect.provide(Kubernetes.layer), Operator.runMain(fieldManager))
