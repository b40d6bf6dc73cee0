/** The operator that the side-by-side benchmark asks of each library: a ConfigMap for each Widget, and a status that says so. */
import * as Controller from "@fixpoint/core/Controller"
import type * as Kind from "@fixpoint/core/Kind"
import * as Reconciler from "@fixpoint/core/Reconciler"
import { ConfigMap, Widget } from "./kinds.ts"

const configFor = ({ metadata, spec }: Widget): Kind.Desired<ConfigMap> => ({
  metadata: { name: metadata.name, labels: { "bench.example.com/widget": metadata.name } },
  data: { size: String(spec.size), message: spec.message ?? "" }
})

const widget = Reconciler.for(Widget).pipe(
  Reconciler.child("config", ConfigMap, ({ object }) => configFor(object)),
  Reconciler.status(() => ({ ready: true }))
)

export const widgets = (options: { readonly namespace: string; readonly workers: number }) =>
  Controller.make({
    for: Widget,
    owns: [ConfigMap],
    reconciler: widget,
    namespaces: [options.namespace],
    workers: options.workers
  })
