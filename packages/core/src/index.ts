/** The reconcile engine. Read in this order: Kind, Reconciler, Controller, Manager; the rest is what they stand on. */
export * as ApiClient from "./ApiClient.ts"
export * as ApiError from "./ApiError.ts"
export * as Condition from "./Condition.ts"
export * as FieldManager from "./FieldManager.ts"
export * as KubeObject from "./KubeObject.ts"
export * as LabelSelector from "./LabelSelector.ts"
export * as OwnerReference from "./OwnerReference.ts"
