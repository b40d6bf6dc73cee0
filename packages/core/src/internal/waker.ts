/** How the objects of one kind are woken in a Manager that reconciles it (K33-K38, D14). */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ApiClient from "../ApiClient.ts"
import type { ApiError } from "../ApiError.ts"
import type * as Kind from "../Kind.ts"
import * as KubeObject from "../KubeObject.ts"
import * as LabelSelector from "../LabelSelector.ts"
import { ManagerStopped, type Waker } from "../Wake.ts"
import type { Engine } from "./engine.ts"
import { keyOf } from "./key.ts"

interface Options {
  readonly kind: Kind.Any
  readonly engines: ReadonlyArray<Engine>
  readonly api: ApiClient.ApiClient["Service"]
  readonly services: Context.Context<any>
  readonly isStopped: () => boolean
}

/** Objects a page of a list that is made before the cache has synced. */
const pageSize = 500

export const wakerOf = ({ api, engines, isStopped, kind, services }: Options): Waker => {
  const runSync = Effect.runSyncWith(services)
  return {
    enqueue: (ref, hops) => {
      for (const { controller, queue } of engines) {
        const accepted = runSync(queue.add(keyOf(ref), { origin: "enqueue", hops, trigger: "enqueue" }))
        if (!accepted)
          runSync(
            Effect.logDebug(`${controller.name} ${KubeObject.formatRef(ref)}: not woken, since the Manager has stopped`)
          )
      }
    },
    list: ({ namespace, selector }) =>
      Effect.suspend((): Effect.Effect<ReadonlyArray<KubeObject.ObjectRef>, ManagerStopped | ApiError> => {
        if (isStopped()) return Effect.fail(new ManagerStopped({ kind: kind.id }))
        const { store } = engines[0]!
        const isCovered = (ref: KubeObject.ObjectRef): boolean => engines.some((engine) => engine.covers(ref))
        if (store.synced)
          return Effect.succeed(store.list({ namespace, selector }).map(KubeObject.ref).filter(isCovered))
        const options = {
          limit: pageSize,
          ...(namespace !== undefined && { namespace }),
          ...(selector !== undefined && { labelSelector: LabelSelector.format(selector) })
        }
        return ApiClient.pages(kind, options).pipe(
          Stream.runFold(
            (): ReadonlyArray<KubeObject.ObjectRef> => [],
            (refs, page) => [...refs, ...page.items.map(KubeObject.ref).filter(isCovered)]
          ),
          Effect.provideService(ApiClient.ApiClient, api)
        )
      })
  }
}
