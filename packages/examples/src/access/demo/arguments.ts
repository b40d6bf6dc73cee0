/** What the user asked the demo to do. Pure. */
import { parseArgs } from "node:util"
import { UsageError } from "@fixpoint/kubernetes/Operator"
import * as Result from "effect/Result"

export interface Arguments {
  readonly help: boolean
  /** The kubeconfig of the cluster to play on; undefined: a cluster in memory. */
  readonly kubeconfig: string | undefined
  /** The folder of the user's own manifests; undefined: the acts are played. */
  readonly manifests: string | undefined
}

export const help = `Runs the access operator and plays a user: each act applies a manifest and says what must come of it.

usage: npm run demo -- [--kubeconfig FILE] [--manifests DIR] [--help]

  --kubeconfig FILE  play on this cluster instead of in memory: in a namespace of its own, which is removed at the end,
                     as are the CRDs if they were not there
  --manifests DIR    apply the manifests of this folder instead, in the order of their names, and show what becomes of them
  --help             show this

exit code: 0 if everything came as expected, 1 if not, 2 if the arguments or manifests cannot be understood`

const options = {
  kubeconfig: { type: "string" },
  manifests: { type: "string" },
  help: { type: "boolean", short: "h", default: false }
} as const

/** Fails with the one thing that cannot be understood, and where to read more. */
export const parse = (args: ReadonlyArray<string>): Result.Result<Arguments, UsageError> => {
  const refuse = (what: string) => Result.fail(new UsageError({ message: `${what}; see npm run demo -- --help` }))
  try {
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false })
    for (const name of ["kubeconfig", "manifests"] as const)
      if (values[name] === "") return refuse(`--${name} needs a path`)
    return Result.succeed({ help: values.help, kubeconfig: values.kubeconfig, manifests: values.manifests })
  } catch (error) {
    // Node's text goes on with advice about positional arguments, which there are none of.
    return refuse((error as Error).message.split(/\.\s|\n/)[0]!)
  }
}
