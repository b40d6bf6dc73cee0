/** Why no client for a cluster could be made. Not for answers of servers: those are `ApiError`. */
import * as Data from "effect/Data"

/**
 * - `NotConfigured`: neither options, nor a kubeconfig, nor a Pod's environment; `message` names what was looked for.
 * - `InvalidOptions`, `InvalidKubeconfig`: cannot be understood.
 * - `NoCredentials`: a token, certificate or authority could not be read or obtained. May pass: a file being written, a plugin that failed.
 *
 * `message` is one line and holds no secret.
 */
export class KubernetesError extends Data.TaggedError("KubernetesError")<{
  readonly reason: "NotConfigured" | "InvalidOptions" | "InvalidKubeconfig" | "NoCredentials"
  readonly message: string
}> {}
