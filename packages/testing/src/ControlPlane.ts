/**
 * A real Kubernetes control plane for tests: etcd and kube-apiserver, and kube-controller-manager where garbage collection and the deletion of
 * namespaces are wanted. It is started from the folder that `KUBEBUILDER_ASSETS` names, as `setup-envtest` fills it, on free loopback ports and in a
 * temporary folder, and is ready after some 4 s.
 *
 * The server: RBAC; users by a token file; ServiceAccount admission off, so that a bare namespace takes Pods; no nodes, no scheduler. Its
 * certificate is self-signed and serves as its own authority. etcd syncs nothing to disk.
 *
 * Guarantees: nothing outlives the scope, nor this process, even if it is killed by SIGKILL (see `internal/watchdog`).
 * Assumptions: Linux or macOS; a folder for temporary files.
 * Caveats: a port found free may be taken before it is used: the start is then tried again, three times in all.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Exit from "effect/Exit"
import { type Ground, prepare } from "./internal/controlPlaneFiles.ts"
import { answers, freePorts } from "./internal/loopback.ts"
import { type Den, den, lastWords, type Process, start } from "./internal/processes.ts"

/** Why no control plane: `AssetsMissing` says what to install, `NotStarted` quotes the end of the program's log. */
export type ControlPlaneReason =
  | { readonly _tag: "AssetsMissing"; readonly folder: string | undefined; readonly missing: ReadonlyArray<string> }
  | { readonly _tag: "NotStarted"; readonly program: string; readonly detail: string }

/** The only error of this module. `message` is one line that says what to do. */
export class ControlPlaneError extends Data.TaggedError("ControlPlaneError")<{ readonly reason: ControlPlaneReason }> {
  override get message(): string {
    const { reason } = this
    if (reason._tag === "NotStarted") return `the control plane's ${reason.program} did not start: ${reason.detail}`
    const what =
      reason.folder === undefined
        ? "KUBEBUILDER_ASSETS is not set"
        : `KUBEBUILDER_ASSETS is ${reason.folder}, which lacks ${reason.missing.join(", ")}`
    return `no control plane for tests: ${what}; run "export KUBEBUILDER_ASSETS=$(setup-envtest use -p path)", or set it to a folder with ${programs.join(", ")} (and kube-controller-manager for controllers)`
  }
}

const programs = ["kube-apiserver", "etcd", "kubectl"]

/** Somebody with a token. The group `system:masters` may do everything. */
export interface User {
  readonly name: string
  readonly groups: ReadonlyArray<string>
}

export interface Options {
  /** The folder of the programs. Default: what `KUBEBUILDER_ASSETS` names. */
  readonly assets?: string
  /** Runs kube-controller-manager with its garbage collector and namespace controller. Default: not. */
  readonly controllers?: boolean
  /** Further users; their tokens are in `users`. */
  readonly users?: ReadonlyArray<User>
  /** Further flags of kube-apiserver. */
  readonly apiServerFlags?: ReadonlyArray<string>
}

/** How to reach a control plane. */
export interface Connection {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string
  /** The certificate authority, PEM. */
  readonly ca: string
  /** The token of an admin (`system:masters`). */
  readonly token: string
  /** The tokens of the further users, by name. */
  readonly users: Readonly<Record<string, string>>
  /** The path of a kubeconfig for the admin. */
  readonly kubeconfig: string
  /** The path of a kubectl of the same version. */
  readonly kubectl: string
  /** `http://127.0.0.1:<port>`, for tests that compact it. */
  readonly etcdUrl: string
}

export class ControlPlane extends Context.Service<ControlPlane, Connection>()("@fixpoint/testing/ControlPlane") {}

/** The kube-apiserver of a control plane of one's own, for tests of outages. It keeps its address and its data. */
export class ApiServerProcess extends Context.Service<
  ApiServerProcess,
  {
    /** Ends it: by SIGKILL as a crash (the default), by SIGTERM as an upgrade. Returns when it is gone. */
    readonly stop: (signal?: "SIGKILL" | "SIGTERM") => Effect.Effect<void>
    /** Starts it again if it is stopped. Returns when it is ready. */
    readonly start: Effect.Effect<void, ControlPlaneError>
    readonly restart: (signal?: "SIGKILL" | "SIGTERM") => Effect.Effect<void, ControlPlaneError>
  }
>()("@fixpoint/testing/ApiServerProcess") {}

/** The folder of the programs, or what is missing. */
const assets = (options?: Options): Effect.Effect<string, ControlPlaneError> =>
  Effect.suspend(() => {
    const folder = options?.assets ?? process.env.KUBEBUILDER_ASSETS
    const wanted = options?.controllers === true ? [...programs, "kube-controller-manager"] : programs
    const missing = folder ? wanted.filter((program) => !fs.existsSync(path.join(folder, program))) : wanted
    return folder && missing.length === 0
      ? Effect.succeed(folder)
      : Effect.fail(new ControlPlaneError({ reason: { _tag: "AssetsMissing", folder: folder || undefined, missing } }))
  })

/** True if `KUBEBUILDER_ASSETS` names a folder: tests that need a control plane are skipped where not. A folder that lacks a program fails them. */
export const available = (): boolean => Boolean(process.env.KUBEBUILDER_ASSETS)

const notStarted = (program: string, detail: string): ControlPlaneError =>
  new ControlPlaneError({ reason: { _tag: "NotStarted", program, detail } })

/** Runs until the check holds, the process ends, or `seconds` are over. */
const ready = (
  running: Process,
  seconds: number,
  check: Effect.Effect<boolean>
): Effect.Effect<void, ControlPlaneError> =>
  Effect.suspend(() =>
    running.isRunning() ? check : Effect.fail(notStarted(running.name, lastWords(running.log)))
  ).pipe(
    Effect.repeat({ schedule: Schedule.spaced("40 millis"), until: (ok) => ok }),
    Effect.timeoutOrElse({
      duration: `${seconds} seconds`,
      orElse: () =>
        Effect.fail(notStarted(running.name, `it was not ready after ${seconds} s: ${lastWords(running.log)}`))
    }),
    Effect.asVoid
  )

const run = (den: Den, name: string, program: string, args: ReadonlyArray<string>) =>
  Effect.mapError(start(den, name, program, args), (error) => notStarted(name, error.message))

const flags = (values: Readonly<Record<string, string | number>>): ReadonlyArray<string> =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`)

const etcdFlags = (ground: Ground): ReadonlyArray<string> =>
  flags({
    "data-dir": path.join(ground.folder, "etcd"),
    "listen-client-urls": ground.etcdUrl,
    "advertise-client-urls": ground.etcdUrl,
    "listen-peer-urls": ground.peerUrl,
    "initial-advertise-peer-urls": ground.peerUrl,
    "initial-cluster": `default=${ground.peerUrl}`,
    "unsafe-no-fsync": "true"
  })

const apiServerFlags = (ground: Ground): ReadonlyArray<string> =>
  flags({
    "etcd-servers": ground.etcdUrl,
    "secure-port": ground.port,
    "bind-address": "127.0.0.1",
    "advertise-address": "127.0.0.1",
    "endpoint-reconciler-type": "none",
    "cert-dir": ground.certs,
    "service-account-issuer": "https://kubernetes.default.svc",
    "service-account-key-file": ground.key,
    "service-account-signing-key-file": ground.key,
    "service-cluster-ip-range": "10.0.0.0/24",
    "token-auth-file": ground.tokens,
    "authorization-mode": "RBAC",
    "disable-admission-plugins": "ServiceAccount"
  })

const controllerFlags = (ground: Ground): ReadonlyArray<string> =>
  flags({
    kubeconfig: ground.kubeconfig,
    "leader-elect": "false",
    controllers: "garbage-collector-controller,namespace-controller",
    // No port of its own: several may run on one machine.
    "secure-port": 0
  })

/** The API server in a scope of its own, so that it can be stopped and started alone. */
const apiServer = Effect.fnUntraced(function* (den: Den, ground: Ground, folder: string, options: Options) {
  const outer = yield* Effect.scope
  let current: { readonly scope: Scope.Closeable; readonly process: Process } | undefined
  const up: Effect.Effect<void, ControlPlaneError> = Effect.gen(function* () {
    if (current?.process.isRunning() === true) return
    const scope = yield* Scope.fork(outer)
    const running = yield* run(den, "kube-apiserver", path.join(folder, "kube-apiserver"), [
      ...apiServerFlags(ground),
      ...(options.apiServerFlags ?? [])
    ]).pipe(Scope.provide(scope))
    current = { scope, process: running }
    yield* ready(running, 60, answers(ground, "/readyz"))
    yield* ready(running, 30, answers(ground, "/api/v1/namespaces/default"))
  })
  const stop = (signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Effect.Effect<void> =>
    Effect.suspend(() => {
      const stopped = current
      current = undefined
      return stopped === undefined
        ? Effect.void
        : Effect.andThen(stopped.process.kill(signal), Scope.close(stopped.scope, Exit.void))
    })
  return ApiServerProcess.of({ stop, start: up, restart: (signal) => Effect.andThen(stop(signal), up) })
})

const startOnce = Effect.fnUntraced(function* (folder: string, options: Options) {
  const home = yield* den
  const ground = yield* prepare(home.folder, yield* freePorts(3), options.users ?? [])
  const etcd = yield* run(home, "etcd", path.join(folder, "etcd"), etcdFlags(ground))
  const server = yield* apiServer(home, ground, folder, options)
  // The API server waits for etcd itself; only a dead etcd is worth telling apart.
  yield* Effect.mapError(server.start, (error) => (etcd.isRunning() ? error : notStarted("etcd", lastWords(etcd.log))))
  if (options.controllers === true) {
    yield* run(home, "kube-controller-manager", path.join(folder, "kube-controller-manager"), controllerFlags(ground))
  }
  const connection: Connection = {
    url: ground.url,
    ca: fs.readFileSync(ground.ca, "utf8"),
    token: ground.token,
    users: ground.users,
    kubeconfig: ground.kubeconfig,
    kubectl: path.join(folder, "kubectl"),
    etcdUrl: ground.etcdUrl
  }
  return { connection, server }
})

/** Starts a control plane for the scope. */
export const make = Effect.fnUntraced(function* (options: Options = {}) {
  const folder = yield* assets(options)
  const outer = yield* Effect.scope
  // Each try has its own scope: a failed one is cleared away before the next.
  const attempt = Effect.gen(function* () {
    const scope = yield* Scope.fork(outer)
    return yield* startOnce(folder, options).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  })
  return yield* Effect.retry(attempt, {
    times: 2,
    while: ({ reason }) => reason._tag === "NotStarted" && reason.detail.includes("address already in use")
  })
})

/** A control plane of one's own, stopped with the layer's scope. */
export const layer = (options?: Options): Layer.Layer<ControlPlane | ApiServerProcess, ControlPlaneError> =>
  Layer.effectContext(
    Effect.map(make(options), ({ connection, server }) =>
      Context.make(ControlPlane, connection).pipe(Context.add(ApiServerProcess, server))
    )
  )
