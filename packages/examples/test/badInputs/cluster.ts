/** What the cases need of the real cluster: a group, a namespace and an account of their own, and the hands of its admin. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Controller from "@fixpoint/core/Controller"
import * as Kind from "@fixpoint/core/Kind"
import type { KubeObject, ObjectInput, Resource } from "@fixpoint/core/KubeObject"
import { ControlPlane } from "@fixpoint/testing/ControlPlane"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { controllersOf, gadgetIn, type Options } from "./gadgets.ts"

const clusterScoped = (group: string, kind: string, plural: string): Resource => ({
  group,
  version: "v1",
  kind,
  plural,
  scope: "Cluster"
})
export const namespaces = clusterScoped("", "Namespace", "namespaces")
export const crds = clusterScoped("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions")
const clusterRoles = clusterScoped("rbac.authorization.k8s.io", "ClusterRole", "clusterroles")
const bindings = clusterScoped("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings")
const reviews = clusterScoped("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews")

/** The name of what belongs to no namespace. */
export const named = (name: string) => ({ namespace: undefined, name })

/** Looks every 100 ms, a minute at most. */
export const until = <E, R>(what: string, holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.repeat(holds, { schedule: Schedule.spaced("100 millis"), until: (held) => held }).pipe(
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.die(new Error(`${what} did not come true`))
    }),
    Effect.asVoid
  )

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fixpoint-bad-inputs-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

export interface KubeconfigInput {
  readonly server: string
  readonly cluster?: object
  readonly user?: object
}

export const kubeconfigText = ({ cluster = {}, server, user = {} }: KubeconfigInput): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    clusters: [{ name: "cluster", cluster: { server, ...cluster } }],
    users: [{ name: "user", user }],
    contexts: [{ name: "main", context: { cluster: "cluster", user: "user" } }]
  })

/** Writes it into a folder of its own; the path. */
export const kubeconfigFile = (text: string) =>
  Effect.map(folder, (path) => {
    const file = join(path, "kubeconfig")
    writeFileSync(file, text, { mode: 0o600 })
    return file
  })

let groups = 0

/** A part of the cluster for one case. */
export const site = Effect.fnUntraced(function* (options: Omit<Options, "group"> = {}) {
  const api = yield* ApiClient
  const { ca, token, url } = yield* ControlPlane
  const group = `case-${process.pid}-${++groups}.example.com`
  const all: Options = { group, ...options }
  const Gadget = gadgetIn(group, all.scope)
  const created = (resource: Resource, object: ObjectInput) =>
    Effect.acquireRelease(api.create(resource, object), ({ metadata }) =>
      Effect.ignore(api.delete(resource, { namespace: metadata.namespace, name: metadata.name }))
    )
  const { metadata } = yield* created(namespaces, { metadata: { generateName: "bad-input-" } })
  const namespace = metadata.name
  const account = `operator-of-${namespace}`
  /** Installs a CRD, changed as wanted, and waits until it is served. */
  const install = (kind: Kind.Any, change: (crd: any) => void = () => {}) =>
    Effect.gen(function* () {
      const crd: any = structuredClone(Kind.customResourceDefinition(kind))
      change(crd)
      const { metadata } = yield* created(crds, crd)
      yield* until(
        `${metadata.name} is established`,
        Effect.map(api.get(crds, named(metadata.name)), ({ status }) =>
          ((status as any)?.conditions ?? []).some((one: any) => one.type === "Established" && one.status === "True")
        )
      )
    })
  const rulesOf = (options: Options): ReadonlyArray<any> => Controller.rbac(controllersOf(options))
  let grants = 0
  /** Gives the account the rules that the operator needs, changed as wanted; again to replace them. */
  const grant = (change: (rules: ReadonlyArray<any>) => ReadonlyArray<any> = (rules) => rules) =>
    Effect.gen(function* () {
      // The server's authorizer learns of a grant by a watch, on a busy machine after the program has asked: a right of this grant alone tells when.
      const path = `/grant-${++grants}`
      const rules = [...change(rulesOf(all)), { nonResourceURLs: [path], verbs: ["get"] }]
      const isThere = yield* Effect.isSuccess(api.get(clusterRoles, named(account)))
      if (isThere) {
        yield* api.patch(clusterRoles, named(account), { type: "merge", body: { rules } })
      } else {
        yield* created(clusterRoles, { metadata: { name: account }, rules })
        yield* created(bindings, {
          metadata: { name: account },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: account },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: account }]
        })
      }
      const asked = { spec: { user: account, nonResourceAttributes: { path, verb: "get" } } }
      yield* until(
        `the server knows the rights of ${account}`,
        Effect.map(api.create(reviews, asked), ({ status }) => (status as any)?.allowed === true)
      )
    })
  const cluster = { "certificate-authority-data": Buffer.from(ca).toString("base64") }
  const at = (name: string) => ({ namespace: all.scope === "Cluster" ? undefined : namespace, name })
  return {
    api,
    group,
    namespace,
    Gadget,
    url,
    cluster,
    at,
    created,
    install,
    grant,
    /** What the operator is started with: it acts as the account, or as the admin. */
    env: (who: "account" | "admin" = "account") =>
      Effect.map(
        kubeconfigFile(
          kubeconfigText({ server: url, cluster, user: { token, ...(who === "account" && { as: account }) } })
        ),
        (KUBECONFIG) => ({ KUBECONFIG, GADGETS: JSON.stringify({ home: all.scope && namespace, ...all }) })
      ),
    gadget: (name: string, spec: object = { size: 1 }) => created(Gadget, { metadata: at(name), spec } as ObjectInput),
    /** Ready, in words: `True Synced: ...`. */
    readyOf: (name: string) =>
      Effect.map(api.get(Gadget, at(name)), (object: KubeObject) => {
        const ready = ((object.status as any)?.conditions ?? []).find((one: any) => one.type === "Ready")
        return ready === undefined ? "none" : `${ready.status} ${ready.reason}${ready.message && `: ${ready.message}`}`
      })
  }
})

export type Site = Effect.Success<ReturnType<typeof site>>

/** The rules without some verbs on one resource. */
export const without =
  (resource: string, ...verbs: ReadonlyArray<string>) =>
  (rules: ReadonlyArray<any>): ReadonlyArray<any> =>
    rules.flatMap((rule) => {
      if (!rule.resources.includes(resource)) return [rule]
      const left = rule.verbs.filter((verb: string) => !verbs.includes(verb))
      const others = rule.resources.filter((one: string) => one !== resource)
      return [
        ...(others.length > 0 ? [{ ...rule, resources: others }] : []),
        ...(left.length > 0 ? [{ ...rule, resources: [resource], verbs: left }] : [])
      ]
    })
