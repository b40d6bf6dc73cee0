/**
 * The contract of `ApiClient`: what an API server promises, as named cases over the port alone, so that the same hold for a real server and for one
 * in memory. A case is right if and only if a real kube-apiserver 1.36 passes it; expectations are exact where the server is exact: codes, texts,
 * causes, versions, owned fields.
 *
 * Every case works in a namespace of its own, so that they may run at once. Custom resources are of the group `contract.example.com`, installed by
 * `prepare`. What a case makes is left behind: run it against a server that is thrown away.
 */
import { ApiClient } from "@fixpoint/core/ApiClient"
import type { ApiError } from "@fixpoint/core/ApiError"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { type Area, type Case, eventually, make } from "./internal/contractBench.ts"
import { crds, definitions, gadgets, namespaces, widgets, zones } from "./internal/contractKinds.ts"
import { apply } from "./internal/contractApply.ts"
import { applyRefusals } from "./internal/contractApplyRefusals.ts"
import { definitionLife } from "./internal/contractDefinitions.ts"
import { namespaceEnd, namespaceRules } from "./internal/contractNamespaces.ts"
import { discovery, schemas } from "./internal/contractSchemas.ts"
import { create, replace } from "./internal/contractCreate.ts"
import { deletion, garbage, ownerRules } from "./internal/contractDelete.ts"
import { events } from "./internal/contractEvents.ts"
import { leaseRules } from "./internal/contractLeases.ts"
import { list, pages, selectors } from "./internal/contractList.ts"
import { jsonPatch, mergePatch, status } from "./internal/contractPatch.ts"
import { metadata } from "./internal/contractMetadata.ts"
import { watch } from "./internal/contractWatch.ts"

export type { Area, Case }

/** All cases, in the order of their areas. */
export const cases: ReadonlyArray<Case> = [
  ...metadata,
  ...create,
  ...replace,
  ...mergePatch,
  ...jsonPatch,
  ...apply,
  ...applyRefusals,
  ...status,
  ...deletion,
  ...ownerRules,
  ...garbage,
  ...list,
  ...selectors,
  ...pages,
  ...watch,
  ...namespaceRules,
  ...namespaceEnd,
  ...definitionLife,
  ...schemas,
  ...events,
  ...leaseRules,
  ...discovery
]

/** Installs the contract's custom resources and waits until they are served. Does nothing where they are. */
export const prepare: Effect.Effect<void, ApiError, ApiClient> = Effect.gen(function* () {
  const api = yield* ApiClient
  for (const definition of definitions) {
    yield* Effect.catchReason(api.create(crds, definition), "ApiError", "AlreadyExists", () => Effect.void)
  }
  yield* eventually(Effect.forEach([widgets, gadgets, zones], (resource) => api.list(resource, { limit: 1 })))
})

const letters = "bcdfghjklmnpqrstvwxz2456789"

const freshName = Effect.map(
  Effect.forEach(Array.from({ length: 8 }), () => Random.nextIntBetween(0, letters.length - 1)),
  (picks) => `contract-${picks.map((pick) => letters[pick]).join("")}`
)

/** Runs a case in a new namespace. The custom resources must be installed. */
export const run = (test: Case): Effect.Effect<void, unknown, ApiClient | Scope.Scope> =>
  Effect.gen(function* () {
    const api = yield* ApiClient
    const name = yield* freshName
    yield* api.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
    yield* test.run(make(api, name))
  })

/** What `suite` needs of vitest. */
export interface Vitest {
  readonly describe: (name: string, body: () => void) => void
  readonly test: (name: string, body: () => Promise<void>) => void
  readonly beforeAll: (body: () => Promise<void>) => void
  readonly afterAll: (body: () => Promise<void>) => void
}

/** Registers every case as a test over one instance of the Layer. `only` leaves out the others. */
export const suite = <E>(
  name: string,
  layer: Layer.Layer<ApiClient, E>,
  vitest: Vitest,
  only: (test: Case) => boolean = () => true
): void => {
  vitest.describe(name, () => {
    const runtime = ManagedRuntime.make(layer)
    vitest.beforeAll(() => runtime.runPromise(prepare))
    vitest.afterAll(() => runtime.dispose())
    for (const [area, tests] of Map.groupBy(cases.filter(only), (test) => test.area)) {
      vitest.describe(area, () => {
        for (const test of tests) vitest.test(test.name, () => runtime.runPromise(Effect.scoped(run(test))))
      })
    }
  })
}
