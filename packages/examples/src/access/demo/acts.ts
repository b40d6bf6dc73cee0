/** The acts of the demo: a user's day with the access operator. */
import { fileURLToPath } from "node:url"
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import { UsageError } from "@fixpoint/kubernetes/Operator"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ConfigMap, Role } from "../kinds.ts"
import { type Manifest, load } from "./manifestFolder.ts"
import { find } from "./observer.ts"
import { type Act, Missed, Stage } from "./stage.ts"
import * as User from "./user.ts"
import { dataOf, eventRowOf, named, readyOf, told, type View } from "./view.ts"
import { Ground } from "./world.ts"

const samples = fileURLToPath(new URL("../../../manifests/access/samples/", import.meta.url))

/** The sample of that name. */
const sample = (name: string): Effect.Effect<Manifest, UsageError> =>
  Effect.flatMap(load(samples), (all) => {
    const found = all.find(({ file }) => file === `${name}.yaml`)
    return found === undefined
      ? Effect.fail(new UsageError({ message: `${samples} has no ${name}.yaml` }))
      : Effect.succeed(found)
  })

/** Whether it tells this of itself. */
export const isReady = (object: KubeObject | undefined, reason = "Synced"): boolean => {
  const ready = readyOf(object)
  return ready?.reason === reason && ready.status === (reason === "Synced" ? "True" : "False")
}

export const hasEvent = (view: View, type: string, reason: string, about: string): boolean =>
  view.events.map(eventRowOf).some((event) => event.type === type && event.reason === reason && event.about === about)

/** The user applies a sample; `who` is the name that owns the fields. */
export const applies = (name: string, who = "kubectl") =>
  Effect.gen(function* () {
    const { namespace } = yield* Ground
    const { note } = yield* Stage
    const manifest = yield* sample(name)
    yield* note(`${who === "kubectl" ? "the user" : who} applies ${manifest.file}`)
    return yield* User.apply(manifest, namespace, who)
  })

const missing: Act = {
  title: "a Role whose Scope is not there waits",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* applies("10-role-editor")
    yield* expect("Role editor is not ready: ScopeNotFound", ({ roles }) =>
      isReady(named(roles, "editor"), "ScopeNotFound")
    )
    yield* expect("a Warning says so, once", (view) => hasEvent(view, "Warning", "ScopeNotFound", "Role editor"))
    yield* expect("nothing is retried: only a change wakes it", ({ next }) => !next.has("Role editor"))
  })
}

const arrival: Act = {
  title: "the Scope arrives and wakes the Role",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* applies("20-scope-docs")
    yield* expect("Role editor is ready: Synced", ({ roles }) => isReady(named(roles, "editor")))
    yield* expect("ConfigMap editor-rules has the rules of ada and grace", ({ configMaps }) => {
      const { ada, grace } = dataOf(named(configMaps, "editor-rules"))
      return ada === "articles: read, write\nimages: read" && grace === ada
    })
    yield* expect("the Role is registered outside of the cluster", ({ registered }) => registered.includes("editor"))
    yield* expect("Scope docs counts one Role", ({ scopes }) => told(named(scopes, "docs"), "roles") === 1)
    yield* expect("an event tells what was done", (view) => hasEvent(view, "Normal", "Reconciled", "Role editor"))
  })
}

const drift: Act = {
  title: "drift is repaired",
  play: Effect.gen(function* () {
    const { expect, note } = yield* Stage
    const { namespace } = yield* Ground
    const before = yield* find(ConfigMap, "editor-rules")
    const uid = before._tag === "Some" ? before.value.metadata.uid : ""
    const manifest = yield* sample("30-edited-config-map")
    yield* note("the user edits ConfigMap editor-rules by hand: ada may delete")
    yield* User.edit(manifest, namespace)
    yield* expect("the edit is set back", ({ configMaps }) => {
      const configMap = named(configMaps, "editor-rules")
      return configMap?.metadata.uid === uid && dataOf(configMap).ada === "articles: read, write\nimages: read"
    })
    yield* note("the user deletes ConfigMap editor-rules")
    yield* User.remove(ConfigMap, { namespace, name: "editor-rules" })
    yield* expect("it is made anew", ({ configMaps }) => {
      const configMap = named(configMaps, "editor-rules")
      return configMap !== undefined && configMap.metadata.uid !== uid && dataOf(configMap).grace !== undefined
    })
  })
}

/** The server must refuse, for this reason. */
const refused = (answer: Result.Result<KubeObject, ApiError | UsageError>, word: string) =>
  Effect.gen(function* () {
    const { note } = yield* Stage
    if (Result.isSuccess(answer)) return yield* new Missed({ message: "the server accepted it" })
    const { message } = answer.failure
    if (!message.includes(word)) return yield* new Missed({ message: `the server refused it otherwise: ${message}` })
    yield* note(`ok the server refuses it: ${message}`)
  })

const badSpec: Act = {
  title: "a bad spec is refused by the server, or told by the operator",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* refused(yield* Effect.result(applies("40-role-unknown-verb")), 'Unsupported value: "fly"')
    yield* applies("41-role-double-rule")
    yield* expect("Role reviewer is not ready: MalformedResource", ({ roles }) => {
      const role = named(roles, "reviewer")
      return isReady(role, "MalformedResource") && readyOf(role)!.message.includes("two rules for articles")
    })
    yield* applies("42-role-mended")
    yield* expect("Role reviewer is ready: Synced", ({ roles }) => isReady(named(roles, "reviewer")))
    yield* expect("Scope docs counts two Roles", ({ scopes }) => told(named(scopes, "docs"), "roles") === 2)
  })
}

const conflict: Act = {
  title: "another program applies the same field",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* applies("50-claimed-config-map", "compliance")
    yield* expect("Role editor is not ready: ApplyConflict names the field and the other manager", ({ roles }) => {
      const role = named(roles, "editor")
      const message = readyOf(role)?.message ?? ""
      return isReady(role, "ApplyConflict") && message.includes(".data.ada") && message.includes('"compliance"')
    })
    yield* expect("nothing is forced, and the retry is slow", ({ configMaps, next }) => {
      const millis = next.get("Role editor") ?? 0
      return dataOf(named(configMaps, "editor-rules")).ada === "articles: read" && millis > 60_000
    })
    yield* applies("51-released-config-map", "compliance")
    yield* expect("the field is the operator's again", ({ configMaps, roles }) => {
      const { ada } = dataOf(named(configMaps, "editor-rules"))
      return isReady(named(roles, "editor")) && ada === "articles: read, write\nimages: read"
    })
  })
}

const rest: Act = {
  title: "Role and Scope wake each other, and come to rest",
  play: Effect.gen(function* () {
    const { rest, expect } = yield* Stage
    yield* applies("60-scope-docs-grows")
    yield* expect("both Roles give their rules to alan too", ({ configMaps }) =>
      ["editor-rules", "reviewer-rules"].every((name) => dataOf(named(configMaps, name)).alan !== undefined)
    )
    yield* rest("for a second no pass runs and nothing changes")
  })
}

const deletion: Act = {
  title: "a Role is deleted: clean-up first, then it goes",
  play: Effect.gen(function* () {
    const { expect, note } = yield* Stage
    const { namespace } = yield* Ground
    yield* note("the user deletes Role editor")
    yield* ApiClient.use((api) => api.delete(Role, { namespace, name: "editor" }))
    yield* expect("the registry has released it", ({ registered }) => !registered.includes("editor"))
    yield* expect("Role editor is gone", ({ roles }) => named(roles, "editor") === undefined)
    yield* expect("its ConfigMap is gone with it", ({ configMaps }) => named(configMaps, "editor-rules") === undefined)
    yield* expect("Scope docs counts one Role", ({ scopes }) => told(named(scopes, "docs"), "roles") === 1)
  })
}

export const acts: ReadonlyArray<Act> = [missing, arrival, drift, badSpec, conflict, rest, deletion]
