/** What a pass may read and write: a reader for each declared kind over its store, a writer over the store and the API. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ApiClient } from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import type { Reader } from "../Cached.ts"
import * as Kind from "../Kind.ts"
import { formatRef, type KubeObject, type ObjectRef, ref as refOf } from "../KubeObject.ts"
import type { Writer } from "../Owned.ts"
import { Fatal, textOf } from "../ReconcileError.ts"
import { byOwner, type Store } from "../Store.ts"
import { applyChild, removeChild, type Target, type Write } from "./childWriter.ts"
import { decoded } from "./decoded.ts"
import { keyOf } from "./key.ts"

/** By namespace and name, whose text is made once for each. */
const inOrder = (objects: ReadonlyArray<KubeObject>): ReadonlyArray<KubeObject> =>
  objects
    .map((object) => [keyOf(object.metadata), object] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, object]) => object)

const decodedAll = (
  kind: Kind.Any,
  objects: ReadonlyArray<KubeObject>,
  onMalformed: (malformed: Kind.MalformedResource, object: KubeObject) => void
): ReadonlyArray<any> => {
  const all: Array<unknown> = []
  // In the order of their names, so that what a reconciler makes of a list does not depend on who came first.
  for (const object of inOrder(objects)) {
    const result = decoded(kind, object)
    if (Result.isSuccess(result)) all.push(result.success)
    else onMalformed(result.failure, object)
  }
  return all
}

export const readerOf = (
  kind: Kind.Any,
  store: Store,
  onMalformed: (malformed: Kind.MalformedResource, object: KubeObject) => void
): Reader<any> => ({
  get: (ref) => {
    const object = store.get(ref)
    return object === undefined ? undefined : decoded(kind, object)
  },
  list: ({ namespace, selector }) => decodedAll(kind, store.list({ namespace, selector }), onMalformed)
})

export interface Writing {
  readonly api: ApiClient["Service"]
  readonly manager: string
  /** Told what was there and what was answered. */
  readonly onWrite: (owner: KubeObject, write: Write) => void
  /** Told how a child was found when nothing had to be sent. */
  readonly onRead: (owner: KubeObject, ref: ObjectRef, child: KubeObject) => void
  /** The child as the last pass of the owner left it there. */
  readonly childBefore: (owner: KubeObject, ref: ObjectRef) => KubeObject | undefined
  /** The cache of the owners. */
  readonly owners: Store
}

/** Children that were made anew on the word of the cache alone that their owner lives. */
const trusted = new WeakSet<KubeObject>()

/** Asks the server itself, and tells the cache what it did not know. */
const lives = (api: ApiClient["Service"], owners: Store, owner: KubeObject): Effect.Effect<boolean, ApiError> => {
  const { uid } = owner.metadata
  return api.get(owners.resource, refOf(owner)).pipe(
    Effect.map((live) => {
      if (live.metadata.uid === uid && live.metadata.deletionTimestamp === undefined) return true
      owners.fold(live)
      return false
    }),
    Effect.catchReason("ApiError", "NotFound", () =>
      Effect.sync(() => {
        owners.foldDeleted(refOf(owner), uid)
        return false
      })
    )
  )
}

export const writerOf = (
  kind: Kind.Any,
  store: Store,
  { api, childBefore, manager, onRead, onWrite, owners }: Writing,
  onMalformed: (malformed: Kind.MalformedResource, object: KubeObject) => void
): Writer<any> => {
  const target: Target = {
    api,
    resource: kind,
    cache: store,
    manager,
    onWrite,
    // Once on trust: were the owner gone, the child would go again, and then it is asked for.
    ownerLives: (owner, ref) => {
      const before = childBefore(owner, ref)
      return before !== undefined && trusted.has(before) ? lives(api, owners, owner) : Effect.succeed(true)
    }
  }
  return {
    apply: Effect.fnUntraced(function* (owner, desired, { conflicts }) {
      const input = yield* encoded(kind, desired)
      const { moved, object } = yield* applyChild(target, owner, input, conflicts)
      const ref = refOf(object)
      if (moved === undefined) onRead(owner, ref, object)
      const shown = store.get(ref) ?? object
      const before = moved === "created" ? childBefore(owner, ref) : undefined
      if (before !== undefined && !trusted.has(before)) trusted.add(object).add(shown)
      const result = decoded(kind, shown)
      if (Result.isFailure(result)) return yield* new Fatal({ reason: "MalformedResource", cause: result.failure })
      return { object: result.success, moved }
    }),
    remove: (owner, ref) => removeChild(target, owner, ref),
    children: (owner) => decodedAll(kind, store.lookup(byOwner, owner.metadata.uid), onMalformed)
  }
}

/** A value that its kind cannot hold is a mistake of the reconciler, told like one of the object: nothing is sent. */
const encoded = (kind: Kind.Any, desired: Kind.Desired<any>) =>
  Effect.try({
    try: () => Kind.encode(kind, desired),
    catch: (error) =>
      new Fatal({
        reason: "InvalidChild",
        message: `${kind.kind} ${formatRef({ namespace: desired.metadata.namespace, name: desired.metadata.name })} cannot be written: ${textOf(error).replace(/\s*\n\s*/g, " ")}`
      })
  })
