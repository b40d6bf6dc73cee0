/** Services of which there is one for each kind: readers, writers, wakers. */
import * as Context from "effect/Context"

/** The key of a kind's service, always the same for the same kind. */
export const kindService = (name: string): ((kind: { readonly id: string }) => Context.Service<any, any>) => {
  const keys = new WeakMap<object, Context.Service<any, any>>()
  return (kind) => {
    let key = keys.get(kind)
    if (key === undefined) keys.set(kind, (key = Context.Service(`@fixpoint/core/${name}/${kind.id}`)))
    return key
  }
}
