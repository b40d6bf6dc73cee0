export * as ApiClientContract from "./ApiClientContract.ts"
export * as ControlPlane from "./ControlPlane.ts"
export * as Differential from "./Differential.ts"
export * as SharedControlPlane from "./SharedControlPlane.ts"
