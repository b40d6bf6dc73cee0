/** Facts of a pass of Widget `ns1/a`, with what a test says instead. */
import * as Exit from "effect/Exit"
import type * as Condition from "../src/Condition.ts"
import { type Facts, remember, settle, type Settlement } from "../src/internal/settle.ts"
import type { KubeObject } from "../src/KubeObject.ts"
import * as Reporting from "../src/Reporting.ts"
import * as RequeuePolicy from "../src/RequeuePolicy.ts"

export const object = (
  metadata: Partial<KubeObject["metadata"]> = {},
  ready?: Pick<Condition.Input, "status" | "reason" | "message">
): KubeObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "a", namespace: "ns1", uid: "uid1", resourceVersion: "10", generation: 1, ...metadata },
  ...(ready !== undefined && {
    status: { conditions: [{ type: "Ready", lastTransitionTime: "2026-01-01T00:00:00Z", ...ready }] }
  })
})

export const nothing: Facts["pass"] = {
  ledger: [],
  draft: {},
  conditions: [],
  events: [],
  announced: undefined,
  requeueAfterMillis: undefined
}

export const facts = (some: Partial<Omit<Facts, "pass">> & { readonly pass?: Partial<Facts["pass"]> } = {}): Facts => ({
  object: object(),
  exit: Exit.void,
  released: false,
  stopping: false,
  memory: undefined,
  due: true,
  retryIn: undefined,
  startedAt: 1_000_000,
  now: 1_000_000,
  jitter: 0.5,
  requeue: RequeuePolicy.standard,
  reporting: Reporting.kopf,
  persisted: false,
  minimumLogLevel: "Info",
  ...some,
  pass: { ...nothing, ...some.pass }
})

/** The Ready condition that a settlement writes. */
export const readyOf = (settlement: Settlement): Condition.Input | undefined =>
  settlement.status?.conditions.find(({ type }) => type === "Ready")

/** `Warning Reason: text` of each event, but for the mirrored line of a failure, which is last. */
export const told = (settlement: Settlement): ReadonlyArray<string> =>
  settlement.events
    .filter(({ _tag }) => _tag !== "log")
    .map((call) => (call._tag === "event" ? `${call.type} ${call.reason}: ${call.message}` : call._tag))

/** Passes in a row over one object, whose status is written after each as a server would. */
export class Passes {
  now = 1_000_000
  object: KubeObject
  private memory: Facts["memory"]
  private version = 10

  constructor(start: KubeObject) {
    this.object = start
  }

  /** `stale`: the pass does not see what the last one wrote. */
  pass(exit: Facts["exit"], some: Parameters<typeof facts>[0] & { readonly stale?: KubeObject } = {}): Settlement {
    const settlement = settle(
      facts({
        object: some.stale ?? this.object,
        exit,
        memory: this.memory,
        now: this.now,
        startedAt: this.now,
        ...some
      })
    )
    this.memory = settlement.memory
    const ready = readyOf(settlement)
    if (ready !== undefined) {
      const resourceVersion = String(++this.version)
      this.object = object({ ...this.object.metadata, resourceVersion }, ready)
      this.memory = remember(settlement, resourceVersion)
    }
    return settlement
  }
}
