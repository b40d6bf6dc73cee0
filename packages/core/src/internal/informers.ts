/** The caches of a Manager: one store for each kind, shared by all of its controllers, each filled by one reflector a namespace. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ApiClient } from "../ApiClient.ts"
import type * as Controller from "../Controller.ts"
import type * as Kind from "../Kind.ts"
import * as Reflector from "../Reflector.ts"
import * as Store from "../Store.ts"
import type { Complaints } from "./complaints.ts"

export interface Informer {
  readonly kind: Kind.Any
  /** Undefined for all. */
  readonly namespaces: ReadonlyArray<string> | undefined
  readonly store: Store.Store
}

/** Every kind that a controller reads or writes. */
export const kindsOf = (controller: Controller.Any): ReadonlyArray<Kind.Any> => [
  controller.for,
  ...controller.owns,
  ...controller.writes,
  ...controller.watches,
  ...controller.polls
]

/** The namespaces that any controller wants; a kind in cluster scope has none, and one controller for all makes it all. */
const join = (
  kind: Kind.Any,
  before: Informer | undefined,
  wanted: ReadonlyArray<string> | undefined
): ReadonlyArray<string> | undefined => {
  if (kind.scope === "Cluster" || wanted === undefined) return undefined
  if (before === undefined) return wanted
  return before.namespaces === undefined ? undefined : [...new Set([...before.namespaces, ...wanted])]
}

/** By the kind's id. Two versions of one kind are one too many: the first is taken. */
export const informersOf = (
  controllers: ReadonlyArray<Controller.Any>,
  fieldManager: string
): ReadonlyMap<string, Informer> => {
  const wanted = new Map<string, Pick<Informer, "kind" | "namespaces">>()
  for (const controller of controllers) {
    for (const kind of kindsOf(controller)) {
      const before = wanted.get(kind.id)
      wanted.set(kind.id, {
        kind: before?.kind ?? kind,
        namespaces: join(kind, before as Informer | undefined, controller.namespaces)
      })
    }
  }
  return new Map(
    [...wanted].map(([id, { kind, namespaces }]) => [
      id,
      {
        kind,
        namespaces,
        store: Store.make({ resource: kind, fieldManager, ...(namespaces !== undefined && { namespaces }) })
      }
    ])
  )
}

/** Starts the reflectors of one informer in the scope. Lists by pages cost the server and us half of what streamed ones do. */
export const follow = (
  { kind, namespaces, store }: Informer,
  complaints: Complaints
): Effect.Effect<ReadonlyArray<Reflector.Reflector>, never, ApiClient | Scope.Scope> => {
  const options = { resource: kind, store, complaints, streamingList: false }
  return namespaces === undefined
    ? Effect.map(Reflector.make(options), (reflector) => [reflector])
    : Effect.forEach(namespaces, (namespace) => Reflector.make({ ...options, namespace }))
}
