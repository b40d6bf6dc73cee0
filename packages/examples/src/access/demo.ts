/** `npm run demo`: runs the operator and plays its user, in memory or on a cluster. See `--help`. */
import * as Controller from "@fixpoint/core/Controller"
import { FieldManager } from "@fixpoint/core/FieldManager"
import * as Manager from "@fixpoint/core/Manager"
import * as Watch from "@fixpoint/core/Watch"
import * as Operator from "@fixpoint/kubernetes/Operator"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Runtime from "effect/Runtime"
import { acts } from "./demo/acts.ts"
import { type Arguments, help, parse } from "./demo/arguments.ts"
import { load } from "./demo/manifestFolder.ts"
import { actsOf } from "./demo/ownManifests.ts"
import { persistedActs } from "./demo/persistedActs.ts"
import { access, Records } from "./demo/records.ts"
import { summary, type ShownAct } from "./demo/render.ts"
import { type Output, plain, terminal } from "./demo/screen.ts"
import { play } from "./demo/stage.ts"
import { prepare } from "./demo/user.ts"
import { Ground, groundOf } from "./demo/world.ts"
import { ConfigMap, Role, Scope } from "./kinds.ts"
import { fieldManager } from "./operator.ts"
import * as Database from "./persisted/Database.ts"
import { role as persistedRole } from "./persisted/roles.ts"
import { scope as persistedScope } from "./persisted/scopes.ts"
import { Registry } from "./Registry.ts"
import { role } from "./role.ts"
import { scope } from "./scope.ts"

/** Some act did not come out as expected; the screen says which. */
class ActsFailed extends Data.TaggedError("ActsFailed")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 1
}

/** The operator's controllers, for one namespace: on a cluster the others are nobody's business. */
const controllersIn = (namespace: string) => {
  const namespaces = [namespace]
  return [
    Controller.make({ for: Role, owns: [ConfigMap], watches: [Scope], reconciler: role, namespaces }),
    Controller.make({ for: Scope, polls: [Role], watches: [Watch.every("10 minutes")], reconciler: scope, namespaces })
  ] as const
}

/** The same in persisted mode. */
const persistedControllersIn = (namespace: string) => {
  const namespaces = [namespace]
  const watches = [Watch.every("10 minutes")]
  return [
    Controller.make({ for: Role, watches, reconciler: persistedRole, namespaces }),
    Controller.make({ for: Scope, polls: [Role], watches, reconciler: persistedScope, namespaces })
  ] as const
}

const operator = (namespace: string) => Manager.layer(controllersIn(namespace))

const persistedOperator = (namespace: string) =>
  Layer.merge(Manager.layer(persistedControllersIn(namespace)), Layer.effect(Records, access)).pipe(
    Layer.provide(Database.layer)
  )

const stdout: Output = {
  write: (text) => void process.stdout.write(text),
  // A terminal that does not know its size, as some of CI's, says 0.
  size: () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 })
}

const failuresOf = (acts: ReadonlyArray<ShownAct>): ReadonlyArray<string> =>
  acts.flatMap(({ notes, title, verdict }) =>
    verdict === "passed" ? [] : [`failed: ${title}: ${notes.at(-1)?.replace(/^MISSED /, "") ?? ""}`]
  )

/** Acts that were cut off did not pass. */
let stopped = 130

const run = Effect.fnUntraced(function* (given: Arguments) {
  const own = given.manifests === undefined ? undefined : yield* load(given.manifests)
  const screen = process.stdout.isTTY ? terminal(stdout, process.env.NO_COLOR === undefined) : plain(stdout)
  const tally = { passes: 0 }
  const started = yield* Clock.currentTimeMillis
  const acted = Effect.gen(function* () {
    const { kubeconfig, namespace, title } = yield* Ground
    if (kubeconfig !== undefined) yield* screen.say([`for kubectl: export KUBECONFIG=${kubeconfig}`])
    const played = own !== undefined ? actsOf(own) : given.persisted ? persistedActs : acts
    const shown = yield* play(`The access operator, ${title}`, played, screen, tally)
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000
    const failures = failuresOf(shown)
    yield* screen.say(["", ...failures, summary(shown, seconds)])
    stopped = failures.length > 0 ? 1 : 0
    if (given.keep) {
      yield* screen.say([
        `all of it stays until Ctrl-C: kubectl get scopes,roles.access.example.com,configmaps --namespace ${namespace}`
      ])
      return yield* Effect.never
    }
    if (failures.length > 0) return yield* new ActsFailed({ message: "not everything came as expected" })
  })
  yield* Effect.gen(function* () {
    const { namespace } = yield* Ground
    // Before anything is applied: what cannot be understood is no act that failed.
    yield* Effect.forEach(own ?? [], (manifest) => prepare(manifest, namespace))
    yield* Effect.provide(
      acted,
      (given.persisted ? persistedOperator(namespace) : operator(namespace)).pipe(
        Layer.provide(Layer.succeed(Manager.OnSettled, () => void tally.passes++)),
        Layer.provide(Layer.succeed(FieldManager, fieldManager))
      )
    )
  }).pipe(Effect.provide(Registry.layerMemory), Effect.provide(groundOf(given)))
})

const main = Effect.gen(function* () {
  const given = yield* Effect.fromResult(parse(process.argv.slice(2)))
  if (given.help) return yield* Effect.sync(() => stdout.write(`${help}\n`))
  // What goes wrong stands in the table and in the events; log lines would tear the screen.
  yield* Effect.provide(run(given), Logger.layer([]))
})

main.pipe(Operator.runMain("demo", { stopped: () => stopped }))
