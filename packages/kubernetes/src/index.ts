/** The Layer that talks to a real Kubernetes API server: `Kubernetes.layer`. */
export * as Credentials from "./Credentials.ts"
export * as HealthProbe from "./HealthProbe.ts"
export * as Kubernetes from "./Kubernetes.ts"
export { KubernetesError } from "./KubernetesError.ts"
export * as Operator from "./Operator.ts"
export * as RestClient from "./RestClient.ts"
export * as Transport from "./Transport.ts"
