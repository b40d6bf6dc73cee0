/**
 * A persistent map from strings, in the order of its keys, as etcd keeps them. A change copies one leaf of at most 64 entries and the spine of
 * leaves; everything else is shared with the map before. Reads copy nothing.
 */
interface Leaf<A> {
  readonly keys: ReadonlyArray<string>
  readonly values: ReadonlyArray<A>
}

export interface SortedMap<A> {
  readonly size: number
  /** No leaf is empty; keys ascend within and across leaves. */
  readonly leaves: ReadonlyArray<Leaf<A>>
}

const leafSize = 64

const none: SortedMap<never> = { size: 0, leaves: [] }

export const empty = <A>(): SortedMap<A> => none

/** The leaf that holds the key if any does: the last whose first key is not above it. */
const leafOf = <A>({ leaves }: SortedMap<A>, key: string): number => {
  let low = 0
  let high = leaves.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (leaves[middle]!.keys[0]! <= key) low = middle
    else high = middle - 1
  }
  return low
}

/** The first index in the leaf whose key is not below the given one. */
const indexOf = (keys: ReadonlyArray<string>, key: string): number => {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}

export const get = <A>(map: SortedMap<A>, key: string): A | undefined => {
  if (map.size === 0) return undefined
  const leaf = map.leaves[leafOf(map, key)]!
  const index = indexOf(leaf.keys, key)
  return leaf.keys[index] === key ? leaf.values[index] : undefined
}

export const set = <A>(map: SortedMap<A>, key: string, value: A): SortedMap<A> => {
  if (map.size === 0) return { size: 1, leaves: [{ keys: [key], values: [value] }] }
  const at = leafOf(map, key)
  const leaf = map.leaves[at]!
  const index = indexOf(leaf.keys, key)
  if (leaf.keys[index] === key) {
    return { size: map.size, leaves: map.leaves.with(at, { keys: leaf.keys, values: leaf.values.with(index, value) }) }
  }
  const keys = leaf.keys.toSpliced(index, 0, key)
  const values = leaf.values.toSpliced(index, 0, value)
  if (keys.length <= leafSize) return { size: map.size + 1, leaves: map.leaves.with(at, { keys, values }) }
  // Keys often come in ascending order: a leaf that grew at its end is left full.
  const cut = index === leafSize ? leafSize : leafSize >>> 1
  return {
    size: map.size + 1,
    leaves: map.leaves.toSpliced(
      at,
      1,
      { keys: keys.slice(0, cut), values: values.slice(0, cut) },
      { keys: keys.slice(cut), values: values.slice(cut) }
    )
  }
}

export const remove = <A>(map: SortedMap<A>, key: string): SortedMap<A> => {
  if (map.size === 0) return map
  const at = leafOf(map, key)
  const leaf = map.leaves[at]!
  const index = indexOf(leaf.keys, key)
  if (leaf.keys[index] !== key) return map
  if (map.size === 1) return none
  return {
    size: map.size - 1,
    leaves:
      leaf.keys.length === 1
        ? map.leaves.toSpliced(at, 1)
        : map.leaves.with(at, { keys: leaf.keys.toSpliced(index, 1), values: leaf.values.toSpliced(index, 1) })
  }
}

/** The entries from the given key on (itself included), in order, while `visit` answers true. */
export const visitFrom = <A>(map: SortedMap<A>, from: string, visit: (value: A, key: string) => boolean): void => {
  if (map.size === 0) return
  let at = leafOf(map, from)
  let index = indexOf(map.leaves[at]!.keys, from)
  for (; at < map.leaves.length; at++, index = 0) {
    const { keys, values } = map.leaves[at]!
    for (; index < keys.length; index++) {
      if (!visit(values[index]!, keys[index]!)) return
    }
  }
}

/** The values whose keys begin with the prefix, in order. */
export const valuesWithPrefix = <A>(map: SortedMap<A>, prefix: string): Array<A> => {
  const found: Array<A> = []
  visitFrom(map, prefix, (value, key) => key.startsWith(prefix) && found.push(value) > 0)
  return found
}

export const values = <A>(map: SortedMap<A>): Array<A> => map.leaves.flatMap((leaf) => leaf.values)

/** The same keys with other values; a leaf of which nothing changes is shared. */
export const mapValues = <A>(map: SortedMap<A>, f: (value: A) => A): SortedMap<A> => ({
  size: map.size,
  leaves: map.leaves.map((leaf) => {
    const values = leaf.values.map(f)
    return values.every((value, i) => value === leaf.values[i]) ? leaf : { keys: leaf.keys, values }
  })
})
