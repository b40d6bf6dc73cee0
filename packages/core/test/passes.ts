/** A pass in memory: objects that are read, children that are written, and all that was said. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Cached from "../src/Cached.ts"
import * as Kind from "../src/Kind.ts"
import { formatRef, type KubeObject, type ObjectRef, ref as refOf } from "../src/KubeObject.ts"
import * as LabelSelector from "../src/LabelSelector.ts"
import * as Owned from "../src/Owned.ts"
import * as Pass from "../src/Pass.ts"
import type { Reconciler } from "../src/Pipeline.ts"
import type { ReconcileError } from "../src/ReconcileError.ts"
import { ConfigMap, Role, Scope } from "../typetest/access.ts"

export const object = (
  kind: Kind.Any,
  name: string,
  content: object,
  metadata: Partial<KubeObject["metadata"]> = {}
): KubeObject => ({
  ...content,
  apiVersion: `${kind.group === "" ? "" : `${kind.group}/`}${kind.version}`,
  kind: kind.kind,
  metadata: { name, namespace: "team", uid: `${name}-uid`, resourceVersion: "1", generation: 1, ...metadata }
})

export const editor = object(Role, "editor", { spec: { scope: "docs", rules: ["read", "write"] } })
export const docs = object(Scope, "docs", { spec: { members: ["ann"] } })

export const decoded = <K extends Kind.Any>(kind: K, raw: KubeObject): Kind.Type<K> =>
  Result.getOrThrow(Kind.decode(kind, raw))

export interface Settings {
  readonly object?: KubeObject
  readonly kind?: Kind.Any
  /** What the caches hold. */
  readonly stored?: ReadonlyArray<KubeObject>
  readonly attempt?: number
  readonly failingSince?: number
  /** The failure of writing a child of that name. */
  readonly refused?: Readonly<Record<string, ReconcileError>>
  readonly services?: Context.Context<any>
}

export interface FakePass {
  readonly pass: Pass.Pass["Service"]
  readonly context: Context.Context<any>
  /** `Object Scope team/docs`, `List Scope team app=x`, in the order of the reads. */
  readonly subscribed: Array<string>
  /** `apply editor-rules repair-edits`, `remove old`: what the writer was asked. */
  readonly asked: Array<string>
  readonly stored: Map<string, KubeObject>
}

const addressOf = (kind: string, ref: ObjectRef): string => `${kind} ${formatRef(ref)}`

const readerOf = (kind: Kind.Any, stored: Map<string, KubeObject>): Cached.Reader<any> => ({
  get: (ref) => {
    const raw = stored.get(addressOf(kind.kind, ref))
    return raw === undefined ? undefined : Kind.decode(kind, raw)
  },
  list: ({ namespace, selector }) =>
    [...stored.values()]
      .filter(
        (raw) =>
          raw.kind === kind.kind &&
          (namespace === undefined || raw.metadata.namespace === namespace) &&
          (selector === undefined || LabelSelector.matches(selector, raw.metadata.labels))
      )
      .map((raw) => Result.getOrThrow(Kind.decode(kind, raw)))
})

const writerOf = (
  kind: Kind.Any,
  { asked, stored }: Pick<FakePass, "asked" | "stored">,
  refused: Readonly<Record<string, ReconcileError>>
): Owned.Writer<any> => ({
  apply: (owner, desired, { conflicts }) =>
    Effect.suspend(() => {
      const { name } = desired.metadata
      asked.push(`apply ${name} ${conflicts}`)
      if (refused[name] !== undefined) return Effect.fail(refused[name])
      const namespace = desired.metadata.namespace ?? owner.metadata.namespace
      const address = addressOf(kind.kind, { namespace, name })
      const before = stored.get(address)
      const raw = object(kind, name, Kind.encode(kind, desired as any), {
        ...(namespace !== undefined && { namespace }),
        ownerReferences: [{ apiVersion: "v1", kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid }]
      })
      stored.set(address, raw)
      const moved =
        before === undefined ? "created" : JSON.stringify(before) === JSON.stringify(raw) ? undefined : "updated"
      return Effect.succeed({ object: decoded(kind, raw), moved } as const)
    }),
  remove: (_, ref) =>
    Effect.suspend(() => {
      asked.push(`remove ${ref.name}`)
      const failure = refused[ref.name]
      return failure === undefined ? Effect.succeed(stored.delete(addressOf(kind.kind, ref))) : Effect.fail(failure)
    }),
  children: (owner) =>
    [...stored.values()]
      .filter((raw) => raw.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false)
      .map((raw) => decoded(kind, raw) as any)
})

const show = (subscription: Pass.Subscription): string =>
  subscription._tag === "Object"
    ? `Object ${subscription.kind.kind} ${formatRef(subscription.ref)}`
    : `List ${subscription.kind.kind} ${subscription.namespace ?? "*"} ${subscription.selector === undefined ? "*" : LabelSelector.format(subscription.selector)}`

export const fakePass = (settings: Settings = {}): FakePass => {
  const { object: raw = editor, kind = Role, refused = {} } = settings
  const subscribed: Array<string> = []
  const asked: Array<string> = []
  const stored = new Map((settings.stored ?? []).map((one) => [addressOf(one.kind, refOf(one)), one]))
  const pass: Pass.Pass["Service"] = {
    controller: "roles",
    kind,
    object: raw,
    ref: refOf(raw),
    uid: raw.metadata.uid,
    generation: raw.metadata.generation,
    attempt: settings.attempt ?? 0,
    ...(settings.failingSince !== undefined && { failingSince: settings.failingSince }),
    triggers: [],
    writesStatus: true,
    startedAt: 0,
    record: Pass.makeRecord(),
    subscribe: (subscription) => void subscribed.push(show(subscription))
  }
  let context = Context.add((settings.services ?? Context.empty()) as Context.Context<any>, Pass.Pass, pass)
  for (const read of [Role, Scope, ConfigMap])
    context = Context.add(context, Cached.reads(read), readerOf(read, stored) as any)
  context = Context.add(context, Owned.writes(ConfigMap), writerOf(ConfigMap, { asked, stored }, refused))
  return { pass, context, subscribed, asked, stored }
}

/** Runs the pipeline on the object of the pass. */
export const run = <Ctx, E, R>(
  reconciler: Reconciler<Ctx, E, R>,
  fake: FakePass = fakePass()
): Effect.Effect<Exit.Exit<Ctx, E>> =>
  Effect.exit(
    Effect.provideContext(
      reconciler.run({ object: decoded(fake.pass.kind, fake.pass.object) }) as Effect.Effect<Ctx, E, any>,
      fake.context
    )
  ) as Effect.Effect<Exit.Exit<Ctx, E>>
