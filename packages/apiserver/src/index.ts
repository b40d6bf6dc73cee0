/** A Kubernetes API in memory. */
export * as ApiServer from "./ApiServer.ts"
