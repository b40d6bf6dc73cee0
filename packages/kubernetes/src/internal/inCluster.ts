/** Credentials of a Pod's service account, read from its mounted files. Own code: client-node costs 0.4 s and 80 MiB to import. */
import { readFile } from "node:fs/promises"
import { isIPv6 } from "node:net"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Source } from "../Credentials.ts"
import { KubernetesError } from "../KubernetesError.ts"
import { fileFault } from "./fileFault.ts"

export interface Place {
  readonly host: string
  readonly port: string
  /** The folder with `token`, `ca.crt` and `namespace`. */
  readonly folder: string
}

export const defaultFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

/** `https://[fd00::1]:443` */
export const serverUrl = ({ host, port }: Pick<Place, "host" | "port">): string =>
  `https://${isIPv6(host) ? `[${host}]` : host}:${port}`

const missing = (message: string): KubernetesError => new KubernetesError({ reason: "NoCredentials", message })

const read = (path: string): Effect.Effect<string, KubernetesError> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (error) =>
      missing(`cannot read ${path} of the service account: ${fileFault(error)}; is automountServiceAccountToken off?`)
  })

/** Whether each certificate begun is also ended. */
const isWholePem = (text: string): boolean => {
  const begun = text.split("-----BEGIN CERTIFICATE-----").length
  return begun > 1 && begun === text.split("-----END CERTIFICATE-----").length
}

/** A file that is empty or half-written is read again for a quarter of a second (B22). */
const patiently = <A>(file: Effect.Effect<A, KubernetesError>): Effect.Effect<A, KubernetesError> =>
  Effect.retry(file, { times: 5, schedule: Schedule.spaced("50 millis") })

/** Both files are read anew at each load: kubelet replaces tokens before their end, and clusters rotate their authority. */
export const source = (place: Place): Effect.Effect<Source, KubernetesError> =>
  Effect.gen(function* () {
    const token = Effect.gen(function* () {
      const path = join(place.folder, "token")
      const text = (yield* read(path)).trim()
      return text === "" ? yield* missing(`${path} is empty`) : text
    }).pipe(patiently)
    const ca = Effect.gen(function* () {
      const path = join(place.folder, "ca.crt")
      const text = yield* read(path)
      return isWholePem(text) ? text : yield* missing(`${path} is not a whole PEM file`)
    }).pipe(patiently)
    const namespace = yield* Effect.orElseSucceed(read(join(place.folder, "namespace")), () => "")
    return {
      server: serverUrl(place),
      namespace: namespace.trim() === "" ? "default" : namespace.trim(),
      load: () =>
        Effect.map(Effect.all([token, ca]), ([token, ca]) => ({
          headers: { authorization: `Bearer ${token}` },
          tls: { ca }
        })),
      renewIntervalMillis: 0
    }
  })
