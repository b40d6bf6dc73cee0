/** A Kubernetes API in memory: a pure model of kube-apiserver, its Layer, and its listener for HTTP. */
export * as ApiServer from "./ApiServer.ts"
export * as Listener from "./Listener.ts"
