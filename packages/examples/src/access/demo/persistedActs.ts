/** The acts of the demo in persisted mode: Scopes and Roles, and their rows beside them. */
import { ApiClient } from "@fixpoint/core/ApiClient"
import * as Effect from "effect/Effect"
import { Role } from "../kinds.ts"
import { applies, hasEvent, isReady } from "./acts.ts"
import { Records } from "./records.ts"
import { type Act, Missed, Stage } from "./stage.ts"
import { named, readyOf, told, type View } from "./view.ts"
import { Ground } from "./world.ts"

/** The rows of Roles, each as `name as external name in Scope`. */
const roleRows = ({ records }: View): ReadonlyArray<string> =>
  (records ?? [])
    .filter(({ table }) => table === "roles")
    .map(({ externalName, name, scope }) => `${name} as ${externalName} in ${scope}`)

const deletes = (name: string) =>
  Effect.gen(function* () {
    const { note } = yield* Stage
    const { namespace } = yield* Ground
    yield* note(`the user deletes Role ${name}`)
    yield* ApiClient.use((api) => api.delete(Role, { namespace, name }))
  })

const missing: Act = {
  title: "a Role whose Scope has no row waits, and has none itself",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* applies("10-role-editor")
    yield* expect("Role editor is not ready: ScopeNotFound", ({ roles }) =>
      isReady(named(roles, "editor"), "ScopeNotFound")
    )
    yield* expect("a Warning says so, once", (view) => hasEvent(view, "Warning", "ScopeNotFound", "Role editor"))
    yield* expect("there is no row", ({ records }) => records?.length === 0)
  })
}

const arrival: Act = {
  title: "the Scope gets its row, and wakes the Role",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* applies("20-scope-docs")
    yield* expect("Role editor is ready: Synced", ({ roles }) => isReady(named(roles, "editor")))
    yield* expect("its row stands in the Scope's", (view) => roleRows(view).join() === "editor as editor in docs")
    yield* expect("an event tells that the Scope was created", (view) =>
      hasEvent(view, "Normal", "Created", "Scope docs")
    )
    yield* expect("Scope docs counts one row", ({ scopes }) => told(named(scopes, "docs"), "roles") === 1)
  })
}

const fight: Act = {
  title: "another Role wants the same external name",
  play: Effect.gen(function* () {
    const { expect, rest } = yield* Stage
    yield* applies("70-role-intern")
    yield* expect("Role intern is not ready: NameTaken tells who has it", ({ roles }) => {
      const role = named(roles, "intern")
      return isReady(role, "NameTaken") && readyOf(role)!.message.endsWith("/editor")
    })
    yield* expect("the table is as it was", (view) => roleRows(view).join() === "editor as editor in docs")
    yield* rest("nobody gives way: for a second no pass runs and nothing changes")
  })
}

const inheritance: Act = {
  title: "the name is given up, and the one who waits gets it",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* deletes("editor")
    yield* expect(
      "Role editor is gone, and an event tells it",
      (view) => named(view.roles, "editor") === undefined && hasEvent(view, "Normal", "Deleted", "Role editor")
    )
    yield* expect("Role intern is ready: Synced", ({ roles }) => isReady(named(roles, "intern")))
    yield* expect("the name is in its row", (view) => roleRows(view).join() === "intern as editor in docs")
  })
}

const stale: Act = {
  title: "the row of a Role that is gone is replaced",
  play: Effect.gen(function* () {
    const { expect, note } = yield* Stage
    const { namespace } = yield* Ground
    const records = yield* Records
    if (records === undefined) return yield* new Missed({ message: "nothing is persisted here" })
    yield* note("a backup brings back the row of a Role reviewer that is long gone")
    yield* records.leaveOver(namespace, "reviewer", "docs")
    yield* applies("42-role-mended")
    yield* expect("Role reviewer is ready: Synced", ({ roles }) => isReady(named(roles, "reviewer")))
    yield* expect("the row is that of the new Role", ({ records, roles }) => {
      const rows = records?.filter(({ name }) => name === "reviewer") ?? []
      return rows.length === 1 && rows[0]!.uid === named(roles, "reviewer")?.metadata.uid
    })
  })
}

const deletion: Act = {
  title: "a Role is deleted, and its row with it",
  play: Effect.gen(function* () {
    const { expect } = yield* Stage
    yield* deletes("intern")
    yield* expect("Role intern is gone", ({ roles }) => named(roles, "intern") === undefined)
    yield* expect("so is its row", (view) => roleRows(view).join() === "reviewer as reviewer in docs")
    yield* expect("Scope docs counts one row", ({ scopes }) => told(named(scopes, "docs"), "roles") === 1)
  })
}

export const persistedActs: ReadonlyArray<Act> = [missing, arrival, fight, inheritance, stale, deletion]
