/**
 * The bytes of one body as they come, up to a limit. Small chunks are joined now and then: a server may send each byte as a chunk of its own, and a
 * chunk costs a hundred bytes beside its content.
 */

/** So many chunks are kept apart at most. */
const apartMax = 1_024

export class Gathered {
  readonly max: number
  /** Of all chunks together. */
  bytes = 0
  /** Joined ones first. */
  readonly #chunks: Array<Buffer> = []
  #joined = 0

  constructor(max: number) {
    this.max = max
  }

  /** False if it is now more than the limit; the chunk is taken all the same. */
  add(chunk: Buffer): boolean {
    this.bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.#chunks.length - this.#joined >= apartMax) {
      this.#chunks.push(Buffer.concat(this.#chunks.splice(this.#joined)))
      this.#joined++
    }
    return this.bytes <= this.max
  }

  whole(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }

  /** As text, not more than the limit. Throws if the text is longer than any can be. */
  text(): string {
    return this.whole().toString("utf8", 0, this.max)
  }
}
