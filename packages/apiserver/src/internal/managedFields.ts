/**
 * Which manager owns which fields of an object: server-side apply, and the tracking of every other write (F30 to F33, F86, F91 to F104).
 *
 * Guarantees: pure; nothing is mutated, and what does not change keeps its reference.
 * Caveats: integers above 2^53 lose digits, as everywhere in JavaScript.
 */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject, ManagedFieldsEntry, ObjectInput } from "@fixpoint/core/KubeObject"
import { type Comparison, compare, merge, remove } from "./fieldMerge.ts"
import * as FieldSet from "./fieldSet.ts"
import { type FieldType, ofObject } from "./fieldType.ts"
import { fieldsOf, misfits, reconcile, withNamedFields } from "./fieldTyping.ts"
import { equals, isObject, type JsonObject, mapEntries, reuse, withEntry, withoutEntry } from "./json.ts"
import * as LastApplied from "./lastApplied.ts"
import { cap, decode, encode, idOf, isReset, type Manager, type Managers } from "./managers.ts"
import type { Schema } from "./schema.ts"
import { applyDefaults } from "./schemaShaping.ts"

interface Common {
  /** Of the whole object; metadata is the same for all kinds and need not be in it. */
  readonly schema: Schema
  /** An empty one is `unknown` (F29). */
  readonly manager: string
  readonly apiVersion: string
  readonly subresource?: string
  /** RFC 3339 in whole seconds. */
  readonly now: string
  /** Dotted paths of fields that the endpoint sets back and nobody comes to own by it: `status` on main, `spec` and `metadata` on a CR's /status (F85, F99). */
  readonly resetFields?: ReadonlyArray<string>
  /** An object of the kind before anything is set in it. Default: one of apiVersion and kind alone, as for custom resources. */
  readonly blank?: JsonObject
  /** The schema of a version in which another manager has written; undefined for one that is served no more. Default: `schema` for all (F141). */
  readonly schemaOf?: (apiVersion: string) => Schema | undefined
}

export interface ApplyInput extends Common {
  /** Undefined on create. */
  readonly live: KubeObject | undefined
  readonly applied: ObjectInput
  /** Takes fields over from other managers (F92). */
  readonly force: boolean
}

export type Applied =
  /**
   * `changed` is false if neither the object nor who owns what would change, times aside; `object` is then `live` itself. A caller that sets fields back or
   * normalises the object asks `equalButTimes` afterwards.
   */
  | { readonly _tag: "Applied"; readonly object: ObjectInput; readonly changed: boolean }
  /** 409 (F91). */
  | { readonly _tag: "Conflicts"; readonly causes: ReadonlyArray<StatusCause>; readonly message: string }
  /** 500 without a reason (F97). */
  | { readonly _tag: "TypeError"; readonly message: string }

/** What is stripped from every manager's set: identity and what the server itself keeps. */
const stripped = FieldSet.fromPaths(
  [
    ["apiVersion"],
    ["kind"],
    ["metadata"],
    ["metadata", "name"],
    ["metadata", "namespace"],
    ["metadata", "creationTimestamp"],
    ["metadata", "selfLink"],
    ["metadata", "uid"],
    ["metadata", "clusterName"],
    ["metadata", "generation"],
    ["metadata", "managedFields"],
    ["metadata", "resourceVersion"]
  ].map((path) => path.map(FieldSet.field))
)

const withoutManagedFields = (object: JsonObject): JsonObject =>
  isObject(object.metadata) && Object.hasOwn(object.metadata, "managedFields")
    ? withEntry(object, "metadata", withoutEntry(object.metadata, "managedFields"))
    : object

/** The object with these entries instead of its own; the object itself if they are equal. */
export const withManagedFields = (
  object: JsonObject,
  entries: ReadonlyArray<ManagedFieldsEntry> | undefined
): JsonObject => {
  if (entries === undefined) return withoutManagedFields(object)
  const metadata = isObject(object.metadata) ? object.metadata : {}
  return equals(metadata.managedFields, entries)
    ? object
    : withEntry(object, "metadata", withEntry(metadata, "managedFields", entries))
}

/** Metadata knows no null: what was given up to the last item is absent. */
const withoutNullMetadata = (object: JsonObject): JsonObject =>
  isObject(object.metadata)
    ? withEntry(
        object,
        "metadata",
        mapEntries(object.metadata, (own) => (own === null ? undefined : own))
      )
    : object

const managedFieldsOf = (object: JsonObject | undefined): unknown =>
  isObject(object?.metadata) ? object.metadata.managedFields : undefined

const timeless = (entries: unknown): unknown =>
  Array.isArray(entries) ? entries.map((entry) => (isObject(entry) ? withoutEntry(entry, "time") : entry)) : entries

/** True if two objects, and their entries one by one, differ in nothing but times: such a write is none (F31, F99). A new time that changes the order of entries makes one. */
export const equalButTimes = (a: JsonObject, b: JsonObject): boolean =>
  a === b ||
  (equals(timeless(managedFieldsOf(a)), timeless(managedFieldsOf(b))) &&
    equals(withoutManagedFields(a), withoutManagedFields(b)))

interface World {
  readonly input: Common
  readonly type: FieldType
  readonly typeOf: (apiVersion: string) => FieldType | undefined
  /** Removes what the endpoint resets. */
  readonly filter: (set: FieldSet.FieldSet) => FieldSet.FieldSet
}

const worldOf = (input: Common): World => {
  const reset = FieldSet.fromPaths((input.resetFields ?? []).map((path) => path.split(".").map(FieldSet.field)))
  return {
    input,
    type: ofObject(input.schema),
    typeOf: (apiVersion) => {
      const schema =
        input.schemaOf === undefined || apiVersion === input.apiVersion ? input.schema : input.schemaOf(apiVersion)
      return schema === undefined ? undefined : ofObject(schema)
    },
    filter: (set) => FieldSet.recursiveDifference(set, reset)
  }
}

const entryOf = (
  { input }: World,
  manager: string,
  operation: "Apply" | "Update"
): Omit<Manager, "fields" | "time"> => ({
  manager: manager === "" ? "unknown" : manager,
  operation,
  apiVersion: input.apiVersion,
  subresource: input.subresource
})

/** Fits the sets to schemas that have changed since they were written. Managers of versions that are no more are dropped. */
const reconciled = (world: World, managers: Managers): Managers => {
  const out: Managers = new Map()
  for (const [id, manager] of managers) {
    const type = world.typeOf(manager.apiVersion)
    if (type !== undefined) out.set(id, { ...manager, fields: reconcile(manager.fields, type) })
  }
  return out
}

interface Shift {
  /** What others own and the change touches, by manager. */
  readonly conflicts: ReadonlyMap<string, FieldSet.FieldSet>
  readonly managers: Managers
  readonly comparison: Comparison
}

/** What a change from one object to another does to the sets of all managers but `self`. */
const shift = (world: World, live: unknown, next: unknown, managers: Managers, self: string | undefined): Shift => {
  const { filter } = world
  const compared = new Map<string, Comparison>()
  const comparisonOf = (apiVersion: string, type: FieldType): Comparison => {
    const known = compared.get(apiVersion)
    if (known !== undefined) return known
    const found = compare(type, live, next)
    // What the endpoint resets is known in the version of the request alone: managers of others lose what the body leaves out.
    const out =
      apiVersion === world.input.apiVersion
        ? { added: filter(found.added), modified: filter(found.modified), removed: filter(found.removed) }
        : found
    compared.set(apiVersion, out)
    return out
  }
  const conflicts = new Map<string, FieldSet.FieldSet>()
  const out: Managers = new Map()
  for (const [id, manager] of managers) {
    let { fields } = manager
    const type = world.typeOf(manager.apiVersion)
    if (id !== self && type !== undefined) {
      const { added, modified, removed } = comparisonOf(manager.apiVersion, type)
      const conflict = FieldSet.intersection(fields, FieldSet.union(modified, added))
      if (!FieldSet.isEmpty(conflict)) conflicts.set(id, conflict)
      fields = FieldSet.difference(FieldSet.difference(fields, conflict), removed)
    }
    if (!FieldSet.isEmpty(fields) && type !== undefined) out.set(id, { ...manager, fields })
  }
  return { conflicts, managers: out, comparison: comparisonOf(world.input.apiVersion, world.type) }
}

/**
 * Removes what the manager applied last time, does not apply now, and nobody else owns. `managers` has the present set of the manager already.
 */
const pruneGivenUp = (
  world: World,
  merged: unknown,
  managers: Managers,
  last: Manager | undefined,
  present: FieldSet.FieldSet
): unknown => {
  const type = last === undefined ? undefined : world.typeOf(last.apiVersion)
  if (last === undefined || type === undefined || FieldSet.isEmpty(FieldSet.difference(last.fields, present)))
    return merged
  const lastSet = withNamedFields(last.fields, type)
  let pruned = remove(type, merged, lastSet)
  const owned = new Map<string, FieldSet.FieldSet>([[last.apiVersion, FieldSet.empty]])
  for (const { apiVersion, fields } of managers.values()) {
    owned.set(apiVersion, FieldSet.union(owned.get(apiVersion) ?? FieldSet.empty, fields))
  }
  for (const [apiVersion, fields] of owned) {
    const at = world.typeOf(apiVersion)
    if (at === undefined) continue
    const kept = FieldSet.union(withNamedFields(fieldsOf(at, pruned), at), withNamedFields(fields, at))
    pruned = remove(at, merged, FieldSet.difference(withNamedFields(fieldsOf(at, merged), at), kept))
  }
  // What the manager never owned comes back.
  const gone = FieldSet.difference(
    withNamedFields(fieldsOf(type, merged), type),
    withNamedFields(fieldsOf(type, pruned), type)
  )
  return remove(type, merged, FieldSet.intersection(gone, lastSet))
}

const kindText = (object: ObjectInput): string => {
  const [group, version] =
    object.apiVersion?.includes("/") === true ? object.apiVersion.split("/") : ["", object.apiVersion]
  return `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}; ${group ?? ""}/${version ?? ""}, Kind=${object.kind ?? ""}`
}

/**
 * Server-side apply: merges what is applied into the live object, takes out what the manager has given up and nobody else owns (F93), and settles who owns
 * what. Defaults are filled in; nothing else is: pruning, validation and what the endpoint resets are the caller's.
 */
export const apply = (input: ApplyInput): Applied => {
  const world = worldOf(input)
  const decoded = decode(managedFieldsOf(input.live))
  if (decoded === undefined) return { _tag: "TypeError", message: "failed to decode managed fields" }
  const applied = withoutManagedFields(input.applied)
  const misfit = misfits(world.type, applied, false)
  if (misfit !== undefined) {
    return { _tag: "TypeError", message: `failed to create typed patch object (${kindText(input.applied)}): ${misfit}` }
  }
  const live = withoutManagedFields(input.live ?? { apiVersion: input.applied.apiVersion, kind: input.applied.kind })
  const unfit = misfits(world.type, live, true)
  if (unfit !== undefined) {
    return { _tag: "TypeError", message: `failed to create typed live object (${kindText(live)}): ${unfit}` }
  }
  const self = entryOf(world, input.manager, "Apply")
  const id = idOf(self)
  // What an untracked object has is the property of nobody in particular.
  const before = reconciled(
    world,
    decoded.size === 0 && input.live !== undefined
      ? track(world, undefined, live, decoded, "before-first-apply")
      : decoded
  )
  const last = before.get(id)
  const managers: Managers = new Map(before)
  const present = world.filter(fieldsOf(world.type, applied))
  managers.set(id, { ...self, time: last?.time, fields: present })
  const merged = pruneGivenUp(world, merge(world.type, live, applied), managers, last, present) as JsonObject
  const shifted = shift(world, live, merged, managers, id)
  const isKubectl = input.manager === LastApplied.manager
  const conflicts = isKubectl ? disputed(shifted.conflicts, world.type, live) : shifted.conflicts
  if (!input.force && conflicts.size > 0) return conflictsOf(conflicts)
  const touched = !equals(live, merged)
  const after = strip(shifted.managers, id, touched ? input.now : undefined)
  // Defaults that come back in place of what was given up are new objects, but often equal ones.
  const filled = touched ? reuse(live, withoutNullMetadata(applyDefaults(input.schema, merged) as JsonObject)) : live
  const kept = isKubectl ? LastApplied.refreshed(filled as JsonObject, applied) : (filled as JsonObject)
  const object = withManagedFields(kept, encode(after))
  return input.live !== undefined && equalButTimes(input.live, object)
    ? { _tag: "Applied", object: input.live, changed: false }
    : { _tag: "Applied", object, changed: true }
}

/** Without the fields that kubectl has applied already by annotation. */
const disputed = (conflicts: Shift["conflicts"], type: FieldType, live: JsonObject): Shift["conflicts"] => {
  if (conflicts.size === 0) return conflicts
  const undisputed = LastApplied.undisputed(type, live)
  return new Map(
    [...conflicts]
      .map(([id, fields]) => [id, FieldSet.difference(fields, undisputed)] as const)
      .filter(([, fields]) => !FieldSet.isEmpty(fields))
  )
}

/** Takes what nobody owns from the manager's set, and sets its time if one is given. An entry without fields goes. */
const strip = (managers: Managers, id: string, time: string | undefined): Managers => {
  const manager = managers.get(id)
  if (manager === undefined) return managers
  const out: Managers = new Map(managers)
  const fields = FieldSet.difference(manager.fields, stripped)
  if (FieldSet.isEmpty(fields)) out.delete(id)
  else out.set(id, { ...manager, fields, time: time ?? manager.time })
  return out
}

const managerText = (id: string): string => {
  const { apiVersion, manager, operation, subresource } = JSON.parse(id) as ManagedFieldsEntry
  const of = subresource === undefined ? "" : ` with subresource ${JSON.stringify(subresource)}`
  return `${JSON.stringify(manager)}${of}${operation === "Update" ? ` using ${apiVersion}` : ""}`
}

const conflictsOf = (conflicts: ReadonlyMap<string, FieldSet.FieldSet>): Applied => {
  const byManager = [...conflicts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, set]) => ({ manager: managerText(id), fields: FieldSet.paths(set).map(FieldSet.formatPath) }))
  const causes = byManager.flatMap(({ fields, manager }) =>
    fields.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${manager}`, field }))
  )
  const [first] = causes
  const lines = byManager.flatMap(({ fields, manager }) => [
    `conflicts with ${manager}:`,
    ...fields.map((field) => `- ${field}`)
  ])
  const message =
    causes.length === 1 && first !== undefined
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`
  return { _tag: "Conflicts", causes, message }
}

export interface UpdateInput extends Common {
  /** Undefined on create. */
  readonly live: KubeObject | undefined
  /** What is to be stored, pruned and defaulted, before fields are set back. Its own managedFields count, except on a subresource (F33). */
  readonly next: ObjectInput
}

/**
 * The entries after a write that is no apply; undefined if nobody owns anything. The manager comes to own what it changed, defaults included (F30); an object that
 * nobody owns stays so (F33).
 */
export const update = (input: UpdateInput): ReadonlyArray<ManagedFieldsEntry> | undefined => {
  const world = worldOf(input)
  const known = managersFor(input)
  if (known.size === 0 && input.live !== undefined) return undefined
  const next = withoutManagedFields(input.next)
  const live = input.live === undefined ? undefined : withoutManagedFields(input.live)
  // The server forgets who owns what rather than keep something wrong.
  if (misfits(world.type, next, true) !== undefined) return undefined
  if (live !== undefined && misfits(world.type, live, true) !== undefined) return undefined
  return encode(track(world, live, next, known, input.manager))
}

/** What the body says if it says something, else what the live object has. */
const managersFor = (input: UpdateInput): Managers => {
  const live = (): Managers => decode(managedFieldsOf(input.live)) ?? new Map()
  if (input.subresource !== undefined) return live()
  const sent = managedFieldsOf(input.next)
  if (isReset(sent)) return new Map()
  const managers = decode(sent)
  return managers === undefined || managers.size === 0 ? live() : managers
}

const track = (
  world: World,
  live: JsonObject | undefined,
  next: JsonObject,
  known: Managers,
  manager: string
): Managers => {
  const base = live ?? world.input.blank ?? { apiVersion: next.apiVersion, kind: next.kind }
  const { comparison, managers } = shift(world, base, next, reconciled(world, known), undefined)
  const self = entryOf(world, manager, "Update")
  const id = idOf(self)
  const taken = FieldSet.difference(world.filter(FieldSet.union(comparison.modified, comparison.added)), stripped)
  if (FieldSet.isEmpty(taken)) return cap(managers)
  const out: Managers = new Map(managers)
  const previous = managers.get(id)
  out.set(id, {
    ...self,
    time: world.input.now,
    fields: previous === undefined ? taken : FieldSet.union(taken, previous.fields)
  })
  return cap(out)
}
