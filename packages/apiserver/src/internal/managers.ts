/** The entries of `metadata.managedFields`, read and written: who owns which set of fields, by which way, and since when. */
import type { ManagedFieldsEntry } from "@fixpoint/core/KubeObject"
import * as FieldSet from "./fieldSet.ts"
import { isList, isObject } from "./json.ts"

export interface Manager {
  readonly manager: string
  readonly operation: "Apply" | "Update"
  readonly apiVersion: string
  readonly subresource: string | undefined
  readonly time: string | undefined
  readonly fields: FieldSet.FieldSet
}

/** By `idOf`. */
export type Managers = Map<string, Manager>

/** What tells managers apart: of appliers, not the version. Entries are told and sorted by this text in the server. */
export const idOf = (of: Pick<Manager, "manager" | "operation" | "apiVersion" | "subresource">): string =>
  JSON.stringify({
    manager: of.manager,
    operation: of.operation,
    ...(of.operation === "Update" && { apiVersion: of.apiVersion }),
    ...(of.subresource !== undefined && { subresource: of.subresource })
  })

const text = (u: unknown): string => (typeof u === "string" ? u : "")

/** Undefined if an entry is not what the server takes for one. */
export const decode = (entries: unknown): Managers | undefined => {
  const out: Managers = new Map()
  if (entries === undefined || entries === null) return out
  if (!isList(entries)) return undefined
  for (const entry of entries) {
    if (!isObject(entry)) return undefined
    const { operation } = entry
    const apiVersion = text(entry.apiVersion)
    if ((operation !== "Apply" && operation !== "Update") || apiVersion === "" || entry.fieldsType !== "FieldsV1") {
      return undefined
    }
    const fields = FieldSet.decode(entry.fieldsV1 ?? {})
    if (fields === undefined) return undefined
    const manager: Manager = {
      manager: text(entry.manager),
      operation,
      apiVersion,
      subresource: text(entry.subresource) === "" ? undefined : text(entry.subresource),
      time: text(entry.time) === "" ? undefined : text(entry.time),
      fields
    }
    out.set(idOf(manager), manager)
  }
  return out
}

/** One empty entry, which tells the server to forget all (F33). */
export const isReset = (entries: unknown): boolean =>
  isList(entries) && entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0

const seconds = (time: string | undefined): number => {
  const millis = time === undefined ? 0 : Date.parse(time)
  return Number.isNaN(millis) ? 0 : Math.floor(millis / 1_000)
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Undefined if nobody owns anything. Appliers first, then by time, then by name (F32). */
export const encode = (managers: Managers): ReadonlyArray<ManagedFieldsEntry> | undefined =>
  managers.size === 0
    ? undefined
    : [...managers.values()]
        .sort(
          (a, b) =>
            byText(a.operation, b.operation) ||
            (a.time === b.time ? 0 : seconds(a.time) - seconds(b.time)) ||
            byText(a.manager, b.manager) ||
            byText(a.apiVersion, b.apiVersion) ||
            byText(a.subresource ?? "", b.subresource ?? "")
        )
        .map(({ apiVersion, fields, manager, operation, subresource, time }) => ({
          manager,
          operation,
          apiVersion,
          ...(time !== undefined && { time }),
          fieldsType: "FieldsV1",
          fieldsV1: FieldSet.encode(fields),
          ...(subresource !== undefined && { subresource })
        }))

const updatersAtMost = 10

/** Merges the oldest Update entries of a version into one, `ancient-changes`, until no more than 10 are left (F32). */
export const cap = (managers: Managers): Managers => {
  const updaters = [...managers]
    .filter(([, { operation }]) => operation === "Update")
    .sort(([idA, a], [idB, b]) => seconds(a.time) - seconds(b.time) || byText(idA, idB))
  let count = updaters.length
  if (count <= updatersAtMost) return managers
  const out = new Map(managers)
  const firsts = new Map<string, string>()
  for (const [id, updater] of updaters) {
    if (count <= updatersAtMost) break
    const first = firsts.get(updater.apiVersion)
    if (first === undefined) {
      firsts.set(updater.apiVersion, id)
      continue
    }
    const ancient: Omit<Manager, "fields" | "time"> = {
      manager: "ancient-changes",
      operation: "Update",
      apiVersion: updater.apiVersion,
      subresource: undefined
    }
    const bucket = idOf(ancient)
    const before = out.get(bucket) ?? out.get(first)
    out.delete(first)
    out.delete(id)
    out.set(bucket, {
      ...ancient,
      fields: before === undefined ? updater.fields : FieldSet.union(updater.fields, before.fields),
      time: updater.time
    })
    count--
  }
  return out
}
