/** All that needs a real control plane, in one file: its tests run one after another, since they share the CRDs of one cluster. */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ApiServer } from "@fixpoint/apiserver/ApiServer"
import { assert, describe, it, layer } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject, Resource } from "@fixpoint/core/KubeObject"
import * as Wake from "@fixpoint/core/Wake"
import * as Kubernetes from "@fixpoint/kubernetes/Kubernetes"
import { available, type Connection, ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as SharedControlPlane from "@fixpoint/testing/SharedControlPlane"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { ConfigMap, Role, Scope } from "../src/access/kinds.ts"
import { definitions } from "../src/access/manifests.ts"
import { fieldManager } from "../src/access/operator.ts"
import { Registry } from "../src/access/Registry.ts"
import { compiled } from "./compiled.ts"
import { demo } from "./demoProcess.ts"
import { events, type Form, forms, memory, quiet, ready, roleManifest, scopeManifest, start, stateOf } from "./world.ts"

/** How a story waits: in memory until nothing runs, on a real cluster until it holds. */
type Wait<R> = (holds: Effect.Effect<boolean, ApiError>) => Effect.Effect<void, ApiError, R>

/** All that can run has run: now it holds. */
const atOnce: Wait<ApiServer> = (holds) =>
  Effect.andThen(
    quiet,
    Effect.map(holds, (held) => assert.isTrue(held))
  )

/** A Role waits, is reconciled, has its child repaired; another goes. Answers the state on the way and in the end. */
const story = Effect.fnUntraced(function* <R>(namespace: string, form: Form, wait: Wait<R>) {
  const api = yield* ApiClient
  const registry = yield* Registry
  const at = (name: string) => ({ namespace, name })
  const placed = <O extends { readonly metadata?: object }>(object: O) => ({
    ...object,
    metadata: { ...object.metadata, namespace }
  })
  const look = Effect.gen(function* () {
    const objects = yield* Effect.forEach([Scope, Role, ConfigMap], (kind) => api.list(kind, { namespace }))
    return stateOf(
      objects.flatMap(({ items }) => items),
      (yield* registry.entries).values()
    )
  })
  const isReady = (name: string, text: string) => Effect.map(api.get(Role, at(name)), (role) => ready(role) === text)
  const counts = (roles: number) =>
    Effect.map(api.get(Scope, at("docs")), ({ status }) => (status as any)?.roles === roles)
  const isGone = (resource: Resource, name: string) =>
    api.get(resource, at(name)).pipe(
      Effect.as(false),
      Effect.catchReason("ApiError", "NotFound", () => Effect.succeed(true))
    )
  const adas = Effect.map(
    api.get(ConfigMap, at("editor-rules")),
    ({ data }) => (data as any)?.ada === "articles: read, write"
  )
  const operator = yield* start(form)
  yield* api.create(Role, placed(roleManifest("editor")), { fieldManager: "user" })
  yield* wait(isReady("editor", "False ScopeNotFound"))
  const waiting = yield* look
  yield* api.create(Scope, placed(scopeManifest("docs")), { fieldManager: "user" })
  yield* wait(isReady("editor", "True Synced"))
  yield* api.create(Role, placed(roleManifest("reviewer")), { fieldManager: "user" })
  yield* wait(isReady("reviewer", "True Synced"))
  yield* wait(counts(2))
  yield* api.patch(
    ConfigMap,
    at("editor-rules"),
    { type: "merge", body: { data: { ada: "all" } } },
    { fieldManager: "vim" }
  )
  yield* wait(adas)
  yield* api.delete(Role, at("reviewer"))
  yield* wait(isGone(ConfigMap, "reviewer-rules"))
  yield* wait(counts(1))
  const end = yield* look
  return { operator, states: { waiting, end } }
})

const namespaces: Resource = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" }
const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
}

const real = Layer.unwrap(
  Effect.map(ControlPlane, ({ ca, token, url }) =>
    Kubernetes.layerWith({ server: url, ca, token: Redacted.make(token) })
  )
).pipe(Layer.provideMerge(SharedControlPlane.layer))

/** Looks every 100 ms, for a minute at most. The garbage collector learns of new CRDs every 30 s. */
const until = (holds: Effect.Effect<boolean, ApiError>): Effect.Effect<void, ApiError> =>
  Effect.repeat(holds, { schedule: Schedule.spaced("100 millis"), until: (held) => held }).pipe(
    Effect.timeoutOrElse({ duration: "60 seconds", orElse: () => Effect.die(new Error("it did not come true")) }),
    Effect.asVoid
  )

const isEstablished = ({ status }: KubeObject): boolean =>
  ((status as any)?.conditions ?? []).some((one: any) => one.type === "Established" && one.status === "True")

/** The real cluster with the CRDs of the example, so that its garbage collector must learn of them once. */
const prepared = Layer.effectDiscard(
  Effect.gen(function* () {
    const api = yield* ApiClient
    for (const definition of definitions) {
      const ref = { namespace: undefined, name: definition.metadata!.name! }
      yield* Effect.acquireRelease(api.create(crds, definition), () => Effect.orDie(api.delete(crds, ref)))
      yield* until(Effect.map(api.get(crds, ref), isEstablished))
    }
  })
).pipe(Layer.provideMerge(real))

const ownNamespace = Effect.gen(function* () {
  const api = yield* ApiClient
  const { metadata } = yield* Effect.acquireRelease(
    api.create(namespaces, { metadata: { generateName: "access-test-" } }),
    ({ metadata }) => Effect.orDie(api.delete(namespaces, { namespace: undefined, name: metadata.name }))
  )
  return metadata.name
})

/** The names of what the demo may leave behind. */
const left = ({ kubeconfig, kubectl }: Connection): ReadonlyArray<string> =>
  execFileSync(kubectl, ["--kubeconfig", kubeconfig, "get", "crd,ns", "-o", "name"], { encoding: "utf8" })
    .split("\n")
    .filter((name) => name.includes("access-demo-") || name.includes("access.example.com"))

const reviews: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster"
}

/** Waits until the account of the kubeconfig has its role: the server's authorizer learns of a grant by a watch, on a busy machine after the program has asked. */
const granted = (kubeconfig: string) =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const resourceAttributes = { verb: "create", resource: "events" }
    yield* until(
      Effect.map(
        api.create(reviews, { spec: { resourceAttributes } }),
        ({ status }) => (status as any)?.allowed === true
      )
    )
  }).pipe(Effect.provide(Kubernetes.layerWith({ kubeconfig })))

const manifests = fileURLToPath(new URL("../manifests/access/operator", import.meta.url))

/** Applies the manifests as they are; answers a kubeconfig of the operator's ServiceAccount. */
const deployed = Effect.fnUntraced(function* ({ ca, kubeconfig, kubectl, url }: Connection) {
  const run = (...args: ReadonlyArray<string>): string =>
    execFileSync(kubectl, ["--kubeconfig", kubeconfig, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"]
    })
  yield* Effect.acquireRelease(
    Effect.sync(() => run("create", "namespace", "access-system")),
    () => Effect.sync(() => run("delete", "namespace", "access-system", "--wait=false"))
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => run("apply", "--server-side", "--filename", manifests)),
    () => Effect.sync(() => run("delete", "--ignore-not-found", "--wait=false", "--filename", manifests))
  )
  const token = run("create", "token", "access-operator", "--namespace", "access-system").trim()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fixpoint-operator-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )
  const path = join(folder, "kubeconfig")
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "operator",
    contexts: [{ name: "operator", context: { cluster: "cluster", user: "operator" } }],
    clusters: [
      {
        name: "cluster",
        cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") }
      }
    ],
    users: [{ name: "operator", user: { token } }]
  }
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  yield* granted(path)
  return path
})

/** The program of the Deployment as a process; `end` asks it to stop, as a kubelet does. */
const operatorProgram = (kubeconfig: string) =>
  Effect.gen(function* () {
    const main = fileURLToPath(new URL("../src/access/main.ts", import.meta.url))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--conditions=@fixpoint/source", main], {
          env: { ...process.env, KUBECONFIG: kubeconfig, HEALTH_PORT: "0", NODE_COMPILE_CACHE: compiled },
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (child) => Effect.sync(() => void child.kill("SIGKILL"))
    )
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => void (output += String(part)))
    const ended = new Promise<number | string | null>((resolve) => {
      child.once("exit", (code, signal) => resolve(code ?? signal))
    })
    return {
      end: Effect.promise(async () => {
        child.kill("SIGTERM")
        return { code: await ended, output }
      })
    }
  })

/** What the operator itself writes but Events, which are counted together or apart as time goes; other requests in brackets. */
const textOf = (verb: string, args: ReadonlyArray<any>): string => {
  const [resource, ...rest] = args
  const options = rest.at(-1)
  const text = `${verb} ${resource.plural}${options?.subresource === undefined ? "" : `/${options.subresource}`}`
  return options?.fieldManager === fieldManager && resource.plural !== "events" ? text : `(${text})`
}

/** An ApiClient that tells each of its requests but the watches. */
const telling = (api: ApiClient["Service"], tell: (call: string) => void): ApiClient["Service"] =>
  new Proxy(api, {
    get: (target, verb: keyof typeof api) =>
      verb === "watch"
        ? target.watch
        : (...args: ReadonlyArray<any>) => {
            tell(textOf(verb, args))
            return (target[verb] as any)(...args)
          }
  })

const writesOf = (calls: ReadonlyArray<string>): ReadonlyArray<string> =>
  calls.filter((call) => !call.startsWith("(")).toSorted()

/** What the operator has said, in words. */
const saidIn = (namespace: string) =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const { items } = yield* api.list(events, { namespace })
    return (items as ReadonlyArray<any>)
      .filter(({ reportingComponent }) => reportingComponent === fieldManager)
      .map(
        ({ involvedObject, message, reason, type }) =>
          `${type} ${reason} ${involvedObject.kind} ${involvedObject.name}: ${message}`
      )
      .toSorted()
  })

const comesToRest = Effect.fnUntraced(function* (form: Form, expected: unknown) {
  const api = yield* ApiClient
  const namespace = yield* ownNamespace
  let calls: Array<string> = []
  yield* Effect.gen(function* () {
    const { operator, states } = yield* story(namespace, form, until)
    yield* Effect.sleep("1 second")
    const came = { states, said: yield* saidIn(namespace), writes: writesOf(calls) }
    assert.deepStrictEqual(JSON.parse(JSON.stringify(came).replaceAll(namespace, "team")), expected)
    calls = []
    const before = operator.passes.length
    yield* Effect.provideContext(Effect.all([Wake.resync(Role), Wake.resync(Scope)]), operator.wakes)
    yield* until(Effect.sync(() => operator.passes.length >= before + 2))
    assert.deepStrictEqual(calls, [], "a second pass asks nothing of the server")
    // Its finalizers are taken off while the operator still runs.
    yield* api.delete(Role, { namespace, name: "editor" })
    yield* until(Effect.map(api.list(Role, { namespace }), ({ items }) => items.length === 0))
    yield* operator.stop
  }).pipe(
    Effect.provide(Layer.fresh(Registry.layerMemory)),
    Effect.provideService(
      ApiClient,
      telling(api, (call) => calls.push(call))
    )
  )
})

const silent = Logger.layer([])

describe.skipIf(!available())("on a real cluster", () => {
  it.live(
    "the demo takes away its CRDs and its namespace on Ctrl-C, a Role with its finalizer included",
    () =>
      Effect.gen(function* () {
        const connection = yield* ControlPlane
        const { code, stdout } = yield* demo(["--kubeconfig", connection.kubeconfig], {
          text: "ok Role editor",
          signal: "SIGINT"
        })
        assert.strictEqual(code, 130, stdout)
        assert.deepStrictEqual(left(connection), [])
      }).pipe(Effect.provide(SharedControlPlane.layer)),
    120_000
  )

  layer(Layer.merge(prepared, silent), { timeout: 60_000, excludeTestServices: true })("with the CRDs", (it) => {
    it.effect(
      "the operator comes in both forms to the very objects, conditions, owned fields and events of the cluster in memory by the same writes, and rests",
      () =>
        Effect.gen(function* () {
          const calls: Array<string> = []
          const expected = yield* Effect.gen(function* () {
            const api = yield* ApiClient
            const { states } = yield* Effect.provideService(
              story("team", forms["the pipeline"], atOnce),
              ApiClient,
              telling(api, (call) => calls.push(call))
            )
            yield* quiet
            return { states, said: yield* saidIn("team"), writes: writesOf(calls) }
          }).pipe(Effect.scoped, Effect.provide(memory()))
          for (const form of Object.values(forms)) yield* Effect.scoped(comesToRest(form, expected))
        }),
      180_000
    )

    it.effect(
      "the demo plays all acts, and leaves the CRDs that were there and no namespace",
      () =>
        Effect.gen(function* () {
          const connection = yield* ControlPlane
          const { code, stderr, stdout } = yield* demo(["--kubeconfig", connection.kubeconfig])
          assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, stdout)
          assert.match(stdout, /\n7 of 7 acts passed, in [\d.]+ s\n$/)
          assert.deepStrictEqual(
            left(connection),
            ["roles", "scopes"].map(
              (plural) => `customresourcedefinition.apiextensions.k8s.io/${plural}.access.example.com`
            )
          )
        }),
      120_000
    )

    it.effect(
      "the operator's program runs under its own ServiceAccount with what the manifests grant, and ends cleanly on SIGTERM (D21)",
      () =>
        Effect.gen(function* () {
          const connection = yield* ControlPlane
          const api = yield* ApiClient
          const namespace = yield* ownNamespace
          const kubeconfig = yield* deployed(connection)
          const at = { namespace, name: "editor" }
          yield* api.create(Scope, { ...scopeManifest("docs"), metadata: { namespace, name: "docs" } })
          yield* api.create(Role, { ...roleManifest("editor"), metadata: at })
          const says = (message: string, count: number) =>
            until(
              Effect.map(api.list(events, { namespace }), ({ items }) =>
                items.some((event) => event.message === message && event.count === count)
              )
            )
          const ends = (program: Effect.Success<ReturnType<typeof operatorProgram>>) =>
            Effect.map(program.end, ({ code, output }) => {
              assert.strictEqual(code, 0, output)
              const complaints = output.split("\n").filter((line) => /Forbidden|WARN|ERROR/.test(line))
              assert.deepStrictEqual(complaints, [], output)
            })
          const first = yield* operatorProgram(kubeconfig)
          yield* until(Effect.map(api.get(Role, at), (role) => ready(role) === "True Synced"))
          yield* says("created ConfigMap editor-rules, registered editor", 1)
          yield* ends(first)
          // Its registry forgets everything with the process, so each start registers the Role again, and says so.
          for (const count of [1, 2]) {
            const again = yield* operatorProgram(kubeconfig)
            yield* says("registered editor", count)
            if (count === 2) yield* api.delete(Role, at)
            if (count === 2) yield* says("released editor", 1)
            yield* ends(again)
          }
          assert.deepStrictEqual((yield* api.list(Role, { namespace })).items, [])
        }),
      120_000
    )
  })
})
