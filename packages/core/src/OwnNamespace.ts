/** The namespace that the operator itself lives in: for its Lease, and for Events that belong nowhere else. */
import * as Context from "effect/Context"

/** Given by the Layer that knows the cluster: the service account's namespace, the kubeconfig context's, else `default`. */
export const OwnNamespace = Context.Reference<string>("@fixpoint/core/OwnNamespace", { defaultValue: () => "default" })
