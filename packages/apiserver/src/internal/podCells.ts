/** What tables print of Pods: the one word for the state of all its containers. */
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { ageOf, conditionOf, isDeleting, isSet, nameOf, number, object, objects, or, text } from "./cells.ts"
import type { TableRow } from "./definition.ts"
import { age } from "./humanDuration.ts"
import type { JsonObject } from "./json.ts"

/** Restarts, and when the last of them was. */
interface Restarts {
  readonly count: number
  readonly last: string
}

const noRestarts: Restarts = { count: 0, last: "" }

const addRestarts = ({ count, last }: Restarts, { lastState, restartCount }: JsonObject): Restarts => {
  const finished = text(object(object(lastState).terminated).finishedAt)
  return { count: count + number(restartCount), last: finished > last ? finished : last }
}

const endOf = ({ exitCode, reason, signal }: JsonObject): string =>
  text(reason) || (number(signal) !== 0 ? `Signal:${number(signal)}` : `ExitCode:${number(exitCode)}`)

interface State {
  readonly reason: string
  readonly ready: number
  readonly restarts: Restarts
}

/** What the init containers are at: `reason` is empty once all are through. */
const initial = (spec: JsonObject, status: JsonObject): State & { readonly sidecars: Restarts } => {
  const specs = objects(spec.initContainers)
  const isSidecar = (name: unknown): boolean =>
    specs.some((container) => container.name === name && container.restartPolicy === "Always")
  let restarts = noRestarts
  let sidecars = noRestarts
  let ready = 0
  for (const [at, container] of objects(status.initContainerStatuses).entries()) {
    const { name, started, state } = container
    const { terminated, waiting } = object(state)
    restarts = addRestarts(restarts, container)
    if (isSidecar(name)) sidecars = addRestarts(sidecars, container)
    if (isSet(terminated) && number(object(terminated).exitCode) === 0) continue
    if (isSidecar(name) && started === true) {
      if (container.ready === true) ready++
      continue
    }
    const why = text(object(waiting).reason)
    const reason = isSet(terminated)
      ? endOf(object(terminated))
      : why !== "" && why !== "PodInitializing"
        ? why
        : `${at}/${specs.length}`
    return { reason: `Init:${reason}`, ready, restarts, sidecars }
  }
  return { reason: "", ready, restarts, sidecars }
}

/** What the containers are at, once they may run. */
const running = (before: State, status: JsonObject): State => {
  let { ready, reason, restarts } = before
  let failure = ""
  let isRunning = false
  for (const container of objects(status.containerStatuses).toReversed()) {
    const { running: runs, terminated, waiting } = object(container.state)
    restarts = addRestarts(restarts, container)
    const why = text(object(waiting).reason)
    if (why !== "") reason = why
    else if (isSet(terminated)) {
      reason = endOf(object(terminated))
      if (number(object(terminated).exitCode) !== 0) failure = reason
    } else if (container.ready === true && isSet(runs)) {
      isRunning = true
      ready++
    }
  }
  if (reason === "Completed") {
    if (isRunning && conditionOf(status.conditions, "Ready") === "True") reason = "Running"
    else if (failure !== "") reason = failure
    else if (isRunning) reason = "NotReady"
  }
  return { reason, ready, restarts }
}

const stateOf = (pod: KubeObject): State => {
  const spec = object(pod.spec)
  const status = object(pod.status)
  const phase = text(status.phase)
  const isGated = objects(status.conditions).some(
    ({ reason, type }) => type === "PodScheduled" && reason === "SchedulingGated"
  )
  const phaseReason = isGated ? "SchedulingGated" : or(status.reason, phase)
  const { sidecars, ...init } = initial(spec, status)
  const isInitialized = init.reason === "" || conditionOf(status.conditions, "Initialized") === "True"
  const state = isInitialized
    ? running({ ready: init.ready, reason: init.reason || phaseReason, restarts: sidecars }, status)
    : init
  if (!isDeleting(pod)) return state
  if (status.reason === "NodeLost") return { ...state, reason: "Unknown" }
  return phase === "Succeeded" || phase === "Failed" ? state : { ...state, reason: "Terminating" }
}

/** How many gates are open, of how many. */
const gates = (spec: JsonObject, { conditions }: JsonObject): string => {
  const all = objects(spec.readinessGates)
  const open = all.filter(({ conditionType }) => conditionOf(conditions, text(conditionType)) === "True")
  return all.length === 0 ? "<none>" : `${open.length}/${all.length}`
}

const completed: Readonly<Record<string, ReadonlyArray<JsonObject>>> = {
  Succeeded: [
    { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." }
  ],
  Failed: [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }]
}

export const podRow = (pod: KubeObject, now: number): TableRow => {
  const spec = object(pod.spec)
  const status = object(pod.status)
  const { ready, reason, restarts } = stateOf(pod)
  const sidecars = objects(spec.initContainers).filter(({ restartPolicy }) => restartPolicy === "Always")
  const { count, last } = restarts
  const conditions = completed[text(status.phase)]
  return {
    cells: [
      nameOf(pod),
      `${ready}/${objects(spec.containers).length + sidecars.length}`,
      reason,
      count !== 0 && last !== "" ? `${count} (${age(last, now)} ago)` : String(count),
      ageOf(pod, now),
      or(objects(status.podIPs)[0]?.ip, "<none>"),
      or(spec.nodeName, "<none>"),
      or(status.nominatedNodeName, "<none>"),
      gates(spec, status)
    ],
    ...(conditions !== undefined && { conditions })
  }
}
