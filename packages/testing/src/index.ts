export * as ApiClientContract from "./ApiClientContract.ts"
export * as ControlPlane from "./ControlPlane.ts"
export * as SharedControlPlane from "./SharedControlPlane.ts"
