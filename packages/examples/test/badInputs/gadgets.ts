/** A small operator whose group, scope and children are told by the environment, so that many cases share one cluster. */
import * as Controller from "@fixpoint/core/Controller"
import * as Kind from "@fixpoint/core/Kind"
import type { Scope } from "@fixpoint/core/KubeObject"
import * as Reconciler from "@fixpoint/core/Reconciler"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConfigMap } from "../../src/access/kinds.ts"

export const fieldManager = "gadget-operator"

/** A check that no CRD states. */
const notNegative = Schema.makeFilter(
  ({ size }: { readonly size: number }) => size >= 0 || `the size is ${size}: it must be 0 or more`
)
const sized = Schema.Struct({ size: Schema.Int, padding: Schema.optionalKey(Schema.String) }).check(notNegative)

export const gadgetIn = (group: string, scope: Scope = "Namespaced") =>
  Kind.make({
    group,
    version: "v1",
    kind: "Gadget",
    scope,
    spec: sized,
    status: Schema.Struct({ size: Schema.Int, note: Schema.String })
  })

export const partIn = (group: string) =>
  Kind.make({ group, version: "v1", kind: "Part", scope: "Namespaced", spec: sized })

export interface Options {
  readonly group: string
  readonly scope?: Scope
  /** Where the children of a cluster-scoped gadget are. */
  readonly home?: string
  /** Whether a gadget has a Part beside its ConfigMap. */
  readonly part?: boolean
  /** Bytes that are put into the ConfigMap and into the status. */
  readonly childBytes?: number
  readonly statusBytes?: number
}

export const controllersOf = ({ childBytes = 0, group, home, part = false, scope, statusBytes = 0 }: Options) => {
  const Gadget = gadgetIn(group, scope)
  const Part = partIn(group)
  const metadata = (name: string) => ({ name, ...(home !== undefined && { namespace: home }) })
  const base = Reconciler.for(Gadget).pipe(
    Reconciler.child("config", ConfigMap, ({ object }) => ({
      metadata: metadata(`${object.metadata.name}-config`),
      data: { size: String(object.spec.size), filling: "x".repeat(childBytes) }
    })),
    Reconciler.status(({ object }) => ({ size: object.spec.size, note: "x".repeat(statusBytes) })),
    Reconciler.finalizer(`${group}/cleanup`, () => Effect.void)
  )
  return [
    part
      ? Controller.make({
          for: Gadget,
          owns: [ConfigMap, Part],
          reconciler: base.pipe(
            Reconciler.child("part", Part, ({ object }) => ({
              metadata: metadata(`${object.metadata.name}-part`),
              spec: { size: object.spec.size }
            }))
          )
        })
      : Controller.make({ for: Gadget, owns: [ConfigMap], reconciler: base })
  ] as const
}
