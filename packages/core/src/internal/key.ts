/** The text under which queues, caches and maps hold an object of one kind. */
import type { ObjectRef } from "../KubeObject.ts"

/** `namespace/name`, `/name` in cluster scope. */
export const keyOf = (ref: { readonly namespace?: string | undefined; readonly name: string }): string =>
  `${ref.namespace ?? ""}/${ref.name}`

export const refOf = (key: string): ObjectRef => {
  const slash = key.indexOf("/")
  return { namespace: slash === 0 ? undefined : key.slice(0, slash), name: key.slice(slash + 1) }
}
