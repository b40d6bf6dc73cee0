/**
 * The exec plugins of a kubeconfig: programs that print a credential (`client.authentication.k8s.io/v1`). What they print on stdout is secret, and never told; what
 * they say on stderr is for people.
 */
import { spawn } from "node:child_process"
import * as Effect from "effect/Effect"

/** As the kubeconfig has it. */
export interface ExecConfig {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: ReadonlyArray<string> | null
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value: string }> | null
  /** What to do where the command is not there. */
  readonly installHint?: string
  readonly provideClusterInfo?: boolean
}

/** For plugins that ask for it. */
export interface ExecCluster {
  readonly server: string
  /** PEM. */
  readonly ca: Buffer | undefined
}

export interface Credential {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  /** RFC 3339; absent: until it is refused. */
  readonly expirationTimestamp?: string
}

export interface PluginFault {
  readonly message: string
}

/** Of stdout and stderr no more is kept. */
const bytesMax = 1024 * 1024
const wordsMax = 300

const fault = (message: string): Effect.Effect<never, PluginFault> => Effect.fail({ message })

const nameOf = ({ command }: ExecConfig): string => `the exec plugin ${command}`

const text = (u: unknown): string | undefined => (typeof u === "string" && u !== "" ? u : undefined)

/** Reads what it printed. No text of it is told. */
const credentialOf = (config: ExecConfig, stdout: string): Effect.Effect<Credential, PluginFault> => {
  let printed: any
  try {
    printed = JSON.parse(stdout)
  } catch {
    return fault(`${nameOf(config)} printed no JSON: it must print an ExecCredential`)
  }
  const status = printed?.status
  if (text(status?.token) === undefined && text(status?.clientCertificateData) === undefined)
    return fault(`${nameOf(config)} printed an ExecCredential without a token or certificate in its status`)
  return Effect.succeed(status)
}

const environment = (config: ExecConfig, cluster: ExecCluster): NodeJS.ProcessEnv => ({
  ...process.env,
  ...Object.fromEntries((config.env ?? []).map(({ name, value }) => [name, value])),
  KUBERNETES_EXEC_INFO: JSON.stringify({
    apiVersion: config.apiVersion,
    kind: "ExecCredential",
    spec: {
      interactive: false,
      ...(config.provideClusterInfo === true && {
        cluster: { server: cluster.server, "certificate-authority-data": cluster.ca?.toString("base64") }
      })
    }
  })
})

const notStarted = (config: ExecConfig, code: string | undefined): string => {
  const why =
    code === "ENOENT"
      ? "is not there: install it, or put it on the PATH of this process"
      : code === "EACCES"
        ? "may not be run by this user: make it executable"
        : `cannot be run (${code ?? "unknown error"})`
  return `${nameOf(config)} ${why}${config.installHint ? `; ${config.installHint.trim()}` : ""}`
}

/** Runs it once. Interruption kills it. */
export const run = (config: ExecConfig, cluster: ExecCluster): Effect.Effect<Credential, PluginFault> =>
  Effect.callback((resume) => {
    if (!text(config.command)) return resume(fault("the exec plugin has no command"))
    const child = spawn(config.command!, [...(config.args ?? [])], {
      env: environment(config, cluster),
      stdio: ["ignore", "pipe", "pipe"]
    })
    const said = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8")
      child[name].on("data", (part: string) => {
        if (said[name].length < bytesMax) said[name] += part
      })
    }
    child.once("error", (error: NodeJS.ErrnoException) => resume(fault(notStarted(config, error.code))))
    child.once("close", (code, signal) => {
      const words = said.stderr
        .trim()
        .replaceAll(/\s*\n\s*/g, " ")
        .slice(0, wordsMax)
      resume(
        code === 0
          ? credentialOf(config, said.stdout)
          : fault(
              `${nameOf(config)} ended with ${code ?? signal}: ${words === "" ? "it said nothing on stderr" : words}`
            )
      )
    })
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
