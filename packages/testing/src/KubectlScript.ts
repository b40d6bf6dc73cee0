/**
 * A script of kubectl commands that a user of custom resources types, run against a server, and the comparison of what two servers answered.
 *
 * Each scene runs in a namespace and a folder of its own; the first installs the two CustomResourceDefinitions that the others use. Compared are the exit code, stdout and stderr, once times, uids, versions, ports and addresses drawn at random and temporary paths are taken out
 * (`internal/kubectlText`); nothing else is passed over, but for the rows of `api-resources` and `api-versions` that `unserved` names.
 *
 * Guarantees: no command outlives the scope; one that hangs is ended after a minute, a watch that lacks its lines too.
 * Assumptions: the server is fresh, as `ControlPlane.make` or `ApiServer.layer` start one; `diff` and `sed` are installed; Linux or macOS.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { applying } from "./internal/kubectlApplying.ts"
import { changing } from "./internal/kubectlChanging.ts"
import { creating } from "./internal/kubectlCreating.ts"
import { closing, ending } from "./internal/kubectlEnding.ts"
import { type Outcome, run as runCommand, type Seat, seatAt, watch } from "./internal/kubectlProcess.ts"
import { reading, watching } from "./internal/kubectlReading.ts"
import { commandsOf, type Scene, type Step } from "./internal/kubectlScene.ts"
import { installing, serving } from "./internal/kubectlServing.ts"
import { normalise } from "./internal/kubectlText.ts"
import { working } from "./internal/kubectlWorking.ts"

/** A server that the script runs against, and the kubectl that it runs. */
export interface Target {
  readonly kubectl: string
  readonly url: string
  /** The certificate authority, PEM. Without: plain HTTP. */
  readonly ca?: string
  /** The token of an admin. */
  readonly token?: string
}

/** What one command came to on one server, normalised. */
export interface Answer {
  readonly scene: string
  readonly line: string
  /** `undefined` if it was ended from outside. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly milliseconds: number
}

/** One command on two servers. `differences` is empty if they answered the same. */
export interface Comparison {
  readonly scene: string
  readonly line: string
  readonly answers: readonly [Answer, Answer]
  readonly differences: ReadonlyArray<"exit code" | "stdout" | "stderr">
}

/** Stage after stage; the scenes of a stage do not see each other and run two at a time. */
const stages: ReadonlyArray<ReadonlyArray<Scene>> = [
  [installing],
  [reading],
  [...serving, watching, ...creating, ...applying, ...changing, ...working, ...ending],
  [closing]
]

/** How many commands the script has. */
export const commands: number = stages.flat().flatMap(({ steps }) => steps.flatMap(commandsOf)).length

const kubeconfig = ({ url, ca, token }: Target, namespace: string) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "script",
  clusters: [
    {
      name: "script",
      cluster: {
        server: url,
        ...(ca !== undefined && { "certificate-authority-data": Buffer.from(ca).toString("base64") })
      }
    }
  ],
  users: [{ name: "script", user: token === undefined ? {} : { token } }],
  contexts: [{ name: "script", context: { cluster: "script", user: "script", namespace } }]
})

const prepare = (seat: Seat, target: Target, { namespace, files }: Scene): void => {
  fs.mkdirSync(seat.folder, { recursive: true })
  fs.mkdirSync(seat.home, { recursive: true })
  fs.writeFileSync(seat.kubeconfig, JSON.stringify(kubeconfig(target, namespace ?? "default")), { mode: 0o600 })
  for (const [name, text] of Object.entries(files ?? {})) {
    fs.mkdirSync(path.dirname(path.join(seat.folder, name)), { recursive: true })
    fs.writeFileSync(path.join(seat.folder, name), text)
  }
}

const outcomesOf = (seat: Seat, step: Step): Effect.Effect<ReadonlyArray<Outcome>> => {
  if (typeof step !== "string" && "meanwhile" in step) return watch(seat, step)
  return Effect.map(runCommand(seat, typeof step === "string" ? { line: step } : step), (outcome) => [outcome])
}

const sorted = (text: string): string => text.split("\n").toSorted().join("\n")

const logLine = /^[IWE]<time> \S+\.go:\d+\] .*\n/gm

/** What is compared of an output. */
const comparable = (text: string, step: Step, seat: Seat): string => {
  const plain = normalise(text, seat.folder)
  if (typeof step === "string" || "meanwhile" in step) return plain
  if (step.unordered === true) return sorted(plain)
  return step.timesOut === true ? plain.replace(logLine, "") : plain
}

const runScene = Effect.fnUntraced(function* (target: Target, folder: string, scene: Scene) {
  const seat = seatAt(target.kubectl, folder, scene.name)
  yield* Effect.sync(() => prepare(seat, target, scene))
  const answers: Array<Answer> = []
  for (const step of scene.steps) {
    const lines = commandsOf(step)
    const outcomes = yield* outcomesOf(seat, step)
    for (const [index, { code, stdout, stderr, milliseconds }] of outcomes.entries()) {
      answers.push({
        scene: scene.name,
        line: lines[index]!,
        code,
        stdout: comparable(stdout, step, seat),
        stderr: comparable(stderr, step, seat),
        milliseconds
      })
    }
  }
  return answers
})

const emptyFolder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "fixpoint-kubectl-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

/** Runs the whole script. */
export const run = (target: Target): Effect.Effect<ReadonlyArray<Answer>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const folder = yield* emptyFolder
      const runStage = Effect.forEach((scene: Scene) => runScene(target, folder, scene), { concurrency: 2 })
      return (yield* Effect.forEach(stages, runStage)).flat(2)
    })
  )

/** What the in-memory API does not serve, as `api-resources -o name` and `api-versions` list it. Everything else in their lists is compared. */
export const unserved: ReadonlySet<string> = new Set([
  "bindings",
  "componentstatuses",
  "endpoints",
  "nodes",
  "persistentvolumes",
  "podtemplates",
  "replicationcontrollers",
  "mutatingadmissionpolicies.admissionregistration.k8s.io",
  "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingadmissionpolicies.admissionregistration.k8s.io",
  "validatingadmissionpolicybindings.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
  "apiservices.apiregistration.k8s.io",
  "controllerrevisions.apps",
  "tokenreviews.authentication.k8s.io",
  "localsubjectaccessreviews.authorization.k8s.io",
  "subjectaccessreviews.authorization.k8s.io",
  "certificatesigningrequests.certificates.k8s.io",
  "endpointslices.discovery.k8s.io",
  "flowschemas.flowcontrol.apiserver.k8s.io",
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
  "ingressclasses.networking.k8s.io",
  "ipaddresses.networking.k8s.io",
  "servicecidrs.networking.k8s.io",
  "runtimeclasses.node.k8s.io",
  "deviceclasses.resource.k8s.io",
  "resourceclaims.resource.k8s.io",
  "resourceclaimtemplates.resource.k8s.io",
  "resourceslices.resource.k8s.io",
  "csidrivers.storage.k8s.io",
  "csinodes.storage.k8s.io",
  "csistoragecapacities.storage.k8s.io",
  "storageclasses.storage.k8s.io",
  "volumeattachments.storage.k8s.io",
  "volumeattributesclasses.storage.k8s.io",
  "admissionregistration.k8s.io/v1",
  "apiregistration.k8s.io/v1",
  "autoscaling/v1",
  "certificates.k8s.io/v1",
  "discovery.k8s.io/v1",
  "flowcontrol.apiserver.k8s.io/v1",
  "node.k8s.io/v1",
  "resource.k8s.io/v1",
  "storage.k8s.io/v1"
])

const listed = /^api-(?:resources|versions)\b/

const served = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !unserved.has(line))
    .join("\n")

const compareAnswers = (left: Answer, right: Answer): Comparison => ({
  scene: left.scene,
  line: left.line,
  answers: [left, right],
  differences: [
    ...(left.code === right.code ? [] : (["exit code"] as const)),
    ...(left.stdout === right.stdout ? [] : (["stdout"] as const)),
    ...(left.stderr === right.stderr ? [] : (["stderr"] as const))
  ]
})

/** Holds the answers of two servers against each other, command by command. */
export const compare = (real: ReadonlyArray<Answer>, ours: ReadonlyArray<Answer>): ReadonlyArray<Comparison> =>
  real.map((answer, index) =>
    compareAnswers(listed.test(answer.line) ? { ...answer, stdout: served(answer.stdout) } : answer, ours[index]!)
  )

const place = (name: "stdout" | "stderr", left: string, right: string): string => {
  const [real, ours] = [left.split("\n"), right.split("\n")]
  const at = real.findIndex((line, index) => line !== ours[index])
  const index = at === -1 ? real.length : at
  const say = (line: string | undefined): string => (line === undefined ? "nothing more" : JSON.stringify(line))
  return `${name}, line ${index + 1}: ${say(real[index])} and ${say(ours[index])}`
}

/** One line for each difference: where the two answers part. */
export const explain = ({ scene, line, answers: [left, right], differences }: Comparison): ReadonlyArray<string> =>
  differences.map((name) => {
    const where =
      name === "exit code" ? `exit code: ${left.code} and ${right.code}` : place(name, left[name], right[name])
    return `kubectl ${line} (${scene}): ${where}`
  })
