/** Decodes each stored object once for each kind, however often it is read: the cache keeps the reference of what did not change. */
import type * as Result from "effect/Result"
import * as Kind from "../Kind.ts"
import type { KubeObject } from "../KubeObject.ts"

type Decoded = Result.Result<any, Kind.MalformedResource>

const memo = new WeakMap<Kind.Any, WeakMap<KubeObject, Decoded>>()

export const decoded = (kind: Kind.Any, object: KubeObject): Decoded => {
  let ofKind = memo.get(kind)
  if (ofKind === undefined) memo.set(kind, (ofKind = new WeakMap()))
  let result = ofKind.get(object)
  if (result === undefined) ofKind.set(object, (result = Kind.decode(kind, object)))
  return result
}
