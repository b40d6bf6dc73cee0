/** The command line of kube-apiserver, as far as tools that start one for tests fill it. */

export interface KubeFlags {
  /** The last value of each flag, without its dashes. A flag without a value is `true`. */
  readonly values: ReadonlyMap<string, string>
  /** Flags that are not known, each once. */
  readonly unknown: ReadonlyArray<string>
}

/** Flags that mean nothing to a server in memory, by prefix: what they set has no counterpart here. */
const ignored = [
  ..."advertise-address allow-privileged anonymous-auth apiserver-count audit- authentication- authorization-".split(
    " "
  ),
  ..."bind-address client-ca-file contention-profiling cors-allowed-origins default- delete-collection-workers".split(
    " "
  ),
  ..."disable-admission-plugins emulat enable- encryption-provider-config endpoint-reconciler-type etcd- event-ttl".split(
    " "
  ),
  ..."external-hostname feature-gates goaway-chance http2-max insecure- kubelet- lease-reuse livez- log max-".split(
    " "
  ),
  ..."min-request-timeout oidc- permit- profiling proxy-client- request-timeout requestheader- runtime-config".split(
    " "
  ),
  ..."service-account- service-cluster-ip-range service-node-port-range shutdown- storage- strict- tls- v vmodule".split(
    " "
  ),
  ..."watch-cache".split(" ")
]

const used: ReadonlySet<string> = new Set(["cert-dir", "secure-port", "token-auth-file", "version", "help"])

/** `--name=value`, `--name value`, and `--name` before another flag or at the end. */
export const parseKubeFlags = (args: ReadonlyArray<string>): KubeFlags => {
  const values = new Map<string, string>()
  for (let at = 0; at < args.length; at++) {
    const [, name, value] = /^--?([^=]+)(?:=([\s\S]*))?$/.exec(args[at]!) ?? []
    if (name === undefined) continue
    const next = args[at + 1]
    if (value !== undefined) values.set(name, value)
    else if (next === undefined || next.startsWith("-")) values.set(name, "true")
    else values.set(name, args[++at]!)
  }
  const unknown = [...values.keys()].filter(
    (name) => !used.has(name) && !ignored.some((known) => name.startsWith(known))
  )
  return { values, unknown }
}

export interface TokenLine {
  readonly token: string
  readonly user: string
  readonly groups: ReadonlyArray<string>
}

/** A token file: `token,user,uid,"group,group"`, one a line. Throws an Error that says which line is none. */
export const parseTokens = (text: string): ReadonlyArray<TokenLine> =>
  text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return []
    const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
      (quoted?.replaceAll('""', '"') ?? plain ?? "").trim()
    )
    const [token = "", user = "", , groups = ""] = fields
    if (token === "" || user === "") throw new Error(`line ${index + 1} is not token,user,uid,"group,group"`)
    return [{ token, user, groups: groups.split(",").filter((group) => group !== "") }]
  })
