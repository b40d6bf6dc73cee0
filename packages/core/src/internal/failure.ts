/**
 * The base of the errors that are ordinary control flow (`NotReady`, `ApiError` ...).
 *
 * They are Effect errors by prototype (yieldable, `instanceof Error`, `catchTag`, `Cause.pretty`), but no Error constructor runs, so that no stack
 * is captured: it would cost 4 us each time and nobody reads it.
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"

export type Failure<Tag extends string, Fields> = Cause.YieldableError & { readonly _tag: Tag } & Readonly<Fields>

/** A class of failures with the given tag. A subclass may define `message` as a getter; a `message` in the fields stands above it. */
export const Failure = <const Tag extends string>(tag: Tag): new <F>(fields: Readonly<F>) => Failure<Tag, F> => {
  function Base(this: object, fields: object) {
    for (const [key, value] of Object.entries(fields)) {
      Object.defineProperty(this, key, { value, enumerable: true, configurable: true, writable: true })
    }
    Object.defineProperty(this, "_tag", { value: tag, enumerable: true, configurable: true, writable: true })
  }
  Base.prototype = Object.create(Data.Error.prototype, {
    name: { value: tag },
    message: { value: "", writable: true, configurable: true },
    stack: {
      get(this: Error) {
        return `${this.name}: ${this.message}`
      }
    }
  })
  return Base as any
}
