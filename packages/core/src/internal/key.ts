/** The text under which queues, caches and maps hold an object of one kind. */
import type { ObjectRef } from "../KubeObject.ts"

/** `namespace/name`, `/name` in cluster scope. */
export const keyOf = (ref: { readonly namespace?: string | undefined; readonly name: string }): string =>
  `${ref.namespace ?? ""}/${ref.name}`

let latest: { readonly key: string; readonly ref: ObjectRef } | undefined

/** A pass asks for the same key again and again: the texts of its parts are made, and hashed by maps, once. */
export const refOf = (key: string): ObjectRef => {
  if (latest?.key === key) return latest.ref
  const slash = key.indexOf("/")
  const ref = { namespace: slash === 0 ? undefined : key.slice(0, slash), name: key.slice(slash + 1) }
  latest = { key, ref }
  return ref
}
