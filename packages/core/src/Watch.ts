/**
 * What wakes keys beside the object itself and its children. A bare kind in `watches` wakes the keys whose last pass read the changed object, also when it was
 * absent: no mapping function, so none that is wrong. The descriptions here are for the rest; they start nothing.
 */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as Kind from "./Kind.ts"
import type { ObjectRef } from "./KubeObject.ts"

/** Changes of `kind` also wake what `map` says of the object before and after them. Its readers are woken as by the bare kind. */
export interface Mapped<out K extends Kind.Any, out R = never> {
  readonly _tag: "Mapped"
  readonly kind: K
  readonly map: (object: any) => Effect.Effect<Iterable<ObjectRef>, never, R>
}

/** Every key runs again after a while (D31). */
export interface Every {
  readonly _tag: "Every"
  readonly intervalMillis: number
  /** Only once nothing woke the key for so long. */
  readonly idleMillis: number
  /** The share of the interval by which it may come later, drawn anew each time, so that keys do not run in step. 0 to 1. */
  readonly jitter: number
}

/** Wakes that come from outside of the cluster. */
export interface External<out R = never> {
  readonly _tag: "External"
  readonly refs: Stream.Stream<ObjectRef, never, R>
}

export type Watch<K extends Kind.Any = Kind.Any, R = never> = Mapped<K, R> | Every | External<R>

/**
 * For keys that have not read the object, such as those that it names.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { Kind, Watch } from "@fixpoint/core"
 *
 * class Team extends Kind.make({
 *   group: "access.example.com", version: "v1", kind: "Team", scope: "Namespaced",
 *   spec: Schema.Struct({ roles: Schema.Array(Schema.String) })
 * }) {}
 *
 * // in watches: each Role that a Team names is reconciled when the Team changes
 * export const rolesOfTeam = Watch.mapped(Team, ({ metadata, spec }) =>
 *   Effect.succeed(spec.roles.map((name) => ({ namespace: metadata.namespace, name })))
 * )
 * ```
 */
export const mapped = <K extends Kind.Any, R = never>(
  kind: K,
  map: (object: Kind.Type<K>) => Effect.Effect<Iterable<ObjectRef>, never, R>
): Mapped<K, R> => ({ _tag: "Mapped", kind, map })

/**
 * Runs every key again, `duration` (a number is milliseconds) after its last success; while it fails, the failure's own delay holds (E13). With `idle` only keys
 * that nothing else woke for that long. `jitter` (0 to 1, default 0.1) lets each come later by up to that share of the interval.
 *
 * ```ts
 * import { Watch } from "@fixpoint/core"
 *
 * export const hourly = Watch.every("1 hour", { idle: "10 minutes" })
 * ```
 */
export const every = (
  duration: Duration.Input,
  options: { readonly idle?: Duration.Input; readonly jitter?: number } = {}
): Every => {
  const intervalMillis = Duration.toMillis(duration)
  if (!(intervalMillis > 0 && intervalMillis < Infinity))
    throw new RangeError(`Watch.every: ${String(duration)} is no interval: give a finite time above zero`)
  return {
    _tag: "Every",
    intervalMillis,
    idleMillis: options.idle === undefined ? 0 : Duration.toMillis(options.idle),
    jitter: options.jitter ?? 0.1
  }
}

/**
 * Wakes the objects that a stream names: a webhook, the notifications of a database, a file. The stream must mend its own failures; the Manager runs it from
 * start to stop and logs when it ends. What it needs is asked of whoever runs the Manager.
 *
 * ```ts
 * import * as Stream from "effect/Stream"
 * import { Watch } from "@fixpoint/core"
 *
 * export const fromOutside = Watch.external(Stream.make({ namespace: "team", name: "editor" }))
 * ```
 */
export const external = <R = never>(refs: Stream.Stream<ObjectRef, never, R>): External<R> => ({
  _tag: "External",
  refs
})
