/**
 * Due times of keys: a binary heap with lazy deletion. At most one time a key, the earliest wins (D6). What is overtaken or withdrawn stays in the
 * heap as garbage, never more than there are live entries (B36).
 */
export class Timers {
  /** The truth; an entry of the heap counts only if it says the same. */
  private readonly dueOf = new Map<string, number>()
  private keys: Array<string> = []
  private times: Array<number> = []

  /** Keys that wait. */
  get size(): number {
    return this.dueOf.size
  }

  /** Entries in the heap, garbage included. */
  get entries(): number {
    return this.keys.length
  }

  get(key: string): number | undefined {
    return this.dueOf.get(key)
  }

  /**
   * Whole milliseconds, rounded up: a fraction would make a driver spin on a clock that does not move between. What is not a number is due at once,
   * so that no wish is lost; infinity is never due and takes no place.
   */
  add(key: string, at: number): void {
    if (at === Infinity) return
    const due = Number.isNaN(at) || at === -Infinity ? 0 : Math.ceil(at)
    const present = this.dueOf.get(key)
    if (present !== undefined && present <= due) return
    this.dueOf.set(key, due)
    this.push(key, due)
    this.compact()
  }

  delete(key: string): boolean {
    const deleted = this.dueOf.delete(key)
    if (deleted) this.compact()
    return deleted
  }

  clear(): void {
    this.dueOf.clear()
    this.keys = []
    this.times = []
  }

  /** When the earliest key is due. */
  earliest(): number | undefined {
    while (this.keys.length > 0 && this.dueOf.get(this.keys[0]!) !== this.times[0]) this.pop()
    return this.times[0]
  }

  /** Takes out one key that is due. */
  shift(now: number): string | undefined {
    const at = this.earliest()
    if (at === undefined || at > now) return undefined
    const key = this.keys[0]!
    this.pop()
    this.dueOf.delete(key)
    return key
  }

  /** The keys that are due first, in order. */
  upcoming(count: number): ReadonlyArray<{ readonly key: string; readonly at: number }> {
    return [...this.dueOf]
      .map(([key, at]) => ({ key, at }))
      .sort((a, b) => a.at - b.at)
      .slice(0, count)
  }

  private compact(): void {
    if (this.keys.length <= 2 * this.dueOf.size + 64) return
    this.keys = []
    this.times = []
    for (const [key, at] of this.dueOf) this.push(key, at)
  }

  private push(key: string, at: number): void {
    const { keys, times } = this
    let hole = keys.length
    keys.push(key)
    times.push(at)
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      if (times[parent]! <= at) break
      keys[hole] = keys[parent]!
      times[hole] = times[parent]!
      hole = parent
    }
    keys[hole] = key
    times[hole] = at
  }

  private pop(): void {
    const { keys, times } = this
    const key = keys.pop()!
    const at = times.pop()!
    const size = keys.length
    if (size === 0) return
    let hole = 0
    for (let child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && times[child + 1]! < times[child]!) child++
      if (times[child]! >= at) break
      keys[hole] = keys[child]!
      times[hole] = times[child]!
      hole = child
    }
    keys[hole] = key
    times[hole] = at
  }
}
