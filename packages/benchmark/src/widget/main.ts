/**
 * The program of the operator: KUBECONFIG, WATCH_NAMESPACE, WORKERS and EXPECT say what it does. Prints `started` when it follows its watches, and
 * `reconciled N distinct` when as many Widgets as EXPECT says have been reconciled.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as EventPoster from "@fixpoint/core/EventPoster"
import * as Manager from "@fixpoint/core/Manager"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { widgets } from "./operator.ts"

const { EXPECT = "0", WATCH_NAMESPACE = "default", WORKERS = "10" } = process.env
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Says once that so many different objects have been reconciled. */
const countDistinct = (expected: number): ((settled: Manager.Settled) => void) => {
  const seen = new Set<string>()
  return ({ outcome, ref }) => {
    if (seen.size >= expected || (outcome !== "changed" && outcome !== "unchanged")) return
    if (seen.add(ref.name).size === expected) say(`reconciled ${expected} distinct`)
  }
}

const controller = widgets({ namespace: WATCH_NAMESPACE, workers: Number(WORKERS) })

Effect.sync(() => say("started")).pipe(
  Effect.andThen(Effect.never),
  Effect.provide(Manager.layer([controller])),
  Effect.provide([
    Kubernetes.layer,
    EventPoster.layerNone,
    Layer.succeed(Manager.OnSettled, countDistinct(Number(EXPECT))),
    Layer.succeed(References.MinimumLogLevel, "Error")
  ]),
  NodeRuntime.runMain
)
