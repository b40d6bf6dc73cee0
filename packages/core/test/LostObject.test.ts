/**
 * Objects that go in spite of a finalizer. A server that has begun to delete an object without finalizers goes on, though one is added and answered for
 * meanwhile: of 1,000 such pairs of requests to a 1.36 server, 357 ended with the finalizer's answer and without the object.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ApiClient, type Patch, type WatchEvent } from "../src/ApiClient.ts"
import * as Controller from "../src/Controller.ts"
import { Temporary } from "../src/ReconcileError.ts"
import * as Reconciler from "../src/Reconciler.ts"
import { api, editor, quiet, refTo, Role, running } from "./world.ts"

const cleanup = "example.com/cleanup"
/** A merge patch that takes all finalizers off. */
const stripped: Patch = { type: "merge", body: { metadata: { finalizers: null } } as any }

/** An API of which the server deletes each object whose finalizer it has just answered for, and tells only that it is gone. */
const racing = (isRacing: () => boolean) =>
  Layer.effect(
    ApiClient,
    Effect.map(ApiClient, (inner): ApiClient["Service"] => ({
      ...inner,
      patch: (resource, ref, patch, options) =>
        Effect.tap(inner.patch(resource, ref, patch, options), () =>
          patch.type === "json" && isRacing()
            ? Effect.andThen(inner.patch(resource, ref, stripped), inner.delete(resource, ref))
            : Effect.void
        ),
      watch: (resource, options) =>
        Stream.filter(
          inner.watch(resource, options),
          (event: WatchEvent) =>
            event.type !== "MODIFIED" || !isRacing() || event.object.metadata.finalizers !== undefined
        )
    }))
  ).pipe(Layer.provideMerge(api()))

/** What the reconciler has outside of the cluster, by uid, and a controller that keeps it. */
const outside = (failures = 0) => {
  const held = new Set<string>()
  const cleaned: Array<string> = []
  let left = failures
  const roles = Controller.make({
    for: Role,
    reconciler: Reconciler.for(Role).pipe(
      Reconciler.tap(({ object }) => Effect.sync(() => void held.add(object.metadata.uid))),
      Reconciler.finalizer(cleanup, ({ ref, uid }) =>
        Effect.suspend(() => {
          if (left-- > 0) return new Temporary({ reason: "Busy", message: "not now" })
          held.delete(uid)
          cleaned.push(ref.name)
          return Effect.void
        })
      )
    )
  })
  return { cleaned, held, roles }
}

const tried = Effect.andThen(quiet, Effect.andThen(TestClock.adjust("10 minutes"), quiet))

describe("an object that is gone in spite of our finalizer", () => {
  it.effect("is cleaned up once, though nobody was seen to delete it (K11)", () => {
    const { cleaned, held, roles } = outside()
    return running(
      [roles],
      (world) =>
        Effect.gen(function* () {
          yield* world.api.create(Role, editor)
          yield* tried
          assert.deepStrictEqual([...held], [])
          assert.deepStrictEqual(cleaned, ["editor"])
          assert.deepStrictEqual((yield* world.api.list(Role)).items, [])
        }),
      { world: racing(() => true) }
    )
  })

  it.effect("is cleaned up in the end if that fails at first, and its namesake is reconciled (C1)", () => {
    const { cleaned, held, roles } = outside(2)
    let isRacing = true
    return running(
      [roles],
      (world) =>
        Effect.gen(function* () {
          const { metadata } = yield* world.api.create(Role, editor)
          yield* quiet
          isRacing = false
          const second = yield* world.api.create(Role, editor)
          yield* tried
          assert.deepStrictEqual(cleaned, ["editor"])
          assert.isFalse(held.has(metadata.uid))
          assert.deepStrictEqual([...held], [second.metadata.uid])
          assert.deepStrictEqual((yield* world.api.get(Role, refTo(editor))).metadata.finalizers, [cleanup])
        }),
      { world: racing(() => isRacing) }
    )
  })

  it.effect("is not cleaned up if somebody took the finalizer off: they wanted none", () => {
    const { cleaned, roles } = outside()
    return running(
      [roles],
      (world) =>
        Effect.gen(function* () {
          yield* world.api.create(Role, editor)
          yield* quiet
          yield* world.api.patch(Role, refTo(editor), stripped)
          yield* world.api.delete(Role, refTo(editor))
          yield* tried
          assert.deepStrictEqual(cleaned, [])
        }),
      { world: racing(() => false) }
    )
  })
})
