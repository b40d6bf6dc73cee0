/**
 * Writing the children of the object of this pass: they bear its owner reference, are compared with what is known of them before anything is sent, and go
 * when it goes. `Writes<Id>` in R says which kinds are written, so that RBAC made from the declarations is exact.
 *
 * Guarantees: nothing is sent where nothing differs (D28); a stranger's object is never touched; what moved is entered in the pass's ledger.
 *
 * The examples here are about these kinds:
 *
 * ```ts
 * // kinds.ts
 * import * as Schema from "effect/Schema"
 * import { Kind } from "@fixpoint/core"
 *
 * export class ConfigMap extends Kind.make({
 *   group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced",
 *   fields: { data: Schema.Record(Schema.String, Schema.String) }
 * }) {}
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Reads } from "./Cached.ts"
import { mergeExits } from "./internal/mergeFailures.ts"
import type * as Kind from "./Kind.ts"
import { kindService } from "./internal/kindService.ts"
import { formatRef, type KubeObject, type ObjectRef, ref as refOf } from "./KubeObject.ts"
import * as Pass from "./Pass.ts"
import { Fatal, type ReconcileError } from "./ReconcileError.ts"

declare const WritesId: unique symbol
/** Identifies the service that writes objects of one kind. */
export interface Writes<out Id extends string> {
  readonly [WritesId]: Id
}

export interface ApplyOptions {
  /**
   * What becomes of a field that somebody else also writes. Default `repair-edits`.
   *
   * - `repair-edits`: what was edited, by hand or by another program, is drift and set back; a field that another manager *applies* is a conflict of two
   *   owners, told as a Temporary failure `ApplyConflict` that names field and manager.
   * - `force`: taken over from whoever has it.
   * - `fail`: any of it is told.
   */
  readonly conflicts?: "repair-edits" | "force" | "fail"
}

/** How children of one kind are written: the Manager gives one for each kind in `owns` and `writes`. */
export interface Writer<T> {
  /** `moved` is undefined if the child was as desired already. NotReady while the name is still taken by a dying child. */
  readonly apply: (
    owner: KubeObject,
    desired: Kind.Desired<T>,
    options: Required<ApplyOptions>
  ) => Effect.Effect<{ readonly object: T; readonly moved: "created" | "updated" | undefined }, ReconcileError>
  /** True if there was one to delete. One that is gone is a success (C7); one that is not the owner's is Fatal. */
  readonly remove: (owner: KubeObject, ref: ObjectRef) => Effect.Effect<boolean, ReconcileError>
  /** The objects of the kind that bear the owner's reference, as cached. */
  readonly children: (owner: KubeObject) => ReadonlyArray<{ readonly metadata: KubeObject["metadata"] } & T>
}

/** The key of a kind's writer. */
export const writes: <K extends Kind.Any>(kind: K) => Context.Service<Writes<Kind.Id<K>>, Writer<Kind.Type<K>>> =
  kindService("Writes")

const write = <K extends Kind.Any, A>(
  kind: K,
  verb: (writer: Writer<Kind.Type<K>>, pass: Pass.Pass["Service"]) => Effect.Effect<A, ReconcileError>
): Effect.Effect<A, ReconcileError, Pass.Pass | Writes<Kind.Id<K>>> =>
  Effect.contextWith((context: Context.Context<Pass.Pass | Writes<Kind.Id<K>>>) => {
    const pass = Context.get(context, Pass.Pass)
    const writer = Context.get(context, writes(kind))
    return Pass.whileOpen(pass, () => verb(writer, pass))
  })

/** Where a child lives: in its owner's namespace unless it says another, in none if its kind is cluster-scoped. */
const placeOf = (
  kind: Kind.Any,
  { ref }: Pass.Pass["Service"],
  child: { readonly name: string; readonly namespace?: string | undefined }
): ObjectRef => ({
  namespace: kind.scope === "Cluster" ? undefined : (child.namespace ?? ref.namespace),
  name: child.name
})

/** How a ledger entry names a child: by its name alone beside its owner. */
const nameOf = (kind: Kind.Any, pass: Pass.Pass["Service"], ref: ObjectRef): string =>
  `${kind.kind} ${ref.namespace === pass.ref.namespace ? ref.name : formatRef(ref)}`

const addressOf = (kind: Kind.Any, ref: ObjectRef): string => `${kind.id} ${formatRef(ref)}`

/** Two stages of one pass that want a child and do not want it would make and delete it for ever; so the first such pass ends. */
const clash = (what: string): Fatal =>
  new Fatal({
    reason: "ChildrenClash",
    message: `${what} is both wanted and removed in one pass: if several stages own children of this kind, give \`prune\` a function that chooses its own`
  })

const applyOne = <K extends Kind.Any>(
  kind: K,
  desired: Kind.Desired<Kind.Type<K>>,
  options: ApplyOptions,
  writer: Writer<Kind.Type<K>>,
  pass: Pass.Pass["Service"]
): Effect.Effect<Kind.Type<K>, ReconcileError> => {
  const { record } = pass
  const ref = placeOf(kind, pass, desired.metadata)
  const address = addressOf(kind, ref)
  const text = nameOf(kind, pass, ref)
  if (record.children.get(address) === "removed") return Effect.fail(clash(text))
  record.children.set(address, "applied")
  pass.subscribe({ _tag: "Object", kind, ref })
  return Effect.map(
    writer.apply(pass.object, desired, { conflicts: options.conflicts ?? "repair-edits" }),
    ({ moved, object }) => {
      if (moved !== undefined) record.ledger.push({ action: moved, text })
      return object
    }
  )
}

/**
 * Makes a child be as desired, and answers it as it then is. Compared with the cache, therefore it also needs `Reads`: declare the kind in `owns`, or in
 * `writes` and `watches`. Fails with NotReady while a dying child still has the name.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Owned } from "@fixpoint/core"
 * import { ConfigMap } from "./kinds.ts"
 *
 * export const step = Effect.fnUntraced(function* () {
 *   const config = yield* Owned.apply(ConfigMap, { metadata: { name: "rules" }, data: { rules: "read" } })
 *   return config.metadata.resourceVersion
 * })
 * ```
 */
export const apply = <K extends Kind.Any>(
  kind: K,
  desired: Kind.Desired<Kind.Type<K>>,
  options: ApplyOptions = {}
): Effect.Effect<Kind.Type<K>, ReconcileError, Pass.Pass | Reads<Kind.Id<K>> | Writes<Kind.Id<K>>> =>
  write(kind, (writer, pass) => applyOne(kind, desired, options, writer, pass))

export interface ApplyAllOptions<T> extends ApplyOptions {
  /**
   * Whether the children that are not desired any more are removed, once all the others are as desired. `true` means every child of this kind that the
   * object owns; a function chooses among them, where other stages own some too. Default false.
   */
  readonly prune?: boolean | ((child: T) => boolean)
  /** How many are written at a time. Default 4. */
  readonly concurrency?: number
}

/**
 * Makes many children be as desired, in their order. Each is tried, whatever becomes of the others; failures merge as in `Reconciler.all` (B45), and then
 * nothing is pruned. Two of one name are a Fatal failure.
 */
export const applyAll = <K extends Kind.Any>(
  kind: K,
  desired: Iterable<Kind.Desired<Kind.Type<K>>>,
  options: ApplyAllOptions<Kind.Type<K>> = {}
): Effect.Effect<ReadonlyArray<Kind.Type<K>>, ReconcileError, Pass.Pass | Reads<Kind.Id<K>> | Writes<Kind.Id<K>>> =>
  write(kind, (writer, pass) => {
    const all = [...desired]
    const wanted = new Set<string>()
    for (const { metadata } of all) {
      const address = addressOf(kind, placeOf(kind, pass, metadata))
      if (wanted.has(address))
        return Effect.fail(
          new Fatal({ reason: "DuplicateChild", message: `two children want to be ${kind.kind} ${metadata.name}` })
        )
      wanted.add(address)
    }
    const applied = Effect.forEach(all, (one) => Effect.exit(applyOne(kind, one, options, writer, pass)), {
      concurrency: options.concurrency ?? 4
    }).pipe(Effect.flatMap((exits) => mergeExits(exits)))
    const { prune } = options
    if (prune === undefined || prune === false) return applied
    return Effect.tap(applied, () =>
      Effect.forEach(
        writer
          .children(pass.object)
          .filter((child) => !wanted.has(addressOf(kind, refOf(child))) && (prune === true || prune(child))),
        (child) => Effect.exit(removeOne(kind, refOf(child), writer, pass)),
        { concurrency: options.concurrency ?? 4 }
      ).pipe(Effect.flatMap((exits) => mergeExits(exits)))
    )
  })

const removeOne = <K extends Kind.Any>(
  kind: K,
  ref: ObjectRef,
  writer: Writer<Kind.Type<K>>,
  pass: Pass.Pass["Service"]
): Effect.Effect<boolean, ReconcileError> => {
  const { record } = pass
  const address = addressOf(kind, ref)
  const text = nameOf(kind, pass, ref)
  if (record.children.get(address) === "applied") return Effect.fail(clash(text))
  record.children.set(address, "removed")
  return Effect.map(writer.remove(pass.object, ref), (removed) => {
    if (removed) record.ledger.push({ action: "deleted", text })
    return removed
  })
}

/** Deletes a child of the object of this pass; true if there was one. A name alone is one in the object's own namespace. One that is not its child is Fatal. */
export const remove = <K extends Kind.Any>(
  kind: K,
  child: string | ObjectRef
): Effect.Effect<boolean, ReconcileError, Pass.Pass | Writes<Kind.Id<K>>> =>
  write(kind, (writer, pass) =>
    removeOne(kind, placeOf(kind, pass, typeof child === "string" ? { name: child } : child), writer, pass)
  )
