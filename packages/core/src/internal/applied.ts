/**
 * Whether an apply would change nothing, judged from the live object alone (D28): every desired leaf equals the live one after normalisation, and
 * the fields that our manager owns are exactly the desired ones, so that a desired state that shrank is noticed, also across a restart.
 *
 * The fields that we own say which lists are maps, sets or atomic, so no schema is needed.
 *
 * Caveats: where a server's default has been added inside an atomic list the answer is "would change", and an apply is sent that the server finds
 * quiet. Where we owned an empty map that somebody else has filled exactly as we now want it, the answer is "would not": only a share in the
 * ownership is left out.
 */
import type { FieldsV1, KubeObject, ManagedFieldsEntry, ObjectInput } from "../KubeObject.ts"
import { isRecord, type Json, sameJson } from "./sameJson.ts"

/** Our own entry: the one that our applies of that subresource keep. */
export const ownEntry = (
  object: KubeObject,
  manager: string,
  subresource: string | undefined
): ManagedFieldsEntry | undefined =>
  object.metadata.managedFields?.find(
    (entry) => entry.operation === "Apply" && entry.manager === manager && entry.subresource === subresource
  )

/** Fields of an apply that name the object and are never owned. */
const identity = new Set(["apiVersion", "kind"])
const metadataIdentity = new Set(["name", "namespace", "uid", "resourceVersion"])

/** Whether `manager` has applied exactly `desired`, and it still stands. */
export const isApplied = (
  live: KubeObject,
  desired: ObjectInput,
  manager: string,
  subresource: string | undefined
): boolean => {
  const entry = ownEntry(live, manager, subresource)
  if (entry === undefined || entry.apiVersion !== desired.apiVersion) return false
  return coversRecord(entry.fieldsV1, desired, live, "", identity)
}

// Compared in every pass that finds nothing to do, so nothing is copied here and few texts are made.
const coversRecord = (
  fields: FieldsV1,
  desired: Json,
  live: Json,
  parent: string,
  except?: ReadonlySet<string>
): boolean => {
  let found = 0
  for (const key in desired) {
    const value = desired[key]
    if (value === undefined || except?.has(key) === true) continue
    const isOwnMetadata = except === identity && key === "metadata"
    const owned = fields[`f:${key}`]
    if (owned === undefined) {
      // Metadata that only names the object has no fields to own.
      if (isOwnMetadata && isRecord(value) && Object.keys(value).every((name) => metadataIdentity.has(name))) continue
      return false
    }
    found++
    const present = Object.hasOwn(live, key) ? live[key] : undefined
    const isCovered =
      isOwnMetadata && isRecord(value) && isRecord(present)
        ? coversRecord(owned, value, present, key, metadataIdentity)
        : covers(owned, value, present, key, parent)
    if (!isCovered) return false
  }
  return found === ownedIn(fields)
}

/** How many fields are owned below; infinite if others than fields are. */
const ownedIn = (fields: FieldsV1): number => {
  let count = 0
  for (const path in fields) {
    if (path === ".") continue
    if (!path.startsWith("f:")) return Infinity
    count++
  }
  return count
}

const isLeaf = (fields: FieldsV1): boolean => {
  for (const path in fields) if (path !== ".") return false
  return true
}

const covers = (fields: FieldsV1, desired: unknown, live: unknown, key: string, parent: string): boolean => {
  if (isLeaf(fields)) return isEquivalent(desired, live, key, parent)
  if (Array.isArray(desired)) return Array.isArray(live) && coversList(fields, desired, live, key)
  return isRecord(desired) && isRecord(live) && coversRecord(fields, desired, live, key)
}

interface Item {
  readonly fields: FieldsV1
  /** Of a list of maps: what tells its items apart. */
  readonly keys: Json | undefined
  /** Of a set: the item itself. */
  readonly value: string | undefined
}

/** Field sets are shared by many objects (see `ownFields`). */
const itemsOfFields = new WeakMap<FieldsV1, ReadonlyArray<Item>>()

const itemsOf = (fields: FieldsV1): ReadonlyArray<Item> => {
  let items = itemsOfFields.get(fields)
  if (items === undefined) {
    items = Object.keys(fields)
      .filter((path) => path !== ".")
      .map((path) => ({
        fields: fields[path]!,
        keys: path.startsWith("k:") ? (JSON.parse(path.slice(2)) as Json) : undefined,
        value: path.startsWith("v:") ? path.slice(2) : undefined
      }))
    itemsOfFields.set(fields, items)
  }
  return items
}

const coversList = (
  fields: FieldsV1,
  desired: ReadonlyArray<unknown>,
  live: ReadonlyArray<unknown>,
  key: string
): boolean => {
  const items = itemsOf(fields)
  if (items.length !== desired.length) return false
  // Others may have items between ours, but the order of ours means something (initContainers run in it).
  let last = -1
  const isNext = (index: number): boolean => {
    const follows = index > last
    last = index
    return follows
  }
  return desired.every((item) => {
    const owned = items.find(({ keys }) => keys !== undefined && hasKeys(item, keys))
    if (owned === undefined) {
      const value = JSON.stringify(item)
      return (
        items.some((one) => one.value === value) && isNext(live.findIndex((other) => JSON.stringify(other) === value))
      )
    }
    const keys = owned.keys!
    const index = live.findIndex((other) => hasKeys(other, keys))
    const present = live[index]
    // An item may be atomic, and is then owned whole: an owner reference is (its fields are not listed).
    return isNext(index) && isRecord(present) && covers(owned.fields, withKeys(item as Json, keys), present, key, key)
  })
}

// A key that has a default (a port's protocol) may be absent in what is desired.
const hasKeys = (item: unknown, keys: Json): boolean => {
  if (!isRecord(item)) return false
  for (const name in keys) if (item[name] !== undefined && item[name] !== keys[name]) return false
  return true
}

// The keys of an item are owned also where a default filled them in.
const withKeys = (item: Json, keys: Json): Json => {
  for (const name in keys) if (item[name] === undefined) return { ...keys, ...item }
  return item
}

const isEmpty = (u: unknown): boolean =>
  u === undefined ||
  u === null ||
  u === "" ||
  (Array.isArray(u) ? u.length === 0 : isRecord(u) && Object.keys(u).length === 0)

/** Parents whose values are quantities, which the server rewrites: `1000m` is stored as `1` (B72, F106). */
const quantityParents = new Set(["limits", "requests", "capacity", "hard"])

/** Of one leaf: a scalar, an atomic list or map, or an empty collection. What is inside an atomic one is compared to the letter. */
const isEquivalent = (desired: unknown, live: unknown, key: string, parent: string): boolean => {
  if (desired === live) return true
  // What is empty is dropped by some kinds and kept by others (F107).
  if (live === undefined) return isEmpty(desired)
  if (quantityParents.has(parent) || key === "sizeLimit") {
    const wanted = quantityOf(desired)
    return wanted !== undefined && wanted === quantityOf(live)
  }
  return sameJson(desired, live)
}

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60
}

const quantityOf = (u: unknown): number | undefined => {
  if (typeof u === "number") return u
  const match =
    typeof u === "string" ? /^([+-]?[0-9.]+)(?:([eE][+-]?[0-9]+)|([numkMGTPE]i?|[KMGTPE]i)?)$/.exec(u) : null
  if (match === null) return undefined
  const [, digits, exponent, suffix = ""] = match
  const factor = suffixes[suffix]
  return factor === undefined ? undefined : Number(`${digits}${exponent ?? ""}`) * factor
}
