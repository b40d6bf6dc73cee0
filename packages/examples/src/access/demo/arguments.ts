/** What the user asked the demo to do. Pure. */
import { parseArgs } from "node:util"
import { UsageError } from "@fixpoint/kubernetes/Operator"
import * as Result from "effect/Result"

export interface Arguments {
  readonly help: boolean
  /** The kubeconfig of the cluster to play on; undefined: a cluster in memory. */
  readonly kubeconfig: string | undefined
  /** The cluster in memory is reached by calls, not over HTTP. */
  readonly inProcess: boolean
  /** Scopes and Roles are rows of a database; acts of their own are played. */
  readonly persisted: boolean
  /** After the acts, all stays until Ctrl-C. */
  readonly keep: boolean
  /** The folder of the user's own manifests; undefined: the acts are played. */
  readonly manifests: string | undefined
}

export const help = `Runs the access operator and plays a user: each act applies a manifest and says what must come of it.
Both talk over HTTPS to a Kubernetes API in memory, whose KUBECONFIG is printed at the start, for kubectl.

usage: npm run demo -- [--kubeconfig FILE | --in-process] [--persisted] [--manifests DIR] [--keep] [--help]

  --kubeconfig FILE  play on this cluster instead of in memory: in a namespace of its own, which is removed at the end,
                     as are the CRDs if they were not there
  --in-process       call the API in memory without HTTP
  --persisted        keep Scopes and Roles in PostgreSQL, whose rows are shown: embedded in this process, in memory or in the
                     folder DATABASE_FOLDER, or on the server DATABASE_URL
  --manifests DIR    apply the manifests of this folder instead, in the order of their names, and show what becomes of them
  --keep             leave the API and the operator running after the acts, for kubectl, until Ctrl-C
  --help             show this

exit code: 0 if everything came as expected, 1 if not, 2 if the arguments or manifests cannot be understood,
130 if Ctrl-C came before the end`

const options = {
  kubeconfig: { type: "string" },
  "in-process": { type: "boolean", default: false },
  persisted: { type: "boolean", default: false },
  manifests: { type: "string" },
  keep: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false }
} as const

/** Fails with the one thing that cannot be understood, and where to read more. */
export const parse = (args: ReadonlyArray<string>): Result.Result<Arguments, UsageError> => {
  const refuse = (what: string) => Result.fail(new UsageError({ message: `${what}; see npm run demo -- --help` }))
  try {
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false })
    for (const name of ["kubeconfig", "manifests"] as const)
      if (values[name] === "") return refuse(`--${name} needs a path`)
    const { help, keep, kubeconfig, manifests, persisted, "in-process": inProcess } = values
    if (inProcess && kubeconfig !== undefined) return refuse("--in-process and --kubeconfig exclude each other")
    if (inProcess && keep) return refuse("--keep is for kubectl, which reaches nothing with --in-process")
    return Result.succeed({ help, inProcess, keep, kubeconfig, manifests, persisted })
  } catch (error) {
    // Node's text goes on with advice about positional arguments, which there are none of.
    return refuse((error as Error).message.split(/\.\s|\n/)[0]!)
  }
}
