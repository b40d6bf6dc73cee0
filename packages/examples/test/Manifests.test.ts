import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { ApiServer } from "@fixpoint/apiserver/ApiServer"
import { assert, it } from "@effect/vitest"
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Controller from "@fixpoint/core/Controller"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { parse } from "yaml"
import { ConfigMap, Role, Scope } from "../src/access/kinds.ts"
import { files, kebab } from "../src/access/manifests.ts"
import { roles, scopes } from "../src/access/operator.ts"
import { at, memory, quiet, roleManifest, scopeManifest, start } from "./world.ts"

const folder = fileURLToPath(new URL("../manifests/access/", import.meta.url))

it("the files in the repository are those that the Kinds and controllers make today: npm run manifests (C11)", () => {
  const made = files()
  for (const { path, text } of made) assert.strictEqual(readFileSync(join(folder, path), "utf8"), text, path)
  const folders = [...new Set(made.map(({ path }) => dirname(path)))]
  const present = folders.flatMap((one) => readdirSync(join(folder, one)).map((name) => `${one}/${name}`))
  assert.sameMembers(
    present,
    made.map(({ path }) => path)
  )
})

it("a file is named by its kind, acronyms kept together (C11)", () => {
  const names = ["Role", "ClusterRoleBinding", "HTTPRoute", "CSINode", "APIService", "PodCIDR"].map(kebab)
  assert.deepStrictEqual(names, ["role", "cluster-role-binding", "http-route", "csi-node", "api-service", "pod-cidr"])
})

it.effect("the server takes every namespaced manifest and every CRD as it is", () =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    yield* api.create(
      { group: "", version: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" },
      { metadata: { name: "access-system" } }
    )
    const plurals: Readonly<Record<string, string>> = {
      ServiceAccount: "serviceaccounts",
      ClusterRole: "clusterroles",
      ClusterRoleBinding: "clusterrolebindings",
      Deployment: "deployments"
    }
    for (const object of files().map(({ text }) => parse(text))) {
      const plural = plurals[object.kind]
      if (plural === undefined) continue
      const [group, version] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", object.apiVersion]
      const scope = object.metadata.namespace === undefined ? "Cluster" : "Namespaced"
      yield* api.create({ group, version, kind: object.kind, plural, scope }, object, { fieldValidation: "Strict" })
    }
  }).pipe(Effect.provide(memory()))
)

/** What RBAC calls the verb of a request. */
const rbacVerb = (verb: string): string => (verb === "apply" ? "patch" : verb === "replace" ? "update" : verb)

it.effect("the ClusterRole grants what the operator asks of the server, and nobody's Secrets (D21)", () =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const server = yield* ApiServer
    const mine: Array<number> = []
    const watch = { before: ({ number }: { readonly number: number }) => Effect.sync(() => void mine.push(number)) }
    // The user acts while nobody looks; all that is asked else is the operator's.
    yield* api.create(Scope, scopeManifest("docs"))
    yield* api.create(Role, roleManifest("editor"))
    yield* api.create(Role, roleManifest("stray", { scope: "nowhere" }))
    yield* server.hook(watch)
    const operator = yield* start()
    yield* quiet
    const own = mine.splice(0)
    yield* api.patch(
      ConfigMap,
      at("editor-rules"),
      { type: "merge", body: { data: { ada: "all" } } },
      { fieldManager: "vim" }
    )
    yield* api.delete(Role, at("stray"))
    mine.splice(0)
    yield* quiet
    yield* TestClock.adjust("20 minutes")
    yield* operator.stop
    own.push(...mine)
    const rules = Controller.rbac([roles, scopes])
    const asked = (yield* server.log).filter(
      ({ number, operation }) => own.includes(number) && operation.verb !== "discover"
    )
    const refused = asked.filter(({ operation: { resource, verb } }) => {
      // The review of one's own rights is granted to everybody.
      if (resource.startsWith("selfsubjectaccessreviews")) return false
      const [name = "", subresource] = resource.split("/")
      const [plural = "", ...group] = name.split(".")
      const full = subresource === undefined ? plural : `${plural}/${subresource}`
      return !rules.some(
        (rule) =>
          rule.apiGroups.includes(group.join(".")) &&
          rule.resources.includes(full) &&
          rule.verbs.includes(rbacVerb(verb))
      )
    })
    assert.deepStrictEqual(
      refused.map(({ operation }) => operation),
      []
    )
    assert.isAbove(asked.length, 15)
    assert.isFalse(JSON.stringify(rules).includes("secrets"))
    assert.isFalse(JSON.stringify(rules).includes("*"))
  }).pipe(Effect.provide(memory()))
)
