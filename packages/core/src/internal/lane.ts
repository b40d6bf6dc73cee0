/** First in, first out, at constant cost: an array that is read from a moving head and cut when half of it has been read. */
export class Lane<A> {
  private items: Array<A | undefined> = []
  private head = 0

  /** Items in the lane. */
  get size(): number {
    return this.items.length - this.head
  }

  push(item: A): void {
    this.items.push(item)
  }

  shift(): A | undefined {
    const item = this.items[this.head]
    if (this.head === this.items.length) return undefined
    this.items[this.head++] = undefined
    if (this.head >= 64 && this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head)
      this.head = 0
    }
    return item
  }

  /** Puts an item before all others. */
  unshift(item: A): void {
    if (this.head > 0) this.items[--this.head] = item
    else this.items.unshift(item)
  }

  *values(): Generator<A> {
    for (let i = this.head; i < this.items.length; i++) yield this.items[i] as A
  }

  /** Keeps the items that pass. */
  retain(keep: (item: A) => boolean): void {
    this.items = this.items.slice(this.head).filter((item) => keep(item as A))
    this.head = 0
  }
}
