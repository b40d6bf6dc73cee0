/** Plays rows of the corpus of hard events before any server, and reads back how they end. */
import * as Kind from "../src/Kind.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { ApiClient } from "../src/ApiClient.ts"
import { EventPoster, layer, Options } from "../src/EventPoster.ts"
import type { KubeObject } from "../src/KubeObject.ts"
import { OwnNamespace } from "../src/OwnNamespace.ts"
import { PostingPolicy, standard } from "../src/PostingPolicy.ts"
import type { Row, Stage, Told } from "./eventCorpus.ts"
import { countOn } from "./postingWorld.ts"
import { ConfigMap, events, namespaces } from "./world.ts"

/** A kind in cluster scope that `kubectl describe` shows with its Events, as it does any custom one. */
export class Zone extends Kind.make({
  group: "corpus.example.com",
  version: "v1",
  kind: "Zone",
  scope: "Cluster",
  spec: Schema.Struct({})
}) {}

/** Where a world plays, and how it waits. */
export interface Ground {
  /** The operator's own, where also the rows' objects are; it is there. */
  readonly namespace: string
  /** A moment, in which requests get on. */
  readonly moment: Effect.Effect<void>
  /** Default: `layer`. */
  readonly poster?: typeof layer
}

const apiVersion = (kind: Kind.Any): string => (kind.group === "" ? kind.version : `${kind.group}/${kind.version}`)

const placeOf = (stage: Stage, { namespace }: Ground): string =>
  stage === "in kube-system"
    ? "kube-system"
    : stage === "in default"
      ? "default"
      : stage === "in a terminating namespace"
        ? `${namespace}-ending`
        : namespace

const create = (api: ApiClient["Service"], kind: Kind.Any, metadata: Partial<KubeObject["metadata"]>) =>
  Effect.acquireRelease(
    api.create(kind, {
      apiVersion: apiVersion(kind),
      kind: kind.kind,
      metadata,
      ...(kind === Zone && { spec: {} })
    }),
    () =>
      Effect.ignore(
        api.delete(kind, {
          namespace: metadata.namespace,
          name: metadata.name!
        })
      )
  )

/** Brings the row's object to where the row wants it. It is taken away with the scope. */
const staged = Effect.fnUntraced(function* (stage: Stage, name: string, ground: Ground) {
  const api = yield* ApiClient
  const namespace = placeOf(stage, ground)
  const ref = { namespace, name }
  switch (stage) {
    case "in cluster scope":
      return yield* create(api, Zone, { name })
    case "in no namespace":
      return {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: `${namespace}-never`, uid: "of-old" }
      }
    case "in a terminating namespace": {
      yield* api.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
      const held = yield* create(api, ConfigMap, { ...ref, finalizers: ["example.com/held"] })
      yield* api.delete(namespaces, { namespace: undefined, name: namespace })
      yield* Effect.addFinalizer(() =>
        Effect.ignore(api.patch(ConfigMap, ref, { type: "merge", body: { metadata: { finalizers: [] } } }))
      )
      return held
    }
    default: {
      const object = yield* create(api, ConfigMap, ref)
      if (stage === "deleted" || stage === "replaced") yield* api.delete(ConfigMap, ref)
      if (stage === "replaced") yield* create(api, ConfigMap, ref)
      return object
    }
  }
})

const toldBy = (event: any, uid: string, ground: Ground): Told => {
  const named = (namespace: string | undefined): string =>
    namespace === ground.namespace ? "operators" : (namespace ?? "")
  const { involvedObject } = event
  return {
    type: event.type ?? "",
    reason: event.reason,
    action: event.action,
    message: event.message ?? "",
    namespace: named(event.metadata.namespace),
    involved: named(involvedObject.namespace),
    uid: involvedObject.uid === uid ? "its" : (involvedObject.uid ?? ""),
    component: event.reportingComponent,
    instance: event.reportingInstance,
    count: countOn(event),
    time: event.eventTime
  }
}

/** The Events that tell what the row wants told, whole. */
export const expected = ({ call, end, says }: Row): ReadonlyArray<Told> => {
  if (!("stored" in end)) return []
  const { at: _, ...said } = says ?? {}
  return end.stored.map((told) => ({
    type: "Warning",
    reason: "Hard",
    action: "Hard",
    message: "text",
    namespace: "operators",
    involved: "operators",
    uid: "its",
    component: "fixpoint",
    instance: "fixpoint",
    count: 1,
    ...(call === undefined && said),
    ...told
  }))
}

/** The same row as it ends through events.k8s.io/v1: Debug is Normal there, and all else that is not Normal is a Warning (D19). */
export const newer = (row: Row): Row => {
  const { end } = row
  if (!("stored" in end)) return row
  const told = expected({ ...row, end }).map((one, i) => ({
    ...end.stored[i],
    type: one.type === "Normal" || one.type === "Debug" ? "Normal" : "Warning"
  }))
  return { ...row, end: { ...end, stored: told } }
}

export interface Played {
  readonly told: ReadonlyArray<Told>
  readonly dropped: number
  /** Warnings that the operator's log shows. */
  readonly lines: ReadonlyArray<string>
  readonly object: { readonly kind: string; readonly namespace: string | undefined; readonly name: string }
}

/** How the row's name begins in this world: names of objects differ between rows. */
export const rowName = (row: Row, at: number): string => `r${String(at).padStart(2, "0")}${row.name ?? ""}`

/** Says what the row says by a poster of its own, waits until it is posted or dropped, and reads what the server holds. */
export const play = Effect.fnUntraced(function* (row: Row, at: number, ground: Ground) {
  const api = yield* ApiClient
  const name = rowName(row, at)
  const object = yield* staged(row.stage ?? "there", name, ground)
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn" || logLevel === "Error") lines.push([message].flat().map(String).join(" "))
  })
  const about = (row.about ?? ((same) => same))(object)
  const says = { type: "Warning", reason: "Hard", message: "text", ...row.says }
  const dropped = yield* Effect.gen(function* () {
    const poster = yield* EventPoster
    yield* poster
      .say(row.call?.(about) ?? { _tag: "event", about, ...says })
      .pipe(Effect.provideService(PostingPolicy, row.policy ?? standard))
    for (let i = 0; i < 1_500; i++) {
      yield* ground.moment
      const { inFlight, waiting } = yield* poster.stats
      if (inFlight + waiting === 0) break
    }
    return (yield* poster.stats).dropped
  }).pipe(
    Effect.provide(
      Layer.fresh(ground.poster ?? layer).pipe(
        Layer.provide(
          Layer.mergeAll(
            Layer.succeed(Options, row.options ?? {}),
            Layer.succeed(OwnNamespace, ground.namespace),
            Logger.layer([logger])
          )
        )
      )
    )
  )
  const { items } = yield* api.list(events)
  const timed = "stored" in row.end && row.end.stored.some(({ time }) => time !== undefined)
  const played: Played = {
    told: items
      .filter((item: any) => String(item.involvedObject?.name).startsWith(name.slice(0, 3)))
      .toSorted((a: any, b: any) => a.involvedObject.name.length - b.involvedObject.name.length)
      .map((item) => toldBy(item, object.metadata.uid, ground))
      .map(({ time, ...told }) => (timed ? { ...told, time: time! } : told)),
    dropped,
    lines,
    object: { kind: object.kind, namespace: object.metadata.namespace, name }
  }
  return played
})
