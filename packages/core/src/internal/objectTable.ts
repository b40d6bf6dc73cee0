/** Objects by namespace and name with their indexes: the map under a `Store`. */
import type { KubeObject, ObjectRef } from "../KubeObject.ts"

/** Puts objects under values, so that they are found without a walk. Must give the same values for the same object each time. */
export interface Index {
  /** For messages. */
  readonly name: string
  readonly of: (object: KubeObject) => Iterable<string>
}

/** Of one value: the object itself while it is the only one, so that an index of owners costs one map entry a child. */
type Bucket = KubeObject | Set<KubeObject>

export class ObjectTable {
  size = 0
  /** Entries of cluster-scoped objects stand under `""`. No inner map is empty. */
  private readonly objects = new Map<string, Map<string, KubeObject>>()
  private readonly indexes: ReadonlyMap<Index, Map<string, Bucket>>
  private readonly onDefect: (defect: unknown) => void

  /** `onDefect` gets what an index throws: the object is then not in that index. */
  constructor(indexes: ReadonlyArray<Index>, onDefect: (defect: unknown) => void) {
    this.indexes = new Map(indexes.map((index) => [index, new Map()]))
    this.onDefect = onDefect
  }

  get(ref: ObjectRef): KubeObject | undefined {
    return this.objects.get(ref.namespace ?? "")?.get(ref.name)
  }

  /** Those of one namespace, or all. */
  *values(namespace: string | undefined): Generator<KubeObject> {
    if (namespace !== undefined) {
      const inner = this.objects.get(namespace)
      if (inner !== undefined) yield* inner.values()
      return
    }
    for (const inner of this.objects.values()) yield* inner.values()
  }

  /** Undefined if the index was not declared. */
  lookup(index: Index, value: string): ReadonlyArray<KubeObject> | undefined {
    const buckets = this.indexes.get(index)
    if (buckets === undefined) return undefined
    const bucket = buckets.get(value)
    return bucket === undefined ? [] : bucket instanceof Set ? [...bucket] : [bucket]
  }

  /** Values that have an object, over all indexes. */
  get indexed(): number {
    let count = 0
    for (const buckets of this.indexes.values()) count += buckets.size
    return count
  }

  set(ref: ObjectRef, previous: KubeObject | undefined, next: KubeObject | undefined): void {
    const namespace = ref.namespace ?? ""
    const inner = this.objects.get(namespace)
    if (next !== undefined) {
      if (previous === undefined) this.size++
      if (inner === undefined) this.objects.set(namespace, new Map([[ref.name, next]]))
      else inner.set(ref.name, next)
    } else if (inner !== undefined && inner.delete(ref.name)) {
      this.size--
      if (inner.size === 0) this.objects.delete(namespace)
    }
    for (const [index, buckets] of this.indexes) {
      // A throw was told when the object came.
      if (previous !== undefined)
        for (const value of valuesOf(index, previous, () => {})) remove(buckets, value, previous)
      if (next !== undefined) for (const value of valuesOf(index, next, this.onDefect)) add(buckets, value, next)
    }
  }
}

const valuesOf = (index: Index, object: KubeObject, onDefect: (defect: unknown) => void): ReadonlyArray<string> => {
  try {
    return [...index.of(object)]
  } catch (defect) {
    onDefect(defect)
    return []
  }
}

const add = (buckets: Map<string, Bucket>, value: string, object: KubeObject): void => {
  const bucket = buckets.get(value)
  if (bucket === undefined) buckets.set(value, object)
  else if (bucket instanceof Set) bucket.add(object)
  else if (bucket !== object) buckets.set(value, new Set([bucket, object]))
}

const remove = (buckets: Map<string, Bucket>, value: string, object: KubeObject): void => {
  const bucket = buckets.get(value)
  if (bucket === object) buckets.delete(value)
  else if (bucket instanceof Set) {
    bucket.delete(object)
    if (bucket.size === 1) for (const last of bucket) buckets.set(value, last)
  }
}
