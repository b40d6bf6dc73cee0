/** Which changes of a child are news to its owner (D27): judged against what the owner's last pass wrote or read, never by versions alone. */
import type { FieldsV1, KubeObject } from "../KubeObject.ts"
import { isRecord, type Json, sameJson, sameRecord } from "./sameJson.ts"

/** Move with every write, or only tell who wrote. */
const bookkeeping = new Set(["resourceVersion", "managedFields"])
const metadata = new Set(["metadata"])

/** Whether a child is gone, has come, has become another one, or differs in anything but resourceVersion and managedFields. */
export const wakesOwner = (known: KubeObject | undefined, next: KubeObject | undefined): boolean => {
  if (known === next) return false
  if (known === undefined || next === undefined) return true
  return (
    !sameRecord(known.metadata as unknown as Json, next.metadata as unknown as Json, bookkeeping) ||
    !sameRecord(known, next, metadata)
  )
}

/**
 * Whether the answer of a write of ours shows a change that was not ours: a foreign one that our cache had not seen, and that no event will tell apart.
 * `previous` is what the cache had before the write, `answer` what the API said, with its managedFields.
 *
 * What our manager owns before or after the write is ours, and so are the defaults inside of something that we added. Rather one pass too many:
 * a kind without managedFields shows every change as foreign. Caveat: a map that we apply empty, with keys of others in it, looks like an atomic one.
 */
export const revealsForeign = (facts: {
  readonly previous: KubeObject | undefined
  readonly answer: KubeObject
  readonly fieldManager: string
}): boolean => {
  const { answer, fieldManager, previous } = facts
  const entries = answer.metadata.managedFields ?? []
  // We thought that there was none: somebody else made it, or has changed it since.
  if (previous === undefined) return entries.some((entry) => entry.manager !== fieldManager)
  if (previous.metadata.uid !== answer.metadata.uid) return true
  const owned = [...(previous.metadata.managedFields ?? []), ...entries]
    .filter((entry) => entry.manager === fieldManager)
    .map((entry) => entry.fieldsV1)
    // Of an apply that said nothing.
    .filter((fields) => !isLeaf(fields))
  return isForeign(comparable(previous), comparable(answer), owned)
}

/** Without what the server counts by itself. */
const comparable = (object: KubeObject): Json => {
  const { generation: _, managedFields: __, resourceVersion: ___, ...rest } = object.metadata
  return { ...object, metadata: rest }
}

/** Whether two values differ where none of the `owned` trees reaches. */
const isForeign = (before: unknown, after: unknown, owned: ReadonlyArray<FieldsV1>): boolean => {
  if (sameJson(before, after)) return false
  if (isRecord(before) && isRecord(after)) {
    // A leaf owns an atomic map as a whole; one that stands for an empty map owns nothing in it.
    if (owned.some(isLeaf) && !isEmpty(before) && !isEmpty(after)) return false
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...keys].some((key) => isForeign(before[key], after[key], under(owned, `f:${key}`)))
  }
  if (owned.length === 0) return true
  // Ours as a whole: it came, went or is atomic.
  if (!Array.isArray(before) || !Array.isArray(after) || owned.some(isLeaf)) return false
  return isForeignList(before, after, owned)
}

const isForeignList = (
  before: ReadonlyArray<unknown>,
  after: ReadonlyArray<unknown>,
  owned: ReadonlyArray<FieldsV1>
): boolean => {
  const paths = owned.flatMap((fields) => Object.keys(fields))
  const keyed = paths.find((path) => path.startsWith("k:"))
  const names = keyed === undefined ? undefined : Object.keys(JSON.parse(keyed.slice(2)) as Json)
  const [was, is] = [byPath(before, names), byPath(after, names)]
  return [...new Set([...was.keys(), ...is.keys()])].some((path) =>
    isForeign(was.get(path), is.get(path), under(owned, path))
  )
}

/** The items of a list by how managedFields name them; of a list of sets, by value. */
const byPath = (
  items: ReadonlyArray<unknown>,
  names: ReadonlyArray<string> | undefined
): ReadonlyMap<string, unknown> =>
  new Map(
    items.map((item) => [
      names === undefined || !isRecord(item)
        ? `v:${JSON.stringify(item)}`
        : `k:${JSON.stringify(Object.fromEntries(names.map((name) => [name, item[name]])))}`,
      item
    ])
  )

const isEmpty = (record: Json): boolean => Object.keys(record).length === 0

const isLeaf = (fields: FieldsV1): boolean => Object.keys(fields).length === 0

const under = (owned: ReadonlyArray<FieldsV1>, path: string): ReadonlyArray<FieldsV1> =>
  owned.flatMap((fields) => (Object.hasOwn(fields, path) ? [fields[path]!] : []))
