/** What must hold before an object is stored, in the order and words of the server. */
import type { StatusCause } from "@fixpoint/core/ApiError"
import type { KubeObject } from "@fixpoint/core/KubeObject"
import type { Definition } from "./definition.ts"
import * as ObjectMeta from "./objectMeta.ts"
import { internal, invalid } from "./refusal.ts"
import { scaleCauses } from "./scaling.ts"
import type { Transaction } from "./state.ts"
import { validate as validateSchema } from "./structuralSchema.ts"

const largestObject = 1_572_864

export interface Checked {
  readonly definition: Definition
  /** In the storage version, or the version of the request where no other stores it. */
  readonly object: KubeObject
  readonly live: KubeObject | undefined
  readonly namespace: string | undefined
  readonly version: string
  readonly subresource: string | undefined
}

/** Throws the 422 with all causes. */
export const check = ({ definition, live, namespace, object, subresource, version }: Checked): void => {
  const { custom } = definition
  const own =
    live !== undefined && sameMeta(object, live)
      ? []
      : ObjectMeta.validate(object.metadata, { name: definition.nameRule, custom })
  const found =
    live === undefined
      ? own
      : [...ObjectMeta.validateChange(object.metadata, live.metadata), ...ObjectMeta.repeated(own, custom), ...own]
  const causes: Array<StatusCause> = [
    ...(custom
      ? validateSchema(definition.schema, object, live, {
          found,
          ...(definition.scale !== undefined && { further: scaleCauses(object, definition.scale, subresource) }),
          ...(subresource === "status" && { subresource })
        })
      : found)
  ]
  causes.push(...(definition.rules.validate?.(object, live, { version, namespace, subresource }) ?? []))
  if (causes.length > 0) {
    // Events are judged in their core form, and texts name that, whichever API they came by.
    const group = definition.storageVersion.includes("/") ? definition.group : ""
    throw invalid({ kind: definition.kind, group }, object.metadata.name ?? "", causes)
  }
}

const sameMeta = (object: KubeObject, live: KubeObject): boolean =>
  object.metadata.name === live.metadata.name &&
  object.metadata.generateName === live.metadata.generateName &&
  object.metadata.labels === live.metadata.labels &&
  object.metadata.annotations === live.metadata.annotations &&
  object.metadata.finalizers === live.metadata.finalizers &&
  object.metadata.ownerReferences === live.metadata.ownerReferences

/** Adds the warnings about metadata that is stored all the same. */
export const warn = (txn: Transaction, { custom }: Definition, object: KubeObject): void => {
  txn.warnings.push(...ObjectMeta.warnings(object.metadata, custom))
}

/** etcd refuses more than 1.5 MiB (F28). */
export const checkSize = (object: KubeObject): void => {
  const text = JSON.stringify(object)
  // One UTF-16 unit is three bytes of UTF-8 at most: only what may be too large is counted exactly.
  if (text.length * 3 > largestObject && ObjectMeta.isLonger(text, largestObject)) {
    throw internal("etcdserver: request is too large")
  }
}
